//! How a hook ended, before its answer is read, and what else is known of its run.
//!
//! Knows no process and no protocol, and not what follows for the operation.

use std::time::Duration;

use super::{EnvFile, Residency};
use crate::entry::{Failure, FailureKind};

/// How the process of a hook ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exited(i32),
    /// A signal ended it (Unix).
    Signaled(i32),
    /// There was none, it was killed, or its exit status is lost: the failure says which.
    Otherwise,
}

impl End {
    /// The exit code, as shells number it.
    pub(crate) fn exit_code(self) -> i32 {
        match self {
            Self::Exited(code) => code,
            Self::Signaled(signal) => 128 + signal,
            Self::Otherwise => -1,
        }
    }

    /// Whether it ended by itself, and not with exit code 0.
    pub(super) fn is_failure(self) -> bool {
        !matches!(self, Self::Exited(0) | Self::Otherwise)
    }
}

/// The end of a hook, and what it wrote.
pub(crate) struct Ended {
    pub(crate) end: End,
    pub(crate) failure: Option<Failure>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) duration: Duration,
    pub(crate) trail: Trail,
}

/// What else a run leaves: facts from which nothing follows for the operation.
#[derive(Clone, PartialEq, Default)]
pub(crate) struct Trail {
    pub(crate) queued: Duration,
    pub(crate) pid: Option<u32>,
    pub(crate) residency: Option<Residency>,
    pub(crate) truncated: bool,
    pub(crate) output_held_open: bool,
    /// The bytes that were written, if the text does not represent them.
    pub(crate) raw_stdout: Option<Vec<u8>>,
    pub(crate) raw_stderr: Option<Vec<u8>>,
    pub(crate) env_file: Option<Box<EnvFile>>,
}

impl Ended {
    /// The end of a process that has written nothing.
    pub(crate) fn new(end: End, failure: Option<Failure>) -> Self {
        Self {
            end,
            failure,
            stdout: String::new(),
            stderr: String::new(),
            duration: Duration::ZERO,
            trail: Trail::default(),
        }
    }

    /// The end of a hook that failed, and whose process has no exit code.
    pub(crate) fn failed(failure: Failure) -> Self {
        Self::new(End::Otherwise, Some(failure))
    }

    /// The end of a process with this exit code.
    pub(crate) fn exited(code: i32) -> Self {
        Self::new(End::Exited(code), exit_failure(code))
    }

    /// Whether the process ended by itself, with any exit code or signal, so that its answer is read.
    pub(crate) fn is_by_itself(&self) -> bool {
        let mut failure = self.failure.iter();
        self.trail.pid.is_some() && failure.all(|failure| failure.kind.is_of_its_end())
    }
}

/// Returns the failure of an exit code that no shell has given a meaning.
pub(crate) fn exit_failure(code: i32) -> Option<Failure> {
    let error = || Failure::new(FailureKind::Exit, format!("exited with code {code}"));
    (code != 0).then(error)
}
