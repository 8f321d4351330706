//! What happened, written to a file: one line of JSON for each hook that ran, or did not.
//!
//! The thread of a hook only takes a note (`line.rs`), and another thread writes it (`writer.rs`)
//! into a file that stays within its size (`file.rs`). Knows nothing of how a hook is run.

mod file;
mod line;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};

use crate::outcome::HookResult;
use crate::redact::Redactor;
use crate::runner::{DropReason, HookRun, Observer};
use file::{Limits, TraceFile};
use line::Note;
use writer::{Message, Writer};

/// An [`Observer`] that writes what happened to a file: one JSON object on a line for each hook that
/// has ended, could not run, or will not. The document `docs/trace.md` in the repository tells its
/// fields.
///
/// It never keeps a hook waiting: lines are written by a thread of its own, and where more of them
/// wait than there is room for, or the disk is full, they are lost, counted, and the next line that
/// is written is preceded by one that tells how many. Errors of writing are logged, once, as a
/// warning. What looks like a secret is masked, see [`Redactor`](crate::Redactor).
///
/// ```
/// use std::time::Duration;
/// use forge_hooks::{Hook, HookEvent, HookExecutor, Trace, FireOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("trace.jsonl");
/// let trace = Trace::builder(&path).max_bytes(1024 * 1024).build()?;
/// let executor = HookExecutor::builder().observer(trace.clone()).build();
/// executor.registry().register(Hook::new("session:start", "exit 3")?);
/// let outcome = executor.execute(&HookEvent::session_start("s1"), FireOptions::default());
/// assert!(outcome.allowed(), "what has happened cannot be blocked");
///
/// // At the end of the program, or its last lines may be lost.
/// assert!(trace.flush(Duration::from_secs(1)));
/// let line: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
/// assert_eq!((&line["event"], &line["exit_code"]), (&"session:start".into(), &3.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A clone writes to the same file. When the last one is dropped, with the executor that has it, the
/// thread writes what is still waiting and ends; nobody waits for it.
#[derive(Clone)]
pub struct Trace {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    /// Dropped with the last trace: the thread ends.
    messages: Sender<Message>,
    lost: Arc<AtomicU64>,
}

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be opened or created, or is something else than a file.
    #[error("could not open the trace file `{}`", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// No thread could be started to write it.
    #[error("could not start a thread for the trace file `{}`", path.display())]
    Thread {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// So long is a flush waited for at most, whatever its deadline.
const LONGEST_FLUSH: Duration = Duration::from_secs(24 * 60 * 60);

impl Trace {
    /// A trace in this file, which need not exist; nor need the folders above it. A relative path
    /// counts from the directory that is current when the trace is built.
    pub fn builder(path: impl Into<PathBuf>) -> TraceBuilder {
        TraceBuilder {
            path: path.into(),
            limits: Limits {
                bytes: 10 * 1024 * 1024,
                older: 3,
            },
            capacity: 1024,
            redactor: Redactor::default(),
        }
    }

    /// Waits until everything that happened before is in the file, or lost, but no longer than the
    /// deadline, counted from now, and a day; whether it is. For the end of a program. Another
    /// program can read the lines then; that they outlast a loss of power is not waited for.
    pub fn flush(&self, deadline: Duration) -> bool {
        let deadline = Instant::now() + deadline.min(LONGEST_FLUSH);
        let (done, is_done) = bounded(1);
        let asked = self
            .shared
            .messages
            .send_deadline(Message::Flush(done), deadline);
        asked.is_ok() && is_done.recv_deadline(deadline).is_ok()
    }

    /// How many lines were lost up to now, because too many were waiting or the file could not be
    /// written.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// The file, as an absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    fn take(&self, note: Note) {
        if self
            .shared
            .messages
            .try_send(Message::Note(Box::new(note)))
            .is_err()
        {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Observer for Trace {
    fn on_finish(&self, run: &HookRun<'_>, result: &HookResult) {
        self.take(Note::of_result(run, result));
    }

    fn on_drop(&self, run: &HookRun<'_>, reason: DropReason) {
        self.take(Note::of_drop(run, reason));
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("path", &self.path())
            .field("lost", &self.lost())
            .finish_non_exhaustive()
    }
}

/// The settings of a [`Trace`]: see [`Trace::builder`].
#[derive(Debug, Clone)]
#[must_use = "nothing is written until it is built"]
pub struct TraceBuilder {
    path: PathBuf,
    limits: Limits,
    capacity: usize,
    redactor: Redactor,
}

impl TraceBuilder {
    /// Sets how large the file may become, in bytes: 10 MiB unless this says otherwise, and at least
    /// 4 KiB. A line that would make it larger begins a new file, and the old one is renamed:
    /// `trace.jsonl` to `trace.jsonl.1`, that to `trace.jsonl.2`, and so on. While it cannot be
    /// renamed it grows to twice the size, and then lines are lost.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.limits.bytes = bytes.max(4 * 1024);
        self
    }

    /// Sets how many older files are kept: 3 unless this says otherwise, and at most 1,000. With 0 a
    /// full file is emptied.
    pub fn keep(mut self, older: usize) -> Self {
        self.limits.older = older.min(1000);
        self
    }

    /// Sets how many lines may wait to be written: 1,024 unless this says otherwise, at least 1 and
    /// at most 65,536. More are lost.
    pub fn capacity(mut self, lines: usize) -> Self {
        self.capacity = lines.clamp(1, 65_536);
        self
    }

    /// Sets what may stand in the file: all but what looks like a secret, and the values of a hook's
    /// own `env`, unless this says otherwise; the executor's redactor has no say here.
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Opens the file, and starts the thread that writes it.
    ///
    /// On Unix a new file can be read by its owner alone, for commands and what hooks say may be
    /// private; one that is there keeps its mode.
    ///
    /// # Errors
    /// When the file cannot be opened for writing, or is a directory, a pipe, a socket or a disk; and
    /// when no thread can be started.
    pub fn build(self) -> Result<Trace, TraceError> {
        let path = std::path::absolute(&self.path).unwrap_or(self.path);
        let file = match TraceFile::open(&path, self.limits) {
            Ok(file) => file,
            Err(source) => return Err(TraceError::Open { path, source }),
        };
        let (messages, received) = bounded(self.capacity);
        let lost = Arc::new(AtomicU64::new(0));
        let writer = Writer::new(file, path.clone(), Arc::clone(&lost), self.redactor);
        let thread = std::thread::Builder::new().name("forge-hooks-trace".to_owned());
        if let Err(source) = thread.spawn(move || writer.run(&received)) {
            return Err(TraceError::Thread { path, source });
        }
        Ok(Trace {
            shared: Arc::new(Shared {
                path,
                messages,
                lost,
            }),
        })
    }
}
