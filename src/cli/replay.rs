//! `replay`: fires recorded events at the hooks of today, and shows which decisions differ.
//!
//! The record gives the events alone. Hooks, paths, project and environment are those of here. Hooks run in a sandbox, since an
//! event that is only compared must not change anything.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::cli::args::Replay;
use crate::cli::confirm::is_confirmed;
use crate::cli::entries::{headline, title};
use crate::cli::trace::{Record, Recorded, read_events};
use crate::cli::{CommandError, Context, Done, Exit, Style, Terminal, counted, first_of};
use crate::events::{HostContext, OF_ANY_EVENT};
use crate::json;
use crate::trace::{ASK, CONTEXT, Decided, KEEPS_GOING, UPDATES};
use crate::{
    FireOptions, Hook, HookEvent, HookExecutor, HookResult, Hooks, Outcome, Redactor, Sandbox,
    printable,
};

/// The interval at which a signal is checked.
const TICK: Duration = Duration::from_millis(50);

/// The output of `forge-hooks replay --json`.
#[derive(Serialize, Default)]
struct ReplayOutput {
    /// The events whose decision differs, in the order of the record.
    differences: Vec<Difference>,
    /// The events that were not compared.
    not_compared: Vec<NotCompared>,
    /// The hooks that failed and blocked nothing, so that their decision is not known.
    failed: Vec<Failed>,
    /// The number of events that were compared.
    compared: usize,
    /// The number of events that were left after a signal.
    left: usize,
}

/// An event whose decision differs.
#[derive(Serialize)]
struct Difference {
    #[serde(flatten)]
    place: Place,
    /// The data of the event.
    data: Box<RawValue>,
    /// The recorded decision.
    before: Verdict,
    /// The decision of the current hooks.
    after: Verdict,
    /// True if a failure decides today.
    #[serde(skip)]
    is_of_failure: bool,
}

/// The joint decision of hooks, with secrets masked.
#[derive(Serialize)]
struct Verdict {
    #[serde(flatten)]
    decided: Decided,
    /// The hook that blocks or asks; null if none does.
    hook: Option<String>,
    /// Its reason.
    reason: Option<String>,
}

/// An event of the record.
#[derive(Serialize)]
struct Place {
    /// The line of the record, counted from 1.
    line: usize,
    event: String,
    tool: Option<String>,
}

/// An event that was not compared.
#[derive(Serialize)]
struct NotCompared {
    #[serde(flatten)]
    place: Place,
    why: String,
}

/// A hook that failed and blocked nothing.
#[derive(Serialize)]
struct Failed {
    hook: String,
    /// The number of events on which it failed.
    events: usize,
    /// The reason of its first failure.
    why: String,
}

/// The hooks of today, and how they run.
struct Player {
    executor: HookExecutor,
    is_confined: bool,
    has_hooks_of_agents: bool,
    /// The reason why no hook can run in a sandbox, if one is needed and not possible.
    no_sandbox: Option<String>,
}

/// The hooks that would start a process.
#[derive(Default)]
struct Processes {
    hooks: Vec<Arc<Hook>>,
    /// The number of events at which one of them runs.
    events: usize,
}

/// The recorded events that can be compared, and those that cannot.
#[derive(Default)]
struct Plan {
    /// The lines of the events to compare.
    lines: HashSet<usize>,
    not_compared: Vec<NotCompared>,
    processes: Processes,
}

pub(crate) fn run(args: &Replay, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    let record = read_events(&args.file, terminal)?;
    let hooks = load(context, terminal)?;
    // From here on a signal ends the hooks, not only this program.
    let _ = terminal.interrupted();
    // Dropping the engine writes the last lines of the user's trace.
    let (player, _engine) = Player::new(args, context, &hooks);
    let plan = player.plan(&record);
    if !args.yes && !plan.processes.are_confirmed(args.unconfined, terminal)? {
        return terminal.end(Exit::NOTHING_DONE, "nothing was compared");
    }
    let report = player.compare(plan, &record, terminal)?;
    terminal.show(args.json, &report)?;
    if player.is_confined && report.may_be_of_the_sandbox() {
        terminal.note("a hook that needs to write, or the network, fails in the sandbox: `--unconfined` runs it without one")?;
    }
    let missing = record.missing();
    if !missing.is_empty() {
        terminal.note(missing.join(", "))?;
    }
    Ok(match terminal.interrupted() {
        Some(status) => Exit(status),
        None if report.compared == 0 => Exit::NOTHING_DONE,
        None => Exit::fine_if(report.differences.is_empty()),
    })
}

