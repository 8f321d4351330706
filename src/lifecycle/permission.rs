//! A permission: checked, asked for, granted or denied.

use std::fmt;

use serde_json::Value;

use super::{Lifecycle, Question, with_panic_reported};
use crate::events::{HookEvent, bounded_copy, drop_values};
use crate::executor::FireOptions;
use crate::outcome::{Decision, HookResult, Outcome};

/// A request for a permission; see [`Lifecycle::permission`].
///
/// ```
/// use forge_hooks::{Decision, HookExecutor, Lifecycle};
///
/// let hooks = Lifecycle::new(HookExecutor::builder().build());
/// let permission = hooks
///     .permission("bash", "execute")
///     .rule("tool:bash")
///     .verdict(Decision::Ask)
///     .decide(|question| question.event.tool_name.as_deref() == Some("bash"));
/// assert!(permission.granted);
/// ```
#[must_use = "nothing is fired before `decide`"]
pub struct PermissionRequest<'a> {
    lifecycle: &'a Lifecycle,
    tool: String,
    level: String,
    rule: Option<String>,
    args: Option<Value>,
    verdict: Decision,
    hooks_may_grant: bool,
}

impl<'a> PermissionRequest<'a> {
    pub(super) fn new(lifecycle: &'a Lifecycle, tool: String, level: String) -> Self {
        Self {
            lifecycle,
            tool,
            level,
            rule: None,
            args: None,
            verdict: Decision::Ask,
            hooks_may_grant: false,
        }
    }

    /// Sets the host's rule that matched the request, for the hooks.
    pub fn rule(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// Sets the arguments of the tool, for hooks that decide by them. Default: hooks do not receive
    /// them.
    pub fn args(mut self, args: impl Into<Value>) -> Self {
        let args = args.into();
        self.args = Some(bounded_copy(&args));
        drop_values(vec![args]);
        self
    }

    /// Sets the decision of the host's own rules. Default: [`Decision::Ask`]. The stricter one of this decision
    /// and the hooks' decision counts.
    pub fn verdict(mut self, verdict: Decision) -> Self {
        self.verdict = verdict;
        self
    }

    /// Lets a hook on `permission:check` that answers `"decision": "allow"` grant a permission for
    /// which the host's rules would ask the user, if no other hook asks or blocks. What the rules
    /// deny stays denied. The same holds on `permission:prompt` for a hook of another
    /// tool or [protocol](crate::Protocol).
    pub fn hooks_may_grant(mut self) -> Self {
        self.hooks_may_grant = true;
        self
    }

    /// Fires `permission:check`; if the user must be asked, fires `permission:prompt` and asks; then
    /// fires `permission:granted` or `permission:denied`. A hook that blocks one of the first two
    /// denies the permission, and the user is not asked.
    ///
    /// # Panics
    /// If `ask` panics, after `permission:denied` has been fired.
    pub fn decide(self, ask: impl FnOnce(&Question<'_>) -> bool) -> Permission {
        let check = self.fire_before(HookEvent::permission_check);
        let mut prompt = None;
        let granted = match self.verdict_with(&check) {
            Decision::Allow => true,
            Decision::Block => false,
            Decision::Ask => {
                let prompt = prompt.insert(self.fire_before(HookEvent::permission_prompt));
                prompt.allowed()
                    && (self.hook_grants(prompt) || self.user_grants(&check, prompt, ask))
            }
        };
        Permission {
            granted,
            after: self.fire_decision(granted),
            check,
            prompt,
        }
    }

    fn verdict_with(&self, check: &Outcome) -> Decision {
        let grants = self.hooks_may_grant && check.results().iter().any(allows);
        let own = match self.verdict {
            Decision::Ask if grants => Decision::Allow,
            verdict => verdict,
        };
        let hooks = match check.asks() {
            _ if !check.allowed() => Decision::Block,
            Some(_) => Decision::Ask,
            None => Decision::Allow,
        };
        own.stricter(hooks)
    }

    fn hook_grants(&self, prompt: &Outcome) -> bool {
        let grants = |result: &HookResult| result.hook.protocol().is_some() && allows(result);
        self.hooks_may_grant && prompt.asks().is_none() && prompt.results().iter().any(grants)
    }

    fn user_grants(
        &self,
        check: &Outcome,
        prompt: &Outcome,
        ask: impl FnOnce(&Question<'_>) -> bool,
    ) -> bool {
        let event = self.event(HookEvent::permission_prompt);
        let question = Question::new(&event, [Some(check), Some(prompt)]);
        with_panic_reported(
            || ask(&question),
            |_| {
                let _ = self.fire_decision(false);
            },
        )
    }

    /// Fires an event before the decision. A hook that asks does not block it, since the user is
    /// asked anyway.
    fn fire_before(&self, make: Make) -> Outcome {
        let options = FireOptions::default().handles_ask();
        self.lifecycle.executor.execute(&self.event(make), options)
    }

    fn fire_decision(&self, granted: bool) -> Option<Outcome> {
        let make: Make = if granted {
            HookEvent::permission_granted
        } else {
            HookEvent::permission_denied
        };
        self.lifecycle.fire_after(self.event(make))
    }

    fn event(&self, make: Make) -> HookEvent {
        let mut event = make(self.tool.clone(), self.level.clone(), self.rule.as_deref());
        if let Some(args) = &self.args {
            event = event.with_data("tool_args", args.clone());
        }
        self.lifecycle.of_session(event)
    }
}

/// Hides the arguments, which may contain secrets.
impl fmt::Debug for PermissionRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermissionRequest")
            .field("tool", &self.tool)
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

/// Whether the hook explicitly allows, and does not merely have no objection.
fn allows(result: &HookResult) -> bool {
    let decision = result.output().and_then(|output| output.decision);
    result.answer_counts() && decision == Some(Decision::Allow)
}

/// Creates one of the four events of a permission, which all have the same data.
type Make = fn(String, String, Option<&str>) -> HookEvent;

/// The result of a request for a permission.
#[derive(Debug)]
#[non_exhaustive]
#[must_use = "the permission may be denied: look at `granted`"]
pub struct Permission {
    /// Whether the permission is granted.
    pub granted: bool,
    /// The outcome of the check.
    pub check: Outcome,
    /// The outcome before the user was asked, if that was necessary.
    pub prompt: Option<Outcome>,
    /// The outcome after the decision; none if it was not waited for.
    pub after: Option<Outcome>,
}

impl Permission {
    /// The reason why a hook has denied it; none if it is granted, or the user or the host's rules
    /// have denied it.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        let prompt = self.prompt.as_ref().and_then(Outcome::reason);
        self.check.reason().or(prompt)
    }
}
