//! The fires of `serve` that have no response yet: their hooks, the second pass, cancelling.
//!
//! The thread that ran the last hook responds: the end of an event wakes it here, as it would wake a task that awaits
//! the event. Nothing here waits.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use super::message::{ENDING, FAILED, Id, OfHook, QUEUE_FULL, Refusal};
use super::outbox::{Outbox, not_read};
use crate::cli::cases::changed_by;
use crate::cli::fire::Report;
use crate::{
    CancelToken, FireOptions, HookEvent, HookExecutor, HookHandle, HookResult, HookRun, Observer,
    Outcome, SubmitError,
};

/// How often the end of all fires is looked for.
const TICK: Duration = Duration::from_millis(2);

/// The most bytes of requests that have no response yet.
const MOST_OPEN: usize = 64 * 1024 * 1024;

/// The open fires, as an observer of their hooks.
pub(super) struct Open {
    fires: Mutex<HashMap<Id, OpenFire>>,
    pub(super) outbox: Outbox,
    pub(super) notifies: AtomicBool,
}

struct OpenFire {
    /// The bytes of its request.
    size: usize,
    /// The event whose hooks run: the observer receives this very one.
    event: Arc<HookEvent>,
    /// Cancels the hooks that run.
    cancel: Option<CancelToken>,
    is_cancelled: bool,
    /// The pass that runs, until its end.
    running: Option<(HookHandle, Pass)>,
    /// The hooks had ended before their pass was kept.
    has_ended: bool,
}

impl Open {
    pub(super) fn new(outbox: Outbox) -> Self {
        Self {
            fires: Mutex::default(),
            outbox,
            notifies: AtomicBool::new(false),
        }
    }

    pub(super) fn has(&self, id: &Id) -> bool {
        self.fires().contains_key(id)
    }

    /// Cancels a fire. One that has its response is not affected.
    pub(super) fn cancel(&self, id: &Id) {
        let token = self.fires().get_mut(id).and_then(|fire| {
            fire.is_cancelled = true;
            fire.cancel.take()
        });
        if let Some(token) = token {
            token.cancel();
        }
    }

    fn add(&self, id: &Id, event: &Arc<HookEvent>, size: usize) -> Result<(), Refusal> {
        let mut fires = self.fires();
        let open: usize = fires.values().map(|fire| fire.size).sum();
        if open + size > MOST_OPEN {
            return Err(queue_full());
        }
        let fire = OpenFire {
            size,
            event: Arc::clone(event),
            cancel: None,
            is_cancelled: false,
            running: None,
            has_ended: false,
        };
        fires.insert(id.clone(), fire);
        Ok(())
    }

    /// Begins the second pass, unless the fire was cancelled.
    fn continues_with(&self, id: &Id, changed: &Arc<HookEvent>) -> bool {
        let mut fires = self.fires();
        let fire = fires.get_mut(id).filter(|fire| !fire.is_cancelled);
        fire.map(|fire| fire.event = Arc::clone(changed)).is_some()
    }

    /// Makes a pass cancellable. Makes up for an earlier cancel.
    fn begin(&self, id: &Id, token: CancelToken) {
        let mut fires = self.fires();
        let fire = fires.get_mut(id).filter(|fire| !fire.is_cancelled);
        if let Some(fire) = fire {
            fire.cancel = Some(token);
        } else {
            drop(fires);
            token.cancel();
        }
    }

    /// Keeps a pass until its hooks have ended, and returns it if they have.
    fn keep(&self, handle: HookHandle, pass: Pass) -> Option<(HookHandle, Pass)> {
        let mut fires = self.fires();
        let Some(fire) = fires.get_mut(&pass.id) else {
            // Not reached: a fire without a response is in the map.
            return None;
        };
        if std::mem::take(&mut fire.has_ended) {
            return Some((handle, pass));
        }
        fire.running = Some((handle, pass));
        None
    }

    /// Takes the pass whose hooks have ended, if it is kept already.
    fn take(&self, id: &Id) -> Option<(HookHandle, Pass)> {
        let mut fires = self.fires();
        let fire = fires.get_mut(id)?;
        let running = fire.running.take();
        fire.has_ended = running.is_none();
        running
    }

    /// Waits until each fire has its response, at most until the deadline.
    pub(super) fn wait_for_responses(&self, deadline: Duration) {
        let begun = Instant::now();
        while !self.fires().is_empty() && begun.elapsed() < deadline {
            thread::sleep(TICK);
        }
    }

