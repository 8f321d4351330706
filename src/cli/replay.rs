//! `replay`: fires recorded events at the hooks of today, and shows which decisions differ.
//!
//! The record gives the events alone. Hooks, paths, project and environment are those of here. Hooks run in a sandbox, since an
//! event that is only compared must not change anything.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::args::Replay;
use crate::cli::confirm::is_confirmed;
use crate::cli::entries::{headline, title};
use crate::cli::trace::{Recorded, missing, read_events};
use crate::cli::{Context, Done, Exit, Failure, Style, Terminal, counted};
use crate::trace::Decided;
use crate::{
    Decision, FireOptions, Hook, HookExecutor, HookResult, Hooks, Outcome, Redactor, Sandbox,
    printable,
};

/// How often a signal is looked for.
const TICK: Duration = Duration::from_millis(50);

/// What `forge-hooks replay --json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "replay"))]
pub(crate) struct Report {
    /// The events of which the decision differs, in the order of the record.
    differences: Vec<Difference>,
    /// The events that were not compared.
    not_compared: Vec<NotCompared>,
    /// The number of events that were compared.
    compared: usize,
}

/// An event of which the decision differs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Difference {
    /// The line of the record, counted from 1.
    line: usize,
    event: String,
    tool: Option<String>,
    /// What was recorded.
    before: Verdict,
    /// What the hooks of today decide.
    after: Verdict,
}

/// What hooks decide together.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Verdict {
    #[cfg_attr(test, schemars(with = "crate::cli::shape_tests::Decision"))]
    decision: Decision,
    /// Whether a hook ends the turn.
    stops_turn: bool,
    /// What hooks change of the input, with secrets masked; null if nothing.
    updated_input: Option<Map<String, Value>>,
    /// The hook that blocks or asks; null if none does.
    hook: Option<String>,
    /// Its reason.
    reason: Option<String>,
}

/// An event that was not compared.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct NotCompared {
    /// The line of the record, counted from 1.
    line: usize,
    event: String,
    tool: Option<String>,
    why: String,
}

/// The hooks of today, and how they run.
struct Player {
    executor: HookExecutor,
    /// Why no hook can run in a sandbox, if one is needed and not possible.
    no_sandbox: Option<String>,
}

pub(crate) fn run(args: &Replay, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    let record = read_events(&args.file, terminal)?;
    let hooks = context.load()?;
    context.warn(&hooks, &hooks.full_report(), terminal)?;
    // From here on a signal ends the hooks, not only this program.
    let _ = terminal.interrupted();
    // Dropping it writes the last lines of the user's trace.
    let (player, _engine) = Player::new(args, context, &hooks);
    let mut report = Report {
        differences: Vec::new(),
        not_compared: Vec::new(),
        compared: 0,
    };
    let mut comparable = Vec::new();
    for recorded in record.events.iter().filter(|recorded| recorded.can_block) {
        match player.objection(recorded) {
            Some(why) => report.not_compared.push(NotCompared::new(recorded, why)),
            None => comparable.push(recorded),
        }
    }
    if !player.is_confirmed(&comparable, args, terminal)? {
        return terminal.end(Exit::PROBLEMS, "nothing was replayed");
    }
    for recorded in comparable {
        let Some(outcome) = player.fire(recorded, terminal)? else {
            break;
        };
        report.compared += 1;
        let difference = Difference::between(recorded, &outcome);
        report.differences.extend(difference);
    }
    let is_same = report.differences.is_empty();
    terminal.show(args.json, &report)?;
    let missing = missing(&record);
    if !missing.is_empty() {
        terminal.note(missing)?;
    }
    Ok(match terminal.interrupted() {
        Some(status) => Exit(status),
        None => Exit::fine_if(is_same),
    })
}

impl Player {
    fn new(args: &Replay, context: &Context<'_>, hooks: &Hooks) -> (Self, Hooks) {
        let sandbox = (!args.unconfined).then(Sandbox::new);
        let unsupported = sandbox.as_ref().and_then(|_| Sandbox::support().err());
        let executor = HookExecutor::builder()
            .registry(Arc::clone(hooks.registry()))
            .replaying(sandbox);
        let engine = context.engine(hooks, executor);
        let player = Self {
            executor: engine.executor().clone(),
            no_sandbox: unsupported.map(|error| error.to_string()),
        };
        (player, engine)
    }

    /// Returns the hooks of an event that would start a process.
    fn processes(&self, recorded: &Recorded) -> Vec<Arc<Hook>> {
        let mut hooks = self.executor.hooks_for(&recorded.event);
        hooks.retain(|hook| !hook.answers() && !hook.background());
        hooks
    }

    /// Returns why an event cannot be compared; none if it can.
    fn objection(&self, recorded: &Recorded) -> Option<String> {
        if let Some(why) = recorded.objection() {
            return Some(why);
        }
        let why = self.no_sandbox.as_ref()?;
        let hooks = self.processes(recorded);
        let hook = hooks.first()?;
        Some(format!(
            "hook `{}` cannot run in a sandbox, since {why}; `--unconfined` runs it without one",
            title(hook)
        ))
    }

