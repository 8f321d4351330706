//! Decides which hooks of the files that were read may run: not those whose names are disabled, and of a project's only
//! those that are approved.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::HookConfig;
use super::content::{Item, Loaded, Owner};
use super::places::absolute;
use super::report::{LoadReport, TrustPolicy, log_problem};
use super::sources::{switch_off, with_lost_protocol};
use crate::entry::{Off, Sandbox, Standing};
use crate::files::{quoted, quoted_path};
use crate::hook::Hook;
use crate::logging::info;
use crate::named::scripts_since;
use crate::printable::printable;
use crate::problem::{Problem, Severity};
use crate::profile::AppProfile;
use crate::trust::{ApprovalStatus, ProjectApprovals, TrustError};

/// The most hooks of a project that the report has although no person has approved them.
const MOST_NOT_APPROVED: usize = 1000;

/// The hooks of a project after they were compared with their approvals.
#[derive(Default)]
struct Admission {
    /// Approved hooks that are no longer in the file, or whose file has vanished. Each fails with a message.
    vanished: Vec<Hook>,
    /// The number of hooks that are not approved.
    not_approved: usize,
    /// The labels of the unapproved hooks that are switched on, and the file of the first of them.
    unapproved: Vec<String>,
    unapproved_in: Option<PathBuf>,
    problems: Vec<Problem>,
}

impl HookConfig {
    /// Returns the hooks in these files that `load_into` registers, and the report. The files were `loaded` no earlier.
    pub(super) fn admit(
        &self,
        mut files: Vec<Loaded>,
        root: Option<&Path>,
        policy: Option<&TrustPolicy>,
        loaded: SystemTime,
    ) -> (LoadReport, Vec<Arc<Hook>>) {
        switch_off(&mut files, true);
        let disabled = Disabled::by(&files);
        let project = root.map(|root| self.admit_project(&mut files, root, policy, &disabled));
        let project = project.unwrap_or_default();
        // This follows the check of approvals: an approval is for a hook as its project has it.
        switch_off(&mut files, false);
        if let Some(sandbox) = &self.project_sandbox {
            confine(&mut files, sandbox);
        }
        note_scripts(&mut files, loaded);

        let mut report = LoadReport::default();
        files.iter().for_each(|file| file.add_to(&mut report));
        report.problems.extend(project.problems);
        report.problems.iter().for_each(log_problem);
        report.unapproved = project.unapproved;
        let mut hooks = Vec::new();
        for item in files.into_iter().flat_map(|file| file.items) {
            match disabled.left_out(&item.hook, item.is_approved) {
                Some(standing) => report.left_out.push((item.hook, standing)),
                None => hooks.push(item.hook),
            }
        }
        for hook in project.vanished.into_iter().map(Arc::new) {
            match disabled.left_out(&hook, true) {
                Some(standing) => report.left_out.push((hook, standing)),
                None => hooks.push(hook),
            }
        }
        let is_off = |standing: &Standing| matches!(standing, Standing::Off(Off::Name { .. }));
        let disabled = report
            .left_out
            .iter()
            .filter(|(_, standing)| is_off(standing));
        let names = disabled.filter_map(|(hook, _)| hook.name());
        report.disabled = names.map(str::to_owned).collect();
        if !report.disabled.is_empty() {
            let names = report.disabled.join(", ");
            info!("hooks disabled by name: {}", printable(&names));
        }
        let can_run = |hook: &&Arc<Hook>| hook.enabled() && hook.usable().is_ok();
        report.in_use = hooks.iter().filter(can_run).count();
        (report, hooks)
    }

    /// Compares the hooks in a project's files with their approvals. Without a policy, removes these hooks: no store of
    /// approvals can be found. Hooks that are missing or not approved are one problem each.
    fn admit_project(
        &self,
        files: &mut Vec<Loaded>,
        root: &Path,
        policy: Option<&TrustPolicy>,
        disabled: &Disabled,
    ) -> Admission {
        let mut admission = Admission::default();
        let first = files.iter().find(|file| file.is_in_project());
        let first = first.map(|file| file.path.to_path_buf());
        let store = match policy {
            Some(TrustPolicy::Everything) => return admission,
            Some(TrustPolicy::Approved(store)) => store,
            None => {
                files.retain(|file| file.owner != Owner::Project);
                admission
                    .problems
                    .extend(first.as_deref().map(without_home));
                return admission;
            }
        };
        let to_approve = files.iter_mut().filter(|file| file.owner == Owner::Project);
        let command = self.approve_command.clone();
        let command = command.unwrap_or_else(|| approve_command(&self.profile, root));
        let mut next_step = format!("to approve: `{command}`");
        let approvals = match store.approvals(root) {
            Ok(approvals) => approvals,
            // Approvals are bound to the project's directory: without the directory, there are none.
            Err(TrustError::Root { source, .. }) => {
                next_step = format!("the project cannot be approved: {source}");
                ProjectApprovals::none(root)
            }
            Err(error) => {
                to_approve.for_each(|file| refuse_without_store(file, &error, disabled, &command));
                return admission;
            }
        };
        let approvals = approvals.with_command(&command);
        to_approve.for_each(|file| compare(file, &approvals, disabled, &command, &mut admission));
        if approvals.knows_project() {
            let in_project = files.iter().filter(|file| file.is_in_project());
            admission.vanished = approvals
                .vanished(in_project.flat_map(Loaded::hooks), |hook, own| {
                    with_lost_protocol(&self.sources, hook, own)
                });
        }
        let path = first.or_else(|| self.project_path(root));
        let path = path.unwrap_or_default();
        admission
            .problems
            .extend(about_vanished(&admission, disabled, &path, &command));
        let unapproved = about_unapproved(&admission, &path, next_step);
        admission.problems.extend(unapproved);
        admission
    }
}

