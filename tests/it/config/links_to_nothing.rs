//! A directory of hooks that is a link to nothing, or one that cannot be followed for another reason: its hooks are unknown,
//! which is not the same as none.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

use forge_hooks::compat::{AGENTS, OtherAgents};
use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::Approval;
use forge_hooks::{AppProfile, HookConfig, Hooks, LoadReport};

use crate::support::{World, blocking_event, config_of, hook};

const GOOD: &str = r#"{"hooks": [{"event": "*", "command": "true"}]}"#;

struct Place {
    world: World,
    /// The link, which is not a part of the problem's path if another file is reported.
    link: String,
}

impl Place {
    fn new(link: &str) -> Self {
        Self::leading_to("nowhere", link)
    }

    /// With a link to this path of the world.
    fn leading_to(target: &str, link: &str) -> Self {
        let world = World::new();
        world.write("file", "");
        for name in ["project/x", "home/x", "etc/x", "config/x", "plugin/x"] {
            world.write(name, "");
        }
        let place = Self {
            link: link.to_owned(),
            world,
        };
        place.dangle(target);
        place
    }

    fn dangle(&self, target: &str) {
        let link = self.world.path(&self.link);
        let _ = std::fs::remove_dir_all(&link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(self.world.path(target), link).unwrap();
    }

    /// Asserts that a load reports the link, and blocks.
    #[track_caller]
    fn assert_blocks(&self, why: &str) {
        let report = self.load(TrustPolicy::Everything);
        let link = self.world.path(&self.link);
        let expected = format!("`{}` is a link {why}", link.display());
        let is_named = |problem: &_| format!("{problem}").contains(&expected);
        let problems = &report.problems;
        assert!(problems.iter().any(is_named), "{}: {problems:?}", self.link);
        let outcome = self.world.outcome(&blocking_event());
        let reason = outcome.reason().unwrap_or_default();
        assert!(reason.contains(&expected), "{}: {reason}", self.link);
    }

    fn config(&self) -> HookConfig {
        let tools = OtherAgents::new(AGENTS)
            .with_home(self.world.path("home"))
            .with_plugin(self.world.path("plugin"))
            .with_strict_guards();
        let builder = Hooks::builder(AppProfile::default())
            .config_home(self.world.path("config"))
            .system_file(self.world.path("etc/forge/hooks.json"))
            .other_agents(tools);
        config_of(builder)
    }

    fn load(&self, policy: TrustPolicy) -> LoadReport {
        self.world.registry().clear();
        let root = self.world.path("project");
        self.config().load_into(self.world.registry(), root, policy)
    }
}

const DIRECTORIES: [&str; 15] = [
    "etc",
    "etc/forge",
    "config",
    "config/src",
    "config/src/forge",
    "config/src/opencode",
    "project/.src",
    "project/.src/forge",
    "home/.claude",
    "project/.claude",
    "project/.codex",
    "plugin",
    "plugin/hooks",
    "plugin/.claude-plugin",
    "plugin/.codex-plugin",
];

#[test]
fn hooks_in_a_directory_that_leads_nowhere_block() {
    for link in DIRECTORIES {
        let place = Place::new(link);
        place.assert_blocks("to nothing");
        std::fs::create_dir_all(place.world.path("nowhere")).unwrap();
        assert!(place.load(TrustPolicy::Everything).is_ok(), "{link}");
        assert!(place.world.outcome(&blocking_event()).allowed(), "{link}");
    }
}

#[test]
fn links_that_cannot_be_followed_block_too() {
    for link in DIRECTORIES {
        let in_a_loop = "that cannot be followed: Too many levels";
        Place::leading_to(link, link).assert_blocks(in_a_loop);
        let through_a_file = "that cannot be followed: Not a directory";
        Place::leading_to("file/below", link).assert_blocks(through_a_file);
        Place::leading_to("file", link).assert_blocks("to something that is not a directory");
    }
}

/// The file is one that a manifest names.
#[test]
fn a_plugin_whose_file_is_such_a_link_blocks() {
    let link = "plugin/hooks/guard.json";
    let in_a_loop = "is a link that cannot be followed: Too many levels";
    for (target, why) in [
        ("nowhere", "is a link to a file that does not exist"),
        (link, in_a_loop),
    ] {
        let place = Place::leading_to(target, link);
        let manifest = r#"{"hooks": "./hooks/guard.json"}"#;
        place
            .world
            .write("plugin/.claude-plugin/plugin.json", manifest);
        let _ = place.load(TrustPolicy::Everything);
        let outcome = place.world.outcome(&blocking_event());
        let reason = outcome.reason().unwrap_or_default();
        assert!(reason.contains(why), "{target}: {reason}");
    }
}

/// A file of another program, or a directory that is not there, is no directory of hooks.
#[test]
fn what_is_missing_without_a_link_has_no_hooks() {
    let place = Place::new("unrelated");
    place.world.write("project/.src", "a file");
    place.world.write("home/.claude", "a file");
    let report = place.load(TrustPolicy::Everything);
    assert!(report.problems.is_empty(), "{report:?}");
    assert!(place.world.outcome(&blocking_event()).allowed());
}

/// A project without an approval cannot block its host.
#[test]
fn a_link_of_a_clone_blocks_only_what_was_approved() {
    let place = Place::new("project/.src");
    let root = place.world.path("project");
    let store = place.config().trust_store().unwrap();
    let report = place.load(TrustPolicy::Approved(store.clone()));
    assert!(!report.is_ok(), "{report:?}");
    assert!(place.world.outcome(&blocking_event()).allowed());

    std::fs::remove_file(place.world.path("project/.src")).unwrap();
    place.world.write("project/.src/forge/hooks.json", GOOD);
    let approval = Approval::of(&root, place.config().load_project(&root)).unwrap();
    store.approve(&approval).unwrap();
    assert!(place.load(TrustPolicy::Approved(store.clone())).is_ok());
    assert!(place.world.outcome(&blocking_event()).allowed());
    place.dangle("nowhere");
    let _ = place.load(TrustPolicy::Approved(store));
    assert!(place.world.outcome(&blocking_event()).blocked().is_some());
}

/// Without them, approved guards would be skipped.
#[test]
fn approvals_behind_such_a_link_are_unknown() {
    let place = Place::new("config/src/forge");
    place.world.write("project/.src/forge/hooks.json", GOOD);
    let store = place.config().trust_store().unwrap();
    let root = place.world.path("project");
    let error = store.approved(&root).unwrap_err();
    let expected = "the trust store `";
    assert!(error.to_string().starts_with(expected), "{error:?}");
    let expected = format!(
        "`{}` is a link to nothing",
        place.world.path("config/src/forge").display()
    );
    assert!(error.to_string().contains(&expected), "{error}");
    let approval = Approval::of(&root, place.config().load_project(&root)).unwrap();
    assert!(store.approve(&approval).is_err());
    let _ = place.load(TrustPolicy::Approved(store));
    assert!(place.world.outcome(&blocking_event()).blocked().is_some());
    assert!(!place.world.path("nowhere").exists());
}

#[test]
fn nothing_is_saved_behind_such_a_link() {
    let place = Place::new("config/src/forge");
    let error = place.config().save_global([hook("*", "true")]).unwrap_err();
    assert!(error.to_string().starts_with("cannot write `"), "{error:?}");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("is a link to nothing"), "{source}");
    assert!(!place.world.path("nowhere").exists());
}

