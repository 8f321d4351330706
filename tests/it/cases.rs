//! Files of cases: `== NAME` begins a case, which lasts until the next one. Each test says what the lines of its cases mean.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A case of a file.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// Returns the cases of a file. The lines before the first one are about the file.
pub(crate) fn cases(file: &'static str) -> Vec<Case> {
    let cases = match file.strip_prefix("== ") {
        Some(cases) => cases,
        None => file.split_once("\n== ").expect("a file of cases").1,
    };
    cases
        .split("\n== ")
        .map(|case| {
            let (name, text) = case.split_once('\n').expect("a case with lines");
            let text = text.trim_end_matches('\n');
            Case { name, text }
        })
        .collect()
}

impl Case {
    /// Returns the lines that begin with one of the marks, each with the text up to the next one.
    #[cfg(all(feature = "cli", unix))]
    pub(crate) fn parts(&self, marks: &[&str]) -> Vec<(&'static str, String)> {
        let mut parts: Vec<(&str, String)> = Vec::new();
        for line in self.text.lines() {
            let is_mark = marks.iter().any(|mark| line.starts_with(mark));
            match parts.last_mut() {
                Some((_, text)) if !is_mark => *text += &format!("{line}\n"),
                _ => parts.push((line, String::new())),
            }
        }
        parts
    }
}

/// Runs each job on one of a few threads, which have something of their own, and returns the results in order.
pub(crate) fn at_once<J: Sync, T, R: Send>(
    jobs: &[J],
    own: impl Fn() -> T + Sync,
    run: impl Fn(&T, &J) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = own();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { return };
                    let result = run(&own, job);
                    results.lock().unwrap().push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Runs each case on one of a few threads.
pub(crate) fn each_at_once<J: Sync>(cases: &[J], run: impl Fn(&J) + Sync) {
    at_once(cases, || {}, |(), case| run(case));
}