/// Loads the hooks of today.
///
/// # Errors
/// If a hooks file has errors.
fn load(context: &Context<'_>, terminal: &mut Terminal<'_>) -> Result<Hooks, CommandError> {
    let hooks = context.load()?;
    let report = hooks.full_report();
    context.warn(&hooks, &report, terminal)?;
    if !report.is_ok() {
        let message =
            "nothing was compared: a hooks file has errors, so that each event is blocked";
        return Err(CommandError::new(message).with_fix(context.fix_errors()));
    }
    if hooks.executor().registry().is_empty() {
        let list = context.command("list");
        terminal.note(format_args!(
            "there are no hooks: `{list}` shows where they were looked for"
        ))?;
    }
    Ok(hooks)
}

impl ReplayOutput {
    fn add(&mut self, recorded: &Recorded, outcome: &Outcome) {
        self.compared += 1;
        self.left -= 1;
        self.differences
            .extend(Difference::between(recorded, outcome));
        let failed = outcome.results().iter().filter(|result| {
            result.failure().is_some() && !result.stops_others(outcome.can_block())
        });
        for result in failed {
            let hook = title(result.hook());
            match self.failed.iter_mut().find(|failed| failed.hook == hook) {
                Some(failed) => failed.events += 1,
                None => self.failed.push(Failed {
                    hook,
                    events: 1,
                    why: result.reason().unwrap_or_default().to_owned(),
                }),
            }
        }
    }

    /// Returns whether a failure decided anything.
    fn may_be_of_the_sandbox(&self) -> bool {
        let mut differences = self.differences.iter();
        !self.failed.is_empty() || differences.any(|difference| difference.is_of_failure)
    }
}

impl Player {
    fn new(args: &Replay, context: &Context<'_>, hooks: &Hooks) -> (Self, Hooks) {
        let sandbox = (!args.unconfined).then(Sandbox::new);
        let unsupported = sandbox.as_ref().and_then(|_| Sandbox::support().err());
        let executor = HookExecutor::builder()
            .registry(Arc::clone(hooks.executor().registry()))
            .replaying(sandbox);
        let engine = context.engine(hooks, executor);
        let player = Self {
            executor: engine.executor().clone(),
            is_confined: !args.unconfined,
            has_hooks_of_agents: hooks
                .executor()
                .registry()
                .hooks()
                .iter()
                .any(|hook| hook.protocol_name() != "native"),
            no_sandbox: unsupported.map(|error| error.to_string()),
        };
        (player, engine)
    }

    /// Returns the events to compare, and the processes that they would start.
    fn plan(&self, record: &Record) -> Plan {
        let mut plan = Plan::default();
        for recorded in record.events().filter(|recorded| recorded.can_block) {
            match self.objection(&recorded) {
                Some(why) => plan.not_compared.push(NotCompared {
                    place: Place::of(&recorded),
                    why,
                }),
                None => {
                    plan.processes.add(self.processes(&recorded));
                    plan.lines.insert(recorded.line);
                }
            }
        }
        plan
    }

    /// Fires the events of the plan, up to a signal.
    fn compare(
        &self,
        plan: Plan,
        record: &Record,
        terminal: &mut Terminal<'_>,
    ) -> Result<ReplayOutput, CommandError> {
        let mut report = ReplayOutput {
            not_compared: plan.not_compared,
            left: plan.lines.len(),
            ..ReplayOutput::default()
        };
        let events = record.events();
        for recorded in events.filter(|recorded| plan.lines.contains(&recorded.line)) {
            let Some(outcome) = self.fire(&recorded, terminal)? else {
                break;
            };
            report.add(&recorded, &outcome);
        }
        Ok(report)
    }

