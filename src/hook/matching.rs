//! The decision whether a hook matches an event, by its pattern and its conditions.
//!
//! `when` tests the conditions, and the hook's protocol tests its own rules.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::answers::Answers;
use super::compared::Compared;
use super::condition::{Condition, FOR_GUARDS};
use super::definition::Hook;
use super::error::HookError;
use super::when::{differs, expressions_of};
use crate::entry::{HookCommand, May};
use crate::events::HookEvent;
use crate::json::Node;
use crate::printable;

impl<'e> Compared<'e> {
    /// Creates the values for these hooks. `working_dir` is the executor's. Default: the host's.
    pub(crate) fn new(
        event: &'e HookEvent,
        working_dir: Option<&'e Path>,
        hooks: &[Arc<Hook>],
    ) -> Self {
        let when = hooks.iter().filter_map(|hook| hook.settings.when.clone());
        Self::with_expressions(event, working_dir, expressions_of(when.collect()))
    }
}

impl Hook {
    /// Adds a condition on the event's data: the hook runs only on events that match all its conditions.
    /// Replaces a condition with the same pointer. The pointer is a JSON Pointer (RFC 6901) into
    /// [`HookEvent::data`], of at most 1,000 bytes.
    ///
    /// **A guard runs unless the answer of a condition is no; what widens needs yes.** A hook that can block the event or
    /// [withholds](crate::FailurePolicy::Withhold) runs where the answer is unknown: the value is missing or no text, it is not
    /// known which file a path names, or a text has more than 1 MiB. Other hooks do not run then.
    ///
    /// A glob is compared with each name of a path: as it is written, and with its links followed, for which files are looked
    /// up. Both are relative to the root of the hook's project, or else to the host's directory, if they lie below it. Where
    /// the names have different answers, a guard runs, and nothing is granted. In the calls of `grep`, `glob`, `ls` and of tools
    /// that are not known to name one file, a directory stands for what is below it. Letter case counts as it does in the
    /// file's directory.
    ///
    /// A step `*` of the pointer means each item of a list: a hook runs if one of them matches.
    ///
    /// All expressions of an event read a text once, which takes some 2 ms for 1 MiB.
    ///
    /// ```
    /// use forge_hooks::{Hook, HookEvent};
    /// use serde_json::{Value, json};
    ///
    /// let hook = Hook::new("tool:pre_execute:bash", "./guard.sh")?
    ///     .with_when("/tool_args/command", json!({"runs": "sudo"}))?;
    /// let event = |command| HookEvent::tool_pre_execute("bash", json!({"command": command}));
    /// assert!(hook.matches(&event("sudo ls")));
    /// assert!(!hook.matches(&event("ls")));
    /// # Ok::<(), forge_hooks::HookError>(())
    /// ```
    ///
    /// # Errors
    /// When the pointer or an expression is malformed, and when an expression takes more than 256 KiB when compiled.
    pub fn with_when(
        self,
        pointer: impl Into<String>,
        condition: impl Into<Value>,
    ) -> Result<Self, HookError> {
        let (pointer, condition) = (pointer.into(), condition.into());
        let mut when = self.settings.when.as_deref().cloned().unwrap_or_default();
        when.insert(pointer, Node::from(&condition))?;
        Ok(self.set(|settings| settings.when = Some(Arc::new(when))))
    }

    /// Returns the conditions on the event's data, each with its JSON Pointer, sorted by pointer.
    pub(crate) fn when(&self) -> impl Iterator<Item = (&str, &Condition)> {
        let when = self.settings.when.iter();
        when.flat_map(|when| when.conditions())
    }

    /// Returns whether an executor would run the hook on this event, if it is [enabled](Self::enabled): whether its pattern
    /// and its conditions match. A custom event counts as
    /// one that can be blocked, even if it is [`notify_only`](crate::EventSpec::notify_only). Paths begin at the root of the
    /// hook's project, else at the host's current directory: an executor may have another one.
    #[must_use]
    pub fn matches(&self, event: &HookEvent) -> bool {
        let can_block = event.event_type.can_block();
        self.pattern().matches(event) && self.is_when_met(&self.compared(event, None), can_block)
    }

