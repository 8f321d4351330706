//! Which of a project's hooks may run, where a person has to approve them.

use std::path::{Path, PathBuf};
#[cfg(feature = "watch")]
use std::sync::Arc;

use super::content::Loaded;
use super::places::absolute;
#[cfg(feature = "watch")]
use super::report::TrustPolicy;
use super::report::{Problem, Severity};
use crate::hook::{Dialect, GateVerdict, Hook};
use crate::profile::AppProfile;
use crate::trust::{Judged, TrustError, TrustStore};

/// Of a file of which nothing was approved, so many hooks are registered, to be skipped: each event
/// would pay for more.
const MOST_NOT_APPROVED: usize = 1000;

/// What came of a project's hooks.
#[derive(Default)]
pub(super) struct Admission {
    /// The project's file, or where it would be.
    pub(super) path: PathBuf,
    /// The other tools whose hooks are loaded: no others can be gone.
    pub(super) dialects: Vec<Dialect>,
    /// What was approved and is gone, be it with its file: each fails, and says so.
    pub(super) vanished: Vec<Hook>,
    /// By their labels.
    pub(super) unapproved: Vec<String>,
    pub(super) problems: Vec<Problem>,
}

impl Admission {
    pub(super) fn new(dialects: Vec<Dialect>) -> Self {
        Self {
            dialects,
            ..Self::default()
        }
    }

    /// Without a place for approvals, none of the project's hooks is loaded.
    pub(super) fn refuse_all(&mut self) {
        if self.path.exists() {
            let words = "no hook of this project runs: there is no place for approvals";
            let mut problem = Problem::new(Severity::Warning, &self.path, words);
            problem.help = Some("they are kept in the user's home directory".to_owned());
            self.problems.push(problem);
        }
    }

    /// Gives the hooks of a project's files their gates.
    pub(super) fn admit(&mut self, files: &mut [Loaded], root: &Path, store: &TrustStore) {
        match store.judged(root) {
            Ok(judged) => self.judge(files, &judged),
            // An approval is bound to a place: a place that cannot be found has none.
            Err(TrustError::Root { .. }) => self.judge(files, &Judged::nothing(root)),
            Err(error) => lose_all(files, &error),
        }
    }

    fn judge(&mut self, files: &mut [Loaded], judged: &Judged) {
        // A clone must not block its host by what is wrong in it.
        if !judged.knows_project() {
            for file in to_approve(files) {
                file.drop_placeholders();
                file.keep_first(MOST_NOT_APPROVED);
            }
        }
        for file in to_approve(files) {
            file.change_hooks(|hook| {
                let (hook, trust) = judged.judge(hook);
                let problem = match trust {
                    GateVerdict::Run => None,
                    GateVerdict::NotApproved(_) => {
                        // One that is switched off would not run in any case.
                        if hook.enabled() {
                            self.unapproved.push(hook.label().to_owned());
                        }
                        None
                    }
                    GateVerdict::ApprovalLost(why) => Some((Severity::Error, why)),
                };
                (hook, problem)
            });
        }
        if !judged.knows_project() {
            return;
        }
        self.vanished = judged.vanished(files.iter().flat_map(Loaded::hooks));
        self.vanished.retain(|hook| {
            hook.dialect() == Dialect::Native || self.dialects.contains(&hook.dialect())
        });
        for hook in &self.vanished {
            self.problems.push(problem_of(hook, &self.path));
        }
        files.iter_mut().for_each(Loaded::compile_conditions);
    }

    /// One problem for all hooks that are not approved, with the command that approves them.
    pub(super) fn report_unapproved(&mut self, approve_command: String) {
        let count = self.unapproved.len();
        if count == 0 {
            return;
        }
        let mut names = Vec::new();
        for label in self.unapproved.iter().take(MOST_NAMED) {
            let short: String = label.chars().take(LONGEST_NAMED).collect();
            names.push(format!("`{short}`"));
        }
        let mut names = names.join(", ");
        if count > MOST_NAMED {
            names += &format!(" and {} more", count - MOST_NAMED);
        }
        let words = match count {
            1 => format!("1 hook is not approved, and does not run: {names}"),
            _ => format!("{count} hooks are not approved, and do not run: {names}"),
        };
        let mut problem = Problem::new(Severity::Warning, &self.path, words);
        problem.help = Some(format!("to approve: `{approve_command}`"));
        self.problems.push(problem.made_printable());
    }
}

/// Of hooks that are not approved, so many are named in a message, each by so many characters.
const MOST_NAMED: usize = 10;
const LONGEST_NAMED: usize = 60;

/// That of the program `forge-hooks`.
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

/// As one word of a shell.
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

/// Hooks that were loaded before, as they stand now: those of the project with new gates.
#[cfg(feature = "watch")]
pub(super) fn judge_again(
    hooks: &[Arc<Hook>],
    root: &Path,
    policy: &TrustPolicy,
) -> Vec<Arc<Hook>> {
    let TrustPolicy::Approved(store) = policy else {
        return hooks.to_vec();
    };
    let judged = match store.judged(root) {
        Err(TrustError::Root { .. }) => Ok(Judged::nothing(root)),
        judged => judged.map_err(|error| error.to_string()),
    };
    let again = |hook: &Arc<Hook>| {
        // Where its paths count from tells a project's hook.
        if hook.base_dir().is_none() {
            return Arc::clone(hook);
        }
        let hook = Hook::clone(hook);
        Arc::new(match &judged {
            Ok(judged) => judged.judge(hook).0,
            Err(why) => Judged::lose(hook, why),
        })
    };
    hooks.iter().map(again).collect()
}

/// Without those that the user has named.
fn to_approve(files: &mut [Loaded]) -> impl Iterator<Item = &mut Loaded> {
    files.iter_mut().filter(|file| !file.is_named())
}

/// What cannot be read may have approved them all, or none.
fn lose_all(files: &mut [Loaded], error: &TrustError) {
    for file in to_approve(files) {
        file.change_hooks(|hook| (Judged::lose(hook, &error.to_string()), None));
        let problem = Problem::new(Severity::Error, file.path(), error.to_string());
        file.report(problem);
    }
}

/// What is to be said of a hook that is gone from the project's file.
fn problem_of(vanished: &Hook, path: &Path) -> Problem {
    let words = format!(
        "`{}` was approved, and is not there any more as it was",
        vanished.label()
    );
    Problem::new(Severity::Error, path, words).made_printable()
}
