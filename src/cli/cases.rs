//! A table of cases: events, each with the expected decision of its hooks, as a JSON array.
//!
//! Runs no hooks.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::cli::error::{Failure, json_words};
use crate::cli::files;
use crate::cli::terminal::Terminal;
use crate::cli::verdict::Verdict;
use crate::{EventType, HookEvent};

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Case {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) event: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    data: Map<String, Value>,
    pub(crate) expect: Expect,
    /// A glob for the whole reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) updated_input: Option<Map<String, Value>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Expect {
    Allow,
    Block,
    Ask,
}

/// A case, and its position in the file.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) case: Case,
    pub(crate) line: usize,
    column: usize,
}

const EXAMPLE: &str = r#"write each case as in {"event": "tool:pre_execute", "tool": "bash", "args": {"command": "sudo ls"}, "expect": "block"}"#;

impl Case {
    fn of(event: &HookEvent, verdict: &Verdict) -> Self {
        let mut data = event.data.clone();
        Self {
            name: None,
            event: event.event_type.to_string(),
            tool: event.tool_name.clone(),
            args: data.remove("tool_args"),
            data,
            expect: match verdict.decision {
                "allow" => Expect::Allow,
                "ask" => Expect::Ask,
                _ => Expect::Block,
            },
            reason: verdict.reason.as_deref().map(glob::Pattern::escape),
            updated_input: verdict.updated_input.clone(),
        }
    }

    pub(crate) fn event(&self, event_type: EventType) -> HookEvent {
        let mut event = HookEvent::new(event_type);
        if let Some(tool) = &self.tool {
            event = event.with_tool_name(tool);
        }
        if let Some(args) = &self.args {
            event = event.with_data("tool_args", args.clone());
        }
        for (key, value) in &self.data {
            event = event.with_data(key, value.clone());
        }
        event
    }
}

impl Expect {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
            Self::Ask => "ask",
        }
    }
}

impl Placed {
    /// Returns its position, for example `cases.json:3:5`.
    pub(crate) fn place(&self, file: &Path) -> String {
        format!("{}:{}:{}", shown(file), self.line, self.column)
    }
}

/// Reads the cases of a file; `-` is standard input.
pub(crate) fn read(file: &Path, terminal: &mut Terminal<'_>) -> Result<Vec<Placed>, Failure> {
    let text = if file == Path::new("-") {
        files::text_of(&mut *terminal.input)
    } else {
        files::open(file).and_then(files::text_of)
    };
    let text = text.map_err(|error| files::cannot_read(&shown(file), error))?;
    let cases = parse(file, &text)?;
    if cases.is_empty() {
        let words = format!("found no cases in `{}`", shown(file));
        return Err(Failure::new(words).with_fix(EXAMPLE));
    }
    Ok(cases)
}

fn parse(file: &Path, text: &str) -> Result<Vec<Placed>, Failure> {
    let failed = |offset: usize, words: &str| {
        let (line, column) = position(text, offset);
        let words = format!("{}:{line}:{column}: {words}", shown(file));
        Failure::new(words).with_fix(EXAMPLE)
    };
    let entries: Vec<&RawValue> = serde_json::from_str(text)
        .map_err(|error| failed(offset_of(text, &error), &json_words(&error)))?;
    let mut cases = Vec::new();
    // Counted from case to case: from the beginning would take a time that grows with the square.
    let (mut place, mut seen) = ((1, 1), 0);
    for entry in entries {
        let entry = entry.get();
        let start = entry.as_ptr() as usize - text.as_ptr() as usize;
        if !entry.starts_with('{') {
            return Err(failed(start, "expected an object"));
        }
        let case = serde_json::from_str(entry)
            .map_err(|error| failed(start + offset_of(entry, &error), &json_words(&error)))?;
        place = advance(place, &text.as_bytes()[seen..start]);
        seen = start;
        let (line, column) = place;
        cases.push(Placed { case, line, column });
    }
    Ok(cases)
}

/// Converts the position of an error, whose column counts bytes.
fn offset_of(text: &str, error: &serde_json::Error) -> usize {
    let before = text.split_inclusive('\n').take(error.line() - 1);
    let line_start: usize = before.map(str::len).sum();
    line_start + error.column().saturating_sub(1)
}

