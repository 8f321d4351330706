//! `test`: fires each case of a table, and compares the hooks' decision with the expected one.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use glob::Pattern;
use serde_json::{Value, json};

use crate::cli::args::Test;
use crate::cli::cases::{self, Case, Placed};
use crate::cli::context::Context;
use crate::cli::ended::Ended;
use crate::cli::error::Failure;
use crate::cli::fire::outcome_of;
use crate::cli::names::{self, Asker};
use crate::cli::terminal::{Style, Terminal};
use crate::cli::validate::counted;
use crate::cli::verdict::{Verdict, changed_by};
use crate::{HookEvent, HookExecutor, printable};

/// A case that can be fired.
struct Ready {
    case: Case,
    line: usize,
    event: HookEvent,
    reason: Option<Pattern>,
}

/// A case that was fired, with its outcome.
struct Judged {
    ready: Ready,
    found: Verdict,
    /// The parts that are not as expected: `decision`, `reason`, `updatedInput`.
    differs: Vec<&'static str>,
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
    let mut judged = Vec::new();
    for ready in ready {
        let Some(found) = fire(&executor, &ready.event, terminal)? else {
            break;
        };
        let it = Judged::compare(ready, found);
        if !args.json {
            it.show(terminal)?;
        }
        judged.push(it);
    }
    // Ends the kept processes.
    let _ = executor.shutdown(Duration::from_millis(50));
    let failed = judged.iter().filter(|it| !it.differs.is_empty()).count();
    if args.json {
        let cases: Vec<_> = judged.iter().map(Judged::to_json).collect();
        terminal.json(&json!({"cases": cases, "failed": failed}))?;
    } else {
        sum_up(judged.len(), failed, terminal)?;
    }
    Ok(match terminal.interrupted() {
        Some(status) => Ended::Interrupted(status),
        None if failed > 0 => Ended::Problems,
        None => Ended::Fine,
    })
}

fn sum_up(cases: usize, failed: usize, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let style = if failed > 0 { Style::Bad } else { Style::Good };
    let words = terminal.styled(style, format!("{failed} failed"));
    writeln!(terminal, "\n{}: {words}", counted(cases, "case"))?;
    Ok(())
}

/// Fires a case, and returns the hooks' decision; None after a signal.
fn fire(
    executor: &HookExecutor,
    event: &HookEvent,
    terminal: &mut Terminal<'_>,
) -> Result<Option<Verdict>, Failure> {
    let Some(first) = outcome_of(executor, event.clone(), terminal, |_| Ok(()))? else {
        return Ok(None);
    };
    let Some(changed) = changed_by(event, &first) else {
        return Ok(Some(Verdict::new(&first, None)));
    };
    let again = outcome_of(executor, changed, terminal, |_| Ok(()))?;
    Ok(again.map(|again| Verdict::new(&first, Some(&again))))
}

impl Ready {
    fn new(placed: Placed, file: &Path, context: &Context<'_>) -> Result<Self, Failure> {
        let place = placed.place(file);
        let Placed { case, line, .. } = placed;
        let event_type = names::event_type(&case.event, Asker::Case, context)
            .map_err(|failure| failure.at(&place))?;
        let reason = case.reason.as_deref().map(Pattern::new).transpose();
        let reason = reason.map_err(|error| {
            Failure::new(format!("{place}: `reason` is not a glob: {error}"))
                .with_fix("to match the characters `*`, `?` and `[`, write `[*]`, `[?]` and `[[]`")
        })?;
        Ok(Self {
            event: case.event(event_type),
            case,
            line,
            reason,
        })
    }

    fn title(&self) -> String {
        let tool = self.case.tool.as_deref().unwrap_or_default();
        let unnamed = || format!("{} {tool}", self.case.event).trim_end().to_owned();
        self.case.name.clone().unwrap_or_else(unnamed)
    }
}

impl Judged {
    fn compare(ready: Ready, found: Verdict) -> Self {
        let mut differs = Vec::new();
        if ready.case.expect != found.decision {
            differs.push("decision");
        }
        let reason = found.reason.as_deref().unwrap_or_default();
        if ready
            .reason
            .as_ref()
            .is_some_and(|glob| !glob.matches(reason))
        {
            differs.push("reason");
        }
        if ready.case.updated_input.is_some() && ready.case.updated_input != found.updated_input {
            differs.push("updatedInput");
        }
        Self {
            ready,
            found,
            differs,
        }
    }

    /// Returns the expected and the found values; null if there is none.
    fn compared(&self) -> [(&'static str, Value, Value); 3] {
        let (case, found) = (&self.ready.case, &self.found);
        [
            ("decision", json!(case.expect), json!(found.decision)),
            ("reason", json!(case.reason), json!(found.reason)),
            (
                "updatedInput",
                json!(case.updated_input),
                json!(found.updated_input),
            ),
        ]
    }

    fn show(&self, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
        let (style, word) = match self.differs.is_empty() {
            true => (Style::Good, "ok  "),
            false => (Style::Bad, "FAIL"),
        };
        let word = terminal.styled(style, word);
        let title = printable(&self.ready.title());
        writeln!(terminal, "{word}  {title} (line {})", self.ready.line)?;
        let differs = |(what, ..): &(&str, Value, Value)| self.differs.contains(what);
        for (what, expected, found) in self.compared().into_iter().filter(differs) {
            let found = if found.is_null() {
                "none".to_owned()
            } else {
                found.to_string()
            };
            let line = format!("{what}: expected {expected}, found {found}");
            writeln!(terminal, "      {}", printable(&line))?;
        }
        if let (Some(hook), false) = (&self.found.hook, self.differs.is_empty()) {
            writeln!(terminal, "      decided by {}", printable(hook))?;
        }
        terminal.flush()?;
        Ok(())
    }

    fn to_json(&self) -> Value {
        let mut expected = json!({});
        let mut found = json!({"hook": self.found.hook});
        for (what, wanted, had) in self.compared() {
            expected[what] = wanted;
            found[what] = had;
        }
        json!({
            "name": self.ready.title(),
            "line": self.ready.line,
            "passed": self.differs.is_empty(),
            "expected": expected,
            "found": found,
            "differs": self.differs,
        })
    }
}
