//! The threads that run submitted jobs.
//!
//! Waiting jobs are in a queue of their own. The channel carries only wakeups, at most one for each thread. So
//! a sleeping thread holds no lock, and the first job of the queue can change until the moment it is taken.
//! Knows nothing of what a job does.

use std::cell::Cell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{fmt, io, thread};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::queue::{Priority, Queue, Removed, Ticket};
use crate::logging::warn;
use crate::process::Cancel;

/// A unit of work for a thread.
pub(crate) trait Job: Send {
    /// The flag that ends the job early.
    fn cancel(&self) -> &Arc<Cancel>;

    fn run(self: Box<Self>);

    /// Drops a job that was accepted and will not run.
    fn abandon(self: Box<Self>);

    /// Rejects a job that was not accepted.
    fn refuse(self: Box<Self>, why: &Refusal);
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
    limits: Limits,
    state: Mutex<State>,
    wakeups: Receiver<()>,
    /// Nothing is sent. It is disconnected when the last thread has ended, which wakes all that wait.
    ended: Receiver<Infallible>,
}

/// The limits of a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) threads: usize,
    /// The most threads that may run other jobs than guards. It is one fewer than `threads` if there are
    /// several, so that no guard waits for another job.
    pub(crate) others: usize,
    /// The most jobs that may wait.
    pub(crate) capacity: usize,
}

struct State {
    queue: Queue<Box<dyn Job>>,
    takes_more: bool,
    threads: usize,
    /// The number of additional threads, see `run_aside`.
    aside: usize,
    busy: usize,
    busy_others: usize,
    /// The running jobs, by the numbers of their tickets.
    running: HashMap<u64, Arc<Cancel>>,
    /// Without the channel the threads end: no job waits any more, and none will come.
    waker: Option<Sender<()>>,
    /// The sender of `ended`, which each thread holds.
    alive: Option<Sender<Infallible>>,
}

