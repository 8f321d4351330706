//! `fire --dry-run`: shows which hooks would run, in order, and for each other hook why not.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::cli::args::Fire;
use crate::cli::context::Context;
use crate::cli::ended::Ended;
use crate::cli::error::Failure;
use crate::cli::list::inherited;
use crate::cli::sources::{Listed, State, listed, place, title};
use crate::cli::terminal::{Style, Terminal};
use crate::{FailurePolicy, Hook, HookEvent, Hooks, Mismatch, printable};

/// What would happen to a hook.
pub(super) enum Verdict {
    Runs,
    /// It would fail, because it cannot run.
    Fails(String),
    DoesNotRun(String),
}

struct Predicted {
    listed: Listed,
    verdict: Verdict,
    /// Its position among the hooks that run or fail.
    order: Option<usize>,
    mismatches: Vec<Mismatch>,
}

pub(super) fn run(
    args: &Fire,
    event: &HookEvent,
    context: &Context<'_>,
    hooks: &Hooks,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let in_order = hooks.executor().hooks_for(event);
    let in_order = in_order.iter().map(Arc::as_ptr).zip(0..).collect();
    let mut chain = Chain {
        event,
        disabled_by: context.disabled_by(),
        in_order,
        stops: !args.keep_going && !args.parallel,
        can_block: context.hooks.vocabulary().can_block(&event.event_type),
        order: 0,
        failed: None,
    };
    let mut listed = listed(hooks, context);
    listed.sort_by_key(|it| chain.position(&it.hook).unwrap_or(usize::MAX));
    let predicted: Vec<_> = listed.into_iter().map(|it| chain.predict(it)).collect();
    if args.json {
        let hooks: Vec<_> = predicted.iter().map(Predicted::to_json).collect();
        let report = json!({"event": event, "disabled_by": chain.disabled_by, "hooks": hooks});
        terminal.json(&report)?;
    } else {
        terminal.problems(&hooks.report())?;
        show(event, &predicted, terminal)?;
    }
    let fails = |it: &Predicted| matches!(it.verdict, Verdict::Fails(_));
    Ok(if predicted.iter().any(fails) {
        Ended::Problems
    } else {
        Ended::Fine
    })
}

/// The hooks of an event in the order of the engine, as far as they are predicted.
struct Chain<'a> {
    event: &'a HookEvent,
    disabled_by: Option<&'a str>,
    in_order: HashMap<*const Hook, usize>,
    /// Whether a failure stops this crate's own hooks.
    stops: bool,
    can_block: bool,
    /// The number of hooks that run or fail.
    order: usize,
    /// The first hook that fails and blocks.
    failed: Option<Arc<Hook>>,
}

impl Chain<'_> {
    fn position(&self, hook: &Arc<Hook>) -> Option<usize> {
        self.in_order.get(&Arc::as_ptr(hook)).copied()
    }

    fn predict(&mut self, listed: Listed) -> Predicted {
        let mismatches = listed.hook.mismatches(self.event, self.can_block);
        let mut verdict = verdict_on(&listed, &mismatches);
        let mut order = None;
        if !matches!(verdict, Verdict::DoesNotRun(_)) {
            if let Some(why) = self.why_not(&listed.hook) {
                verdict = Verdict::DoesNotRun(why);
            } else {
                self.order += 1;
                order = Some(self.order);
            }
        }
        if self.failed.is_none() && matches!(verdict, Verdict::Fails(_)) && blocks(&listed) {
            self.failed = Some(Arc::clone(&listed.hook));
        }
        Predicted {
            listed,
            verdict,
            order,
            mismatches,
        }
    }

    /// Why a hook for this event does not run.
    fn why_not(&self, hook: &Arc<Hook>) -> Option<String> {
        if let Some(variable) = self.disabled_by.filter(|_| !hook.is_system()) {
            return Some(format!("`{variable}` is set"));
        }
        if self.position(hook).is_none() {
            return Some("an identical handler runs instead".to_owned());
        }
        let failed = self.failed.as_ref()?;
        // The hooks of each other tool run at once.
        let is_stopped = match hook.protocol_name() {
            "native" => self.stops,
            name => self.can_block && failed.protocol_name() != name,
        };
        let failed = title(failed);
        is_stopped
            .then(|| format!("`{failed}`, which is before it, fails and stops the hooks after it"))
    }
}

pub(super) fn verdict_on(listed: &Listed, mismatches: &[Mismatch]) -> Verdict {
    if !mismatches.is_empty() {
        let why: Vec<_> = mismatches.iter().map(words_of).collect();
        return Verdict::DoesNotRun(why.join("; "));
    }
    match &listed.state {
        State::Enabled => Verdict::Runs,
        State::ApprovalLost(why) | State::Unusable(why) => Verdict::Fails(why.clone()),
        _ => Verdict::DoesNotRun(listed.words.clone()),
    }
}

/// Names the alternative, unless there is only one.
fn words_of(mismatch: &Mismatch) -> String {
    format!("`{}` does not match: {mismatch}", mismatch.alternative)
}

fn blocks(listed: &Listed) -> bool {
    let is_lost = matches!(listed.state, State::ApprovalLost(_));
    !listed.hook.background() && (is_lost || listed.hook.on_failure() != FailurePolicy::Continue)
}

fn show(
    event: &HookEvent,
    predicted: &[Predicted],
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    for it in predicted {
        let hook = &it.listed.hook;
        let order = it.order.unwrap_or_default();
        let (style, verdict) = match &it.verdict {
            Verdict::Runs => {
                let inherits = inherited(hook).map(|names| format!(", inherits {names}"));
                let inherits = inherits.unwrap_or_default();
                let resident = if hook.resident() { ", resident" } else { "" };
                let untested = match &hook.untested_conditions(event)[..] {
                    [] => String::new(),
                    pointers => format!(", and cannot test `{}`", pointers.join("`, `")),
                };
                let more = [&*inherits, resident, &untested].concat();
                (Style::Good, format!("{order}. runs{more}"))
            }
            Verdict::Fails(why) => (Style::Bad, format!("{order}. fails: {why}")),
            Verdict::DoesNotRun(why) => (Style::Dim, format!("does not run: {why}")),
        };
        let name = terminal.styled(Style::Strong, printable(title(hook)));
        let place = terminal.styled(Style::Dim, format!("({})", printable(&place(hook))));
        let verdict = terminal.styled(style, printable(&verdict));
        writeln!(terminal, "{name} {place}: {verdict}")?;
    }
    let runs = |it: &&Predicted| matches!(it.verdict, Verdict::Runs);
    let running = predicted.iter().filter(runs).count();
    if !predicted.is_empty() {
        writeln!(terminal)?;
    }
    let (name, all) = (&event.event_type, predicted.len());
    writeln!(terminal, "{name}: {running} of {all} hooks would run")?;
    Ok(())
}

impl Predicted {
    fn to_json(&self) -> Value {
        let (verdict, why) = match &self.verdict {
            Verdict::Runs => ("runs", None),
            Verdict::Fails(why) => ("fails", Some(why)),
            Verdict::DoesNotRun(why) => ("does_not_run", Some(why)),
        };
        let mismatches = self.mismatches.iter().map(|mismatch| {
            json!({
                "alternative": mismatch.alternative,
                "part": mismatch.part.to_string(),
                "expected": mismatch.expected,
                "found": mismatch.found,
            })
        });
        let mut value = self.listed.to_json();
        value["verdict"] = json!(verdict);
        value["order"] = json!(self.order);
        value["why"] = json!(why);
        value["mismatches"] = mismatches.collect();
        value
    }
}
