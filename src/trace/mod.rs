//! Writes what happened to a file: one line of JSON for each hook that ran, or that did not run; on request also one for each
//! event that was fired.
//!
//! The thread of a hook only takes a note (`line.rs`), and so does that of an event (`event.rs`). It puts the note into a
//! bounded queue (`queue.rs`). Another thread writes the note (`writer.rs`) into a file of limited size (`file.rs`). Knows
//! nothing of how a hook is run.

mod decided;
mod event;
mod file;
mod line;
mod queue;
mod writer;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::SetupError;
use crate::files::PathRule;
use crate::paths::Names;
use crate::redact::Redactor;
use crate::runner::{FiredEvent, Observation, Observe};
#[cfg(feature = "cli")]
pub(crate) use decided::Decided;
use event::EventNote;
#[cfg(feature = "cli")]
pub(crate) use event::{ASK, CANCELLED, CONTEXT, DISABLED, FIRED, KEEPS_GOING, UPDATES};
use file::{Limits, TraceFile};
use line::Note;
use queue::{Message, Queue, queue};
use writer::Writer;

/// Writes what happened to a file; see [`HookExecutorBuilder::trace`](crate::HookExecutorBuilder::trace).
///
/// The file has one line with a JSON object for each hook that has ended, could not run, or will not run. The
/// document `docs/program.md` in the repository describes the fields.
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
/// let executor = HookExecutor::builder().trace(&trace).build();
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
    queue: Queue,
    /// True if events have lines too.
    has_events: bool,
}

/// The sizes of a file with events, in bytes: a line must fit, and a reader keeps no more.
const SIZES_WITH_EVENTS: (u64, u64) = (1024 * 1024, 64 * 1024 * 1024);

/// The most bytes of the events that wait to be written.
const MOST_WAITING: usize = 16 * 1024 * 1024;

/// The longest time that a flush waits, whatever its deadline.
const LONGEST_FLUSH: Duration = Duration::from_secs(24 * 60 * 60);

impl Trace {
    /// Creates a builder for a trace in this file.
    ///
    /// The file and its parent directories need not exist. A relative path is relative to the current directory
    /// at the time when the trace is built. Links are followed, except for a trace with [`events`](TraceBuilder::events).
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
            has_events: false,
            outside_of: Vec::new(),
        }
    }

    /// Creates a builder for a file with events that the command line names: `replay` reads this one file.
    #[cfg(feature = "cli")]
    pub(crate) fn recording(path: impl Into<PathBuf>) -> TraceBuilder {
        Self::builder(path)
            .events()
            .max_bytes(SIZES_WITH_EVENTS.1 / 2)
            .keep(1)
    }

    /// Waits until all earlier lines are in the file or lost, for at most `deadline` (and at most one day).
    /// Returns whether they are. Call it at the end of a program. After it, other programs can read the lines;
    /// it does not wait until they would survive a loss of power.
    pub fn flush(&self, deadline: Duration) -> bool {
        let deadline = Instant::now() + deadline.min(LONGEST_FLUSH);
        self.shared.queue.flush(deadline)
    }

    /// The number of lines that were lost so far.
    ///
    /// Lines are lost if too many are waiting, or if the file cannot be written.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.shared.queue.lost()
    }

    /// The absolute path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    fn put(&self, message: Message) {
        self.shared.queue.put(message);
    }
}

impl Observe for Trace {
    fn observe(&self, observation: &Observation) {
        match observation {
            // An event is passed on by `fired`.
            Observation::Started(_) | Observation::Fired { .. } => {}
            Observation::Ended(run, result) => {
                self.put(Message::Note(Box::new(Note::of_result(run, result))));
            }
            Observation::Dropped(run, reason) => {
                self.put(Message::Note(Box::new(Note::of_drop(run, reason))));
            }
        }
    }

    fn fired(&self, fired: &FiredEvent) {
        self.put(Message::Event(Box::new(EventNote::new(fired))));
    }

