//! Decides which of a project's hooks may run if a person must approve them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::HookConfig;
use super::content::{Loaded, MOST_NOT_APPROVED, Owner};
use super::places::absolute;
use super::report::{Problem, Severity, TrustPolicy};
use super::sources::with_lost_protocol;
use crate::files::quoted;
use crate::hook::{GateVerdict, Hook};
use crate::profile::AppProfile;
use crate::trust::{ProjectApprovals, TrustError};

/// The result of checking a project's hooks.
#[derive(Default)]
pub(super) struct Admission {
    /// Approved hooks that are no longer in the file, or whose file has vanished. Each fails with a message.
    pub(super) vanished: Vec<Hook>,
    /// The labels of the hooks that are not approved.
    pub(super) unapproved: Vec<String>,
    pub(super) problems: Vec<Problem>,
}

impl HookConfig {
    /// Sets the gates of the hooks in a project's files, its hooks.json and those of sources. Without a policy, removes
    /// these hooks: no store of approvals can be found. The user's files switch off the hooks with the names in `disable`.
    pub(super) fn admit_project(
        &self,
        files: &mut Vec<Loaded>,
        root: &Path,
        policy: Option<&TrustPolicy>,
        disable: &HashSet<String>,
    ) -> Admission {
        let mut found = Admission::default();
        let own = self.project_path(root);
        let existing = own.clone().filter(|path| path.exists());
        let other = files.iter().find(|file| file.is_in_project());
        let first = existing.or_else(|| Some(other?.path.to_path_buf()));
        let store = match policy {
            Some(TrustPolicy::Everything) => return found,
            Some(TrustPolicy::Approved(store)) => store,
            None => {
                files.retain(|file| file.owner != Owner::Project);
                found.problems.extend(first.as_deref().map(without_home));
                return found;
            }
        };
        let approvals = match store.approvals(root) {
            Ok(approvals) => approvals,
            // Approvals are bound to the project's directory: without the directory, there are none.
            Err(TrustError::Root { .. }) => ProjectApprovals::none(root),
            Err(error) => {
                refuse_without_store(files, &error.to_string(), disable);
                return found;
            }
        };
        let unapproved_in = set_gates(files, &approvals, disable, &mut found.unapproved);
        if approvals.knows_project() {
            let in_project = files.iter().filter(|file| file.is_in_project());
            found.vanished = approvals.vanished(in_project.flat_map(Loaded::hooks), |hook, own| {
                with_lost_protocol(&self.sources, hook, own)
            });
        }
        let command = self.approve_command.clone();
        let command = command.unwrap_or_else(|| approve_command(&self.profile, root));
        let path = first.or(own).unwrap_or_default();
        found
            .problems
            .extend(about_vanished(&found.vanished, &path, &command));
        let path = unapproved_in.unwrap_or(path);
        found
            .problems
            .extend(about_unapproved(&found, &path, &command));
        found
    }
}

/// Sets the gate of each hook, adds the labels of those that are not approved, and returns the file of the first of them.
fn set_gates(
    files: &mut [Loaded],
    approvals: &ProjectApprovals,
    disable: &HashSet<String>,
    unapproved: &mut Vec<String>,
) -> Option<PathBuf> {
    let mut first = None;
    let mut left = MOST_NOT_APPROVED;
    for file in to_approve(files) {
        if approvals.knows_project() {
            file.hide_entries(disable, |item| item.is_placeholder);
        } else {
            // Errors in a clone without approvals must not block its host.
            file.drop_placeholders();
        }
        let path = file.path.to_path_buf();
        file.change_hooks(|hook| {
            let (hook, verdict) = approvals.set_gate(hook);
            match verdict {
                GateVerdict::ApprovalLost(why) => return (hook, Some(why)),
                // A hook that is switched off would not run in any case.
                GateVerdict::NotApproved(_) if hook.enabled() => {
                    first.get_or_insert_with(|| path.clone());
                    unapproved.push(hook.label().to_owned());
                }
                GateVerdict::NotApproved(_) | GateVerdict::Run => {}
            }
            (hook, None)
        });
        file.keep_first(&mut left);
    }
    unapproved.truncate(MOST_NOT_APPROVED);
    first
}

fn without_home(path: &Path) -> Problem {
    let words = "no hook of this project runs: no store of approvals can be found";
    Problem::of_file(Severity::Warning, path, words)
        .with_help("approvals are kept in the user's home directory, which cannot be found")
}

/// Reports the hooks that are gone as one problem, with the command that approves them.
fn about_vanished(vanished: &[Hook], path: &Path, command: &str) -> Option<Problem> {
    let labels: Vec<&str> = vanished.iter().map(Hook::label).collect();
    let names = listed(&labels);
    let words = match labels.len() {
        0 => return None,
        1 => format!(
            "{names} was approved but has changed or been removed, so it blocks what it could have blocked"
        ),
        count => format!(
            "{count} hooks were approved but have changed or been removed, so they block what they could have blocked: {names}"
        ),
    };
    let problem = Problem::of_file(Severity::Error, path, words);
    let help = format!("review the changes; to approve them: `{command}`");
    Some(problem.with_help(help).made_printable())
}

/// Reports the hooks that are not approved as one problem.
fn about_unapproved(found: &Admission, path: &Path, command: &str) -> Option<Problem> {
    let mut labels: Vec<&str> = found.unapproved.iter().map(String::as_str).collect();
    for hook in &found.vanished {
        // A hook with its name is the same hook, changed: one line is enough.
        if let Some(changed) = labels.iter().position(|label| *label == hook.label()) {
            labels.remove(changed);
        }
    }
    let names = listed(&labels);
    let words = match labels.len() {
        0 => return None,
        1 => format!("1 hook is not approved and does not run: {names}"),
        count => format!("{count} hooks are not approved and do not run: {names}"),
    };
    let problem = Problem::of_file(Severity::Warning, path, words);
    Some(
        problem
            .with_help(format!("to approve: `{command}`"))
            .made_printable(),
    )
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
fn approve_command(profile: &AppProfile, root: &Path) -> String {
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