/// The names of hooks that files disable.
struct Disabled(HashMap<String, Owner>);

impl Disabled {
    fn by(files: &[Loaded]) -> Self {
        let mut names = HashMap::new();
        // The administrator's file is the first.
        for file in files {
            for name in &file.disable {
                names.entry(name.clone()).or_insert(file.owner);
            }
        }
        Self(names)
    }

    /// Returns the owner of the file that disables a hook, if one does. Only the administrator's file can disable the administrator's
    /// hooks.
    fn owner_of(&self, hook: &Hook) -> Option<Owner> {
        let owner = *self.0.get(hook.name()?)?;
        (!hook.is_system() || owner == Owner::Administrator).then_some(owner)
    }

    fn concern(&self, hook: &Hook) -> bool {
        self.owner_of(hook).is_some()
    }

    /// Returns the reason why a hook is not registered; none if it is. A disabled name counts before a missing approval.
    fn left_out(&self, hook: &Hook, is_approved: bool) -> Option<Standing> {
        if let Some(owner) = self.owner_of(hook) {
            let by_administrator = owner == Owner::Administrator;
            return Some(Standing::Off(Off::Name { by_administrator }));
        }
        match (is_approved, hook.enabled()) {
            (true, _) => None,
            (false, true) => Some(Standing::NotApproved),
            (false, false) => Some(Standing::Off(Off::Entry)),
        }
    }

    /// Makes a hook name only its place: no person has approved its text, so a model must not read it. A disabled hook stays,
    /// since it will be left out.
    fn hide_entry(&self, item: &mut Item) {
        if !self.concern(&item.hook) {
            item.change(Hook::without_entry_text);
        }
    }
}

/// Confines the hooks in the files of a project, also those that need no approval.
fn confine(files: &mut [Loaded], sandbox: &Arc<Sandbox>) {
    let of_project = files.iter_mut().filter(|file| file.is_in_project());
    for item in of_project.flat_map(|file| &mut file.items) {
        item.change(|hook| hook.with_host_sandbox(Arc::clone(sandbox)));
    }
}

/// Makes each run compare the scripts of the administrator's and the user's hooks with their present content. Scripts of a
/// project have approvals.
fn note_scripts(files: &mut [Loaded], loaded: SystemTime) {
    let files = files.iter_mut().filter(|file| !file.is_in_project());
    for item in files.flat_map(|file| &mut file.items) {
        if !item.is_placeholder && !item.hook.answers() {
            item.change(|hook| hook.with_scripts(scripts_since(loaded)));
        }
    }
}

/// Compares each hook of a file with its approval.
fn compare(
    file: &mut Loaded,
    approvals: &ProjectApprovals,
    disabled: &Disabled,
    command: &str,
    admission: &mut Admission,
) {
    let mut items = std::mem::take(&mut file.items);
    let usable = items.iter().filter(|item| !item.is_placeholder).count();
    file.usable_as_read.get_or_insert(usable);
    let before = items.len();
    items.retain_mut(|item| {
        if item.is_placeholder {
            disabled.hide_entry(item);
            return true;
        }
        let (hook, status) = approvals.admit(Hook::clone(&item.hook));
        item.hook = Arc::new(hook);
        match status {
            ApprovalStatus::Approved => {}
            ApprovalStatus::NotApproved => return admission.note_unapproved(item, &file.path),
            ApprovalStatus::Lost(why) => {
                let problem = problem_of(item, &file.path, why);
                file.report(ended_by(problem, after_review(command)));
            }
        }
        true
    });
    if items.len() < before {
        let message = format!(
            "the project has more than {MOST_NOT_APPROVED} hooks that are not approved: the others are not listed"
        );
        file.report(Problem::in_file(Severity::Warning, &file.path, message));
    }
    if !approvals.knows_project() {
        // Errors in a clone without approvals must not block its host.
        items.retain(|item| !item.is_placeholder);
    }
    file.items = items;
}

