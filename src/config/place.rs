//! Where in the text of a JSON file something stands.
//!
//! Reads one level at a time and keeps the text of what is below, so that a large file costs no more
//! than its entries do. Knows nothing of hooks.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A value of a text that is known to be JSON.
#[derive(Clone, Copy)]
pub(super) struct Located<'a> {
    /// The whole text.
    source: &'a str,
    raw: &'a RawValue,
}

/// A key of an object and its value.
pub(super) struct Member<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) key_span: Range<usize>,
    pub(super) value: Located<'a>,
}

impl<'a> Located<'a> {
    /// A whole file.
    pub(super) fn whole(source: &'a str) -> serde_json::Result<Self> {
        let raw = serde_json::from_str(source)?;
        Ok(Self { source, raw })
    }

    pub(super) fn text(self) -> &'a str {
        self.raw.get()
    }

    pub(super) fn span(self) -> Range<usize> {
        // The text is a part of the source: it was borrowed from it.
        let start = self.text().as_ptr() as usize - self.source.as_ptr() as usize;
        start..start + self.text().len()
    }

    /// Of an object all members in their order, keys that come twice too; None for anything else.
    pub(super) fn members(self) -> Option<Vec<Member<'a>>> {
        let Members(found) = serde_json::from_str(self.text()).ok()?;
        let mut after = self.span().start + 1;
        let member = |(key, raw): (Key<'a>, &'a RawValue)| {
            let value = Self { raw, ..self };
            let key_span = self.key_behind(after);
            after = value.span().end;
            Member {
                key: key.0,
                key_span,
                value,
            }
        };
        Some(found.into_iter().map(member).collect())
    }

    /// Of an object, whether a key comes twice in it, or in an object right below it.
    pub(super) fn has_a_key_twice(self) -> bool {
        let members = self.members().unwrap_or_default();
        self.repeats_a_key() || members.iter().any(|member| member.value.repeats_a_key())
    }

    fn repeats_a_key(self) -> bool {
        let members = self.members().unwrap_or_default();
        let keys: HashSet<&str> = members.iter().map(|member| &*member.key).collect();
        keys.len() < members.len()
    }

    /// Of a list all items; None for anything else.
    pub(super) fn items(self) -> Option<impl ExactSizeIterator<Item = Self>> {
        let found: Vec<&RawValue> = serde_json::from_str(self.text()).ok()?;
        Some(found.into_iter().map(move |raw| Self { raw, ..self }))
    }

    /// The key that comes next from here on, with its quotes.
    fn key_behind(self, after: usize) -> Range<usize> {
        let rest = &self.source[after..];
        let start = after + rest.find('"').unwrap_or(0);
        let mut escaped = false;
        let end = self.source[start..].bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        start..end.map_or(start, |length| start + length + 2)
    }
}

/// The members of an object, as they come.
struct Members<'a>(Vec<(Key<'a>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
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

        deserializer.deserialize_map(All)
    }
}

/// A key, borrowed where nothing in it is escaped. (`Cow` alone would always be owned.)
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// Where the lines of a text begin.
pub(super) struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

/// A place in a text, for people: both count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn of(source: &'a str) -> Self {
        let ends = source.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            source,
            starts: std::iter::once(0).chain(ends).collect(),
        }
    }

    pub(super) fn place(&self, offset: usize) -> Place {
        let (index, start) = self.line_of(offset);
        Place {
            line: index + 1,
            column: self.source[start..offset].chars().count() + 1,
        }
    }

    /// The number of the line that a byte is in, counted from 1.
    pub(super) fn number(&self, offset: usize) -> usize {
        self.line_of(offset).0 + 1
    }

    /// The byte at this place, as `serde_json` tells it: columns in bytes, 0 at a line's end.
    pub(super) fn offset(&self, line: usize, column: usize) -> usize {
        let start = self.starts.get(line.saturating_sub(1)).copied();
        let offset = start.unwrap_or(self.source.len()) + column.saturating_sub(1);
        let mut offset = offset.min(self.source.len());
        while !self.source.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }

    /// The line that a byte is in, without its end, and where it begins.
    pub(super) fn line(&self, offset: usize) -> (&'a str, usize) {
        let (index, start) = self.line_of(offset);
        let end = self
            .starts
            .get(index + 1)
            .copied()
            .unwrap_or(self.source.len());
        (
            self.source[start..end].trim_end_matches(['\n', '\r']),
            start,
        )
    }

    fn line_of(&self, offset: usize) -> (usize, usize) {
        let index = self.starts.partition_point(|start| *start <= offset) - 1;
        (index, self.starts[index])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use super::*;

    #[test]
    fn keys_and_values_are_found_where_they_stand() {
        let text = "{ \"a\" : [1, {\"b\\\"\": \"x\"}],\n\t\"ä\":null , \"a\":2}";
        let whole = Located::whole(text).unwrap();
        let members = whole.members().unwrap();
        let found: Vec<_> = members
            .iter()
            .map(|member| (&text[member.key_span.clone()], &text[member.value.span()]))
            .collect();
        let list = "[1, {\"b\\\"\": \"x\"}]";
        assert_eq!(found, [("\"a\"", list), ("\"ä\"", "null"), ("\"a\"", "2")]);
        let items: Vec<_> = members[0].value.items().unwrap().collect();
        let inner = items[1].members().unwrap();
        assert_eq!(inner[0].key, "b\"");
        assert_eq!(&text[inner[0].key_span.clone()], "\"b\\\"\"");
        assert!(whole.items().is_none() && items[0].members().is_none());
    }

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let lines = Lines::of("ab\nä→x\r\n\n");
        let at = |offset| {
            let place = lines.place(offset);
            (place.line, place.column)
        };
        assert_eq!(
            [0, 2, 3, 5, 8, 11].map(at),
            [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1)]
        );
        assert_eq!(lines.line(5), ("ä→x", 3));
        assert_eq!(lines.line(12), ("", 12));
        assert_eq!(
            (lines.offset(2, 1), lines.offset(2, 3), lines.offset(9, 9)),
            (3, 5, 12)
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,6}|[\"\\\\\n]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let object = proptest::collection::vec(("[a-z\"\\\\ä]{0,3}", inner.clone()), 0..5);
            prop_oneof![
                proptest::collection::vec(inner, 0..5).prop_map(Value::from),
                object.prop_map(|members| Value::from(members.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_key_and_value_of_any_json_is_found(value in any_json(), pretty in any::<bool>()) {
            let text = if pretty { format!("{value:#}\n") } else { value.to_string() };
            let mut waiting = vec![(Located::whole(&text).unwrap(), value)];
            while let Some((located, value)) = waiting.pop() {
                assert_eq!(serde_json::from_str::<Value>(&text[located.span()]).unwrap(), value);
                match value {
                    Value::Array(values) => {
                        waiting.extend(located.items().unwrap().zip(values));
                    }
                    Value::Object(map) => {
                        for (member, (key, value)) in located.members().unwrap().into_iter().zip(map) {
                            let found = &text[member.key_span];
                            assert_eq!(serde_json::from_str::<String>(found).unwrap(), key);
                            waiting.push((member.value, value));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}
