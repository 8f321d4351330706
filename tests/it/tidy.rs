//! The layout: which module imports which, how long a file is, where `unsafe` is used, what the opening
//! comment of a file says, which files ARCHITECTURE.md names. Read from the source text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::tidy_cycles::{crate_paths, without_tests};

const LONGEST_FILE: usize = 800;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn architecture() -> String {
    std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

/// The table of ARCHITECTURE.md: modules and what each may import of ours.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let page = architecture();
    let (_, rows) = page.split_once("| module | may import |").unwrap();
    let rows = rows.lines().skip(2).map_while(|row| row.strip_prefix("| "));
    let mut table = BTreeMap::new();
    for row in rows {
        let (modules, imports) = row.trim_end_matches(" |").split_once(" | ").unwrap();
        let imports = imports
            .split(", ")
            .filter(|import| *import != "nothing of ours");
        let imports: BTreeSet<_> = imports.map(str::to_owned).collect();
        for module in modules.split(", ") {
            let earlier = table.insert(module.to_owned(), imports.clone());
            assert!(earlier.is_none(), "{module} has two rows");
        }
    }
    table
}

pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// The module directly below the crate.
    pub(crate) module: String,
    pub(crate) text: String,
}

pub(crate) fn sources() -> Vec<Source> {
    let root = root().join("src");
    let mut directories = vec![root.clone()];
    let mut sources = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            // The page that shows a trace is not Rust.
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let relative = path.strip_prefix(&root).unwrap().to_owned();
            let first = Path::new(relative.iter().next().unwrap()).file_stem();
            sources.push(Source {
                module: first.unwrap().to_str().unwrap().to_owned(),
                path: relative,
                text: std::fs::read_to_string(&path).unwrap(),
            });
        }
    }
    assert!(sources.len() > 20, "the sources are found");
    sources
}

