//! The guards that are gone since the last load: hooks that could block an event then, and cannot now. A tool that may write
//! files could have removed them.
//!
//! Compares hooks, and reads no files.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::admission::listed;
use super::report::LoadReport;
use crate::entry::{Off, Standing};
use crate::events::Vocabulary;
use crate::hook::Hook;
use crate::lint::guards;
use crate::problem::{Problem, Severity};

const HELP: &str = "if you did not remove it yourself, a tool may have: look at the file's history";

/// The guards of a load, and the problems with those of the load before.
pub(super) struct Compared {
    /// The next load is compared with these.
    pub(super) guards: Vec<Arc<Hook>>,
    pub(super) problems: Vec<Problem>,
}

/// Compares the guards of the last load with the hooks of this one.
pub(super) fn compare(
    before: &[Arc<Hook>],
    hooks: &[Arc<Hook>],
    report: &LoadReport,
    vocabulary: &Vocabulary,
) -> Compared {
    let blocks = hooks.iter().filter(|hook| is_guard(hook, vocabulary));
    let (refused, mut guards): (Vec<_>, Vec<_>) =
        blocks.cloned().partition(|hook| hook.is_refused());
    let is_there = are_among(before, &guards);
    // An approved guard does not vanish silently: it blocks until its approval is revoked or replaced.
    guards.retain(|hook| hook.approval().is_none());
    let now = Now {
        refused: &refused,
        hooks,
        report,
    };
    let mut gone: Vec<(Arc<Path>, String, Vec<String>)> = Vec::new();
    for (guard, _) in before
        .iter()
        .zip(is_there)
        .filter(|(_, is_there)| !is_there)
    {
        if now.has_in_its_place(guard) {
            guards.push(Arc::clone(guard));
            continue;
        }
        let Some(source) = guard.source() else {
            continue;
        };
        let reason = now.reason(guard);
        let label = guard.shown_label();
        let mut known = gone.iter_mut();
        match known.find(|(path, why, _)| *path == source.path && *why == reason) {
            Some((.., labels)) => labels.push(label),
            None => gone.push((Arc::clone(&source.path), reason, vec![label])),
        }
    }
    let problems = gone.iter().map(|(path, reason, labels)| {
        let message = message(labels, reason);
        let problem = Problem::in_file(Severity::Warning, path, message);
        problem.with_help(HELP).made_printable()
    });
    Compared {
        guards,
        problems: problems.collect(),
    }
}

fn message(labels: &[String], reason: &str) -> String {
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let names = listed(&labels);
    match labels.len() {
        1 => format!("the guard {names} of this file is {reason} since the last load"),
        count => format!("{count} guards of this file are {reason} since the last load: {names}"),
    }
}

/// Returns whether a hook runs, or fails, so that it can block an event.
fn is_guard(hook: &Hook, vocabulary: &Vocabulary) -> bool {
    hook.enabled() && hook.enforce() && guards(hook, vocabulary)
}

/// Returns a bool for each hook of `before`: true if it is among `guards`, by its file and label or by its definition.
fn are_among(before: &[Arc<Hook>], guards: &[Arc<Hook>]) -> Vec<bool> {
    let places: HashSet<_> = guards.iter().map(|hook| place_of(hook)).collect();
    // The keys are computed on demand, since most loads do not need them.
    let definitions = LazyCell::new(|| {
        let all = guards.iter().map(|hook| hook.behavior().to_string());
        all.collect::<HashSet<String>>()
    });
    let is_there = |hook: &Arc<Hook>| {
        places.contains(&place_of(hook)) || definitions.contains(&hook.behavior().to_string())
    };
    before.iter().map(is_there).collect()
}

/// The hooks and the report after a load.
struct Now<'a> {
    /// The hooks that fail on each event that they match.
    refused: &'a [Arc<Hook>],
    hooks: &'a [Arc<Hook>],
    report: &'a LoadReport,
}

impl Now<'_> {
    /// Returns whether an unusable file or entry for the same events has replaced the guard, and blocks.
    fn has_in_its_place(&self, guard: &Hook) -> bool {
        self.refused.iter().any(|hook| {
            let is_of_file = hook.source().is_some_and(|source| source.index.is_none());
            file_of(hook) == file_of(guard)
                && (is_of_file || hook.event_pattern() == guard.event_pattern())
        })
    }

    /// Returns the reason why a guard is missing.
    fn reason(&self, guard: &Hook) -> String {
        let is_same = |hook: &Hook| place_of(hook) == place_of(guard);
        let mut left_out = self.report.left_out.iter();
        if let Some((_, standing)) = left_out.find(|(hook, _)| is_same(hook)) {
            return match standing {
                Standing::Off(off) => switched_off(off),
                _ => "not approved".to_owned(),
            };
        }
        match self.hooks.iter().find(|hook| is_same(hook)) {
            Some(hook) if !hook.enabled() => switched_off(&Off::Entry),
            Some(_) => "unable to block anything".to_owned(),
            None => "gone".to_owned(),
        }
    }
}

fn switched_off(off: &Off) -> String {
    format!("switched off ({off})")
}

/// Returns the parts of a hook that an edit does not change: its file and its label.
fn place_of(hook: &Hook) -> (Option<&Path>, &str) {
    (file_of(hook), hook.label())
}

fn file_of(hook: &Hook) -> Option<&Path> {
    hook.source().map(|source| &*source.path)
}
