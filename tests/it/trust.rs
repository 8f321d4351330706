//! Hooks of a project run only after the user has approved them, and only as approved.

use std::path::PathBuf;

use forge_hooks::config::{Severity, TrustPolicy};
use forge_hooks::outcome::SkipReason;
use forge_hooks::protocol::GateVerdict;
use forge_hooks::trust::{Approval, TrustError, TrustStore};
use forge_hooks::{FailureKind, FireOptions, HookConfig, HookEvent, LoadReport, Outcome};

use crate::support::{World, blocking_event};

pub(crate) const PROJECT: &str = "project/.src/forge/hooks.json";

/// A project with a guard that runs a script, and an observer.
const HOOKS: &str = r#"{"hooks": [
    {"event": "tool:pre_execute", "args": ["sh", "guard.sh"], "description": "Guards"},
    {"event": "session:start", "command": "echo started"}]}"#;

pub(crate) struct Project {
    pub(crate) world: World,
}

impl Project {
    pub(crate) fn new() -> Self {
        let world = World::new();
        world.write(PROJECT, HOOKS);
        world.write("project/guard.sh", "echo guarded\n");
        Self { world }
    }

    pub(crate) fn config(&self) -> HookConfig {
        HookConfig::default().with_config_home(self.world.path("config"))
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.world.path("project")
    }

    pub(crate) fn store(&self) -> TrustStore {
        self.config().trust_store().unwrap()
    }

    pub(crate) fn look(&self) -> Approval {
        Approval::of(self.root(), self.config().load_project(self.root())).unwrap()
    }

    pub(crate) fn approve(&self) {
        self.store().approve(&self.look()).unwrap();
    }

    pub(crate) fn load(&self) -> LoadReport {
        self.world.registry().clear();
        let policy = TrustPolicy::Approved(self.store());
        self.config()
            .load_into(self.world.registry(), self.root(), policy)
    }

    /// All hooks on the guard's event, whatever fails.
    pub(crate) fn guard(&self) -> Outcome {
        let options = FireOptions::new().stop_on_failure(false);
        self.world.executor.execute(&blocking_event(), options)
    }

    /// After a reload, the guard's event is blocked for this reason.
    #[track_caller]
    pub(crate) fn is_blocked(&self, words: &str) {
        let report = self.load();
        assert!(!report.is_ok(), "{report:?}");
        self.blocks(words);
    }

    #[track_caller]
    pub(crate) fn blocks(&self, words: &str) {
        let outcome = self.guard();
        let result = outcome.blocked().expect("a result that blocks");
        assert_eq!(
            result.failure,
            Some(FailureKind::ApprovalLost),
            "{result:?}"
        );
        assert!(
            outcome.reason().unwrap().contains(words),
            "{:?}",
            outcome.reason()
        );
    }
}

#[test]
fn unapproved_hooks_are_skipped() {
    let project = Project::new();
    let report = project.load();
    assert!(report.is_ok());
    let reported: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
    assert_eq!(reported.len(), 1);
    assert!(
        reported[0].contains("hooks.json: 2 hooks are not approved and do not run: "),
        "{reported:?}"
    );
    assert_eq!(report.unapproved.len(), 2);
    let outcome = project.guard();
    assert!(outcome.allowed());
    let result = &outcome.results()[0];
    assert_eq!(result.skipped, Some(SkipReason::NotApproved));
    assert!(!result.success() && result.should_continue() && result.failure.is_none());
    assert_eq!(
        (result.exit_code, result.pid, result.reason()),
        (-1, None, None)
    );
    assert_eq!(
        result.error.as_deref(),
        Some("it comes from a project and has not been approved")
    );
}

#[test]
fn a_disabled_hook_is_not_reported() {
    let project = Project::new();
    let off = r#"{"hooks": [{"event": "*", "command": "echo x", "enabled": false}]}"#;
    project.world.write(PROJECT, off);
    let report = project.load();
    assert!(report.problems.is_empty(), "{report:?}");
}

#[test]
fn what_was_approved_runs() {
    let project = Project::new();
    project.approve();
    let report = project.load();
    assert!(report.problems.is_empty(), "{report:?}");
    if cfg!(unix) {
        assert_eq!(project.guard().results()[0].stdout.trim(), "guarded");
    }
    let started = project.world.outcome(&HookEvent::session_start("s"));
    assert_eq!(started.results()[0].stdout.trim(), "started");
}

#[test]
fn the_users_own_hooks_need_no_approval() {
    let project = Project::new();
    let own = r#"{"hooks": [{"event": "*", "command": "echo mine"}]}"#;
    project.world.write("config/src/forge/hooks.json", own);
    let _ = project.load();
    assert_eq!(project.guard().results()[0].stdout.trim(), "mine");
}