    fn remove(&self, id: &Id) {
        self.fires().remove(id);
    }

    fn notify(&self, method: &'static str, run: &HookRun<'_>) {
        if !self.notifies.load(Ordering::Relaxed) {
            return;
        }
        let is_it = |fire: &OpenFire| std::ptr::eq(&raw const *fire.event, run.event);
        let fires = self.fires();
        let id = fires.iter().find(|(_, fire)| is_it(fire));
        let id = id.map(|(id, _)| id.clone());
        drop(fires);
        let hook = run.hook.label();
        self.outbox.notify(method, OfHook { id, hook });
    }

    fn fires(&self) -> MutexGuard<'_, HashMap<Id, OpenFire>> {
        self.fires.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Open {
    fn on_start(&self, run: &HookRun<'_>) {
        self.notify("hook/started", run);
    }

    fn on_finish(&self, run: &HookRun<'_>, _: &HookResult) {
        self.notify("hook/finished", run);
    }
}

/// Fires events, and responds when their hooks have ended.
#[derive(Clone)]
pub(super) struct Fires {
    pub(super) open: Arc<Open>,
    pub(super) executor: HookExecutor,
}

/// Is woken at the end of a pass, by the thread that ran its last hook or cancelled it.
struct Ended {
    id: Id,
    fires: Fires,
}

impl Wake for Ended {
    fn wake(self: Arc<Self>) {
        if let Some((handle, pass)) = self.fires.open.take(&self.id) {
            self.fires.ended(pass, handle.wait());
        }
    }
}

/// An event on its way, of the first pass or of the second.
struct Pass {
    id: Id,
    event: Arc<HookEvent>,
    options: FireOptions,
    first: Option<(Arc<HookEvent>, Outcome)>,
}

impl Fires {
    /// Fires an event. `size` is that of its request.
    pub(super) fn fire(
        &self,
        id: &Id,
        event: HookEvent,
        options: FireOptions,
        size: usize,
    ) -> Result<(), Refusal> {
        if self.open.outbox.is_full() {
            return Err(not_read());
        }
        let event = Arc::new(event);
        self.open.add(id, &event, size)?;
        self.submit(Pass {
            id: id.clone(),
            event,
            options,
            first: None,
        });
        Ok(())
    }

    fn submit(&self, pass: Pass) {
        let submitted = self.executor.submit(Arc::clone(&pass.event), pass.options);
        let mut handle = match submitted {
            Ok(handle) => handle,
            Err(error) => {
                self.open.remove(&pass.id);
                return self.open.outbox.refuse(Some(&pass.id), error.into());
            }
        };
        self.open.begin(&pass.id, handle.cancel_token());
        let (id, fires) = (pass.id.clone(), self.clone());
        let waker = Waker::from(Arc::new(Ended { id, fires }));
        // On a thread of the pool, this runs the hooks.
        let polled = Pin::new(&mut handle).poll(&mut Context::from_waker(&waker));
        if let Poll::Ready(outcome) = polled {
            self.ended(pass, outcome);
        } else if let Some((handle, pass)) = self.open.keep(handle, pass) {
            self.ended(pass, handle.wait());
        }
    }

    /// Responds, or fires the event once more, with the changes of the hooks.
    fn ended(&self, pass: Pass, outcome: Outcome) {
        if pass.first.is_none()
            && let Some(changed) = changed_by(&pass.event, &outcome).map(Arc::new)
            && self.open.continues_with(&pass.id, &changed)
        {
            return self.submit(Pass {
                id: pass.id,
                event: changed,
                options: pass.options.without_background(),
                first: Some((pass.event, outcome)),
            });
        }
        let last = Report::new(&pass.event, &outcome);
        let report = match &pass.first {
            Some((event, outcome)) => Report::new(event, outcome).with_again(last),
            None => last,
        };
        // The host may use the id again as soon as it has the response.
        let outbox = &self.open.outbox;
        outbox.respond_after(&pass.id, report, || self.open.remove(&pass.id));
    }
}

impl From<SubmitError> for Refusal {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Busy(_) => queue_full(),
            SubmitError::ShutDown(_) => is_ending(),
            SubmitError::NoThread(..) => Self::new(FAILED, error.to_string()),
        }
    }
}

fn queue_full() -> Refusal {
    Refusal::new(QUEUE_FULL, "too many fires are waiting")
}

pub(super) fn is_ending() -> Refusal {
    Refusal::new(ENDING, "`shutdown` was called")
}
