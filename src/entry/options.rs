//! The settings of a hook that hooks.json has in the same form.
//!
//! Knows their types, not what they do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};

use super::parts::{FailurePolicy, LONGEST_TIMEOUT, Reads, SHORTEST_TIMEOUT, Stdin};
use super::sandbox::{self, Sandbox};

/// The settings that are read and written as they are. The default is that of a key that is not there.
#[derive(Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Options {
    pub(crate) timeout: Option<Seconds>,
    #[serde(serialize_with = "lossy")]
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
    #[serde(deserialize_with = "sandbox::read")]
    pub(crate) sandbox: Option<Sandbox>,
}

impl Options {
    /// Returns whether something may pass unchecked if the hook does not run on an event.
    pub(crate) fn guards(&self, can_block: bool) -> bool {
        can_block || self.on_failure == FailurePolicy::Withhold
    }
}

fn lossy<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = path.as_ref().map(|path| path.to_string_lossy());
    text.serialize(serializer)
}

/// A time limit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub(crate) struct Seconds(pub(crate) Duration);

impl From<Seconds> for f64 {
    fn from(seconds: Seconds) -> Self {
        seconds.0.as_secs_f64()
    }
}

impl TryFrom<f64> for Seconds {
    type Error = String;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        if seconds > 0.0 && seconds <= LONGEST_TIMEOUT.as_secs_f64() {
            let timeout = Duration::from_secs_f64(seconds);
            return Ok(Self(timeout.max(SHORTEST_TIMEOUT)));
        }
        let unit = match seconds >= 1000.0 {
            true => " (the unit is seconds)",
            false => "",
        };
        Err(format!(
            "expected a number of seconds above 0 and up to {}, found {seconds}{unit}",
            LONGEST_TIMEOUT.as_secs()
        ))
    }
}
