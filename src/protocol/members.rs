//! The members of a JSON object, each with its text, and the values in them.
//!
//! Knows types, not keys.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::invalid::{explain, position};
use crate::hook::kind;

/// The keys of an object with the texts of their values, in their order. A key may occur twice.
#[derive(Debug)]
pub(super) struct Members<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// Returns where in a text a value is that was read from it.
fn start_of(value: &RawValue, text: &[u8]) -> usize {
    value.get().as_ptr().addr() - text.as_ptr().addr()
}

/// Returns words about a value of this text, with its place.
pub(super) fn at(value: &RawValue, text: &[u8], words: impl fmt::Display) -> String {
    format!("{words} {}", position(text, start_of(value, text)))
}

/// Returns a value of this text in its type; None for `null`. The error is a message.
pub(super) fn typed<'a, T: Deserialize<'a>>(
    key: &str,
    value: &'a RawValue,
    text: &[u8],
    expected: &str,
) -> Result<Option<T>, String> {
    serde_json::from_str(value.get()).map_err(|_| {
        match serde_json::from_str::<Value>(value.get()) {
            Ok(found) => {
                let words = format!("`{key}`: expected {expected}, found {}", kind(&found));
                at(value, text, words)
            }
            Err(error) => explain(&error, text, start_of(value, text)),
        }
    })
}
