//! The threads that run what has been submitted.
//!
//! What waits is in a queue of its own; the channel carries invitations to look there, at most one
//! for each thread. So a thread that sleeps holds no lock, and what is first in the queue can change
//! until the moment it is taken. Knows jobs, nothing of what is in one.

use std::cell::Cell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{fmt, io, thread};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use log::warn;

use super::queue::{Place, Queue, Removed, Ticket};

/// Something for a thread to do.
pub(crate) trait Job: Send {
    /// By which it is told to end early.
    fn stop(&self) -> Arc<dyn Stop>;

    fn run(self: Box<Self>);

    /// It was taken, and will not be run.
    fn abandon(self: Box<Self>);

    /// It has not been taken.
    fn refuse(self: Box<Self>, why: &Refusal);
}

/// Tells a job that runs on another thread to end early.
pub(crate) trait Stop: Send + Sync {
    fn stop(&self);
}

/// Why a job was not taken.
#[derive(Debug)]
pub(crate) enum Refusal {
    Busy,
    NoThread(io::Error),
    ShutDown,
}

/// A cheap handle: clones share the threads.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    /// Of the threads, to be followed by a number.
    name: &'static str,
    limits: Limits,
    state: Mutex<State>,
    invitations: Receiver<()>,
    /// Disconnected when the last thread has ended.
    ended: Receiver<Infallible>,
}

/// How much there may be at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) threads: usize,
    /// What is not a guard has so many threads: one fewer, where there are several, so that no
    /// guard waits for it.
    pub(crate) others: usize,
    /// What may wait.
    pub(crate) capacity: usize,
}

struct State {
    queue: Queue<Box<dyn Job>>,
    takes_more: bool,
    threads: usize,
    /// Those beside the threads, see `run_aside`.
    aside: usize,
    busy: usize,
    busy_others: usize,
    /// By the numbers of their tickets.
    running: HashMap<u64, Arc<dyn Stop>>,
    /// Without them the threads end: nothing waits any more, and nothing will.
    invite: Option<Sender<()>>,
    alive: Option<Sender<Infallible>>,
}

thread_local! {
    static ON_POOL: Cell<bool> = const { Cell::new(false) };
}

/// Whether this is a thread of a pool, of any executor: it must not wait for others' turns.
pub(crate) fn on_pool_thread() -> bool {
    ON_POOL.get()
}

impl Pool {
    pub(crate) fn new(name: &'static str, limits: Limits) -> Self {
        let (invite, invitations) = bounded(limits.threads);
        let (alive, ended) = bounded(0);
        Self(Arc::new(Shared {
            name,
            limits,
            invitations,
            ended,
            state: Mutex::new(State {
                queue: Queue::new(),
                takes_more: true,
                threads: 0,
                aside: 0,
                busy: 0,
                busy_others: 0,
                running: HashMap::new(),
                invite: Some(invite),
                alive: Some(alive),
            }),
        }))
    }

    pub(crate) fn threads(&self) -> usize {
        self.0.limits.threads
    }

    /// Never waits; starts a thread where it can be of use. A job that is not taken has been told
    /// so.
    pub(crate) fn submit(&self, place: Place, job: Box<dyn Job>) -> Result<Ticket, Refusal> {
        let mut state = self.lock();
        let refusal = if !state.takes_more {
            Refusal::ShutDown
        } else if state.queue.len() >= self.0.limits.capacity {
            Refusal::Busy
        } else {
            let ticket = state.queue.push(place, job);
            return match self.invite(state) {
                Ok(()) => Ok(ticket),
                Err(error) => self.take_back(ticket, error),
            };
        };
        drop(state);
        job.refuse(&refusal);
        Err(refusal)
    }

