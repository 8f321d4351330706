//! Awaiting a submitted event: without a runtime, with a small one, and what its waker may do.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};

use forge_hooks::{HookHandle, Outcome};
use pollster::block_on;

use crate::support::{PATIENCE, World, blocking_event, eventually, meets};

fn poll(handle: &mut HookHandle, waker: &Waker) -> Poll<Outcome> {
    pin!(handle).poll(&mut Context::from_waker(waker))
}

#[test]
fn awaiting_gives_the_outcome() {
    let world = World::running(["echo 1", "exit 3", "echo never"]);
    let outcome = block_on(world.submit(blocking_event()));
    assert_eq!(outcome.results().len(), 2);
    assert!(!outcome.allowed());
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn the_waker_of_the_last_poll_is_called() {
    let world = World::running([&*meets("runs", "go")]);
    let mut handle = world.submit(blocking_event());
    let counts = [Arc::<Count>::default(), Arc::default()];
    for count in &counts {
        let waker = Waker::from(Arc::clone(count));
        assert!(poll(&mut handle, &waker).is_pending());
    }
    world.write("go", "");
    eventually("it is woken", || counts[1].0.load(Ordering::SeqCst) > 0);
    assert_eq!(counts[0].0.load(Ordering::SeqCst), 0);
    assert!(poll(&mut handle, Waker::noop()).is_ready());
    // The thread that wakes drops its own last, after the count.
    eventually("it is not kept", || Arc::strong_count(&counts[1]) == 1);
}

/// Polls its future as soon as it is woken, on the thread that wakes it.
struct Eager {
    handle: Mutex<Option<HookHandle>>,
    outcome: mpsc::Sender<Outcome>,
}

impl Wake for Eager {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        let mut handle = self.handle.lock().unwrap();
        if let Poll::Ready(outcome) = poll(handle.as_mut().unwrap(), &waker) {
            *handle = None;
            self.outcome.send(outcome).unwrap();
        }
    }
}

#[test]
fn a_waker_may_poll_and_drop_the_handle() {
    let world = World::running([&*meets("runs", "go")]);
    let (outcome, outcomes) = mpsc::channel();
    let handle = Mutex::new(Some(world.submit(blocking_event())));
    Arc::new(Eager { handle, outcome }).wake();
    world.await_file("runs");
    world.write("go", "");
    let outcome = outcomes.recv_timeout(PATIENCE).unwrap();
    assert!(outcome.results()[0].success());
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker of a test");
    }
}

#[test]
fn a_waker_that_panics_does_no_harm() {
    let world = World::running([&*meets("runs", "go")]);
    let mut handle = world.submit(blocking_event());
    assert!(poll(&mut handle, &Waker::from(Arc::new(Panics))).is_pending());
    world.write("go", "");
    assert!(handle.wait().results()[0].success());
    assert!(block_on(world.submit(blocking_event())).allowed());
}

#[test]
fn polling_again_is_no_yes() {
    for (command, allowed) in [("exit 1", false), ("exit 0", true)] {
        let world = World::running([command]);
        let mut handle = world.submit(blocking_event());
        eventually("it has ended", || handle.is_finished());
        for count in [1, usize::from(!allowed)] {
            let Poll::Ready(outcome) = poll(&mut handle, Waker::noop()) else {
                panic!("it has ended");
            };
            assert_eq!(outcome.allowed(), allowed, "{command}");
            assert_eq!(outcome.results().len(), count, "{command}");
        }
    }
}
