//! An action whose hooks run on the pool: a program with a screen polls it, and its question is a value.
//!
//! Does not know what the host draws meanwhile.

use std::fmt;

use super::action::{Action, Begins, Request, Running};
use super::permit::Permit;
use super::question::Question;
use super::tool::Tool;
use crate::events::HookEvent;
use crate::executor::HookHandle;
use crate::outcome::{HookBlockedError, Outcome};

/// An action that was [submitted](Request::submit): its hooks run while the host goes on. Dropping it cancels them.
///
/// ```
/// # #[cfg(unix)] {
/// use forge_hooks::{Hook, HookExecutor, Lifecycle};
///
/// let executor = HookExecutor::builder().build();
/// let asks = r#"echo '{"decision": "ask", "reason": "it is late"}'"#;
/// executor.registry().register(Hook::new("tool:pre_execute", asks)?);
/// let mut call = Lifecycle::new(executor).tool("bash", "make").submit();
/// let permit = loop {
///     // ... a frame: draw, and read the keys ...
///     if let Some(question) = call.question() {
///         let is_yes = question.reasons() == ["it is late"]; // as its user answers
///         call.answer(is_yes);
///     }
///     if let Some(begun) = call.poll() {
///         break begun?;
///     }
///     # std::thread::yield_now();
/// };
/// let run = permit.run(|_, _| Ok::<_, String>("made"));
/// # assert!(!run.is_error);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the action does not begin before `poll` has said so"]
pub struct Submitted<A: Action> {
    step: Step<A>,
}

enum Step<A: Action> {
    /// The hooks of the event before the action run.
    Fired(Box<Request<'static, A>>, Box<HookEvent>, HookHandle),
    /// They ask, and the user has not answered.
    Asks(Box<Request<'static, A>>, Box<HookEvent>, Box<Outcome>),
    /// The hooks of the prompt for a permission run.
    Prompted(Box<Running<A>>, Box<HookEvent>, HookHandle),
    Decided(Box<Begun<A>>),
    /// The host has the result.
    Over,
}

type Begun<A> = Result<Running<A>, HookBlockedError>;

impl<A: Action> Request<'static, A> {
    /// Submits the event before the action, and does not wait: [`poll`](Submitted::poll) says when it has begun. Hooks that ask
    /// get their answer by [`question`](Submitted::question) and [`answer`](Submitted::answer), not by
    /// [`on_ask`](Request::on_ask). The later events of the action are not waited for either; see
    /// [`without_waiting`](super::Lifecycle::without_waiting).
    pub fn submit(mut self) -> Submitted<A> {
        self.open.lifecycle.waits = false;
        let step = match self.announced() {
            Err(error) => Step::Decided(Box::new(Err(error))),
            Ok(event) => {
                let options = self.options(true);
                let executor = &self.open.lifecycle.executor;
                let handle = executor.submit_or_refuse(event.clone(), options);
                Step::Fired(Box::new(self), Box::new(event), handle.cancel_on_drop())
            }
        };
        Submitted { step }
    }
}

impl<A: Begins> Submitted<A> {
    /// Returns the action once it has begun, or why it must not; none while hooks run, while a question is open, and after
    /// that. Never blocks.
    ///
    /// # Errors
    /// The errors of [`begin`](Request::begin).
    pub fn poll(&mut self) -> Option<Result<Running<A>, HookBlockedError>> {
        self.advance()
    }
}

impl Submitted<Tool> {
    /// Returns the permit once hooks have allowed the call, or why it must not be made; none while hooks run, while a question is
    /// open, and after that. Never blocks.
    ///
    /// # Errors
    /// The errors of [`permit`](Request::permit).
    pub fn poll(&mut self) -> Option<Result<Permit, HookBlockedError>> {
        Some(self.advance()?.map(Permit::new))
    }
}

impl<A: Action> Submitted<A> {
    /// Returns the open question of hooks, for the user. [`poll`](Self::poll) finds it.
    #[must_use]
    pub fn question(&mut self) -> Option<Question<'_>> {
        self.look();
        match &self.step {
            Step::Asks(_, event, outcome) => Some(Question::new(event, [Some(outcome), None])),
            _ => None,
        }
    }

