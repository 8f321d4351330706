//! `test`: fires each case of a table, and compares the hooks' decision with the expected one.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use glob::Pattern;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::args::Test;
use crate::cli::cases::{self, Case, Placed, Verdict, changed_by};
use crate::cli::context::Context;
use crate::cli::error::{Ended, Failure};
use crate::cli::fire::TICK;
use crate::cli::names::{self, Asker};
use crate::cli::terminal::{Style, Terminal, counted};
use crate::{FireOptions, HookEvent, HookExecutor, Outcome, printable};

/// What `forge-hooks test --json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "test"))]
pub(crate) struct Report {
    cases: Vec<Judged>,
    /// The number of cases that are not as expected.
    failed: usize,
}

/// A case that was fired.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Judged {
    /// The case's name, or else its event and its tool.
    name: String,
    /// Its line in the table, counted from 1.
    line: usize,
    passed: bool,
    /// What the table says; null for what it does not say.
    expected: Verdict,
    found: Verdict,
    /// The parts that are not as expected: `decision`, `reason`, `updatedInput`.
    differs: Vec<&'static str>,
}

/// A case that can be fired.
struct Ready {
    case: Case,
    line: usize,
    event: HookEvent,
    reason: Option<Pattern>,
}

pub(crate) fn run(
    args: &Test,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let mut ready = Vec::new();
    for placed in cases::read(&args.file, terminal)? {
        ready.push(Ready::new(placed, &args.file, context)?);
    }
    let hooks = context.load()?;
    terminal.problems(&hooks.report())?;
    terminal.note_disabled(context.disabled_by(), &hooks)?;
    let executor = HookExecutor::builder().registry(Arc::clone(hooks.registry()));
    let executor = context.executor(&hooks, executor);
    let mut cases = Vec::new();
    for ready in ready {
        let Some(found) = fire(&executor, &ready.event, terminal)? else {
            break;
        };
        let judged = Judged::compare(ready, found);
        if !args.json {
            judged.show(terminal)?;
        }
        cases.push(judged);
    }
    // Ends the kept processes.
    let _ = executor.shutdown(TICK);
    let failed = cases.iter().filter(|it| !it.passed).count();
    let report = Report { cases, failed };
    if args.json {
        terminal.json(&report)?;
    } else {
        let style = if failed > 0 { Style::Bad } else { Style::Good };
        let words = terminal.styled(style, format!("{failed} failed"));
        writeln!(
            terminal,
            "\n{}: {words}",
            counted(report.cases.len(), "case")
        )?;
    }
    Ok(match terminal.interrupted() {
        Some(status) => Ended::Interrupted(status),
        None => Ended::fine_if(failed == 0),
    })
}

/// Fires a case, and returns the hooks' decision; None after a signal.
fn fire(
    executor: &HookExecutor,
    event: &HookEvent,
    terminal: &mut Terminal<'_>,
) -> Result<Option<Verdict>, Failure> {
    let Some(first) = outcome_of(executor, event.clone(), terminal)? else {
        return Ok(None);
    };
    let Some(changed) = changed_by(event, &first) else {
        return Ok(Some(Verdict::new(&first, None)));
    };
    let again = outcome_of(executor, changed, terminal)?;
    Ok(again.map(|again| Verdict::new(&first, Some(&again))))
}

/// Fires an event, without background hooks; None after a signal.
fn outcome_of(
    executor: &HookExecutor,
    event: HookEvent,
    terminal: &mut Terminal<'_>,
) -> Result<Option<Outcome>, Failure> {
    let options = FireOptions::default().without_background();
    let mut handle = executor.submit(event, options)?;
    while terminal.interrupted().is_none() {
        if let Some(outcome) = handle.wait_timeout(TICK) {
            return Ok(Some(outcome));
        }
    }
    handle.cancel();
    let _ = handle.wait();
    Ok(None)
}

/// The most bytes of a `reason`: `glob` recurses at each `*`.
const LONGEST_REASON: usize = 1000;

impl Ready {
    fn new(placed: Placed, file: &Path, context: &Context<'_>) -> Result<Self, Failure> {
        let place = placed.place(file);
        let Placed { case, line } = placed;
        let event_type = names::event_type(&case.event, Asker::Case, context)
            .map_err(|failure| failure.at(&place))?;
        if case
            .reason
            .as_ref()
            .is_some_and(|it| it.len() > LONGEST_REASON)
        {
            let words = format!("{place}: `reason` is longer than {LONGEST_REASON} bytes");
            return Err(Failure::new(words).with_fix("write `*` for a part of it"));
        }
        let reason = case.reason.as_deref().map(Pattern::new).transpose();
        let reason = reason.map_err(|error| {
            Failure::new(format!("{place}: `reason` is not a glob: {error}"))
                .with_fix("to match the characters `*`, `?` and `[`, write `[*]`, `[?]` and `[[]`")
        })?;
        let event = case.event(event_type);
        Ok(Self {
            case,
            line,
            event,
            reason,
        })
    }
}

impl Judged {
    fn compare(ready: Ready, found: Verdict) -> Self {
        let case = ready.case;
        let found_reason = found.reason.as_deref().unwrap_or_default();
        let has_reason = ready.reason.is_none_or(|glob| glob.matches(found_reason));
        let has_input = case.updated_input.is_none() || case.updated_input == found.updated_input;
        let parts = [
            ("decision", case.expect == found.decision),
            ("reason", has_reason),
            ("updatedInput", has_input),
        ];
        let differing = parts.into_iter().filter(|(_, is_same)| !is_same);
        let differs: Vec<_> = differing.map(|(part, _)| part).collect();
        let tool = case.tool.as_deref().unwrap_or_default();
        let unnamed = || format!("{} {tool}", case.event).trim_end().to_owned();
        Self {
            name: case.name.clone().unwrap_or_else(unnamed),
            line: ready.line,
            passed: differs.is_empty(),
            expected: Verdict {
                decision: case.expect,
                reason: case.reason,
                updated_input: case.updated_input,
                hook: None,
            },
            found,
            differs,
        }
    }

    fn show(&self, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
        let (style, word) = match self.passed {
            true => (Style::Good, "ok  "),
            false => (Style::Bad, "FAIL"),
        };
        let word = terminal.styled(style, word);
        writeln!(
            terminal,
            "{word}  {} (line {})",
            printable(&self.name),
            self.line
        )?;
        let (expected, found) = (json!(self.expected), json!(self.found));
        for part in &self.differs {
            let found = match &found[part] {
                Value::Null => "none".to_owned(),
                found => found.to_string(),
            };
            let line = format!("{part}: expected {}, found {found}", expected[part]);
            writeln!(terminal, "      {}", printable(&line))?;
        }
        if let (Some(hook), false) = (&self.found.hook, self.passed) {
            writeln!(terminal, "      decided by {}", printable(hook))?;
        }
        terminal.flush()?;
        Ok(())
    }
}
