//! The settings that most hooks leave at their defaults. They are shared, so that a hook of a large file
//! takes little memory.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::{Map, Value};

use super::exchange::Order;
use super::inherit::Inherit;
use super::when::When;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Extras {
    pub(super) when: Option<Arc<When>>,
    pub(super) timeout: Option<Duration>,
    pub(super) working_dir: Option<PathBuf>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) inherit: Option<Inherit>,
    pub(super) name: Option<String>,
    pub(super) description: String,
    pub(super) inputs: Vec<String>,
    pub(super) protocol: Option<Arc<OfProtocol>>,
    /// Keys of hooks.json that this version does not know: kept for saving.
    pub(super) unknown: Map<String, Value>,
    /// For a placeholder hook: why the hook that it replaces cannot run.
    pub(super) refusal: Option<Box<str>>,
}

/// A protocol that is not that of hooks.json, with what it said of itself when it was set.
#[derive(Debug)]
pub(super) struct OfProtocol {
    pub(super) name: String,
    pub(super) definition: Value,
    pub(super) order: Order,
    /// An `Arc<dyn Protocol>`. The trait names `Hook`, which has these settings.
    pub(super) protocol: Arc<dyn Any + Send + Sync>,
}

impl PartialEq for OfProtocol {
    fn eq(&self, other: &Self) -> bool {
        self.definition == other.definition
    }
}

/// Takes no memory while all settings have their defaults. Clones share it.
#[derive(Clone)]
pub(super) struct SharedExtras(Option<Arc<Extras>>);

impl SharedExtras {
    pub(super) fn new(extras: Extras) -> Self {
        Self((extras != Extras::default()).then(|| Arc::new(extras)))
    }

    pub(super) fn make_mut(&mut self) -> &mut Extras {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl Deref for SharedExtras {
    type Target = Extras;

    fn deref(&self) -> &Extras {
        static NONE: LazyLock<Extras> = LazyLock::new(Extras::default);
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl PartialEq for SharedExtras {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
