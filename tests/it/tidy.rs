//! The layout: which module imports which, how long a file is, where `unsafe` is used, what the opening
//! comment of a file says. Read from the source text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const LONGEST_FILE: usize = 800;

/// The table of ARCHITECTURE.md: a module and what it may import of ours.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, rows) = page.split_once("| module | may import |").unwrap();
    let rows = rows.lines().skip(2).map_while(|row| row.strip_prefix("| "));
    let row = |row: &str| {
        let (module, imports) = row.trim_end_matches(" |").split_once(" | ").unwrap();
        let imports = imports.split(", ").filter(|it| *it != "nothing of ours");
        (module.to_owned(), imports.map(str::to_owned).collect())
    };
    rows.map(row).collect()
}

pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// The module directly below the crate.
    pub(crate) module: String,
    pub(crate) text: String,
}

pub(crate) fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
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
    let paths = paths(text).into_iter();
    let first = paths.map(|path| path.split("::").next().unwrap_or_default().to_owned());
    first
        .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect()
}

#[test]
fn imports_are_those_of_the_table() {
    let mut found: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for source in sources() {
        let mut imports = imports(&source.text);
        imports.remove(&source.module);
        found.entry(source.module).or_default().extend(imports);
    }
    let mut table = table();
    for other in ["lib", "cli", "bin"] {
        table.remove(other);
        found.remove(other);
    }
    assert!(table.len() > 15, "{table:?}");
    assert_eq!(found, table, "the source, and ARCHITECTURE.md");
}

/// The names that lib.rs hands on, and its public modules.
fn public_names(lib: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for statement in code(lib).split(';') {
        let Some((_, public)) = statement.rsplit_once("\npub ") else {
            continue;
        };
        if let Some(module) = public.strip_prefix("mod ") {
            names.insert(module.to_owned());
        } else if let Some(path) = public.strip_prefix("use ") {
            let list = path.rsplit("::").next().unwrap_or_default();
            let list = list.trim_matches(['{', '}']).split(',');
            names.extend(list.map(|name| name.trim().to_owned()));
        }
    }
    names
}

/// The paths that follow `crate::` in a text, those of a list in braces one by one.
fn paths(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for path in code(text).split("crate::").skip(1) {
        let list = path.strip_prefix('{').and_then(|it| it.split('}').next());
        let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
        let end = path.find(|c| !is_path(c)).unwrap_or(path.len());
        let names = list.unwrap_or(&path[..end]).split(',').map(str::trim);
        found.extend(names.filter(|it| !it.is_empty()).map(str::to_owned));
    }
    found
}

#[test]
fn cli_uses_the_public_api_alone() {
    let (sources, table) = (sources(), table());
    let lib = sources.iter().find(|source| source.module == "lib");
    let lib = &lib.unwrap().text;
    let public = public_names(lib);
    assert!(public.contains("Hook") && public.contains("templates"));
    let is_module = |name: &String| table.contains_key(name) || name == "docs" || name == "fuzzing";
    let names = public.iter().filter(|name| !is_module(name)).count();
    let at_the_root = code(lib).matches("\npub fn ").count() + names;
    assert!(at_the_root <= 45, "{at_the_root} names at the root");
    for source in sources.iter().filter(|source| source.module == "cli") {
        for name in paths(&source.text) {
            let first = name.split("::").next().unwrap();
            // Of the rest of the crate it uses the locks of files, and the reader of JSON.
            let fine = ["files", "json"].contains(&first) || public.contains(first);
            assert!(fine, "{}: `{name}` is not public", source.path.display());
        }
    }
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
        // Where it may write is one of its files.
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
        let mut found = code.match_indices("log::");
        found.any(|(at, _)| !code[..at].ends_with(in_word))
    };
    for source in sources() {
        let may_log = ["logging", "bin"].contains(&source.module.as_str());
        let logs = names_log(&code(&source.text));
        assert!(!logs || may_log, "{} may panic", source.path.display());
        assert!(logs || source.module != "logging", "it is found");
    }
}

/// What precedes the reading of a JSON text is done in one place.
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
