//! `fire --as`: fires an event of another tool at the hooks that this tool would run.
//!
//! Does not know the meaning of their answers.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Firing, event};
use crate::cli::args::Fire;
use crate::cli::context::{Context, absolute};
use crate::cli::entries::{place, title};
use crate::cli::error::{Ended, Failure, placed_json_words};
use crate::cli::terminal::Terminal;
use crate::compat::{EventError, Tool};
use crate::{Decision, FireOptions, HookEvent, HookResult, Outcome};

/// What `forge-hooks fire --as TOOL --json` prints.
#[derive(Serialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "fire-as"))]
pub(crate) struct Report {
    decision: Answer,
    /// The reason of the decision.
    reason: Option<String>,
    /// Text for the model.
    context: Option<String>,
    /// After a tool, the hooks' feedback for the model.
    feedback: Option<String>,
    /// Messages for the user.
    system_messages: Vec<String>,
    /// Whether a hook ends the turn.
    stop: bool,
    stop_reason: Option<String>,
    /// The tool's input as hooks have replaced it.
    updated_input: Option<Map<String, Value>>,
    /// The tool's output as hooks have replaced it.
    updated_output: Option<Value>,
    /// The number of hooks that ran.
    ran: usize,
    /// The messages of all failures, also of timeouts.
    errors: Vec<String>,
    timeouts: usize,
    /// Problems of the files, and answers that probably do not mean what their author expects.
    diagnostics: Vec<String>,
    /// The result of each hook, also of those in the background.
    #[cfg_attr(test, schemars(with = "Vec<crate::cli::shape_tests::Result>"))]
    results: Vec<HookResult>,
}

#[derive(Serialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum Answer {
    #[default]
    None,
    Allow,
    Ask,
    Deny,
}

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
    let mut report = Report::default();
    report
        .diagnostics
        .extend(problems.problems.iter().map(ToString::to_string));
    if let Some(variable) = context.disabled_by() {
        report.note(format!("no hook runs: `{variable}` is set"), terminal)?;
    }
    let mut interrupted = None;
    let mut allowed = true;
    match input {
        Input::Event(event) => {
            let options = FireOptions::default().handles_ask();
            let firing = Firing {
                context,
                hooks: &hooks,
                options,
                is_json: args.json,
            };
            let pass = firing.pass(event, true, terminal)?;
            interrupted = pass.interrupted;
            allowed = pass.outcome.allowed();
            report.updated_input = whole_input(&pass.event, &pass.outcome);
            report.take(&pass.outcome, pass.background);
        }
        Input::NotFired(why) => report.note(why, terminal)?,
    }
    if args.json {
        terminal.json(&report)?;
    }
    // A hook that stops the turn may do so without a decision.
    let is_fine = allowed && matches!(report.decision, Answer::None | Answer::Allow);
    Ok(interrupted.map_or(Ended::fine_if(is_fine), Ended::Interrupted))
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

impl Report {
    fn note(&mut self, words: String, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
        terminal.note(&words)?;
        self.diagnostics.push(words);
        Ok(())
    }

    fn take(&mut self, outcome: &Outcome, background: Vec<HookResult>) {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        (self.decision, self.reason) = match outcome.decision() {
            Some(Decision::Block) => (Answer::Deny, owned(outcome.reason())),
            Some(Decision::Ask) => (
                Answer::Ask,
                outcome.asks().and_then(|it| owned(it.reason())),
            ),
            Some(Decision::Allow) => (Answer::Allow, reason_to_allow(outcome)),
            None => (Answer::None, None),
        };
        self.context = outcome.additional_context();
        self.feedback = outcome.feedback();
        self.system_messages = outcome
            .system_messages()
            .into_iter()
            .map(str::to_owned)
            .collect();
        self.stop = outcome.stops_turn();
        self.stop_reason = owned(outcome.stop_reason());
        self.updated_output = outcome.updated_output();
        self.results = outcome.results().to_vec();
        self.results.extend(background);
        for result in &self.results {
            self.ran += usize::from(result.started());
            self.timeouts += usize::from(result.timed_out);
            self.errors.extend(error_of(result));
            let named = named_hook(result);
            let diagnostics = result.diagnostics().iter();
            self.diagnostics
                .extend(diagnostics.map(|words| format!("{named}: {words}")));
        }
    }
}

fn reason_to_allow(outcome: &Outcome) -> Option<String> {
    let mut outputs = outcome.results().iter().filter_map(HookResult::output);
    let allowing = outputs.find(|output| output.decision == Some(Decision::Allow));
    allowing?.reason.clone()
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
