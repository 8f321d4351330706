//! The thread that writes a trace: takes notes from the queue, and records how many were lost.
//!
//! No thread waits for it, except in a flush.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crossbeam_channel::{Receiver, Sender};

use super::event::EventNote;
use super::file::TraceFile;
use super::line::{Note, gap};
use crate::logging::warn;
use crate::redact::Redactor;

pub(super) enum Message {
    Note(Box<Note>),
    Event(Box<EventNote>),
    /// Answered when everything before it is written.
    Flush(Sender<()>),
}

pub(super) struct Writer {
    pub(super) file: TraceFile,
    pub(super) redactor: Redactor,
    /// The same for events.
    pub(super) of_events: Redactor,
    /// The number of lost lines, including those for which the queue was full.
    pub(super) lost: Arc<AtomicU64>,
    /// The number of bytes of the events that wait.
    pub(super) waiting: Arc<AtomicUsize>,
    /// How many of them are recorded in the file.
    pub(super) recorded: u64,
    pub(super) has_warned: bool,
}

impl Writer {
    /// Runs until the last trace is dropped and the queue is empty.
    pub(super) fn run(mut self, messages: &Receiver<Message>) {
        for message in messages {
            match message {
                Message::Note(note) => {
                    self.write(|writer| note.into_line(std::process::id(), &writer.redactor))
                }
                Message::Event(note) => {
                    self.waiting.fetch_sub(note.bytes, Ordering::Relaxed);
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
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Records lost lines. Returns whether the file has a record of all of them.
    fn record_lost(&mut self) -> bool {
        let lost = self.lost.load(Ordering::Relaxed);
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
