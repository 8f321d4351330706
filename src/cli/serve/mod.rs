//! `serve`: the engine as a child process of a host in any language, which speaks JSON-RPC 2.0, one message a line.
//!
//! One thread reads, the executor's threads run hooks and respond, one writes what the host does not read at once. This
//! file is one more: it waits for the end, and ends the hooks.

mod fires;
pub(crate) mod message;
mod outbox;
mod requests;
mod vocabulary;

use std::io::BufReader;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::cli::context::Context;
use crate::cli::error::{Ended, Failure};
use crate::cli::io::streams;
use crate::cli::terminal::Terminal;
use crate::{HookExecutor, Hooks, LoadReport};
use fires::{Fires, Open};
use message::Id;
use outbox::Outbox;
use requests::{Requests, Signal};
pub(crate) use vocabulary::declare;

/// How often a signal, the death of the host and a changed report are looked for.
const TICK: Duration = Duration::from_millis(50);

/// How long the last responses may take to be written. With the time to end the hooks, less than a second.
const LAST_WRITES: Duration = Duration::from_millis(400);

pub(crate) fn run(context: &Context<'_>, terminal: &mut Terminal<'_>) -> Result<Ended, Failure> {
    if !terminal.is_system() {
        let words = "`serve` needs the standard input and output of the process";
        return Err(Failure::new(words));
    }
    let parent = parent();
    // From here on a signal ends the hooks, not only this program.
    let _ = terminal.interrupted();
    let hooks = context.load()?;
    let (control, heard) = unbounded();
    let closed = control.clone();
    let (input, output) = streams()
        .map_err(|error| Failure::new(format!("cannot use the standard streams: {error}")))?;
    let (outbox, lines) = Outbox::new(output);
    start(move || {
        lines.write();
        // Without a receiver, the program is about to end.
        let _ = closed.send(Signal::OutputClosed);
    })?;
    let open = Arc::new(Open::new(outbox));
    let executor = HookExecutor::builder()
        .registry(Arc::clone(hooks.registry()))
        .observer(Arc::clone(&open));
    let executor = context.executor(&hooks, executor);
    let fires = Fires { open, executor };
    let requests = Requests {
        hooks: hooks.clone(),
        fires: fires.clone(),
        control: control.clone(),
        is_initialized: false,
        ending: None,
    };
    start(move || requests.read(BufReader::new(input)))?;
    let serving = Serving {
        hooks,
        fires,
        control,
        heard,
        parent,
    };
    let ended = serving.wait(terminal);
    let _ = serving.fires.executor.shutdown(Duration::ZERO);
    serving.fires.open.wait_for_responses(LAST_WRITES / 2);
    serving.fires.open.outbox.flush(LAST_WRITES / 2);
    ended
}

/// A server that runs.
struct Serving {
    hooks: Hooks,
    fires: Fires,
    control: Sender<Signal>,
    heard: Receiver<Signal>,
    /// The process that started this one.
    parent: u32,
}

impl Serving {
    /// Waits for the end.
    fn wait(&self, terminal: &mut Terminal<'_>) -> Result<Ended, Failure> {
        let mut report = self.hooks.report();
        let outbox = &self.fires.open.outbox;
        let mut last_reads = None;
        loop {
            match self.heard.recv_timeout(TICK) {
                Ok(Signal::Shutdown(id, deadline)) => self.drain(id, deadline)?,
                Ok(Signal::Drained(id, until)) => {
                    outbox.respond(&id, ());
                    last_reads = Some(until);
                }
                Ok(Signal::InputEnded | Signal::OutputClosed) => return Ok(Ended::Fine),
                Err(_) => {}
            }
            if let Some(status) = terminal.interrupted() {
                return Ok(Ended::Interrupted(status));
            }
            let is_read = |until| outbox.is_empty() || Instant::now() >= until;
            if last_reads.is_some_and(is_read) || parent() != self.parent {
                return Ok(Ended::Fine);
            }
            if outbox.is_flooded() {
                return Err(Failure::new("the host does not read its responses"));
            }
            self.tell_of(&mut report);
        }
    }

    /// Lets the hooks end until the deadline, on another thread, since this one must see the death of the host.
    fn drain(&self, id: Id, deadline: Duration) -> Result<(), Failure> {
        let (fires, control) = (self.fires.clone(), self.control.clone());
        let until = Instant::now() + deadline + LAST_WRITES;
        start(move || {
            let _ = fires.executor.shutdown(deadline);
            fires.open.wait_for_responses(LAST_WRITES);
            let _ = control.send(Signal::Drained(id, until));
        })
    }

    fn tell_of(&self, known: &mut Arc<LoadReport>) {
        let report = self.hooks.report();
        if !Arc::ptr_eq(&report, known) {
            *known = report;
            if self.fires.open.notifies.load(Ordering::Relaxed) {
                self.fires.open.outbox.notify("report/changed", &**known);
            }
        }
    }
}

fn start(work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let thread = thread::Builder::new().name("forge-hooks serve".to_owned());
    let started = thread.spawn(work).map(drop);
    started.map_err(|error| Failure::new(format!("cannot start a thread: {error}")))
}

/// Returns the id of the process that started this one. When that ends, it is another one.
#[cfg(unix)]
fn parent() -> u32 {
    std::os::unix::process::parent_id()
}

/// There, only the end of the input says so.
#[cfg(not(unix))]
fn parent() -> u32 {
    0
}
