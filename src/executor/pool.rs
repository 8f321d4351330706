//! The threads that run submitted events, and the queue before them.
//!
//! Knows jobs, nothing of what is in one.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io, thread};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use super::FireOptions;
use super::handle::{HookHandle, Job};
use super::run::Engine;
use crate::events::HookEvent;
use crate::hook::Hook;
use crate::process::Cancel;

/// Why an event was not taken. It is given back: see [`SubmitError::into_event`].
#[derive(Debug)]
#[non_exhaustive]
pub enum SubmitError {
    /// So many events are waiting that the queue is full.
    Busy(Arc<HookEvent>),
    /// The pool has no thread, and the system gives it none.
    NoThread(Arc<HookEvent>, io::Error),
}

impl SubmitError {
    /// The event that was not taken.
    #[must_use]
    pub fn into_event(self) -> Arc<HookEvent> {
        match self {
            Self::Busy(event) | Self::NoThread(event, _) => event,
        }
    }
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(event) => write!(f, "queue is full, {} was not taken", event.event_type),
            Self::NoThread(event, _) => {
                write!(
                    f,
                    "no thread can be started, {} was not taken",
                    event.event_type
                )
            }
        }
    }
}

impl std::error::Error for SubmitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Busy(_) => None,
            Self::NoThread(_, error) => Some(error),
        }
    }
}

pub(super) struct Pool {
    engine: Arc<Engine>,
    limit: usize,
    /// Kept beside the sender to start threads with, and to empty the queue.
    waiting: Receiver<Job>,
    queue: Option<Sender<Job>>,
    crew: Arc<Crew>,
}

/// What the threads share.
#[derive(Default)]
struct Crew {
    /// Events taken and not yet done: so many threads have something to do.
    pending: AtomicUsize,
    threads: Mutex<usize>,
    closed: AtomicBool,
    /// What is running now, for the end of the pool to stop.
    running: Mutex<HashMap<usize, Arc<Cancel>>>,
}

impl Pool {
    pub(super) fn new(engine: Arc<Engine>, limit: usize, capacity: usize) -> Self {
        let (queue, waiting) = bounded(capacity);
        Self {
            engine,
            limit,
            waiting,
            queue: Some(queue),
            crew: Arc::default(),
        }
    }

    pub(super) fn submit(
        &self,
        event: Arc<HookEvent>,
        hooks: Vec<Arc<Hook>>,
        options: FireOptions,
    ) -> Result<HookHandle, SubmitError> {
        // Counted before a thread can be done with it.
        let pending = self.crew.pending.fetch_add(1, Ordering::SeqCst) + 1;
        let refuse = || self.crew.pending.fetch_sub(1, Ordering::SeqCst);
        if let Err(error) = self.see_to_threads(pending) {
            refuse();
            return Err(SubmitError::NoThread(event, error));
        }
        let (job, handle) = Job::new(event, hooks, options);
        match self.queue.as_ref().map(|queue| queue.try_send(job)) {
            Some(Ok(())) => Ok(handle),
            Some(Err(TrySendError::Full(job) | TrySendError::Disconnected(job))) => {
                refuse();
                Err(SubmitError::Busy(job.take_back()))
            }
            // Only `drop` takes the sender, and nobody can submit any more then.
            None => Ok(handle),
        }
    }

    /// Starts a thread if all are busy and there may be more. One is enough to go on with.
    fn see_to_threads(&self, wanted: usize) -> io::Result<()> {
        let mut threads = lock(&self.crew.threads);
        if *threads >= wanted.min(self.limit) {
            return Ok(());
        }
        match self.start_thread(*threads) {
            Ok(()) => *threads += 1,
            Err(error) if *threads == 0 => return Err(error),
            Err(error) => log::warn!("hooks run on {threads} threads, not on more: {error}"),
        }
        Ok(())
    }

    fn start_thread(&self, number: usize) -> io::Result<()> {
        let (engine, waiting) = (Arc::clone(&self.engine), self.waiting.clone());
        let crew = Arc::clone(&self.crew);
        let work = move || {
            for job in waiting {
                crew.run(number, job, &engine);
            }
        };
        thread::Builder::new()
            .name(format!("forge-hooks-{number}"))
            .spawn(work)
            .map(drop)
    }
}

impl Crew {
    fn run(&self, thread: usize, job: Job, engine: &Engine) {
        let cancel = job.cancel();
        lock(&self.running).insert(thread, Arc::clone(&cancel));
        // In this order: the end of the pool sets the flag first and looks at the list then.
        if self.closed.load(Ordering::SeqCst) {
            cancel.request();
        }
        // A panic has been answered by the job itself; the thread goes on.
        let _ = catch_unwind(AssertUnwindSafe(|| job.run(engine)));
        lock(&self.running).remove(&thread);
        self.pending.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Never waits: running jobs are told to end, and their threads see to it; waiting ones are
/// dropped, which answers them.
impl Drop for Pool {
    fn drop(&mut self) {
        self.crew.closed.store(true, Ordering::SeqCst);
        // Without a sender the threads end when the queue is empty.
        drop(self.queue.take());
        while let Ok(job) = self.waiting.try_recv() {
            drop(job);
        }
        for cancel in lock(&self.crew.running).values() {
            cancel.request();
        }
    }
}

/// A panic while one of these is held leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
