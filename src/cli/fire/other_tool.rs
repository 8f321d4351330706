//! `fire --as`: fires an event of another tool at the hooks that this tool would run.
//!
//! Does not know the meaning of their answers.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{Firing, event};
use crate::cli::args::Fire;
use crate::cli::context::{Context, absolute};
use crate::cli::ended::Ended;
use crate::cli::error::{Failure, placed_json_words};
use crate::cli::sources::{place, title};
use crate::cli::terminal::Terminal;
use crate::compat::{EventError, Tool};
use crate::{Decision, EventType, FireOptions, HookEvent, HookResult, Outcome};

pub(super) fn run(
    tool: &'static Tool,
    args: &Fire,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    if !context.common.config.is_empty() {
        let words = "`--config` names hooks of this program, not of another tool";
        return Err(Failure::new(words).with_fix("name the tool's file with `--settings FILE`"));
    }
    let Some(file) = args.event_json.as_deref() else {
        let words = format!("`--as {tool}` needs `--event-json FILE`, and no EVENT");
        let example = format!("fire --as {tool} --event-json event.json");
        let fix = format!("write it as in `{}`", context.command(&example));
        return Err(Failure::new(words).with_fix(fix));
    };
    let input = read(tool, file, terminal)?;
    let hooks = context.load_as(tool, &named(args)?)?;
    let problems = hooks.report();
    if !args.json {
        terminal.problems(&problems)?;
    }
    let problems = problems.problems.iter();
    let mut report = Report {
        diagnostics: problems.map(ToString::to_string).collect(),
        ..Report::default()
    };
    if let Some(variable) = context.disabled_by() {
        report.note(format!("no hook runs: `{variable}` is set"), terminal)?;
    }
    let mut interrupted = None;
    match input {
        Input::Event(event) => {
            // From here on Ctrl-C ends the hooks, not only this program.
            let _ = terminal.interrupted();
            let firing = Firing {
                context,
                hooks: &hooks,
                options: FireOptions::default().handles_ask(),
                is_json: args.json,
            };
            let pass = firing.pass(event, true, terminal)?;
            interrupted = pass.interrupted;
            report.updated_input = whole_input(&pass.event, &pass.outcome);
            report.take(&pass.outcome, pass.background);
        }
        Input::NotFired(why) => report.note(why, terminal)?,
    }
    if args.json {
        terminal.json(&report.to_json())?;
    }
    Ok(match (interrupted, report.decision) {
        (Some(status), _) => Ended::Interrupted(status),
        (None, "deny" | "ask") => Ended::Problems,
        (None, _) => Ended::Fine,
    })
}

enum Input {
    Event(HookEvent),
    /// The tool has this event, but no host fires it; with the reason.
    NotFired(String),
}

fn read(tool: &'static Tool, file: &Path, terminal: &mut Terminal<'_>) -> Result<Input, Failure> {
    let text = event::text_of(file, terminal)?;
    let fix = "write it as the tool does: {\"hook_event_name\": \"SessionStart\", ...}";
    let payload: Value = serde_json::from_str(&text)
        .map_err(|error| event::cannot_read(file, placed_json_words(&error)).with_fix(fix))?;
    match tool.event(payload) {
        Ok(event) => Ok(Input::Event(event)),
        Err(error @ EventError::NotFired { .. }) => Ok(Input::NotFired(error.to_string())),
        Err(error) => Err(event::cannot_read(file, error).with_fix(fix)),
    }
}

/// Returns the files and plugins of the command line.
fn named(args: &Fire) -> Result<Vec<PathBuf>, Failure> {
    let mut named = absolute("--settings", &args.settings)?;
    for file in &named {
        if file.is_dir() {
            let words = format!("`--settings {}` is a directory", file.display());
            return Err(Failure::new(words).with_fix("name a plugin with `--plugin DIR`"));
        }
    }
    for directory in absolute("--plugin", &args.plugin)? {
        if !directory.is_dir() {
            let words = format!("`--plugin {}` is not a directory", directory.display());
            return Err(Failure::new(words).with_fix("name a file with `--settings FILE`"));
        }
        named.push(directory);
    }
    Ok(named)
}

