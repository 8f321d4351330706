//! The golden corpus: what the program says of many small inputs, each file one table. A change of behaviour is a
//! change of these tables, listed with its reason in the commit that makes it.

mod fire;
mod outcomes;

use std::collections::HashSet;
use std::path::Path;

/// Checks that the text is that of the corpus, and shows the lines that differ.
#[track_caller]
fn same_as_corpus(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/golden")
        .join(name);
    if std::env::var_os("FORGE_HOOKS_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let corpus = std::fs::read_to_string(&path).unwrap_or_default();
    if corpus == text {
        return;
    }
    let only = |text: &str, other: &str, mark: char| {
        let known: HashSet<&str> = other.lines().collect();
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !known.contains(line));
        lines
            .map(|(at, line)| format!("{mark} {}: {line}\n", at + 1))
            .collect::<String>()
    };
    let before = only(&corpus, text, '-');
    let now = only(text, &corpus, '+');
    panic!("{name} differs; FORGE_HOOKS_BLESS=1 writes it again\n{before}{now}");
}