    /// Returns the reason why the hook does not match this event, in a sentence: its pattern, or the first condition that does not
    /// match. The value of the event is shortened, and secrets are masked by the default rules. None if the hook
    /// [matches](Self::matches).
    #[must_use]
    pub fn mismatch(&self, event: &HookEvent, can_block: bool) -> Option<String> {
        self.mismatch_at(&self.compared(event, None), can_block)
    }

    /// Returns the reason why the hook does not match an event, as [`mismatch`](Self::mismatch) does.
    pub(crate) fn mismatch_at(&self, at: &Compared<'_>, can_block: bool) -> Option<String> {
        if !self.pattern().matches(at.event) {
            return Some(format!("`{}` does not match", self.event_pattern()));
        }
        if self.matches_by_pattern {
            return None;
        }
        let of_condition = self.settings.when.as_ref().and_then(|when| {
            let secrets = self.env().values().map(String::as_str);
            when.mismatch(at, self.base_dir(), self.guards(can_block), secrets)
        });
        of_condition.or_else(|| {
            let mismatch = self.protocol_mismatch(at.event)?;
            Some(differs(mismatch.key, mismatch.expected, mismatch.found))
        })
    }

    /// Returns the answers of each condition, with its pointer.
    fn answers_of_conditions(&self, at: &Compared<'_>) -> Vec<(&str, Answers)> {
        let when = self.settings.when.iter();
        when.flat_map(|when| when.answers(at, self.base_dir()))
            .collect()
    }

    /// Returns a message about the first condition that ran the hook only because it is unknown. None for a hook that was not
    /// chosen for an event.
    pub(crate) fn untested_note(&self) -> Option<&str> {
        self.untested.as_deref()
    }

    /// Returns a message about the part of a command that met a condition. None for a hook that was not chosen for an event.
    pub(crate) fn met_note(&self) -> Option<&str> {
        self.met.as_deref()
    }

    /// Returns a message about a condition that an event, on which the hook runs, does not let be tested, or that a part of a
    /// command meets.
    #[cfg(feature = "cli")]
    pub(crate) fn note_on(&self, event: &HookEvent) -> Option<String> {
        let hook = Arc::new(self.clone()).restricted_for(&self.compared(event, None));
        let note = hook.untested_note().or_else(|| hook.met_note())?;
        Some(note.to_owned())
    }

