//! `fire --as`: fires an event of another tool at the hooks that this tool would run.
//!
//! Does not know the meaning of their answers.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value};

use super::event;
use super::firing::{Firing, Pass};
use crate::cli::args::Fire;
use crate::cli::context::existing;
use crate::cli::entries::{place, title};
use crate::cli::error::placed_json_words;
use crate::cli::{Context, Done, Exit, Failure, Terminal};
use crate::compat::{EventError, Tool};
use crate::{Decision, FireOptions, HookEvent, HookResult, Outcome};

/// What `forge-hooks fire --as TOOL --json` prints.
#[derive(Serialize, Default)]
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
    results: Vec<HookResult>,
}

#[derive(Serialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
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
) -> Done {
    if !context.common.config.is_empty() {
        let words = "`--config` names hooks of this program, not of another tool";
        return Err(Failure::new(words).with_fix("name the tool's file with `--settings FILE`"));
    }
    let event = read(tool, args, context, terminal)?;
    let named = [
        named("--settings", &args.settings, false)?,
        named("--plugin", &args.plugin, true)?,
    ];
    let hooks = context.load_as(tool, &named.concat())?;
    let problems = hooks.report();
    if !args.json {
        terminal.problems(&problems)?;
    }
    let disabled = context.disabled_by();
    let disabled = disabled.map(|variable| format!("no hook runs: `{variable}` is set"));
    let notes: Vec<_> = disabled.into_iter().chain(event.clone().err()).collect();
    for words in &notes {
        terminal.note(words)?;
    }
    let (mut report, mut ended) = (Report::default(), Exit::FINE);
    if let Ok(event) = event {
        let firing = Firing {
            context,
            hooks: &hooks,
            options: FireOptions::default().handles_ask(),
            is_silent: args.json,
        };
        let pass = firing.pass(event, true, terminal)?;
        let results = [pass.outcome.results(), &pass.background].concat();
        keep_variables(tool, &results)?;
        report = Report::of(&pass, results);
        // A hook that stops the turn may do so without a decision.
        let is_fine = matches!(report.decision, Answer::None | Answer::Allow);
        let fine = Exit::fine_if(is_fine && pass.outcome.allowed());
        ended = pass.interrupted.map_or(fine, Exit);
    }
    let problems = problems.problems.iter().map(ToString::to_string);
    report.diagnostics.splice(0..0, problems.chain(notes));
    if args.json {
        terminal.json(&report)?;
    }
    Ok(ended)
}

/// Appends what hooks have set for the session to the file that this program's own environment names, as a session of
/// the tool has one.
fn keep_variables(tool: &Tool, results: &[HookResult]) -> Result<(), Failure> {
    let named = tool.env_file().and_then(std::env::var_os);
    let Some(path) = named.filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let keep = |bytes: &[u8]| -> io::Result<()> {
        let mut kept = OpenOptions::new().append(true).create(true).open(&path)?;
        kept.write_all(bytes)
    };
    let mut files = results.iter().filter_map(HookResult::env_file);
    let kept = files.try_for_each(|file| keep(file.bytes()));
    kept.map_err(|error| Failure::new(format!("cannot write `{}`: {error}", path.display())))
}

/// Reads the event. An inner error says why no host fires it.
fn read(
    tool: &'static Tool,
    args: &Fire,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Result<HookEvent, String>, Failure> {
    let Some(file) = args.event_json.as_deref() else {
        let words = format!("`--as {tool}` needs `--event-json FILE`, and no EVENT");
        let example = context.command(&format!("fire --as {tool} --event-json event.json"));
        return Err(Failure::new(words).with_fix(format!("write it as in `{example}`")));
    };
    let fix = "write it as the tool does: {\"hook_event_name\": \"SessionStart\", ...}";
    let text = event::text_of(file, terminal)?;
    let payload = serde_json::from_str(&text).map_err(|error| placed_json_words(&error));
    let payload: Value = payload.map_err(|why| event::cannot_read(file, why).with_fix(fix))?;
    match tool.event(payload) {
        Ok(event) => Ok(Ok(event)),
        Err(error @ EventError::NotFired { .. }) => Ok(Err(error.to_string())),
        Err(error) => Err(event::cannot_read(file, error).with_fix(fix)),
    }
}

/// Returns the files or plugins of an option.
fn named(option: &str, paths: &[PathBuf], is_plugin: bool) -> Result<Vec<PathBuf>, Failure> {
    let paths = existing(option, paths)?;
    let is_wrong = |path: &&PathBuf| path.is_dir() != is_plugin;
    let Some(wrong) = paths.iter().find(is_wrong).map(|path| path.display()) else {
        return Ok(paths);
    };
    let is = if is_plugin { "is not" } else { "is" };
    let fix = "`--settings FILE` names a file, `--plugin DIR` a directory";
    Err(Failure::new(format!("`{option} {wrong}` {is} a directory")).with_fix(fix))
}

impl Report {
    fn of(pass: &Pass, results: Vec<HookResult>) -> Self {
        let outcome = &pass.outcome;
        let allows = || {
            let mut outputs = outcome.results().iter().filter_map(HookResult::output);
            let allow = outputs.find(|output| output.decision == Some(Decision::Allow))?;
            allow.reason.as_deref()
        };
        let (decision, reason) = match outcome.decision() {
            Some(Decision::Block) => (Answer::Deny, outcome.reason()),
            Some(Decision::Ask) => (Answer::Ask, outcome.reason()),
            Some(Decision::Allow) => (Answer::Allow, allows()),
            None => (Answer::None, None),
        };
        let messages = outcome.system_messages().into_iter();
        let diagnostics = results.iter().flat_map(|result| {
            let words = result.diagnostics().iter();
            words.map(|words| format!("{}: {words}", named_hook(result)))
        });
        Self {
            decision,
            reason: reason.map(str::to_owned),
            context: outcome.additional_context(),
            feedback: outcome.feedback(),
            system_messages: messages.map(str::to_owned).collect(),
            stop: outcome.stops_turn(),
            stop_reason: outcome.stop_reason().map(str::to_owned),
            updated_input: whole_input(&pass.event, outcome),
            updated_output: outcome.updated_output(),
            ran: results.iter().filter(|it| it.started()).count(),
            errors: results.iter().filter_map(error_of).collect(),
            timeouts: results.iter().filter(|it| it.timed_out).count(),
            diagnostics: diagnostics.collect(),
            results,
        }
    }
}

/// Returns the tool's whole input with the changes of the hooks, if there are any.
fn whole_input(event: &HookEvent, outcome: &Outcome) -> Option<Map<String, Value>> {
    let changes = outcome.updated_input()?;
    let Some(Value::Object(input)) = event.data.get("tool_args") else {
        return Some(changes);
    };
    outcome.changed_input(input).or_else(|| Some(input.clone()))
}

/// Names a hook with its place, since many hooks of a file have the same title.
fn named_hook(result: &HookResult) -> String {
    format!("hook `{}` ({})", title(&result.hook), place(&result.hook))
}

/// Describes the failure of a hook, with its standard error.
fn error_of(result: &HookResult) -> Option<String> {
    let failure = result.failure?;
    let error = result.error.as_deref().unwrap_or(failure.as_str());
    let complaint = Some(result.stderr.trim()).filter(|it| !it.is_empty());
    let complaint = complaint.map(|it| format!(": {it}")).unwrap_or_default();
    Some(format!("{}: {error}{complaint}", named_hook(result)))
}
