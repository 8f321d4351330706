//! The protocol of a hook: its own, or none for that of hooks.json.
//!
//! Knows which one a hook has, not what it does.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::definition::{Hook, Protocol};
use super::exchange::{Order, ProtocolMismatch};
use super::extras::OfProtocol;
use super::parts::{FailurePolicy, HookCommand};
use crate::events::HookEvent;

/// What makes hooks equal of which only the first one runs.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Identity<'a> {
    protocol: &'a str,
    key: &'a str,
    name: Option<&'a str>,
    command: &'a HookCommand,
    working_dir: Option<&'a Path>,
    timeout: Option<Duration>,
    env: &'a BTreeMap<String, String>,
    inherit: Option<&'a [String]>,
    on_failure: FailurePolicy,
    background: bool,
}

impl Hook {
    /// Sets the protocol: how the hook is addressed, and how its end is read. Default: that of hooks.json.
    ///
    /// # Panics
    /// If the protocol's `name`, `definition` or `order` panics.
    #[must_use]
    pub fn with_protocol(self, protocol: Arc<dyn Protocol>) -> Self {
        let set = OfProtocol {
            name: protocol.name().to_owned(),
            definition: json!({"name": protocol.name(), "definition": protocol.definition()}),
            order: protocol.order(),
            protocol: Arc::new(protocol),
        };
        self.with(|hook| hook.extras.make_mut().protocol = Some(Arc::new(set)))
    }

    /// The name of the hook's protocol: `native` for that of hooks.json, else [`Protocol::name`].
    #[must_use]
    pub fn protocol_name(&self) -> &str {
        let set = self.extras.protocol.as_ref();
        set.map_or("native", |set| &set.name)
    }

    /// The protocol of the hook; none for that of hooks.json.
    pub(crate) fn protocol(&self) -> Option<&dyn Protocol> {
        let set = self.extras.protocol.as_ref()?;
        let protocol = set.protocol.downcast_ref::<Arc<dyn Protocol>>();
        protocol.map(|protocol| &**protocol)
    }

    /// What the protocol says of itself, with its name.
    pub(super) fn protocol_definition(&self) -> Option<&Value> {
        self.extras.protocol.as_ref().map(|set| &set.definition)
    }

    fn order(&self) -> Option<&Order> {
        self.extras.protocol.as_ref().map(|set| &set.order)
    }

    /// The name of the group with which the hook runs at once; none for a hook that runs in order.
    pub(crate) fn group(&self) -> Option<&str> {
        let withholds = self.on_failure() == FailurePolicy::Withhold;
        let is_grouped = self.order().is_some_and(|order| order.is_group) && !withholds;
        is_grouped.then(|| self.protocol_name())
    }

    /// What the hook has in common with those of which only the first one runs; none for a hook that always runs.
    pub(crate) fn identity(&self) -> Option<Identity<'_>> {
        Some(Identity {
            protocol: self.protocol_name(),
            key: self.order()?.once_for.as_deref()?,
            name: self.name(),
            command: self.command(),
            working_dir: self.working_dir(),
            timeout: self.own_timeout(),
            env: self.env(),
            inherit: self.inherit(),
            on_failure: self.on_failure(),
            background: self.background(),
        })
    }

    /// Returns why the protocol does not match the event. One that panics matches: a guard must not be skipped.
    pub(super) fn protocol_mismatch<'a>(
        &'a self,
        event: &'a HookEvent,
    ) -> Option<ProtocolMismatch<'a>> {
        let protocol = self.protocol()?;
        // A hook that never runs is not worth what it takes to compile its expressions.
        if !self.is_closed() {
            let _ = self.protocol_fault();
        }
        catch_unwind(AssertUnwindSafe(|| protocol.mismatch(event))).unwrap_or(None)
    }

    /// Returns why the protocol cannot use the hook. One that panics says nothing: the hook then fails when it is run.
    pub(super) fn protocol_fault(&self) -> Option<&str> {
        let protocol = self.protocol()?;
        catch_unwind(AssertUnwindSafe(|| protocol.fault())).unwrap_or(None)
    }

    /// Returns the label that the protocol has for the hook.
    pub(super) fn protocol_label(&self) -> Option<&str> {
        let protocol = self.protocol()?;
        catch_unwind(AssertUnwindSafe(|| protocol.label())).unwrap_or(None)
    }

    /// Returns the directories that variables in the hook's command name, for a hook of this project.
    pub(crate) fn directories(&self, project: &Path) -> Vec<(String, PathBuf)> {
        let Some(protocol) = self.protocol() else {
            return Vec::new();
        };
        catch_unwind(AssertUnwindSafe(|| protocol.directories(project))).unwrap_or_default()
    }
}
