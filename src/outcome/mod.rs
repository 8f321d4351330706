//! Results: of one hook, and of all hooks of an event.
//!
//! Knows which results block an event. Does not know how a hook is run.

mod end;
mod env_file;
mod error_line;
mod failures;
mod json;
mod residency;
mod result;
mod verdict;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::events::{EventKind, EventType, HookEvent, InputChange};
use crate::hook::Hook;
use crate::printable::{limited, printable_lines};

pub use crate::entry::{Decision, FailureKind, HookOutput};
pub(crate) use end::{End, Trail, exit_failure};
pub(crate) use env_file::EnvFile;
pub(crate) use error_line::error_line;
pub(crate) use failures::{failures_of, unheard};
pub(crate) use residency::Residency;
pub use result::HookResult;
pub(crate) use verdict::Handles;
use verdict::Verdict;

/// The most characters of a text for the model, unless the host sets another number.
pub(crate) const MODEL_TEXT_LIMIT: usize = 10_000;

/// Returns the part of a text that the model gets, unless the host sets another limit.
pub(crate) fn for_model(text: &str) -> Cow<'_, str> {
    limited(text, MODEL_TEXT_LIMIT)
}

/// The results of all hooks of an event, in the order of their registration.
///
/// Each of its texts for the model (the [reason](Outcome::reason), the [context](Outcome::additional_context), the
/// [feedback](Outcome::feedback)) has at most 10,000 characters, unless
/// [`model_text_limit`](crate::HookExecutorBuilder::model_text_limit) sets another number. At the end of a text that is cut, a
/// note says how many characters are missing. The results have the whole texts.
#[derive(Debug, Clone)]
#[must_use = "hooks may have blocked the operation: ask `allowed` or `check`"]
pub struct Outcome {
    kind: EventKind,
    results: Vec<HookResult>,
    /// The most characters of a text for the model.
    text_limit: usize,
    /// The shortened reason, if the reason is longer than that.
    cut_reason: Option<String>,
    /// The change of the event's input by hooks.
    change: Option<Arc<InputChange>>,
}

impl Outcome {
    /// Creates an outcome from these results, for the tests of a host. The engine creates its own.
    ///
    /// ```
    /// use forge_hooks::{EventType, Hook, HookResult, Outcome};
    ///
    /// let result = HookResult::new(Hook::new("tool:*", "./guard.sh")?, 1);
    /// assert!(!Outcome::new(EventType::ToolPreExecute, vec![result.clone()]).allowed());
    /// assert!(Outcome::new(EventType::ToolPostExecute, vec![result]).allowed());
    /// # Ok::<(), forge_hooks::HookError>(())
    /// ```
    pub fn new(event_type: EventType, results: Vec<HookResult>) -> Self {
        let can_block = event_type.can_block();
        let kind = EventKind {
            event_type,
            can_block,
        };
        Self::of_none(kind, MODEL_TEXT_LIMIT).with_results(results)
    }

    /// Creates the outcome of an event without results.
    pub(crate) fn of_none(kind: EventKind, text_limit: usize) -> Self {
        Self {
            kind,
            results: Vec::new(),
            text_limit,
            cut_reason: None,
            change: None,
        }
    }

    pub(crate) fn with_results(mut self, results: Vec<HookResult>) -> Self {
        self.results = results;
        self.with_cut_reason()
    }

    /// Adds the change of the event's input by hooks.
    pub(crate) fn with_change(mut self, change: Option<Arc<InputChange>>) -> Self {
        self.change = change;
        self
    }

    fn with_cut_reason(mut self) -> Self {
        let whole = self.blocked().and_then(HookResult::reason);
        self.cut_reason = whole.and_then(|reason| match limited(reason, self.text_limit) {
            Cow::Borrowed(_) => None,
            Cow::Owned(cut) => Some(cut),
        });
        self
    }

    /// Returns whether the operation may continue: no hook blocks, no [question](Outcome::asks) is open, and no hook has
    /// changed the input of a host that does not [apply changes](crate::FireOptions::applies_updates). Always true for an
    /// event that cannot [block](Outcome::can_block): an operation that has already happened cannot be stopped.
    #[must_use]
    pub fn allowed(&self) -> bool {
        self.blocked().is_none()
    }

    /// Returns the result that makes the operation not [allowed](Outcome::allowed); none if it is allowed. A result that
    /// denies the operation or has failed comes first, then one that stops the turn or changes a value that the host cannot
    /// change, then one that asks the user. For `agent:stop`, none if a hook stops the turn: the agent then stops.
    #[must_use]
    pub fn blocked(&self) -> Option<&HookResult> {
        self.denied().or_else(|| self.asks())
    }

