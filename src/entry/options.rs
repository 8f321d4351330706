//! The settings of a hook that have the same form in an entry of hooks.json.
//!
//! Knows their types, but not their effects.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::may::May;
use super::parts::{FailurePolicy, Reads, Stdin};
use super::sandbox::Sandbox;

/// The settings that are read and written unchanged. The default is that of a missing key.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Options {
    pub(crate) timeout: Option<Duration>,
    pub(crate) working_dir: Option<PathBuf>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) inherit: Option<Vec<String>>,
    pub(crate) name: Option<String>,
    pub(crate) description: String,
    pub(crate) on_failure: FailurePolicy,
    pub(crate) stdin: Stdin,
    pub(crate) reads: Reads,
    pub(crate) inputs: Vec<String>,
    pub(crate) background: bool,
    pub(crate) resident: bool,
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) may: Vec<May>,
    /// The value of `enforce`. None counts as true.
    pub(crate) enforce: Option<bool>,
    /// The examples of the hook, as they were read: no mistake in them makes the entry unusable.
    pub(crate) cases: Option<Arc<Value>>,
}

impl Options {
    /// Returns whether an operation may pass unchecked if the hook does not run on an event.
    pub(crate) fn guards(&self, can_block: bool) -> bool {
        can_block || self.on_failure == FailurePolicy::Withhold
    }

    /// Returns whether the entry allows an answer to have this effect.
    pub(crate) fn may_do(&self, word: May) -> bool {
        self.may.contains(&word) || self.may_always(word)
    }

    /// Returns whether an answer may have this effect in any doubt: without it, the model gets no output at all.
    pub(crate) fn may_always(&self, word: May) -> bool {
        self.on_failure == FailurePolicy::Withhold && word == May::ChangeOutput
    }
}
