//! The pages for readers: each is part of the API's documentation, and no link leads nowhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use forge_hooks::{AppProfile, Hooks};
use regex::Regex;
use serde_json::{Value, json};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// The pages as published. No page links to them: a link in the repository stays in the repository.
const PUBLISHED: &str = "https://docs.rs/forge-hooks/latest/forge_hooks/docs/";
/// Links to other files of the package.
const SOURCE: &str = "https://docs.rs/crate/forge-hooks/latest/source/";

/// A block of code, and its heading.
pub(crate) struct Block {
    // The tests that look at it run on Unix.
    #[cfg_attr(not(unix), allow(dead_code))]
    pub(crate) heading: String,
    pub(crate) language: String,
    pub(crate) code: String,
}

/// The blocks of code of a page, in order.
pub(crate) fn blocks_of(page: &str) -> Vec<Block> {
    let text = fs::read_to_string(Path::new(ROOT).join(page)).unwrap();
    let mut blocks: Vec<Block> = Vec::new();
    let (mut heading, mut is_within) = (String::new(), false);
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some("") => is_within = false,
            Some(language) => {
                is_within = true;
                blocks.push(Block {
                    heading: heading.clone(),
                    language: language.to_owned(),
                    code: String::new(),
                });
            }
            None if is_within => blocks.last_mut().unwrap().code += &format!("{line}\n"),
            None if line.starts_with('#') => {
                line.trim_start_matches('#').trim().clone_into(&mut heading);
            }
            None => {}
        }
    }
    blocks
}

fn pages() -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(ROOT).join("docs")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect()
}

#[test]
fn every_page_is_documented_with_the_api() {
    let modules = fs::read_to_string(Path::new(ROOT).join("src/docs.rs")).unwrap();
    for page in pages() {
        let included = format!("\"../docs/{}\"", page.file_name().unwrap().display());
        assert!(modules.contains(&included), "{included}");
    }
}

/// The hooks files of the pages, each with its place: as a whole, or as its only entry. Lines of other JSON only parse.
pub(crate) fn hooks_files() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for page in pages()
        .into_iter()
        .chain([Path::new(ROOT).join("README.md")])
    {
        let blocks = blocks_of(page.to_str().unwrap()).into_iter();
        for block in blocks.filter(|block| block.language == "json") {
            let place = format!("{}: {}", page.display(), block.code);
            let Ok(value) = serde_json::from_str::<Value>(&block.code) else {
                for line in block.code.lines() {
                    let value: Result<Value, _> = serde_json::from_str(line);
                    assert!(value.is_ok(), "{place}");
                }
                continue;
            };
            let file = match (value.get("hooks"), value.get("event")) {
                (Some(_), _) => value,
                (None, Some(_)) if value.get("time").is_none() => json!({"hooks": [value]}),
                _ => continue,
            };
            found.push((place, file));
        }
    }
    assert!(found.len() >= 8, "{}", found.len());
    found
}

#[test]
fn every_entry_of_a_page_is_valid() {
    for (place, file) in hooks_files() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("pagehost")).unwrap();
        let path = home.path().join("pagehost/hooks.json");
        fs::write(path, file.to_string()).unwrap();
        let hooks = Hooks::builder(AppProfile::new("pagehost")).config_home(home.path());
        let report = hooks.load().report();
        assert!(report.is_ok() && report.loaded > 0, "{place}{report}");
    }
}

/// A hook that reads a variable with a host's own prefix works in one host only.
#[test]
fn no_example_reads_a_variable_of_one_host() {
    let root = Path::new(ROOT);
    let mut files = pages();
    files.push(root.join("README.md"));
    for directory in [
        "examples",
        "examples/hooks",
        "examples/config/mygame",
        "examples/config/myagent",
    ] {
        let entries = fs::read_dir(root.join(directory)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        files.extend(paths.filter(|path| path.is_file()));
    }
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for prefix in ["OPENCODE", "MYGAME", "MYAGENT", "MYEDITOR"] {
            for sign in ["$", "${", "!", "%", "environ[\"", "process.env."] {
                let variable = format!("{sign}{prefix}_");
                assert!(!text.contains(&variable), "{}: {variable}", file.display());
            }
        }
    }
}