    /// Returns whether the operation is not allowed only because the host has ended the event before its hooks had decided; see
    /// [`HookBlockedError::is_cancelled`].
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let blocked = self.blocked();
        blocked.is_some_and(|result| result.failure == Some(FailureKind::Cancelled))
    }

    /// Returns the result that blocks regardless of the user's answer; see [`blocked`](Outcome::blocked).
    pub(crate) fn denied(&self) -> Option<&HookResult> {
        let blocking = || self.counted().filter(|result| result.stops_the_chain());
        let denying = || blocking().filter(|result| result.verdict() == Verdict::Blocks);
        // A result with a verdict has priority over one of a run that was cancelled.
        let deciding = denying().find(|result| result.failure != Some(FailureKind::Cancelled));
        let denying = deciding.or_else(|| denying().next());
        denying.or_else(|| blocking().next())
    }

    /// Returns the results that determine whether the operation is allowed.
    fn counted(&self) -> impl Iterator<Item = &HookResult> {
        let stops = self.event_type().is_agent_stop() && self.stops_turn();
        let counts = self.can_block() && !stops;
        self.results.iter().filter(move |_| counts)
    }

    /// Returns the first result with an open question to the host's user. None if the operation is not allowed regardless of
    /// the user's answer, or the event cannot block. If the host does not [handle](crate::FireOptions::handles_ask)
    /// questions, a hook that asks blocks.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use forge_hooks::{FireOptions, Hook, HookEvent, HookExecutor};
    ///
    /// let executor = HookExecutor::builder().build();
    /// let command = r#"echo '{"decision": "ask", "reason": "it is late"}'"#;
    /// executor.registry().register(Hook::new("tool:pre_execute", command)?);
    /// let event = HookEvent::tool_pre_execute("bash", "make deploy");
    ///
    /// let outcome = executor.execute(&event, FireOptions::default());
    /// assert!(!outcome.allowed() && outcome.asks().is_none());
    ///
    /// let outcome = executor.execute(&event, FireOptions::default().handles_ask());
    /// let question = outcome.asks().and_then(|result| result.reason());
    /// assert_eq!(question, Some("it is late"));
    /// assert!(!outcome.allowed(), "a question is not a yes");
    /// assert!(outcome.answer(|question| question.reason() == Some("it is late")).allowed());
    /// # }
    /// # Ok::<(), forge_hooks::HookError>(())
    /// ```
    #[must_use]
    pub fn asks(&self) -> Option<&HookResult> {
        self.questions().next()
    }

    /// Returns all results with an open question, in order. Each may have its own reason, and the user should see
    /// all reasons.
    pub(crate) fn questions(&self) -> impl Iterator<Item = &HookResult> {
        let is_denied = self.denied().is_some();
        let results = self.counted().filter(move |_| !is_denied);
        results.filter(|result| result.verdict().is_open_question())
    }

    /// Returns the outcome after the user's answers. `ask` gets each open question, in
    /// order, up to the first no. After a yes the hook allows; after a no it blocks, and its reason says that the
    /// user declined. Asks nothing if the operation is blocked.
    pub fn answer(mut self, mut ask: impl FnMut(&HookResult) -> bool) -> Self {
        if self.asks().is_none() {
            return self;
        }
        let results = self.results.iter_mut();
        for result in results.filter(|result| result.verdict().is_open_question()) {
            let is_yes = ask(result);
            *result = result.clone().answered(is_yes);
            if !is_yes {
                break;
            }
        }
        self.with_cut_reason()
    }

    /// Returns whether the operation is [allowed](Outcome::allowed) and was explicitly granted: by a hook (`"decision":
    /// "allow"`) that [may](crate::hook::May::Grant) grant, or by the user in an [answer](Outcome::answer). A host can then
    /// leave out a question of its own to its user. A hook that only has no objection grants nothing.
    #[must_use]
    pub fn grants(&self) -> bool {
        self.allowed() && self.results.iter().any(HookResult::grants)
    }

    /// Returns the strictest decision of the hooks; none if no hook has decided. It is not public, since "not `Block`" would be
    /// read as a yes: a host asks only [`allowed`](Outcome::allowed).
    pub(crate) fn decision(&self) -> Option<Decision> {
        let denied = self.denied();
        if denied.is_some_and(|result| result.verdict() != Verdict::Stops) {
            return Some(Decision::Block);
        }
        if denied.is_some() {
            return None;
        }
        let is_open = !self.can_block() || self.asks().is_some();
        let decided = self
            .results
            .iter()
            .filter_map(|result| match result.verdict() {
                Verdict::Grants => Some(Decision::Allow),
                Verdict::Asks { .. } if is_open => Some(Decision::Ask),
                _ => None,
            });
        decided.reduce(Decision::stricter)
    }

    /// Returns the feedback for the model after a tool has run, in the order of the hooks, without duplicates, separated by
    /// newlines.
    #[must_use]
    pub fn feedback(&self) -> Option<String> {
        joined([self], |output| output.feedback.as_deref())
    }

    /// Returns whether a hook asks the host to stop its whole turn, not only this operation. This is possible on every
    /// event, even on one that cannot be blocked.
    #[must_use]
    pub fn stops_turn(&self) -> bool {
        self.outputs().any(|output| output.stops_turn)
    }

    /// Returns the reason that a hook gives for stopping the turn.
    #[must_use]
    pub fn stop_reason(&self) -> Option<&str> {
        let results = self.results.iter();
        let answers = results.filter_map(|result| Some((result, result.enforced_output()?)));
        let mut stops = answers.filter(|(_, output)| output.stops_turn);
        stops.find_map(|(result, output)| {
            let reason = output.reason.as_ref().and_then(|_| result.reason());
            output.stop_reason.as_deref().or(reason)
        })
    }

    /// Returns the messages of hooks for the user, in order, without duplicates.
    #[must_use]
    pub fn system_messages(&self) -> Vec<&str> {
        texts([self], |output| output.system_message.as_deref())
    }

    /// Returns the context of hooks for the model, in order, without duplicates, separated by newlines.
    #[must_use]
    pub fn additional_context(&self) -> Option<String> {
        joined([self], |output| output.additional_context.as_deref())
    }

    /// Returns the event with the changes that hooks have made to its input: the arguments of a tool, a prompt, or the messages of
    /// a request to a model. None if they have changed nothing, or if one of them blocks.
    ///
    /// Only an event that is fired with [`applies_updates`](crate::FireOptions::applies_updates) is changed. Each hook receives the
    /// event as the hooks before it have left it, and if it is changed, the hooks before the last change run again, so that each
    /// guard has seen this event.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use forge_hooks::{FireOptions, Hook, HookEvent, HookExecutor};
    /// use forge_hooks::hook::May;
    /// use serde_json::json;
    ///
    /// let executor = HookExecutor::builder().build();
    /// let command = r#"echo '{"updatedInput": {"command": "ls -l"}}'"#;
    /// executor.registry().register(Hook::new("tool:pre_execute", command)?.with_may([May::ChangeInput]));
    /// let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
    /// let outcome = executor.execute(&event, FireOptions::new().applies_updates());
    /// let changed = outcome.changed_event().expect("the hook has changed it");
    /// assert_eq!(changed.data()["tool_args"]["command"], "ls -l");
    /// # }
    /// # Ok::<(), forge_hooks::HookError>(())
    /// ```
    #[must_use]
    pub fn changed_event(&self) -> Option<&HookEvent> {
        self.change().map(|change| &change.event)
    }

    /// Returns the members of the input that hooks have changed, with their new values: members of a tool's arguments, the
    /// `content` of a prompt, or the `messages` for a model. If a hook has removed a member, returns all that are left.
    /// [`changed_event`](Self::changed_event) has the whole input.
    #[must_use]
    pub fn updated_input(&self) -> Option<&Map<String, Value>> {
        self.change().map(|change| &change.updates)
    }

    /// Returns whether a hook has removed a member of the input.
    pub(crate) fn removes_input(&self) -> bool {
        self.change().is_some_and(|change| change.removes)
    }

    fn change(&self) -> Option<&InputChange> {
        let change = self.change.as_deref()?;
        self.denied().is_none().then_some(change)
    }

    /// Returns the replacement of the tool's output that hooks on `tool:post_execute` give to the model. Each hook receives
    /// the output with the changes of the hooks before it, so the last one counts. None if the output is unchanged, and on any
    /// other event.
    ///
    /// If a hook whose failure [withholds](crate::FailurePolicy::Withhold) the output has failed,
    /// blocked or been cancelled, this is a note that names the hook. The host gives this value to its model;
    /// [`ToolRun::next`](crate::lifecycle::ToolRun::next) has it, or else the tool's own output, as text.
    #[must_use]
    pub fn updated_output(&self) -> Option<Value> {
        if self.kind.event_type != EventType::ToolPostExecute {
            return None;
        }
        let withheld = self.results.iter().find_map(HookResult::withheld_output);
        let mut last_first = self.results.iter().rev();
        withheld.or_else(|| last_first.find_map(HookResult::replaced_output).cloned())
    }

    fn outputs(&self) -> impl Iterator<Item = &HookOutput> {
        self.results.iter().filter_map(HookResult::enforced_output)
    }

    /// Returns the reason why the operation is not allowed: that of the hook that blocks, or of the first hook that asks;
    /// none if the operation is allowed. It is cut to the limit of texts for the model; the reason of the result is not.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        let cut = self.cut_reason.as_deref();
        cut.or_else(|| self.blocked().and_then(HookResult::reason))
    }

    /// Returns the hooks that failed and did not block, on any event, a line each. The host shows them to its user, who otherwise
    /// does not learn that a hook is broken.
    ///
    /// Also hooks that were probably intended to block and did not (for example, they wrote an object such as `{"block": true}`,
    /// which is not an answer), hooks whose answer had an effect that they [may](crate::Hook::with_may) not have, and the user's
    /// own hooks whose script has changed since the load. A line has the hook's label and the first line of its reason, made
    /// [printable](crate::printable()), with secrets masked as in a trace.
    ///
    /// ```
    /// use forge_hooks::{EventType, Hook, HookResult, Outcome};
    ///
    /// let greets = Hook::new("session:start", "./greet.sh")?.with_description("Greets");
    /// let outcome = Outcome::new(EventType::SessionStart, vec![HookResult::new(greets, 3)]);
    /// assert!(outcome.allowed(), "a session has started already");
    /// assert_eq!(
    ///     outcome.failures(),
    ///     ["hook `Greets` failed on `session:start`: exited with code 3"]
    /// );
    /// # Ok::<(), forge_hooks::HookError>(())
    /// ```
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        failures_of([self])
    }

    /// Checks that the operation is [allowed](Outcome::allowed).
    ///
    /// ```
    /// # #![deny(unused_must_use)]
    /// # use forge_hooks::{FireOptions, HookBlockedError, HookEvent, HookExecutor};
    /// fn main() -> Result<(), HookBlockedError> {
    ///     let hooks = HookExecutor::builder().build();
    ///     let event = HookEvent::tool_pre_execute("bash", "ls");
    ///     hooks.execute(&event, FireOptions::default()).check()?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// If the operation is not allowed, with the result that blocks or asks and a copy of this outcome.
    pub fn check(&self) -> Result<(), HookBlockedError> {
        match self.blocked().cloned() {
            Some(result) => Err(HookBlockedError::of(self.clone(), result)),
            None => Ok(()),
        }
    }

    /// Returns the outcome itself unless the operation is denied. A question may be open.
    pub(crate) fn unless_denied(self) -> Result<Self, HookBlockedError> {
        match self.denied().cloned() {
            Some(result) => Err(HookBlockedError::of(self, result)),
            None => Ok(self),
        }
    }

    /// Returns the results, so that remarks can be added.
    #[cfg(feature = "cli")]
    pub(crate) fn results_mut(&mut self) -> &mut [HookResult] {
        &mut self.results
    }

    /// Makes this the outcome of an event that cannot be blocked.
    pub(crate) fn without_block(mut self) -> Self {
        self.kind.can_block = false;
        self.with_cut_reason()
    }

    /// Returns the results, in the order of the hooks.
    #[must_use]
    pub fn results(&self) -> &[HookResult] {
        &self.results
    }

    /// Returns only the results.
    pub(crate) fn into_results(self) -> Vec<HookResult> {
        self.results
    }

    /// Returns the kind of event for which the hooks were run.
    #[must_use]
    pub fn event_type(&self) -> &EventType {
        &self.kind.event_type
    }

    /// Returns whether hooks can block such an event: [`EventType::can_block`], unless the host has declared
    /// that the event [only notifies](crate::EventSpec::notify_only).
    #[must_use]
    pub fn can_block(&self) -> bool {
        self.kind.can_block
    }
}

