//! The streams of the commands: colours if wanted, no control sequences from other sources, and a
//! silent end if the output was closed.

use std::fmt;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use clap::ColorChoice;
use serde::Serialize;

use crate::LoadReport;
use crate::cli::draw::{Texts, drawn};
use crate::cli::{Done, Exit, files};
use crate::printable::{printable, printable_json};

/// The style of a text: the code that begins it. A stream without colours leaves it out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style(&'static str);

impl Style {
    pub(crate) const PLAIN: Self = Self("");
    pub(crate) const GOOD: Self = Self("\x1b[32m");
    pub(crate) const BAD: Self = Self("\x1b[1;31m");
    pub(crate) const WARNING: Self = Self("\x1b[33m");
    pub(crate) const STRONG: Self = Self("\x1b[1m");
    pub(crate) const DIM: Self = Self("\x1b[2m");

    /// Returns a text in this style, in one line, with hidden characters made visible.
    pub(crate) fn of(self, text: &str) -> String {
        self.paint(printable(text))
    }

    /// Returns a text in this style. Text from other sources must be [printable](crate::printable).
    pub(crate) fn paint(self, text: impl fmt::Display) -> String {
        let Self(code) = self;
        let end = if code.is_empty() { "" } else { "\x1b[0m" };
        format!("{code}{text}{end}")
    }
}

/// A stream for people. Without colours, it leaves the codes of styles out.
pub(crate) struct Stream<'a> {
    to: BufWriter<Box<dyn Write + 'a>>,
    pub(crate) is_terminal: bool,
    has_colours: bool,
}

impl<'a> Stream<'a> {
    fn new(to: impl Write + 'a) -> Self {
        Self {
            to: BufWriter::new(Box::new(to)),
            is_terminal: false,
            has_colours: false,
        }
    }

    /// Decides by the rules of no-color.org and bixense.com/clicolors.
    fn set_colours(&mut self, choice: ColorChoice) {
        let forced = std::env::var_os("CLICOLOR_FORCE");
        self.has_colours = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if anstyle_query::no_color() => false,
            ColorChoice::Auto if forced.is_some_and(|value| !value.is_empty() && value != "0") => {
                true
            }
            ColorChoice::Auto => self.is_terminal && anstyle_query::term_supports_color(),
        };
        if self.has_colours {
            // Old consoles of Windows show the codes as text unless this is enabled.
            anstyle_query::windows::enable_ansi_colors();
        }
    }

    fn print(&mut self, text: &str) -> io::Result<()> {
        if self.has_colours {
            self.to.write_all(text.as_bytes())
        } else {
            self.to.write_all(without_styles(text).as_bytes())
        }
    }
}

pub(crate) fn without_styles(text: &str) -> String {
    let is_code = |c: char| c.is_ascii_digit() || c == ';';
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once('m') {
        Some((code, rest)) if code.chars().all(is_code) => text + rest,
        _ => text + "\x1b[" + part,
    })
}

/// The streams of the commands: their output, and the user's answers.
pub(crate) struct Terminal<'a> {
    pub(crate) input: Box<dyn Read + 'a>,
    pub(crate) out: Stream<'a>,
    pub(crate) errors: Stream<'a>,
    pub(crate) is_input_a_terminal: bool,
    /// True if the streams are those of the process.
    pub(crate) is_system: bool,
    pub(crate) interrupted: Box<dyn FnMut() -> Option<u8> + 'a>,
    /// The exit status of the signal that was received.
    ended_by: Option<u8>,
}

impl<'a> Terminal<'a> {
    pub(crate) fn new(
        input: impl Read + 'a,
        output: impl Write + 'a,
        errors: impl Write + 'a,
    ) -> Self {
        Self {
            input: Box::new(input),
            out: Stream::new(output),
            errors: Stream::new(errors),
            is_input_a_terminal: false,
            is_system: false,
            interrupted: Box::new(|| None),
            ended_by: None,
        }
    }

    pub(crate) fn set_colours(&mut self, choice: ColorChoice) {
        self.out.set_colours(choice);
        self.errors.set_colours(choice);
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
        if file == Path::new("-") {
            files::text_of(&mut self.input)
        } else {
            files::text_of(files::open(file)?)
        }
    }

    /// Returns whether a line can be erased.
    pub(crate) fn can_move(&self) -> bool {
        self.out.is_terminal && anstyle_query::term_supports_ansi_color()
    }

    /// Prints a text for people: this is what `write!` calls.
    pub(crate) fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.out.print(&text.to_string())
    }

    /// Prints output for programs.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.to.write_all(bytes)
    }

    /// Prints a report, for programs or for people.
    pub(crate) fn show<T: Serialize + fmt::Display>(
        &mut self,
        is_json: bool,
        report: &T,
    ) -> io::Result<()> {
        if is_json {
            self.json(report)
        } else {
            write!(self, "{report}")
        }
    }

    /// Prints the last line of a command, and returns its exit status.
    pub(crate) fn end(&mut self, ended: Exit, line: impl fmt::Display) -> Done {
        writeln!(self, "{line}")?;
        Ok(ended)
    }

    /// Prints a value for programs, without control characters for a terminal.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let json = printable_json(&serde_json::to_string_pretty(value)?);
        self.write_all(json.as_bytes())?;
        self.write_all(b"\n")
    }

    /// Writes a note to standard error.
    pub(crate) fn note(&mut self, text: impl fmt::Display) -> io::Result<()> {
        let flushed = self.flush();
        self.errors.print(&format!("{text}\n"))?;
        self.errors.to.flush()?;
        flushed
    }

    /// Writes the problems of hooks files to standard error.
    pub(crate) fn problems(&mut self, report: &LoadReport) -> io::Result<()> {
        if report.problems.is_empty() {
            Ok(())
        } else {
            self.note(drawn(report, Texts::default()))
        }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.to.flush()
    }
}

/// Lists the first things, and counts the others: `a, b and 3 more`.
pub(crate) fn first_of(things: &[impl ToString], most: usize) -> String {
    let first = things.iter().take(most).map(ToString::to_string);
    let first = first.collect::<Vec<_>>().join(", ");
    match things.len().saturating_sub(most) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Formats a number of things, for example `2 hooks`.
pub(crate) fn counted(number: impl fmt::Display, what: &str) -> String {
    let number = number.to_string();
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} {what}{ending}")
}
