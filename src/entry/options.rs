//! The settings of a hook that hooks.json has in the same form.
//!
//! Knows their types, not what they do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::may::May;
use super::parts::{FailurePolicy, Reads, Stdin};
use super::sandbox::Sandbox;

/// The settings that are read and written as they are. The default is that of a key that is not there.
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
    /// None counts as true.
    pub(crate) enforce: Option<bool>,
}

impl Options {
    /// Returns whether something may pass unchecked if the hook does not run on an event.
    pub(crate) fn guards(&self, can_block: bool) -> bool {
        can_block || self.on_failure == FailurePolicy::Withhold
    }

    /// Returns whether the entry lets an answer do this.
    pub(crate) fn may_do(&self, word: May) -> bool {
        self.may.contains(&word) || self.may_always(word)
    }

    /// Returns whether an answer may do this in any doubt: without it, the model gets nothing of the output.
    pub(crate) fn may_always(&self, word: May) -> bool {
        self.on_failure == FailurePolicy::Withhold && word == May::ChangeOutput
    }
}