/// Returns the `text` of all answers, without duplicates: two hooks may give the same text, and one hook may give it in two
/// runs.
pub(crate) fn texts<'a>(
    outcomes: impl IntoIterator<Item = &'a Outcome>,
    text: impl Fn(&'a HookOutput) -> Option<&'a str>,
) -> Vec<&'a str> {
    without_duplicates(
        outcomes
            .into_iter()
            .flat_map(Outcome::outputs)
            .filter_map(text),
    )
}

/// Returns the `text` of all answers for the model: without duplicates, separated by newlines and within the limit. None if no
/// answer has the text.
pub(crate) fn joined<'a>(
    outcomes: impl IntoIterator<Item = &'a Outcome>,
    text: impl Fn(&'a HookOutput) -> Option<&'a str>,
) -> Option<String> {
    let outcomes: Vec<_> = outcomes.into_iter().collect();
    // All outcomes come from one executor, and therefore have the same limit.
    let limit = outcomes.first()?.text_limit;
    let texts = texts(outcomes, text);
    (!texts.is_empty()).then(|| limited(&texts.join("\n"), limit).into_owned())
}

pub(crate) fn without_duplicates<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for text in texts {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

impl<'a> IntoIterator for &'a Outcome {
    type Item = &'a HookResult;
    type IntoIter = std::slice::Iter<'a, HookResult>;

    fn into_iter(self) -> Self::IntoIter {
        self.results.iter()
    }
}

/// Error of an operation that a hook has blocked.
///
/// The message contains the hook's label and its reason, made [printable](crate::printable()) and limited as
/// [`Outcome::reason`] is:
///
/// ```
/// use forge_hooks::{Hook, HookBlockedError, HookResult};
///
/// let hook = Hook::new("tool:pre_execute:bash", "./guard.sh")?.with_description("Guards the shell");
/// let result = HookResult::new(hook, 1).with_stdout("sudo is not allowed\n");
/// let error = HookBlockedError::new(result);
/// assert_eq!(error.to_string(), "blocked by hook `Guards the shell`: sudo is not allowed");
/// # Ok::<(), forge_hooks::HookError>(())
/// ```
///
/// If a hook asks and the user has not answered, or if the host has [cancelled](HookBlockedError::is_cancelled) the event,
/// the message says so.
///
/// `Debug` shows the same message, since Rust prints an error that `main` returns with `Debug`.
#[derive(Clone)]
#[non_exhaustive]
pub struct HookBlockedError {
    /// The result of the hook that blocked, or that asks.
    pub result: Box<HookResult>,
    outcome: Option<Box<Outcome>>,
}

impl HookBlockedError {
    /// Creates an error for this result.
    #[must_use]
    pub fn new(result: HookResult) -> Self {
        Self {
            result: Box::new(result),
            outcome: None,
        }
    }

    /// Creates an error for this result, which is one of the outcome's.
    pub(crate) fn of(outcome: Outcome, result: HookResult) -> Self {
        Self {
            outcome: Some(Box::new(outcome)),
            ..Self::new(result)
        }
    }

    /// Creates an error for an action that the host has cancelled before it began.
    pub(crate) fn cancelled() -> Self {
        let why = "cancelled by the host before it began";
        Self::without_hook(FailureKind::Cancelled, why)
    }

    /// Creates an error for an action that the engine itself refuses.
    pub(crate) fn not_run(why: &str) -> Self {
        Self::without_hook(FailureKind::NotTaken, why)
    }

    fn without_hook(failure: FailureKind, why: &str) -> Self {
        Self::new(HookResult::failing(Hook::placeholder(why), failure, why))
    }

    /// Returns the results of all hooks of the event. Hooks that ran before the one that blocked may have messages for the
    /// user, or context for the model. None in an error that a host created from a result.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_deref()
    }

    /// Returns whether the host itself has ended the event before its hooks had decided, by a cancellation, or by a shutdown
    /// while they ran. Then there is no verdict about the operation, and the model should not get one. The host does not run
    /// the operation, and ends the cancelled work.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.result.failure == Some(FailureKind::Cancelled)
    }
}

impl fmt::Display for HookBlockedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = self.result.hook.shown_label();
        let outcome = self.outcome();
        let limit = outcome.map_or(MODEL_TEXT_LIMIT, |outcome| outcome.text_limit);
        let reason = printable_lines(self.result.reason().unwrap_or("no reason given"));
        let reason = limited(&reason, limit);
        match self.result.verdict() {
            // The result replaces those of hooks that have not seen the event, so no hook can be named.
            _ if self.result.failure == Some(FailureKind::NotTaken) => {
                write!(f, "not run: {reason}")
            }
            _ if self.is_cancelled() && self.result.hook.is_refused() => f.write_str(&reason),
            _ if self.is_cancelled() => {
                write!(f, "cancelled before hook `{label}` had decided")
            }
            Verdict::Asks { is_open: true } => write!(
                f,
                "hook `{label}` asks, and the user has not answered: {reason} (a host that handles `ask` asks its user, \
                 and passes the answer to `Outcome::answer`)"
            ),
            _ => write!(f, "blocked by hook `{label}`: {reason}"),
        }
    }
}

impl std::error::Error for HookBlockedError {}

impl fmt::Debug for HookBlockedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
