//! Kept processes while they have no event. One thread discards what they write to standard error, notices
//! when they end, and ends those that are not needed any more.
//!
//! Knows each process by an opaque key. The thread runs while there is a process to keep.

use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::process::Signal;

use super::resident::{Resident, Watched, wait};

/// The most processes that are kept at once, including busy ones. No other process is started while this
/// many are about to end.
const MOST: usize = 16;

/// A process is ended after this time without an event.
const LONGEST_IDLE: Duration = Duration::from_secs(60);

/// A process that writes more than this to standard error without an event is ended: reading it takes time.
const MOST_IDLE_OUTPUT: usize = 1024 * 1024;

/// The time after its input was closed, and again the time after it got SIGTERM.
const PATIENCE: Duration = Duration::from_millis(250);

/// The hook that a process belongs to.
type Key = u64;

/// Keeps processes. Dropping it ends them, without waiting for their end.
#[derive(Debug, Default)]
pub(crate) struct Keeper(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Signalled when the thread has no process left.
    empty: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The process that has been idle for the longest time comes first.
    idle: VecDeque<Idle>,
    ending: Vec<Ending>,
    /// The number of processes that have an event, or are about to be started for one.
    busy: usize,
    closed: bool,
    /// Wakes the thread. None if no thread runs.
    waker: Option<PipeWriter>,
}

#[derive(Debug)]
struct Idle {
    key: Key,
    process: Resident,
    until: Instant,
    /// Bytes that it has written to standard error.
    written: usize,
}

#[derive(Debug)]
struct Ending {
    process: Resident,
    next: Step,
    at: Instant,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Ask,
    Force,
    Wait,
}

impl Keeper {
    /// Reserves a place for a process that will be started; returns whether it got one. If all are taken, the
    /// process that has been idle for the longest time is ended. [`keep`](Self::keep), [`end`](Self::end) or
    /// [`give_up_place`](Self::give_up_place) gives the place up.
    pub(crate) fn take_place(&self) -> bool {
        let mut state = self.0.lock();
        if state.closed || state.ending.len() >= MOST {
            return false;
        }
        if state.busy + state.idle.len() >= MOST {
            let Some(longest) = state.idle.pop_front() else {
                return false;
            };
            state.begin_to_end(longest.process);
            self.0.run_thread(&mut state);
        }
        state.busy += 1;
        true
    }

    pub(crate) fn give_up_place(&self) {
        let mut state = self.0.lock();
        state.busy = state.busy.saturating_sub(1);
    }

    /// Takes the idle process of this key, together with its place.
    pub(crate) fn take(&self, key: Key) -> Option<Resident> {
        let mut state = self.0.lock();
        let at = state.idle.iter().position(|idle| idle.key == key)?;
        let idle = state.idle.remove(at)?;
        state.busy += 1;
        Some(idle.process)
    }

    /// Whether an idle process is kept for this key.
    pub(crate) fn has(&self, key: Key) -> bool {
        self.0.lock().idle.iter().any(|idle| idle.key == key)
    }

    /// Keeps a process until its next event.
    pub(crate) fn keep(&self, key: Key, process: Resident) {
        let mut state = self.0.lock();
        state.busy = state.busy.saturating_sub(1);
        if state.closed {
            state.begin_to_end(process);
        } else {
            state.idle.push_back(Idle {
                key,
                process,
                until: Instant::now() + LONGEST_IDLE,
                written: 0,
            });
        }
        self.0.run_thread(&mut state);
    }

    /// Ends a process that has answered and must not be used again.
    pub(crate) fn end(&self, process: Resident) {
        let mut state = self.0.lock();
        state.busy = state.busy.saturating_sub(1);
        state.begin_to_end(process);
        self.0.run_thread(&mut state);
    }

    /// Kills a process that may still be working on an event.
    pub(crate) fn cut(&self, process: Resident) {
        let mut state = self.0.lock();
        state.busy = state.busy.saturating_sub(1);
        if process.is_reaped() {
            return;
        }
        state.begin_to_end(process);
        if let Some(ending) = state.ending.last_mut() {
            ending.next = Step::Force;
            ending.step(Instant::now());
        }
        self.0.run_thread(&mut state);
    }

    /// Ends the idle processes of the keys for which `is_meant` is true.
    pub(crate) fn end_where(&self, is_meant: impl Fn(Key) -> bool) {
        let mut state = self.0.lock();
        state.end_where(|idle| is_meant(idle.key));
        self.0.run_thread(&mut state);
    }

