//! Decides which of a project's hooks may run if a person must approve them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::content::{Loaded, MOST_NOT_APPROVED, Owner};
use super::places::absolute;
use super::report::{Problem, Severity};
use super::sources::{Source, with_lost_protocol};
use crate::events::{EventSpec, Vocabulary};
use crate::hook::{GateVerdict, Hook};
use crate::profile::AppProfile;
use crate::trust::{ProjectApprovals, TrustError, TrustStore};

/// The result of checking a project's hooks.
#[derive(Default)]
pub(super) struct Admission {
    /// The project's file, or its path if it does not exist.
    pub(super) path: PathBuf,
    /// Approved hooks that are no longer in the file, or whose file has vanished. Each fails with a message.
    pub(super) vanished: Vec<Hook>,
    /// The labels of the hooks that are not approved.
    pub(super) unapproved: Vec<String>,
    /// The file of the first of them.
    unapproved_in: Option<Arc<Path>>,
    pub(super) problems: Vec<Problem>,
}

impl Admission {
    /// Removes all of the project's hooks, if no store of approvals can be found.
    pub(super) fn refuse_all(&mut self) {
        if self.path.exists() {
            let words = "no hook of this project runs: no store of approvals can be found";
            let mut problem = Problem::of_file(Severity::Warning, &self.path, words);
            problem.help = Some(
                "approvals are kept in the user's home directory, which cannot be found".to_owned(),
            );
            self.problems.push(problem);
        }
    }

    /// Sets the gates of the hooks in a project's files.
    /// The user's files switch off the hooks with the names in `disable`.
    pub(super) fn admit(
        &mut self,
        files: &mut [Loaded],
        root: &Path,
        store: &TrustStore,
        disable: &HashSet<String>,
        sources: &[Arc<dyn Source>],
    ) {
        let approvals = match approvals(store, root) {
            Ok(approvals) => approvals,
            Err(error) => return refuse_without_store(files, &error.to_string(), disable),
        };
        for file in to_approve(files) {
            if approvals.knows_project() {
                file.hide_entries(disable, |item| item.is_placeholder);
            } else {
                // Errors in a clone without approvals must not block its host.
                file.drop_placeholders();
            }
        }
        let mut left = MOST_NOT_APPROVED;
        for file in to_approve(files) {
            let path = Arc::clone(&file.path);
            file.change_hooks(|hook| {
                let (hook, verdict) = approvals.set_gate(hook);
                match verdict {
                    GateVerdict::ApprovalLost(why) => return (hook, Some(why)),
                    // A hook that is switched off would not run in any case.
                    GateVerdict::NotApproved(_) if hook.enabled() => {
                        self.unapproved_in.get_or_insert_with(|| Arc::clone(&path));
                        self.unapproved.push(hook.label().to_owned());
                    }
                    GateVerdict::NotApproved(_) | GateVerdict::Run => {}
                }
                (hook, None)
            });
            left -= file.keep_first(left);
        }
        self.unapproved.truncate(MOST_NOT_APPROVED);
        if !approvals.knows_project() {
            return;
        }
        let in_project = files.iter().filter(|file| file.is_in_project());
        let whole = |hook, protocol: Option<&Value>| with_lost_protocol(sources, hook, protocol);
        self.vanished = approvals.vanished(in_project.flat_map(Loaded::hooks), whole);
        to_approve(files).for_each(Loaded::compile_conditions);
    }

    /// Reports the hooks that are gone as one problem, and the hooks that are not approved as another one, with the
    /// command that approves them.
    pub(super) fn report(&mut self, vocabulary: &Vocabulary, approve_command: &str) {
        let mut unapproved: Vec<&str> = self.unapproved.iter().map(String::as_str).collect();
        for hook in &self.vanished {
            // A hook with its name is the same hook, changed: one line is enough.
            if let Some(changed) = unapproved.iter().position(|label| *label == hook.label()) {
                unapproved.remove(changed);
            }
        }
        if !self.vanished.is_empty() {
            let words = about_vanished(&self.vanished, vocabulary);
            let mut problem = Problem::of_file(Severity::Error, &self.path, words);
            let help = format!("review the changes; to approve them: `{approve_command}`");
            problem.help = Some(help);
            self.problems.push(problem.made_printable());
        }
        let names = listed(&unapproved);
        let words = match unapproved.len() {
            0 => return,
            1 => format!("1 hook is not approved and does not run: {names}"),
            count => format!("{count} hooks are not approved and do not run: {names}"),
        };
        let path = self.unapproved_in.as_deref().unwrap_or(&self.path);
        let mut problem = Problem::of_file(Severity::Warning, path, words);
        problem.help = Some(format!("to approve: `{approve_command}`"));
        self.problems.push(problem.made_printable());
    }
}

