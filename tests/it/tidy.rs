//! The house: who imports whom, how long a file is, where `unsafe` stands, what every file says of
//! itself. Read from the source text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The table of ARCHITECTURE.md: a module and what it may import of ours.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("profile", &[]),
    ("process", &[]),
    ("files", &[]),
    ("redact", &[]),
    ("printable", &[]),
    ("events", &[]),
    ("pattern", &["events"]),
    ("hook", &["events", "pattern", "redact"]),
    ("registry", &["events", "hook", "pattern", "printable"]),
    ("outcome", &["events", "hook", "printable", "redact"]),
    (
        "protocol",
        &[
            "events",
            "profile",
            "hook",
            "outcome",
            "printable",
            "process",
        ],
    ),
    ("pool", &[]),
    (
        "runner",
        &[
            "events",
            "hook",
            "outcome",
            "printable",
            "protocol",
            "process",
            "redact",
        ],
    ),
    (
        "executor",
        &[
            "events", "profile", "hook", "registry", "outcome", "protocol", "process", "redact",
            "pool", "runner",
        ],
    ),
    (
        "config",
        &[
            "events",
            "pattern",
            "profile",
            "hook",
            "printable",
            "registry",
            "trust",
            "files",
            "redact",
        ],
    ),
    ("trust", &["hook", "files"]),
    ("templates", &["hook", "profile"]),
    ("lifecycle", &["events", "executor", "outcome", "printable"]),
    ("trace", &["events", "hook", "outcome", "redact", "runner"]),
    (
        "hooks",
        &[
            "events",
            "profile",
            "config",
            "executor",
            "lifecycle",
            "outcome",
            "registry",
            "trust",
        ],
    ),
    // The program; it has a crate of its own, whose modules are files of `bin`.
    ("bin", &["the public API"]),
];

const LONGEST_FILE: usize = 500;

pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// The module directly below the crate.
    pub(crate) module: String,
    pub(crate) text: String,
}

pub(crate) fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            // The page that shows a trace is none.
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let relative = path.strip_prefix(&root).unwrap();
            let first = Path::new(relative.iter().next().unwrap())
                .file_stem()
                .unwrap();
            let module = first.to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            sources.push(Source {
                path: relative.to_owned(),
                module,
                text,
            });
        }
    }
    assert!(sources.len() > 20, "the sources are found");
    sources
}

/// The text without comments; documentation may speak of whom it likes.
pub(crate) fn code(text: &str) -> String {
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The modules that a text imports or names: what follows `crate::`, also in a list in braces.
fn imports(text: &str) -> BTreeSet<String> {
    let word = |text: &str| -> String {
        text.trim_start()
            .chars()
            .take_while(|c| c.is_ascii_lowercase() || *c == '_')
            .collect()
    };
    let mut found = BTreeSet::new();
    for rest in code(text).split("crate::").skip(1) {
        if let Some(list) = rest.strip_prefix('{') {
            found.extend(list.split('}').next().unwrap().split(',').map(word));
        } else {
            found.insert(word(rest));
        }
    }
    found.remove("");
    found
}

#[test]
fn imports_are_read_from_all_their_forms() {
    let text = "use crate::{events::X, hook}; // crate::pattern\nfn f() { crate::process::run() }";
    let expected = ["events", "hook", "process"].map(str::to_owned);
    assert_eq!(imports(text), BTreeSet::from(expected));
}

#[test]
fn nobody_imports_whom_they_may_not() {
    let allowed: BTreeMap<_, _> = MAY_IMPORT.iter().copied().collect();
    let sources = sources();
    let stem = |source: &Source| Some(source.path.file_stem()?.to_str()?.to_owned());
    let of_bin = sources.iter().filter(|source| source.module == "bin");
    let programs: BTreeSet<String> = of_bin.filter_map(stem).collect();
    for source in sources.iter().filter(|source| source.module != "lib") {
        let allowed = allowed.get(source.module.as_str());
        let allowed = allowed.unwrap_or_else(|| panic!("{} has no row", source.module));
        for import in imports(&source.text) {
            let of_the_program = source.module == "bin" && programs.contains(&import);
            let fine =
                of_the_program || import == source.module || allowed.contains(&import.as_str());
            assert!(fine, "{}: may not import `{import}`", source.path.display());
        }
    }
}

#[test]
fn the_table_has_no_entry_that_nothing_uses() {
    let sources = sources();
    for (module, allowed) in MAY_IMPORT.iter().filter(|(module, _)| *module != "bin") {
        let of_module = sources.iter().filter(|source| source.module == *module);
        let used: BTreeSet<String> = of_module.flat_map(|it| imports(&it.text)).collect();
        for entry in *allowed {
            assert!(used.contains(*entry), "{module} does not import {entry}");
        }
    }
}

#[test]
fn architecture_shows_the_same_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let page = std::fs::read_to_string(path).unwrap();
    for (module, imports) in MAY_IMPORT {
        let imports = if imports.is_empty() {
            "nothing of ours".into()
        } else {
            imports.join(", ")
        };
        let row = format!("| {module} | {imports} |");
        assert!(page.contains(&row), "ARCHITECTURE.md lacks {row}");
    }
}

