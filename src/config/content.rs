//! The usable content of a hooks file: its hooks in order, and its problems.
//!
//! `reader` reads the text.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::position::TextRange;
use super::report::{LoadReport, Problem, Severity};
use crate::events::EventType;
use crate::hook::{FailurePolicy, Hook, HookCommand, HookSource};
use crate::pattern::EventPattern;

/// The most hooks that are registered of a project without any approval. They are skipped, and more of them would slow
/// each event down.
pub(super) const MOST_NOT_APPROVED: usize = 1000;

/// The most problems of a file that are shown.
const MOST_PROBLEMS: usize = 1000;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// No other file switches its hooks off.
    Administrator,
    /// It needs no approval.
    User,
    /// Its hooks need an approval.
    Project,
    /// It is a project's, and the user has named it: it needs no approval.
    NamedInProject,
    /// A plugin or a file outside of the project, which the host or the user has named: it needs no approval.
    Named,
}

/// A file that exists, with its usable content.
#[derive(Clone)]
pub(crate) struct Loaded {
    pub(super) path: Arc<Path>,
    /// In bytes, of a source's file.
    pub(super) size: usize,
    pub(super) items: Vec<Item>,
    /// The places of the entries of a hooks.json.
    pub(super) entries: Vec<TextRange>,
    /// At most 1,000, and one that says that there are others.
    pub(super) problems: Vec<Problem>,
    /// No part of the file can be used.
    pub(super) unreadable: bool,
    /// The names of hooks, of any file, that must not run. Only the user's file may have them.
    pub(super) disable: Vec<String>,
    /// The hooks of its own tool that the file switches off.
    pub(super) switches: Switches,
    /// The text of the file was not read.
    pub(super) is_left_out: bool,
    /// The number of its usable hooks, if hooks from before have replaced them.
    pub(super) usable_as_read: Option<usize>,
    pub(super) owner: Owner,
    /// The program in whose form the checked file was read.
    pub(super) read_as: Option<&'static str>,
}

#[derive(Clone)]
pub(super) struct Item {
    pub(super) hook: Arc<Hook>,
    pub(super) is_placeholder: bool,
    /// The first character of the entry; none for a whole file.
    pub(super) start: Option<TextRange>,
}

/// The hooks that a file of another tool switches off: of all files if it is the user's, else of the project's.
#[derive(Debug, Clone, Default)]
pub(crate) struct Switches {
    /// The name of the protocol of these hooks.
    pub(crate) protocol: &'static str,
    pub(crate) all_off: bool,
    /// The names or commands of hooks.
    pub(crate) disabled: Vec<String>,
}

impl Switches {
    pub(super) fn is_empty(&self) -> bool {
        !self.all_off && self.disabled.is_empty()
    }

    fn concern(&self, hook: &Hook) -> bool {
        let command = match hook.command() {
            HookCommand::Shell { text, .. } => text,
            HookCommand::Program(args) => args.first().map_or("", String::as_str),
        };
        let is_named = |name: &String| hook.name() == Some(name) || *name == command;
        hook.protocol_name() == self.protocol
            && (self.all_off || self.disabled.iter().any(is_named))
    }
}

impl Loaded {
    pub(super) fn nothing(path: &Path) -> Self {
        Self {
            path: path.into(),
            size: 0,
            items: Vec::new(),
            entries: Vec::new(),
            problems: Vec::new(),
            unreadable: false,
            disable: Vec::new(),
            switches: Switches::default(),
            is_left_out: false,
            usable_as_read: None,
            owner: Owner::User,
            read_as: None,
        }
    }

    pub(super) fn is_in_project(&self) -> bool {
        matches!(self.owner, Owner::Project | Owner::NamedInProject)
    }

    /// Returns the usable hooks.
    pub(super) fn hooks(&self) -> impl Iterator<Item = &Hook> {
        self.usable().map(|item| &*item.hook)
    }