#[test]
fn an_approval_lists_what_it_covers() {
    let project = Project::new();
    let hooks = r#"{"hooks": [{"event": "*", "shell": "sh", "command": "./guard.sh \"$PWD/x.sh\"; ./later.sh", "inputs": ["lib"]}]}"#;
    project.world.write(PROJECT, hooks);
    project.world.write("project/lib/a.txt", "a");
    let approval = project.look();
    assert_eq!(approval.root, project.root().canonicalize().unwrap());
    let approved = &approval.hooks[0];
    let files: Vec<_> = approved
        .files
        .iter()
        .map(|(name, digest)| (&**name, digest.is_some()))
        .collect();
    assert_eq!(files, [("guard.sh", true), ("lib/a.txt", true)]);
    assert_eq!(approved.notes, [""; 0]);
    assert_eq!(approved.source, PROJECT.strip_prefix("project/").unwrap());
    assert_eq!(approved.definition["inputs"][0], "lib");
    assert_eq!(approved.digest.len(), 64);
}

#[test]
fn a_changed_script_blocks_without_a_reload() {
    let project = Project::new();
    project.approve();
    assert!(project.load().is_ok());
    let script = project.world.write("project/guard.sh", "echo guardeD\n");
    let changed = "`guard.sh` has changed since the hook was approved";
    project.blocks(changed);
    project.is_blocked(changed);
    std::fs::remove_file(&script).unwrap();
    project.blocks("`guard.sh` is gone since the hook was approved");
    project.world.write("project/guard.sh", "echo guarded\n");
    assert!(
        project
            .guard()
            .blocked()
            .is_none_or(|result| result.failure != Some(FailureKind::ApprovalLost))
    );
}

#[test]
fn a_missing_file_must_not_appear() {
    let project = Project::new();
    let hooks = r#"{"hooks": [{"event": "tool:*", "shell": "sh", "command": "test -e late.sh || exit 0; sh ./late.sh"}]}"#;
    project.world.write(PROJECT, hooks);
    project.approve();
    assert!(project.load().is_ok());
    project.world.write("project/late.sh", "exit 0");
    project.blocks("`late.sh` has appeared since the hook was approved");
}

#[test]
fn a_file_in_an_input_directory_counts() {
    let project = Project::new();
    let hooks = r#"{"hooks": [{"event": "tool:*", "command": "exit 0", "inputs": ["lib"]}]}"#;
    project.world.write(PROJECT, hooks);
    project.world.write("project/lib/deep/a.txt", "a");
    project.approve();
    let _ = project.load();
    assert!(project.guard().allowed());
    let added = project.world.write("project/lib/deep/b.txt", "");
    project.blocks("`lib/deep/b.txt` has appeared");
    std::fs::remove_file(added).unwrap();
    assert!(project.guard().allowed());
}

#[test]
fn a_changed_definition_blocks() {
    let project = Project::new();
    project.approve();
    project
        .world
        .write(PROJECT, &HOOKS.replace("Guards", "Guard!"));
    project.is_blocked(
        "it was approved, but its entry was changed or removed since; approve the hooks again",
    );
    let outcome = project.guard();
    let skipped = outcome
        .results()
        .iter()
        .filter(|result| result.skipped.is_some());
    assert!(skipped.count() <= 1, "the new one was never approved");
    project.approve();
    assert!(
        project.load().problems.is_empty(),
        "until a person has approved it"
    );
}

