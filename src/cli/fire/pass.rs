//! One fire of an event: it shows the hooks and checks for signals.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded, select};

use super::show::Show;
use crate::cli::io::start;
use crate::cli::{CommandError, Context, Terminal};
use crate::{FireOptions, HookEvent, HookExecutor, HookResult, Hooks, Outcome, Trace};

/// The interval at which the spinner turns and an interrupt is checked.
const TICK: Duration = Duration::from_millis(50);

/// Practically unlimited: every hook has its own deadline.
const NO_DEADLINE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The options with which an event is fired.
pub(crate) struct FirePass<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) hooks: &'a Hooks,
    pub(crate) options: FireOptions,
    /// True if nothing is shown.
    pub(crate) is_silent: bool,
    /// The trace that records the events.
    pub(crate) trace: Option<Trace>,
}

/// An event and its outcome.
pub(crate) struct Pass {
    pub(crate) event: Arc<HookEvent>,
    pub(crate) outcome: Outcome,
    /// The results of the hooks in the background.
    pub(crate) background: Vec<HookResult>,
    /// The exit status of the signal that ended it early.
    pub(crate) interrupted: Option<u8>,
}

impl FirePass<'_> {
    /// Fires an event, as a host that applies changes does.
    pub(crate) fn fire(
        &self,
        event: HookEvent,
        terminal: &mut Terminal<'_>,
    ) -> Result<Pass, CommandError> {
        // From here on Ctrl-C ends the hooks, not only this program.
        let _ = terminal.interrupted();
        let mut executor =
            HookExecutor::builder().registry(Arc::clone(self.hooks.executor().registry()));
        if let Some(trace) = &self.trace {
            executor = executor.trace(trace);
        }
        let engine = self.context.engine(self.hooks, executor);
        let executor = engine.executor();
        let event = Arc::new(event);
        let explained = executor.explain(&event, &self.options);
        let mut show = Show::new(
            self.is_silent,
            (self.context, self.hooks),
            &event,
            &explained,
            terminal,
        );
        let observations = executor.observations();
        let ended = execute(executor.clone(), Arc::clone(&event), self.options.clone())?;
        let result = loop {
            let result = select! {
                recv(observations.channel()) -> next => {
                    next.map_or(Ok(()), |next| show.observe(observations.taken(next)))
                }
                recv(ended) -> outcome => {
                    // Each hook is shown before the outcome.
                    let mut waiting = std::iter::from_fn(|| observations.try_recv());
                    let shown = waiting.try_for_each(|next| show.observe(next));
                    match outcome {
                        Ok(outcome) => shown.and_then(|()| show.decided(outcome)),
                        Err(_) => break shown.and_then(|()| show.conclude()),
                    }
                }
                default(TICK) => Ok(()),
            };
            let result = result.and_then(|()| show.tick());
            if result.is_err() || show.interrupted.is_some() {
                // After the output was closed, the hooks would continue unseen.
                let _ = executor.shutdown(Duration::ZERO);
            }
            if result.is_err() {
                break result;
            }
        };
        result?;
        let none = || CommandError::new("the hooks have ended without an outcome");
        Ok(Pass {
            outcome: *show.outcome.ok_or_else(none)?,
            event,
            background: show.background,
            interrupted: show.interrupted,
        })
    }
}

/// Runs the hooks on another thread, since this one shows them and checks for signals. Returns a channel of the outcome, which is
/// closed when nothing runs any more.
fn execute(
    executor: HookExecutor,
    event: Arc<HookEvent>,
    options: FireOptions,
) -> Result<Receiver<Outcome>, CommandError> {
    let (sender, ended) = bounded(1);
    start(move || {
        // The receiver is gone when the program is about to end.
        let _ = sender.send(executor.execute(&event, options));
        // The shutdown waits for hooks in the background, and ends kept processes: otherwise they would run a moment longer, or
        // forever if they ignore the end of their input.
        let _ = executor.shutdown(NO_DEADLINE);
    })?;
    Ok(ended)
}

impl Pass {
    pub(super) fn continues(&self) -> bool {
        let mut results = self.outcome.results().iter();
        results.all(HookResult::should_continue)
    }
}
