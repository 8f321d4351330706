//! `fire --dry-run`: shows which hooks would run, in order, and for each other hook why not.

use std::io::Write;

use serde_json::{Value, json};

use crate::cli::args::Fire;
use crate::cli::context::Context;
use crate::cli::ended::Ended;
use crate::cli::error::Failure;
use crate::cli::list::inherited;
use crate::cli::sources::{Listed, State, listed, place, title};
use crate::cli::terminal::{Style, Terminal};
use crate::{FailurePolicy, HookEvent, Hooks, Mismatch, TrustPolicy, printable};

/// What would happen to a hook.
pub(super) enum Verdict {
    /// It would run, at this position.
    Runs(usize),
    /// It would fail, because it cannot run.
    Fails(usize, String),
    DoesNotRun(String),
}

struct Judged<'a> {
    listed: &'a Listed,
    verdict: Verdict,
    mismatches: Vec<Mismatch>,
}

pub(super) fn run(
    args: &Fire,
    event: &HookEvent,
    context: &Context<'_>,
    hooks: &Hooks,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let listed = listed(hooks, context);
    let disabled_by = context.disabled_by();
    let judged = judge(args, event, &listed, disabled_by);
    if args.json {
        let hooks: Vec<_> = judged.iter().map(Judged::to_json).collect();
        let report = json!({"event": event, "disabled_by": disabled_by, "hooks": hooks});
        terminal.json(&report)?;
    } else {
        terminal.problems(&context.load_under(TrustPolicy::Everything)?.report())?;
        show(event, &judged, terminal)?;
    }
    let fails = |it: &Judged<'_>| matches!(it.verdict, Verdict::Fails(..));
    Ok(if judged.iter().any(fails) {
        Ended::Problems
    } else {
        Ended::Fine
    })
}

fn judge<'a>(
    args: &Fire,
    event: &HookEvent,
    listed: &'a [Listed],
    disabled_by: Option<&str>,
) -> Vec<Judged<'a>> {
    let stops = !args.keep_going && !args.parallel;
    let (mut order, mut stopped_at) = (0, None);
    let mut judged = Vec::new();
    for it in listed {
        let mismatches = it.hook.mismatches(event);
        let mut verdict = verdict_on(it, &mismatches, order + 1);
        if let (Verdict::Runs(_) | Verdict::Fails(..), Some(variable)) = (&verdict, disabled_by) {
            verdict = Verdict::DoesNotRun(format!("`{variable}` is set"));
        }
        if let (Verdict::Runs(_) | Verdict::Fails(..), Some(at)) = (&verdict, &stopped_at) {
            verdict = Verdict::DoesNotRun(format!(
                "`{at}`, which is before it, fails and stops the hooks after it"
            ));
        }
        if !matches!(verdict, Verdict::DoesNotRun(_)) {
            order += 1;
        }
        if stops && matches!(verdict, Verdict::Fails(..)) && blocks(it) {
            stopped_at = Some(title(&it.hook).to_owned());
        }
        judged.push(Judged {
            listed: it,
            verdict,
            mismatches,
        });
    }
    judged
}

pub(super) fn verdict_on(listed: &Listed, mismatches: &[Mismatch], order: usize) -> Verdict {
    if !mismatches.is_empty() {
        let why: Vec<_> = mismatches.iter().map(words_of).collect();
        return Verdict::DoesNotRun(why.join("; "));
    }
    match &listed.state {
        State::Enabled => Verdict::Runs(order),
        State::ApprovalLost(why) | State::Unusable(why) => Verdict::Fails(order, why.clone()),
        _ => Verdict::DoesNotRun(listed.words.clone()),
    }
}

/// Names the alternative, unless there is only one.
fn words_of(mismatch: &Mismatch) -> String {
    format!("`{}` does not match: {mismatch}", mismatch.alternative)
}

fn blocks(listed: &Listed) -> bool {
    let is_lost = matches!(listed.state, State::ApprovalLost(_));
    is_lost || listed.hook.on_failure() != FailurePolicy::Continue
}

fn show(
    event: &HookEvent,
    judged: &[Judged<'_>],
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    for it in judged {
        let hook = &it.listed.hook;
        let (style, verdict) = match &it.verdict {
            Verdict::Runs(order) => {
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
            Verdict::Fails(order, why) => (Style::Bad, format!("{order}. fails: {why}")),
            Verdict::DoesNotRun(why) => (Style::Dim, format!("does not run: {why}")),
        };
        let name = terminal.styled(Style::Strong, printable(title(hook)));
        let place = terminal.styled(Style::Dim, format!("({})", printable(&place(hook))));
        let verdict = terminal.styled(style, printable(&verdict));
        writeln!(terminal, "{name} {place}: {verdict}")?;
    }
    let runs = |it: &&Judged<'_>| matches!(it.verdict, Verdict::Runs(_));
    let running = judged.iter().filter(runs).count();
    if !judged.is_empty() {
        writeln!(terminal)?;
    }
    let (name, all) = (&event.event_type, judged.len());
    writeln!(terminal, "{name}: {running} of {all} hooks would run")?;
    Ok(())
}

impl Judged<'_> {
    fn to_json(&self) -> Value {
        let (verdict, order, why) = match &self.verdict {
            Verdict::Runs(order) => ("runs", Some(order), None),
            Verdict::Fails(order, why) => ("fails", Some(order), Some(why)),
            Verdict::DoesNotRun(why) => ("does_not_run", None, Some(why)),
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
        value["order"] = json!(order);
        value["why"] = json!(why);
        value["mismatches"] = mismatches.collect();
        value
    }
}
