//! Locks, conditions and threads, in one place so that tests can run them under a scheduler of their own.
//!
//! Every lock here is a leaf: a thread that holds one takes no other, and runs no code of the host. A debug build panics if
//! a thread takes a second one. A panic while a lock is held leaves its value consistent.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;
use std::time::Duration;

#[cfg(not(forge_hooks_shuttle))]
use std::sync as locks;
#[cfg(not(forge_hooks_shuttle))]
pub(crate) use std::{thread, thread_local};

// `shuttle` has no clock: a wait with a limit waits until it is woken.
#[cfg(forge_hooks_shuttle)]
use shuttle::sync as locks;
#[cfg(forge_hooks_shuttle)]
pub(crate) use shuttle::{thread, thread_local};

pub(crate) use locks::atomic::{AtomicBool, Ordering};

thread_local! {
    static HOLDS_ONE: Cell<bool> = const { Cell::new(false) };
}

#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(locks::Mutex<T>);

#[derive(Debug, Default)]
pub(crate) struct Condvar(locks::Condvar);

pub(crate) struct Guard<'a, T> {
    value: locks::MutexGuard<'a, T>,
    only: Only,
}

/// The one lock that this thread holds.
struct Only;

impl Only {
    fn new() -> Self {
        if cfg!(debug_assertions) {
            let holds_one = HOLDS_ONE.with(|holds_one| holds_one.replace(true));
            assert!(!holds_one, "a thread takes a second lock");
        }
        Self
    }
}

impl Drop for Only {
    fn drop(&mut self) {
        if cfg!(debug_assertions) {
            HOLDS_ONE.with(|holds_one| holds_one.set(false));
        }
    }
}

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(locks::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> Guard<'_, T> {
        let only = Only::new();
        let value = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Guard { value, only }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl Condvar {
    /// Waits as long as the condition holds.
    pub(crate) fn wait_while<'a, T>(
        &self,
        guard: Guard<'a, T>,
        condition: impl FnMut(&mut T) -> bool,
    ) -> Guard<'a, T> {
        let Guard { value, only } = guard;
        let value = self.0.wait_while(value, condition);
        let value = value.unwrap_or_else(PoisonError::into_inner);
        Guard { value, only }
    }

    /// Waits as long as the condition holds, at most this time.
    pub(crate) fn wait_timeout_while<'a, T>(
        &self,
        guard: Guard<'a, T>,
        time: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> Guard<'a, T> {
        let Guard { value, only } = guard;
        let waited = self.0.wait_timeout_while(value, time, condition);
        let (value, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Guard { value, only }
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    #[should_panic = "a thread takes a second lock"]
    fn a_second_lock_is_a_panic() {
        let (one, other) = (Mutex::new(1), Mutex::new(2));
        drop(one.lock());
        let _held = one.lock();
        let _ = other.lock();
    }
}
