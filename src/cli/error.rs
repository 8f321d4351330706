//! The end of a command: its exit status, or an error with a message for the user and the fix.

use std::error::Error;
use std::fmt;
use std::io;

use serde::Serialize;

use crate::config::ConfigError;
use crate::printable_lines;
use crate::trust::TrustError;

/// The exit status of a command: [the table](crate::docs::program#the-exit-status) has the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit(pub(crate) u8);

impl Exit {
    pub(crate) const FINE: Self = Self(0);
    /// An event was blocked, a hook failed, or problems were found.
    pub(crate) const PROBLEMS: Self = Self(1);
    /// Wrong usage, or the command could not do its work.
    pub(crate) const NOTHING_DONE: Self = Self(2);
    /// The status that a shell reports for `SIGPIPE`.
    pub(crate) const CLOSED_PIPE: Self = Self(141);

    /// Returns the exit status of a command, depending on whether it found problems.
    pub(crate) fn fine_if(is_fine: bool) -> Self {
        if is_fine { Self::FINE } else { Self::PROBLEMS }
    }
}

/// The result of a command.
pub(crate) type Done = Result<Exit, CommandError>;

/// The error of a command. It ends the program with exit status 2, or silently if the output was closed.
#[derive(Serialize)]
pub(crate) struct CommandError {
    pub(crate) message: String,
    /// The fix, as an instruction.
    fix: Option<String>,
    /// The usage of a command, which people are shown instead of the message.
    #[serde(skip)]
    usage: Option<String>,
    /// True if the reader of the output has closed it, which is not an error.
    #[serde(skip)]
    pub(crate) is_closed_pipe: bool,
}

/// The object that any command prints with `--json` if it could not run.
#[derive(Serialize)]
pub(crate) struct ForPrograms<'a> {
    pub(crate) error: &'a CommandError,
}

impl CommandError {
    /// Creates an error. `message` is a lower-case fragment, like the errors of the library.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            fix: None,
            usage: None,
            is_closed_pipe: false,
        }
    }

    /// Adds the fix.
    pub(crate) fn with_fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// Puts the position before the message.
    pub(crate) fn at(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }
}

/// Writes the error for people.
impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(usage) = &self.usage {
            return f.write_str(usage);
        }
        write!(f, "error: {}", printable_lines(&self.message))?;
        match &self.fix {
            Some(fix) => write!(f, "\n  fix: {}", printable_lines(fix)),
            None => Ok(()),
        }
    }
}

/// Converts wrong usage.
impl From<clap::Error> for CommandError {
    fn from(error: clap::Error) -> Self {
        let text = error.render();
        let plain = text.to_string();
        let message = plain.lines().next().unwrap_or_default();
        Self {
            usage: Some(text.ansi().to_string().trim_end().to_owned()),
            ..Self::new(message.trim_start_matches("error: "))
        }
    }
}

/// Converts an error of writing to standard output.
impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self {
            is_closed_pipe: error.kind() == io::ErrorKind::BrokenPipe,
            ..Self::new(format!("cannot write the output: {error}"))
        }
    }
}

impl From<ConfigError> for CommandError {
    fn from(error: ConfigError) -> Self {
        Self::new(with_causes(&error))
    }
}

impl From<TrustError> for CommandError {
    fn from(error: TrustError) -> Self {
        let fix = "correct this file, or remove it and approve the hooks of each project again";
        let is_unusable = matches!(error, TrustError::Unusable { .. });
        Self {
            fix: is_unusable.then(|| fix.to_owned()),
            ..Self::new(with_causes(&error))
        }
    }
}

/// Describes an error of JSON, without its position and without the names of Rust's types.
pub(crate) fn json_words(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "the JSON is incomplete".to_owned();
    }
    let text = error.to_string();
    let message = text
        .rsplit_once(" at line ")
        .map_or(&*text, |(message, _)| message);
    if error.is_syntax() {
        return format!("not valid JSON: {}", message.replace("ident", "a value"));
    }
    if let Some(types) = message.strip_prefix("invalid type: ")
        && let Some((found, expected)) = types.split_once(", expected ")
    {
        return format!("expected {}, found {}", kind(expected), kind(found));
    }
    message
        .replace("unknown field", "unknown key")
        .replace("missing field", "missing key")
        .replace("duplicate field", "repeated key")
        .replace("unknown variant", "unknown value")
}

/// Returns the name of a kind of values in JSON.
fn kind(name: &str) -> &str {
    match name {
        "map" | "a map" | "struct Case" | "struct HookEvent" => "an object",
        "sequence" | "a sequence" => "a list",
        "a boolean" => "true or false",
        "f64" => "a number",
        other => other,
    }
}

/// Describes an error of JSON like [`json_words`], with its position.
pub(crate) fn placed_json_words(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    format!("{} (line {line}, column {column})", json_words(error))
}

pub(crate) fn with_causes(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    let messages: Vec<_> = causes.map(ToString::to_string).collect();
    messages.join(": ")
}
