//! The file in which a host of `serve` declares its events and tools: the form of `events --json`.

use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::message::Object;
use crate::cli::Failure;
use crate::cli::files;
use crate::{EventSpec, EventType, HooksBuilder};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    events: Vec<Object<Event>>,
    #[serde(default)]
    tools: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    name: EventType,
    #[serde(default)]
    description: String,
    can_block: bool,
    #[serde(default)]
    data: Vec<Object<Key>>,
    #[serde(default, rename = "variables")]
    _variables: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    key: String,
    #[serde(default)]
    description: String,
    #[serde(default, rename = "variable")]
    _variable: IgnoredAny,
}

/// Declares what is in the file.
pub(crate) fn declare(file: &Path, builder: HooksBuilder) -> Result<HooksBuilder, Failure> {
    let failed = |why: String| {
        let words = format!("cannot read `--vocabulary {}`: {why}", file.display());
        Failure::new(words).with_fix("write it in the form of `events --json`")
    };
    let Object(given): Object<File> = files::json_of(file).map_err(failed)?;
    let events = given.events.into_iter().map(|it| it.0.spec());
    Ok(events.fold(builder, HooksBuilder::event).tools(given.tools))
}

impl Event {
    fn spec(self) -> EventSpec {
        let spec = EventSpec::new(self.name).description(self.description);
        let data = self.data.into_iter();
        let spec = data.fold(spec, |spec, Object(it)| spec.data(it.key, it.description));
        match self.can_block {
            true => spec,
            false => spec.notify_only(),
        }
    }
}
