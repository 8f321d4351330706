//! The thread that writes a trace: takes notes from the queue, and tells of those that were lost.
//!
//! Nobody waits for it but who flushes.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender};
use log::warn;

use super::file::TraceFile;
use super::line::{Note, gap};
use crate::hook::Hook;
use crate::redact::Redactor;

pub(super) enum Message {
    Note(Box<Note>),
    /// To be answered when everything before it is written.
    Flush(Sender<()>),
}

pub(super) struct Writer {
    file: TraceFile,
    /// As the host named it.
    path: PathBuf,
    /// Lines that were lost, also by those who found the queue full.
    lost: Arc<AtomicU64>,
    /// So many of them the file tells of.
    told: u64,
    has_warned: bool,
    host_pid: u32,
    redactor: Redactor,
}

impl Writer {
    pub(super) fn new(
        file: TraceFile,
        path: PathBuf,
        lost: Arc<AtomicU64>,
        redactor: Redactor,
    ) -> Self {
        Self {
            file,
            path,
            lost,
            told: 0,
            has_warned: false,
            host_pid: std::process::id(),
            redactor,
        }
    }

    /// Until the last trace is gone and the queue empty.
    pub(super) fn run(mut self, messages: &Receiver<Message>) {
        for message in messages {
            match message {
                Message::Note(note) => self.write(*note),
                Message::Flush(done) => {
                    self.tell_of_lost();
                    // Who has asked may have stopped waiting.
                    let _ = done.try_send(());
                }
            }
        }
        self.tell_of_lost();
    }

    fn write(&mut self, note: Note) {
        // A line that is written without those before it would hide that they are missing.
        let line = note.into_line(self.host_pid, |hook, text| self.shown(hook, text));
        if !(self.tell_of_lost() && self.append(&line)) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether the file has all there is to tell.
    fn tell_of_lost(&mut self) -> bool {
        let lost = self.lost.load(Ordering::Relaxed);
        if lost == self.told {
            return true;
        }
        let is_told = self.append(&gap(lost - self.told, self.host_pid));
        if is_told {
            self.told = lost;
        }
        is_told
    }

    fn append(&mut self, line: &str) -> bool {
        let written = self.file.append(line);
        if let Err(error) = &written
            && !self.has_warned
        {
            self.has_warned = true;
            let path = self.path.display();
            warn!("lines of the trace file `{path}` are lost: {error}");
        }
        written.is_ok()
    }

    /// A text as it may be shown: every text of a line goes through here.
    fn shown(&self, hook: &Hook, text: &str) -> String {
        let own = hook.env().values().map(String::as_str);
        self.redactor.text_with(text, own).into_owned()
    }
}
