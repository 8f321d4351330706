//! A line at the bottom of a terminal that shows which hooks run, and for how long.
//!
//! Does not know the other output: code that prints clears the line first.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use crate::Hook;
use crate::cli::entries::title;
use crate::cli::{Style, Terminal};

const TURNS: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Erases the line.
const CLEAR: &str = "\r\x1b[2K";

/// The line does not wrap, since a wrapped line could not be erased. In a narrow terminal, its end is not visible.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";

/// The spinner. It shows nothing if it is not on.
#[derive(Default)]
pub(super) struct Spinner {
    pub(super) is_on: bool,
    is_shown: bool,
    turn: usize,
    running: Vec<(Arc<Hook>, Instant)>,
}

impl Spinner {
    pub(super) fn add(&mut self, hook: Arc<Hook>) {
        self.running.push((hook, Instant::now()));
    }

    pub(super) fn remove(&mut self, hook: &Arc<Hook>) {
        let mut running = self.running.iter();
        if let Some(at) = running.position(|(other, _)| Arc::ptr_eq(other, hook)) {
            self.running.remove(at);
        }
    }

    pub(super) fn clear(&mut self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        if std::mem::take(&mut self.is_shown) {
            write!(terminal, "{CLEAR}")
        } else {
            Ok(())
        }
    }

    pub(super) fn draw(&mut self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        let Some((hook, since)) = self.running.first().filter(|_| self.is_on) else {
            return Ok(());
        };
        self.turn = (self.turn + 1) % TURNS.len();
        let (turn, seconds) = (TURNS[self.turn], since.elapsed().as_secs_f64());
        let others = match self.running.len() {
            1 => String::new(),
            running => format!(" and {} more", running - 1),
        };
        let line = format!("{turn} {seconds:.1} s {}{others}", title(hook));
        self.is_shown = true;
        write!(terminal, "{CLEAR}{NO_WRAP}{}{WRAP}", Style::DIM.of(&line))?;
        terminal.flush()
    }
}
