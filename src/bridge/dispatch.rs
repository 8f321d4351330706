//! A call, fired at the hooks: as a whole, and then each thing that it does.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::call::{Arguments, Call};
use super::decision::{CallDecision, Scene, unchecked};
use super::firing::Firing;
use super::guarded::{Guarded, Protects};
use crate::events::{EventType, HookEvent};
use crate::hook::Hook;
use crate::hooks::Hooks;
use crate::outcome::Outcome;

/// The events of one call, as they are fired.
pub(super) struct Dispatch<'a> {
    pub(super) firing: Firing<'a>,
    pub(super) scene: Scene,
    /// The user's home directory.
    pub(super) home: &'a Path,
    /// The root of the session.
    pub(super) root: &'a Path,
    pub(super) is_tool: bool,
    /// The fingerprints of the hooks in the background whose turn has come.
    pub(super) background: Vec<u64>,
    /// The hooks that have not answered on an event of the call.
    pub(super) unanswered: Vec<Arc<Hook>>,
    pub(super) decision: CallDecision,
}

impl Dispatch<'_> {
    /// Fires a call: as a whole, and then each of its parts.
    pub(super) fn call(&mut self, hooks: &Hooks, call: Call<'_>) {
        let event_type = call.event_type().clone();
        if let Err(why) = self.whole_and_parts(hooks, call) {
            self.fault(&why);
            // It is unclear what the tool did, and so which hooks redact its output.
            self.unanswered.extend(hooks.executor().registry().hooks());
        }
        self.withhold(&event_type);
    }

    /// # Errors
    /// If the effect of the call is unclear.
    fn whole_and_parts(&mut self, hooks: &Hooks, mut call: Call<'_>) -> Result<(), String> {
        if let Some(changed) = &self.decision.input {
            call = call.with_arguments(changed.clone());
        }
        let whole = match call.whole() {
            // This event cannot be blocked, so hooks see the call as it came.
            Err(_) if !hooks.vocabulary().can_block(call.event_type()) => call.as_it_came(),
            whole => whole?,
        };
        if let Some(changed) = self.event(hooks, whole, Protects::All) {
            match self.changed(&call, &changed)? {
                Some(arguments) => call = call.with_arguments(arguments),
                None => return Ok(()),
            }
        }
        let protection = call.protection();
        for part in call.parts()? {
            let path = part
                .data
                .get("tool_args")
                .and_then(|arguments| arguments["path"].as_str());
            let protects = protection.of(path);
            if self.event(hooks, part, protects).is_some() {
                self.decision.block_with(
                    "a hook changes one part of a call that does several things: it cannot be changed alone",
                );
            }
        }
        Ok(())
    }

    /// Fires one event, unless the call is blocked. Returns it as hooks have changed it, if they have.
    fn event(
        &mut self,
        hooks: &Hooks,
        mut event: HookEvent,
        protects: Protects,
    ) -> Option<HookEvent> {
        let guarded = Guarded {
            hooks,
            agent: self.scene.agent,
            home: self.home,
            root: self.root,
        };
        if let Some(why) = guarded.objection(&event, protects) {
            self.decision.block_with(why);
        }
        // Each hook gets the output with the changes of the hooks before it.
        if let Some(output) = &self.decision.output {
            event = event.with_data("tool_result", output.clone());
        }
        if self.scene.is_end {
            self.set_aside(hooks, &event);
        }
        let matching = hooks.executor().registry().get_hooks(&event);
        self.decision.has_hooks |= !matching.is_empty();
        let answered = self.unanswered.len();
        self.unanswered.extend(matching.iter().cloned());
        if self.decision.block.is_some() {
            return None;
        }
        match self.run(hooks, &matching, &event) {
            Ok(outcome) => {
                self.unanswered.truncate(answered);
                self.decision.add(self.scene, &outcome);
                outcome.changed_event().cloned()
            }
            Err(why) => {
                self.fault(&why);
                None
            }
        }
    }

    /// Switches off the hooks with a condition on a value that the end of this turn does not have, and tells the user: the hooks after
    /// them run, and no guard keeps the agent from its end for a reason that the agent cannot change. A value that is there is no such
    /// reason, also if it cannot be tested: a model may have written it.
    fn set_aside(&mut self, hooks: &Hooks, event: &HookEvent) {
        for (id, hook) in hooks.executor().registry().entries() {
            if !hook.enabled() || hook.background() || !hook.matches(event) {
                continue;
            }
            let error = hook.check_form_of_when().err();
            let error = error.map(|error| error.to_string());
            if let Some(why) = error.or_else(|| hook.absent_note(event)) {
                let (label, name) = (hook.shown_label(), &event.event_type);
                let note = format!("hook `{label}` did not run on `{name}`: {why}");
                self.decision.note(&note);
                hooks.executor().registry().set_enabled(id, false);
            }
        }
    }

    /// Blocks the call because its hooks could not decide; not the end of a turn.
    fn fault(&mut self, why: &str) {
        if self.scene.is_end {
            self.decision.note(&unchecked(why));
        } else {
            self.decision
                .block_with(format!("blocked by forge-hooks: {why}"));
        }
    }

    /// Withholds the output of a call if a hook that redacts it has not answered on one of the call's events.
    fn withhold(&mut self, event_type: &EventType) {
        let mut unanswered = self.unanswered.iter().filter(|hook| hook.enabled());
        let redacting = unanswered.find(|hook| hook.redacts(event_type));
        if let (Some(hook), Some(why)) = (redacting, &self.decision.block) {
            let label = hook.shown_label();
            let why = format!("hook `{label}` did not redact it: {why}");
            self.decision.withhold_output(&why);
        }
    }

    /// Runs the matching hooks of an event.
    ///
    /// # Errors
    /// If one of them cannot be used, or they have not ended.
    fn run(
        &mut self,
        hooks: &Hooks,
        matching: &[Arc<Hook>],
        event: &HookEvent,
    ) -> Result<Outcome, String> {
        // A hook with an invalid condition must not be left out because of another hook. A test shows what is invalid.
        let _ = hooks.executor().hooks_for(event);
        for hook in matching {
            hook.check_form_of_when().map_err(|error| {
                format!("hook `{}` cannot be used: {error}", hook.shown_label())
            })?;
        }
        let fired = self.firing.fire(hooks, event);
        let blocked = fired.as_ref().ok().and_then(Outcome::blocked);
        self.note_background(matching, blocked.map(|result| &**result.hook()));
        fired
    }

    /// Keeps the hooks in the background whose turn has come: those before the one that blocks.
    fn note_background(&mut self, matching: &[Arc<Hook>], blocking: Option<&Hook>) {
        for hook in matching {
            if blocking.is_some_and(|blocking| blocking.source() == hook.source()) {
                return;
            }
            let fingerprint = hook.fingerprint();
            if hook.background() && !self.background.contains(&fingerprint) {
                self.background.push(fingerprint);
            }
        }
    }

    /// Keeps the changes that hooks made. Returns the arguments of a changed call.
    fn changed(&mut self, call: &Call<'_>, event: &HookEvent) -> Result<Option<Arguments>, String> {
        if !self.is_tool {
            let content = event.data.get("content").and_then(Value::as_str);
            self.decision.prompt = content.map(str::to_owned);
            return Ok(None);
        }
        let arguments = call.changed(event)?;
        self.decision.input = Some(arguments.clone());
        Ok(Some(arguments))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::AppProfile;
    use crate::agents::CLAUDE;
    use crate::bridge::firing::Deadline;
    use crate::entry::FailurePolicy;
    use crate::executor::FireOptions;

    /// A redacting hook may not have ended even when its grace is over.
    #[test]
    fn an_output_that_is_still_being_redacted_is_withheld() {
        let home = tempfile::tempdir().unwrap();
        let hooks = Hooks::builder(AppProfile::new("bridge")).config_home(home.path());
        let hooks = hooks.without_system_file().load();
        let begun = home.path().join("begun");
        let command = format!("echo > '{}'; exec sleep 60", begun.display());
        let hook = Hook::new("tool:post_execute", command).unwrap();
        let hook = hook.with_on_failure(FailurePolicy::Withhold);
        hooks.executor().registry().load_hooks([hook]);
        let mut dispatch = Dispatch {
            firing: Firing {
                options: FireOptions::new(),
                deadline: Deadline::without_grace(),
                is_interrupted: &mut || begun.exists(),
            },
            home: home.path(),
            root: home.path(),
            scene: Scene {
                agent: CLAUDE,
                is_end: false,
            },
            is_tool: true,
            background: Vec::new(),
            unanswered: Vec::new(),
            decision: CallDecision::default(),
        };
        let event = HookEvent::tool_post_execute("bash", Value::Null, "secret");
        assert!(dispatch.event(&hooks, event, Protects::All).is_none());
        dispatch.withhold(&EventType::ToolPostExecute);
        let output = dispatch.decision.output.unwrap().to_string();
        assert!(output.contains("output withheld"), "{output}");
    }
}
