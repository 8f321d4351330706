//! Errors building a hook, with their places in a text.

use std::ops::Range;

use crate::events::nearest;
use crate::json::Node;
use crate::pattern::PatternError;
use crate::printable::shortened;

/// Error building a hook. Its text has the pattern or the key that cannot be used, what was found, and what was expected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(transparent)]
pub struct HookError(pub(crate) Cause);

/// The reason why a hook cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Cause {
    /// The event pattern is malformed.
    #[error(transparent)]
    Pattern(PatternError),
    /// The command is empty.
    #[error("the command is empty")]
    EmptyCommand,
    /// The value of a key cannot be used.
    #[error(transparent)]
    Key(Box<KeyError>),
    /// The JSON form is not an object.
    #[error("expected an object with `event` and `command`, found {found}")]
    NotAnObject {
        /// The type of the JSON value that was found.
        found: &'static str,
    },
}

/// The least similarity to a known key or value at which an unknown one counts as a typo of it.
pub(crate) const LIKE_A_KEY: f64 = 0.8;

/// The reason why a backspace is refused: it is never intended, and a guard that searches for it guards nothing.
pub(super) const BACKSPACE: &str =
    "`\\b` is a backspace in JSON: for the word boundary of an expression write `\\\\b`";

pub(super) const EMPTY_ANSWER: &str =
    "the answer says nothing: write a `decision`, or what the hook adds or changes";

impl From<PatternError> for HookError {
    fn from(error: PatternError) -> Self {
        Self(Cause::Pattern(error))
    }
}

impl HookError {
    pub(super) const EMPTY_COMMAND: Self = Self(Cause::EmptyCommand);

    pub(super) fn key(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self(Cause::Key(Box::new(KeyError::new(key, message))))
    }

    /// Returns the key of the error; empty for the whole entry.
    pub(crate) fn key_path(&self) -> &str {
        match &self.0 {
            Cause::Key(error) => &error.key,
            _ => "",
        }
    }

    /// Returns the error with the place of this value.
    pub(super) fn at(self, value: Node<'_, '_>) -> Fault {
        self.in_place(value.range())
    }

    pub(crate) fn in_place(self, place: Range<usize>) -> Fault {
        Fault { error: self, place }
    }

    /// Creates the error of a value. `expected` may be `one of` some names in backquotes.
    pub(super) fn unexpected(key: impl Into<String>, expected: &str, found: &str) -> Self {
        let names = expected.strip_prefix("one of ").unwrap_or_default();
        let names = names.split('`').skip(1).step_by(2);
        let suggestion = nearest(found.trim_matches('`'), names, LIKE_A_KEY);
        let found = shortened(found);
        Self(Cause::Key(Box::new(KeyError {
            suggestion: suggestion.map(str::to_owned),
            expected: Some(expected.to_owned()),
            found: Some(found.clone().into_owned()),
            ..KeyError::new(key, format!("expected {expected}, found {found}"))
        })))
    }
}

/// An error of an entry, with its place.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) error: HookError,
    /// The bytes of the text; empty for an entry that is not in a text.
    pub(crate) place: Range<usize>,
}

/// A problem with one key of a hook in hooks.json.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {message}")]
pub(crate) struct KeyError {
    /// The key, or the path to the value, such as `env.PATH` and `args[1]`.
    pub(crate) key: String,
    /// The problem, including what was expected and what was found.
    pub(crate) message: String,
    /// The expected value, if known.
    pub(crate) expected: Option<String>,
    /// The value that was found.
    pub(crate) found: Option<String>,
    /// A suggestion for a name with a typo.
    pub(crate) suggestion: Option<String>,
}

impl KeyError {
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            message: message.into(),
            ..Self::default()
        }
    }
}
