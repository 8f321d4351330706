//! No import cycles between files, also within modules, so that the files can be read in an order in
//! which each file follows its imports.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::{Source, code, sources};

/// A module, by its path from the crate's root, as in `["trust", "store"]`.
type Module = Vec<String>;

/// The library's files by their modules.
struct Files {
    texts: BTreeMap<Module, String>,
    /// What a module hands on: by its name, the module that has it.
    handed_on: BTreeMap<(Module, String), Module>,
}

fn module_of(source: &Source) -> Module {
    let mut module: Vec<String> = source
        .path
        .with_extension("")
        .iter()
        .map(|part| part.to_str().unwrap().to_owned())
        .collect();
    if module
        .last()
        .is_some_and(|name| name == "mod" || name == "lib")
    {
        module.pop();
    }
    module
}

/// The code without its tests, which may use everything.
fn without_tests(text: &str) -> String {
    let code = code(text);
    let end = code.find("\nmod tests {").unwrap_or(code.len());
    code[..end].to_owned()
}

/// Each path of a `use` declaration, its braces multiplied out; with whether it is handed on.
fn used(text: &str) -> Vec<(Vec<String>, bool)> {
    let mut found = Vec::new();
    for statement in text.split(';') {
        let Some(at) = statement.rfind("use ") else {
            continue;
        };
        let before = statement[..at].lines().last().unwrap_or_default().trim();
        let is_use = before.is_empty() || before.starts_with("pub");
        if is_use {
            let mut paths = Vec::new();
            multiply(&[], statement[at + 4..].trim(), &mut paths);
            found.extend(paths.into_iter().map(|path| (path, !before.is_empty())));
        }
    }
    found
}

fn multiply(prefix: &[String], text: &str, found: &mut Vec<Vec<String>>) {
    let Some((head, list)) = text.split_once('{') else {
        let name = text.split(" as ").next().unwrap_or_default().trim();
        let parts = name.split("::").filter(|part| !part.is_empty());
        let path = prefix.iter().cloned().chain(parts.map(str::to_owned));
        return found.push(path.collect());
    };
    let parts = head
        .split("::")
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let prefix: Vec<String> = prefix
        .iter()
        .cloned()
        .chain(parts.map(str::to_owned))
        .collect();
    let (mut depth, mut start) = (0, 0);
    let list = list.strip_suffix('}').unwrap_or(list);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                multiply(&prefix, list[start..at].trim(), found);
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = list[start..].trim();
    if !last.is_empty() {
        multiply(&prefix, last, found);
    }
}

/// The paths from the crate or from above that stand in the code itself.
fn named(text: &str) -> Vec<Vec<String>> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in text.match_indices(start) {
            let before = text[..at].chars().next_back();
            let end = text[at..]
                .find(|c| !is_path(c))
                .map_or(text.len(), |length| at + length);
            let path = &text[at..end];
            if !before.is_some_and(is_path) && !path.ends_with("::") {
                found.push(path.split("::").map(str::to_owned).collect());
            }
        }
    }
    found
}

impl Files {
    fn of_the_library() -> Self {
        let sources = sources().into_iter().filter(|it| it.module != "bin");
        let texts: BTreeMap<Module, String> = sources
            .map(|source| (module_of(&source), without_tests(&source.text)))
            .collect();
        let mut files = Self {
            texts,
            handed_on: BTreeMap::new(),
        };
        let modules: Vec<Module> = files.texts.keys().cloned().collect();
        for module in modules {
            for (path, is_handed_on) in used(&files.texts[&module]) {
                if let (Some(target), true) = (files.target(&module, &path), is_handed_on) {
                    let name = path.last().unwrap().clone();
                    files.handed_on.insert((module.clone(), name), target);
                }
            }
        }
        files
    }

    /// The module that a path of this one leads to; none for another crate's.
    fn target(&self, module: &Module, path: &[String]) -> Option<Module> {
        let mut at: Module = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "self" => module.clone(),
            "super" => module[..module.len().checked_sub(1)?].to_vec(),
            child => {
                let mut inner = module.clone();
                inner.push(child.to_owned());
                return self
                    .texts
                    .contains_key(&inner)
                    .then(|| self.down(inner, &path[1..]));
            }
        };
        let mut rest = &path[1..];
        while rest.first().is_some_and(|part| part == "super") {
            at.pop();
            rest = &rest[1..];
        }
        Some(self.down(at, rest))
    }

    fn down(&self, mut at: Module, rest: &[String]) -> Module {
        for part in rest {
            let mut inner = at.clone();
            inner.push(part.clone());
            if self.texts.contains_key(&inner) {
                at = inner;
            } else if let Some(from) = self.handed_on.get(&(at.clone(), part.clone())) {
                return from.clone();
            } else {
                return at;
            }
        }
        at
    }

    /// Who imports whom. What a module only hands on, it does not import.
    fn edges(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (module, text) in &self.texts {
            let (handed_on, imported): (Vec<_>, Vec<_>) = used(text)
                .into_iter()
                .partition(|(_, handed_on)| *handed_on);
            let handed_on: Vec<_> = handed_on.into_iter().map(|(path, _)| path).collect();
            let named = named(text)
                .into_iter()
                .filter(|path| !handed_on.contains(path));
            let paths = imported.into_iter().map(|(path, _)| path).chain(named);
            let targets = paths.filter_map(|path| self.target(module, &path));
            let others = targets.filter(|target| target != module).collect();
            edges.insert(module.clone(), others);
        }
        edges
    }
}

/// The modules that are part of a cycle: what is left when all that stand on nothing, or on which
/// nothing stands, are taken away, again and again.
fn cyclic(mut edges: BTreeMap<Module, BTreeSet<Module>>) -> BTreeMap<Module, BTreeSet<Module>> {
    loop {
        let imported: BTreeSet<Module> = edges.values().flatten().cloned().collect();
        let is_free =
            |module: &Module, on: &BTreeSet<Module>| on.is_empty() || !imported.contains(module);
        let free: BTreeSet<Module> = edges
            .iter()
            .filter(|(module, on)| is_free(module, on))
            .map(|(module, _)| module.clone())
            .collect();
        if free.is_empty() {
            return edges;
        }
        edges.retain(|module, _| !free.contains(module));
        for on in edges.values_mut() {
            on.retain(|module| !free.contains(module));
        }
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let found = cyclic(Files::of_the_library().edges());
    let shown: Vec<String> = found
        .iter()
        .map(|(module, on)| {
            let on: Vec<String> = on.iter().map(|it| it.join("::")).collect();
            format!("{} -> {}", module.join("::"), on.join(", "))
        })
        .collect();
    assert!(found.is_empty(), "import cycles:\n{}", shown.join("\n"));
}

#[test]
fn uses_are_read_from_all_their_forms() {
    let text = "use super::{a::{B, C}, D};\npub(crate) use x::Y;\nuse std::fmt;\nlet z = 1;";
    let found: Vec<String> = used(text)
        .into_iter()
        .map(|(path, handed_on)| {
            format!("{}{}", path.join("::"), if handed_on { " +" } else { "" })
        })
        .collect();
    assert_eq!(
        found,
        [
            "super::a::B",
            "super::a::C",
            "super::D",
            "x::Y +",
            "std::fmt"
        ]
    );
}

#[test]
fn a_circle_is_found() {
    let module = |name: &str| vec![name.to_owned()];
    let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "a")];
    let edges = edges.map(|(from, to)| (module(from), BTreeSet::from([module(to)])));
    let found = cyclic(edges.into());
    assert_eq!(
        found.into_keys().collect::<Vec<_>>(),
        [module("b"), module("c")]
    );
}
