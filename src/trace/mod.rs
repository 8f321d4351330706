//! Writes what happened to a file: one line of JSON for each hook that ran, or that did not run.
//!
//! The thread of a hook only takes a note (`line.rs`). Another thread writes the note (`writer.rs`) into a file
//! of limited size (`file.rs`). Knows nothing of how a hook is run.

mod file;
mod line;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};

use crate::files::Links;
use crate::outcome::HookResult;
use crate::redact::Redactor;
use crate::runner::{DropReason, HookRun, Observer};
use file::{Limits, TraceFile};
use line::Note;
use writer::{Message, Writer};

/// An [`Observer`] that writes what happened to a file.
///
/// The file has one line with a JSON object for each hook that has ended, could not run, or will not run. The
/// document `docs/trace.md` in the repository describes the fields.
///
/// It never delays a hook: a separate thread writes the lines. If too many lines wait, or if the disk is
/// full, lines are lost. Lost lines are counted, and before the next line a line with their number is
/// written. The first write error is logged as a warning. Text that looks like a secret is masked, see
/// [`Redactor`].
///
/// ```
/// use std::time::Duration;
/// use forge_hooks::{Hook, HookEvent, HookExecutor, Trace, FireOptions};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("trace.jsonl");
/// let trace = Trace::builder(&path).max_bytes(1024 * 1024).build()?;
/// let executor = HookExecutor::builder().observer(trace.clone()).build();
/// executor.registry().register(Hook::new("session:start", "exit 3")?);
/// let outcome = executor.execute(&HookEvent::session_start("s1"), FireOptions::default());
/// assert!(outcome.allowed(), "what has happened cannot be blocked");
///
/// // At the end of the program; otherwise its last lines may be lost.
/// assert!(trace.flush(Duration::from_secs(1)));
/// let line: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
/// assert_eq!((&line["event"], &line["exit_code"]), (&"session:start".into(), &3.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A clone writes to the same file. The trace ends when the last clone is dropped, together with the executor
/// that holds it: the thread writes the waiting lines and ends. Dropping does not wait for that.
#[derive(Clone)]
pub struct Trace {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    /// Dropped with the last trace, which ends the thread.
    messages: Sender<Message>,
    lost: Arc<AtomicU64>,
}

/// Error building a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be opened or created, or it is not a file.
    #[error("cannot open the trace file `{}`", path.display())]
    Open {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The thread that writes the file cannot be started.
    #[error("cannot start a thread for the trace file `{}`", path.display())]
    Thread {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

/// The longest time that a flush waits, whatever its deadline.
const LONGEST_FLUSH: Duration = Duration::from_secs(24 * 60 * 60);

impl Trace {
    /// Creates a builder for a trace in this file.
    ///
    /// The file and its parent directories need not exist. A relative path is relative to the current directory
    /// at the time when the trace is built. Links are followed.
    pub fn builder(path: impl Into<PathBuf>) -> TraceBuilder {
        TraceBuilder {
            path: path.into(),
            limits: Limits {
                bytes: 10 * 1024 * 1024,
                older: 3,
            },
            capacity: 1024,
            redactor: Redactor::default(),
            is_of_variable: false,
        }
    }

    /// Waits until all earlier lines are in the file or lost, for at most `deadline` (and at most one day).
    /// Returns whether they are. Call it at the end of a program. After it, other programs can read the lines;
    /// it does not wait until they would survive a loss of power.
    pub fn flush(&self, deadline: Duration) -> bool {
        let deadline = Instant::now() + deadline.min(LONGEST_FLUSH);
        let (done, is_done) = bounded(1);
        let asked = self
            .shared
            .messages
            .send_deadline(Message::Flush(done), deadline);
        asked.is_ok() && is_done.recv_deadline(deadline).is_ok()
    }

    /// The number of lines that were lost so far.
    ///
    /// Lines are lost if too many are waiting, or if the file cannot be written.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// The absolute path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    fn take(&self, note: Note) {
        let message = Message::Note(Box::new(note));
        if self.shared.messages.try_send(message).is_err() {
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

/// The settings of a [`Trace`], created by [`Trace::builder`].
#[derive(Debug, Clone)]
#[must_use = "nothing is written until `build` is called"]
pub struct TraceBuilder {
    path: PathBuf,
    limits: Limits,
    capacity: usize,
    redactor: Redactor,
    is_of_variable: bool,
}

impl TraceBuilder {
    /// Makes the path one of an environment variable: it must be absolute, and a link at its end is not followed.
    pub(crate) fn of_variable(mut self) -> Self {
        self.is_of_variable = true;
        self
    }

    /// Sets the largest size of the file, in bytes. Default: 10 MiB; at least 4 KiB.
    ///
    /// A line that would exceed it begins a new file, and the old one is renamed: `trace.jsonl` to
    /// `trace.jsonl.1`, that to `trace.jsonl.2`, and so on. While the file cannot be renamed, lines
    /// are lost.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.limits.bytes = bytes.max(4 * 1024);
        self
    }

    /// Sets how many older files are kept. Default: 3; at most 1,000. With 0, a full file is emptied.
    pub fn keep(mut self, older: usize) -> Self {
        self.limits.older = older.min(1000);
        self
    }

    /// Sets how many lines may wait to be written. Default: 1,024; at least 1 and at most 65,536.
    ///
    /// Further lines are lost.
    pub fn capacity(mut self, lines: usize) -> Self {
        self.capacity = lines.clamp(1, 65_536);
        self
    }

    /// Sets the redactor for the text in the file.
    ///
    /// Default: text that looks like a secret is masked, and so are the values of a hook's own `env`. The
    /// executor's redactor does not apply here.
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Opens the file and starts the thread that writes it.
    ///
    /// On Unix, a new file is readable only by its owner, because commands and output of hooks may be private.
    /// An existing file keeps its mode.
    ///
    /// # Errors
    /// If the file cannot be opened for writing, if it is a directory, a pipe, a socket or a disk, or if no
    /// thread can be started.
    pub fn build(self) -> Result<Trace, TraceError> {
        let (path, links) = if self.is_of_variable {
            let links = Links::of_variable(&self.path);
            (self.path, links)
        } else {
            let path = std::path::absolute(&self.path).unwrap_or(self.path);
            (path, Ok(Links::Followed))
        };
        let file = match links.and_then(|links| TraceFile::create(&path, links, self.limits)) {
            Ok(file) => file,
            Err(source) => return Err(TraceError::Open { path, source }),
        };
        let (messages, received) = bounded(self.capacity);
        let lost = Arc::new(AtomicU64::new(0));
        let writer = Writer {
            file,
            redactor: self.redactor,
            lost: Arc::clone(&lost),
            recorded: 0,
            has_warned: false,
        };
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
