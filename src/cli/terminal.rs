//! The output of the commands: colours if wanted, no control sequences from other sources, and a
//! silent end if the output was closed.

use std::fmt;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use clap::ColorChoice;
use serde::Serialize;

use crate::LoadReport;
use crate::cli::draw::{Texts, drawn};
use crate::cli::files;
use crate::printable::printable_json;

/// Whether a stream has colours, by the rules of no-color.org and bixense.com/clicolors.
fn has_colours(choice: ColorChoice, is_terminal: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if anstyle_query::no_color() => false,
        ColorChoice::Auto if is_forced() => true,
        ColorChoice::Auto => is_terminal && anstyle_query::term_supports_color(),
    }
}

/// Whether colours are forced; `CLICOLOR_FORCE=0` does not force them.
fn is_forced() -> bool {
    let value = std::env::var_os("CLICOLOR_FORCE");
    value.is_some_and(|value| !value.is_empty() && value != "0")
}

/// The style of a text if there are colours: the code that begins it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style(&'static str);

impl Style {
    pub(crate) const PLAIN: Self = Self("");
    pub(crate) const GOOD: Self = Self("\x1b[32m");
    pub(crate) const BAD: Self = Self("\x1b[1;31m");
    pub(crate) const WARNING: Self = Self("\x1b[33m");
    pub(crate) const STRONG: Self = Self("\x1b[1m");
    pub(crate) const DIM: Self = Self("\x1b[2m");
}

/// Which of the three streams are terminals.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Terminals {
    pub(crate) input: bool,
    pub(crate) output: bool,
    pub(crate) errors: bool,
}

/// The streams of the commands: their output, and the user's answers.
pub(crate) struct Terminal<'a> {
    pub(crate) input: Box<dyn Read + 'a>,
    out: BufWriter<Box<dyn Write + 'a>>,
    errors: Box<dyn Write + 'a>,
    pub(crate) is_terminal: Terminals,
    /// Whether the streams are those of the process.
    pub(crate) is_system: bool,
    pub(crate) interrupted: Box<dyn FnMut() -> Option<u8> + 'a>,
    /// The exit status of the signal that was received.
    ended_by: Option<u8>,
    pub(crate) colours: bool,
    colours_of_errors: bool,
}

impl<'a> Terminal<'a> {
    pub(crate) fn new(
        input: Box<dyn Read + 'a>,
        output: Box<dyn Write + 'a>,
        errors: Box<dyn Write + 'a>,
    ) -> Self {
        Self {
            input,
            out: BufWriter::new(output),
            errors,
            is_terminal: Terminals::default(),
            is_system: false,
            interrupted: Box::new(|| None),
            ended_by: None,
            colours: false,
            colours_of_errors: false,
        }
    }

    pub(crate) fn set_colours(&mut self, choice: ColorChoice) {
        self.colours = has_colours(choice, self.is_terminal.output);
        self.colours_of_errors = has_colours(choice, self.is_terminal.errors);
        if self.colours || self.colours_of_errors {
            // Old consoles of Windows show the codes as text unless this is enabled.
            anstyle_query::windows::enable_ansi_colors();
        }
    }

    /// Returns the exit status of the signal that was received, if any. Signals are handled from the first
    /// call on.
    pub(crate) fn interrupted(&mut self) -> Option<u8> {
        if self.ended_by.is_none() {
            self.ended_by = (self.interrupted)();
        }
        self.ended_by
    }

    /// Reads the text of a file; `-` is standard input.
    pub(crate) fn read_text(&mut self, file: &Path) -> io::Result<String> {
        match file == Path::new("-") {
            true => files::text_of(&mut self.input),
            false => files::text_of(files::open(file)?),
        }
    }

    /// Whether a line can be erased.
    pub(crate) fn can_move(&self) -> bool {
        self.is_terminal.output && anstyle_query::term_supports_ansi_color()
    }

    /// Formats a text in this style if there are colours. Text from other sources must be made
    /// [printable](crate::printable) first.
    pub(crate) fn styled<T: fmt::Display>(&self, style: Style, text: T) -> Styled<T> {
        let style = if self.colours { style } else { Style::PLAIN };
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

    /// Prints help or the version, or writes wrong usage to standard error.
    pub(crate) fn help(&mut self, help: &clap::Error) -> io::Result<()> {
        let text = help.render();
        let (output, colours): (&mut dyn Write, _) = match help.use_stderr() {
            true => (&mut self.errors, self.colours_of_errors),
            false => (&mut self.out, self.colours),
        };
        match colours {
            true => write!(output, "{}", text.ansi())?,
            false => write!(output, "{text}")?,
        }
        output.flush()
    }

    /// Writes the problems of hooks files to standard error.
    pub(crate) fn problems(&mut self, report: &LoadReport) -> io::Result<()> {
        if report.problems.is_empty() {
            return Ok(());
        }
        self.note(drawn(report, &mut Texts::default(), self.colours_of_errors))
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
pub(crate) fn counted(number: impl fmt::Display, what: &str) -> String {
    let number = number.to_string();
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} {what}{ending}")
}

pub(crate) struct Styled<T> {
    style: Style,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Styled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Style(code) = self.style;
        let end = if code.is_empty() { "" } else { "\x1b[0m" };
        write!(f, "{code}{}{end}", self.text)
    }
}
