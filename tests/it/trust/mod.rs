//! Hooks of a project run only after the user has approved them, and only as approved.

mod cases;
mod changes;
mod contents;
mod corpora;
mod coverage;
mod limits;
mod pages;
#[cfg(unix)]
mod unapproved;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::{Approval, TrustStore};
#[cfg(feature = "cli")]
use forge_hooks::{AppProfile, Hooks};
use forge_hooks::{
    FailureKind, FireOptions, Hook, HookConfig, HookEvent, HookResult, LoadReport, Outcome,
};

#[cfg(feature = "cli")]
use crate::support::foretold;
use crate::support::{World, blocking_event, eventually};

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
        self.load_at(self.root())
    }

    /// The same for a directory that may be another one.
    pub(crate) fn load_at(&self, root: impl AsRef<Path>) -> LoadReport {
        let registry = self.world.registry();
        registry.clear();
        let policy = TrustPolicy::Approved(self.store());
        self.config().load_into(registry, root, policy)
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
        assert!(is_lost(result), "{result:?}");
        let reason = outcome.reason().unwrap();
        assert!(reason.contains(words), "{reason}");
    }
}

fn is_lost(result: &HookResult) -> bool {
    result.failure() == Some(FailureKind::ApprovalLost)
}

#[test]
fn unapproved_hooks_are_left_out() {
    let project = Project::new();
    let report = project.load();
    assert!(report.is_ok());
    let reported: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
    assert_eq!(reported.len(), 1);
    let message = "hooks.json: 2 hooks are not approved and do not run: ";
    assert!(reported[0].contains(message), "{reported:?}");
    assert_eq!(report.unapproved.len(), 2);
    let outcome = project.guard();
    assert!(outcome.allowed() && outcome.results().is_empty());
    assert!(project.world.registry().is_empty());
    assert_eq!((report.loaded, report.in_use), (2, 0));
}

#[test]
fn the_users_own_hooks_need_no_approval() {
    let project = Project::new();
    let own = r#"{"hooks": [{"event": "*", "command": "echo mine"}]}"#;
    project.world.write("config/src/forge/hooks.json", own);
    let off = r#"{"hooks": [{"event": "*", "command": "echo x", "enabled": false}]}"#;
    project.world.write(PROJECT, off);
    let report = project.load();
    assert!(report.problems.is_empty(), "one that is disabled neither");
    assert_eq!(project.guard().results()[0].stdout().trim(), "mine");
}

#[test]
fn what_was_approved_runs() {
    let project = Project::new();
    project.approve();
    let report = project.load();
    assert!(report.problems.is_empty(), "{report:?}");
    if cfg!(unix) {
        assert_eq!(project.guard().results()[0].stdout().trim(), "guarded");
    }
    let started = project.world.outcome(&HookEvent::session_start("s"));
    assert_eq!(started.results()[0].stdout().trim(), "started");
    // Neither the order of entries and keys nor the form of a number matters.
    let turned = r#"{"hooks": [
        {"command": "echo started", "event": "session:start"},
        {"description": "Guards", "args": ["sh", "guard.sh"], "event": "tool:pre_execute"}]}"#;
    project.world.write(PROJECT, turned);
    assert!(project.load().problems.is_empty());
    let numbers = r#"{"hooks": [{"event": "*", "command": "exit 0", "timeout": 30.000000000000004, "x": 1e-7, "y": 123456789012345678}]}"#;
    project.world.write(PROJECT, numbers);
    project.approve();
    assert!(project.load().is_ok());
    assert!(project.guard().results()[0].success());
}

#[test]
fn an_approval_lists_what_it_covers() {
    let project = Project::new();
    let hooks = r#"{"hooks": [{"event": "*", "shell": "sh", "command": "./guard.sh \"$PWD/x.sh\"; ./later.sh", "inputs": ["lib"]}]}"#;
    project.world.write(PROJECT, hooks);
    project.world.write("project/lib/deep/a.txt", "a");
    let approval = project.look();
    assert_eq!(approval.root, project.root().canonicalize().unwrap());
    let approved = &approval.hooks[0];
    let files = approved.files.iter();
    let files: Vec<_> = files
        .map(|(name, digest)| (&**name, digest.is_some()))
        .collect();
    assert_eq!(files, [("guard.sh", true), ("lib/deep/a.txt", true)]);
    assert_eq!(approved.notes, [""; 0]);
    assert_eq!(approved.source, PROJECT.strip_prefix("project/").unwrap());
    assert_eq!(approved.definition["inputs"][0], "lib");
    assert_eq!(approved.digest.len(), 64);
    project.approve();
    let _ = project.load();
    project.world.write("project/lib/deep/b.txt", "");
    project.blocks("`lib/deep/b.txt` has appeared");
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
    assert!(!project.guard().results().iter().any(is_lost));
}

