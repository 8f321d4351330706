//! The end of a hook's process, and other facts about its run.
//!
//! Knows no process and no protocol, and not the effect on the operation.

use std::time::Duration;

use super::{EnvFile, Residency};
use crate::entry::{Failure, FailureKind};

/// The way in which the process of a hook ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exited(i32),
    /// There was no process: the answer is in the entry.
    Answered,
    /// A signal ended the process (Unix).
    Signaled(i32),
    /// There was no process, it was killed, or its exit status is lost: the failure says which.
    Otherwise,
}

impl End {
    /// Returns the exit code, as shells number it.
    pub(crate) fn exit_code(self) -> i32 {
        match self {
            Self::Exited(code) => code,
            Self::Answered => 0,
            Self::Signaled(signal) => 128 + signal,
            Self::Otherwise => -1,
        }
    }

    /// Returns whether the process ended by itself, and not with exit code 0.
    pub(super) fn is_failure(self) -> bool {
        !matches!(self, Self::Exited(0) | Self::Answered | Self::Otherwise)
    }
}

/// Facts about a run that have no effect on the operation.
#[derive(Clone, PartialEq, Default)]
pub(crate) struct Trail {
    pub(crate) queued: Duration,
    pub(crate) pid: Option<u32>,
    pub(crate) residency: Option<Residency>,
    pub(crate) truncated: bool,
    pub(crate) output_held_open: bool,
    /// The output as bytes, if the text does not represent all of them.
    pub(crate) raw_stdout: Option<Vec<u8>>,
    pub(crate) raw_stderr: Option<Vec<u8>>,
    pub(crate) env_file: Option<Box<EnvFile>>,
}

/// Returns the failure of an exit code; none for 0. The codes of a shell that cannot start a command are also those of a command
/// that ends with them, so the message says only what a shell means by them.
pub(crate) fn exit_failure(code: i32) -> Option<Failure> {
    const CANNOT_EXECUTE: &str = ", as a shell does that cannot execute a command";
    const NOT_FOUND: &str = ", as a shell does that has not found a command";
    /// The code of `cmd`.
    const NOT_FOUND_BY_CMD: i32 = 9009;
    let (kind, meaning) = match code {
        0 => return None,
        126 => (FailureKind::NotExecutable, CANNOT_EXECUTE),
        127 => (FailureKind::NotFound, NOT_FOUND),
        NOT_FOUND_BY_CMD if cfg!(windows) => (FailureKind::NotFound, NOT_FOUND),
        _ => (FailureKind::Exit, ""),
    };
    let message = format!("exited with code {code}{meaning}");
    Some(Failure::new(kind, message))
}
