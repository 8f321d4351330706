//! `fire`: fires an event with the real engine, and shows each hook when it ends.

mod dry_run;
mod event;
mod other_tool;
mod show;
mod spinner;

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use crate::cli::args::Fire;
use crate::cli::cases::{Record, Verdict, changed_by};
use crate::cli::context::Context;
use crate::cli::error::{Ended, Failure};
use crate::cli::terminal::Terminal;
use crate::executor::DropReason;
use crate::{
    FireOptions, Hook, HookEvent, HookExecutor, HookHandle, HookResult, HookRun, Hooks, Observer,
    Outcome, SubmitError, printable,
};
pub(crate) use event::KEYS as KEYS_OF_EVENT;
use show::Show;

#[cfg(test)]
pub(crate) use {dry_run::Report as DryRun, other_tool::Report as OfOtherTool};

/// How often the spinner turns and an interrupt is checked.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// Practically unlimited: every hook has its own deadline.
const NO_DEADLINE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What `forge-hooks fire --json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "fire"))]
pub(crate) struct Report<'a> {
    #[cfg_attr(test, schemars(with = "crate::cli::shape_tests::Event"))]
    event: &'a HookEvent,
    #[serde(flatten)]
    #[cfg_attr(test, schemars(with = "crate::cli::shape_tests::Outcome"))]
    outcome: &'a Outcome,
    /// The second event, with the changed input, as a host that applies changes fires it.
    #[serde(skip_serializing_if = "Option::is_none")]
    again: Option<Box<Report<'a>>>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(event: &'a HookEvent, outcome: &'a Outcome) -> Self {
        let again = None;
        Self {
            event,
            outcome,
            again,
        }
    }

    pub(crate) fn with_again(mut self, again: Self) -> Self {
        self.again = Some(Box::new(again));
        self
    }
}

pub(crate) fn run(
    args: &Fire,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    if let Some(tool) = args.tool_of {
        return other_tool::run(tool, args, context, terminal);
    }
    let event = event::from_args(args, context, terminal)?;
    let hooks = context.load()?;
    let mut options = FireOptions::default().stop_on_failure(!args.keep_going);
    if args.parallel {
        options = options.parallel();
    }
    if args.dry_run {
        return dry_run::run(args.json, options, &event, context, &hooks, terminal);
    }
    terminal.problems(&hooks.report())?;
    terminal.note_disabled(context.disabled_by(), &hooks)?;
    let record = args.record.as_deref().map(Record::open).transpose()?;
    let firing = Firing {
        context,
        hooks: &hooks,
        options,
        is_json: args.json,
    };
    let first = firing.pass(event, true, terminal)?;
    let again = firing.again(&first, terminal)?;
    let last = again.as_ref().unwrap_or(&first);
    if let (Some(record), None, Some(path)) = (record, last.interrupted, &args.record) {
        let verdict = Verdict::new(&first.outcome, again.as_ref().map(|it| &it.outcome));
        record.append(&first.event, &verdict)?;
        let path = printable(&path.to_string_lossy());
        terminal.note(format_args!("recorded as a case in `{path}`"))?;
    }
    if args.json {
        let report = first.report();
        match &again {
            Some(again) => terminal.json(&report.with_again(again.report()))?,
            None => terminal.json(&report)?,
        }
    }
    Ok(match last.interrupted {
        Some(status) => Ended::Interrupted(status),
        None => Ended::fine_if(first.continues() && last.continues()),
    })
}

impl From<SubmitError> for Failure {
    fn from(error: SubmitError) -> Self {
        Self::new(format!("cannot fire the event: {error}"))
    }
}

/// How an event is fired.
struct Firing<'a> {
    context: &'a Context<'a>,
    hooks: &'a Hooks,
    options: FireOptions,
    is_json: bool,
}

/// An event and what came of it.
struct Pass {
    event: Arc<HookEvent>,
    outcome: Outcome,
    /// Of the hooks in the background.
    background: Vec<HookResult>,
    /// The exit status of the signal that ended it early.
    interrupted: Option<u8>,
}

impl Firing<'_> {
    fn pass(
        &self,
        event: HookEvent,
        is_first: bool,
        terminal: &mut Terminal<'_>,
    ) -> Result<Pass, Failure> {
        // From here on Ctrl-C ends the hooks, not only this program.
        let _ = terminal.interrupted();
        let options = match is_first {
            true => self.options,
            false => self.options.without_background(),
        };
        let event = Arc::new(event);
        let (sender, notes) = mpsc::channel();
        let executor = HookExecutor::builder()
            .registry(Arc::clone(self.hooks.registry()))
            .observer(Notes(sender));
        let executor = self.context.executor(self.hooks, executor);
        let explained = executor.explain(&event, options);
        let mut show = Show::new(self.is_json, &event, &explained, self.context, terminal);
        if show.expected == 0 {
            show.none = dry_run::why_none(&event, &explained, self.context, self.hooks);
        }
        let handle = executor.submit(Arc::clone(&event), options)?;
        let mut running = Running {
            handle,
            executor,
            notes,
            background: Vec::new(),
            interrupted: None,
        };
        let ended = running.watch(&mut show, terminal);
        if ended.is_err() {
            // The output was closed, and the hooks would continue unseen.
            running.handle.cancel();
            let _ = running.executor.shutdown(Duration::ZERO);
        }
        let outcome = ended?;
        show.finish(&outcome, running.interrupted, is_first, terminal)?;
        Ok(Pass {
            event,
            outcome,
            background: running.background,
            interrupted: running.interrupted,
        })
    }

    /// The call with the hooks' changes, which is fired again before it is made.
    fn again(&self, first: &Pass, terminal: &mut Terminal<'_>) -> Result<Option<Pass>, Failure> {
        if first.interrupted.is_some() {
            return Ok(None);
        }
        let Some(changed) = changed_by(&first.event, &first.outcome) else {
            return Ok(None);
        };
        if !self.is_json {
            writeln!(terminal, "\nonce more, with these changes:")?;
        }
        self.pass(changed, false, terminal).map(Some)
    }
}

impl Pass {
    fn continues(&self) -> bool {
        self.outcome
            .results()
            .iter()
            .all(HookResult::should_continue)
    }

    fn report(&self) -> Report<'_> {
        Report::new(&self.event, &self.outcome)
    }
}

/// What happens to a hook, from the thread that runs it.
enum Note {
    Started(Arc<Hook>),
    InBackground(Box<HookResult>),
    Dropped(Arc<Hook>, DropReason),
}

struct Notes(Sender<Note>);

impl Observer for Notes {
    fn on_start(&self, run: &HookRun<'_>) {
        // The receiver is gone when the program is about to end.
        let _ = self.0.send(Note::Started(Arc::clone(run.hook)));
    }

    fn on_finish(&self, run: &HookRun<'_>, result: &HookResult) {
        if run.hook.background() {
            let _ = self.0.send(Note::InBackground(Box::new(result.clone())));
        }
    }

    fn on_drop(&self, run: &HookRun<'_>, reason: DropReason) {
        if run.hook.background() {
            let _ = self.0.send(Note::Dropped(Arc::clone(run.hook), reason));
        }
    }
}

/// An event whose hooks are running.
struct Running {
    handle: HookHandle,
    executor: HookExecutor,
    notes: Receiver<Note>,
    background: Vec<HookResult>,
    interrupted: Option<u8>,
}

impl Running {
    /// Shows each hook as it ends, until all have ended, also those in the background.
    fn watch(&mut self, show: &mut Show, terminal: &mut Terminal<'_>) -> Result<Outcome, Failure> {
        let outcome = loop {
            let outcome = self.handle.wait_timeout(TICK);
            let started = self.take_notes(show, terminal)?;
            let results = outcome
                .as_ref()
                .map_or(self.handle.received(), Outcome::results);
            show.results(results, terminal)?;
            show.in_background(&self.background[started..], terminal)?;
            if let Some(outcome) = outcome {
                break outcome;
            }
            if self.is_interrupted(show, terminal)? {
                self.handle.cancel();
            }
        };
        // Also ends kept processes: otherwise they would run a moment longer, or forever if they ignore the end of
        // their input.
        let deadline = match self.interrupted {
            Some(_) => Duration::ZERO,
            None if show.has_background => NO_DEADLINE,
            None => TICK,
        };
        let executor = self.executor.clone();
        let ending = thread::Builder::new()
            .spawn(move || executor.shutdown(deadline))
            .map_err(|error| Failure::new(format!("cannot start a thread: {error}")))?;
        loop {
            let is_finished = ending.is_finished();
            let started = self.take_notes(show, terminal)?;
            show.in_background(&self.background[started..], terminal)?;
            if is_finished {
                return Ok(outcome);
            }
            if self.is_interrupted(show, terminal)? {
                let _ = self.executor.shutdown(Duration::ZERO);
            }
            thread::sleep(TICK / 10);
        }
    }

    /// Takes what happened, and returns the index of the first new result of a background hook.
    fn take_notes(
        &mut self,
        show: &mut Show,
        terminal: &mut Terminal<'_>,
    ) -> Result<usize, Failure> {
        let known = self.background.len();
        for note in self.notes.try_iter() {
            match note {
                Note::Started(hook) => show.started(hook),
                Note::InBackground(result) => self.background.push(*result),
                Note::Dropped(hook, reason) => show.dropped(&hook, reason, terminal)?,
            }
        }
        show.tick(terminal)?;
        Ok(known)
    }

    /// Whether a signal was received just now.
    fn is_interrupted(
        &mut self,
        show: &mut Show,
        terminal: &mut Terminal<'_>,
    ) -> Result<bool, Failure> {
        if self.interrupted.is_some() {
            return Ok(false);
        }
        self.interrupted = terminal.interrupted();
        if self.interrupted.is_some() {
            show.interrupted(terminal)?;
        }
        Ok(self.interrupted.is_some())
    }
}
