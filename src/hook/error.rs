//! Errors building a hook.

use crate::pattern::PatternError;

/// Error building a hook.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// The event pattern is malformed.
    #[error(transparent)]
    Pattern(#[from] PatternError),
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

/// A problem with one key of a hook in hooks.json.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {message}")]
#[non_exhaustive]
pub struct KeyError {
    /// The key, or the path to the value, such as `env.PATH` and `args[1]`.
    pub key: String,
    /// The problem, including what was expected and what was found.
    pub message: String,
    /// The expected value, if known.
    pub expected: Option<String>,
    /// The value that was found.
    pub found: Option<String>,
    /// A suggestion for a name with a typo.
    pub suggestion: Option<String>,
}

impl KeyError {
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            message: message.into(),
            expected: None,
            found: None,
            suggestion: None,
        }
    }
}
