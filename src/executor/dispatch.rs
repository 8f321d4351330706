//! The hooks of one event, in order, each on the event as the hooks before it have left it.
//!
//! If a hook has changed the input, every hook before the last one that did runs again, on the final input. There it may block; if
//! it changes the input again, it blocks. Does not know the thread on which it runs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::chain::Chain;
use super::core::{Core, Job, Submitted};
use super::options::{Background, FireOptions};
use super::order::replaces;
use super::token::Run;
use crate::events::{EventType, HookEvent, InputChange};
use crate::hook::{Compared, Hook};
use crate::outcome::HookResult;
use crate::pool::Priority;
use crate::runner::{DropReason, Firing};

/// One event while its hooks run.
pub(super) struct Dispatch<'a> {
    core: &'a Arc<Core>,
    /// The hooks whose pattern matches, in the order of `HookExecutor::hooks_for`.
    hooks: &'a [Arc<Hook>],
    options: &'a FireOptions,
    firing: Firing,
    chain: Chain,
    /// The hooks that have run or will start, by their index.
    turns: BTreeMap<usize, Turn>,
    /// The index of the last hook that has changed the input.
    changed_by: Option<usize>,
    /// The number of changes of the input.
    changes: usize,
    send: &'a mut dyn FnMut(HookResult),
}

/// A hook that matched in its turn.
struct Turn {
    hook: Arc<Hook>,
    /// The number of changes of the input before it.
    changes: usize,
    end: End,
}

/// The step that is left for a hook.
enum End {
    /// A background hook starts, with the event of its turn if the event is blocked.
    Start(Arc<HookEvent>),
    Send(Box<HookResult>),
    Nothing,
}

impl<'a> Dispatch<'a> {
    /// Prepares an event. The result of a hook is sent as soon as it is final.
    pub(super) fn new(
        core: &'a Arc<Core>,
        firing: Firing,
        hooks: &'a [Arc<Hook>],
        options: &'a FireOptions,
        send: &'a mut dyn FnMut(HookResult),
    ) -> Self {
        Self {
            core,
            hooks,
            options,
            chain: Chain::new(options, firing.can_block),
            firing,
            turns: BTreeMap::new(),
            changed_by: None,
            changes: 0,
            send,
        }
    }

    /// Runs the hooks from this index on. Returns the change of the input, if hooks have changed it. After a cancellation, every
    /// hook that has not run gets a result that says so.
    pub(super) fn run(mut self, first: usize) -> Option<Arc<InputChange>> {
        self.run_hooks(first..self.hooks.len());
        if let Some(last) = self.changed_by
            && !self.chain.is_blocked()
        {
            self.chain = Chain::new(self.options, self.firing.can_block);
            self.firing.is_second_run = true;
            self.run_hooks(0..last);
        }
        self.end()
    }

    fn run_hooks(&mut self, mut range: Range<usize>) {
        let (core, hooks) = (Arc::clone(self.core), self.hooks);
        while !range.is_empty() {
            let event = Arc::clone(&self.firing.event);
            let at = Compared::new(&event, core.runner.working_dir.as_deref(), hooks);
            let changes = |index: &usize| self.turn(&at, *index);
            let changed = range.clone().find(changes);
            range.start = changed.map_or(range.end, |index| index + 1);
        }
    }

