//! What `serve` writes: one thread, and a queue of lines with a limit. Adding a line never waits.
//!
//! Does not know what a request is for.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};
use serde::Serialize;

use super::message::{Body, Id, Outgoing, Refusal, UNREAD, Version};

/// The most bytes of responses that wait, before fires are refused and results are replaced by an error.
const MOST_UNSENT: usize = 64 * 1024 * 1024;

/// A response that is never replaced: an error, or a result without content.
const SHORT: usize = 1024;

/// How often the end of the queue is checked.
const TICK: Duration = Duration::from_millis(2);

pub(super) struct Outbox {
    lines: Sender<Vec<u8>>,
    unsent: Arc<AtomicUsize>,
}

impl Outbox {
    pub(super) fn new() -> (Self, Lines) {
        let (lines, waiting) = unbounded();
        let unsent = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&unsent);
        let lines_to_write = Lines { waiting, left };
        (Self { lines, unsent }, lines_to_write)
    }

    /// Whether no further fire may be accepted.
    pub(super) fn is_full(&self) -> bool {
        self.unsent.load(Ordering::Relaxed) >= MOST_UNSENT
    }

    pub(super) fn is_empty(&self) -> bool {
        self.unsent.load(Ordering::SeqCst) == 0
    }

    /// Whether the host sends requests and reads nothing.
    pub(super) fn is_flooded(&self) -> bool {
        self.unsent.load(Ordering::Relaxed) >= 2 * MOST_UNSENT
    }

    pub(super) fn respond(&self, id: &Id, result: impl Serialize) {
        self.respond_after(id, result, || ());
    }

    /// Responds. `before` is called when the response waits to be written, and the host cannot have it yet.
    pub(super) fn respond_after(&self, id: &Id, result: impl Serialize, before: impl FnOnce()) {
        let mut line = line_of(Body::Result { id, result });
        if line.len() > SHORT && self.is_full() {
            let body: Body<'_, ()> = Body::Error {
                id: Some(id),
                error: not_read(),
            };
            line = line_of(body);
        }
        self.add(line, before);
    }

    pub(super) fn refuse(&self, id: Option<&Id>, error: Refusal) {
        let body: Body<'_, ()> = Body::Error { id, error };
        self.add(line_of(body), || ());
    }

    /// Drops the notification if the queue is full.
    pub(super) fn notify(&self, method: &'static str, params: impl Serialize) {
        if !self.is_full() {
            self.add(line_of(Body::Notification { method, params }), || ());
        }
    }

    fn add(&self, line: Vec<u8>, before: impl FnOnce()) {
        self.unsent.fetch_add(line.len(), Ordering::SeqCst);
        before();
        // Without a receiver, the program is about to end.
        let _ = self.lines.send(line);
    }

    /// Waits until all is written, or until the deadline.
    pub(super) fn flush(&self, deadline: Duration) {
        let begun = Instant::now();
        while !self.is_empty() && begun.elapsed() < deadline {
            thread::sleep(TICK);
        }
    }
}

pub(super) fn not_read() -> Refusal {
    Refusal::new(UNREAD, "too many bytes of responses have not been read")
}

fn line_of(body: Body<'_, impl Serialize>) -> Vec<u8> {
    let jsonrpc = Version::Two;
    // Cannot fail: all keys are texts.
    let mut line = serde_json::to_vec(&Outgoing { jsonrpc, body }).unwrap_or_default();
    line.push(b'\n');
    line
}

/// The other end of the queue, for the thread that writes.
pub(super) struct Lines {
    waiting: Receiver<Vec<u8>>,
    left: Arc<AtomicUsize>,
}

impl Lines {
    /// Writes until the host does not read any more.
    pub(super) fn write(self, mut output: File) {
        for line in self.waiting {
            if output.write_all(&line).is_err() {
                return;
            }
            self.left.fetch_sub(line.len(), Ordering::Relaxed);
        }
    }
}
