//! The golden corpus: what the program says of many small inputs, each file one table. A change of behaviour is a
//! change of these tables, listed with its reason in the commit that makes it.

mod fire;
mod outcomes;
#[cfg(target_os = "linux")]
mod sessions;
mod validate;

use std::collections::HashSet;
use std::path::Path;

/// Checks that the text is that of the corpus, and shows the lines that differ, each behind the head of its part.
#[track_caller]
fn same_as_corpus(name: &str, text: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("tests/it/golden").join(name);
    if std::env::var_os("FORGE_HOOKS_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let corpus = std::fs::read_to_string(&path).unwrap_or_default();
    if corpus != text {
        let before = only(&corpus, text, '-');
        let now = only(text, &corpus, '+');
        let first = corpus.lines().zip(text.lines()).position(|(a, b)| a != b);
        panic!(
            "{name} differs from line {first:?} on; FORGE_HOOKS_BLESS=1 writes it again\n{before}{now}"
        );
    }
}

/// The lines of one text that are not in the same part of the other.
fn only(text: &str, other: &str, mark: char) -> String {
    let known: HashSet<_> = with_heads(other).collect();
    let missing = with_heads(text).filter(|line| !known.contains(line));
    missing
        .map(|(head, line)| format!("{mark} {head} | {}\n", line.trim()))
        .collect()
}

fn with_heads(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut head = "";
    text.lines().map(move |line| {
        if !line.starts_with(' ') {
            head = line;
        }
        (head, line)
    })
}
