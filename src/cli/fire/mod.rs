//! `fire`: fires an event with the real engine, and shows each hook when it ends.

mod bridged;
mod event;
mod other_agent;
mod pass;
mod show;
mod spinner;
mod would;

use std::time::Duration;

use serde::Serialize;

use crate::cli::args::Fire;
use crate::cli::remarks::Remarks;
use crate::cli::{Context, Done, Exit, Terminal};
use crate::{FireOptions, HookEvent, HookResult, Outcome};
pub(crate) use bridged::Said;
pub(crate) use event::unknown_key;
pub(crate) use pass::FirePass;
pub(crate) use would::list;

/// The time that the program waits for the last lines of the recorded events.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The output of `forge-hooks fire --json`.
#[derive(Serialize)]
pub(crate) struct FireOutput<'a> {
    event: &'a HookEvent,
    #[serde(flatten)]
    outcome: Outcome,
    /// The hooks in the background, which decide nothing. Only `fire` waits for their end.
    #[serde(skip_serializing_if = "Option::is_none")]
    background: Option<Vec<HookResult>>,
    /// The event with the changes of hooks, as the host would run it.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_event: Option<HookEvent>,
}

impl<'a> FireOutput<'a> {
    pub(crate) fn new(event: &'a HookEvent, outcome: &Outcome) -> Self {
        let mut outcome = outcome.clone();
        let remarks = Remarks::new(outcome.can_block());
        remarks.add_to(event, outcome.results_mut());
        Self {
            event,
            changed_event: outcome.changed_event().cloned(),
            outcome,
            background: None,
        }
    }

    fn with_background(mut self, results: &[HookResult]) -> Self {
        let mut results = results.to_vec();
        Remarks::new(false).add_to(self.event, &mut results);
        self.background = (!results.is_empty()).then_some(results);
        self
    }
}

pub(crate) fn run(args: &Fire, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    if let Some(agent) = args.agent.filter(|_| context.agent.is_none()) {
        return bridged::run(agent, args, context, terminal);
    }
    let (event, hooks) = match args.agent {
        Some(agent) => other_agent::load(agent, args, context, terminal)?,
        None => (
            event::from_args(&args.given, context, terminal)?,
            context.load()?,
        ),
    };
    let options = FireOptions::default().stop_on_failure(!args.keep_going);
    let mut options = options.applies_updates();
    if args.agent.is_some() {
        options = options.handles_ask();
    }
    let report = if args.json {
        hooks.report()
    } else {
        hooks.full_report()
    };
    context.warn(&hooks, &report, terminal)?;
    let fire_pass = FirePass {
        context,
        hooks: &hooks,
        options,
        is_silent: args.json,
        trace: context.trace_events(&args.recording, &hooks)?,
    };
    let fired = fire_pass.fire(event, terminal)?;
    if let Some(agent) = args.agent {
        other_agent::keep_variables(agent, &fired)?;
    }
    if let Some(trace) = &fire_pass.trace {
        trace.flush(LAST_LINES);
    }
    if args.json {
        let report = FireOutput::new(&fired.event, &fired.outcome);
        terminal.json(&report.with_background(&fired.background))?;
    }
    Ok(match fired.interrupted {
        Some(status) => Exit(status),
        None => Exit::fine_if(fired.continues()),
    })
}
