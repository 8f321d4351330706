//! The queue of notes: threads that fire events put notes in, the thread that writes the trace takes them out.
//!
//! It is bounded in notes and in the bytes of events. A note that does not fit is lost, and counted: no thread waits for room.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::event::EventNote;
use super::line::Note;

pub(super) enum Message {
    Note(Box<Note>),
    Event(Box<EventNote>),
    /// Answered when everything before it is written.
    Flush(Sender<()>),
}

impl Message {
    /// The bytes that count against the limit. Notes of hooks are small.
    fn bytes(&self) -> usize {
        match self {
            Message::Event(note) => note.bytes,
            Message::Note(_) | Message::Flush(_) => 0,
        }
    }
}

/// The end of the threads that fire events. When the last one is dropped, the writer ends.
pub(super) struct Queue {
    messages: Sender<Message>,
    counts: Arc<Counts>,
    most_bytes: usize,
}

/// The end of the writer.
pub(super) struct Received {
    messages: Receiver<Message>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    /// The lines that were lost, because they did not fit or could not be written.
    lost: AtomicU64,
    /// The bytes of the events that wait.
    waiting: AtomicUsize,
}

/// Returns a queue for so many messages, and so many bytes of events.
pub(super) fn queue(capacity: usize, most_bytes: usize) -> (Queue, Received) {
    let (sender, receiver) = bounded(capacity);
    let counts = Arc::new(Counts::default());
    let queue = Queue {
        messages: sender,
        counts: Arc::clone(&counts),
        most_bytes,
    };
    let received = Received {
        messages: receiver,
        counts,
    };
    (queue, received)
}

impl Queue {
    /// Adds the message, or counts it as lost.
    pub(super) fn put(&self, message: Message) {
        let bytes = message.bytes();
        let waiting = &self.counts.waiting;
        let before = waiting.fetch_add(bytes, Ordering::Relaxed);
        let fits = before + bytes <= self.most_bytes;
        if !(fits && self.messages.try_send(message).is_ok()) {
            waiting.fetch_sub(bytes, Ordering::Relaxed);
            self.counts.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns whether everything before now was written or lost by the deadline.
    pub(super) fn flush(&self, deadline: Instant) -> bool {
        let (done, is_done) = bounded(1);
        let asked = self.messages.send_deadline(Message::Flush(done), deadline);
        asked.is_ok() && is_done.recv_deadline(deadline).is_ok()
    }

    pub(super) fn lost(&self) -> u64 {
        self.counts.lost.load(Ordering::Relaxed)
    }
}

impl Received {
    /// Returns the next message, or `None` after the last trace was dropped.
    pub(super) fn next(&self) -> Option<Message> {
        let message = self.messages.recv().ok()?;
        let waiting = &self.counts.waiting;
        waiting.fetch_sub(message.bytes(), Ordering::Relaxed);
        Some(message)
    }

    pub(super) fn lost(&self) -> u64 {
        self.counts.lost.load(Ordering::Relaxed)
    }

    /// Counts a line that could not be written.
    pub(super) fn lose(&self) {
        self.counts.lost.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{EventType, HookEvent};
    use crate::outcome::Outcome;
    use crate::runner::{FiredEvent, How};

    const KIB: usize = 1024;

    /// An event with data of so many bytes, at most 64 KiB. A note of it takes about 1 KiB more.
    fn event(bytes: usize) -> Message {
        let event = HookEvent::new(EventType::ToolPreExecute).with_data("text", "x".repeat(bytes));
        let outcome = Outcome::new(EventType::ToolPreExecute, Vec::new());
        let how = How {
            handles_ask: true,
            applies_updates: true,
            stop_on_failure: true,
            is_disabled: false,
            is_known: true,
        };
        Message::Event(Box::new(EventNote::new(&FiredEvent {
            event: &event,
            hooks: &[],
            outcome: &outcome,
            how,
            tag: None,
        })))
    }

    #[test]
    fn events_that_wait_have_a_bounded_size() {
        let (queue, received) = queue(100, 100 * KIB);
        for _ in 0..12 {
            queue.put(event(20 * KIB));
        }
        assert_eq!(queue.lost(), 8);
        assert_eq!(received.lost(), 8);
        // A message that the writer has taken takes no space.
        assert!(received.next().is_some());
        queue.put(event(20 * KIB));
        assert_eq!(queue.lost(), 8);
        queue.put(event(20 * KIB));
        assert_eq!(queue.lost(), 9);
        // Small events still fit.
        queue.put(event(KIB));
        assert_eq!(queue.lost(), 9);
    }

    /// Neither those that have too many bytes, nor those for which there are too many messages.
    #[test]
    fn lost_events_take_no_space() {
        let (queue, received) = queue(3, 70 * KIB);
        for size in [40, 40, 1, 1, 10, 10, 10] {
            queue.put(event(size * KIB));
        }
        assert_eq!(queue.lost(), 4);
        for _ in 0..3 {
            assert!(received.next().is_some());
        }
        queue.put(event(60 * KIB));
        assert_eq!(queue.lost(), 4);
    }

    #[test]
    fn what_does_not_end_is_not_flushed() {
        let (queue, received) = queue(1, KIB);
        assert!(!queue.flush(Instant::now()));
        assert!(matches!(received.next(), Some(Message::Flush(_))));
        drop(received);
        assert!(!queue.flush(Instant::now()));
    }
}
