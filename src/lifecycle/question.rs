//! A question of hooks to the host's user, and the effect of the answer.
//!
//! Knows no kind of action.

use std::fmt;

use serde_json::Value;

use super::table::ARGS;
use crate::events::{AGENT_TYPE, HookEvent, Vocabulary};
use crate::outcome::{HookBlockedError, HookResult, Outcome, without_duplicates};
use crate::printable::{limited, printable, printable_lines};

/// Asks the host's user; true allows the action.
pub(super) type Ask<'a> = Box<dyn FnOnce(&Question<'_>) -> bool + Send + 'a>;

/// A question of a hook to the host's user.
///
/// `Display` has all that the user must know to answer the question, in lines, made [printable](crate::printable_lines()):
/// the hook that asks, the reason, and the tool with its arguments, or the event and the fields of a host's own action, with the
/// changes of hooks. Each line has an end. Show all of it: if questions
/// of parallel calls are open at once, a user who sees only the reason cannot tell them apart.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Question<'a> {
    /// The event of the action, with the changes that hooks have made: its `tool_name`, and in its data the arguments to which
    /// the user says yes (`tool_args`).
    pub event: &'a HookEvent,
    /// The result of the first hook that asks; none if the host's own rules ask.
    pub result: Option<&'a HookResult>,
    outcomes: [Option<&'a Outcome>; 2],
}

/// The most characters of a value in a question.
const LONGEST_ARGS: usize = 2_000;

fn text_of(value: &Value) -> String {
    printable(&limited(&value.to_string(), LONGEST_ARGS))
}

impl fmt::Display for Question<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A hook may ask twice: when a permission is checked, and when the user is asked for it.
        let mut asked = Vec::new();
        for result in self.asking() {
            let question = (result.hook().shown_label(), result.reason());
            if !asked.contains(&question) {
                asked.push(question);
            }
        }
        for (label, reason) in asked {
            let reason = printable_lines(reason.unwrap_or("no reason given"));
            writeln!(f, "hook `{label}` asks: {reason}")?;
        }
        if let Some(agent) = self.event.data.get(AGENT_TYPE).and_then(Value::as_str) {
            writeln!(f, "agent: {}", printable(agent))?;
        }
        if let Some(tool) = &self.event.tool_name {
            writeln!(f, "tool: {}", printable(tool))?;
        }
        if let Some(args) = self.event.data.get(ARGS) {
            writeln!(f, "arguments: {}", text_of(args))?;
        }
        let name = self.event.event_type.as_str();
        let is_known = Vocabulary::known().event(name).is_some();
        if is_known {
            return Ok(());
        }
        writeln!(f, "event: {}", self.event.event_type)?;
        let fields = self.event.data.iter();
        for (name, value) in fields.filter(|(name, _)| ![ARGS, AGENT_TYPE].contains(&name.as_str()))
        {
            writeln!(f, "{}: {}", printable(name), text_of(value))?;
        }
        Ok(())
    }
}

impl<'a> Question<'a> {
    fn asking(&self) -> impl Iterator<Item = &'a HookResult> {
        let outcomes = self.outcomes.into_iter().flatten();
        outcomes.flat_map(Outcome::questions)
    }

    pub(super) fn new(event: &'a HookEvent, outcomes: [Option<&'a Outcome>; 2]) -> Self {
        let asked = outcomes.into_iter().flatten();
        Self {
            event,
            result: asked.flat_map(Outcome::questions).next(),
            outcomes,
        }
    }

    /// Returns the reasons of all hooks that ask, without duplicates. The user is asked once, for all of them.
    ///
    /// Secrets are masked. The rest is unchanged: show it with [`printable_lines`](crate::printable_lines).
    #[must_use]
    pub fn reasons(&self) -> Vec<&str> {
        without_duplicates(self.asking().filter_map(HookResult::reason))
    }
}

/// Returns the outcome with the user's answer, if hooks ask and no hook blocks.
pub(super) fn agreed(
    event: &HookEvent,
    outcome: Outcome,
    ask: Option<Ask<'_>>,
) -> Result<Outcome, HookBlockedError> {
    let question = Question::new(event, [Some(&outcome), None]);
    let (Some(_), Some(ask)) = (question.result, ask) else {
        return Ok(outcome);
    };
    let is_yes = ask(&question);
    let outcome = outcome.answer(|_| is_yes);
    outcome.check()?;
    Ok(outcome)
}
