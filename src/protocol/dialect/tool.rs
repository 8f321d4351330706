//! The protocol of another tool's hooks: what such a hook receives, and what its end means.
//!
//! Joins the parts beside it; does not know how a process is started.

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::NamedTempFile;

use super::answer::{Strictness, read_foreign_answer};
use super::conclusion::HookEnd;
use super::input::{payload, session_dir};
use super::variables::foreign_variables;
use crate::events::HookEvent;
use crate::hook::{
    Answer, Call, Decision, Dialect, End, Failure, FailureKind, FailurePolicy, Foreign,
    HookCommand, HookOutput, Order, Protocol, ProtocolMismatch, Start,
};
use crate::process::Args;
use crate::protocol::command::{command_line, posix, program};
use crate::protocol::names::{is_of_other_tool, variables_in};

/// Real hooks use `[[` and arrays, at which another shell ends with exit code 2, and so blocks.
static HAS_BASH: LazyLock<bool> = LazyLock::new(|| {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join("bash").is_file())
});

impl Protocol for Foreign {
    fn name(&self) -> &str {
        self.dialect().as_str()
    }

    fn definition(&self) -> Value {
        self.to_json()
    }

    fn mismatch<'a>(&'a self, event: &'a HookEvent) -> Option<ProtocolMismatch<'a>> {
        if self.is_met(event) {
            return None;
        }
        let (key, expected) = self.expected(event);
        Some(ProtocolMismatch::new(key, expected, self.subject(event)))
    }

    fn prepare<'a>(&'a self, call: &Call<'a>) -> Result<Start<'a>, Failure> {
        let (event, project) = (call.event, call.working_dir);
        let (program, args) = command_line_of(self, call)?;
        let working_dir = match session_dir(event) {
            // A project's hook was approved for the files of the project's root.
            Some(directory) if call.hook.gate().is_none() && directory.is_dir() => directory,
            _ => project,
        };
        let mut start = Start::with_args(program, args).timeout(self.event().timeout);
        for (name, value) in foreign_variables(self, event, project, working_dir) {
            start = start.variable(name, value);
        }
        start.env_file = env_file(self)?;
        if let Some(file) = &start.env_file {
            let path = file.path().to_string_lossy().into_owned();
            start
                .variables
                .push(("CLAUDE_ENV_FILE".into(), path.into()));
        }
        // A login shell may change what a command means.
        start.may_be_direct = self.dialect() != Dialect::Codex;
        start.stdin = Some(Cow::Owned(payload(self, event, working_dir)));
        Ok(start.working_dir(working_dir))
    }

    fn read(&self, call: &Call<'_>, _start: &Start<'_>, end: &End<'_>) -> Answer {
        let is_lost = end.gap.is_some() && end.stdout.trim_start().starts_with('{');
        let ended = HookEnd {
            code: end.code.unwrap_or(-1),
            stdout: if is_lost { "" } else { end.stdout },
            stderr: end.stderr,
        };
        let strictness = match call.hook.on_failure() {
            _ if !call.can_block => Strictness::CannotBlock,
            FailurePolicy::Continue => Strictness::Lenient,
            FailurePolicy::Block | FailurePolicy::Withhold => Strictness::Strict,
        };
        let mut conclusion =
            read_foreign_answer(self.dialect(), self.event().name, strictness, &ended);
        if is_lost && !conclusion.replaces_exit_code {
            let words = "it is longer than what is kept of the output".to_owned();
            // The tool would have read it, so this failure blocks even if the tool ignores failures.
            if call.can_block && !call.event.event_type.is_agent_stop() {
                let reason = format!("the hook's answer cannot be used: {words}");
                conclusion.output.decision = Some(Decision::Block);
                conclusion.output.reason = Some(reason);
            } else {
                conclusion.unusable = Some(words);
            }
        }
        Answer {
            output: Some(conclusion.output).filter(|output| *output != HookOutput::default()),
            replaces_exit_code: conclusion.replaces_exit_code,
            invalid: conclusion.unusable,
            notes: conclusion.diagnostics,
        }
    }

    fn order(&self) -> Order {
        match self.dialect() {
            Dialect::Codex => Order::in_parallel(),
            _ => Order::in_parallel().once(),
        }
    }
}

/// Returns the command line, with the shell that the tool takes where none is named. In the arguments of a program,
/// `${CLAUDE_PROJECT_DIR}` and similar names are replaced.
fn command_line_of(foreign: &Foreign, call: &Call<'_>) -> Result<(OsString, Args), Failure> {
    match call.hook.command() {
        HookCommand::Program(words) => {
            let expanded = |word: &String| {
                let word = foreign.expanded(word, call.working_dir);
                word.into_owned().into()
            };
            Ok(program(words.iter().map(expanded)))
        }
        HookCommand::Shell { text, shell: None } if cfg!(unix) => Ok(match foreign.dialect() {
            Dialect::Codex => {
                let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
                posix(shell.unwrap_or_else(|| "/bin/sh".into()), "-lc", text)
            }
            _ if *HAS_BASH => posix("bash", "-c", text),
            _ => posix("/bin/sh", "-c", text),
        }),
        command => command_line(command, |text| {
            variables_in(text).find(|name| is_of_other_tool(name))
        }),
    }
}

fn env_file(foreign: &Foreign) -> Result<Option<NamedTempFile>, Failure> {
    let has_one = foreign.dialect() == Dialect::Claude && foreign.event().name == "SessionStart";
    if !has_one {
        return Ok(None);
    }
    let named = tempfile::Builder::new()
        .prefix("forge-hooks-env-")
        .tempfile();
    named.map(Some).map_err(|error| {
        let words = format!("cannot create the file for `CLAUDE_ENV_FILE`: {error}");
        Failure::new(FailureKind::NotStarted, words)
    })
}