    /// Returns the hooks of an event that would start a process.
    fn processes(&self, recorded: &Recorded) -> Vec<Arc<Hook>> {
        let mut hooks = self.executor.hooks_for(&recorded.event);
        hooks.retain(|hook| !hook.answers() && !hook.background());
        hooks
    }

    /// Returns the reason why an event cannot be compared; none if it can.
    fn objection(&self, recorded: &Recorded) -> Option<String> {
        if let Some(why) = recorded.objection() {
            return Some(why);
        }
        if recorded.was(CONTEXT) && self.has_hooks_of_agents {
            return Some("hooks of other agents got more than was recorded".to_owned());
        }
        let why = self.no_sandbox.as_ref()?;
        let hooks = self.processes(recorded);
        let hook = hooks.first()?;
        Some(format!(
            "hook `{}` cannot run in a sandbox, since {why}; `--unconfined` runs it without one",
            title(hook)
        ))
    }

    /// Fires an event. Returns none after a signal.
    fn fire(
        &self,
        recorded: &Recorded,
        terminal: &mut Terminal<'_>,
    ) -> Result<Option<Outcome>, CommandError> {
        let mut options = FireOptions::new().without_background();
        if recorded.was(ASK) {
            options = options.handles_ask();
        }
        if recorded.was(UPDATES) {
            options = options.applies_updates();
        }
        options = options.stop_on_failure(!recorded.was(KEEPS_GOING));
        let event = in_its_directory(recorded.event.clone());
        let handle = self.executor.submit(event, options);
        let mut handle = handle.map_err(|error| CommandError::new(error.to_string()))?;
        loop {
            let outcome = handle.wait_timeout(TICK);
            if terminal.interrupted().is_some() {
                let _ = self.executor.shutdown(Duration::ZERO);
                return Ok(None);
            }
            if outcome.is_some() {
                return Ok(outcome);
            }
        }
    }
}

/// Gives a command of an agent the directory in which the agent was.
fn in_its_directory(event: HookEvent) -> HookEvent {
    let cwd = event
        .data
        .get("agent")
        .and_then(|agent| agent["cwd"].as_str());
    match cwd.map(|cwd| HostContext::new().with_cwd(cwd)) {
        Some(context) if event.tool_name.as_deref() == Some("bash") => {
            event.with_context(Arc::new(context))
        }
        _ => event,
    }
}

/// The most lines that are listed for a reason.
const MOST_LINES: usize = 20;

impl ReplayOutput {
    /// Returns each reason for which events were not compared, with their lines.
    fn reasons(&self) -> Vec<(&str, String)> {
        let mut reasons: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for event in &self.not_compared {
            reasons
                .entry(&event.why)
                .or_default()
                .push(event.place.line);
        }
        let with_lines = reasons.into_iter().map(|(why, lines)| {
            let word = if lines.len() == 1 { "line" } else { "lines" };
            (why, format!("{word} {}", first_of(&lines, MOST_LINES)))
        });
        with_lines.collect()
    }
}

/// The most characters of an event's data that are shown.
const MOST_DATA: usize = 160;

impl Processes {
    fn add(&mut self, hooks: Vec<Arc<Hook>>) {
        self.events += usize::from(!hooks.is_empty());
        for hook in hooks {
            if !self.hooks.iter().any(|known| Arc::ptr_eq(known, &hook)) {
                self.hooks.push(hook);
            }
        }
    }

