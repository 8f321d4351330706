//! The threads that run submitted jobs.
//!
//! A thread starts when a job could run and no thread is idle, up to the limit, and ends when the pool is closed
//! and no job waits. Knows nothing of what a job does.

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, thread};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::queue::{Priority, Queue, Ticket};
use crate::logging::warn;
use crate::process::Cancel;

/// A unit of work for a thread.
pub(crate) trait Job: Send {
    /// The flag that ends the job early.
    fn cancel(&self) -> Arc<Cancel>;

    fn run(self: Box<Self>);

    /// Ends a job that will not run: it was not accepted, or it was accepted and cancelled.
    fn abandon(self: Box<Self>, refused: Option<&Refusal>);
}

/// Why a job was not accepted.
#[derive(Debug)]
pub(crate) enum Refusal {
    Busy,
    NoThread(io::Error),
    ShutDown,
}

/// A handle that is cheap to clone: clones share the threads.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    /// The prefix of the threads' names; a number follows.
    name: &'static str,
    threads: usize,
    /// The most threads that may run other jobs than guards.
    others: usize,
    /// The most jobs that may wait.
    capacity: usize,
    state: Mutex<State>,
    /// Feeds the threads with calls to look into the queue, at most one for each: a channel of jobs could give guards no
    /// priority, and keep no session in order.
    calls: Sender<()>,
    called: Receiver<()>,
    /// Wakes those that wait for the end of the threads.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    queue: Queue<Box<dyn Job>>,
    is_closed: bool,
    threads: usize,
    busy: usize,
    busy_others: usize,
    /// The running jobs, by the numbers of their tickets.
    running: HashMap<u64, Arc<Cancel>>,
}

