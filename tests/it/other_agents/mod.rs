//! Hooks files of other agents: which are found, what is read of them, what is printed of them.

mod approval;
mod decisions;
mod diagnostics;
mod guards;
mod limits;
mod loading;
mod run;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;

use forge_hooks::compat::{self, Agent, OtherAgents};
use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::{Approval, TrustStore};
use forge_hooks::{AppProfile, Hook, HookConfig, Hooks, LoadReport};

use crate::support::{World, config_of};

const CLAUDE: &str = "project/.claude/settings.json";
const CODEX: &str = "project/.codex/hooks.json";

/// A home and a project with files of other agents.
struct Place {
    world: World,
}

impl Place {
    fn new<const N: usize>(files: [(&str, &str); N]) -> Self {
        let world = World::new();
        std::fs::create_dir_all(world.path("project")).unwrap();
        for (name, text) in files {
            world.write(name, text);
        }
        Self { world }
    }

    fn root(&self) -> PathBuf {
        self.world.path("project")
    }

    fn tools(&self) -> OtherAgents {
        self.tools_of(&compat::AGENTS)
    }

    fn tools_of(&self, agents: &[&'static Agent]) -> OtherAgents {
        let tools = OtherAgents::new(agents.iter().copied());
        tools.with_home(self.world.path("home"))
    }

    fn config(&self) -> HookConfig {
        self.config_with(self.tools())
    }

    fn config_with(&self, tools: OtherAgents) -> HookConfig {
        let builder = Hooks::builder(AppProfile::default()).config_home(self.world.path("config"));
        config_of(builder.other_agents(tools))
    }

    fn store(&self) -> TrustStore {
        self.config().trust_store().unwrap()
    }

    /// Approves the project's hooks as they are.
    fn approve(&self) -> Approval {
        let hooks = self.config().load_project(self.root());
        let approval = Approval::of(self.root(), hooks).unwrap();
        self.store().approve(&approval).unwrap();
        approval
    }

    fn load_with(&self, config: &HookConfig, policy: TrustPolicy) -> LoadReport {
        self.world.registry().clear();
        config.load_into(self.world.registry(), self.root(), policy)
    }

    /// Loads the hooks of these agents, approved or not.
    fn load_tools(&self, tools: OtherAgents) -> LoadReport {
        self.load_with(&self.config_with(tools), TrustPolicy::Everything)
    }

    fn load(&self) -> LoadReport {
        self.load_tools(self.tools())
    }

    fn load_approved(&self) -> LoadReport {
        self.load_with(&self.config(), TrustPolicy::Approved(self.store()))
    }

    fn hooks(&self) -> Vec<Arc<Hook>> {
        self.world.registry().hooks()
    }

    fn commands(&self) -> Vec<String> {
        let hooks = self.hooks();
        hooks.iter().map(|hook| hook.command()).collect()
    }

    /// The problems, each on a line, with names of files as they were given.
    fn problems(&self, report: &LoadReport) -> Vec<String> {
        let directory = format!("{}/", self.world.directory().display());
        let problems = report.problems.iter();
        problems
            .map(|problem| problem.to_string().replace(&directory, ""))
            .collect()
    }
}

/// A settings file with one handler for an event.
fn settings(event: &str, matcher: &str, handler: &str) -> String {
    groups(
        event,
        &format!(r#"{{"matcher": "{matcher}", "hooks": [{handler}]}}"#),
    )
}

/// A settings file with these groups for an event.
fn groups(event: &str, groups: &str) -> String {
    format!(r#"{{"hooks": {{"{event}": [{groups}]}}}}"#)
}

fn command(text: &str) -> String {
    format!(r#"{{"type": "command", "command": "{text}"}}"#)
}
