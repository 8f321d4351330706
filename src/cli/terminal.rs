//! The output of the commands: colours if wanted, no control sequences from other sources, and a
//! silent end if the output was closed.

use std::fmt;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use crate::cli::draw::{Texts, drawn};
use crate::cli::files::{self, text_up_to};
use crate::cli::io::{Io, Terminals};
use crate::printable::printable_json;
use crate::{Hooks, LoadReport};

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

impl ColorChoice {
    /// Whether a stream has colours, by the rules of no-color.org and bixense.com/clicolors.
    pub(crate) fn is_on(self, is_terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if anstyle_query::no_color() => false,
            Self::Auto if is_forced() => true,
            Self::Auto => is_terminal && anstyle_query::term_supports_color(),
        }
    }
}

/// Whether colours are forced; `CLICOLOR_FORCE=0` does not force them.
fn is_forced() -> bool {
    let value = std::env::var_os("CLICOLOR_FORCE");
    value.is_some_and(|value| !value.is_empty() && value != "0")
}

/// The style of a text if there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Good,
    Bad,
    Warning,
    Strong,
    Dim,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Good => "\x1b[32m",
            Self::Bad => "\x1b[1;31m",
            Self::Warning => "\x1b[33m",
            Self::Strong => "\x1b[1m",
            Self::Dim => "\x1b[2m",
        }
    }
}

/// The streams of the commands: their output, and the user's answers.
pub(crate) struct Terminal<'a> {
    pub(crate) input: &'a mut (dyn Read + 'a),
    out: BufWriter<&'a mut (dyn Write + 'a)>,
    errors: &'a mut (dyn Write + 'a),
    interrupted: &'a mut (dyn FnMut() -> Option<u8> + 'a),
    /// The exit status of the signal that was received.
    ended_by: Option<u8>,
    is_terminal: Terminals,
    is_system: bool,
    colours: bool,
    colours_of_errors: bool,
}

impl<'a> Terminal<'a> {
    pub(crate) fn new(choice: ColorChoice, io: &'a mut Io<'_>) -> Self {
        let is_terminal = io.is_terminal;
        let colours = choice.is_on(is_terminal.output);
        let colours_of_errors = choice.is_on(is_terminal.errors);
        if colours || colours_of_errors {
            // Old consoles of Windows show the codes as text unless this is enabled.
            anstyle_query::windows::enable_ansi_colors();
        }
        Self {
            input: &mut *io.input,
            out: BufWriter::new(&mut *io.output),
            errors: &mut *io.errors,
            interrupted: &mut *io.interrupted,
            ended_by: None,
            is_terminal,
            is_system: io.is_system,
            colours,
            colours_of_errors,
        }
    }

    /// Whether the streams are those of the process.
    pub(crate) fn is_system(&self) -> bool {
        self.is_system
    }

    /// Whether the user can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        self.is_terminal.input
    }

    /// Returns the exit status of the signal that was received, if any. Signals are handled from the first
    /// call on.
    pub(crate) fn interrupted(&mut self) -> Option<u8> {
        if self.ended_by.is_none() {
            self.ended_by = (self.interrupted)();
        }
        self.ended_by
    }

    /// Reads the text of a file, up to a limit; `-` is standard input.
    pub(crate) fn read_text(&mut self, file: &Path, most: u64) -> io::Result<String> {
        if file == Path::new("-") {
            return text_up_to(most, &mut *self.input);
        }
        text_up_to(most, files::open(file)?)
    }

    /// Whether a line can be erased.
    pub(crate) fn can_move(&self) -> bool {
        self.is_terminal.output && anstyle_query::term_supports_ansi_color()
    }

    pub(crate) fn has_colours(&self) -> bool {
        self.colours
    }

    /// Formats a text in this style if there are colours. Text from other sources must be made
    /// [printable](crate::printable) first.
    pub(crate) fn styled<T: fmt::Display>(&self, style: Style, text: T) -> Styled<T> {
        let style = self.colours.then_some(style);
        Styled { style, text }
    }

    /// Prints a value for programs, without control characters for a terminal.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let json = printable_json(&serde_json::to_string_pretty(value)?);
        writeln!(self.out, "{json}")
    }

    /// Writes a note to standard error.
    pub(crate) fn note(&mut self, text: impl fmt::Display) -> io::Result<()> {
        let flushed = self.out.flush();
        writeln!(self.errors, "{text}")?;
        flushed
    }

    /// Notes that a variable disables all hooks but the administrator's, if there is one.
    pub(crate) fn note_disabled(
        &mut self,
        disabled_by: Option<&str>,
        found: &Hooks,
    ) -> io::Result<()> {
        let Some(variable) = disabled_by else {
            return Ok(());
        };
        let has_system = found.registry().hooks().iter().any(|it| it.is_system());
        let what = match has_system {
            true => "only the administrator's hooks run",
            false => "no hook runs",
        };
        self.note(format_args!("{what}: `{variable}` is set"))
    }

    /// Writes the problems of hooks files to standard error.
    pub(crate) fn problems(&mut self, report: &LoadReport) -> io::Result<()> {
        if report.problems.is_empty() {
            return Ok(());
        }
        self.out.flush()?;
        let text = drawn(report, &mut Texts::default(), self.colours_of_errors);
        writeln!(self.errors, "{text}")
    }
}

impl Write for Terminal<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A number of things, for example `2 hooks`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

pub(crate) struct Styled<T> {
    style: Option<Style>,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Styled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.style {
            Some(style) => write!(f, "{}{}\x1b[0m", style.code(), self.text),
            None => write!(f, "{}", self.text),
        }
    }
}
