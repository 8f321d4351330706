//! Tells an answer from an event that a hook has printed: what a model or a repository chose is never a decision.
//!
//! Knows the names of an answer's keys, not what they mean, and no tool.

use serde_json::{Map, Value};

use super::keys::{Place, key};
use crate::events::HookEvent;
use crate::json;

/// Checks that the event does not say what the answer says: that no object of the event has a key of the answer with
/// the same value, or both with an object, and that no string has the answer's text, or one of its deciding keys as a key: a
/// hook may print several strings. JSON in strings counts. White space, letter
/// case, escapes (`\n`, `\0144`, `\u0064`), characters beyond ASCII and the values of numbers make no difference, since
/// unquoted variables, `tr`, dash's `echo` and other programs change them. The error says why the answer is invalid.
pub(crate) fn check_echo(
    event: &HookEvent,
    text: &str,
    answer: &Map<String, Value>,
) -> Result<(), String> {
    let keys = answer.iter().filter(|(name, value)| {
        let is_empty = matches!(value, Value::Null);
        !is_empty && key(name, Place::Top).is_some()
    });
    let members: Vec<_> = keys.collect();
    let echo = Echo {
        text: plain(text),
        keys: members.iter().filter_map(granting).collect(),
        members,
    };
    let Some((first, _)) = echo.members.first() else {
        return Ok(());
    };
    let names = [&event.tool_name, &event.session_id];
    let mut said: Vec<Value> = names
        .into_iter()
        .flatten()
        .cloned()
        .map(Value::from)
        .collect();
    said.push(Value::Object(event.data.clone()));
    said.extend(
        event
            .context()
            .map(|context| Value::Object(context.fields().clone())),
    );
    let said = Value::Array(said);
    if echo.is_in(&said) || echo.is_in(&without_escapes(&said)) {
        return Err(format!(
            "the event itself says so, at `{first}`: a hook that prints the event does not answer with it; write logs to \
             standard error"
        ));
    }
    Ok(())
}

/// What is looked for in an event.
struct Echo<'a> {
    text: String,
    keys: Vec<String>,
    members: Vec<(&'a String, &'a Value)>,
}

impl Echo<'_> {
    fn is_in(&self, said: &Value) -> bool {
        match said {
            Value::String(text) => self.is_in_text(text),
            Value::Array(items) => items.iter().any(|item| self.is_in(item)),
            Value::Object(map) => {
                let is_member = |(name, value): (&String, &Value)| {
                    let mut members = self.members.iter();
                    members.any(|(key, answer)| {
                        key.eq_ignore_ascii_case(name) && is_like(answer, value)
                    })
                };
                map.iter().any(is_member) || map.values().any(|value| self.is_in(value))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn is_in_text(&self, text: &str) -> bool {
        if !text.contains(['{', ':']) {
            return false;
        }
        let text = json::readable(text);
        let mut values = json::values::<Value>(&text).map_while(Result::ok);
        let plain = plain(&text);
        plain.contains(&self.text)
            || self.keys.iter().any(|key| is_key_in(key, &plain))
            || values.any(|value| self.is_in(&value))
    }
}

/// Returns the plain name of a deciding key, unless all that its value does is to block or to stop: that a model may do.
fn granting((name, value): &(&String, &Value)) -> Option<String> {
    let decides = key(name, Place::Top).is_some_and(|it| it.decides);
    let is_block = matches!(value.as_str(), Some("block" | "deny"));
    (decides && !is_block && !value.is_boolean()).then(|| plain(name))
}

/// Whether a text without white space has this name as a key, in quotes of any kind.
fn is_key_in(name: &str, text: &str) -> bool {
    let mut behind = text.split(name).skip(1);
    behind.any(|behind| {
        let value = behind.trim_start_matches(['"', '\'', '`', '\\']);
        value.len() < behind.len() && value.starts_with(':')
    })
}

fn plain(text: &str) -> String {
    let seen = text.chars().filter(char::is_ascii_graphic);
    seen.map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns the members of an object by their plain names.
fn sorted(map: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut members: Vec<_> = map.iter().map(|(key, value)| (plain(key), value)).collect();
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    members
}

/// Whether an answer has the value of the event, perhaps with a part of it masked.
fn is_like(answer: &Value, said: &Value) -> bool {
    let are_objects = answer.is_object() && said.is_object();
    are_objects || is_same(answer, said)
}

fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => plain(a) == plain(b),
        // Programs round numbers, each in its own way.
        (Value::Number(_), Value::Number(_)) => true,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let (a, b) = (sorted(a), sorted(b));
            let is_member = |((name, a), (key, b)): (&(String, &Value), &(String, &Value))| {
                name == key && is_same(a, b)
            };
            a.len() == b.len() && a.iter().zip(&b).all(is_member)
        }
        (a, b) => a == b,
    }
}

/// Returns a value with the escapes in its texts read once more.
fn without_escapes(value: &Value) -> Value {
    match value {
        Value::String(text) => unescaped(text).into(),
        Value::Array(items) => items.iter().map(without_escapes).collect(),
        Value::Object(map) => {
            let members = map.iter();
            let members = members.map(|(key, value)| (unescaped(key), without_escapes(value)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

/// Reads the escapes of JSON, and those of `echo`.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        let Some(letter) = part.chars().next() else {
            // Two backslashes are one, and what follows is no escape.
            plain.push('\\');
            plain.push_str(parts.next().unwrap_or_default());
            continue;
        };
        let (read, length) = escape(part, letter);
        plain.push(read);
        plain.push_str(&part[length..]);
    }
    plain
}

/// Returns the character that an escape stands for, and the length of the escape without its backslash.
fn escape(part: &str, letter: char) -> (char, usize) {
    let number = |from: usize, most: usize, radix: u32| {
        let digits = part.bytes().skip(from).take(most);
        let length = digits
            .take_while(|it| char::from(*it).is_digit(radix))
            .count();
        let code = u32::from_str_radix(&part[from..from + length], radix).ok();
        (code.and_then(char::from_u32), from + length)
    };
    let (read, length) = match letter {
        // Half of a surrogate pair is read as elsewhere.
        'u' => match number(1, 4, 16) {
            (None, 5) => (Some(char::REPLACEMENT_CHARACTER), 5),
            read => read,
        },
        'x' => number(1, 2, 16),
        '0' => number(1, 3, 8),
        '1'..='7' => number(0, 3, 8),
        'a' | 'b' | 'e' | 'f' | 'n' | 'r' | 't' | 'v' => (Some(' '), 1),
        _ => (None, 0),
    };
    read.map_or((letter, letter.len_utf8()), |read| (read, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_once() {
        for (text, expected) in [
            ("plain", "plain"),
            (r"a\nb", "a b"),
            (r"\0144ecision", "decision"),
            (r"\144ecision", "decision"),
            (r"\u0064ecision", "decision"),
            (r"\x64ecision", "decision"),
            (r#"\"a\/b"#, r#""a/b"#),
            (r"\\n\\u0064", r"\n\u0064"),
            (r"\\", r"\"),
            (r"a\", r"a\"),
            (r"\u", "u"),
            (r"\ud83d", "\u{FFFD}"),
            (r"\é", "é"),
        ] {
            assert_eq!(unescaped(text), expected, "{text}");
        }
    }
}