impl Admission {
    /// Notes a hook that is not approved. Returns whether it is kept for the report.
    fn note_unapproved(&mut self, item: &mut Item, path: &Path) -> bool {
        self.not_approved += 1;
        item.is_approved = false;
        let is_kept = self.not_approved <= MOST_NOT_APPROVED;
        // A hook that is switched off would not run in any case.
        if is_kept && item.hook.enabled() {
            self.unapproved_in.get_or_insert_with(|| path.to_owned());
            self.unapproved.push(item.hook.label().to_owned());
        }
        is_kept
    }
}

fn problem_of(item: &Item, path: &Path, message: String) -> Problem {
    let mut problem = Problem::in_file(Severity::Error, path, message);
    problem.range.clone_from(&item.start);
    problem.in_entry(item.hook.source().and_then(|source| source.index))
}

/// Refuses all hooks: a store that cannot be read may have approved any of them, or none.
fn refuse_without_store(file: &mut Loaded, error: &TrustError, disabled: &Disabled, command: &str) {
    let why = error.to_string();
    for item in &mut file.items {
        if !item.is_placeholder {
            item.change(|hook| hook.matching_by_pattern().with_lost_approval(&*why));
        }
        disabled.hide_entry(item);
    }
    let help = format!(
        "if it cannot be corrected, remove the store, and approve the hooks again: `{command}`"
    );
    file.report(Problem::in_file(Severity::Error, &file.path, why).with_help(help));
}

fn without_home(path: &Path) -> Problem {
    let message = "no hook of this project runs: no store of approvals can be found";
    Problem::in_file(Severity::Warning, path, message)
        .with_help("approvals are kept in the user's home directory, which cannot be found")
}

/// Reports the hooks that are gone as one problem, with the command that approves them. Those that are disabled block
/// nothing.
fn about_vanished(
    admission: &Admission,
    disabled: &Disabled,
    path: &Path,
    command: &str,
) -> Option<Problem> {
    let blocking = admission
        .vanished
        .iter()
        .filter(|hook| !disabled.concern(hook));
    let labels: Vec<&str> = blocking.map(Hook::label).collect();
    let names = listed(&labels);
    let message = match labels.len() {
        0 => return None,
        1 => format!(
            "{names} was approved but has changed or been removed, so it blocks what it could have blocked"
        ),
        count => format!(
            "{count} hooks were approved but have changed or been removed, so they block what they could have blocked: {names}"
        ),
    };
    let problem = Problem::in_file(Severity::Error, path, message);
    Some(ended_by(problem, after_review(command)).made_printable())
}

/// Returns a problem whose next step is an approval.
fn ended_by(problem: Problem, help: String) -> Problem {
    Problem {
        is_of_approval: true,
        ..problem.with_help(help)
    }
}

fn after_review(command: &str) -> String {
    format!("review the changes; to approve them: `{command}`")
}

/// Reports the hooks that are not approved as one problem.
fn about_unapproved(admission: &Admission, path: &Path, next_step: String) -> Option<Problem> {
    let mut labels: Vec<&str> = admission.unapproved.iter().map(String::as_str).collect();
    for hook in &admission.vanished {
        // A hook with the same name is the same hook, changed: one line is enough.
        if let Some(changed) = labels.iter().position(|label| *label == hook.label()) {
            labels.remove(changed);
        }
    }
    let names = listed(&labels);
    let message = match labels.len() {
        0 => return None,
        1 => format!("1 hook is not approved and does not run: {names}"),
        count => format!("{count} hooks are not approved and do not run: {names}"),
    };
    let path = admission.unapproved_in.as_deref().unwrap_or(path);
    let problem = Problem::in_file(Severity::Warning, path, message);
    Some(ended_by(problem, next_step).made_printable())
}

/// The most hooks that a message names.
const MOST_NAMED: usize = 10;

pub(super) fn listed(labels: &[&str]) -> String {
    let named = labels.iter().take(MOST_NAMED);
    let names: Vec<_> = named.map(|label| format!("`{label}`")).collect();
    let names = names.join(", ");
    match labels.len().saturating_sub(MOST_NAMED) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

/// Returns the command of the program `forge-hooks`.
fn approve_command(profile: &AppProfile, root: &Path) -> String {
    let mut command = "forge-hooks".to_owned();
    if *profile != AppProfile::default() {
        command += &format!(" --profile {}", quoted(profile.name()));
    }
    command += " trust";
    let root = absolute(root);
    // The home directory is only a project if it is named.
    let is_home = home::home_dir().is_some_and(|home| home == root);
    if is_home || !std::env::current_dir().is_ok_and(|current| current == root) {
        command += &format!(" --project {}", quoted_path(&root));
    }
    command
}
