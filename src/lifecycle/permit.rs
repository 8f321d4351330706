//! A permit: hooks have allowed one call of a tool. It ends only by running the tool, or by refusing to.
//!
//! The function that runs tools takes a permit, so the compiler finds a call of a tool that hooks have not seen.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use serde::Serialize;
use serde_json::Value;

use super::action::{Request, Running};
use super::table::ARGS;
use super::tool::{End, Tool, ToolRun, json_of};
use crate::outcome::{HookBlockedError, Outcome};

/// Proves that hooks, and the user if they ask, have allowed one call of a tool with these arguments.
///
/// Only [`Lifecycle::tool`](crate::Lifecycle::tool) gives a permit, and only after every guard has seen the arguments in it.
/// The function of a host that runs tools takes a permit, in place of a name and arguments, and returns a [`ToolRun`], which
/// only [`run`](Self::run) gives. Then no part of the host can run a tool that no hook has seen, run it with other arguments,
/// run it twice for one yes, or forget the event of its end.
///
/// ```
/// use forge_hooks::lifecycle::{Next, ToolRun};
/// use forge_hooks::{Lifecycle, Permit};
/// use serde_json::json;
///
/// /// The only function that runs tools.
/// fn use_tool(permit: Permit) -> ToolRun {
///     permit.run(|tool, args| match tool {
///         "ls" => Ok(format!("what is in {}", args["path"])),
///         other => Err(format!("there is no tool {other}")),
///     })
/// }
///
/// let hooks = Lifecycle::without_hooks(); // as in the tests of a host
/// let run = hooks.tool("ls", json!({"path": "."})).run(use_tool);
/// assert_eq!(run.next, Next::GoOn(r#"what is in ".""#.to_owned()));
/// ```
///
/// A permit that is kept is refused if its [token](super::Request::cancelled_by) was cancelled meanwhile, or if there are
/// other hooks for the call now. One that is dropped has not run: `tool:error` is fired.
#[must_use = "hooks have allowed a call, and it is not made"]
pub struct Permit {
    running: Running<Tool>,
}

impl Request<'_, Tool> {
    /// Lets hooks that change the arguments (`updatedInput`) block the call.
    ///
    /// Default: the permit has the changed arguments, as [`applies_updates`](crate::FireOptions::applies_updates) says. A change of
    /// arguments that are not a JSON object blocks.
    pub fn refuse_updates(mut self) -> Self {
        self.applies_updates = false;
        self
    }

    /// Fires `tool:pre_execute`, and runs its hooks on this thread. A batch of calls needs no order: each permit has its own tool,
    /// arguments and end.
    ///
    /// # Errors
    /// If a hook blocks the call or stops the turn, the user declines when asked, or the host
    /// [cancels](HookBlockedError::is_cancelled) the event. `ToolRun::from(error)` is what follows then.
    pub fn permit(self) -> Result<Permit, HookBlockedError> {
        self.open.lifecycle.warn_if_unguarded();
        self.start().map(Permit::new)
    }

    /// Fires `tool:pre_execute`, and calls the function that runs tools with the [`Permit`]. If a hook blocks, it is not called,
    /// and the model gets the reason.
    pub fn run(self, use_tool: impl FnOnce(Permit) -> ToolRun) -> ToolRun {
        match self.permit() {
            Ok(permit) => use_tool(permit),
            Err(blocked) => ToolRun::from(blocked),
        }
    }
}

impl Permit {
    pub(super) fn new(running: Running<Tool>) -> Self {
        Self { running }
    }

    /// Returns the host's name of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.running.open.tool.as_deref().unwrap_or_default()
    }

    /// Returns the arguments, with the changes of hooks, for a prompt or a rule of the host's own.
    #[must_use]
    pub fn args(&self) -> &Value {
        self.running.open.data.get(ARGS).unwrap_or(&Value::Null)
    }

    /// Returns the outcome of `tool:pre_execute`.
    pub fn before(&self) -> &Outcome {
        &self.running.before
    }

    /// Calls the tool with its name and its arguments, and fires `tool:post_execute` with its result, or `tool:error` with
    /// its error message.
    ///
    /// The tool is not called if the call was cancelled since the permit was given, or if its hooks are now others.
    ///
    /// # Panics
    /// If the tool panics, after `tool:error` has been fired with the message of the panic.
    pub fn run<T: Serialize, E: fmt::Display>(
        mut self,
        tool: impl FnOnce(&str, &Value) -> Result<T, E>,
    ) -> ToolRun {
        if let Err(error) = self.check() {
            return self.not_run(error);
        }
        let call = || tool(self.tool(), self.args());
        // Unwind safety: the panic continues, so no state that the tool left inconsistent is used.
        let result = match catch_unwind(AssertUnwindSafe(call)) {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(payload) => {
                // The panic is the result.
                self.running.open.end_unseen(Err(panic_message(&*payload)));
                resume_unwind(payload)
            }
        };
        let result = result.map(|value| json_of(self.tool(), &value));
        let after = self.running.open.end(result.clone());
        self.ended(result, after)
    }

    /// Calls an async tool, as [`run`](Self::run) does. No call waits: the hooks after the tool run on the pool. It needs no
    /// runtime. If the future is dropped, `tool:error` is fired.
    pub async fn run_async<T: Serialize, E: fmt::Display, F>(
        mut self,
        tool: impl FnOnce(String, Value) -> F,
    ) -> ToolRun
    where
        F: Future<Output = Result<T, E>>,
    {
        if let Err(error) = self.check() {
            return self.not_run(error);
        }
        let called = tool(self.tool().to_owned(), self.args().clone());
        let result = called.await.map_err(|error| error.to_string());
        let result = result.map(|value| json_of(self.tool(), &value));
        let after = match self.running.open.end_event(result.clone()) {
            Some(event) => self.running.open.lifecycle.submit_after(event).await,
            None => None,
        };
        self.ended(result, after)
    }

    /// Does not run the tool, for a reason of the host's own: its rules, or its user. Fires no event, since the tool has not
    /// failed; a host whose [`permission`](crate::Lifecycle::permission) was denied has fired `permission:denied`.
    pub fn refuse(mut self, why: impl fmt::Display) -> ToolRun {
        self.running.open.forget();
        self.ended(Err(why.to_string()), None)
    }

    /// # Errors
    /// If the yes counts no longer.
    fn check(&self) -> Result<(), HookBlockedError> {
        self.running.open.check()?;
        if self.running.open.has_other_hooks() {
            let why = "its hooks were replaced after they had allowed it: ask them again";
            return Err(HookBlockedError::not_run(why));
        }
        Ok(())
    }

    fn not_run(mut self, error: HookBlockedError) -> ToolRun {
        // The hooks learn that a call which they have allowed was not made.
        self.running.open.end_unseen(Err(&error));
        ToolRun::from(error)
    }

    fn ended(mut self, result: Result<Value, String>, after: Option<Outcome>) -> ToolRun {
        let open = &mut self.running.open;
        ToolRun::new(End {
            result,
            is_cancelled: open.is_cancelled_by_token(),
            args: open.data.remove(ARGS).unwrap_or_default(),
            before: self.running.before,
            after,
        })
    }
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let fixed = payload.downcast_ref::<&str>().copied();
    let made = || payload.downcast_ref::<String>().map(String::as_str);
    fixed.or_else(made).unwrap_or("panicked")
}

/// Hides the arguments, which may contain secrets.
impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("tool", &self.tool())
            .finish_non_exhaustive()
    }
}
