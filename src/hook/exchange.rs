//! What a protocol exchanges with the engine: what to start, how it has ended, and what that means.
//!
//! Knows no hook and no format.

use std::any::Any;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use tempfile::NamedTempFile;

use super::failure::FailureKind;
use super::output::HookOutput;
use super::parts::{LONGEST_TIMEOUT, SHORTEST_TIMEOUT};
use crate::events::HookEvent;
use crate::process::Args;

/// Why a hook's protocol does not match an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProtocolMismatch<'a> {
    /// The setting that does not match, such as `matcher`.
    pub key: &'a str,
    /// Its value.
    pub expected: &'a str,
    /// The event's value.
    pub found: Option<&'a str>,
}

impl<'a> ProtocolMismatch<'a> {
    /// Creates it from a setting, its value and the event's value.
    #[must_use]
    pub fn new(key: &'a str, expected: &'a str, found: Option<&'a str>) -> Self {
        Self {
            key,
            expected,
            found,
        }
    }
}

/// A failure of a hook, with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The message: a fragment in lower case.
    pub message: String,
}

impl Failure {
    /// Creates a failure.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}

/// What is made once for all hooks of an event.
#[derive(Default)]
pub(crate) struct Shared {
    json: OnceLock<String>,
    once: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Shared {
    /// Returns the event as one line of JSON.
    pub(super) fn json(&self, event: &HookEvent) -> &[u8] {
        let make = || event.to_json() + "\n";
        self.json.get_or_init(make).as_bytes()
    }

    /// Returns a value that is made once. There is one, for this crate's own protocol.
    pub(super) fn once<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        let value = self.once.get_or_init(|| Box::new(make()));
        value.downcast_ref()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// What to start for a hook. `Debug` shows no values: they may be secrets.
#[must_use]
pub struct Start<'a> {
    pub(crate) program: OsString,
    /// Taken when it is started.
    pub(crate) args: Option<Args>,
    pub(crate) variables: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pub(crate) working_dir: Option<PathBuf>,
    pub(crate) stdin: Option<Cow<'a, [u8]>>,
    pub(crate) timeout: Option<Duration>,
    /// Whether the hook's command may be executed without its shell.
    pub(crate) may_be_direct: bool,
    /// The id of the event on standard input: the process is kept for other events.
    pub(crate) id: Option<String>,
    /// A file that the hook may write, for the variables of the session.
    pub(crate) env_file: Option<NamedTempFile>,
    kept: Option<Box<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Start<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("Start")
            .field("program", &self.program)
            .field("variables", &names)
            .finish_non_exhaustive()
    }
}

impl<'a> Start<'a> {
    /// A program, without arguments. It runs in the hook's working directory with an empty standard input, and inherits
    /// the host's environment as the hook's other settings say.
    pub fn program(program: impl Into<OsString>) -> Self {
        Self::with_args(program.into(), Args::List(Vec::new()))
    }

    pub(crate) fn with_args(program: OsString, args: Args) -> Self {
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
            kept: None,
        }
    }

    /// Sets the arguments.
    pub fn args<I: IntoIterator<Item: Into<OsString>>>(mut self, args: I) -> Self {
        self.args = Some(Args::List(args.into_iter().map(Into::into).collect()));
        self
    }

    /// Sets a variable. The hook's own `env` has priority.
    pub fn variable(
        mut self,
        name: impl Into<Cow<'a, str>>,
        value: impl Into<Cow<'a, str>>,
    ) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Sets another working directory. A relative path begins at the [call's](crate::protocol::Call::working_dir).
    pub fn working_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.working_dir = Some(directory.into());
        self
    }

    /// Sets the standard input. Default: none.
    pub fn stdin(mut self, input: impl Into<Cow<'a, [u8]>>) -> Self {
        self.stdin = Some(input.into());
        self
    }

    /// Sets the time limit of a hook without its own, of at most a day. Default: the executor's.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout.clamp(SHORTEST_TIMEOUT, LONGEST_TIMEOUT));
        self
    }

    /// Keeps a value until the hook's end is read, such as a temporary file.
    pub fn keep(mut self, value: impl Any + Send + Sync) -> Self {
        self.kept = Some(Box::new(value));
        self
    }

    /// The value that was kept, if it has this type.
    #[must_use]
    pub fn kept<T: Any>(&self) -> Option<&T> {
        self.kept.as_ref()?.downcast_ref()
    }
}

/// How a hook's process has ended, and what it wrote. `Debug` shows no text: it may contain secrets.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct End<'a> {
    /// The exit code; None if a signal ended it.
    pub code: Option<i32>,
    /// Standard output as text. Invalid UTF-8 is replaced.
    pub stdout: &'a str,
    /// Standard output as the bytes that were written.
    pub stdout_bytes: &'a [u8],
    /// Standard error as text.
    pub stderr: &'a str,
    /// The place in `stdout_bytes` where bytes were left out, if the output was longer than the executor's limit.
    pub gap: Option<usize>,
}

impl fmt::Debug for End<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("End")
            .field("code", &self.code)
            .field("stdout", &format_args!("{} bytes", self.stdout.len()))
            .field("stderr", &format_args!("{} bytes", self.stderr.len()))
            .finish_non_exhaustive()
    }
}

/// What the end of a hook means.
#[derive(Debug, Default)]
#[must_use]
pub struct Answer {
    pub(crate) output: Option<HookOutput>,
    pub(crate) replaces_exit_code: bool,
    pub(crate) invalid: Option<String>,
    pub(crate) notes: Vec<String>,
    /// Whether the host's user is shown the first note, since the hook was probably meant to block.
    pub(crate) misread: bool,
}

impl Answer {
    /// No answer: the exit code decides.
    pub fn none() -> Self {
        Self::default()
    }

    /// An answer.
    pub fn of(output: HookOutput) -> Self {
        Self {
            output: Some(output),
            ..Self::default()
        }
    }

    /// An answer that cannot be read, with the reason. The hook fails.
    pub fn invalid(why: impl Into<String>) -> Self {
        Self {
            invalid: Some(why.into()),
            ..Self::default()
        }
    }

    /// Makes the answer count whatever the exit code: an exit code other than 0, and a signal, are no failure then. Not
    /// for every end: a guard that was not found (127) or was killed has checked nothing.
    pub fn replacing_exit_code(mut self) -> Self {
        self.replaces_exit_code = true;
        self
    }

    /// Adds a note for the author of the hook, one line. It is logged as a warning, once for each hook.
    pub fn note(mut self, words: impl Into<String>) -> Self {
        self.notes.push(words.into());
        self
    }
}

/// How hooks of one protocol run together on an event. Default: one after the other, as registered, with those of
/// hooks.json.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct Order {
    pub(crate) is_group: bool,
    pub(crate) once_for: Option<Box<str>>,
}

impl Order {
    /// All at once, with the other hooks whose protocols have the same name, after the hooks that run in order. Of
    /// several changes of one value, that of the last hook counts. A hook that
    /// [withholds](crate::FailurePolicy::Withhold) runs in order all the same.
    pub fn in_parallel() -> Self {
        Self {
            is_group: true,
            once_for: None,
        }
    }

    /// Of the hooks of this protocol that have the same key and differ in their events alone, runs only the first.
    pub fn once_for(mut self, key: impl Into<String>) -> Self {
        self.once_for = Some(key.into().into());
        self
    }
}
