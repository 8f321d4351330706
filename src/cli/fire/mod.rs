//! `fire`: fires an event with the real engine, and shows each hook when it ends.

mod dry_run;
mod event;
mod message;
mod other_tool;
mod resident;
mod show;
mod spinner;
mod unused;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::args::Fire;
use crate::cli::cases::Record;
use crate::cli::context::Context;
use crate::cli::ended::Ended;
use crate::cli::error::Failure;
use crate::cli::terminal::Terminal;
use crate::cli::verdict::{Verdict, changed_by};
use crate::{
    CancelToken, FireOptions, Hook, HookEvent, HookExecutor, HookResult, HookUpdate, Hooks,
    Outcome, SubmitError,
};
use message::{Message, Notes, TICK};
use show::Show;

/// Practically unlimited: every hook has its own deadline.
const NO_DEADLINE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

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
    if args.dry_run {
        return dry_run::run(args, &event, context, &hooks, terminal);
    }
    terminal.problems(&hooks.report())?;
    terminal.note_disabled(context.disabled_by(), &hooks)?;
    if let Some(events) = args.resident {
        return resident::run(events, event, context, &hooks, args.json, terminal);
    }
    let mut options = FireOptions::default().stop_on_failure(!args.keep_going);
    if args.parallel {
        options = options.parallel();
    }
    let record = args.record.as_deref().map(Record::open).transpose()?;
    // From here on Ctrl-C ends the hooks, not only this program.
    let _ = terminal.interrupted();
    let firing = Firing {
        context,
        hooks: &hooks,
        options,
        is_json: args.json,
    };
    let first = firing.pass(event, true, terminal)?;
    let again = firing.again(&first, terminal)?;
    let verdict = Verdict::new(&first.outcome, again.as_ref().map(|it| &it.outcome));
    let last = again.as_ref().unwrap_or(&first);
    if let (Some(record), None) = (record, last.interrupted) {
        record.append(&first.event, &verdict)?;
    }
    if args.json {
        let mut report = first.to_json();
        if let Some(again) = &again {
            report["again"] = again.to_json();
        }
        terminal.json(&report)?;
    }
    Ok(match last.interrupted {
        Some(status) => Ended::Interrupted(status),
        None if first.continues() && last.continues() => Ended::Fine,
        None => Ended::Problems,
    })
}

/// Fires an event, without background hooks, and returns its outcome; None after a signal. Calls `tick` while it
/// waits.
pub(crate) fn outcome_of(
    executor: &HookExecutor,
    event: impl Into<Arc<HookEvent>>,
    terminal: &mut Terminal<'_>,
    mut tick: impl FnMut(&mut Terminal<'_>) -> io::Result<()>,
) -> Result<Option<Outcome>, Failure> {
    let options = FireOptions::default().without_background();
    let mut handle = executor.submit(event, options).map_err(cannot_fire)?;
    while terminal.interrupted().is_none() {
        if let Some(outcome) = handle.wait_timeout(TICK) {
            return Ok(Some(outcome));
        }
        tick(terminal)?;
    }
    handle.cancel();
    let _ = handle.wait();
    Ok(None)
}

fn cannot_fire(error: SubmitError) -> Failure {
    Failure::new(format!("cannot fire the event: {error}"))
}

struct Firing<'a> {
    context: &'a Context<'a>,
    hooks: &'a Hooks,
    options: FireOptions,
    is_json: bool,
}

