//! Hooks files of other tools: which are found, what is read of them, what is printed of them.

mod approval;
mod diagnostics;
mod guards;
mod limits;
mod loading;

use std::path::PathBuf;

use forge_hooks::compat::{self, OtherTools};
use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::{Approval, TrustStore};
use forge_hooks::{Hook, HookConfig, LoadReport};

use crate::support::World;

/// A home and a project with files of other tools.
pub(crate) struct Place {
    pub(crate) world: World,
}

impl Place {
    pub(crate) fn new<const N: usize>(files: [(&str, &str); N]) -> Self {
        let world = World::new();
        std::fs::create_dir_all(world.path("project")).unwrap();
        for (name, text) in files {
            world.write(name, text);
        }
        Self { world }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.world.path("project")
    }

    pub(crate) fn tools(&self) -> OtherTools {
        OtherTools::new(compat::TOOLS).with_home(self.world.path("home"))
    }

    pub(crate) fn config(&self) -> HookConfig {
        self.config_with(self.tools())
    }

    pub(crate) fn config_with(&self, tools: OtherTools) -> HookConfig {
        let config = HookConfig::default().with_config_home(self.world.path("config"));
        config.with_other_tools(tools)
    }

    /// Approves the project's hooks as they are.
    pub(crate) fn approved(&self, config: &HookConfig) -> TrustStore {
        let store = config.trust_store().unwrap();
        let hooks = config.load_project(self.root());
        store
            .approve(&Approval::of(self.root(), hooks).unwrap())
            .unwrap();
        store
    }

    pub(crate) fn load_with(&self, config: &HookConfig, policy: TrustPolicy) -> LoadReport {
        self.world.registry().clear();
        config.load_into(self.world.registry(), self.root(), policy)
    }

    pub(crate) fn load(&self) -> LoadReport {
        self.load_with(&self.config(), TrustPolicy::Everything)
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        let hooks = self.world.registry().hooks();
        hooks
            .iter()
            .map(|hook| hook.command().to_string())
            .collect()
    }

    /// The problems, each on a line, with names of files as they were given.
    pub(crate) fn problems(&self, report: &LoadReport) -> Vec<String> {
        let directory = format!(
            "{}{}",
            self.world.directory().display(),
            std::path::MAIN_SEPARATOR
        );
        let problems = report.problems.iter();
        problems
            .map(|it| it.to_string().replace(&directory, ""))
            .collect()
    }
}

/// A settings file with one handler for an event.
pub(crate) fn settings(event: &str, matcher: &str, handler: &str) -> String {
    format!(r#"{{"hooks": {{"{event}": [{{"matcher": "{matcher}", "hooks": [{handler}]}}]}}}}"#)
}

pub(crate) fn command(text: &str) -> String {
    format!(r#"{{"type": "command", "command": "{text}"}}"#)
}

/// The one hook of a project's file of Claude Code with this handler.
#[track_caller]
pub(crate) fn one(handler: &str) -> Hook {
    let text = settings("PreToolUse", "Bash", handler);
    let place = Place::new([("project/.claude/settings.json", text.as_str())]);
    let report = place.load();
    let hooks = place.world.registry().hooks();
    assert_eq!(hooks.len(), 1, "{report:?}");
    Hook::clone(&hooks[0])
}