    /// Ends all idle processes, and keeps no more.
    pub(crate) fn close(&self) {
        let mut state = self.0.lock();
        state.closed = true;
        state.end_where(|_| true);
        self.0.run_thread(&mut state);
    }

    /// Waits until no process is left, except those with an event, for at most `longest`.
    pub(crate) fn wait_until_empty(&self, longest: Duration) {
        let state = self.0.lock();
        let is_left = |state: &mut State| !state.is_empty();
        drop(self.0.empty.wait_timeout_while(state, longest, is_left));
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the thread, or starts it if none runs. If no thread can be started, all kept processes are killed
    /// at once.
    fn run_thread(self: &Arc<Self>, state: &mut State) {
        if let Some(waker) = &mut state.waker {
            // If the pipe is full, the thread wakes as well.
            let _ = waker.write(&[0]);
            return;
        }
        if state.is_empty() {
            return;
        }
        match self.start_thread() {
            Ok(waker) => state.waker = Some(waker),
            // Dropping a process kills it.
            Err(_) => {
                state.idle.clear();
                state.ending.clear();
            }
        }
    }

    fn start_thread(self: &Arc<Self>) -> io::Result<PipeWriter> {
        let (reader, writer) = io::pipe()?;
        for fd in [reader.as_fd(), writer.as_fd()] {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        let shared = Arc::clone(self);
        std::thread::Builder::new()
            .name("forge-hooks-keeper".into())
            .spawn(move || shared.keep_until_empty(reader))?;
        Ok(writer)
    }

    fn keep_until_empty(&self, mut reader: PipeReader) {
        let mut buffer = [0; 64];
        loop {
            let watched = {
                let mut state = self.lock();
                state.turn(Instant::now());
                if state.is_empty() {
                    state.waker = None;
                    self.empty.notify_all();
                    return;
                }
                state.watched()
            };
            let sources = watched.processes.iter().flat_map(Watched::descriptors);
            let sources = sources.chain([reader.as_fd()]);
            wait(sources.map(|fd| (fd, PollFlags::IN)), watched.longest);
            while matches!(reader.read(&mut buffer), Ok(count) if count == buffer.len()) {}
        }
    }
}

/// The descriptors and the time that the thread waits for.
struct Turn {
    processes: Vec<Watched>,
    longest: Option<Duration>,
}

impl State {
    fn is_empty(&self) -> bool {
        self.idle.is_empty() && self.ending.is_empty()
    }

    fn begin_to_end(&mut self, mut process: Resident) {
        process.close_input();
        self.ending.push(Ending {
            process,
            next: Step::Ask,
            at: Instant::now() + PATIENCE,
        });
    }

    fn end_where(&mut self, is_meant: impl Fn(&Idle) -> bool) {
        for idle in std::mem::take(&mut self.idle) {
            if is_meant(&idle) {
                self.begin_to_end(idle.process);
            } else {
                self.idle.push_back(idle);
            }
        }
    }

    /// Does everything that is due at this time.
    fn turn(&mut self, now: Instant) {
        for idle in &mut self.idle {
            idle.written += idle.process.discard_stderr();
        }
        self.end_where(|idle| {
            idle.until <= now || idle.written > MOST_IDLE_OUTPUT || idle.process.has_ended()
        });
        for mut ending in std::mem::take(&mut self.ending) {
            ending.process.discard_stderr();
            if ending.process.has_ended() {
                ending.process.reap();
                continue;
            }
            if ending.at <= now {
                ending.step(now);
            }
            self.ending.push(ending);
        }
    }

    fn watched(&self) -> Turn {
        let idle = self.idle.iter().map(|idle| (&idle.process, idle.until));
        let ending = self.ending.iter().map(|it| (&it.process, it.at));
        let all: Vec<_> = idle.chain(ending).collect();
        let processes: Vec<_> = all.iter().map(|(process, _)| process.watched()).collect();
        let next = all.iter().map(|(_, at)| *at).min();
        let until = next.map(|at| at.saturating_duration_since(Instant::now()));
        let looks = processes.iter().filter_map(Watched::interval).min();
        Turn {
            processes,
            longest: [until, looks].into_iter().flatten().min(),
        }
    }
}

impl Ending {
    fn step(&mut self, now: Instant) {
        self.at = now + PATIENCE;
        self.next = match self.next {
            Step::Ask => {
                self.process.signal(Signal::TERM);
                self.process.signal(Signal::CONT);
                Step::Force
            }
            Step::Force | Step::Wait => {
                self.process.signal(Signal::KILL);
                Step::Wait
            }
        };
    }
}
