//! The queue of notes: threads that fire events put notes in, the thread that writes the trace takes them out.
//!
//! It is bounded in notes and in the bytes of events: no thread waits for room. An event for whose bytes there is no room loses its
//! data. If there is no room at all, a note is lost, and counted; the last quarter is for those that blocked, failed or asked.

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
    /// Returns whether this is about something that blocked, failed or asked.
    fn matters(&self) -> bool {
        match self {
            Message::Event(note) => note.matters(),
            Message::Note(note) => note.matters,
            Message::Flush(_) => true,
        }
    }

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
    /// The most notes that wait if none of them matters.
    most_others: usize,
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
        most_others: capacity - capacity / 4,
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
        let is_room = message.matters() || self.messages.len() < self.most_others;
        let is_lost = !is_room
            || self
                .reserved(message)
                .is_none_or(|message| self.is_full(message));
        if is_lost {
            self.counts.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Reserves the bytes of the message. If there are too few, an event loses its data; none if that is not enough.
    fn reserved(&self, message: Message) -> Option<Message> {
        let waiting = &self.counts.waiting;
        let fits = |message: &Message| {
            let bytes = message.bytes();
            let fits = waiting.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.most_bytes;
            if !fits {
                waiting.fetch_sub(bytes, Ordering::Relaxed);
            }
            fits
        };
        if fits(&message) {
            return Some(message);
        }
        match message {
            Message::Event(mut note) => {
                note.drop_data();
                Some(Message::Event(note)).filter(fits)
            }
            _ => None,
        }
    }

    fn is_full(&self, message: Message) -> bool {
        let bytes = message.bytes();
        let is_full = self.messages.try_send(message).is_err();
        if is_full {
            self.counts.waiting.fetch_sub(bytes, Ordering::Relaxed);
        }
        is_full
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
    use crate::hook::Hook;
    use crate::outcome::{HookResult, Outcome};
    use crate::runner::{FiredEvent, How};

    const KIB: usize = 1024;

    /// An event with data of so many bytes, at most 64 KiB. A note of it takes about 1 KiB more.
    fn event(bytes: usize) -> Message {
        let outcome = Outcome::new(EventType::ToolPreExecute, Vec::new());
        fired(event_of(bytes), outcome)
    }

    fn event_of(bytes: usize) -> HookEvent {
        HookEvent::new(EventType::ToolPreExecute).with_data("text", "x".repeat(bytes))
    }

    fn fired(event: HookEvent, outcome: Outcome) -> Message {
        let how = How {
            handles_ask: true,
            applies_updates: true,
            stop_on_failure: true,
            is_disabled: false,
            is_known: true,
        };
        Message::Event(Box::new(EventNote::new(&FiredEvent {
            event: Arc::new(event),
            hooks: Vec::new(),
            outcome,
            how,
        })))
    }

    #[test]
    fn events_that_wait_have_a_bounded_size() {
        let (queue, received) = queue(100, 100 * KIB);
        for _ in 0..12 {
            queue.put(event(20 * KIB));
        }
        assert_eq!((queue.lost(), received.lost()), (0, 0));
        let all: Vec<_> = (0..12).map(|_| received.next().unwrap().bytes()).collect();
        let whole = all.iter().filter(|bytes| **bytes > 20 * KIB);
        assert_eq!(whole.count(), 4, "the others have lost their data: {all:?}");
        // A message that the writer has taken takes no space.
        queue.put(event(60 * KIB));
        assert!(received.next().unwrap().bytes() > 60 * KIB);
    }

    #[test]
    fn what_was_blocked_is_lost_last() {
        let (queue, _received) = queue(4, 100 * KIB);
        for _ in 0..4 {
            queue.put(event(1));
        }
        assert_eq!(queue.lost(), 1);
        let result = HookResult::new(Hook::new("*", "exit 1").unwrap(), 1);
        let outcome = Outcome::new(EventType::ToolPreExecute, vec![result]);
        queue.put(fired(event_of(1), outcome));
        assert_eq!(queue.lost(), 1);
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
