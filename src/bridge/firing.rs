//! Fires an event at its hooks before the deadline of the whole answer.

use std::time::{Duration, Instant};

use crate::events::HookEvent;
use crate::executor::{FireOptions, HookHandle};
use crate::hooks::Hooks;
use crate::outcome::{FailureKind, Outcome};

/// The interval at which a signal is checked.
const TICK: Duration = Duration::from_millis(50);

/// The options with which the events of one call are fired.
pub(super) struct Firing<'a> {
    pub(super) options: FireOptions,
    pub(super) deadline: Deadline,
    /// Returns whether a signal was received.
    pub(super) is_interrupted: &'a mut dyn FnMut() -> bool,
}

/// The time at which the answer is due.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    /// The time from the start of the program.
    after: Duration,
    at: Instant,
    /// The time that hooks have to end after the deadline.
    pub(super) grace: Duration,
}

impl Deadline {
    /// Creates the deadline below this timeout of the agent, which lets everything pass when it is over.
    pub(super) fn below(timeout: Duration) -> Self {
        // Hooks must end, and be killed if they do not.
        let reserve = (timeout / 10).clamp(Duration::from_millis(500), Duration::from_secs(10));
        let after = timeout.saturating_sub(reserve);
        Self {
            after,
            at: Instant::now() + after,
            grace: reserve / 4,
        }
    }

    /// Creates a deadline in a minute, after which no hook has time to end.
    #[cfg(all(test, unix))]
    pub(super) fn without_grace() -> Self {
        let after = Duration::from_secs(60);
        Self {
            after,
            at: Instant::now() + after,
            grace: Duration::ZERO,
        }
    }

    /// Returns when an answer is due that does not wait for the end of anything.
    pub(super) fn last(&self) -> Duration {
        self.after + 3 * self.grace
    }
}

impl Firing<'_> {
    /// Fires an event.
    ///
    /// # Errors
    /// If hooks that can block have not ended in time.
    pub(super) fn fire(&mut self, hooks: &Hooks, event: &HookEvent) -> Result<Outcome, String> {
        let mut handle = hooks.submit_with(event.clone(), self.options.clone());
        loop {
            let left = self.deadline.at.saturating_duration_since(Instant::now());
            if let Some(outcome) = handle.wait_timeout(left.min(TICK)) {
                return Ok(outcome);
            }
            if left.is_zero() {
                let after = self.deadline.after.as_secs_f32();
                let what =
                    format!("has not ended within {after} seconds, the time for the whole answer");
                return self.cut(handle, &what);
            }
            if (self.is_interrupted)() {
                return self.cut(handle, "was ended by a signal");
            }
        }
    }

    /// Ends the hooks of an event. If the event cannot be blocked, its outcome still counts, since it may withhold an output.
    ///
    /// # Errors
    /// If the event can be blocked, or the hooks do not end. The error is the reason, after the name of the hook that ran.
    fn cut(&self, mut handle: HookHandle, what: &str) -> Result<Outcome, String> {
        handle.cancel();
        // The grace counts twice: a hook is first asked to end, and then killed.
        let outcome = handle.wait_timeout(2 * self.deadline.grace);
        let results = outcome.iter().flat_map(Outcome::results);
        let mut cut = results
            .filter(|result| result.failure() == Some(FailureKind::Cancelled) && result.started());
        let name = match cut.next() {
            Some(result) => format!("hook `{}`", result.hook().shown_label()),
            None => "a hook".to_owned(),
        };
        match outcome {
            Some(outcome) if !outcome.can_block() => Ok(outcome),
            _ => Err(format!("{name} {what}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the seconds between the time when the answer is due and the end of the timeout.
    fn reserve(seconds: u64) -> f32 {
        let timeout = Duration::from_secs(seconds);
        (timeout - Deadline::below(timeout).after).as_secs_f32()
    }

    #[test]
    fn the_page_says_when_an_answer_is_due() {
        let page = include_str!("../../docs/agents.md");
        let (least, most) = (reserve(1), reserve(600));
        let due = format!("a tenth of it earlier, at least {least} and at most {most} seconds");
        assert!(page.contains(&due), "{due}");
        assert_eq!([reserve(20), reserve(60)], [2.0, 6.0]);
        assert_eq!(Deadline::below(Duration::ZERO).after, Duration::ZERO);
    }
}
