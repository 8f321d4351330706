//! The threads that run submitted jobs.
//!
//! A thread starts when a job could run and no thread is idle, up to the limit, and ends when the pool is closed and no job
//! waits. Does not know the work of a job.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::queue::{Priority, Queue, Ticket};
use crate::logging::warn;
use crate::sync::{Condvar, Guard, Mutex, thread};

/// A unit of work for a thread.
pub(crate) trait Runnable: Send + 'static {
    fn run(self);

    /// Ends a job that will not run: it was not accepted, or it was accepted and withdrawn.
    fn abandon(self, refused: Option<&Refusal>);
}

/// The reason why a job was not accepted.
#[derive(Debug)]
pub(crate) enum Refusal {
    Busy,
    NoThread(io::Error),
    ShutDown,
}

/// A job that was accepted, and may still wait.
pub(crate) struct Waiting {
    pool: Arc<dyn Withdraw>,
    ticket: Ticket,
}

trait Withdraw: Send + Sync {
    fn withdraw(self: Arc<Self>, ticket: Ticket);
}

/// A handle that is cheap to clone: clones share the threads.
pub(crate) struct Pool<J>(Arc<PoolInner<J>>);

struct PoolInner<J> {
    /// The prefix of the threads' names; a number follows.
    name: &'static str,
    threads: usize,
    /// The most threads that may run jobs other than guards.
    others: usize,
    /// The most jobs that may wait.
    capacity: usize,
    state: Mutex<PoolState<J>>,
    /// Wakes idle threads, one for each call.
    called: Condvar,
    /// Wakes the callers that wait for a thread's start, or for the end of all threads.
    changed: Condvar,
}

struct PoolState<J> {
    queue: Queue<J>,
    is_closed: bool,
    /// The number of threads that run, including one that is being started.
    threads: usize,
    /// True while the first thread is being started. Until it has started, no job is accepted.
    is_starting: bool,
    busy: usize,
    busy_others: usize,
    /// The threads that wait for a call.
    idle: usize,
    /// Calls to look into the queue that no thread has taken yet, at most one for each idle thread.
    calls: usize,
}

impl<J> Clone for Pool<J> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<J: Runnable> Pool<J> {
    /// Creates a pool with these limits: the number of threads, of those that may run other jobs than guards, and
    /// of jobs that wait. `others` is one fewer than `threads` if no guard may wait for another job.
    pub(crate) fn new(name: &'static str, threads: usize, others: usize, capacity: usize) -> Self {
        let state = PoolState {
            queue: Queue::default(),
            is_closed: false,
            threads: 0,
            is_starting: false,
            busy: 0,
            busy_others: 0,
            idle: 0,
            calls: 0,
        };
        Self(Arc::new(PoolInner {
            name,
            threads,
            others,
            capacity,
            state: Mutex::new(state),
            called: Condvar::default(),
            changed: Condvar::default(),
        }))
    }

    /// Queues a job, and waits at most for the start of a thread. A job that is not accepted has been
    /// [abandoned](Runnable::abandon).
    pub(crate) fn submit(&self, priority: Priority, job: J) -> Result<Waiting, Refusal> {
        match self.admit() {
            Ok(mut state) => {
                let ticket = state.queue.push(priority, job);
                self.call_thread(state);
                let pool = Arc::clone(&self.0) as _;
                Ok(Waiting { pool, ticket })
            }
            Err(refusal) => {
                job.abandon(Some(&refusal));
                Err(refusal)
            }
        }
    }

