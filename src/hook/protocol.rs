//! The protocol of a hook: its own, or none for that of hooks.json.
//!
//! Knows the protocol that a hook has. Does not know its rules.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::definition::{Hook, OwnProtocol};
use crate::entry::{FailureKind, FailurePolicy, HookCommand, Options};
use crate::events::{EventType, HookEvent};
use crate::protocol::{CalledHook, Protocol, ProtocolMismatch};

/// The deduplication key of a hook: the protocol, its key, and the settings. Of hooks that share it, only the first runs.
pub(crate) type Identity<'a> = (&'a str, &'a str, &'a HookCommand, &'a Options);

impl Hook {
    /// Sets the protocol: the form of the hook's input, and the rules by which its end is read. Default: that of hooks.json.
    pub(crate) fn with_protocol(self, protocol: Arc<dyn Protocol>) -> Self {
        let own = OwnProtocol {
            definition: json!({"name": protocol.name(), "definition": protocol.definition()}),
            once_for: protocol.once_for(),
            protocol,
        };
        self.set(|settings| settings.protocol = Some(Arc::new(own)))
    }

    fn own_protocol(&self) -> Option<&OwnProtocol> {
        self.settings.protocol.as_deref()
    }

    /// Returns the name of the hook's protocol: `native` for that of hooks.json, else that of the tool for which it was
    /// written, such as `claude`.
    #[must_use]
    pub(crate) fn protocol_name(&self) -> &str {
        self.protocol().map_or("native", |protocol| protocol.name())
    }

    /// Returns the protocol of the hook; none for that of hooks.json.
    pub(crate) fn protocol(&self) -> Option<&dyn Protocol> {
        self.own_protocol().map(|own| &*own.protocol)
    }

    /// Returns the name of the agent behind whose hooks this one stands; none for a hook of hooks.json, and one that withholds.
    pub(crate) fn agent(&self) -> Option<&str> {
        let withholds = self.on_failure() == FailurePolicy::Withhold;
        let protocol = self.protocol().filter(|_| !withholds)?;
        Some(protocol.name())
    }

    /// Returns whether the operation may continue despite this failure of the hook.
    pub(crate) fn forgives(&self, failure: FailureKind) -> bool {
        let policy = self.on_failure();
        let own = self
            .protocol()
            .map(|protocol| protocol.forgives(failure, policy));
        self.background() || own.unwrap_or_else(|| failure.continues_under(policy))
    }

    /// Returns whether the model does not get the output of a tool if the hook has not allowed it, with this failure if it
    /// has failed. The invalid answer of a hook of hooks.json may have been intended to replace the output.
    pub(crate) fn withholds(&self, failure: Option<FailureKind>) -> bool {
        let is_unread = failure == Some(FailureKind::InvalidAnswer) && self.protocol().is_none();
        is_unread || self.on_failure() == FailurePolicy::Withhold
    }

    /// Returns whether the model must not see the output of a tool before this hook has processed it.
    pub(crate) fn redacts(&self, event_type: &EventType) -> bool {
        *event_type == EventType::ToolPostExecute && self.on_failure() == FailurePolicy::Withhold
    }

    /// Returns the deduplication key of the hook; none for a hook that always runs.
    pub(crate) fn identity(&self) -> Option<Identity<'_>> {
        let key = self.own_protocol()?.once_for.as_deref()?;
        let settings = &*self.settings;
        let name = self.protocol_name();
        Some((name, key, &settings.command, &settings.options))
    }

    /// Returns the reason why the protocol does not match the event.
    pub(super) fn protocol_mismatch<'a>(
        &'a self,
        event: &'a HookEvent,
    ) -> Option<ProtocolMismatch<'a>> {
        let protocol = self.protocol()?;
        protocol.mismatch(event)
    }

    /// Returns the reason why the protocol cannot use the hook.
    pub(super) fn protocol_fault(&self) -> Option<&str> {
        self.protocol()?.fault()
    }

    /// Returns the label that the protocol has for the hook.
    pub(super) fn protocol_label(&self) -> Option<&str> {
        self.protocol()?.label()
    }

    /// Returns the protocol's view of the hook.
    pub(crate) fn called(&self) -> CalledHook<'_> {
        CalledHook {
            command: &self.settings.command,
            options: &self.settings.options,
            fingerprint: self.fingerprint(),
            is_approved: self.approval().is_some(),
            is_confined: self.sandboxes().next().is_some(),
        }
    }

    /// Returns the hook as a file of another format defines it.
    pub(crate) fn written(&self) -> Option<String> {
        self.protocol()?.written()
    }

    /// Returns the directories that variables in the hook's command name, for a hook of this project.
    pub(crate) fn directories(&self, project: &Path) -> Vec<(String, PathBuf)> {
        let protocol = self.protocol();
        protocol.map_or_else(Vec::new, |protocol| protocol.directories(project))
    }
}
