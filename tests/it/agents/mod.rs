//! `forge-hooks hook`: the hooks of hooks.json under other agents, as these start it.

mod answers;
mod codex;
mod doctor;
mod faults;
mod install;
mod recording;
mod sessions;
mod tools;

use std::process::Command;

use serde_json::{Value, json};

use crate::program::{Printed, User};

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