/// The text without comments; documentation may name any module.
pub(crate) fn code(text: &str) -> String {
    let lines = text.lines();
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The modules that a text imports or names: what follows `crate::`, also in a list in braces.
fn imports(text: &str) -> BTreeSet<String> {
    let paths = crate_paths(&code(text)).into_iter();
    let first = paths.map(|path| path.split("::").next().unwrap_or_default().to_owned());
    first
        .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
        // These are only compiled for tests.
        .filter(|name| !["growth", "thorough"].contains(&name.as_str()))
        .collect()
}

#[test]
fn imports_are_those_of_the_table() {
    let mut actual: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for source in sources() {
        let mut imports = imports(&source.text);
        imports.remove(&source.module);
        actual.entry(source.module).or_default().extend(imports);
    }
    let mut table = table();
    for other in ["lib", "cli", "bin"] {
        table.remove(other);
        actual.remove(other);
    }
    assert!(table.len() > 15, "{table:?}");
    assert_eq!(actual, table, "the source, and ARCHITECTURE.md");
}

/// The names that the text of a module offers to everyone.
fn public_items(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for item in code(text).split("\npub ").skip(1) {
        if let Some(paths) = item.strip_prefix("use ") {
            let list = paths.split(';').next().unwrap_or_default();
            // A list may have lists of modules, and end with a comma.
            let words = list.split(|c: char| "{},".contains(c)).map(str::trim);
            let names_of = words.map(|word| word.rsplit("::").next().unwrap_or_default());
            names.extend(names_of.filter(|name| !name.is_empty()).map(str::to_owned));
        } else {
            let item = item.strip_prefix("const fn").unwrap_or(item);
            let mut words = item.split(|c: char| !c.is_alphanumeric() && c != '_');
            names.extend(words.nth(1).map(str::to_owned));
        }
    }
    names
}

/// Functions for this crate alone, by their names, with the modules that have them. A name that something public has
/// too is left out.
fn private_functions(sources: &[Source]) -> BTreeMap<String, BTreeSet<&str>> {
    // The names are those of functions of the standard library and of other crates.
    const ELSEWHERE: [&str; 14] = [
        "any",
        "chain",
        "get",
        "help",
        "into_bytes",
        "is_object",
        "keys",
        "kill",
        "lock",
        "now",
        "or",
        "pop",
        "push",
        "write",
    ];
    let function = Regex::new(r"(pub(?:\(crate\))? )?(?:const )?fn (\w+)").unwrap();
    let mut private: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let mut others = BTreeSet::from(ELSEWHERE.map(str::to_owned));
    for source in sources {
        for found in function.captures_iter(&code(&source.text)) {
            let name = found[2].to_owned();
            let visibility = found.get(1).map(|group| group.as_str());
            if source.module == "cli" || visibility == Some("pub ") {
                others.insert(name);
            } else if visibility.is_some() {
                private.entry(name).or_default().insert(&*source.module);
            }
        }
    }
    private.retain(|name, _| !others.contains(name));
    private
}

/// The functions that are called in a text.
fn called(text: &str) -> BTreeSet<String> {
    let call = Regex::new(r"(?:\.|::)(\w+)\(").unwrap();
    let calls = call.captures_iter(text);
    calls.map(|call| call[1].to_owned()).collect()
}

/// Returns the items that a text uses of a module that it names as a whole, as in `files::lock`.
fn used_through(module: &str, text: &str) -> Vec<String> {
    let path = Regex::new(&format!(r"\b{module}::(\w+)")).unwrap();
    let paths = path.captures_iter(text);
    paths.map(|path| path[1].to_owned()).collect()
}

/// The names that each module offers to everyone.
fn public_items_of_modules(sources: &[Source]) -> BTreeMap<&str, BTreeSet<String>> {
    let all_of = Regex::new(r"(?m)^pub use (\w+)::\*;").unwrap();
    let mut public: BTreeMap<_, _> = BTreeMap::new();
    for source in sources {
        let is_module = source.path == Path::new(&source.module).with_extension("rs");
        if !is_module && source.path != Path::new(&source.module).join("mod.rs") {
            continue;
        }
        let mut names = public_items(&source.text);
        for found in all_of.captures_iter(&source.text) {
            let path = Path::new(&source.module).join(format!("{}.rs", &found[1]));
            let file = sources.iter().find(|source| source.path == path);
            names.extend(public_items(&file.unwrap().text));
        }
        public.insert(&*source.module, names);
    }
    public
}

/// The modules of whose items for this crate alone `cli` uses some, with these items.
fn private_uses(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let public = public_items_of_modules(sources);
    let functions = private_functions(sources);
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.module == "cli") {
        let text = without_tests(&source.text);
        let mut items = Vec::new();
        for path in crate_paths(&text) {
            let mut parts = path.split("::").map(str::to_owned);
            match (parts.next().unwrap(), parts.next()) {
                (module, Some(item)) if item != "self" => items.push((module, item)),
                (module, _) if public.contains_key(&*module) => {
                    let through = used_through(&module, &text);
                    items.extend(through.into_iter().map(|item| (module.clone(), item)));
                }
                (name, _) => items.push(("lib".to_owned(), name)),
            }
        }
        items.retain(|(module, item)| !public[&**module].contains(item));
        for name in called(&text) {
            let modules = functions.get(&name).into_iter().flatten();
            items.extend(modules.map(|module| ((*module).to_owned(), name.clone())));
        }
        for (module, item) in items {
            uses.entry(module).or_default().insert(item);
        }
    }
    let of_itself = uses.remove("cli");
    assert!(of_itself.is_some(), "paths are found");
    uses
}

#[test]
fn cli_uses_what_the_table_says() {
    let (sources, mut table) = (sources(), table());
    let mut allowed = table.remove("cli").unwrap();
    assert!(allowed.remove("the public API"));
    let uses = private_uses(&sources);
    let modules: BTreeSet<_> = uses.keys().cloned().collect();
    assert_eq!(modules, allowed, "{uses:#?}, and ARCHITECTURE.md");
}

#[test]
fn few_names_are_at_the_root() {
    let (sources, table) = (sources(), table());
    let lib = sources.iter().find(|source| source.module == "lib");
    let public = public_items(&lib.unwrap().text);
    assert!(public.contains("Hook") && public.contains("templates"));
    let is_module = |name: &String| table.contains_key(name) || name == "docs" || name == "fuzzing";
    // Crates whose types stand in signatures.
    let is_crate = |name: &String| name == "crossbeam_channel" || name == "serde_json";
    let is_counted = |name: &&String| !is_module(name) && !is_crate(name);
    let count = public.iter().filter(is_counted).count();
    assert!(
        count <= 40,
        "{count} names are at the crate's root, without its modules and the crates that it re-exports. At most 40 may be: \
         leave some in their modules"
    );
}

