//! Compares an approved hook with its approval, right before each run: the program that the hook guards may have changed
//! the hook's script after the approval.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::covered::{Project, RULES, covered};
use crate::hook::{ApprovalCheck, Hook};
use crate::named::{self, Contents, Files, Settled, TOO_MUCH, name_of};

/// The approval of a hook. The hook's files must be unchanged. The hook itself cannot have changed, because it is the one
/// that was loaded.
#[derive(Debug)]
pub(super) struct Unchanged {
    project: Arc<Project>,
    files: BTreeMap<String, Option<String>>,
    /// The version of the rules by which the hook's files were found.
    rules: u32,
    /// The state of the files at the last check without a difference.
    seen: Mutex<Option<Arc<Seen>>>,
    /// The command with which a person approves.
    command: Option<Arc<str>>,
}

#[derive(Debug)]
struct Seen {
    /// The stamps of the places that were looked at.
    stamps: Settled,
    contents: Contents,
}

const CHANGED: &str = "has changed";
const NEW: &str = "has appeared";
const GONE: &str = "is gone";

impl Unchanged {
    /// Creates the check. `rules` is the version of the rules by which these files were found.
    pub(super) fn new(
        project: &Arc<Project>,
        files: &[(String, Option<String>)],
        rules: u32,
    ) -> Self {
        Self {
            project: Arc::clone(project),
            files: files.iter().cloned().collect(),
            rules,
            seen: Mutex::default(),
            command: None,
        }
    }

    pub(super) fn with_command(self, command: &Option<Arc<str>>) -> Self {
        Self {
            command: command.clone(),
            ..self
        }
    }

    /// Returns each file that differs from its approved form, and the difference.
    pub(super) fn differences(&self, hook: &Hook) -> Vec<(String, &'static str)> {
        let seen = self.seen().clone();
        if let Some(seen) = seen.filter(|seen| seen.stamps.is_unchanged()) {
            return self.changed(&seen.contents).into_iter().collect();
        }
        self.differences_in(&self.project, hook)
    }

    fn changed(&self, contents: &Contents) -> Option<(String, &'static str)> {
        let changed = contents.changed()?;
        let below = changed.strip_prefix(&self.project.root);
        Some((name_of(below.unwrap_or(changed)), CHANGED))
    }

    /// Returns the same differences, for a project that is looked at once.
    fn differences_in(&self, project: &Project, hook: &Hook) -> Vec<(String, &'static str)> {
        let (differences, seen) = self.compare(project, hook);
        *self.seen() = seen.filter(|_| differences.is_empty()).map(Arc::new);
        differences
    }

    /// Returns the reason why the approval is lost, while the hooks of a project are loaded. No content is read twice then.
    pub(super) fn first_look(&self, project: &Project, hook: &Hook) -> Option<String> {
        self.reason(hook, &self.differences_in(project, hook))
    }

    /// Returns the first difference as a sentence.
    fn reason(&self, hook: &Hook, differences: &[(String, &'static str)]) -> Option<String> {
        let (file, what) = differences.first()?;
        let why = format!("`{file}` {what} since the hook was approved");
        let lists_files = hook.inputs().iter().any(|input| !input.starts_with('!'));
        Some(
            if named::is_data(&self.project.root.join(file)) && !lists_files {
                format!("{why}; if it is data, exclude it: `\"inputs\": [\"!{file}\"]`")
            } else {
                why
            },
        )
    }

    fn seen(&self) -> MutexGuard<'_, Option<Arc<Seen>>> {
        // Each change is one assignment, so a panic cannot leave half a change.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compare(
        &self,
        project: &Project,
        hook: &Hook,
    ) -> (Vec<(String, &'static str)>, Option<Seen>) {
        let begun = SystemTime::now();
        // A directory that was too large to be covered when it was approved is not looked at.
        let was_too_large = |name: &str| self.files.get(name) == Some(&None);
        let named = covered(project, hook, &was_too_large);
        let mut differences = differences(&self.files, &named.files);
        if self.rules != RULES {
            // The older rules covered other files. A file that is no longer covered, and still exists, is not a change.
            let is_there = |name: &str| project.root.join(name).symlink_metadata().is_ok();
            differences.retain(|(name, what)| *what != GONE || !is_there(name));
            for (_, what) in &mut differences {
                if *what == NEW {
                    *what = "is newly covered";
                }
            }
        }
        let root = &self.project.root;
        let contents = Contents::of(named.compared(root), &self.project.copies);
        if differences.is_empty() {
            // The digests may be those of an earlier check.
            differences.extend(self.changed(&contents));
        }
        let stamps = named.seen.settled(begun);
        (differences, stamps.map(|stamps| Seen { stamps, contents }))
    }
}

/// Returns each file whose state differs from the approved one, and the difference.
fn differences(
    approved: &BTreeMap<String, Option<String>>,
    now: &Files,
) -> Vec<(String, &'static str)> {
    let is_new = |name: &str| !approved.contains_key(name);
    let mut too_large = now
        .iter()
        .filter(|(name, state)| state.is_err() && name.ends_with('/') && is_new(name));
    if let Some((name, _)) = too_large.next() {
        // The names of the files in the directory are no longer known.
        return vec![(name.clone(), "has become too large")];
    }
    let mut differences = BTreeMap::new();
    for (name, state) in now {
        let what = match (approved.get(name), state) {
            (Some(Some(before)), Ok(now)) if **before == **now => continue,
            (Some(None), Err(_)) => continue,
            (_, Err(why)) if why == TOO_MUCH => "is beyond the 256 MiB of an entry",
            (_, Err(_)) => "cannot be read",
            (None, Ok(_)) => NEW,
            (Some(_), Ok(_)) => CHANGED,
        };
        differences.insert(name.clone(), what);
    }
    for name in approved.keys() {
        if !now.contains_key(name) && !name.ends_with('/') {
            differences.insert(name.clone(), GONE);
        }
    }
    differences.into_iter().collect()
}

impl ApprovalCheck for Unchanged {
    fn lost(&self, hook: &Hook) -> Option<String> {
        let root = &*self.project.root;
        let is_here = |base: &Path| {
            base == root || base.canonicalize().is_ok_and(|canonical| canonical == root)
        };
        if !hook.base_dir().is_none_or(is_here) {
            return Some("the project has been moved since the hook was loaded".to_owned());
        }
        let why = self.reason(hook, &self.differences(hook))?;
        Some(with_command(why, self.command.as_deref()))
    }
}

/// Adds the next step for a person to a reason.
pub(super) fn with_command(why: String, command: Option<&str>) -> String {
    match command {
        Some(command) => format!("{why}; review the changes; to approve them: `{command}`"),
        None => why + "; review the changes, and approve them",
    }
}