    pub(super) fn usable(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| !item.is_placeholder)
    }

    /// Makes all hooks those of the administrator.
    pub(super) fn mark_system(&mut self) {
        self.owner = Owner::Administrator;
        for item in &mut self.items {
            item.hook = Arc::new(Hook::clone(&item.hook).with_system());
        }
    }

    /// Changes each usable hook, and reports its error, if `change` returns one.
    pub(super) fn change_hooks(&mut self, mut change: impl FnMut(Hook) -> (Hook, Option<String>)) {
        let items = std::mem::take(&mut self.items);
        self.items.reserve_exact(items.len());
        for mut item in items {
            if !item.is_placeholder {
                let (hook, error) = change(Arc::unwrap_or_clone(item.hook));
                if let Some(error) = error {
                    self.report(problem_of(&self.path, &hook, item.start, error));
                }
                item.hook = Arc::new(hook);
            }
            self.items.push(item);
        }
    }

    pub(super) fn switch_off(&mut self, switches: &Switches) {
        self.change_hooks(|hook| match switches.concern(&hook) {
            true => (hook.with_enabled(false), None),
            false => (hook, None),
        });
    }

    /// Removes the placeholder hooks, so that they block nothing.
    pub(super) fn drop_placeholders(&mut self) {
        self.items.retain(|item| !item.is_placeholder);
    }

    /// Makes these hooks name only their places: no person has approved what stands there, so a model must not
    /// read it. A hook with one of the names in `disable` stays, since it will be left out.
    pub(super) fn hide_entries(
        &mut self,
        disable: &HashSet<String>,
        is_hidden: impl Fn(&Item) -> bool,
    ) {
        for item in self.items.iter_mut().filter(|item| is_hidden(item)) {
            if !item.hook.name().is_some_and(|name| disable.contains(name)) {
                let hook = Hook::clone(&item.hook).without_entry_text();
                item.hook = Arc::new(hook);
            }
        }
    }

    /// Keeps the first hooks that are not approved, as many as are `left`. Reports a problem if there are more.
    pub(super) fn keep_first(&mut self, left: &mut usize) {
        let before = self.items.len();
        self.items.retain(|item| {
            let counts = !item.is_placeholder && !item.hook.is_approved();
            let is_kept = !counts || *left > 0;
            *left -= usize::from(counts && is_kept);
            is_kept
        });
        if self.items.len() < before {
            let words = format!(
                "the project has more than {MOST_NOT_APPROVED} hooks that are not approved: the others are left out"
            );
            self.report(Problem::of_file(Severity::Warning, &self.path, words));
        }
    }

    /// Takes the hooks of an earlier load of the file. The problems stay.
    #[cfg(feature = "watch")]
    pub(super) fn restore(&mut self, good: Self) {
        self.usable_as_read = Some(self.usable().count());
        self.items = good.items;
        self.disable = good.disable;
        self.switches = good.switches;
    }

    /// Returns whether some part of the file cannot be used as it is written.
    #[cfg(feature = "watch")]
    pub(super) fn is_broken(&self) -> bool {
        self.unreadable || self.items.iter().any(|item| item.is_placeholder)
    }

    /// Makes the whole file unusable, so that it blocks.
    pub(super) fn give_up(&mut self, problem: Problem) {
        self.unreadable = true;
        self.items.clear();
        // If the whole file cannot be used, only this problem matters, and it must be shown.
        self.problems.truncate(MOST_PROBLEMS - 1);
        let problem = problem.made_printable();
        let source = HookSource::new(Arc::clone(&self.path), None, None);
        self.items.push(Item {
            hook: Arc::new(described(&problem.reason(), source)),
            is_placeholder: true,
            start: None,
        });
        self.problems.push(problem);
    }

    /// Makes the whole file unusable; it blocks if it `is_strict`, or if a limit of this crate is
    /// exceeded: its own tool would have read it.
    pub(crate) fn refuse(&mut self, problem: Problem, is_strict: bool) {
        let blocks = is_strict || problem.is_limit;
        self.give_up(problem);
        if !blocks {
            self.items.clear();
        }
    }

    /// Returns whether all problems so far are shown. If not, searching for more is useless.
    pub(crate) fn shows_all(&self) -> bool {
        self.problems.len() <= MOST_PROBLEMS
    }

    pub(super) fn report(&mut self, problem: Problem) {
        match self.problems.len() {
            ..MOST_PROBLEMS => self.problems.push(problem.made_printable()),
            MOST_PROBLEMS => {
                let words = format!(
                    "the file has more than {MOST_PROBLEMS} problems; the others are not shown"
                );
                // The problems that are not shown may be errors.
                let last = Problem::of_file(Severity::Error, &self.path, words);
                self.problems.push(last);
            }
            _ => {}
        }
    }

    pub(super) fn add_to(&self, report: &mut LoadReport) {
        report.files.push(self.path.to_path_buf());
        let read_as = self.read_as.map(|form| (self.path.to_path_buf(), form));
        report.read_as.extend(read_as);
        let usable = self.usable().count();
        report.loaded += self.usable_as_read.unwrap_or(usable);
        report.problems.extend(self.problems.iter().cloned());
    }
}

fn problem_of(path: &Path, hook: &Hook, start: Option<TextRange>, words: String) -> Problem {
    let mut problem = Problem::of_file(Severity::Error, path, words);
    problem.range = start;
    problem.in_entry(hook.source().and_then(|source| source.index))
}

/// Returns a hook that always fails and replaces an entry that cannot be used. It has the legible settings of
/// the entry. None if the entry is switched off.
pub(super) fn placeholder(entry: &Value, any: Hook) -> Option<Hook> {
    if entry.get("enabled") == Some(&Value::Bool(false)) {
        return None;
    }
    let given = entry.get("event").and_then(Value::as_str).unwrap_or("*");
    let pattern = EventPattern::new(given)
        .ok()
        .or_else(|| EventPattern::without_capitals(given))
        .unwrap_or_else(EventPattern::any);
    // An illegible policy may have been `withhold`, which is for this event.
    let after = EventPattern::of_event(&EventType::ToolPostExecute);
    let policy = crate::hook::failure_policy_of(entry);
    let pattern = match policy {
        Some(FailurePolicy::Withhold) => after,
        None if !pattern.matches_type(&EventType::ToolPostExecute) => pattern.or(&after),
        _ => pattern,
    };
    let policy = policy.unwrap_or(FailurePolicy::Withhold);
    let mut hook = any.with_pattern(pattern).with_on_failure(policy);
    if let Some(name) = entry.get("name").and_then(Value::as_str) {
        hook = hook.with_name(name);
    }
    Some(hook)
}

/// Returns a placeholder hook for every event, described by its place in the file.
pub(super) fn described(reason: &str, source: HookSource) -> Hook {
    // The reason has the whole path.
    let file = source.path.file_name().unwrap_or_default();
    let file = file.to_string_lossy();
    let description = match source.line {
        Some(line) => format!("invalid entry at {file}:{line}"),
        None => format!("invalid file {file}"),
    };
    Hook::placeholder(reason)
        .with_description(description)
        .with_source(source)
}
