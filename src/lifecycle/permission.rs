//! A permission: checked, asked for, granted or denied.

use std::fmt;

use serde_json::Value;

use super::{Lifecycle, Question, telling_of_panic};
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

    /// The host's rule that the request has met, for the hooks.
    pub fn rule(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// What the tool is to be called with, for hooks that decide by that. Default: hooks do not see it.
    pub fn args(mut self, args: impl Into<Value>) -> Self {
        let args = args.into();
        self.args = Some(bounded_copy(&args));
        drop_values(vec![args]);
        self
    }

    /// What the host's own rules say; [`Decision::Ask`] unless this says otherwise. The stricter of
    /// it and what the hooks say counts.
    pub fn verdict(mut self, verdict: Decision) -> Self {
        self.verdict = verdict;
        self
    }

    /// Lets a hook on `permission:check` that answers `"decision": "allow"` grant what the host's
    /// rules would ask the user for, where no other hook asks or blocks. What they deny stays denied.
    /// The same holds for a hook of another tool on `permission:prompt`.
    pub fn hooks_may_grant(mut self) -> Self {
        self.hooks_may_grant = true;
        self
    }

    /// Fires `permission:check`, then, where the user is to be asked, `permission:prompt`, asks, and
    /// fires `permission:granted` or `permission:denied`. A hook that blocks one of the first two
    /// denies the permission, and then nobody is asked.
    ///
    /// # Panics
    /// When `ask` does, after `permission:denied` has been fired.
    pub fn decide(self, ask: impl FnOnce(&Question<'_>) -> bool) -> Permission {
        let check = self.ask_leave(HookEvent::permission_check);
        let mut prompt = None;
        let granted = match self.verdict_with(&check) {
            Decision::Allow => true,
            Decision::Block => false,
            Decision::Ask => {
                let prompt = prompt.insert(self.ask_leave(HookEvent::permission_prompt));
                prompt.allowed()
                    && (self.hook_grants(prompt) || self.user_grants(&check, prompt, ask))
            }
        };
        Permission {
            granted,
            after: self.tell(granted),
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
        let grants = |result: &HookResult| result.hook.foreign().is_some() && allows(result);
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
        telling_of_panic(
            || ask(&question),
            |_| {
                let _ = self.tell(false);
            },
        )
    }

    /// The user is asked anyway, if a hook wants it.
    fn ask_leave(&self, make: Make) -> Outcome {
        let options = FireOptions::default().handles_ask();
        self.lifecycle.ask_leave(&self.event(make), options)
    }

    fn tell(&self, granted: bool) -> Option<Outcome> {
        let make: Make = if granted {
            HookEvent::permission_granted
        } else {
            HookEvent::permission_denied
        };
        self.lifecycle.tell(self.event(make))
    }

    fn event(&self, make: Make) -> HookEvent {
        let mut event = make(self.tool.clone(), self.level.clone(), self.rule.as_deref());
        if let Some(args) = &self.args {
            event = event.with_data("tool_args", args.clone());
        }
        self.lifecycle.of_session(event)
    }
}

/// Shows no argument: they may hold secrets.
impl fmt::Debug for PermissionRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermissionRequest")
            .field("tool", &self.tool)
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

/// It says so, and does not only have nothing against it.
fn allows(result: &HookResult) -> bool {
    let said = result.output().and_then(|output| output.decision);
    result.answer_counts() && said == Some(Decision::Allow)
}

/// All four events of a permission carry the same.
type Make = fn(String, String, Option<&str>) -> HookEvent;

/// What has become of a request for a permission.
#[derive(Debug)]
#[non_exhaustive]
#[must_use = "the permission may be denied: look at `granted`"]
pub struct Permission {
    /// Whether the host may do it.
    pub granted: bool,
    /// What hooks have said of the check.
    pub check: Outcome,
    /// What they have said before the user was to be asked, where that was so.
    pub prompt: Option<Outcome>,
    /// What they have said after it; none where nobody waits for that.
    pub after: Option<Outcome>,
}

impl Permission {
    /// Why a hook has denied it; none when it is granted, or somebody else has denied it.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        let prompt = self.prompt.as_ref().and_then(Outcome::reason);
        self.check.reason().or(prompt)
    }
}
