//! The lines of a trace: the last ones are kept, and those that are missing are counted.
//!
//! Reads leniently: a program that was killed may have written an incomplete line. Does not know what a line says.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

use crate::cli::counted;

/// The most lines that are kept.
pub(super) const MOST_KEPT: usize = 100_000;
/// The most bytes of all lines that are kept.
pub(super) const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The most bytes of a line. No line of a trace is longer: masks and escapes make the kept data of an event a few times longer.
const LONGEST_LINE: usize = 2 * 1024 * 1024;

/// The lines of a trace, as far as it can be read.
#[derive(Debug, Default)]
pub(crate) struct Lines<T> {
    pub(super) kept: VecDeque<T>,
    /// The lengths of the lines that are kept.
    lengths: VecDeque<usize>,
    pub(super) bytes: usize,
    /// The number of lines before those that are kept.
    pub(super) left_out: u64,
    /// The number of lines that the host could not write.
    pub(super) lost: u64,
    /// The number of lines that cannot be read.
    pub(super) broken: u64,
}

/// The meaning of a line.
pub(super) enum Line<T> {
    Kept(T),
    /// The host could not write this number of lines.
    Lost(u64),
    Skipped,
    Broken,
}

impl<T: Default> Lines<T> {
    /// Reads the lines that are not empty. `read` gets each with its number, counted from 1.
    pub(super) fn read(
        mut input: impl BufRead,
        read: impl Fn(usize, &str) -> Line<T>,
    ) -> io::Result<Self> {
        let mut lines = Self::default();
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let mut start = (&mut input).take(LONGEST_LINE as u64 + 1);
            let length = start.read_until(b'\n', &mut line)?;
            if length == 0 {
                break;
            }
            if length > LONGEST_LINE && !line.ends_with(b"\n") {
                input.skip_until(b'\n')?;
                lines.add(Line::Broken, length);
            } else if !line.trim_ascii().is_empty() {
                let text = str::from_utf8(&line).unwrap_or_default();
                lines.add(read(number, text), length);
            }
        }
        Ok(lines)
    }

    pub(super) fn add(&mut self, line: Line<T>, length: usize) {
        match line {
            Line::Kept(line) => self.keep(line, length),
            Line::Lost(count) => self.lost = self.lost.saturating_add(count),
            Line::Skipped => {}
            Line::Broken => self.broken += 1,
        }
    }

    fn keep(&mut self, line: T, length: usize) {
        self.kept.push_back(line);
        self.lengths.push_back(length);
        self.bytes += length;
        while self.kept.len() > MOST_KEPT || self.bytes > MOST_BYTES {
            self.kept.pop_front();
            self.bytes -= self.lengths.pop_front().unwrap_or(self.bytes);
            self.left_out += 1;
        }
    }

    /// Counts the lines that are missing, each kind in a text.
    pub(crate) fn missing(&self) -> Vec<String> {
        let counts = [
            (self.left_out, "left out before these"),
            (self.lost, "lost by the host"),
            (self.broken, "unreadable"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let texts = counts.map(|(count, what)| format!("{} {what}", counted(count, "line")));
        texts.collect()
    }
}