#[test]
fn what_was_approved_and_is_gone_blocks() {
    for gone in [Some(r#"{"hooks": []}"#), Some("{"), None] {
        let project = Project::new();
        project.approve();
        match gone {
            Some(text) => drop(project.world.write(PROJECT, text)),
            None => std::fs::remove_file(project.world.path(PROJECT)).unwrap(),
        }
        let report = project.load();
        assert!(!report.is_ok(), "{gone:?}");
        assert!(!project.guard().allowed(), "{gone:?}");
        let started = project.world.outcome(&HookEvent::session_start("s"));
        assert!(started.allowed() && started.results().iter().any(|it| it.failure.is_some()));
        assert!(project.store().revoke(project.root()).unwrap());
        let _ = project.load();
        assert!(project.guard().allowed(), "a person has looked");
    }
}

#[test]
fn an_illegible_approval_blocks() {
    for (enabled, allowed) in [("true", false), ("false", true)] {
        let project = Project::new();
        project.approve();
        let store = project.store().path().to_owned();
        let illegible = format!("\"enabled\": {enabled}, \"event\": 5");
        let text = std::fs::read_to_string(&store).unwrap();
        let text = text.replace("\"event\": \"tool:pre_execute\"", &illegible);
        std::fs::write(&store, text).unwrap();
        project.world.write(PROJECT, r#"{"hooks": []}"#);
        let report = project.load();
        assert!(!report.is_ok(), "the other hook is gone");
        assert_eq!(project.guard().allowed(), allowed, "{report:?}");
    }
}

#[test]
fn a_hook_cannot_ignore_a_lost_approval() {
    let project = Project::new();
    let hooks = HOOKS.replace(
        "\"description\"",
        "\"on_failure\": \"continue\", \"description\"",
    );
    project.world.write(PROJECT, &hooks);
    project.approve();
    let _ = project.load();
    project.world.write("project/guard.sh", "changed");
    project.blocks("has changed");
}

/// Two seconds after its change a file counts as known.
#[test]
fn a_changed_script_blocks_again_and_again() {
    let project = Project::new();
    project.approve();
    project.world.write("project/guard.sh", "changed");
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let _ = project.load();
    project.blocks("has changed");
    project.blocks("has changed");
}

/// The time of the last change of a file's state is compared too, which no program can set.
#[test]
#[cfg(unix)]
fn a_script_whose_time_was_set_back_blocks() {
    let project = Project::new();
    project.approve();
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let _ = project.load();
    assert!(project.guard().allowed());
    let path = project.root().join("guard.sh");
    let before = std::fs::read_to_string(&path).unwrap();
    let modified = path.metadata().unwrap().modified().unwrap();
    project
        .world
        .write("project/guard.sh", &before.to_uppercase());
    let script = std::fs::File::options().write(true).open(&path).unwrap();
    script.set_modified(modified).unwrap();
    project.blocks("has changed");
}

#[test]
fn an_approval_ignores_the_order() {
    let project = Project::new();
    project.approve();
    let turned = r#"{"hooks": [
        {"command": "echo started", "event": "session:start"},
        {"description": "Guards", "args": ["sh", "guard.sh"], "event": "tool:pre_execute"}]}"#;
    project.world.write(PROJECT, turned);
    assert!(project.load().problems.is_empty());
}

#[test]
fn an_approval_survives_numbers_of_all_kinds() {
    let project = Project::new();
    let hooks = r#"{"hooks": [{"event": "*", "command": "exit 0", "timeout": 30.000000000000004, "x": 1e-7, "y": 123456789012345678}]}"#;
    project.world.write(PROJECT, hooks);
    project.approve();
    assert!(project.load().is_ok());
    assert!(project.guard().results()[0].success());
}

#[test]
fn an_approval_is_bound_to_the_path() {
    let project = Project::new();
    project.approve();
    std::fs::rename(project.root(), project.world.path("moved")).unwrap();
    let policy = TrustPolicy::Approved(project.store());
    let moved = project.world.path("moved");
    let report = project
        .config()
        .load_into(project.world.registry(), &moved, policy);
    assert_eq!(report.unapproved.len(), 2);
    assert!(project.guard().results()[0].skipped.is_some());
}

#[cfg(unix)]
#[test]
fn a_project_is_the_same_by_another_name() {
    let project = Project::new();
    project.approve();
    let link = project.world.path("link");
    std::os::unix::fs::symlink(project.root(), &link).unwrap();
    let policy = TrustPolicy::Approved(project.store());
    let report = project
        .config()
        .load_into(project.world.registry(), &link, policy);
    assert!(report.problems.is_empty(), "{report:?}");
}

#[test]
fn a_file_that_appears_later_is_not_approved() {
    let project = Project::new();
    project.approve();
    let other = r#"{"hooks": [{"event": "tool:*", "command": "exit 1"}]}"#;
    project
        .world
        .write("project/.src/opencode/hooks.json", other);
    let report = project.load();
    assert_eq!(report.problems.len(), 1);
    assert!(
        project
            .guard()
            .results()
            .iter()
            .any(|result| result.skipped.is_some())
    );
}

#[test]
fn a_broken_clone_does_not_block() {
    let project = Project::new();
    project.world.write(PROJECT, "{");
    assert!(!project.load().is_ok(), "it is reported");
    assert!(project.guard().results().is_empty());
    project.world.write(PROJECT, HOOKS);
    project.approve();
    project.world.write(PROJECT, "{");
    let _ = project.load();
    assert!(
        !project.guard().allowed(),
        "what was approved once may have been a guard"
    );
}