/// The most hooks that a message names.
const MOST_NAMED: usize = 10;

fn listed(labels: &[&str]) -> String {
    let named = labels.iter().take(MOST_NAMED);
    let names: Vec<_> = named.map(|label| format!("`{label}`")).collect();
    let mut names = names.join(", ");
    if labels.len() > MOST_NAMED {
        names += &format!(" and {} more", labels.len() - MOST_NAMED);
    }
    names
}

/// Returns the command of the program `forge-hooks`.
pub(super) fn approve_command(profile: &AppProfile, root: &Path) -> String {
    let mut command = "forge-hooks".to_owned();
    if *profile != AppProfile::default() {
        command += &format!(" --profile {}", quoted(profile.name()));
    }
    command += " trust";
    let root = absolute(root);
    let is_current = std::env::current_dir().is_ok_and(|current| current == root);
    if !is_current {
        command += &format!(" --project {}", quoted(&root.to_string_lossy()));
    }
    command
}

/// Quotes a text as one word for a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else if cfg!(windows) {
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Returns the approvals of a project. They are bound to its directory: without the directory, there are none.
fn approvals(store: &TrustStore, root: &Path) -> Result<ProjectApprovals, TrustError> {
    match store.approvals(root) {
        Err(TrustError::Root { .. }) => Ok(ProjectApprovals::none(root)),
        found => found,
    }
}

/// Returns the files whose hooks need an approval.
fn to_approve(files: &mut [Loaded]) -> impl Iterator<Item = &mut Loaded> {
    files.iter_mut().filter(|file| file.owner == Owner::Project)
}

/// Refuses all hooks: a store that cannot be read may have approved any of them, or none.
fn refuse_without_store(files: &mut [Loaded], why: &str, disable: &HashSet<String>) {
    for file in to_approve(files) {
        file.change_hooks(|hook| (ProjectApprovals::without_store(hook, why), None));
        file.hide_entries(disable, |_| true);
        file.report(Problem::of_file(Severity::Error, &file.path, why));
    }
}

/// Says which hooks are no longer in the project's files, and which of them block.
fn about_vanished(vanished: &[Hook], vocabulary: &Vocabulary) -> String {
    let labels: Vec<&str> = vanished.iter().map(Hook::label).collect();
    let blocking = vanished.iter().filter(|hook| may_block(hook, vocabulary));
    let blocking: Vec<&str> = blocking.map(Hook::label).collect();
    let names = listed(&labels);
    let mut words = match labels.len() {
        1 => format!("{names} was approved but has changed or been removed"),
        count => format!("{count} hooks were approved but have changed or been removed: {names}"),
    };
    words += &match (labels.len(), blocking.len()) {
        (_, 0) => String::new(),
        (1, _) => ", so it blocks".to_owned(),
        (all, some) if all == some => "; they block".to_owned(),
        (_, 1) => format!("; {} blocks", listed(&blocking)),
        _ => format!("; {} block", listed(&blocking)),
    };
    words
}

/// Whether a hook that fails can block: not if all events that it matches, as far as they are known, cannot be blocked.
fn may_block(hook: &Hook, vocabulary: &Vocabulary) -> bool {
    let events = vocabulary.events().iter();
    let matched = events.filter(|spec| hook.pattern().matches_type(spec.event_type()));
    let mut can_block = matched.map(EventSpec::can_block).peekable();
    !hook.background() && (can_block.peek().is_none() || can_block.any(|it| it))
}