    fn wants_events(&self) -> bool {
        self.shared.has_events
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
    has_events: bool,
    outside_of: Vec<PathBuf>,
}

impl TraceBuilder {
    /// Also writes a line for each event that is fired: `forge-hooks replay` fires them again, and `forge-hooks trace --check`
    /// looks for what a host forgot.
    ///
    /// The line of an event that can be blocked has its data and what its hooks decided, with secrets and results of tools masked;
    /// a value larger than 64 KiB is left out, and named. The line of any other event has no data.
    ///
    /// The file then contains what your users do, so it must be a regular file of the current user, which no other user can
    /// read: no link is followed at its end, and on Unix a file with another mode than 0600, of another user, or with a second
    /// name is refused. [`max_bytes`](Self::max_bytes) is then at least 1 MiB and at most 64 MiB. No environment variable
    /// switches this on: an agent could pass it on.
    ///
    /// ```
    /// use std::time::Duration;
    /// use forge_hooks::{FireOptions, HookEvent, HookExecutor, Trace};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("events.jsonl");
    /// # let project = directory.path().join("project");
    /// let trace = Trace::builder(&path).events().outside_of(&project).build()?;
    /// let executor = HookExecutor::builder().trace(&trace).build();
    /// let event = HookEvent::tool_pre_execute("bash", "ls");
    /// assert!(executor.execute(&event, FireOptions::default()).allowed());
    /// assert!(trace.flush(Duration::from_secs(1)));
    /// let line: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
    /// assert_eq!((&line["decision"], &line["fired"]["data"]["tool_args"]), (&"allow".into(), &"ls".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn events(mut self) -> Self {
        self.has_events = true;
        self
    }

    /// Refuses a file in this directory, such as the root of a project: there, a tool of an agent may read and write it, and it
    /// may be committed. Links are followed for the comparison. Default: any directory.
    pub fn outside_of(mut self, directory: impl Into<PathBuf>) -> Self {
        self.outside_of.push(directory.into());
        self
    }

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
    /// If the file cannot be opened for writing, if it is a directory, a pipe, a socket or a disk, if it lies in a directory of
    /// [`outside_of`](Self::outside_of), if others could read its [events](Self::events), or if no thread can be started.
    pub fn build(self) -> Result<Trace, SetupError> {
        let rule = self.rule();
        let path = if self.is_of_variable {
            self.path.clone()
        } else {
            std::path::absolute(&self.path).unwrap_or(self.path.clone())
        };
        let mut limits = self.limits;
        if self.has_events {
            limits.bytes = limits.bytes.clamp(SIZES_WITH_EVENTS.0, SIZES_WITH_EVENTS.1);
        }
        let created = rule.and_then(|rule| {
            check_outside(&path, &self.outside_of)?;
            TraceFile::create(&path, rule, limits)
        });
        let file = match created {
            Ok(file) => file,
            Err(cause) => {
                let message = format!("cannot open the trace file `{}`", path.display());
                return Err(SetupError::because(message, cause));
            }
        };
        let (queue, received) = queue(self.capacity, MOST_WAITING);
        let writer = Writer {
            file,
            of_events: EventNote::redactor(&self.redactor),
            redactor: self.redactor,
            received,
            recorded: 0,
            has_warned: false,
        };
        let thread = std::thread::Builder::new().name("forge-hooks-trace".to_owned());
        if let Err(cause) = thread.spawn(move || writer.run()) {
            let message = format!(
                "cannot start a thread for the trace file `{}`",
                path.display()
            );
            return Err(SetupError::because(message, cause));
        }
        Ok(Trace {
            shared: Arc::new(Shared {
                path,
                queue,
                has_events: self.has_events,
            }),
        })
    }

    /// Returns the rule for the path of the file.
    fn rule(&self) -> io::Result<PathRule> {
        if self.has_events {
            Ok(PathRule::Private)
        } else if self.is_of_variable {
            PathRule::of_variable(&self.path)
        } else {
            Ok(PathRule::FollowLinks)
        }
    }
}

/// # Errors
/// If the file lies in one of these directories, or it is not known where it lies.
fn check_outside(path: &Path, directories: &[PathBuf]) -> io::Result<()> {
    for directory in directories {
        let Ok(names) = Names::of_file(path) else {
            let unknown = "it is not known where it leads; name another file";
            return Err(io::Error::other(unknown));
        };
        let is_elsewhere = |directory: Names| !directory.leads_to(&names);
        if !Names::of_file(directory).is_ok_and(is_elsewhere) {
            return Err(io::Error::other(format!(
                "it lies in `{}`, where an agent could read and change it; name a file elsewhere",
                directory.display()
            )));
        }
    }
    Ok(())
}
