//! The stages of an event: hooks that run one after the other, then hooks that run in parallel.
//!
//! The dispatch runs the stages, and `explain` walks them: both ask a stage whether it is reached and where it ends. Knows
//! no standing and no result.

use std::sync::Arc;

use super::options::{Background, FireOptions};
use crate::events::HookEvent;
use crate::hook::Hook;

/// The stages of one event, in order.
#[derive(Debug)]
pub(super) struct Plan {
    /// The first stage.
    pub(super) in_turn: Stage,
    /// The other stages.
    pub(super) at_once: Vec<Stage>,
}

#[derive(Debug)]
pub(super) struct Stage {
    pub(super) hooks: Vec<Arc<Hook>>,
    order: StageOrder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StageOrder {
    /// The hooks run one after the other. `stops`: a hook may keep those after it from running.
    InTurn { stops: bool },
    /// The hooks run in parallel, because the caller has set that option.
    AtOnce,
    /// The hooks are a group of another agent, and run in parallel.
    Group,
}

impl Plan {
    /// Creates the stages of hooks that are in the order of `HookExecutor::hooks_for`.
    pub(super) fn new(event: &HookEvent, mut hooks: Vec<Arc<Hook>>, options: &FireOptions) -> Self {
        if options.background == Background::Skip {
            hooks.retain(|hook| !hook.background());
        }
        let groups = hooks.split_off(hooks.partition_point(|hook| hook.group().is_none()));
        let in_turn = if options.parallel {
            hooks.partition_point(|hook| hook.redacts(&event.event_type))
        } else {
            hooks.len()
        };
        let parallel = hooks.split_off(in_turn);
        let mut at_once = Vec::new();
        if !parallel.is_empty() {
            at_once.push(Stage::new(parallel, StageOrder::AtOnce));
        }
        let groups = groups.chunk_by(|one, other| one.group() == other.group());
        at_once.extend(groups.map(|group| Stage::new(group.to_vec(), StageOrder::Group)));
        let stops = options.stops_own();
        Self {
            in_turn: Stage::new(hooks, StageOrder::InTurn { stops }),
            at_once,
        }
    }

    /// Returns the hooks in order, each with the hook that keeps it from running, if there is one. `stops` returns for a
    /// hook that runs, by its index among all hooks, whether it stops others. On an event that can be blocked, it then
    /// blocks.
    #[cfg(feature = "cli")]
    pub(super) fn walk(
        &self,
        can_block: bool,
        stops: impl Fn(usize) -> bool,
    ) -> Vec<(Arc<Hook>, Option<Arc<Hook>>)> {
        let mut hooks = Vec::new();
        let mut blocked_by: Option<Arc<Hook>> = None;
        for stage in std::iter::once(&self.in_turn).chain(&self.at_once) {
            let mut stopped_by = if stage.is_reached(blocked_by.is_some()) {
                None
            } else {
                blocked_by.clone()
            };
            for hook in &stage.hooks {
                let stops = stopped_by.is_none() && stops(hooks.len());
                hooks.push((Arc::clone(hook), stopped_by.clone()));
                if stops && can_block {
                    blocked_by.get_or_insert_with(|| Arc::clone(hook));
                }
                if stage.ends_after(stops) {
                    stopped_by = Some(Arc::clone(hook));
                }
            }
        }
        hooks
    }
}

impl Stage {
    fn new(hooks: Vec<Arc<Hook>>, order: StageOrder) -> Self {
        Self { hooks, order }
    }

    pub(super) fn is_group(&self) -> bool {
        self.order == StageOrder::Group
    }

    /// Returns whether the stage runs. `is_blocked`: an earlier hook has blocked the event.
    pub(super) fn is_reached(&self, is_blocked: bool) -> bool {
        !(is_blocked && self.is_group())
    }

    /// Returns whether the stage ends after a hook. `has_stopped`: the hook stops those after it.
    pub(super) fn ends_after(&self, has_stopped: bool) -> bool {
        has_stopped && self.order == StageOrder::InTurn { stops: true }
    }
}
