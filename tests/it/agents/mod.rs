//! `forge-hooks hook`: the hooks of hooks.json under other agents, as these start it.

mod answers;
mod codex;
mod faults;
mod fire;
mod install;
mod newer;
mod packs;
mod reach;
mod recording;
mod registration;
mod said;
mod sessions;
mod tools;
mod unseen;

use std::process::Command;

use serde_json::{Value, json};

use crate::program::{Printed, User};

/// The facts of an agent that its tests need.
struct Agent {
    name: &'static str,
    /// Its file with the registered commands, below the home directory.
    file: &'static str,
    /// Its event before a tool.
    before: &'static str,
    /// Its event at the end of a turn.
    stop: &'static str,
    /// Its tool that runs a shell command.
    shell: &'static str,
    /// The timeout of that event in its file, in the unit that it reads, and in seconds.
    timeout: (u64, &'static str),
    /// The variable that moves its files, and its usual value.
    moved_by: (&'static str, &'static str),
}

/// The agents with handlers in JSON; `newer.rs` has the others. A test beside the agents' rows finds one that is in neither.
const AGENTS: [Agent; 5] = [
    Agent {
        name: "claude",
        file: ".claude/settings.json",
        before: "PreToolUse",
        stop: "Stop",
        shell: "Bash",
        timeout: (600, "600"),
        moved_by: ("CLAUDE_CONFIG_DIR", "home/.claude"),
    },
    Agent {
        name: "codex",
        file: ".codex/hooks.json",
        before: "PreToolUse",
        stop: "Stop",
        shell: "Bash",
        timeout: (600, "600"),
        moved_by: ("CODEX_HOME", "home/.codex"),
    },
    Agent {
        name: "gemini",
        file: ".gemini/settings.json",
        before: "BeforeTool",
        stop: "AfterAgent",
        shell: "run_shell_command",
        timeout: (60_000, "60"),
        moved_by: ("GEMINI_CLI_HOME", "home"),
    },
    Agent {
        name: "copilot",
        file: ".copilot/hooks/forge-hooks.json",
        before: "PreToolUse",
        stop: "Stop",
        shell: "Bash",
        timeout: (600, "600"),
        moved_by: ("COPILOT_HOME", "home/.copilot"),
    },
    Agent {
        name: "qwen",
        file: ".qwen/settings.json",
        before: "PreToolUse",
        stop: "Stop",
        shell: "run_shell_command",
        timeout: (60, "60"),
        moved_by: ("QWEN_HOME", "home/.qwen"),
    },
];

/// The arguments that run a command for all agents without a question.
fn for_all(command: &str) -> Vec<&str> {
    let names = AGENTS.iter().map(|agent| agent.name);
    [command]
        .into_iter()
        .chain(names)
        .chain(["--yes"])
        .collect()
}

impl User {
    /// The command that is registered for an event of an agent.
    pub(crate) fn registered(&self, agent: &str, event: &str) -> Command {
        let mut command = self.command(&["hook", agent, event]);
        std::fs::create_dir_all(self.path("config")).unwrap();
        command.arg("--home").arg(self.path("home"));
        command.arg("--config-home").arg(self.path("config"));
        // One that is registered with less has it once more, at the end.
        command.args(["--timeout", "60"]);
        command
            .arg("--path")
            .arg(std::env::var_os("PATH").unwrap_or_default());
        command
    }

    /// Lets an agent fire an event with these fields, and returns the answer.
    pub(crate) fn fired(&self, agent: &str, event: &str, fields: &Value) -> Printed {
        self.fired_with(agent, event, fields, &[])
    }

    /// The same, with these words at the end of the registered command.
    pub(crate) fn fired_with(
        &self,
        agent: &str,
        event: &str,
        fields: &Value,
        words: &[&str],
    ) -> Printed {
        let mut input =
            json!({"session_id": "s1", "cwd": self.project(), "hook_event_name": event});
        let members = fields.as_object().unwrap().clone();
        input.as_object_mut().unwrap().extend(members);
        let mut command = self.registered(agent, event);
        command.args(words);
        self.feed(command, &input.to_string())
    }

    /// Writes the user's hooks.json.
    pub(crate) fn has_hooks(&self, hooks: &Value) {
        let file = json!({"hooks": hooks});
        self.write("config/forge-hooks/hooks.json", &file.to_string());
    }
}
