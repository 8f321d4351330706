//! The usable content of a hooks file: its hooks in order, and its problems.
//!
//! `reader` reads the text.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::report::LoadReport;
use crate::entry::FailurePolicy;
use crate::events::EventType;
use crate::hook::{Hook, HookSource, Unusable};
use crate::json::Position;
use crate::pattern::EventPattern;
use crate::problem::{Problem, Severity};
use crate::profile::AppProfile;

/// The most problems of a file that are shown.
pub(super) const MOST_PROBLEMS: usize = 1000;

/// The owner of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// No other file switches its hooks off.
    Administrator,
    /// It needs no approval.
    User,
    /// Its hooks need an approval.
    Project,
    /// A project's file that the user has named: it needs no approval.
    NamedInProject,
    /// A plugin or a file outside of the project, which the host or the user has named: it needs no approval.
    Named,
}

/// A file that exists, with its usable content.
#[derive(Clone)]
pub(crate) struct Loaded {
    pub(super) path: Arc<Path>,
    pub(super) owner: Owner,
    /// True if the scripts of the file's hooks are checked: whether they can run.
    pub(crate) checks_scripts: bool,
    /// True if the cases of entries are tested.
    pub(super) tests_cases: bool,
    /// True if conditions of hooks that may never run are checked, and probable mistakes are reported.
    pub(super) checks_all: bool,
    /// The user's files of hooks that the host reads.
    pub(super) users_files: Arc<[PathBuf]>,
    /// The length of its text.
    pub(super) bytes: usize,
    pub(super) items: Vec<Item>,
    /// The hook of each entry of a hooks.json; none for one that cannot be used.
    pub(super) entries: Vec<Option<Arc<Hook>>>,
    /// The problems, at most `MOST_PROBLEMS`. The last one may say that there are others.
    pub(super) problems: Vec<Problem>,
    /// True if no part of the file can be used.
    pub(super) unreadable: bool,
    /// The names of hooks, of any file, that must not run. Only the user's file may have them.
    pub(super) disable: Vec<String>,
    /// The hooks of its own tool that the file switches off.
    pub(super) switches: Switches,
    /// True if the text of the file was not read.
    pub(super) is_left_out: bool,
    /// The number of its usable hooks in the file, if `items` has others.
    pub(super) usable_as_read: Option<usize>,
}

#[derive(Clone)]
pub(super) struct Item {
    pub(super) hook: Arc<Hook>,
    pub(super) is_placeholder: bool,
    /// True if the hook needs no approval, or has one that may have been lost.
    pub(super) is_approved: bool,
    /// The first character of the entry; none for a whole file.
    pub(super) start: Option<Range<Position>>,
}

impl Item {
    pub(super) fn change(&mut self, change: impl FnOnce(Hook) -> Hook) {
        self.hook = Arc::new(change(Hook::clone(&self.hook)));
    }
}

/// The hooks that a file of another agent switches off: of all files if it is the user's, else of the project's.
#[derive(Debug, Clone, Default)]
pub(crate) struct Switches {
    /// The name of the protocol of these hooks.
    pub(crate) protocol: &'static str,
    pub(crate) all_off: bool,
}

impl Switches {
    fn concern(&self, hook: &Hook) -> bool {
        self.all_off && hook.protocol_name() == self.protocol
    }
}

impl Loaded {
    pub(super) fn nothing(path: &Path, owner: Owner) -> Self {
        Self {
            path: path.into(),
            owner,
            checks_scripts: false,
            tests_cases: false,
            checks_all: true,
            users_files: Arc::default(),
            bytes: 0,
            items: Vec::new(),
            entries: Vec::new(),
            problems: Vec::new(),
            unreadable: false,
            disable: Vec::new(),
            switches: Switches::default(),
            is_left_out: false,
            usable_as_read: None,
        }
    }