    /// Checks whether one more job may wait. The first thread must start before its job is accepted.
    fn admit(&self) -> Result<Guard<'_, PoolState<J>>, Refusal> {
        let mut state = self.0.state.lock();
        loop {
            if state.is_closed {
                return Err(Refusal::ShutDown);
            }
            if state.queue.len() >= self.0.capacity {
                return Err(Refusal::Busy);
            }
            if state.is_starting {
                let is_starting = |state: &mut PoolState<J>| state.is_starting;
                state = self.0.changed.wait_while(state, is_starting);
            } else if state.threads > 0 {
                return Ok(state);
            } else {
                state.is_starting = true;
                let started = self.start_thread(state);
                state = self.0.state.lock();
                state.is_starting = false;
                self.0.changed.notify_all();
                started.map_err(Refusal::NoThread)?;
            }
        }
    }

    fn withdraw(&self, ticket: Ticket) {
        let mut state = self.0.state.lock();
        let Some(job) = state.queue.take(ticket) else {
            return;
        };
        state.queue.release(ticket);
        if state.is_closed {
            // It may have been the last job for which the threads were waiting.
            self.call_all(&mut state);
        }
        self.call_thread(state);
        job.abandon(None);
    }

    /// Closes the pool: no more jobs are accepted. The waiting jobs still run.
    pub(crate) fn close(&self) {
        let mut state = self.0.state.lock();
        state.is_closed = true;
        self.call_all(&mut state);
    }

    /// Waits for all threads of a closed pool to end, at most this time. Returns whether they have ended.
    pub(crate) fn wait_for_the_end(&self, time: Duration) -> bool {
        let has_threads = |state: &mut PoolState<J>| state.threads > 0;
        let state = self.0.state.lock();
        let state = self.0.changed.wait_timeout_while(state, time, has_threads);
        state.threads == 0
    }

    /// Wakes a thread if a job could run now, or starts one if none is idle and the limit allows it.
    fn call_thread(&self, mut state: Guard<'_, PoolState<J>>) {
        let others_may = state.busy_others < self.0.others;
        if !state.queue.has_next(others_may) {
            return;
        }
        if state.threads > state.busy {
            // A thread that is neither busy nor idle is about to look into the queue.
            if state.calls < state.idle {
                state.calls += 1;
                drop(state);
                self.0.called.notify_one();
            }
        } else if state.threads < self.0.threads
            && let Err(error) = self.start_thread(state)
        {
            warn!("cannot start another thread, so queued hooks wait for a running one: {error}");
        }
    }

    fn call_all(&self, state: &mut PoolState<J>) {
        state.calls = state.idle;
        self.0.called.notify_all();
    }

    /// Starts a thread, without the lock.
    fn start_thread(&self, mut state: Guard<'_, PoolState<J>>) -> io::Result<()> {
        let name = format!("{}-{}", self.0.name, state.threads);
        state.threads += 1;
        drop(state);
        let pool = self.clone();
        let started = thread::Builder::new().name(name).spawn(move || {
            while let Some((ticket, job)) = pool.next() {
                run_caught(job);
                pool.done(ticket);
            }
        });
        if started.is_err() {
            self.0.state.lock().threads -= 1;
            self.0.changed.notify_all();
        }
        started.map(drop)
    }

    /// Waits for a job, and takes it. Returns none at the end of the pool; the thread then counts as ended.
    fn next(&self) -> Option<(Ticket, J)> {
        let mut state = self.0.state.lock();
        while !state.is_closed || state.queue.len() > 0 {
            let others_may = state.busy_others < self.0.others;
            if let Some((ticket, job)) = state.queue.pop(others_may) {
                state.busy += 1;
                state.busy_others += usize::from(ticket.is_other);
                // Each thread that takes a job calls the next one.
                self.call_thread(state);
                return Some((ticket, job));
            }
            state.idle += 1;
            state = self.0.called.wait_while(state, |state| state.calls == 0);
            state.idle -= 1;
            state.calls -= 1;
        }
        state.threads -= 1;
        self.call_all(&mut state);
        self.0.changed.notify_all();
        None
    }

    /// Ends a job. The thread that calls this looks for the next one itself.
    fn done(&self, ticket: Ticket) {
        let mut state = self.0.state.lock();
        state.busy -= 1;
        state.busy_others -= usize::from(ticket.is_other);
        state.queue.release(ticket);
    }
}

impl Waiting {
    /// Removes the job, if it still waits, and abandons it.
    pub(crate) fn withdraw(self) {
        self.pool.withdraw(self.ticket);
    }
}

impl<J: Runnable> Withdraw for PoolInner<J> {
    fn withdraw(self: Arc<Self>, ticket: Ticket) {
        Pool(self).withdraw(ticket);
    }
}

/// Runs a job. If it panics, the job itself has reported that, and the thread continues.
fn run_caught(job: impl Runnable) {
    let _ = catch_unwind(AssertUnwindSafe(|| job.run()));
}