#[test]
fn a_changed_definition_blocks() {
    let project = Project::new();
    project.approve();
    let changed = HOOKS.replace("Guards", "Guard!");
    project.world.write(PROJECT, &changed);
    project.is_blocked(
        "it was approved, but its entry was changed or removed since; review the changes; to approve them: `forge-hooks trust",
    );
    project.approve();
    assert!(project.load().problems.is_empty());
    // A file that appears later was never approved.
    let other = r#"{"hooks": [{"event": "tool:*", "command": "exit 1"}]}"#;
    let path = "project/.src/opencode/hooks.json";
    project.world.write(path, other);
    assert_eq!(project.load().problems.len(), 1);
    assert_eq!(project.guard().results().len(), 1, "the approved one");
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
        assert!(
            started.allowed()
                && started
                    .results()
                    .iter()
                    .any(|result| result.failure().is_some())
        );
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
        let store = project.world.path("config/src/forge/trust.json");
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

/// Waits until the stamp of a file counts: two seconds after its change.
fn await_age(file: &Path) {
    let changed = file.metadata().unwrap().modified().unwrap();
    let age = Duration::from_millis(2100);
    eventually("it is old enough", || SystemTime::now() > changed + age);
}

/// Two seconds after its change a file counts as known. The time of the last change of its state is compared too,
/// which no program can set.
#[test]
fn a_known_script_blocks_too() {
    let (changed, later) = (Project::new(), Project::new());
    for project in [&changed, &later] {
        project.approve();
    }
    changed.world.write("project/guard.sh", "changed");
    await_age(&changed.world.path("project/guard.sh"));
    let _ = changed.load();
    changed.blocks("has changed");
    changed.blocks("has changed");
    if cfg!(windows) {
        return;
    }
    let _ = later.load();
    assert!(later.guard().allowed());
    let path = later.root().join("guard.sh");
    let modified = path.metadata().unwrap().modified().unwrap();
    later.world.write("project/guard.sh", "ECHO GUARDED\n");
    let script = std::fs::File::options().write(true).open(&path).unwrap();
    script.set_modified(modified).unwrap();
    later.blocks("has changed");
}

#[test]
fn an_approval_is_bound_to_the_path() {
    let project = Project::new();
    project.approve();
    #[cfg(unix)]
    {
        let link = project.world.path("link");
        std::os::unix::fs::symlink(project.root(), &link).unwrap();
        let report = project.load_at(link);
        assert!(report.problems.is_empty(), "another name: {report:?}");
    }
    let moved = project.world.path("moved");
    std::fs::rename(project.root(), &moved).unwrap();
    assert_eq!(project.load_at(&moved).unapproved.len(), 2);
    assert!(project.guard().results().is_empty());
}

#[test]
fn a_store_has_the_approvals_of_each_project() {
    let (project, other) = (Project::new(), Project::new());
    let store = project.store();
    store.approve(&other.look()).unwrap();
    assert!(store.approved(project.root()).unwrap().is_empty());
    project.approve();
    assert_eq!(store.approved(project.root()).unwrap().len(), 2);
    assert!(store.revoke(project.root()).unwrap());
    assert!(!store.revoke(project.root()).unwrap());
    assert!(store.approved(project.root()).unwrap().is_empty());
    assert_eq!(store.approved(other.root()).unwrap().len(), 2);
}

#[test]
fn an_unreadable_store_loses_approvals() {
    for text in ["{", "[]", r#"{"version": 2, "projects": {}}"#] {
        let project = Project::new();
        project.approve();
        project.world.write("config/src/forge/trust.json", text);
        let approved = project.store().approve(&project.look());
        assert!(approved.unwrap_err().to_string().contains("trust.json` "));
        project.is_blocked("trust.json`");
    }
}

/// The hook is this test binary: what it tries is refused, and it says so.
#[test]
fn a_hook_cannot_approve() {
    const INNER: &str = "FORGE_HOOKS_TEST_APPROVES";
    let project = Project::new();
    if std::env::var_os(INNER).is_some() {
        let approved = project.store().approve(&project.look());
        let why = "from within a hook";
        assert!(approved.unwrap_err().to_string().contains(why));
        let revoked = project.store().revoke(project.root());
        assert!(revoked.unwrap_err().to_string().contains(why));
        return;
    }
    let binary = std::env::current_exe().unwrap();
    let test = "trust::a_hook_cannot_approve";
    let hook = Hook::program("*", [binary.to_str().unwrap(), "--exact", test]).unwrap();
    let result = World::new().one(hook.with_env(INNER, "1"));
    assert!(result.success(), "{}", result.stdout());
    assert!(result.stdout().contains("1 passed"), "{}", result.stdout());
}

/// Nothing can be approved in a place that is not there, or cannot be written down; it must not run for that.
#[test]
fn a_place_that_cannot_be_named_is_never_approved() {
    let project = Project::new();
    let missing = project.world.path("none");
    let approval = Approval::of(&missing, [] as [Hook; 0]);
    let why = "cannot find the project `";
    assert!(approval.unwrap_err().to_string().starts_with(why));
    assert!(project.load_at(missing).is_ok());
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"pro\xFFject");
        let odd = project.world.directory().join(name);
        std::fs::rename(project.root(), &odd).unwrap();
        let approval = Approval::of(&odd, project.config().load_project(&odd));
        assert!(approval.unwrap_err().to_string().starts_with(why));
        assert_eq!(project.load_at(&odd).unapproved.len(), 2);
        assert!(project.guard().results().is_empty());
    }
}

/// A hook in the background stops no others, in a dry run either.
#[cfg(feature = "cli")]
#[test]
fn a_background_hook_without_its_approval_stops_none() {
    let project = Project::new();
    let entry = |command: &str, more: &str| {
        format!(r#"{{"event": "tool:*", "command": "{command}"{more}}}"#)
    };
    let behind = entry("sh guard.sh", r#", "background": true"#);
    let text = format!(r#"{{"hooks": [{behind}, {}]}}"#, entry("exit 0", ""));
    project.world.write(PROJECT, &text);
    project.world.write("project/guard.sh", "true");
    project.approve();
    let hooks = Hooks::builder(AppProfile::default())
        .config_home(project.world.path("config"))
        .project(project.root())
        .load();
    project.world.write("project/guard.sh", "false");
    let foretold = foretold(&hooks);
    assert!(foretold[0].starts_with("\"fails\""), "{foretold:?}");
    assert_eq!(foretold[1..], ["\"runs\": null"]);
    assert!(hooks.execute(&blocking_event()).allowed());
}