    /// Shows the hooks, and asks.
    fn are_confirmed(
        &self,
        unconfined: bool,
        terminal: &mut Terminal<'_>,
    ) -> Result<bool, CommandError> {
        if self.hooks.is_empty() {
            return Ok(true);
        }
        for hook in &self.hooks {
            let command = hook.command();
            let command = hook.masked(&Redactor::default(), &command);
            write!(terminal, "{}", headline(hook, printable(&command)))?;
        }
        let how = if unconfined {
            "without a sandbox"
        } else {
            "in a sandbox without writing and network"
        };
        let hooks = counted(self.hooks.len(), "hook");
        let events = counted(self.events, "event");
        is_confirmed(false, &format!("run {hooks} at {events}, {how}?"), terminal)
    }
}

impl Difference {
    /// Compares the recorded decision with the outcome of today; none if both are the same.
    fn between(recorded: &Recorded, outcome: &Outcome) -> Option<Self> {
        let before = &recorded.decided;
        let results = outcome.results().iter();
        let secrets: Vec<&str> = results
            .flat_map(|result| result.hook().env().values().map(String::as_str))
            .collect();
        let after = Decided::of(outcome).masked(&Redactor::default(), &secrets);
        if *before == after {
            return None;
        }
        let blocked = outcome.blocked();
        let reason = blocked.and_then(HookResult::reason);
        Some(Self {
            place: Place::of(recorded),
            data: serde_json::value::to_raw_value(&recorded.event.data).unwrap_or_default(),
            is_of_failure: blocked.is_some_and(|result| result.failure().is_some()),
            before: Verdict {
                decided: before.clone(),
                hook: recorded.hook.clone(),
                reason: recorded.reason.clone(),
            },
            after: Verdict {
                decided: after,
                hook: blocked.map(|result| title(result.hook())),
                reason: reason.map(str::to_owned),
            },
        })
    }
}

impl Place {
    fn of(recorded: &Recorded) -> Self {
        Self {
            line: recorded.line,
            event: recorded.event.event_type.as_str().to_owned(),
            tool: recorded.event.tool_name.clone(),
        }
    }
}

impl fmt::Display for ReplayOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.differences {
            write!(f, "{difference}")?;
        }
        for (why, lines) in self.reasons() {
            let why = Style::WARNING.of(&format!("not comparable, {why}"));
            writeln!(f, "{why}: {lines}")?;
        }
        for Failed { hook, events, why } in &self.failed {
            let events = counted(events, "event");
            let message = format!("{hook} failed at {events}, and blocked nothing: {why}");
            writeln!(f, "{}", Style::WARNING.of(&message))?;
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
        if self.left > 0 {
            write!(f, "; {} left after a signal", self.left)?;
        }
        writeln!(f)
    }
}

/// Returns the data of an event without what each event of an agent has.
fn own_data(data: &RawValue) -> String {
    let mut own: Map<String, Value> = json::read(data.get()).unwrap_or_default();
    own.retain(|key, _| !OF_ANY_EVENT.contains(&key.as_str()));
    Value::Object(own).to_string()
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { line, event, tool } = &self.place;
        let title = format!("{event} {}", tool.as_deref().unwrap_or_default());
        let title = Style::STRONG.of(title.trim_end());
        writeln!(f, "line {line}: {title}")?;
        let data = own_data(&self.data);
        let data = match data.char_indices().nth(MOST_DATA) {
            Some((end, _)) => format!("{}…", &data[..end]),
            None => data,
        };
        writeln!(f, "    event:  {}", Style::DIM.of(&data))?;
        writeln!(f, "    before: {}", self.before)?;
        writeln!(f, "    now:    {}", self.after)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decided = &self.decided;
        let mut text = decided.decision.as_str().to_owned();
        if decided.grants {
            text += ", which a hook grants";
        }
        if let Some(hook) = &self.hook {
            text += &format!(", by {hook}");
        }
        if let Some(reason) = &self.reason {
            text += &format!(": {reason}");
        }
        if decided.stops_turn {
            text += "; it ends the turn";
        }
        if let Some(update) = &decided.updated_input {
            let what = if decided.replaces_input {
                "replaces all by"
            } else {
                "changes"
            };
            text += &format!("; it {what} {}", Value::Object(update.clone()));
        }
        f.write_str(&printable(&text))
    }
}
