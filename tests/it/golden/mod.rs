//! The golden corpus: what the program says of many small inputs, each file one table. A change of behaviour is a
//! change of these tables, listed with its reason in the commit that makes it.

mod check;
mod fire;
mod outcomes;
#[cfg(target_os = "linux")]
mod sessions;

use std::collections::HashSet;
use std::path::Path;

/// Checks that the text is that of the corpus, and shows the lines that differ.
#[track_caller]
pub(crate) fn same_as_corpus(name: &str, text: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("tests/it/golden").join(name);
    if std::env::var_os("FORGE_HOOKS_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let corpus = std::fs::read_to_string(&path).unwrap_or_default();
    if corpus != text {
        let (before, now) = (only(&corpus, text, '-'), only(text, &corpus, '+'));
        let mut lines = corpus.lines().zip(text.lines());
        let first = lines.position(|(before, now)| before != now);
        panic!("{name}, from {first:?} on; FORGE_HOOKS_BLESS=1 writes it again\n{before}{now}");
    }
}

/// The lines of one text that are not in the other.
fn only(text: &str, other: &str, mark: char) -> String {
    let known: HashSet<_> = other.lines().collect();
    let missing = text.lines().filter(|line| !known.contains(line));
    missing.map(|line| format!("{mark} {line}\n")).collect()
}
