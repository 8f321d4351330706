//! The meaning of the end of another tool's hook, and the members of the JSON that it wrote.
//!
//! Does not know any particular tool.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::hook::{Decision, HookOutput, kind};

/// How a hook ended, and what it wrote.
#[derive(Debug, Clone, Copy)]
pub(super) struct HookEnd<'a> {
    /// Its exit code; negative if a signal ended it.
    pub(super) code: i32,
    pub(super) stdout: &'a str,
    pub(super) stderr: &'a str,
}

impl HookEnd<'_> {
    /// Returns the JSON object on standard output; other output is plain text.
    pub(super) fn object(&self) -> Option<Map<String, Value>> {
        from_json(self.stdout.trim())
    }

    /// Returns the text on standard error, if there is any.
    pub(super) fn stderr_text(&self) -> Option<String> {
        nonblank(self.stderr)
    }
}

/// What a tool concludes from it.
#[derive(Debug, Default)]
pub(super) struct Conclusion {
    pub(super) output: HookOutput,
    /// Whether the tool uses the output, so that the exit code is not a failure.
    pub(super) replaces_exit_code: bool,
    /// The reason why the tool cannot use the answer, if so. It then continues as if the hook had
    /// failed.
    pub(super) unusable: Option<String>,
    /// A decision in the answer that the tool does not read.
    pub(super) ignored: Option<String>,
    pub(super) diagnostics: Vec<String>,
}

impl Conclusion {
    /// Creates it from an answer that is valid for the tool, or from the reason why it is not.
    pub(super) fn from_answer(answer: Result<HookOutput, String>) -> Self {
        match answer {
            Ok(output) => Self {
                output,
                replaces_exit_code: true,
                ..Self::default()
            },
            Err(why) => Self {
                unusable: Some(why),
                ..Self::default()
            },
        }
    }

    /// Blocks by the exit code, whatever was written.
    pub(super) fn block_by_code(&mut self, reason: Option<String>) {
        if self.output.decision != Some(Decision::Block) {
            self.output.decision = Some(Decision::Block);
            self.output.reason = reason;
        }
        self.output.updated_input = None;
        self.take_code();
    }

    /// Gives feedback to the model by the exit code, after a tool.
    pub(super) fn feed_back_by_code(&mut self, text: Option<String>) {
        let feedback = self.output.feedback.take();
        self.output.feedback = feedback.or(text);
        self.take_code();
    }

    fn take_code(&mut self) {
        self.replaces_exit_code = true;
        self.diagnostics.extend(self.unusable.take());
    }
}

/// Reads JSON as JavaScript does: with halves of surrogate pairs, as `JSON.stringify` writes of a text that
/// is cut within an emoji. They are replaced.
pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> Option<T> {
    let read = serde_json::from_str(text);
    read.or_else(|_| serde_json::from_str(&without_halves(text)))
        .ok()
}

fn without_halves(mut rest: &str) -> String {
    let mut whole = String::with_capacity(rest.len());
    while let Some((before, escape)) = rest.find('\\').map(|at| rest.split_at(at)) {
        whole.push_str(before);
        let second = escape.get(6..).and_then(code_unit);
        let (kept, length) = match (code_unit(escape), second) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => (&escape[..12], 12),
            (Some(0xD800..0xE000), _) => ("\\ufffd", 6),
            _ => {
                let length = escape.char_indices().nth(2).map_or(escape.len(), |it| it.0);
                (&escape[..length], length)
            }
        };
        whole.push_str(kept);
        rest = &escape[length..];
    }
    whole + rest
}

/// Returns the code unit of `\uXXXX`.
fn code_unit(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

/// Returns the text, unless it is blank.
pub(super) fn nonblank(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The members of an object; `null` counts as missing.
#[derive(Clone, Copy)]
pub(super) struct Members<'a>(pub(super) &'a Map<String, Value>);

impl<'a> Members<'a> {
    pub(super) fn get(self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn text(self, key: &str) -> Result<Option<&'a str>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(unexpected(key, "a string", other)),
        }
    }

    /// Returns a string, unless it is blank.
    pub(super) fn nonblank(self, key: &str) -> Result<Option<String>, String> {
        Ok(self.text(key)?.and_then(nonblank))
    }

    pub(super) fn flag(self, key: &str) -> Result<Option<bool>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => Err(unexpected(key, "true or false", other)),
        }
    }

    pub(super) fn object(self, key: &str) -> Result<Option<Self>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Self(map))),
            Some(other) => Err(unexpected(key, "an object", other)),
        }
    }

    /// Returns one of these words.
    pub(super) fn choice(self, key: &str, words: &[&str]) -> Result<Option<&'a str>, String> {
        match self.text(key)? {
            Some(word) if !words.contains(&word) => {
                let word: String = word.chars().take(40).collect();
                let words = words.join("`, `");
                Err(format!("`{key}`: expected `{words}`, found `{word}`"))
            }
            word => Ok(word),
        }
    }

    /// Returns a key that is not one of these.
    pub(super) fn other_than(self, known: &[&str]) -> Option<&'a str> {
        let mut keys = self.0.keys();
        keys.find(|key| !known.contains(&key.as_str()))
            .map(String::as_str)
    }

    /// Returns a note on each of these keys, here and in the objects within: the tool knows them, and hosts do not apply
    /// them.
    pub(super) fn not_applied(self, keys: &[&str]) -> Vec<String> {
        let mut notes = Vec::new();
        for (key, value) in self.0 {
            if keys.contains(&key.as_str()) && !value.is_null() {
                notes.push(format!("`{key}` of the answer is not applied here"));
            } else if matches!(&**key, "hookSpecificOutput" | "decision")
                && let Value::Object(inner) = value
            {
                notes.extend(Self(inner).not_applied(keys));
            }
        }
        notes
    }

    /// Reads `continue`, `stopReason` and `systemMessage`, which all tools have.
    pub(super) fn common(self) -> Result<HookOutput, String> {
        Ok(HookOutput {
            stops_turn: self.flag("continue")? == Some(false),
            stop_reason: self.nonblank("stopReason")?,
            system_message: self.nonblank("systemMessage")?,
            ..HookOutput::default()
        })
    }
}

fn unexpected(key: &str, expected: &str, found: &Value) -> String {
    format!("`{key}`: expected {expected}, found {}", kind(found))
}