    /// Runs a hook if it matches the event as it is now. Returns whether it has changed the event.
    fn turn(&mut self, at: &Compared<'_>, index: usize) -> bool {
        let hook = &self.hooks[index];
        if self.chain.keeps_back(hook).is_some() && !self.firing.is_cancelled() {
            return false;
        }
        // The result of an earlier run is void.
        self.turns.remove(&index);
        // An identical hook does the same only on the same input.
        let is_replaced = || {
            let mut others = self.turns.values();
            let does_it = |turn: &Turn| turn.changes == self.changes && replaces(&turn.hook, hook);
            hook.identity().is_some() && others.any(does_it)
        };
        if !hook.is_when_met(at, self.firing.can_block) || is_replaced() {
            return false;
        }
        let hook = hook.restricted_for(at);
        let changes = self.changes;
        if hook.background() {
            let end = End::Start(Arc::clone(&self.firing.event));
            self.turns.insert(index, Turn { hook, changes, end });
            return false;
        }
        let result = self.core.runner.run_unless_cancelled(&self.firing, &hook);
        let (result, changed) = match self.changed(&result) {
            Ok(changed) => (result, changed),
            Err(why) => (result.blocking(why), None),
        };
        let stops = result.stops_others(self.firing.can_block);
        self.chain.note(&hook, stops, result.stops_the_chain());
        let end = self.keep(result);
        self.turns.insert(index, Turn { hook, changes, end });
        let Some(changed) = changed else {
            return false;
        };
        if self.firing.applies_input {
            self.changed_by = Some(index);
            self.changes += 1;
        }
        self.firing.set_event(Arc::new(changed));
        true
    }

    /// Sends a result that is final. Returns any other one: its hook may run again.
    fn keep(&mut self, result: HookResult) -> End {
        if self.firing.applies_input {
            return End::Send(Box::new(result));
        }
        (self.send)(result);
        End::Nothing
    }

    /// Returns the event with the change of a hook, if it has changed it.
    ///
    /// # Errors
    /// If the change is one that cannot be made.
    fn changed(&self, result: &HookResult) -> Result<Option<HookEvent>, String> {
        let event = &self.firing.event;
        if event.event_type == EventType::ToolPostExecute {
            let output = result.output_after();
            let changed = |output| HookEvent::clone(event).with_data("tool_result", output);
            return Ok(output.map(changed));
        }
        if !self.firing.applies_input || result.stops_the_chain() {
            return Ok(None);
        }
        let Some((updates, replaces)) = result.new_input() else {
            return Ok(None);
        };
        let changed = event.with_input(updates, replaces)?;
        match (&changed, self.changed_by) {
            (Some(_), Some(last)) if self.firing.is_second_run => {
                Err(again(result, &self.hooks[last]))
            }
            _ => Ok(changed),
        }
    }

    /// Sends the results that are left, and starts the background hooks, each once: with the final event, unless a hook blocks it.
    fn end(self) -> Option<Arc<InputChange>> {
        let is_blocked = self.chain.is_blocked();
        let mut firing = self.firing;
        let last = Arc::clone(&firing.event);
        let starts = self.options.background == Background::Start;
        for turn in self.turns.into_values() {
            match turn.end {
                End::Send(result) => (self.send)(*result),
                End::Start(own) if starts => {
                    firing.event = if is_blocked { own } else { Arc::clone(&last) };
                    start(self.core, &firing, &turn.hook);
                }
                End::Start(_) | End::Nothing => {}
            }
        }
        self.changed_by?;
        let change = firing.fired.change_to(HookEvent::clone(&last));
        Some(Arc::new(change))
    }
}

/// Returns the reason for which a hook blocks that changes the input in the second run.
fn again(result: &HookResult, last: &Hook) -> String {
    let (hook, last) = (result.hook().shown_label(), last.shown_label());
    format!(
        "hook `{hook}` changes the input again after hook `{last}` has changed it: put `{hook}` behind `{last}`, or let one hook make \
         both changes"
    )
}

/// Starts a background hook. Its result has no effect, since it cannot block.
fn start(core: &Arc<Core>, firing: &Firing, hook: &Arc<Hook>) {
    if firing.is_cancelled() {
        return core.runner.drop_run(firing, hook, DropReason::Cancelled);
    }
    let run = Run::new([core.in_background.clone()]);
    let event = Arc::clone(&firing.event);
    let mut job = Submitted::now(core, event, Arc::clone(&run));
    job.fired = Arc::clone(&firing.fired);
    let priority = Priority {
        guard: false,
        ordering_key: None,
    };
    let job = Job::Background(Box::new(job), Arc::clone(hook));
    // The job reports a hook that is not accepted.
    if let Ok(waiting) = job.submit(core, priority) {
        run.waits_in(waiting);
    }
}
