//! Errors building a hook.

use crate::pattern::PatternError;

/// Error building a hook.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// The event pattern is malformed.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// There is nothing to run.
    #[error("the command is empty")]
    EmptyCommand,
    /// A key of the JSON form cannot be used.
    #[error(transparent)]
    Key(Box<KeyError>),
    /// The JSON form is not an object.
    #[error("expected an object with `event` and `command`, found {found}")]
    NotAnObject {
        /// What was found in its place.
        found: &'static str,
    },
}

/// What is wrong with one key of a hook in hooks.json.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {message}")]
#[non_exhaustive]
pub struct KeyError {
    /// The key, or the path to it, as in `env.PATH` and `args[1]`.
    pub key: String,
    /// What is wrong, in words: also what was expected and what was found.
    pub message: String,
    /// What was expected, where it can be said.
    pub expected: Option<String>,
    /// What was found in its place.
    pub found: Option<String>,
    /// What was probably meant.
    pub suggestion: Option<String>,
}
