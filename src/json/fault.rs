//! The reason why a text is not JSON, or a value in it cannot be used.

use std::ops::Range;

/// One mistake in a text. The reader of the text adds the file and the severity.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The key of the value; empty for the whole text.
    pub(crate) key: String,
    /// The bytes of the value in the text.
    pub(crate) place: Range<usize>,
    /// The mistake, including what was expected and what was found.
    pub(crate) message: String,
    /// The next step, if the message does not contain it.
    pub(crate) help: Option<String>,
    /// True if the text exceeds a limit of this crate: another program may have read it.
    pub(crate) is_limit: bool,
}

impl Fault {
    pub(super) fn new(message: impl Into<String>, place: Range<usize>) -> Self {
        Self {
            key: String::new(),
            place,
            message: message.into(),
            help: None,
            is_limit: false,
        }
    }

    /// Creates the fault of a text that exceeds a limit.
    pub(super) fn limit(message: impl Into<String>, place: Range<usize>) -> Self {
        Self {
            is_limit: true,
            ..Self::new(message, place)
        }
    }

    pub(super) fn with_help(self, help: Option<impl Into<String>>) -> Self {
        Self {
            help: help.map(Into::into),
            ..self
        }
    }

    pub(super) fn of_key(self, key: &str) -> Self {
        Self {
            key: key.to_owned(),
            ..self
        }
    }
}