/// The project within another one is found although nobody knows its hooks.
#[test]
fn a_project_that_cannot_be_read_is_found() {
    const BELOW: &str = "project/below";
    let found = |place: &Place| {
        let hooks = forge_hooks::Hooks::builder(forge_hooks::AppProfile::default())
            .config_home(place.world.path("config"))
            .discover_project(place.world.path("project/below/deep"))
            .load();
        hooks.project().unwrap().to_owned()
    };
    let link = format!("{BELOW}/.src");
    let in_a_loop = format!("{BELOW}/.src/forge/hooks.json");
    for (target, link) in [
        ("nowhere", &link),
        (&link, &link),
        ("file", &link),
        (&in_a_loop, &in_a_loop),
        // Without it, the project would be a directory below it.
        ("nowhere", &format!("{BELOW}/.git")),
    ] {
        let place = Place::leading_to(target, link);
        place.world.write("project/.git", "gitdir: elsewhere");
        std::fs::create_dir_all(place.world.path("project/below/deep")).unwrap();
        let below = place.world.path(BELOW).canonicalize().unwrap();
        assert_eq!(found(&place), below, "{link} to {target}");
    }
    let place = Place::new("unrelated");
    place.world.write("project/.git", "gitdir: elsewhere");
    std::fs::create_dir_all(place.world.path("project/below/deep")).unwrap();
    place.world.write(&in_a_loop, GOOD);
    let closed = place.world.path(&link);
    let set_mode = |mode| std::fs::set_permissions(&closed, Permissions::from_mode(mode));
    // Only root can read it.
    set_mode(0o000).unwrap();
    let project = found(&place);
    set_mode(0o755).unwrap();
    assert_eq!(project, place.world.path(BELOW).canonicalize().unwrap());
}