thread_local! {
    static ON_POOL: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread belongs to a pool of any executor. It must not wait for the turn of other jobs.
pub(crate) fn on_pool_thread() -> bool {
    ON_POOL.get()
}

impl Pool {
    pub(crate) fn new(name: &'static str, limits: Limits) -> Self {
        let (waker, wakeups) = bounded(limits.threads);
        let (alive, ended) = bounded(0);
        Self(Arc::new(Shared {
            name,
            limits,
            wakeups,
            ended,
            state: Mutex::new(State {
                queue: Queue::new(),
                takes_more: true,
                threads: 0,
                aside: 0,
                busy: 0,
                busy_others: 0,
                running: HashMap::new(),
                waker: Some(waker),
                alive: Some(alive),
            }),
        }))
    }

    pub(crate) fn threads(&self) -> usize {
        self.0.limits.threads
    }

    /// Queues a job. Never blocks; starts a thread if another one is useful. A job that is not accepted has been
    /// [refused](Job::refuse).
    pub(crate) fn submit(&self, priority: Priority, job: Box<dyn Job>) -> Result<Ticket, Refusal> {
        let mut state = self.lock();
        let refusal = if !state.takes_more {
            Refusal::ShutDown
        } else if state.queue.len() >= self.0.limits.capacity {
            Refusal::Busy
        } else {
            let ticket = state.queue.push(priority, job);
            return match self.wake_thread(state) {
                Ok(()) => Ok(ticket),
                Err(error) => self.take_back(ticket, error),
            };
        };
        drop(state);
        job.refuse(&refusal);
        Err(refusal)
    }

    /// Takes a job back because there is no thread at all. Another caller may have submitted a job meanwhile,
    /// relying on the thread that could not be started: no thread will run that one either.
    fn take_back(&self, ticket: Ticket, error: io::Error) -> Result<Ticket, Refusal> {
        let refusal = Refusal::NoThread(error);
        let mut state = self.lock();
        if state.threads > 0 {
            return Ok(ticket);
        }
        let own = state.queue.remove(ticket);
        let others = state.queue.drain();
        drop(state);
        for job in others {
            job.abandon();
        }
        // If it is gone, another caller has abandoned it, and so answered it.
        let Some(Removed { item: job, .. }) = own else {
            return Ok(ticket);
        };
        job.refuse(&refusal);
        Err(refusal)
    }

    /// Removes a job that still waits. Callers that wait for its result get a cancellation.
    pub(crate) fn withdraw(&self, ticket: Ticket) {
        let Some(Removed { item, holds_key }) = self.lock().queue.remove(ticket) else {
            return;
        };
        self.release(ticket.priority.ordering_key.filter(|_| holds_key));
        item.abandon();
    }

    /// Runs a waiting job at once on the calling thread, out of its turn. For a thread of a pool that must wait
    /// for the job: the jobs before it may in turn be waiting for this thread.
    pub(crate) fn run_here(&self, ticket: Ticket) {
        let mut state = self.lock();
        let Some(Removed { item, holds_key }) = state.queue.remove(ticket) else {
            return;
        };
        state
            .running
            .insert(ticket.number, Arc::clone(item.cancel()));
        drop(state);
        run_caught(item);
        self.lock().running.remove(&ticket.number);
        self.release(ticket.priority.ordering_key.filter(|_| holds_key));
    }

    /// Runs a waiting job on a separate thread, out of its turn, for a caller that must not block so long. There
    /// are at most `Limits::threads` such threads. Returns false if no thread can be started: the job still
    /// waits for its turn.
    pub(crate) fn run_aside(&self, ticket: Ticket) -> bool {
        let mut state = self.lock();
        let Some(alive) = state.alive.clone() else {
            return true;
        };
        if !state.queue.contains(ticket) {
            return true;
        }
        if state.aside >= self.0.limits.threads {
            return false;
        }
        state.aside += 1;
        drop(state);
        let pool = self.clone();
        let work = move || {
            ON_POOL.set(true);
            pool.run_here(ticket);
            pool.lock().aside -= 1;
            drop(alive);
        };
        let started = self.thread_named("aside").spawn(work);
        if started.is_err() {
            self.lock().aside -= 1;
        }
        started.is_ok()
    }

    /// Accepts no more jobs. Those that wait still run.
    pub(crate) fn take_no_more(&self) {
        let mut state = self.lock();
        state.takes_more = false;
        state.close_when_done();
    }

    /// Waits until all threads have ended, or the deadline. Returns whether they have ended. They end only after
    /// `take_no_more` or `cut`.
    pub(crate) fn wait_for_the_end(&self, deadline: Option<Instant>) -> bool {
        let ended = match deadline {
            Some(deadline) => self.0.ended.recv_deadline(deadline),
            None => self.0.ended.recv().map_err(Into::into),
        };
        ended == Err(RecvTimeoutError::Disconnected)
    }

    /// The number of threads that have not ended.
    pub(crate) fn threads_left(&self) -> usize {
        let state = self.lock();
        state.threads + state.aside
    }

    /// Stops all running jobs, and abandons all that wait. Never blocks.
    pub(crate) fn cut(&self) {
        let mut state = self.lock();
        state.takes_more = false;
        let waiting = state.queue.drain();
        state.close_when_done();
        let running: Vec<_> = state.running.values().cloned().collect();
        drop(state);
        for cancel in running {
            cancel.request();
        }
        for job in waiting {
            job.abandon();
        }
    }

    /// Ends a job that was taken out of its turn. If it held its ordering key, the next job of the key becomes
    /// ready.
    fn release(&self, key: Option<u64>) {
        let mut state = self.lock();
        let goes_on = key.is_some_and(|key| state.queue.release(key));
        state.close_when_done();
        if goes_on && let Err(error) = self.wake_thread(state) {
            warn!("no thread can be started, so queued hooks wait for a running one: {error}");
        }
    }

    /// Wakes a thread, so that it reads the queue. Starts a thread if all are busy and the limit allows one more.
    /// An error means that there is no thread at all.
    fn wake_thread(&self, mut state: MutexGuard<'_, State>) -> io::Result<()> {
        let (Some(waker), Some(alive)) = (state.waker.clone(), state.alive.clone()) else {
            return Ok(());
        };
        let number = state.threads;
        let one_more = self.wants_one_more(&state);
        state.threads += usize::from(one_more);
        drop(state);
        let started = if one_more {
            self.start_thread(number, alive)
        } else {
            Ok(())
        };
        // Full: every sleeping thread has a wakeup already.
        let _ = waker.try_send(());
        let Err(error) = started else { return Ok(()) };
        let mut state = self.lock();
        state.threads -= 1;
        let left = state.threads;
        drop(state);
        if left == 0 {
            return Err(error);
        }
        warn!("cannot start another thread; hooks run on the {left} that there are: {error}");
        Ok(())
    }

    fn wants_one_more(&self, state: &State) -> bool {
        let (guards, others) = state.queue.ready();
        let free = self.0.limits.others.saturating_sub(state.busy_others);
        let work = state.busy + guards + others.min(free);
        state.threads < work.min(self.0.limits.threads)
    }

    fn thread_named(&self, what: impl fmt::Display) -> thread::Builder {
        thread::Builder::new().name(format!("{}-{what}", self.0.name))
    }

    fn start_thread(&self, number: usize, alive: Sender<Infallible>) -> io::Result<()> {
        let pool = self.clone();
        let work = move || {
            ON_POOL.set(true);
            pool.work();
            pool.lock().threads -= 1;
            drop(alive);
        };
        self.thread_named(number).spawn(work).map(drop)
    }

    fn work(&self) {
        loop {
            let goes_on = self.0.wakeups.recv().is_ok();
            while let Some((ticket, job)) = self.next() {
                run_caught(job);
                self.done(ticket);
            }
            if !goes_on {
                return;
            }
        }
    }

    fn next(&self) -> Option<(Ticket, Box<dyn Job>)> {
        let mut state = self.lock();
        let others_may = state.busy_others < self.0.limits.others;
        let (ticket, job) = state.queue.pop(others_may)?;
        state.busy += 1;
        state.busy_others += usize::from(!ticket.priority.guard);
        state
            .running
            .insert(ticket.number, Arc::clone(job.cancel()));
        state.close_when_done();
        Some((ticket, job))
    }

    /// Ends a job. The thread that calls this reads the queue again, so a job that becomes ready needs no wakeup.
    fn done(&self, ticket: Ticket) {
        let mut state = self.lock();
        state.busy -= 1;
        state.busy_others -= usize::from(!ticket.priority.guard);
        state.running.remove(&ticket.number);
        if let Some(key) = ticket.priority.ordering_key {
            state.queue.release(key);
        }
    }

    /// A panic while the lock is held leaves the state consistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Must be called after each change that may leave the queue empty for good.
    fn close_when_done(&mut self) {
        if !self.takes_more && self.queue.len() == 0 {
            self.waker = None;
            self.alive = None;
        }
    }
}

/// Runs a job. The job itself has reported a panic; the thread continues.
fn run_caught(job: Box<dyn Job>) {
    let _ = catch_unwind(AssertUnwindSafe(|| job.run()));
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.limits)
    }
}
