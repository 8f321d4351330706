//! The commands' connection to their program: its name and version, its streams, its threads, and its Ctrl-C.
//!
//! Does not know the commands.

use crate::cli::{CommandError, Terminal};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
#[cfg(unix)]
use std::os::fd::AsFd;
#[cfg(windows)]
use std::os::windows::io::AsHandle;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::{process, thread};

/// The name and version of a program, and the streams of its commands.
///
/// The library installs no signal handler: see [`interrupted_by`](Io::interrupted_by).
pub struct Io<'a> {
    pub(crate) program: String,
    pub(crate) version: String,
    pub(crate) terminal: Terminal<'a>,
}

// A panic may leave half a line in a stream, on which no state of this crate depends.
impl UnwindSafe for Io<'_> {}
impl RefUnwindSafe for Io<'_> {}

impl Io<'static> {
    /// Uses the process's own standard input, output and error.
    #[must_use]
    pub fn system(program: impl Into<String>) -> Self {
        let mut io = Self::new(program, io::stdin(), io::stdout(), io::stderr());
        io.terminal.is_system = true;
        io.terminal.is_input_a_terminal = io::stdin().is_terminal();
        io.terminal.out.is_terminal = io::stdout().is_terminal();
        io.terminal.errors.is_terminal = io::stderr().is_terminal();
        io
    }
}

impl<'a> Io<'a> {
    /// Uses these streams for a program that is started with `program`, for example `mygame hooks`.
    /// Help, messages and completions contain this name. None of the streams is
    /// treated as a terminal.
    #[must_use]
    pub fn new(
        program: impl Into<String>,
        input: impl Read + 'a,
        output: impl Write + 'a,
        errors: impl Write + 'a,
    ) -> Self {
        Self {
            program: program.into(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            terminal: Terminal::new(input, output, errors),
        }
    }

    /// Sets the version that `--version` prints. Default: the version of this crate.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets a function that returns the exit status (130 for Ctrl-C) after the user has interrupted
    /// the program. Commands that run hooks call it about 20 times a second, and first before any
    /// hook starts, so that a program can install its signal handler then. Default: always None.
    #[must_use]
    pub fn interrupted_by(mut self, interrupted: impl FnMut() -> Option<u8> + 'a) -> Self {
        self.terminal.interrupted = Box::new(interrupted);
        self
    }
}

/// Returns the standard input and output of the process without their locks: a thread that holds one may wait for the
/// other program for ever.
pub(crate) fn streams() -> io::Result<(File, File)> {
    let (input, output) = (io::stdin(), io::stdout());
    #[cfg(unix)]
    let (input, output) = (input.as_fd(), output.as_fd());
    #[cfg(windows)]
    let (input, output) = (input.as_handle(), output.as_handle());
    let (input, output) = (input.try_clone_to_owned()?, output.try_clone_to_owned()?);
    Ok((input.into(), output.into()))
}

/// Starts a thread that is not joined.
pub(crate) fn start(work: impl FnOnce() + Send + 'static) -> Result<(), CommandError> {
    let thread = thread::Builder::new().name("forge-hooks".to_owned());
    let started = thread.spawn(work).map(drop);
    started.map_err(|error| CommandError::new(format!("cannot start a thread: {error}")))
}

/// Ends the process with these texts on its standard output and error.
pub(crate) fn end(out: &str, errors: &str, code: u8) -> ! {
    // The exit status alone reports the error if the texts cannot be written.
    let _ = io::stdout().write_all(out.as_bytes());
    let _ = io::stderr().write_all(errors.as_bytes());
    process::exit(code.into())
}
