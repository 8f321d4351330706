//! The output of `serve`: one thread, and a queue of lines with a limit. Adding a line never waits.
//!
//! Does not know the meaning of requests.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_channel::{Sender, unbounded};
use serde::Serialize;

use super::message::{Body, Id, Outgoing, Refusal, Version};

/// The bytes of unread responses at which the program ends.
const MOST_UNSENT: usize = 128 * 1024 * 1024;

#[derive(Clone)]
pub(super) struct Outbox {
    lines: Sender<Vec<u8>>,
    unsent: Arc<AtomicUsize>,
}

impl Outbox {
    /// Returns the outbox, and the function of its thread: it writes until the host stops reading.
    pub(super) fn new(mut output: File) -> (Self, impl FnOnce() + Send + 'static) {
        let (lines, waiting) = unbounded::<Vec<u8>>();
        let unsent = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&unsent);
        let write = move || {
            for line in waiting {
                if output.write_all(&line).is_err() {
                    return;
                }
                left.fetch_sub(line.len(), Ordering::SeqCst);
            }
        };
        (Self { lines, unsent }, write)
    }

    fn unsent(&self) -> usize {
        self.unsent.load(Ordering::SeqCst)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.unsent() == 0
    }

    /// Returns whether the host sends requests and reads nothing.
    pub(super) fn is_flooded(&self) -> bool {
        self.unsent() >= MOST_UNSENT
    }

    /// Adds a response. It has no id if the id of the request could not be read.
    pub(super) fn answer(&self, id: Option<&Id>, answer: Result<impl Serialize, Refusal>) {
        self.add(line_of(match answer {
            Ok(result) => Body::Result { id, result },
            Err(error) => Body::Error { id, error },
        }));
    }

    fn add(&self, line: Vec<u8>) {
        self.unsent.fetch_add(line.len(), Ordering::SeqCst);
        // The receiver is gone when the program is about to end.
        let _ = self.lines.send(line);
    }
}

fn line_of(body: Body<'_, impl Serialize>) -> Vec<u8> {
    let jsonrpc = Version::Two;
    // Serializing cannot fail: all keys are texts.
    let mut line = serde_json::to_vec(&Outgoing { jsonrpc, body }).unwrap_or_default();
    line.push(b'\n');
    line
}
