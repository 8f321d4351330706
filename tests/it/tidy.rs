//! The layout: which module imports which, how long a file is, where `unsafe` is used, what the opening
//! comment of a file says. Read from the source text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The table of ARCHITECTURE.md: a module and what it may import of ours.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("docs", &[]),
    ("profile", &[]),
    ("process", &[]),
    ("files", &[]),
    ("redact", &[]),
    ("printable", &[]),
    ("logging", &[]),
    ("events", &[]),
    ("pattern", &["events", "printable"]),
    (
        "hook",
        &["events", "pattern", "printable", "process", "redact"],
    ),
    ("registry", &["events", "hook", "logging", "printable"]),
    ("outcome", &["events", "hook", "printable", "redact"]),
    (
        "protocol",
        &[
            "events",
            "profile",
            "hook",
            "logging",
            "printable",
            "process",
        ],
    ),
    ("pool", &["logging", "process"]),
    (
        "runner",
        &[
            "events",
            "hook",
            "logging",
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
            "events", "pattern", "profile", "hook", "logging", "registry", "outcome", "protocol",
            "process", "redact", "pool", "runner",
        ],
    ),
    (
        "config",
        &[
            "events",
            "pattern",
            "profile",
            "hook",
            "logging",
            "printable",
            "registry",
            "trust",
            "files",
            "redact",
        ],
    ),
    (
        "compat",
        &[
            "config",
            "events",
            "hook",
            "pattern",
            "printable",
            "process",
            "protocol",
        ],
    ),
    ("trust", &["hook", "files", "printable", "profile"]),
    ("templates", &["hook", "profile"]),
    (
        "lifecycle",
        &["events", "executor", "logging", "outcome", "printable"],
    ),
    (
        "trace",
        &[
            "events",
            "hook",
            "logging",
            "outcome",
            "printable",
            "redact",
            "runner",
        ],
    ),
    (
        "hooks",
        &[
            "compat",
            "events",
            "profile",
            "config",
            "executor",
            "lifecycle",
            "logging",
            "outcome",
            "registry",
            "trace",
            "trust",
        ],
    ),
    // As another crate would, but for files: locks, reading and replacing.
    ("cli", &["the public API", "files"]),
    ("bin", &["the public API"]),
];

const LONGEST_FILE: usize = 800;

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

/// The text without comments; documentation may name any module.
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
fn imports_are_read_in_every_form() {
    let text = "use crate::{events::X, hook}; // crate::pattern\nfn f() { crate::process::run() }";
    let expected = ["events", "hook", "process"].map(str::to_owned);
    assert_eq!(imports(text), BTreeSet::from(expected));
}

#[test]
fn imports_follow_the_table() {
    let allowed: BTreeMap<_, _> = MAY_IMPORT.iter().copied().collect();
    let is_checked = |source: &Source| !["lib", "cli"].contains(&source.module.as_str());
    for source in sources().into_iter().filter(is_checked) {
        let allowed = allowed.get(source.module.as_str());
        let allowed = allowed.unwrap_or_else(|| panic!("{} has no row", source.module));
        for import in imports(&source.text) {
            let fine = import == source.module || allowed.contains(&import.as_str());
            assert!(fine, "{}: may not import `{import}`", source.path.display());
        }
    }
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

/// Whether it is more than a module.
fn is_of_root(name: &str) -> bool {
    let is_module = MAY_IMPORT.iter().any(|(module, _)| *module == name);
    !is_module && !["cli", "docs", "fuzzing"].contains(&name)
}

#[test]
fn cli_uses_the_public_api_alone() {
    let sources = sources();
    let lib = sources.iter().find(|source| source.module == "lib");
    let public = public_names(&lib.unwrap().text);
    assert!(public.contains("Hook") && public.contains("templates"));
    let at_the_root = code(&lib.unwrap().text).matches("\npub fn ").count()
        + public.iter().filter(|name| is_of_root(name)).count();
    assert!(at_the_root <= 45, "{at_the_root} names at the root");
    for source in sources.iter().filter(|source| source.module == "cli") {
        for path in code(&source.text).split("crate::").skip(1) {
            let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
            let end = path.find(|c| !is_path(c)).unwrap_or(path.len());
            let list = path
                .strip_prefix('{')
                .and_then(|list| list.split('}').next());
            for name in list.unwrap_or(&path[..end]).split(',').map(str::trim) {
                let (first, rest) = name.split_once("::").unwrap_or((name, ""));
                let is_type = first.starts_with(|c: char| c.is_ascii_uppercase());
                let inner = rest.is_empty() || is_type || public.contains(first);
                let is_lock = name == "files" || name.starts_with("files::");
                let fine = name.is_empty() || is_lock || (inner && public.contains(first));
                assert!(fine, "{}: `{name}` is not public", source.path.display());
            }
        }
    }
}

#[test]
fn every_entry_of_the_table_is_used() {
    let sources = sources();
    for (module, allowed) in MAY_IMPORT
        .iter()
        .filter(|(_, allowed)| allowed.first() != Some(&"the public API"))
    {
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
fn only_process_has_unsafe_and_says_why() {
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
fn every_file_has_a_comment_and_is_short() {
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
fn the_library_prints_nothing() {
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
        let may_write = source.path == Path::new("cli/io.rs");
        assert!(!writing || may_write, "{} writes", source.path.display());
        let marked = markers.iter().find(|marker| source.text.contains(*marker));
        assert_eq!(marked, None, "{}", source.path.display());
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
