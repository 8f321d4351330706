//! The thread that writes a trace: takes notes from the queue, and records how many were lost.
//!
//! No thread waits for it, except in a flush.

use super::file::TraceFile;
use super::line::gap;
use super::queue::{Message, Received};
use crate::logging::warn;
use crate::redact::Redactor;

pub(super) struct Writer {
    pub(super) file: TraceFile,
    pub(super) redactor: Redactor,
    /// The same for events.
    pub(super) of_events: Redactor,
    pub(super) received: Received,
    /// The number of lost lines of which the file has a record.
    pub(super) recorded: u64,
    pub(super) has_warned: bool,
}

impl Writer {
    /// Runs until the last trace is dropped and the queue is empty.
    pub(super) fn run(mut self) {
        while let Some(message) = self.received.next() {
            match message {
                Message::Note(note) => {
                    self.write(|writer| note.into_line(std::process::id(), &writer.redactor))
                }
                Message::Event(note) => {
                    self.write(|writer| note.into_line(std::process::id(), &writer.of_events));
                }
                Message::Flush(done) => {
                    self.record_lost();
                    // The caller of the flush may have stopped waiting.
                    let _ = done.try_send(());
                }
            }
        }
        self.record_lost();
    }

    fn write(&mut self, line: impl FnOnce(&Self) -> String) {
        let line = line(self);
        // A line that follows lost lines without a record of them would hide the gap.
        if !(self.record_lost() && self.append(&line)) {
            self.received.lose();
        }
    }

    /// Records lost lines. Returns whether the file has a record of all of them.
    fn record_lost(&mut self) -> bool {
        let lost = self.received.lost();
        if lost == self.recorded {
            return true;
        }
        let is_recorded = self.append(&gap(lost - self.recorded, std::process::id()));
        if is_recorded {
            self.recorded = lost;
        }
        is_recorded
    }

    fn append(&mut self, line: &str) -> bool {
        let written = self.file.append(line);
        if let Err(error) = &written
            && !self.has_warned
        {
            self.has_warned = true;
            let path = self.file.path.display();
            warn!("cannot write the trace file `{path}`, lines are lost: {error}");
        }
        written.is_ok()
    }
}