    /// Answers the open [question](Self::question); true allows the action. Without a question, it has no effect.
    pub fn answer(&mut self, is_yes: bool) {
        self.step = match std::mem::replace(&mut self.step, Step::Over) {
            Step::Asks(request, _, outcome) => {
                let outcome = outcome.answer(|_| is_yes);
                match request.open.check().and_then(|()| outcome.check()) {
                    Ok(()) => prompt(request.running(outcome)),
                    Err(error) => Step::Decided(Box::new(Err(error))),
                }
            }
            other => other,
        };
    }

    /// Cancels the action: the running hook is ended, an open question closes, and [`poll`](Self::poll) says that it [is
    /// cancelled](HookBlockedError::is_cancelled). It has no effect once the action has begun or was blocked.
    pub fn cancel(&mut self) {
        if !matches!(self.step, Step::Decided(_) | Step::Over) {
            self.step = Step::Decided(Box::new(Err(HookBlockedError::cancelled())));
        }
    }

    fn advance(&mut self) -> Option<Begun<A>> {
        self.look();
        match std::mem::replace(&mut self.step, Step::Over) {
            Step::Decided(begun) => Some(*begun),
            other => {
                self.step = other;
                None
            }
        }
    }

    /// Takes what hooks have decided since the last look.
    fn look(&mut self) {
        self.step = match std::mem::replace(&mut self.step, Step::Over) {
            Step::Fired(request, event, handle) => heard(request, event, handle),
            Step::Prompted(running, event, handle) => prompted(running, event, handle),
            Step::Asks(request, event, outcome) => match request.open.check() {
                Ok(()) => Step::Asks(request, event, outcome),
                Err(error) => Step::Decided(Box::new(Err(error))),
            },
            other => other,
        };
    }
}

fn heard<A: Action>(
    mut request: Box<Request<'static, A>>,
    event: Box<HookEvent>,
    mut handle: HookHandle,
) -> Step<A> {
    let Some(outcome) = handle.try_wait() else {
        return Step::Fired(request, event, handle);
    };
    let heard = request.heard(*event, outcome);
    match heard.and_then(|heard| request.open.check().map(|()| heard)) {
        Err(error) => Step::Decided(Box::new(Err(error))),
        Ok((event, outcome)) if !A::DECIDES && outcome.asks().is_some() => {
            Step::Asks(request, Box::new(event), Box::new(outcome))
        }
        Ok((_, outcome)) => prompt(request.running(outcome)),
    }
}

/// Submits the second event before the action, if it has one.
fn prompt<A: Action>(mut running: Running<A>) -> Step<A> {
    let Some((event, options)) = A::prompt(&mut running) else {
        A::begun(&mut running);
        return Step::Decided(Box::new(Ok(running)));
    };
    let executor = &running.open.lifecycle.executor;
    let handle = executor.submit_or_refuse(event.clone(), options);
    let handle = handle.cancel_on_drop();
    Step::Prompted(Box::new(running), Box::new(event), handle)
}

fn prompted<A: Action>(
    mut running: Box<Running<A>>,
    event: Box<HookEvent>,
    mut handle: HookHandle,
) -> Step<A> {
    let Some(outcome) = handle.try_wait() else {
        return Step::Prompted(running, event, handle);
    };
    let begun = outcome.unless_denied().map(|outcome| {
        A::prompted(&mut running, *event, outcome);
        A::begun(&mut running);
        *running
    });
    Step::Decided(Box::new(begun))
}

impl<A: Action> fmt::Debug for Submitted<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = match &self.step {
            Step::Fired(..) | Step::Prompted(..) => "hooks run",
            Step::Asks(..) => "asks",
            Step::Decided(_) => "decided",
            Step::Over => "over",
        };
        f.debug_tuple("Submitted").field(&step).finish()
    }
}
