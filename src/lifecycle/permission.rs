//! A permission: checked, asked for, granted or denied.

use serde_json::Value;

use super::action::{Action, Begins, Request, Running};
use super::question::Question;
use super::tool::messages;
use crate::events::HookEvent;
use crate::executor::FireOptions;
use crate::outcome::{Decision, HookBlockedError, HookResult, Outcome};

/// A permission; see [`Lifecycle::permission`](super::Lifecycle::permission).
///
/// ```
/// use forge_hooks::{Decision, HookExecutor, Lifecycle};
///
/// let hooks = Lifecycle::new(HookExecutor::builder().build());
/// let request = || hooks.permission("bash", "execute").with_rule("tool:bash").with_verdict(Decision::Ask);
/// assert!(request().run(|question| question.event.tool_name.as_deref() == Some("bash"))?);
///
/// // The same in a host that cannot wait for its user's answer here:
/// let asked = request().begin()?;
/// let answer = match asked.question() {
///     Some(question) => question.event.tool_name.as_deref() == Some("bash"),
///     None => false, // does not count: hooks and rules have decided
/// };
/// assert!(asked.finish(answer));
/// # Ok::<(), forge_hooks::HookBlockedError>(())
/// ```
#[derive(Debug)]
pub struct Permission {
    /// The decision of the host's rules before `begin`, and the decision that counts after it.
    verdict: Decision,
    hooks_may_grant: bool,
    /// The event about which the user must be asked.
    asked: Option<HookEvent>,
}

impl Begins for Permission {}

impl Action for Permission {
    const DECIDES: bool = true;

    fn prompt(running: &mut Running<Self>) -> Option<(HookEvent, FireOptions)> {
        let permission = &mut running.action;
        permission.verdict = permission.verdict_with(&running.before);
        let asks = permission.verdict == Decision::Ask;
        let options = running.open.lifecycle.options().handles_ask();
        asks.then(|| (running.open.event("permission:prompt"), options))
    }

    fn prompted(running: &mut Running<Self>, event: HookEvent, prompt: Outcome) {
        let permission = &mut running.action;
        let is_open = running.before.asks().is_some();
        if !is_open && permission.hook_grants(&prompt) {
            permission.verdict = Decision::Allow;
        } else {
            permission.asked = Some(event);
        }
        running.prompt = Some(prompt);
    }
}

impl Permission {
    pub(super) fn new() -> Self {
        Self {
            verdict: Decision::Ask,
            hooks_may_grant: false,
            asked: None,
        }
    }

    fn verdict_with(&self, check: &Outcome) -> Decision {
        let grants = self.hooks_may_grant && check.results().iter().any(HookResult::grants);
        let own = match self.verdict {
            Decision::Ask if grants => Decision::Allow,
            verdict => verdict,
        };
        match check.asks() {
            Some(_) => own.stricter(Decision::Ask),
            None => own,
        }
    }

    fn hook_grants(&self, prompt: &Outcome) -> bool {
        let grants = prompt.results().iter().any(HookResult::grants);
        self.hooks_may_grant && prompt.asks().is_none() && grants
    }
}

impl Request<'_, Permission> {
    /// Sets the host's rule that matched the request, for the hooks.
    pub fn with_rule(mut self, rule: impl Into<String>) -> Self {
        self.set("perm_rule", rule.into().into());
        self
    }

    /// Sets the arguments of the tool, for hooks that decide by them. Default: hooks do not receive
    /// them.
    pub fn with_args(mut self, args: impl Into<Value>) -> Self {
        self.set("tool_args", args.into());
        self
    }

    /// Sets the decision of the host's own rules. Default: [`Decision::Ask`]. The stricter one of this decision
    /// and the hooks' decision counts.
    pub fn with_verdict(mut self, verdict: Decision) -> Self {
        self.action.verdict = verdict;
        self
    }

    /// Lets a hook on `permission:check` or `permission:prompt` that answers `"decision": "allow"`, and
    /// [may](crate::hook::May::Grant) grant, grant a permission for which the host's rules would ask the user, if no other
    /// hook asks or blocks. A permission that the rules deny stays denied.
    pub fn hooks_may_grant(mut self) -> Self {
        self.action.hooks_may_grant = true;
        self
    }

    fn set(&mut self, key: &str, value: Value) {
        self.open.data.insert(key.to_owned(), value);
    }

    /// Fires `permission:check`; if the user must be asked, fires `permission:prompt` and asks; then
    /// fires `permission:granted` or `permission:denied`. Returns whether the permission is granted: if not, the user or the host's
    /// rules have denied it. What hooks say to the user is in [`take_failures`](crate::Hooks::take_failures).
    ///
    /// # Errors
    /// If a hook blocks one of the first two. The permission is denied then, and the user is not asked.
    ///
    /// # Panics
    /// If `ask` panics, after `permission:denied` has been fired.
    pub fn run(self, ask: impl FnOnce(&Question<'_>) -> bool) -> Result<bool, HookBlockedError> {
        let running = self.begin()?;
        let executor = &running.open.lifecycle.executor;
        executor.keep_for_user(messages(running.outcomes()));
        let answer = running.question().is_some_and(|question| ask(&question));
        Ok(running.finish(answer))
    }
}

impl Running<Permission> {
    /// Returns the question for the user; none if hooks and the host's rules have decided.
    #[must_use]
    pub fn question(&self) -> Option<Question<'_>> {
        let event = self.action.asked.as_ref()?;
        Some(Question::new(
            event,
            [Some(&self.before), self.prompt.as_ref()],
        ))
    }

    /// Fires `permission:granted` or `permission:denied`, and returns whether the permission is granted. `answer` is the user's
    /// answer to the [question](Running::question). It does not count without a question. If the [token](Request::cancelled_by) is cancelled, or
    /// [`cancel_running`](crate::HookExecutor::cancel_running) was called since `begin`, the permission is denied.
    #[must_use = "the permission may be denied"]
    pub fn finish(mut self, answer: bool) -> bool {
        let granted = match self.action.verdict {
            _ if self.open.is_cancelled() => false,
            Decision::Allow => true,
            Decision::Ask => answer,
            Decision::Block => false,
        };
        self.open
            .end_unseen(granted.then_some(Value::Null).ok_or("denied"));
        granted
    }
}
