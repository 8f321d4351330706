//! What `serve` writes: each line at once, as far as the host takes it; the rest by one thread, from a queue with a limit.
//! Adding a line never waits.
//!
//! Does not know what a request is for.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// For the one that writes at once, which never waits while it holds this.
    direct: Mutex<Arc<File>>,
}

impl Outbox {
    pub(super) fn new(output: File) -> (Self, Lines) {
        let (lines, waiting) = unbounded();
        let (unsent, output) = (Arc::new(AtomicUsize::new(0)), Arc::new(output));
        let lines_to_write = Lines {
            waiting,
            left: Arc::clone(&unsent),
            output: Arc::clone(&output),
        };
        let outbox = Self {
            lines,
            unsent,
            direct: Mutex::new(output),
        };
        (outbox, lines_to_write)
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

    fn add(&self, mut line: Vec<u8>, before: impl FnOnce()) {
        self.unsent.fetch_add(line.len(), Ordering::SeqCst);
        before();
        let direct = self.direct.lock().unwrap_or_else(PoisonError::into_inner);
        // If nothing else is unsent, the thread has written all that came before.
        if self.unsent.load(Ordering::SeqCst) == line.len() {
            let written = write_at_once(&direct, &line);
            self.unsent.fetch_sub(written, Ordering::SeqCst);
            line.drain(..written);
        }
        if !line.is_empty() {
            // Without a receiver, the program is about to end.
            let _ = self.lines.send(line);
        }
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

/// Writes what the host takes without a wait, and returns how much that is.
#[cfg(unix)]
fn write_at_once(mut output: &File, line: &[u8]) -> usize {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let mut written = 0;
    for piece in line.chunks(rustix::pipe::PIPE_BUF) {
        // A pipe that is ready takes this much.
        let mut fds = [PollFd::new(output, PollFlags::OUT)];
        let is_ready = poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0);
        let taken = if is_ready {
            output.write(piece).unwrap_or(0)
        } else {
            0
        };
        written += taken;
        if taken < piece.len() {
            break;
        }
    }
    written
}

/// There, only a write itself tells whether it waits.
#[cfg(not(unix))]
fn write_at_once(_output: &File, _line: &[u8]) -> usize {
    0
}

/// The other end of the queue, for the thread that writes.
pub(super) struct Lines {
    waiting: Receiver<Vec<u8>>,
    left: Arc<AtomicUsize>,
    output: Arc<File>,
}

impl Lines {
    /// Writes until the host does not read any more.
    pub(super) fn write(self) {
        for line in self.waiting {
            if (&*self.output).write_all(&line).is_err() {
                return;
            }
            self.left.fetch_sub(line.len(), Ordering::SeqCst);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::*;

    #[test]
    fn each_line_is_whole_and_in_its_place() {
        let (reader, writer) = std::io::pipe().unwrap();
        let (outbox, lines) = Outbox::new(std::os::fd::OwnedFd::from(writer).into());
        let writing = thread::spawn(|| lines.write());
        // Of many threads, some of the lines larger than the pipe, to a host that begins to read late.
        let reading = thread::spawn(|| {
            thread::sleep(Duration::from_millis(50));
            let lines = BufReader::new(reader).lines();
            lines.map(Result::unwrap).collect::<Vec<_>>()
        });
        let send = |thread: usize| {
            for number in 0..200 {
                let size = if number % 50 == 0 { 100_000 } else { number };
                let line = format!("{thread} {number} {}\n", "x".repeat(size));
                outbox.add(line.into_bytes(), || ());
            }
        };
        thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || send(thread));
            }
        });
        outbox.flush(Duration::from_secs(60));
        assert!(outbox.is_empty());
        drop(outbox);
        writing.join().unwrap();
        let mut next = [0; 4];
        for line in reading.join().unwrap() {
            let mut words = line.split(' ');
            let mut number = || words.next().unwrap().parse::<usize>().unwrap();
            let thread = number();
            assert_eq!(number(), next[thread]);
            next[thread] += 1;
            assert!(words.next().unwrap().bytes().all(|byte| byte == b'x'));
        }
        assert_eq!(next, [200; 4]);
    }

    #[test]
    fn unsent_responses_have_two_limits() {
        let (_reader, writer) = std::io::pipe().unwrap();
        let (outbox, lines) = Outbox::new(std::os::fd::OwnedFd::from(writer).into());
        let id = Id::Text("1".to_owned());
        // The pipe takes the first bytes.
        let taken = 1 << 20;
        outbox.add(vec![0; MOST_UNSENT - 1], || ());
        assert!(!outbox.is_full());
        outbox.add(vec![0; taken], || ());
        assert!(outbox.is_full() && !outbox.is_flooded());
        lines.waiting.try_iter().for_each(drop);
        outbox.notify("report/changed", ());
        assert!(lines.waiting.is_empty(), "it is dropped");
        outbox.respond(&id, "x".repeat(SHORT));
        let replaced = lines.waiting.recv().unwrap();
        assert!(replaced.len() < SHORT, "{}", replaced.len());
        outbox.add(vec![0; MOST_UNSENT], || ());
        assert!(outbox.is_flooded());
    }
}