#[test]
fn only_process_has_unsafe_and_says_why() {
    for source in sources() {
        let lines: Vec<&str> = source.text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap();
            let forms = ["unsafe {", "unsafe fn", "unsafe impl"];
            if !forms.iter().any(|form| code.contains(form)) {
                continue;
            }
            let place = format!("{}:{}", source.path.display(), number + 1);
            assert_eq!(source.module, "process", "{place}");
            let mut above = lines[number.saturating_sub(6)..number].iter();
            assert!(above.any(|line| line.contains("SAFETY:")), "{place}");
        }
    }
}

#[test]
fn every_file_is_short_has_a_comment_and_prints_nothing() {
    for source in sources() {
        let place = source.path.display();
        let has_comment = source.text.starts_with("//! ");
        assert!(has_comment, "{place} has no opening comment");
        let length = source.text.lines().count();
        assert!(length <= LONGEST_FILE, "{place} has {length} lines");
        let code = code(&source.text);
        let has = |text: &str, forms: &[&str]| forms.iter().any(|form| text.contains(form));
        assert!(!has(&code, &["print!(", "println!("]), "{place} prints");
        // Only one file of the module may write to these streams.
        let writes = has(&code, &["io::stdout(", "io::stderr("]);
        assert!(!writes || source.path == Path::new("cli/io.rs"), "{place}");
        let markers = ["TODO", "FIXME", "todo!(", "unimplemented!(", "dbg!("];
        assert!(!has(&source.text, &markers), "{place} is marked");
    }
}

/// A logger of the host may panic. The program has a logger of its own.
#[test]
fn only_logging_calls_the_logger() {
    let names_log = |code: &str| {
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut matches = code.match_indices("log::");
        matches.any(|(at, _)| !code[..at].ends_with(in_word))
    };
    for source in sources() {
        let may_log = ["logging", "bin"].contains(&source.module.as_str());
        let logs = names_log(&code(&source.text));
        assert!(!logs || may_log, "{} may panic", source.path.display());
        assert!(logs || source.module != "logging", "it is found");
    }
}

/// Only one file does the checks that precede the parsing of a JSON text.
#[test]
fn only_json_reads_json_texts() {
    let readers = [
        "serde_json::from_str",
        "serde_json::from_slice",
        "serde_json::from_reader",
        "Deserializer::from_",
    ];
    let mut places = BTreeSet::new();
    for source in sources() {
        let code = code(&source.text);
        // Tests of a file stand at its end, or in a file of their own.
        let code = code.split("mod tests {").next().unwrap();
        let is_of_tests = source.path.to_str().unwrap().ends_with("tests.rs");
        if !is_of_tests && readers.iter().any(|reader| code.contains(reader)) {
            places.insert(source.path);
        }
    }
    assert_eq!(places, BTreeSet::from([PathBuf::from("json/text.rs")]));
}

/// All files of the repository but for what is built.
fn files() -> Vec<String> {
    let mut directories = vec![root().to_owned()];
    let mut files = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let relative = path.strip_prefix(root()).unwrap().components();
            let relative: Vec<_> = relative
                .map(|component| component.as_os_str().to_str().unwrap())
                .collect();
            let is_built = ["target", ".git", "corpus"].contains(relative.last().unwrap());
            let name = relative.join("/");
            if path.is_dir() && !is_built {
                files.push(format!("/{name}/"));
                directories.push(path);
            } else {
                files.push(format!("/{name}"));
            }
        }
    }
    files
}

/// Examples in the documentation count too.
#[test]
fn no_closure_parameter_is_called_it() {
    let pattern = r"\|(?:[\s&(]|mut |\w+, )*it\b(?:: [^|]*|(?:, \w+|[\s)])*)\|";
    let parameter = Regex::new(pattern).unwrap();
    for closure in ["|IT| x", "|(_, IT)| x", "|&IT: &u8, y| x"] {
        assert!(
            parameter.is_match(&closure.replace("IT", "it")),
            "{closure}"
        );
    }
    let is_source = |file: &String| {
        let directories = ["/src/", "/tests/", "/benches/", "/fuzz/"];
        file.ends_with(".rs")
            && directories
                .iter()
                .any(|directory| file.starts_with(directory))
    };
    for file in files().iter().filter(|file| is_source(file)) {
        let text = std::fs::read_to_string(root().join(&file[1..])).unwrap();
        let named_it = parameter.find(&text).map(|closure| closure.as_str());
        assert_eq!(named_it, None, "{file}: name the thing");
    }
}