    /// Returns whether the host reads the same hooks of the user as a program with these names and this directory.
    pub(crate) fn has_users_hooks_of(&self, profile: &AppProfile, config_home: &Path) -> bool {
        let mut files = profile.global_files().iter();
        files.any(|file| self.users_files.contains(&config_home.join(file)))
    }

    pub(super) fn is_in_project(&self) -> bool {
        matches!(self.owner, Owner::Project | Owner::NamedInProject)
    }

    /// Returns the usable hooks.
    pub(super) fn hooks(&self) -> impl Iterator<Item = &Hook> {
        let usable = self.items.iter().filter(|item| !item.is_placeholder);
        usable.map(|item| &*item.hook)
    }

    pub(super) fn switch_off(&mut self, switches: &Switches) {
        for item in &mut self.items {
            if !item.is_placeholder && switches.concern(&item.hook) {
                item.change(|hook| hook.with_enabled(false));
            }
        }
    }

    /// Makes the whole file unusable; it blocks if it `is_strict`, or if a limit of this crate is
    /// exceeded: its own tool would have read it.
    pub(crate) fn refuse(&mut self, problem: Problem, is_strict: bool) {
        let problem = problem.made_printable();
        self.unreadable = true;
        self.items.clear();
        if is_strict || problem.is_limit {
            let source = HookSource::new(Arc::clone(&self.path), None, None);
            self.items.push(Item {
                hook: Arc::new(described(&problem.reason(), source)),
                is_placeholder: true,
                is_approved: true,
                start: None,
            });
        }
        // Only this problem matters if a file cannot be used, and it must be shown.
        self.problems.truncate(MOST_PROBLEMS - 1);
        self.problems.push(problem);
    }

    /// Returns whether all problems so far are shown. If not, searching for more is useless.
    pub(crate) fn shows_all(&self) -> bool {
        self.problems.len() <= MOST_PROBLEMS
    }

    /// Returns whether probable mistakes are reported.
    pub(crate) fn looks_for_mistakes(&self) -> bool {
        self.checks_all && self.shows_all()
    }

    pub(super) fn report(&mut self, problem: Problem) {
        match self.problems.len() {
            ..MOST_PROBLEMS => self.problems.push(problem.made_printable()),
            MOST_PROBLEMS => {
                let message = format!(
                    "the file has more than {MOST_PROBLEMS} problems; the others are not shown"
                );
                // The problems that are not shown may be errors.
                let last = Problem::in_file(Severity::Error, &self.path, message);
                self.problems.push(last);
            }
            _ => {}
        }
    }

    pub(super) fn add_to(&self, report: &mut LoadReport) {
        report.files.push(self.path.to_path_buf());
        report.loaded += self.usable_as_read.unwrap_or(self.hooks().count());
        report.problems.extend(self.problems.iter().cloned());
    }
}

/// Returns a placeholder hook for an entry that cannot be used. It always fails, and has the settings of the entry that
/// can be read. None if the entry is switched off.
pub(super) fn placeholder(entry: &Unusable, any: Hook) -> Option<Hook> {
    if !entry.is_enabled() {
        return None;
    }
    let text = entry.event().unwrap_or("*");
    let pattern = EventPattern::new(text)
        .ok()
        .or_else(|| EventPattern::without_capitals(text))
        .unwrap_or_else(EventPattern::any);
    // An unreadable policy may have been `withhold`, which is for this event.
    let after = EventPattern::of_event(&EventType::ToolPostExecute);
    let pattern = match entry.policy() {
        Some(FailurePolicy::Withhold) => after,
        None if !pattern.matches_type(&EventType::ToolPostExecute) => pattern.or(&after),
        _ => pattern,
    };
    let policy = entry.policy().unwrap_or(FailurePolicy::Withhold);
    let hook = any.with_pattern(pattern).with_on_failure(policy);
    Some(match entry.name() {
        Some(name) => hook.with_name(name),
        None => hook,
    })
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
