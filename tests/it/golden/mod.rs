//! The golden corpus: what the program says of many small inputs, each file one table. A change of behaviour is a
//! change of these tables, listed with its reason in the commit that makes it.

mod fire;
mod outcomes;
#[cfg(target_os = "linux")]
mod sessions;
mod validate;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs each job on one of a few threads, which have something of their own, and returns the results in order.
pub(crate) fn at_once<J: Sync, T>(
    jobs: &[J],
    own: impl Fn() -> T + Sync,
    run: impl Fn(&T, &J) -> String + Sync,
) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![String::new(); jobs.len()]);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = own();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { return };
                    let result = run(&own, job);
                    results.lock().unwrap()[index] = result;
                }
            });
        }
    });
    results.into_inner().unwrap()
}

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