#[test]
fn every_link_has_a_target() {
    let modules = fs::read_to_string(Path::new(ROOT).join("src/docs.rs")).unwrap();
    let readme = Path::new(ROOT).join("README.md");
    for page in pages().into_iter().chain([readme]) {
        let text = fs::read_to_string(&page).unwrap();
        for target in links(&text) {
            check_link(&page, &text, target);
        }
        check_labels(&page, &text, &modules);
    }
}

/// The targets of `[text](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let behind = text.split("](").skip(1);
    behind.filter_map(|rest| rest.split(')').next())
}

/// Checks the links from a page to others: a label is its target, defined once for the repository and once for rustdoc.
#[track_caller]
fn check_labels(page: &Path, text: &str, modules: &str) {
    let used = Regex::new(r"\]\[([a-z-]+\.md(#[\w-]+)?)\]").unwrap();
    let used: BTreeSet<_> = used
        .captures_iter(text)
        .map(|label| label[1].to_owned())
        .collect();
    let definition = Regex::new(r"(?m)^\[([a-z-]+\.md(#[\w-]+)?)\]: (.*)$").unwrap();
    let mut defined = BTreeSet::new();
    for definition in definition.captures_iter(text) {
        let label = &definition[1];
        assert_eq!(label, &definition[3], "{}", page.display());
        let (file, anchor) = label.split_once('#').unwrap_or((label, ""));
        let module = file.trim_end_matches(".md").replace('-', "_");
        let in_rustdoc = format!(
            "[{label}]: crate::docs::{}\n",
            label.replacen(file, &module, 1)
        );
        assert!(modules.contains(&in_rustdoc), "{in_rustdoc}");
        let linked = Path::new(ROOT).join("docs").join(file);
        let linked = fs::read_to_string(&linked).unwrap_or_else(|error| panic!("{label}: {error}"));
        let is_there = anchor.is_empty() || has_heading(&linked, anchor);
        assert!(is_there, "{}: {label}", page.display());
        defined.insert(label.to_owned());
    }
    assert_eq!(used, defined, "{}", page.display());
}

#[track_caller]
fn check_link(page: &Path, text: &str, target: &str) {
    let (place, anchor) = target.split_once('#').unwrap_or((target, ""));
    let display = page.display();
    if place.is_empty() {
        assert!(has_heading(text, anchor), "{display}: {target}");
    } else if let Some(file) = own_file(page, place) {
        let linked = Path::new(ROOT).join(&file);
        assert!(linked.exists() && is_packaged(&file), "{display}: {target}");
        let is_there = || has_heading(&fs::read_to_string(linked).unwrap(), anchor);
        assert!(anchor.is_empty() || is_there(), "{display}: {target}");
    } else {
        let is_absolute = target.starts_with("https://") && !target.starts_with(PUBLISHED);
        assert!(
            is_absolute,
            "{display}: {target} is one of the labels of src/docs.rs"
        );
    }
}

/// Returns the file of this repository that a link is about.
fn own_file(page: &Path, place: &str) -> Option<String> {
    let is_relative = page.ends_with("README.md") && !place.contains("://");
    let file = place.strip_prefix(SOURCE);
    file.or(is_relative.then_some(place)).map(str::to_owned)
}

/// Returns true if a file is in the package, by the list of Cargo.toml.
fn is_packaged(file: &str) -> bool {
    let manifest = fs::read_to_string(Path::new(ROOT).join("Cargo.toml")).unwrap();
    let included = manifest
        .lines()
        .find_map(|line| line.strip_prefix("include = "));
    let included: Vec<String> = serde_json::from_str(included.unwrap()).unwrap();
    included.iter().any(|pattern| {
        let files = pattern.strip_prefix('/').unwrap();
        let is_one = glob::Pattern::new(files).unwrap().matches(file);
        is_one || Path::new(file).starts_with(files)
    })
}

fn has_heading(text: &str, anchor: &str) -> bool {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let mut anchors = headings.map(|line| slug(line.trim_start_matches('#').trim()));
    anchors.any(|heading| heading == anchor)
}

/// As rustdoc and GitHub make it.
fn slug(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let kept = lower.chars();
    let kept = kept.filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
