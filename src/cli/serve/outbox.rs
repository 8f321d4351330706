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

use super::message::{ErrorResponse, Id, Notification, Refusal, Response, Version};

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

    /// Whether the host sends requests and reads nothing.
    pub(super) fn is_flooded(&self) -> bool {
        self.unsent.load(Ordering::Relaxed) >= 2 * MOST_UNSENT
    }

    pub(super) fn respond(&self, id: &Id, result: impl Serialize) {
        let jsonrpc = Version::Two;
        let response = Response {
            jsonrpc,
            id,
            result,
        };
        match serde_json::to_vec(&response) {
            Ok(line) if line.len() > SHORT && self.is_full() => {
                self.refuse(Some(id), Refusal::UNREAD);
            }
            Ok(line) => self.add(line),
            Err(error) => self.refuse(Some(id), Refusal::failed(error.to_string())),
        }
    }

    pub(super) fn refuse(&self, id: Option<&Id>, error: Refusal) {
        let jsonrpc = Version::Two;
        let response = ErrorResponse { jsonrpc, id, error };
        // Cannot fail: it contains only texts and numbers.
        self.add(serde_json::to_vec(&response).unwrap_or_default());
    }

    /// Drops the notification if the queue is full.
    pub(super) fn notify(&self, method: &'static str, params: impl Serialize) {
        let jsonrpc = Version::Two;
        let notification = Notification {
            jsonrpc,
            method,
            params,
        };
        if let Ok(line) = serde_json::to_vec(&notification)
            && !self.is_full()
        {
            self.add(line);
        }
    }

    fn add(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        self.unsent.fetch_add(line.len(), Ordering::Relaxed);
        // Without a receiver, the program is about to end.
        let _ = self.lines.send(line);
    }

    /// Waits until all is written, or until the deadline.
    pub(super) fn flush(&self, deadline: Duration) {
        let begun = Instant::now();
        while self.unsent.load(Ordering::Relaxed) > 0 && begun.elapsed() < deadline {
            thread::sleep(TICK);
        }
    }
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
