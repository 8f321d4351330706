//! The protocol of hooks.json: the event in the environment and on standard input, and an answer in JSON.
//!
//! Does not know how a process is started.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::answer::{ParsedOutput, read};
use super::call::Call;
use super::command::command_line;
use super::echo::check_echo;
use super::environment::Naming;
use super::exchange::{Exit, Launch};
use super::interface::Protocol;
use super::may::word_for;
use super::resident::{LONGEST_EVENT, event_line, new_id};
use crate::entry::{Decision, Failure, FailureKind, FailurePolicy, Reading, Stdin};

/// The protocol of hooks.json, with the names of a host.
#[derive(Debug)]
pub(crate) struct Native {
    naming: Naming,
}

impl Native {
    pub(crate) fn new(naming: Naming) -> Self {
        Self { naming }
    }

    pub(crate) fn naming(&self) -> &Naming {
        &self.naming
    }
}

impl Protocol for Native {
    fn name(&self) -> &str {
        "native"
    }

    fn definition(&self) -> Value {
        json!({})
    }

    fn prepare<'a>(&'a self, call: &Call<'a>) -> Result<Launch<'a>, Failure> {
        /// A number of variables that most hooks do not exceed. They take less than a kibibyte: for a larger allocation
        /// glibc goes through all free memory, which costs as much as the rest of this function.
        const USUAL: usize = 20;
        let is_of_event = |name: &str| self.naming.can_be_of_event(name);
        let (program, args) = command_line(call.hook.command, is_of_event)?;
        let mut launch = Launch::new(program, args);
        launch.may_be_direct = true;
        launch.variables.reserve(USUAL);
        let variables = &mut launch.variables;
        if call.hook.options.resident {
            self.naming.add_for_resident(call.working_dir, variables);
            let id = new_id();
            launch.stdin = Some(Cow::Owned(line(call, &id)?.into_bytes()));
            launch.id = Some(id);
            return Ok(launch);
        }
        let event = call.variables(&self.naming);
        event.add(variables);
        self.naming.add_directory(call.working_dir, variables);
        event.check(call.hook.options, call.can_block)?;
        if call.hook.options.stdin == Stdin::Json {
            launch.stdin = Some(Cow::Borrowed(call.json().as_bytes()));
        }
        Ok(launch)
    }

    fn read(&self, call: &Call<'_>, exit: &Exit<'_>) -> Reading {
        // Any output of a hook that redacts the output of a tool is intended to replace it.
        let redacts = call.hook.options.on_failure == FailurePolicy::Withhold;
        let is_strict = redacts && exit.code == Some(0);
        let read = read(exit.stdout_bytes, exit.gap, is_strict);
        let options = call.hook.options;
        let widens = |name: &str, value: &Value| {
            word_for(name, value, call.event).is_some_and(|word| options.may_do(word))
        };
        let checked = read.and_then(|parsed| match &parsed.answer {
            Some(answer) => check_echo(call.event, answer, widens).map(|()| parsed),
            None => Ok(parsed),
        });
        match checked {
            Ok(mut parsed) => {
                parsed.notes.extend(contradiction(exit, &parsed));
                Reading {
                    output: parsed.output,
                    warnings: parsed.warnings,
                    notes: parsed.notes,
                    ..Reading::default()
                }
            }
            Err(why) => Reading::invalid(why),
        }
    }
}

/// Returns a note if the answer allows and the exit code does not.
fn contradiction(exit: &Exit<'_>, parsed: &ParsedOutput) -> Option<String> {
    let code = exit.code.filter(|code| *code != 0)?;
    let output = parsed.output.as_ref()?;
    let allows = output.decision == Some(Decision::Allow);
    let note = format!(
        "it answered `allow` and exited with code {code}, which is a failure: to allow, exit with 0"
    );
    allows.then_some(note)
}

/// Returns the event as the line for a resident hook.
fn line(call: &Call<'_>, id: &str) -> Result<String, Failure> {
    let line = event_line(call.json(), id);
    if line.len() > LONGEST_EVENT {
        let error = format!(
            "the event is too large for a resident hook: {} bytes, and at most {LONGEST_EVENT} are allowed",
            line.len()
        );
        return Err(Failure::new(FailureKind::EventTooLarge, error));
    }
    Ok(line)
}