thread_local! {
    static ON_POOL: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread belongs to a pool of any executor. It must not wait for the turn of other jobs.
pub(crate) fn on_pool_thread() -> bool {
    ON_POOL.get()
}

impl Pool {
    /// Creates a pool with these limits: the number of threads, of those that may run other jobs than guards, and
    /// of jobs that wait. `others` is one fewer than `threads` if no guard may wait for another job.
    pub(crate) fn new(name: &'static str, threads: usize, others: usize, capacity: usize) -> Self {
        let (calls, called) = bounded(threads);
        Self(Arc::new(Shared {
            name,
            threads,
            others,
            capacity,
            state: Mutex::default(),
            calls,
            called,
            ended: Condvar::new(),
        }))
    }

    pub(crate) fn threads(&self) -> usize {
        self.0.threads
    }

    /// Queues a job. Never blocks. A job that is not accepted has been [abandoned](Job::abandon).
    pub(crate) fn submit(&self, priority: Priority, job: Box<dyn Job>) -> Result<Ticket, Refusal> {
        let mut state = self.lock();
        if let Err(refusal) = self.admit(&mut state) {
            drop(state);
            job.abandon(Some(&refusal));
            return Err(refusal);
        }
        let ticket = state.queue.push(priority, job);
        self.call_thread(state);
        Ok(ticket)
    }

    /// Checks whether one more job may wait. The first thread must start before its job is accepted.
    fn admit(&self, state: &mut State) -> Result<(), Refusal> {
        if state.is_closed {
            return Err(Refusal::ShutDown);
        }
        if state.queue.len() >= self.0.capacity {
            return Err(Refusal::Busy);
        }
        if state.threads == 0 {
            self.start_thread(state).map_err(Refusal::NoThread)?;
        }
        Ok(())
    }

    /// Removes a job that still waits. Callers that wait for its result get a cancellation.
    pub(crate) fn withdraw(&self, ticket: Ticket) {
        let job = self.lock().queue.take(ticket);
        if let Some(job) = job {
            self.release(ticket);
            job.abandon(None);
        }
    }

    /// Accepts no more jobs. Those that wait still run.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.call_all();
    }

    /// Waits for all threads of a closed pool to end, at most this time. Returns whether they have ended.
    pub(crate) fn wait_for_the_end(&self, time: Duration) -> bool {
        let left = |state: &mut State| state.threads > 0;
        let waited = self.0.ended.wait_timeout_while(self.lock(), time, left);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.threads == 0
    }

    /// Cancels all jobs that run or wait, and accepts later ones. Never blocks.
    pub(crate) fn cancel_all(&self) {
        let state = self.lock();
        let waiting: Vec<_> = state
            .queue
            .waiting()
            .map(|(ticket, job)| (ticket, job.cancel()))
            .collect();
        let running: Vec<_> = state.running.values().cloned().collect();
        drop(state);
        // Those that wait come first: a thread whose job ends here must find the flag of the one that it takes next.
        let flags = waiting.iter().map(|(_, cancel)| cancel).chain(&running);
        flags.for_each(|cancel| cancel.request());
        for (ticket, _) in waiting {
            self.withdraw(ticket);
        }
    }

    /// Stops all running jobs, abandons all that wait, and accepts no more. Never blocks.
    pub(crate) fn cut(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let waiting = state.queue.drain();
        let running: Vec<_> = state.running.values().cloned().collect();
        drop(state);
        self.call_all();
        for cancel in running {
            cancel.request();
        }
        for job in waiting {
            job.abandon(None);
        }
    }

    /// Ends a job that was taken out of its turn.
    fn release(&self, ticket: Ticket) {
        let mut state = self.lock();
        state.running.remove(&ticket.number);
        state.queue.release(ticket);
        if state.is_closed {
            // It may have been the last job for which the threads were waiting.
            self.call_all();
        }
        self.call_thread(state);
    }

    /// Wakes a thread if a job could run now, or starts one if none is idle and the limit allows it.
    fn call_thread(&self, mut state: MutexGuard<'_, State>) {
        let others_may = state.busy_others < self.0.others;
        if !state.queue.has_next(others_may) {
            return;
        }
        if state.threads > state.busy {
            // A full channel has a call for each thread.
            let _ = self.0.calls.try_send(());
            return;
        }
        if state.threads < self.0.threads
            && let Err(error) = self.start_thread(&mut state)
        {
            drop(state);
            warn!("cannot start another thread, so queued hooks wait for a running one: {error}");
        }
    }

    fn call_all(&self) {
        for _ in 0..self.0.threads {
            let _ = self.0.calls.try_send(());
        }
    }

    fn start_thread(&self, state: &mut State) -> io::Result<()> {
        let pool = self.clone();
        let name = format!("{}-{}", self.0.name, state.threads);
        thread::Builder::new().name(name).spawn(move || {
            ON_POOL.set(true);
            while let Some((ticket, job)) = pool.next() {
                run_caught(job);
                pool.done(ticket);
            }
        })?;
        state.threads += 1;
        Ok(())
    }

    /// Waits for a job, and takes it. Returns none at the end of the pool; the thread then counts as ended.
    fn next(&self) -> Option<(Ticket, Box<dyn Job>)> {
        let mut state = self.lock();
        while !state.is_closed || state.queue.len() > 0 {
            let others_may = state.busy_others < self.0.others;
            if let Some((ticket, job)) = state.queue.pop(others_may) {
                state.busy += 1;
                state.busy_others += usize::from(ticket.is_other);
                state.running.insert(ticket.number, job.cancel());
                // Each thread that takes a job calls the next one.
                self.call_thread(state);
                return Some((ticket, job));
            }
            drop(state);
            // Cannot fail: the pool itself has a sender.
            let _ = self.0.called.recv();
            state = self.lock();
        }
        state.threads -= 1;
        self.call_all();
        self.0.ended.notify_all();
        None
    }

    /// Ends a job. The thread that calls this looks for the next one itself.
    fn done(&self, ticket: Ticket) {
        let mut state = self.lock();
        state.busy -= 1;
        state.busy_others -= usize::from(ticket.is_other);
        state.running.remove(&ticket.number);
        state.queue.release(ticket);
    }

    /// A panic while the lock is held leaves the state consistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a job. The job itself has reported a panic; the thread continues.
fn run_caught(job: Box<dyn Job>) {
    let _ = catch_unwind(AssertUnwindSafe(|| job.run()));
}