    /// Returns the values of an event, for this hook alone.
    pub(super) fn compared<'e>(
        &self,
        event: &'e HookEvent,
        working_dir: Option<&'e Path>,
    ) -> Compared<'e> {
        let when = self.settings.when.iter().map(Arc::clone);
        Compared::with_expressions(event, working_dir, expressions_of(when.collect()))
    }

    /// Returns a message about a condition whose value the event does not have.
    #[cfg(feature = "cli")]
    pub(crate) fn absent_note(&self, event: &HookEvent) -> Option<String> {
        let pointer = printable(self.settings.when.as_ref()?.absent(event)?);
        Some(format!(
            "the condition on `{pointer}` could not be tested: the event has no such value"
        ))
    }

    /// Returns whether the conditions and the protocol match an event that the pattern matches.
    pub(crate) fn is_when_met(&self, at: &Compared<'_>, can_block: bool) -> bool {
        if self.matches_by_pattern {
            return true;
        }
        let guards = self.guards(can_block);
        let when = self.settings.when.as_ref();
        when.is_none_or(|when| when.is_met(at, self.base_dir(), guards))
            && self.protocol_mismatch(at.event).is_none()
    }

    /// Returns whether an operation may pass unchecked if the hook does not run on an event.
    pub(crate) fn guards(&self, can_block: bool) -> bool {
        let replaces = match self.action() {
            HookCommand::Answer(answer) => answer.updated_output.is_some(),
            _ => false,
        };
        replaces || self.settings.options.guards(can_block)
    }

    /// Returns whether the answer of the hook is in its entry.
    pub(crate) fn answers(&self) -> bool {
        self.settings.answers()
    }

    /// Returns the hook for an event that it matches: if a condition is not certain, it only stops something.
    pub(crate) fn restricted_for(self: &Arc<Self>, at: &Compared<'_>) -> Arc<Self> {
        let options = &self.settings.options;
        let may_more = self.answers() || !options.may.is_empty();
        let conditions = self.answers_of_conditions(at);
        let uncertain = conditions
            .iter()
            .find(|(_, answers)| may_more && !answers.is_certain());
        let uncertain = uncertain.map(|(pointer, _)| *pointer);
        let untested = conditions.iter().find_map(|(pointer, answers)| {
            let why = answers.untested()?;
            let pointer = printable(pointer);
            Some(format!(
                "the condition on `{pointer}` could not be tested: {why}"
            ))
        });
        let met = conditions.iter().find_map(|(pointer, answers)| {
            let part = answers.met.as_ref()?;
            let pointer = printable(pointer);
            Some(format!("the condition on `{pointer}` matches: {part}"))
        });
        // A host may have registered the hook of an earlier result.
        if uncertain == self.uncertain.as_deref() && untested == self.untested && met == self.met {
            return Arc::clone(self);
        }
        Arc::new(Self {
            uncertain: uncertain.map(Into::into),
            untested,
            met,
            ..Self::clone(self)
        })
    }

    /// Checks that the answer of the hook may have this effect. The hooks of other agents have no such words: their agents
    /// let each answer do everything.
    ///
    /// # Errors
    /// The reason why the answer may not have the effect, and the next step. A condition that could not be tested runs the
    /// hook so that it can stop something; it must not let anything pass.
    pub(crate) fn check_may(&self, word: May) -> Result<(), String> {
        let options = &self.settings.options;
        if self.protocol().is_some() || options.may_always(word) {
            return Ok(());
        }
        if !self.answers() && !options.may_do(word) {
            return Err(match self.may() {
                [] => format!("add \"may\": [\"{word}\"] to the hook's entry"),
                _ => format!("add \"{word}\" to `may` in the hook's entry"),
            });
        }
        if word == May::Grant && self.only_for_guards().is_some() {
            return Err(FOR_GUARDS.to_owned());
        }
        match &self.uncertain {
            Some(pointer) => Err(format!(
                "it is not certain that the condition on `{pointer}` matches"
            )),
            None => Ok(()),
        }
    }

    /// Returns the pointer of a condition that only a guard may have.
    pub(super) fn only_for_guards(&self) -> Option<&str> {
        self.settings.when.as_ref()?.only_for_guards()
    }

    /// Checks that the conditions can be used: compiles them.
    ///
    /// # Errors
    /// If a condition cannot be used.
    pub(crate) fn check_when(&self) -> Result<(), HookError> {
        let when = self.settings.when.as_ref();
        when.map_or(Ok(()), |when| when.check())
    }

    /// Checks the form of the conditions, without compiling them. The reason is kept as the hook's.
    ///
    /// # Errors
    /// If a condition has no valid form.
    pub(crate) fn check_form_of_when(&self) -> Result<(), HookError> {
        let when = self.settings.when.as_ref();
        when.map_or(Ok(()), |when| when.check_form())
    }

    /// Marks a hook of the administrator's file.
    pub(crate) fn with_system(self) -> Self {
        self.with(|hook| hook.is_system = true)
    }

    /// Returns whether the hook is from the administrator's file
    /// ([`HooksBuilder::system_file`](crate::HooksBuilder::system_file)): no other file and no variable switches it off.
    #[must_use]
    pub(crate) fn is_system(&self) -> bool {
        self.is_system
    }
}