#[test]
fn status_says_how_each_hook_stands() {
    let project = Project::new();
    let status = || {
        let hooks = project.config().load_project(project.root());
        project.store().status(project.root(), hooks).unwrap()
    };
    assert!(matches!(
        status()[..],
        [GateVerdict::NotApproved(_), GateVerdict::NotApproved(_)]
    ));
    project.approve();
    assert_eq!(status(), [GateVerdict::Run, GateVerdict::Run]);
    project.world.write("project/guard.sh", "changed");
    let [GateVerdict::ApprovalLost(why), GateVerdict::Run] = &status()[..] else {
        panic!("{:?}", status());
    };
    assert!(why.contains("guard.sh"), "{why}");
    assert_eq!(project.store().approved(project.root()).unwrap().len(), 2);
    assert!(project.store().revoke(project.root()).unwrap());
    assert!(!project.store().revoke(project.root()).unwrap());
    assert!(matches!(
        status()[..],
        [GateVerdict::NotApproved(_), GateVerdict::NotApproved(_)]
    ));
}

#[test]
fn projects_do_not_concern_each_other() {
    let (one, other) = (Project::new(), Project::new());
    let store = one.store();
    for project in [&one, &other] {
        store.approve(&project.look()).unwrap();
    }
    assert!(store.revoke(other.root()).unwrap());
    assert_eq!(store.approved(one.root()).unwrap().len(), 2);
}

#[test]
fn an_unreadable_store_loses_approvals() {
    for text in ["{", "[]", r#"{"version": 2, "projects": {}}"#] {
        let project = Project::new();
        project.approve();
        project.world.write("config/src/forge/trust.json", text);
        assert!(matches!(
            project.store().approve(&project.look()),
            Err(TrustError::Unusable { .. })
        ));
        project.is_blocked("trust.json`");
    }
}

#[cfg(unix)]
mod modes {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_store_is_private() {
        let project = Project::new();
        project.approve();
        let mode = project
            .store()
            .path()
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_writable_store_is_refused() {
        for mode in [0o606, 0o660] {
            let project = Project::new();
            project.approve();
            set_permissions(project.store().path(), Permissions::from_mode(mode)).unwrap();
            project.is_blocked("writable");
        }
    }
}

/// The hook is this test binary: what it tries is refused, and it says so.
#[test]
fn a_hook_cannot_approve() {
    const INNER: &str = "FORGE_HOOKS_TEST_APPROVES";
    let project = Project::new();
    if std::env::var_os(INNER).is_some() {
        let approved = project.store().approve(&project.look());
        assert!(
            matches!(approved, Err(TrustError::WithinHook(_))),
            "{approved:?}"
        );
        assert!(matches!(
            project.store().revoke(project.root()),
            Err(TrustError::WithinHook(_))
        ));
        return;
    }
    let binary = std::env::current_exe().unwrap();
    let args = [
        binary.to_str().unwrap(),
        "--exact",
        "trust::a_hook_cannot_approve",
    ];
    let hook = forge_hooks::Hook::program("*", args)
        .unwrap()
        .with_env(INNER, "1");
    let result = World::new().one(hook);
    assert!(
        result.success() && result.stdout.contains("1 passed"),
        "{}",
        result.stdout
    );
}

#[test]
fn a_missing_project_is_reported() {
    let project = Project::new();
    let missing = project.world.path("none");
    let hooks: [forge_hooks::Hook; 0] = [];
    assert!(matches!(
        Approval::of(&missing, hooks),
        Err(TrustError::Root { .. })
    ));
    let policy = TrustPolicy::Approved(project.store());
    let report = project
        .config()
        .load_into(project.world.registry(), missing, policy);
    assert!(
        report
            .problems
            .iter()
            .all(|problem| problem.severity != Severity::Error)
    );
}

/// Its place cannot be written down, so that nothing in it can be approved; it must not run for that.
#[cfg(target_os = "linux")]
#[test]
fn a_non_unicode_project_is_never_approved() {
    use std::os::unix::ffi::OsStrExt;

    let project = Project::new();
    let name = std::ffi::OsStr::from_bytes(b"pro\xFFject");
    let odd = project.world.directory().join(name);
    std::fs::rename(project.root(), &odd).unwrap();
    let hooks = project.config().load_project(&odd);
    assert_eq!(hooks.len(), 2);
    assert!(matches!(
        Approval::of(&odd, hooks),
        Err(TrustError::Root { .. })
    ));
    let policy = TrustPolicy::Approved(project.store());
    let report = project
        .config()
        .load_into(project.world.registry(), &odd, policy);
    assert_eq!(report.unapproved.len(), 2);
    assert!(
        project
            .guard()
            .results()
            .iter()
            .all(|result| result.skipped.is_some())
    );
}