/// The results of an event.
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
        with_background: bool,
        terminal: &mut Terminal<'_>,
    ) -> Result<Pass, Failure> {
        let mut fired = Fired::start(event, self, with_background)?;
        let mut show = Show::new(&fired.event, &fired.hooks, self.is_json, self.context);
        show.is_again = !with_background;
        if fired.hooks.is_empty() {
            show.none = unused::why(&fired.event, self.hooks, self.context);
        }
        let ended = fired.watch(&mut show, terminal);
        if ended.is_err() {
            // The output was closed, and the hooks would continue unseen.
            fired.token.cancel();
            let _ = fired.executor.shutdown(Duration::ZERO);
        }
        let interrupted = ended?;
        // Ends kept processes. Otherwise they would run a moment longer, or forever if they ignore the end of
        // their input.
        let _ = fired.executor.shutdown(TICK);
        let Some(outcome) = fired.outcome else {
            return Err(Failure::new("the engine has not answered"));
        };
        show.finish(&outcome, interrupted, terminal)?;
        Ok(Pass {
            event: fired.event,
            outcome,
            background: fired.background,
            interrupted,
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
        let mut results = self.outcome.results().iter();
        results.all(HookResult::should_continue)
    }

    /// Converts it for programs, as described by `schemas/fire.schema.json`.
    fn to_json(&self) -> Value {
        let mut report = json!(self.outcome);
        report["event"] = json!(*self.event);
        report
    }
}

/// An event whose hooks are running.
struct Fired {
    event: Arc<HookEvent>,
    hooks: Vec<Arc<Hook>>,
    executor: HookExecutor,
    token: CancelToken,
    messages: Receiver<Message>,
    sender: Sender<Message>,
    outcome: Option<Outcome>,
    background: Vec<HookResult>,
}

impl Fired {
    fn start(
        event: HookEvent,
        firing: &Firing<'_>,
        with_background: bool,
    ) -> Result<Self, Failure> {
        let (found, mut options) = (firing.hooks, firing.options);
        if !with_background {
            options = options.without_background();
        }
        let (sender, messages) = mpsc::channel();
        let executor = HookExecutor::builder()
            .registry(Arc::clone(found.registry()))
            .observer(Notes(sender.clone()));
        let executor = firing.context.executor(found, executor);
        let is_disabled = executor.disabled_by().is_some();
        let mut hooks = executor.hooks_for(&event);
        hooks.retain(|hook| hook.is_system() || !is_disabled);
        hooks.retain(|hook| with_background || !hook.background());
        let event = Arc::new(event);
        let updates = sender.clone();
        let tell = move |update: HookUpdate<'_>| {
            let message = match update {
                HookUpdate::Result(result) => Message::Result(result.clone()),
                HookUpdate::Done(outcome) => Message::Done(outcome),
            };
            let _ = updates.send(message);
        };
        let token = executor
            .submit_with(Arc::clone(&event), options, tell)
            .map_err(cannot_fire)?;
        Ok(Self {
            event,
            hooks,
            executor,
            token,
            messages,
            sender,
            outcome: None,
            background: Vec::new(),
        })
    }

    /// Shows messages until the last one. Returns the exit status of the signal that ended it
    /// early, if any.
    fn watch(
        &mut self,
        show: &mut Show,
        terminal: &mut Terminal<'_>,
    ) -> Result<Option<u8>, Failure> {
        let mut interrupted = None;
        loop {
            match self.messages.recv_timeout(TICK) {
                Ok(Message::Done(outcome)) => {
                    self.outcome = Some(outcome);
                    if !self.hooks.iter().any(|hook| hook.background()) {
                        return Ok(interrupted);
                    }
                    self.await_background(interrupted.is_some());
                }
                Ok(Message::Idle) => return Ok(interrupted),
                Ok(message) => {
                    if let Message::InBackground(result) = &message {
                        self.background.push(result.clone());
                    }
                    show.take(message, terminal)?;
                }
                Err(RecvTimeoutError::Timeout) => show.tick(terminal)?,
                Err(RecvTimeoutError::Disconnected) => return Ok(interrupted),
            }
            if interrupted.is_none() {
                interrupted = terminal.interrupted();
                if interrupted.is_some() {
                    show.interrupted(terminal)?;
                    self.interrupt();
                }
            }
        }
    }

    /// Waits for background hooks on another thread, so that this thread can show them.
    fn await_background(&self, is_interrupted: bool) {
        let (executor, sender) = (self.executor.clone(), self.sender.clone());
        let deadline = if is_interrupted {
            Duration::ZERO
        } else {
            NO_DEADLINE
        };
        let wait = move || {
            let _ = executor.shutdown(deadline);
            let _ = sender.send(Message::Idle);
        };
        if thread::Builder::new().spawn(wait).is_err() {
            let _ = self.executor.shutdown(deadline);
            let _ = self.sender.send(Message::Idle);
        }
    }

    /// Cancels the hooks, and also the background hooks if only they are still running.
    fn interrupt(&self) {
        self.token.cancel();
        if self.outcome.is_some() {
            let _ = self.executor.shutdown(Duration::ZERO);
        }
    }
}
