//! `test`: fires each case of a table, and compares the hooks' decision with the expected one.

use std::fmt;
use std::path::Path;

use glob::Pattern;
use serde::Serialize;
use serde_json::{Value, json};

use crate::agents::{self, Agent, BRIDGED};
use crate::cli::args::Test;
use crate::cli::cases::{self, Case, Verdict};
use crate::cli::context::directory;
use crate::cli::events;
use crate::cli::fire::{FirePass, Said};
use crate::cli::{CommandError, Context, Done, Exit, Style, Terminal, counted};
use crate::{FireOptions, HookEvent, printable};

/// The output of `forge-hooks test`.
#[derive(Serialize)]
pub(crate) struct TestOutput {
    cases: Vec<Judged>,
    /// The number of cases that are not as expected.
    failed: usize,
}

/// A case that was fired.
#[derive(Serialize)]
struct Judged {
    /// The case's name, or else its event and its tool.
    name: String,
    /// The case's line in the table, counted from 1.
    line: usize,
    passed: bool,
    /// The decision that the table expects; null for a part that it leaves out.
    expected: Verdict,
    found: Verdict,
    /// The parts that are not as expected: `decision`, `reason`, `updatedInput`, `updatedOutput`, `context`.
    differs: Vec<&'static str>,
}

pub(crate) fn run(args: &Test, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    let cases = cases::read(&args.file, terminal)?.into_iter();
    let ready = cases.map(|case| ready(case, &args.file, context));
    let ready: Vec<_> = ready.collect::<Result<_, _>>()?;
    let hooks = context.load()?;
    context.warn(&hooks, &hooks.full_report(), terminal)?;
    let fire_pass = FirePass {
        context,
        hooks: &hooks,
        options: FireOptions::new().applies_updates().without_background(),
        is_silent: true,
        trace: None,
    };
    let mut cases = Vec::new();
    for ready in ready {
        let found = match ready.event {
            Fired::Ours(event) => Verdict::new(&fire_pass.fire(*event, terminal)?.outcome),
            Fired::Of(agent) => said(agent, &ready.case, &args.file, context, terminal)?.into(),
        };
        if terminal.interrupted().is_some() {
            break;
        }
        let judged = Judged::compare(ready.case, [&ready.reason, &ready.context], found);
        if !args.json {
            write!(terminal, "{judged}")?;
            terminal.flush()?;
        }
        cases.push(judged);
    }
    let failed = cases.iter().filter(|case| !case.passed).count();
    let report = TestOutput { cases, failed };
    terminal.show(args.json, &report)?;
    Ok(match terminal.interrupted() {
        Some(status) => Exit(status),
        None => Exit::fine_if(failed == 0),
    })
}

/// Shows the last line alone: each case was shown when its hooks had ended.
impl fmt::Display for TestOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let style = match self.failed {
            0 => Style::GOOD,
            _ => Style::BAD,
        };
        let failed = style.paint(format_args!("{} failed", self.failed));
        writeln!(f, "\n{}: {failed}", counted(self.cases.len(), "case"))
    }
}

/// Replaces backslashes by slashes, as in all globs.
fn with_slashes(text: &str) -> String {
    text.replace('\\', "/")
}

/// The most characters of a reason that are shown beside the hook.
const LONGEST_SHOWN: usize = 200;

/// The most bytes of a `reason`: `glob` recurses at each `*`.
const LONGEST_REASON: usize = 1000;

/// A case, with what was read of it before any is fired.
struct Ready {
    case: Case,
    event: Fired,
    reason: Option<Pattern>,
    context: Option<Pattern>,
}

