//! A question of hooks to the host's user, and what the answer means.
//!
//! Does not know what the question is about.

use crate::events::HookEvent;
use crate::outcome::{HookBlockedError, HookResult, Outcome, without_duplicates};

/// Asks the host's user; true allows the action.
pub(super) type Ask<'a> = Box<dyn FnOnce(&Question<'_>) -> bool + Send + 'a>;

/// A question of a hook to the host's user.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Question<'a> {
    /// The event of the action, with the changes that hooks have made.
    pub event: &'a HookEvent,
    /// The result of the first hook that asks; none if the host's own rules ask.
    pub result: Option<&'a HookResult>,
    outcomes: [Option<&'a Outcome>; 2],
}

impl<'a> Question<'a> {
    pub(super) fn new(event: &'a HookEvent, outcomes: [Option<&'a Outcome>; 2]) -> Self {
        let asked = outcomes.into_iter().flatten();
        Self {
            event,
            result: asked.flat_map(Outcome::questions).next(),
            outcomes,
        }
    }

    /// The reason of the first hook that asks; [`reasons`](Question::reasons) has those of all.
    ///
    /// Secrets are masked. The rest is as the hook wrote it: show it with [`printable_lines`](crate::printable_lines).
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.result.and_then(HookResult::reason)
    }

    /// The reasons of all hooks that ask, without duplicates. The user is asked once, for all of them.
    ///
    /// Secrets are masked. The rest is as the hooks wrote it: show it with [`printable_lines`](crate::printable_lines).
    #[must_use]
    pub fn reasons(&self) -> Vec<&str> {
        let outcomes = self.outcomes.into_iter().flatten();
        let asked = outcomes.flat_map(Outcome::questions);
        without_duplicates(asked.filter_map(HookResult::reason))
    }
}

/// Returns the outcomes with the user's answer, if hooks ask in one of them and no hook blocks. A hook that asks only
/// once, about the action before it was changed, means the changed one too.
pub(super) fn agreed(
    event: &HookEvent,
    before: Outcome,
    again: Option<Outcome>,
    ask: Option<Ask<'_>>,
) -> Result<(Outcome, Option<Outcome>), HookBlockedError> {
    let again = match again.map(Outcome::unless_denied).transpose() {
        Ok(again) => again,
        Err(blocked) => return Err(blocked.after(before)),
    };
    let question = Question::new(event, [again.as_ref(), Some(&before)]);
    let (Some(_), Some(ask)) = (question.result, ask) else {
        return Ok((before, again));
    };
    let is_yes = ask(&question);
    let before = before.answer(|_| is_yes);
    let again = again.map(|again| again.answer(|_| is_yes));
    again.as_ref().map_or(Ok(()), Outcome::check)?;
    before.check()?;
    Ok((before, again))
}
