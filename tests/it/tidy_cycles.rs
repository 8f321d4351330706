//! No import cycles between files, also within modules, so that the files can be read in an order in
//! which each file follows its imports.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::tidy::{Source, code, sources};

/// The library's files by their modules, as in `trust::store`; the crate's root is empty.
struct Files {
    texts: BTreeMap<String, String>,
    /// The items that a module re-exports: by their path, the module that has them.
    handed_on: BTreeMap<String, String>,
}

fn module_of(source: &Source) -> String {
    let path = source.path.with_extension("");
    let parts = path.iter().map(|part| part.to_str().unwrap());
    let parts: Vec<_> = parts
        .filter(|part| !matches!(*part, "mod" | "lib"))
        .collect();
    parts.join("::")
}

fn child(module: &str, name: &str) -> String {
    let parts = [module, name].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("::")
}

fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

/// The code without its tests, which may use everything.
pub(crate) fn without_tests(text: &str) -> String {
    let code = code(text);
    code.split("\nmod tests {").next().unwrap().to_owned()
}

static USES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*(pub(?:\([^)]*\))? )?use ([^;]+);").unwrap());

static LIST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"([A-Za-z0-9_:]+::)\{([^{}]*)\}").unwrap());

static PATH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:crate|super)(?:::[A-Za-z0-9_]+)+").unwrap());

/// Each path of a `use` declaration, its braces multiplied out; with whether it is handed on.
fn used(text: &str) -> Vec<(String, bool)> {
    let multiply = |found: &Captures<'_>| {
        let parts = found[2].split(',').filter(|part| !part.is_empty());
        let parts: Vec<_> = parts.map(|part| found[1].to_owned() + part).collect();
        parts.join(",")
    };
    let mut paths = Vec::new();
    for found in USES.captures_iter(text) {
        let mut tree: String = found[2].replace(" as ", "@");
        tree.retain(|c| !c.is_whitespace());
        while LIST.is_match(&tree) {
            tree = LIST.replace_all(&tree, multiply).into_owned();
        }
        let names = tree.split(',').map(|name| name.split('@').next().unwrap());
        let handed_on = found.get(1).is_some();
        paths.extend(names.map(|name| (name.to_owned(), handed_on)));
    }
    paths
}

/// The paths from the crate or from above that stand in the code itself.
fn named(text: &str) -> Vec<String> {
    let text = USES.replace_all(text, "");
    let paths = PATH.find_iter(&text);
    paths.map(|path| path.as_str().to_owned()).collect()
}

/// Returns each path that follows `crate::` in a text. The paths of a list are separate.
pub(crate) fn crate_paths(text: &str) -> Vec<String> {
    let used = used(text).into_iter().map(|(path, _)| path);
    let paths = used.chain(named(text));
    let paths = paths.filter_map(|path| path.strip_prefix("crate::").map(str::to_owned));
    paths.collect()
}

impl Files {
    fn of_the_library() -> Self {
        let sources = sources()
            .into_iter()
            .filter(|source| source.module != "bin");
        let texts = sources.map(|source| (module_of(&source), without_tests(&source.text)));
        let mut files = Self {
            texts: texts.collect(),
            handed_on: BTreeMap::new(),
        };
        for (module, text) in &files.texts {
            for (path, _) in used(text).into_iter().filter(|(_, handed_on)| *handed_on) {
                if let Some(target) = files.target(module, &path) {
                    let name = path.rsplit("::").next().unwrap();
                    files.handed_on.insert(child(module, name), target);
                }
            }
        }
        files
    }

    /// The module that a path of this one leads to; none for another crate's.
    fn target(&self, module: &str, path: &str) -> Option<String> {
        let mut parts = path.split("::").peekable();
        let mut at = match parts.next()? {
            "crate" => String::new(),
            "self" => module.to_owned(),
            "super" => parent(module).to_owned(),
            name => Some(child(module, name)).filter(|child| self.texts.contains_key(child))?,
        };
        while parts.next_if_eq(&"super").is_some() {
            at = parent(&at).to_owned();
        }
        for part in parts {
            let inner = child(&at, part);
            if let Some(from) = self.handed_on.get(&inner) {
                return Some(from.clone());
            }
            if !self.texts.contains_key(&inner) {
                break;
            }
            at = inner;
        }
        Some(at)
    }

    /// Returns the modules that each module imports. A module does not import an item that it only re-exports.
    fn edges(&self) -> BTreeMap<&str, BTreeSet<String>> {
        let edges = self.texts.iter().map(|(module, text)| {
            let used = used(text).into_iter().filter(|(_, handed_on)| !handed_on);
            let paths = used.map(|(path, _)| path).chain(named(text));
            let targets = paths.filter_map(|path| self.target(module, &path));
            let others = targets.filter(|target| target != module).collect();
            (module.as_str(), others)
        });
        edges.collect()
    }
}

/// Cycles are what is left when all that stand on nothing, or on which nothing stands, are taken away, again and
/// again.
#[test]
fn no_files_import_each_other_in_a_circle() {
    let files = Files::of_the_library();
    let mut edges = files.edges();
    let count: usize = edges.values().map(BTreeSet::len).sum();
    assert!(count > 300, "{count}: the imports are found");
    loop {
        let imported: BTreeSet<String> = edges.values().flatten().cloned().collect();
        let before = edges.len();
        edges.retain(|module, on| !on.is_empty() && imported.contains(*module));
        let left: BTreeSet<String> = edges.keys().map(|module| (*module).to_owned()).collect();
        edges
            .values_mut()
            .for_each(|on| on.retain(|module| left.contains(module)));
        if edges.len() == before {
            break;
        }
    }
    assert!(edges.is_empty(), "import cycles: {edges:#?}");
}
