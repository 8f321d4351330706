//! Why nothing could be done, in words for the user, with the fix.

use std::error::Error;
use std::fmt;
use std::io;

use serde_json::{Value, json};

/// What ends the program with exit status 2, or quietly where nobody reads any more.
pub(crate) struct Failure {
    message: String,
    fix: Option<String>,
    is_closed_pipe: bool,
}

impl Failure {
    /// `message` is a fragment, as the errors of the library are.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            fix: None,
            is_closed_pipe: false,
        }
    }

    /// Says what fixes it.
    pub(crate) fn with_fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// Says first where it is.
    pub(crate) fn at(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// For programs: `schemas/error.schema.json` describes it.
    pub(crate) fn to_json(&self) -> Value {
        json!({"error": {"message": self.message, "fix": self.fix}})
    }

    /// Whether whoever reads our output has gone: nothing to complain of.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.is_closed_pipe
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.fix {
            Some(fix) => write!(f, "\n  fix: {fix}"),
            None => Ok(()),
        }
    }
}

/// Of writing to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let is_closed_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        Self {
            is_closed_pipe,
            ..Self::new(format!("could not write: {error}"))
        }
    }
}

impl From<crate::ConfigError> for Failure {
    fn from(error: crate::ConfigError) -> Self {
        Self::new(with_causes(&error))
    }
}

impl From<crate::TrustError> for Failure {
    fn from(error: crate::TrustError) -> Self {
        Self::new(with_causes(&error))
    }
}

fn with_causes(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    let words: Vec<_> = causes.map(ToString::to_string).collect();
    words.join(": ")
}