enum Fired {
    Ours(Box<HookEvent>),
    /// An event of this agent.
    Of(&'static Agent),
}

fn ready(case: Case, file: &Path, context: &Context<'_>) -> Result<Ready, CommandError> {
    let at = |error: CommandError| error.at(&case.place(file));
    let event = match case.agent.as_deref() {
        None => {
            let event_type = events::event_type(&case.event, None, context).map_err(at)?;
            Fired::Ours(Box::new(case.event(event_type)))
        }
        Some(name) => Fired::Of(agent_named(name).map_err(at)?),
    };
    let reason = glob("reason", case.reason.as_deref()).map_err(at)?;
    let text = glob("context", case.context.as_deref()).map_err(at)?;
    Ok(Ready {
        event,
        reason,
        context: text,
        case,
    })
}

fn agent_named(name: &str) -> Result<&'static Agent, CommandError> {
    agents::named(name).ok_or_else(|| {
        let names = BRIDGED.map(Agent::name).join("`, `");
        let message = format!("`agent` is `{name}`, expected one of `{names}`");
        CommandError::new(message)
    })
}

/// Returns the glob of this key.
fn glob(key: &str, text: Option<&str>) -> Result<Option<Pattern>, CommandError> {
    let Some(text) = text else {
        return Ok(None);
    };
    if text.len() > LONGEST_REASON {
        let message = format!("`{key}` is longer than {LONGEST_REASON} bytes");
        return Err(CommandError::new(message).with_fix("write `*` for a part of it"));
    }
    let pattern = Pattern::new(&with_slashes(text));
    pattern.map(Some).map_err(|error| {
        let fix = "to match the characters `*`, `?` and `[`, write `[*]`, `[?]` and `[[]`";
        CommandError::new(format!("`{key}` is not a glob: {error}")).with_fix(fix)
    })
}

/// Returns what this program says to an agent at the event of a case.
fn said(
    agent: &'static Agent,
    case: &Case,
    file: &Path,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Said, CommandError> {
    let here = directory(Path::new("."))?;
    let payload = case.payload(&here);
    let said = Said::on(agent, &case.event, payload, context, terminal);
    said.map_err(|error| error.at(&case.place(file)))
}

impl Judged {
    fn compare(case: Case, texts: [&Option<Pattern>; 2], found: Verdict) -> Self {
        let is_like = |glob: &Option<Pattern>, text: &Option<String>| {
            let text = with_slashes(text.as_deref().unwrap_or_default());
            glob.as_ref().is_none_or(|glob| glob.matches(&text))
        };
        let [reason, context] = texts;
        let output = &case.updated_output;
        let input = &case.updated_input;
        let same = [
            ("decision", case.expect == found.decision),
            ("reason", is_like(reason, &found.reason)),
            (
                "updatedInput",
                input.is_none() || *input == found.updated_input,
            ),
            (
                "updatedOutput",
                output.is_none() || *output == found.updated_output,
            ),
            ("context", is_like(context, &found.context)),
        ];
        let differs = same.iter().filter(|(_, is_same)| !is_same);
        let differs: Vec<_> = differs.map(|(part, _)| *part).collect();
        let tool = case.tool.as_deref().unwrap_or_default();
        let unnamed = || format!("{} {tool}", case.event).trim_end().to_owned();
        Self {
            name: case.name.clone().unwrap_or_else(unnamed),
            line: case.line,
            passed: differs.is_empty(),
            expected: Verdict {
                decision: case.expect,
                reason: case.reason,
                updated_input: case.updated_input,
                updated_output: case.updated_output,
                context: case.context,
                hook: None,
            },
            found,
            differs,
        }
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.passed {
            Style::GOOD.paint("ok  ")
        } else {
            Style::BAD.paint("FAIL")
        };
        writeln!(f, "{word}  {} (line {})", printable(&self.name), self.line)?;
        let (expected, found) = (json!(self.expected), json!(self.found));
        for part in &self.differs {
            let found = match &found[part] {
                Value::Null => "none".to_owned(),
                found => found.to_string(),
            };
            let line = format!("{part}: expected {}, found {found}", expected[part]);
            writeln!(f, "      {}", printable(&line))?;
        }
        let Some(hook) = self.found.hook.as_ref().filter(|_| !self.passed) else {
            return Ok(());
        };
        write!(f, "      decided by {}", printable(hook))?;
        match &self.found.reason {
            Some(reason) if !self.differs.contains(&"reason") => {
                let line: String = printable(reason).chars().take(LONGEST_SHOWN).collect();
                writeln!(f, ": {line}")
            }
            _ => writeln!(f),
        }
    }
}