#[test]
fn unsafe_stands_in_process_alone_and_says_why() {
    for source in sources() {
        let lines: Vec<&str> = source.text.lines().collect();
        let place = source.path.display();
        for (number, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap();
            if !["unsafe {", "unsafe fn", "unsafe impl"]
                .iter()
                .any(|form| code.contains(form))
            {
                continue;
            }
            assert_eq!(source.module, "process", "{place}:{}", number + 1);
            let above = &lines[number.saturating_sub(6)..number];
            assert!(
                above.iter().any(|line| line.contains("SAFETY:")),
                "{place}:{}",
                number + 1
            );
        }
    }
}

#[test]
fn every_file_says_what_it_is_for_and_is_short_enough_to_be_read() {
    for source in sources() {
        let place = source.path.display();
        assert!(
            source.text.starts_with("//! "),
            "{place} has no opening comment"
        );
        let length = source.text.lines().count();
        assert!(length <= LONGEST_FILE, "{place} has {length} lines");
    }
}

#[test]
fn the_library_prints_nothing_and_leaves_nothing_for_later() {
    let markers = ["TODO", "FIXME", "todo!(", "unimplemented!(", "dbg!("];
    for source in sources() {
        let code = code(&source.text);
        let printing = ["print!(", "println!("]
            .iter()
            .any(|form| code.contains(form));
        assert!(!printing, "{} prints", source.path.display());
        // Where it may write is one of its files.
        let writing = ["io::stdout(", "io::stderr("]
            .iter()
            .any(|form| code.contains(form));
        let may_write = source.module == "bin"
            && ["main", "terminal"]
                .map(Path::new)
                .contains(&Path::new(source.path.file_stem().unwrap()));
        assert!(!writing || may_write, "{} writes", source.path.display());
        let marked = markers.iter().find(|marker| source.text.contains(*marker));
        assert_eq!(marked, None, "{}", source.path.display());
    }
}

/// A test is named by its module and its name; the name alone is looked for.
#[test]
fn every_test_named_in_contributing_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let mut tests: String = sources().into_iter().map(|source| source.text).collect();
    for folder in ["tests/it", "tests/it/lifecycle", "tests/it/program"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                tests += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    let named: Vec<_> = page
        .split('`')
        .filter(|text| text.contains("::") && !text.contains(' '))
        .filter_map(|text| text.rsplit("::").next())
        .collect();
    assert!(named.len() > 100, "the table is found");
    for name in named {
        assert!(
            tests.contains(&format!("fn {name}(")),
            "there is no test {name}"
        );
    }
}