/// Returns line and column, in characters, counted from 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    advance((1, 1), &text.as_bytes()[..offset.min(text.len())])
}

/// Line and column behind these bytes.
fn advance((mut line, mut column): (usize, usize), bytes: &[u8]) -> (usize, usize) {
    for byte in bytes {
        match byte {
            b'\n' => (line, column) = (line + 1, 1),
            // The later bytes of a character count for nothing.
            0x80..=0xbf => {}
            _ => column += 1,
        }
    }
    (line, column)
}

/// Returns the name of a file for a message.
fn shown(file: &Path) -> Cow<'_, str> {
    if file == Path::new("-") {
        return Cow::Borrowed("standard input");
    }
    file.to_string_lossy()
}

fn cannot(what: &str, file: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot {what} `{}`: {error}", file.display()))
        .with_fix("name another file")
}

/// A file of cases to which one case is added.
pub(crate) struct Record {
    path: PathBuf,
    text: String,
    /// None for a new file.
    mode: Option<u32>,
}

impl Record {
    /// Checks the file first, so that no hook runs if the case cannot be added.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let (text, mode) = match files::open(path) {
            Ok(file) => {
                let mode = files::mode_of(&file);
                let text = files::text_of(file);
                let read = text.and_then(|text| Ok((text, Some(mode?))));
                read.map_err(|error| cannot("read", path, &error))?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => ("[]".to_owned(), None),
            Err(error) => return Err(cannot("read", path, &error)),
        };
        parse(path, &text)?;
        Ok(Self {
            path: path.to_owned(),
            text,
            mode,
        })
    }

    /// Leaves the cases that are there as they are written, those too that came while the hooks ran.
    pub(crate) fn append(self, event: &HookEvent, verdict: &Verdict) -> Result<(), Failure> {
        let now = Self::open(&self.path)?;
        let case = serde_json::to_string_pretty(&Case::of(event, verdict))
            .map_err(|error| Failure::new(format!("cannot write the case: {error}")))?;
        let case = case.replace('\n', "\n  ");
        let before = now.text.trim_end().trim_end_matches(']').trim_end();
        let comma = if before.ends_with('[') { "" } else { "," };
        let text = format!("{before}{comma}\n  {case}\n]\n");
        if text.len() as u64 > files::LARGEST {
            let words = format!("`{}` would be larger than 16 MiB", now.path.display());
            return Err(Failure::new(words).with_fix("name another file"));
        }
        files::replace(&now.path, &text, now.mode)
            .map_err(|error| cannot("write", &now.path, &error))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn errors_have_line_and_column() {
        let cases = [
            ("", "1:1: the JSON is incomplete"),
            ("{}", "1:1: expected a list, found an object"),
            ("[1]", "1:2: expected an object"),
            ("[\n {\"event\": \"x\"\n}]", "3:1: missing key `expect`"),
            ("[{\"ä\": 1}]", "1:5: unknown key `ä`"),
            (
                "[\n{},\n {\"expect\": \"deny\"}]",
                "2:2: missing key `event`",
            ),
            (
                "[{\"event\": \"x\", \"expect\": \"deny\"}]",
                "1:32: unknown value `deny`, expected one of `allow`, `block`, `ask`",
            ),
            (
                "[{\"event\": \"x\", \"event\": \"y\"}]",
                "1:23: repeated key `event`",
            ),
            (
                "[{\"event\": \"x\",}]",
                "1:16: not valid JSON: key must be a string",
            ),
        ];
        for (text, expected) in cases {
            let failure = parse(Path::new("f"), text).unwrap_err().to_string();
            let start = format!("error: f:{expected}");
            assert!(failure.starts_with(&start), "{text}: {failure}");
        }
    }

    #[test]
    fn many_cases_are_read_in_linear_time() {
        let case = r#"{"event":"a:b","expect":"ask"},"#;
        let text = format!("[{}{}]", case.repeat(200_000), case.trim_end_matches(','));
        let start = Instant::now();
        let cases = parse(Path::new("f"), &text).ok().unwrap();
        assert!(start.elapsed() < Duration::from_secs(60));
        let last = &cases[200_000];
        assert_eq!((last.line, last.column), (1, 200_000 * case.len() + 2));
    }
}
