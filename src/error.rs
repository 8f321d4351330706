//! The error of what a host sets up.
//!
//! Knows no value: each one says what it could not do.

use std::error::Error;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Error setting up what hooks need: an event, a [`Trace`](crate::Trace), a [`Redactor`](crate::Redactor), a
/// [`Sandbox`](crate::Sandbox), a hooks file, or an [approval](crate::Hooks::approve_with). `Display` says what cannot be used,
/// and [`source`](Error::source) has the cause, if there is one.
#[derive(Debug)]
pub struct SetupError {
    message: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

// Its cause may be any error, of which a host only reads the text.
impl UnwindSafe for SetupError {}
impl RefUnwindSafe for SetupError {}

impl SetupError {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self {
            message: message.to_string(),
            cause: None,
        }
    }

    pub(crate) fn because(
        message: impl fmt::Display,
        cause: impl Error + Send + Sync + 'static,
    ) -> Self {
        Self {
            cause: Some(Box::new(cause)),
            ..Self::new(message)
        }
    }

    /// Returns the message with that of its cause.
    pub(crate) fn with_cause(&self) -> String {
        match &self.cause {
            Some(cause) => format!("{self}: {cause}"),
            None => self.message.clone(),
        }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for SetupError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let cause = self.cause.as_deref()?;
        Some(cause)
    }
}