/// The result of the event for programs, as described by `schemas/fire-as.schema.json`.
struct Report {
    decision: &'static str,
    outcome: Outcome,
    updated_input: Option<Map<String, Value>>,
    background: Vec<HookResult>,
    diagnostics: Vec<String>,
}

/// The report of an event without hooks.
impl Default for Report {
    fn default() -> Self {
        Self {
            decision: "none",
            outcome: Outcome::new(EventType::SessionEnd, Vec::new()),
            updated_input: None,
            background: Vec::new(),
            diagnostics: Vec::new(),
        }
    }
}

impl Report {
    fn note(&mut self, words: String, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
        terminal.note(&words)?;
        self.diagnostics.push(words);
        Ok(())
    }

    fn take(&mut self, outcome: &Outcome, background: Vec<HookResult>) {
        self.decision = match outcome.decision() {
            Some(Decision::Block) => "deny",
            Some(Decision::Ask) => "ask",
            Some(Decision::Allow) => "allow",
            None => "none",
        };
        self.outcome = outcome.clone();
        self.background = background;
        for result in outcome.results().iter().chain(&self.background) {
            for words in result.diagnostics() {
                let words = format!("{}: {words}", named_hook(result));
                self.diagnostics.push(words);
            }
        }
    }

    fn reason(&self) -> Option<&str> {
        match self.decision {
            "deny" => self.outcome.reason(),
            "ask" => self.outcome.asks()?.reason(),
            "allow" => {
                let mut outputs = self.outcome.results().iter().filter_map(HookResult::output);
                let allowing = outputs.find(|it| it.decision == Some(Decision::Allow));
                allowing?.reason.as_deref()
            }
            _ => None,
        }
    }

    fn to_json(&self) -> Value {
        let outcome = &self.outcome;
        let results: Vec<_> = outcome.results().iter().chain(&self.background).collect();
        let ran = results.iter().filter(|result| result.started());
        let errors = results.iter().filter_map(|result| error_of(result));
        let timeouts = results.iter().filter(|result| result.timed_out);
        json!({
            "decision": self.decision,
            "reason": self.reason(),
            "context": outcome.additional_context(),
            "feedback": outcome.feedback(),
            "system_messages": outcome.system_messages(),
            "stop": outcome.stops_turn(),
            "stop_reason": outcome.stop_reason(),
            "updated_input": self.updated_input,
            "updated_output": outcome.updated_output(),
            "ran": ran.count(),
            "errors": errors.collect::<Vec<_>>(),
            "timeouts": timeouts.count(),
            "diagnostics": self.diagnostics,
            "results": results,
        })
    }
}

/// Returns the tool's whole input with the changes of the hooks, if there are any.
fn whole_input(event: &HookEvent, outcome: &Outcome) -> Option<Map<String, Value>> {
    let changes = outcome.updated_input()?;
    let Some(Value::Object(input)) = event.data.get("tool_args") else {
        return Some(changes);
    };
    Some(
        outcome
            .changed_input(input)
            .unwrap_or_else(|| input.clone()),
    )
}

/// Names a hook with its place, since many hooks of a file have the same title.
fn named_hook(result: &HookResult) -> String {
    format!("hook `{}` ({})", title(&result.hook), place(&result.hook))
}

/// Describes the failure of a hook, with its standard error.
fn error_of(result: &HookResult) -> Option<String> {
    let failure = result.failure?;
    let error = result.error.as_deref().unwrap_or(failure.as_str());
    let mut words = format!("{}: {error}", named_hook(result));
    let complaint = result.stderr.trim();
    if !complaint.is_empty() {
        words += &format!(": {complaint}");
    }
    Some(words)
}
