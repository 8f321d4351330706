//! The values that a protocol exchanges with the engine: the program to start, and its end.
//!
//! Knows no hook and no format.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::process::Args;

/// The reason why a hook's protocol does not match an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProtocolMismatch<'a> {
    /// The setting that does not match, such as `matcher`.
    pub(crate) key: &'a str,
    /// The value of the setting.
    pub(crate) expected: &'a str,
    /// The event's value.
    pub(crate) found: Option<&'a str>,
}

/// The program to start for a hook. Default: without variables and with an empty standard input, in the hook's working
/// directory. The hook's own `env` has priority over the variables, and its own timeout over this one.
pub(crate) struct Launch<'a> {
    pub(crate) program: OsString,
    /// The arguments, which are taken when the program is started.
    pub(crate) args: Option<Args>,
    pub(crate) variables: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pub(crate) working_dir: Option<PathBuf>,
    pub(crate) stdin: Option<Cow<'a, [u8]>>,
    /// The time limit of a hook without its own. Default: the executor's.
    pub(crate) timeout: Option<Duration>,
    /// True if the hook's command may be executed without its shell.
    pub(crate) may_be_direct: bool,
    /// The id of the event on standard input, if the process is kept for other events.
    pub(crate) id: Option<String>,
    /// A file that the hook may write, for the variables of the session.
    pub(crate) env_file: Option<NamedTempFile>,
}

impl Launch<'_> {
    pub(crate) fn new(program: OsString, args: Args) -> Self {
        Self {
            program,
            args: Some(args),
            variables: Vec::new(),
            working_dir: None,
            stdin: None,
            timeout: None,
            may_be_direct: false,
            id: None,
            env_file: None,
        }
    }
}

/// The end of a hook's process, and its output.
#[derive(Clone, Copy)]
pub(crate) struct Exit<'a> {
    /// The exit code; None if a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output as text. Invalid UTF-8 is replaced.
    pub(crate) stdout: &'a str,
    /// Standard output as the bytes that were written.
    pub(crate) stdout_bytes: &'a [u8],
    /// Standard error as text.
    pub(crate) stderr: &'a str,
    /// The position in `stdout_bytes` at which bytes were left out, if the output was longer than the executor's limit.
    pub(crate) gap: Option<usize>,
}