/// The files and directories that the map names, each below the directory of its entry; what an entry's text says of
/// other directories has a path.
fn of_the_map(map: &str) -> Vec<(String, String)> {
    let entry = Regex::new(r"^( {0,2})([\w./-]+)").unwrap();
    let name = Regex::new(r"[\w./-]*(?:\w\.(?:rs|txt|md|sh)\b|\w/)").unwrap();
    let mut names = Vec::new();
    let mut below = String::new();
    for line in map.lines() {
        let mut text = line;
        if let Some(found) = entry.captures(line).filter(|_| !line.starts_with("   ")) {
            let root = if found[1].is_empty() { "/" } else { "/src/" };
            below = format!("{root}{}", &found[2]);
            names.push((String::new(), below.clone()));
            text = &line[found[0].len()..];
        }
        let directory = below.trim_end_matches(|c| c != '/');
        let names_here = name.find_iter(text).map(|matched| matched.as_str());
        names.extend(names_here.map(|name| (directory.to_owned(), format!("/{name}"))));
    }
    names
}

#[test]
fn what_architecture_names_is_there() {
    let (page, files) = (architecture(), files());
    let (_, map) = page.split_once("```\n").unwrap();
    let (map, text) = map.split_once("```\n").unwrap();
    for Source { module, .. } in sources() {
        let has = |entry: String| map.contains(&format!("\n  {entry}"));
        let is_there = has(format!("{module}.rs ")) || has(format!("{module}/ "));
        assert!(is_there, "the map has no line for `{module}`");
    }
    let mut names = of_the_map(map);
    assert!(names.len() > 80, "{} names in the map", names.len());
    let path = Regex::new(r"`([\w./-]+(?:\.(?:rs|md|txt|sh)|/))`").unwrap();
    let paths = path.captures_iter(text);
    names.extend(paths.map(|path| (String::new(), format!("/{}", &path[1]))));
    assert!(names.len() > 140, "{} names", names.len());
    for (below, name) in names {
        let exists = |file: &&String| file.starts_with(&below) && file.ends_with(&name);
        assert!(
            files.iter().any(|file| exists(&file)),
            "{below} has no {name}"
        );
    }
}

/// One module decides where a path may lead. Files that tests write do not count.
#[test]
fn files_are_opened_for_writing_in_one_module() {
    // The exceptions in other modules, each with the reason why no link is followed.
    const RANDOM: &str = "it has a random name, and nothing that exists is opened";
    let allowed = [
        ("compat/protocol.rs", "tempfile::Builder", RANDOM),
        ("process/temporary.rs", "tempfile::Builder", RANDOM),
        (
            "trace/file.rs",
            "fs::rename",
            "a link with this name is renamed or replaced",
        ),
    ];
    let forms = [
        "OpenOptions",
        "File::options",
        "File::create",
        "fs::write",
        "fs::copy",
        "fs::rename",
        "fs::hard_link",
        "fs::create_dir",
        "fs::remove_",
        "fs::set_permissions",
        "unix::fs::symlink",
        "tempfile::Builder",
    ];
    let has = |code: &str, form: &str| {
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut matches = code.match_indices(form);
        matches.any(|(at, _)| !code[..at].ends_with(in_word))
    };
    let mut used = BTreeSet::new();
    let mut others = sources();
    others.retain(|source| {
        source.module != "files" && !source.path.to_string_lossy().ends_with("tests.rs")
    });
    for source in others {
        let code = code(&source.text);
        let tests = ["#[cfg(test)]", "#[cfg(all(test"].map(|attribute| code.find(attribute));
        let code = &code[..tests.into_iter().flatten().min().unwrap_or(code.len())];
        let place = source.path.display().to_string().replace('\\', "/");
        for form in forms.iter().filter(|form| has(code, form)) {
            let mut allowed = allowed.iter();
            let is_allowed = allowed.any(|(path, call, _)| (*path, call) == (&*place, form));
            assert!(is_allowed, "{place} has `{form}`: use the module `files`");
            used.insert((place.clone(), *form));
        }
    }
    assert_eq!(used.len(), allowed.len(), "{used:?}");
}