    /// There is no thread at all. What another has submitted meanwhile, relying on this one's
    /// thread, has nobody either.
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
        // Without it, it was abandoned by another, and answered.
        let Some(Removed { item: job, .. }) = own else {
            return Ok(ticket);
        };
        job.refuse(&refusal);
        Err(refusal)
    }

    /// Takes out what still waits, whoever it is for: it is answered as cancelled.
    pub(crate) fn withdraw(&self, ticket: Ticket) {
        let Some(Removed { item, holds_lane }) = self.lock().queue.remove(ticket) else {
            return;
        };
        self.leave(ticket.place.lane.filter(|_| holds_lane));
        item.abandon();
    }

    /// Runs, on this thread, what still waits, out of its turn: for a thread of a pool that wants
    /// to wait for it. Whatever it might have to wait for first may wait for this thread.
    pub(crate) fn run_here(&self, ticket: Ticket) {
        let mut state = self.lock();
        let Some(Removed { item, holds_lane }) = state.queue.remove(ticket) else {
            return;
        };
        state.running.insert(ticket.number, item.stop());
        drop(state);
        run_caught(item);
        self.lock().running.remove(&ticket.number);
        self.leave(ticket.place.lane.filter(|_| holds_lane));
    }

    /// The same on a thread of its own, for one that must not wait so long. There are no more such
    /// threads than others; false when none is to be had, and it still waits for its turn.
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

    /// What still waits is done, and nothing more is taken.
    pub(crate) fn take_no_more(&self) {
        let mut state = self.lock();
        state.takes_more = false;
        state.close_when_done();
    }

    /// Whether all threads have ended by then. They do not end before `take_no_more` or `cut`.
    pub(crate) fn wait_for_the_end(&self, deadline: Option<Instant>) -> bool {
        let ended = match deadline {
            Some(deadline) => self.0.ended.recv_deadline(deadline),
            None => self.0.ended.recv().map_err(Into::into),
        };
        ended == Err(RecvTimeoutError::Disconnected)
    }

    /// How many have not ended.
    pub(crate) fn threads_left(&self) -> usize {
        let state = self.lock();
        state.threads + state.aside
    }

    /// Never waits: what runs is told to end, and its threads see to it; what waits is answered.
    pub(crate) fn cut(&self) {
        let mut state = self.lock();
        state.takes_more = false;
        let waiting = state.queue.drain();
        state.close_when_done();
        let running: Vec<_> = state.running.values().cloned().collect();
        drop(state);
        for job in running {
            job.stop();
        }
        for job in waiting {
            job.abandon();
        }
    }

    /// Something that was taken out of its turn has ended: its lane goes on, if it held one and
    /// somebody waits in it.
    fn leave(&self, lane: Option<u64>) {
        let mut state = self.lock();
        let goes_on = lane.is_some_and(|lane| state.queue.leave(lane));
        state.close_when_done();
        if goes_on && let Err(error) = self.invite(state) {
            warn!("hooks wait for a thread: {error}");
        }
    }

    /// Has a thread look at the queue: one more, if all are busy and there may be more. An error
    /// means that there is none at all.
    fn invite(&self, mut state: MutexGuard<'_, State>) -> io::Result<()> {
        let (Some(invite), Some(alive)) = (state.invite.clone(), state.alive.clone()) else {
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
        // Full: every thread that sleeps has one already.
        let _ = invite.try_send(());
        let Err(error) = started else { return Ok(()) };
        let mut state = self.lock();
        state.threads -= 1;
        if state.threads == 0 {
            return Err(error);
        }
        warn!(
            "hooks run on {} threads, not on more: {error}",
            state.threads
        );
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
            let goes_on = self.0.invitations.recv().is_ok();
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
        state.busy_others += usize::from(!ticket.place.guard);
        state.running.insert(ticket.number, job.stop());
        state.close_when_done();
        Some((ticket, job))
    }

    /// The thread that says so looks at the queue again: what is ready by this needs no invitation.
    fn done(&self, ticket: Ticket) {
        let mut state = self.lock();
        state.busy -= 1;
        state.busy_others -= usize::from(!ticket.place.guard);
        state.running.remove(&ticket.number);
        if let Some(lane) = ticket.place.lane {
            state.queue.leave(lane);
        }
    }

    /// A panic while it is held leaves nothing half done.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whenever something may have left the queue for good.
    fn close_when_done(&mut self) {
        if !self.takes_more && self.queue.len() == 0 {
            self.invite = None;
            self.alive = None;
        }
    }
}

/// A panic has been answered by the job itself; the thread goes on.
fn run_caught(job: Box<dyn Job>) {
    let _ = catch_unwind(AssertUnwindSafe(|| job.run()));
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.limits)
    }
}
