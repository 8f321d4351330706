//! The JSON Schema of hooks.json, for editors: the published file, with the events and tools of a host.
//!
//! Does not know how a file is read. A test compares the schema with the reader.

use serde_json::{Value, json};

use crate::events::{EventSpec, Vocabulary};
use crate::json;

/// The schema with the events that this crate knows.
const PUBLISHED: &str = include_str!("../../hooks.schema.json");

/// Returns the schema of a whole file, with the events and tools of a host.
pub(super) fn schema(vocabulary: &Vocabulary) -> Value {
    // A test reads the file.
    let mut schema: Value = json::read(PUBLISHED).unwrap_or_default();
    let events = "/properties/hooks/items/properties/event/anyOf";
    if let Some(listed) = schema.pointer_mut(events) {
        *listed = Value::Array(listed_events(vocabulary));
    }
    schema
}

/// Returns the values of `event` that editors offer; any other pattern is valid too.
fn listed_events(vocabulary: &Vocabulary) -> Vec<Value> {
    let events = vocabulary.events().iter().map(|spec| {
        let name = spec.event_type().as_str();
        json!({"const": name, "description": about(spec)})
    });
    let tools = vocabulary.tools().iter().map(|tool| {
        let about = format!("Before the tool `{tool}` runs. Can be blocked.");
        json!({"const": format!("tool:pre_execute:{tool}"), "description": about})
    });
    let other = json!({"type": "string", "minLength": 1});
    events.chain(tools).chain([other]).collect()
}

/// Describes an event: the host's description, whether hooks can block it, and its data.
fn about(spec: &EventSpec) -> String {
    let mut sentences = Vec::new();
    if !spec.description().is_empty() {
        sentences.push(spec.description().trim_end_matches('.').to_owned());
    }
    if spec.can_block() {
        sentences.push("Can be blocked".to_owned());
    }
    let keys = spec.data_keys();
    let keys: Vec<_> = keys
        .map(|(key, about)| format!("{key} ({about})"))
        .collect();
    if !keys.is_empty() {
        sentences.push(format!("Data: {}", keys.join(", ")));
    }
    sentences.join(". ") + "."
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::super::content::MOST_PROBLEMS;
    use super::super::reader::MOST_ENTRIES;
    use super::*;
    use crate::entry::{FailurePolicy, LONGEST_TIMEOUT, May, Reads, Shell, Stdin};
    use crate::hook::{LONGEST_POINTER, keys};
    use crate::json::{DEEPEST, LARGEST_TEXT, MOST_VALUES};
    use crate::printable::grouped;

    /// The page that states the limits of a file.
    #[test]
    fn the_page_states_the_limits_of_a_file() {
        let page = include_str!("../../docs/protocol.md").replace('\n', " ");
        let [hooks, values, problems] = [MOST_ENTRIES, MOST_VALUES, MOST_PROBLEMS].map(grouped);
        for sentence in [
            format!("It has at most {} MiB, {hooks} hooks,", LARGEST_TEXT >> 20),
            format!("{DEEPEST} levels of lists and objects, and {values} values."),
            format!("At most {problems} problems of a file are shown"),
            format!("above 0 and up to {};", LONGEST_TIMEOUT.as_secs()),
        ] {
            assert!(page.contains(&sentence), "the page lacks: {sentence}");
        }
    }

    #[test]
    fn every_key_is_described_as_it_is_read() {
        let schema = schema(&Vocabulary::default());
        let described = &schema["properties"]["hooks"]["items"]["properties"];
        let page = include_str!("../../docs/protocol.md");
        for key in keys() {
            assert!(described[key]["description"].is_string(), "{key}");
            assert!(page.contains(&format!("| `{key}`")), "the page lacks {key}");
        }
        assert_eq!(described.as_object().unwrap().len(), keys().count());
        #[track_caller]
        fn choice(described: &Value, values: &[impl Serialize]) {
            assert_eq!(described["enum"], json!(values));
        }
        choice(&described["on_failure"], FailurePolicy::ALL);
        choice(&described["may"]["items"], May::ALL);
        choice(&described["stdin"], Stdin::ALL);
        choice(&described["reads"], Reads::ALL);
        choice(&described["shell"], Shell::ALL);
        assert_eq!(described["timeout"]["maximum"], LONGEST_TIMEOUT.as_secs());
        let names = &described["when"]["propertyNames"];
        assert_eq!(names["maxLength"], LONGEST_POINTER);
    }
}