    /// Shows the hooks that would start a process, and asks.
    fn is_confirmed(
        &self,
        events: &[&Recorded],
        args: &Replay,
        terminal: &mut Terminal<'_>,
    ) -> Result<bool, Failure> {
        let mut known = HashSet::new();
        let mut hooks = Vec::new();
        for recorded in events {
            let processes = self.processes(recorded);
            hooks.extend(
                processes
                    .into_iter()
                    .filter(|hook| known.insert(Arc::as_ptr(hook))),
            );
        }
        if hooks.is_empty() || args.yes {
            return Ok(true);
        }
        for hook in &hooks {
            let command = hook.command().to_string();
            let command = hook.masked(&Redactor::default(), &command);
            write!(terminal, "{}", headline(hook, printable(&command)))?;
        }
        let how = match args.unconfined {
            true => "without a sandbox",
            false => "in a sandbox without writing and network",
        };
        let (hooks, events) = (counted(hooks.len(), "hook"), counted(events.len(), "event"));
        let question = format!("run {hooks} at {events}, {how}?");
        is_confirmed(false, &question, terminal)
    }

    /// Fires an event. None after a signal.
    fn fire(
        &self,
        recorded: &Recorded,
        terminal: &mut Terminal<'_>,
    ) -> Result<Option<Outcome>, Failure> {
        let mut options = FireOptions::new().without_background();
        if recorded.handles_ask {
            options = options.handles_ask();
        }
        if recorded.applies_updates {
            options = options.applies_updates();
        }
        let event = recorded.event.clone();
        let handle = self.executor.submit(event, options);
        let mut handle = handle.map_err(|error| Failure::new(error.to_string()))?;
        loop {
            if let Some(outcome) = handle.wait_timeout(TICK) {
                return Ok(Some(outcome));
            }
            if terminal.interrupted().is_some() {
                let _ = self.executor.shutdown(Duration::ZERO);
                return Ok(None);
            }
        }
    }
}

impl Difference {
    /// Compares what was recorded with the outcome of today; none if both are the same.
    fn between(recorded: &Recorded, outcome: &Outcome) -> Option<Self> {
        let before = &recorded.decided;
        let mut after = Decided::of(outcome);
        let update = after.updated_input.take().map(Value::Object);
        let update = update.map(|update| Redactor::default().value(&update));
        after.updated_input = update.and_then(|update| update.as_object().cloned());
        if *before == after {
            return None;
        }
        let blocked = outcome.blocked();
        let reason = blocked.and_then(HookResult::reason);
        Some(Self {
            line: recorded.line,
            event: recorded.event.event_type.as_str().to_owned(),
            tool: recorded.event.tool_name.clone(),
            before: Verdict::new(before, recorded.hook.clone(), recorded.reason.clone()),
            after: Verdict::new(
                &after,
                blocked.map(|result| title(&result.hook)),
                reason.map(str::to_owned),
            ),
        })
    }
}

impl Verdict {
    fn new(decided: &Decided, hook: Option<String>, reason: Option<String>) -> Self {
        Self {
            decision: decided.decision,
            stops_turn: decided.stops_turn,
            updated_input: decided.updated_input.clone(),
            hook,
            reason,
        }
    }
}

impl NotCompared {
    fn new(recorded: &Recorded, why: String) -> Self {
        Self {
            line: recorded.line,
            event: recorded.event.event_type.as_str().to_owned(),
            tool: recorded.event.tool_name.clone(),
            why,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.differences {
            write!(f, "{difference}")?;
        }
        for NotCompared {
            line,
            event,
            tool,
            why,
        } in &self.not_compared
        {
            let tool = tool.as_deref().unwrap_or_default();
            let words = format!("{event} {tool}");
            let words = Style::WARNING.of(words.trim_end());
            writeln!(
                f,
                "line {line}: {words}: not comparable, {}",
                printable(why)
            )?;
        }
        let differ = match self.differences.len() {
            0 => Style::GOOD.paint("0 differ"),
            1 => Style::BAD.paint("1 differs"),
            more => Style::BAD.paint(format!("{more} differ")),
        };
        write!(f, "{} compared: {differ}", counted(self.compared, "event"))?;
        if !self.not_compared.is_empty() {
            write!(f, "; {} not comparable", self.not_compared.len())?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = self.tool.as_deref().unwrap_or_default();
        let words = format!("{} {tool}", self.event);
        let words = Style::STRONG.of(words.trim_end());
        writeln!(f, "line {}: {words}", self.line)?;
        writeln!(f, "    before: {}", self.before)?;
        writeln!(f, "    now:    {}", self.after)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.decision.as_str().to_owned();
        if let Some(hook) = &self.hook {
            words += &format!(", by {hook}");
        }
        if let Some(reason) = &self.reason {
            words += &format!(": {reason}");
        }
        if self.stops_turn {
            words += "; it ends the turn";
        }
        if let Some(update) = &self.updated_input {
            words += &format!("; it changes {}", Value::Object(update.clone()));
        }
        f.write_str(&printable(&words))
    }
}
