//! The pages for maintainers: the filters of `cargo test` match existing tests, each dependency has a row, and the
//! walks of ARCHITECTURE.md name items that their files have. The tests compare texts, so that a renamed test is
//! noticed before CI runs.

use std::path::{Path, PathBuf};

use regex::Regex;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The words behind ` -- ` of each `cargo test`, and of each `filtered` of the scripts in `.ci/`, without options.
fn filters(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let text = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    let command = Regex::new(r"(?:cargo [^\n`]*?\btest|filtered) [^\n`]*?-- ([^\n`]+)").unwrap();
    let words = command.captures_iter(&text).flat_map(|command| {
        let words = command.get(1).unwrap().as_str().split_whitespace();
        words.map(str::to_owned).collect::<Vec<_>>()
    });
    words.filter(|word| !word.starts_with('-')).collect()
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The names of the tests below a directory, with their modules. A module within a file counts from its first line on.
fn tests_below(directory: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let module = Regex::new(r"^(?:pub\(crate\) )?mod (\w+) \{").unwrap();
    let function = Regex::new(r"^\s*fn (\w+)\(").unwrap();
    let mut names = Vec::new();
    for file in rust_files(&root) {
        let path = file.strip_prefix(&root).unwrap().with_extension("");
        let parts = path.iter().map(|part| part.to_str().unwrap());
        let parts: Vec<_> = parts.filter(|part| *part != "mod").collect();
        let mut place = parts.join("::");
        let mut is_test = false;
        for line in std::fs::read_to_string(file).unwrap().lines() {
            if let Some(found) = module.captures(line) {
                place = format!("{}::{}", parts.join("::"), &found[1]);
            } else if line.trim() == "#[test]" {
                is_test = true;
            } else if let Some(found) = function.captures(line) {
                if is_test {
                    names.push(format!("{place}::{}", &found[1]));
                }
                is_test = false;
            }
        }
    }
    names
}

#[test]
fn each_filter_matches_a_test() {
    let mut names = tests_below("tests/it");
    names.extend(tests_below("src"));
    assert!(names.len() > 1000, "{} tests", names.len());
    for page in [
        ".ci/run",
        ".ci/nightly",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
    ] {
        let filters = filters(&read(page));
        assert!(!filters.is_empty(), "{page} has filters");
        for filter in filters {
            let is_found = names.iter().any(|name| name.contains(&filter));
            assert!(is_found, "{page}: no test matches `{filter}`");
        }
    }
    assert!(filters(&read(".ci/nightly")).len() > 40, "of each command");
}

/// The dependencies of Cargo.toml, also those for one system or for development.
fn dependencies() -> Vec<String> {
    let manifest = read("Cargo.toml");
    let mut names = Vec::new();
    let mut is_within = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_within = line.ends_with("dependencies]");
        } else if let Some((name, _)) = line.split_once(" = ")
            && is_within
            && !name.starts_with([' ', '#'])
        {
            names.push(name.to_owned());
        }
    }
    names
}

#[test]
fn each_dependency_has_a_row() {
    let page = read("CONTRIBUTING.md");
    let (_, table) = page.split_once("\n## Dependencies\n").unwrap();
    let dependencies = dependencies();
    assert!(dependencies.len() > 25, "{dependencies:?}");
    for name in dependencies {
        assert!(table.contains(&format!("`{name}`")), "no row for `{name}`");
    }
}

/// Each row of "Where does a change go?" has the form `src/x.rs` (`NAME`), and the file has the name.
#[test]
fn the_walks_name_what_their_files_have() {
    let page = read("ARCHITECTURE.md");
    let (_, walks) = page.split_once("\n## Where does a change go?\n").unwrap();
    let file = Regex::new(r"`((?:src|tests)/[\w./]+\.rs)` \(([^)]*)\)").unwrap();
    let name = Regex::new(r"`(\w+)`").unwrap();
    let mut count = 0;
    for found in file.captures_iter(walks) {
        let (path, about) = (&found[1], &found[2]);
        let text = read(path);
        for name in name.captures_iter(about) {
            assert!(text.contains(&name[1]), "{path} has no `{}`", &name[1]);
            count += 1;
        }
    }
    assert!(count > 8, "{count} names");
}
