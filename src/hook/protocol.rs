//! The protocol of a hook: the host's own, that of another tool, or none for that of hooks.json.
//!
//! Knows which one a hook has, not what it does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::definition::{Hook, Protocol};
use super::dialect::Dialect;
use super::exchange::{Order, ProtocolMismatch};
use super::extras::{OfProtocol, OwnProtocol};
use super::foreign::Foreign;
use super::parts::{FailurePolicy, HookCommand};
use crate::events::HookEvent;

/// What makes hooks equal that run once.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Identity<'a> {
    /// The protocol, the directory to which the hook belongs, and the command: whatever else it has.
    Handler(&'a str, Option<&'a Path>, &'a HookCommand),
    /// The whole hook.
    Fingerprint(u64),
}

impl Hook {
    /// Sets the protocol: how the hook is addressed, and how its end is read. Default: that of hooks.json.
    ///
    /// # Panics
    /// If the protocol's `name`, `definition` or `order` panics.
    #[must_use]
    pub fn with_protocol(self, protocol: Arc<dyn Protocol>) -> Self {
        let own = OwnProtocol {
            name: protocol.name().to_owned(),
            definition: json!({"name": protocol.name(), "definition": protocol.definition()}),
            order: protocol.order(),
            protocol: Arc::new(protocol),
        };
        self.with_protocol_of(OfProtocol::Own(own))
    }

    pub(crate) fn with_foreign(self, foreign: Foreign) -> Self {
        self.with_protocol_of(OfProtocol::Foreign(foreign))
    }

    fn with_protocol_of(self, protocol: OfProtocol) -> Self {
        self.with(|hook| hook.extras.make_mut().protocol = Some(Arc::new(protocol)))
    }

    /// The protocol of the hook; none for that of hooks.json.
    pub(crate) fn protocol(&self) -> Option<&dyn Protocol> {
        match &**self.extras.protocol.as_ref()? {
            OfProtocol::Foreign(foreign) => Some(foreign),
            OfProtocol::Own(own) => {
                let protocol = own.protocol.downcast_ref::<Arc<dyn Protocol>>();
                protocol.map(|protocol| &**protocol)
            }
        }
    }

    pub(crate) fn foreign(&self) -> Option<&Foreign> {
        match &**self.extras.protocol.as_ref()? {
            OfProtocol::Foreign(foreign) => Some(foreign),
            OfProtocol::Own(_) => None,
        }
    }

    fn own(&self) -> Option<&OwnProtocol> {
        match &**self.extras.protocol.as_ref()? {
            OfProtocol::Foreign(_) => None,
            OfProtocol::Own(own) => Some(own),
        }
    }

    /// The name of the protocol of the host's own, if the hook has one.
    pub(crate) fn own_protocol(&self) -> Option<&str> {
        self.own().map(|own| own.name.as_str())
    }

    /// What a protocol of the host's own says of itself.
    pub(super) fn protocol_definition(&self) -> Option<&Value> {
        self.own().map(|own| &own.definition)
    }

    fn order(&self) -> Order {
        match self.own() {
            Some(own) => own.order,
            None => self.foreign().map(Protocol::order).unwrap_or_default(),
        }
    }

    /// The group with which the hook runs at once, those of other tools first; none for a hook that runs in order.
    pub(crate) fn group(&self) -> Option<(bool, &str)> {
        let withholds = self.on_failure() == FailurePolicy::Withhold;
        if withholds || !self.order().is_group {
            return None;
        }
        match self.own_protocol() {
            Some(name) => Some((true, name)),
            None => Some((false, self.foreign()?.dialect().as_str())),
        }
    }

    /// What the hook has in common with those of which only the first one runs; none for a hook that always runs.
    pub(crate) fn identity(&self) -> Option<Identity<'_>> {
        if !self.order().runs_once {
            return None;
        }
        let Some(foreign) = self.foreign() else {
            return Some(Identity::Fingerprint(self.fingerprint()));
        };
        let root = foreign.plugin_root.as_deref();
        Some(Identity::Handler(
            foreign.dialect().as_str(),
            root,
            self.command(),
        ))
    }

    /// Returns why the protocol does not match the event. One that panics matches: a guard must not be skipped.
    pub(super) fn protocol_mismatch<'a>(
        &'a self,
        event: &'a HookEvent,
    ) -> Option<ProtocolMismatch<'a>> {
        let protocol = self.protocol()?;
        catch_unwind(AssertUnwindSafe(|| protocol.mismatch(event))).unwrap_or(None)
    }

    /// The program that the hook was written for.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.foreign().map_or(Dialect::Native, Foreign::dialect)
    }
}
