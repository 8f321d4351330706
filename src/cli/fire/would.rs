//! `list EVENT`: shows the hooks that would run, in order, and the reason why each other hook would not; and why no hook ran.

use std::fmt;

use serde::Serialize;

use super::event;
use crate::cli::args::List;
use crate::cli::entries::{Entry, FAILS, headline, left_out_of, meant_tool, title, traits};
use crate::cli::files::display_path;
use crate::cli::{Context, Done, Exit, Style, Terminal, counted};
use crate::config::Severity;
use crate::executor::{Explanation, Omission};
use crate::{FireOptions, Hook, HookEvent, Hooks, Redactor, printable};

/// The output of `forge-hooks list EVENT`.
#[derive(Serialize)]
struct WouldRun<'a> {
    event: &'a HookEvent,
    /// The variable that disables all hooks, if it is set.
    disabled_by: Option<&'a str>,
    /// The hooks of the event in the order in which they would run, then the others.
    hooks: Vec<Entry>,
    /// The lines with the places of hooks, if there is no hooks file.
    #[serde(skip)]
    nothing_found: Vec<String>,
}

/// Shows what `fire` would run on the event of the options.
pub(crate) fn list(args: &List, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    let event = &event::from_args(&args.given, context, terminal)?;
    let hooks = &context.load()?;
    let options = FireOptions::default().stop_on_failure(!args.keep_going);
    let options = options.applies_updates();
    let explained = hooks.executor().explain(event, &options).into_iter();
    let all = explained.chain(left_out_of(hooks, event));
    let report = WouldRun {
        event,
        disabled_by: context.disabled_by(),
        hooks: all.map(Entry::explained).collect(),
        nothing_found: context.nothing_found(hooks),
    };
    if !args.json {
        terminal.problems(&hooks.full_report())?;
    }
    terminal.show(args.json, &report)?;
    let fails = |entry: &Entry| {
        entry
            .prediction
            .as_ref()
            .is_some_and(|prediction| prediction.verdict == FAILS)
    };
    Ok(Exit::fine_if(!report.hooks.iter().any(fails)))
}

impl fmt::Display for WouldRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.hooks {
            let order = entry
                .prediction
                .as_ref()
                .and_then(|prediction| prediction.order);
            let order = order.map(|order| format!("{order}. ")).unwrap_or_default();
            let (style, state) = match &entry.why {
                None => (Style::GOOD, settings(&entry.source, self.event)),
                Some(why) if order.is_empty() => (Style::DIM, why.clone()),
                Some(why) => (Style::BAD, why.clone()),
            };
            let state = style.of(&(order + &state));
            f.write_str(&headline(&entry.source, state))?;
        }
        if !self.hooks.is_empty() {
            writeln!(f)?;
        }
        let running = self
            .hooks
            .iter()
            .filter(|entry| entry.why.is_none())
            .count();
        let (name, all) = (&self.event.event_type, counted(self.hooks.len(), "hook"));
        writeln!(f, "{name}: {running} of {all} would run")?;
        let mut lines = self.nothing_found.iter();
        lines.try_for_each(|line| writeln!(f, "{}", printable(line)))
    }
}

/// Returns notes for the user about a hook that runs.
fn settings(hook: &Hook, event: &HookEvent) -> String {
    let mut state = if hook.answers() {
        "answers, without a process".to_owned()
    } else {
        "runs".to_owned()
    };
    for (name, text) in traits(hook) {
        state += &format!("; {name}: {text}");
    }
    if let Some(note) = hook.note_on(event) {
        state += &format!("; {}", Redactor::default().text(&note));
    }
    state
}

/// The most hooks that are named.
const MOST_NAMED: usize = 5;

/// Says why no hook ran, in lines. Empty if no hook matches the event or a similar one.
pub(super) fn why_none(
    event: &HookEvent,
    explained: &[Explanation],
    context: &Context<'_>,
    hooks: &Hooks,
) -> Vec<String> {
    if let Some(variable) = context.disabled_by() {
        return vec![format!("`{variable}` is set"), "fix: unset it".to_owned()];
    }
    let left_out = left_out_of(hooks, event);
    let report = hooks.report();
    let mut problems = report.problems.iter();
    if let Some(error) = problems.find(|problem| problem.severity == Severity::Error) {
        let mut lines = reasons(event, &left_out);
        let path = display_path(&error.path);
        lines.push(format!("`{path}` has errors, so its hooks may be missing"));
        lines.push("fix: fix the errors above".to_owned());
        return lines;
    }
    let mut lines = reasons(event, explained);
    lines.extend(reasons(event, &left_out));
    if lines.len() > MOST_NAMED {
        lines.truncate(MOST_NAMED);
        let list = context.command(&format!("list {}", event.event_type));
        lines.push(format!("`{list}` shows all"));
    }
    lines.extend(context.nothing_found(hooks));
    lines
}

/// Says why hooks for this event, or for a similar one, do not run.
fn reasons(event: &HookEvent, explained: &[Explanation]) -> Vec<String> {
    let mut lines = Vec::new();
    for explanation in explained {
        let hook = &explanation.hook;
        let near = nearest_tool(event, explanation);
        if near.is_some() || hook.pattern().matches(event) {
            let (title, why) = (title(hook), explanation.reason());
            lines.push(format!("`{title}`: {why}{}", near.unwrap_or_default()));
        }
    }
    lines
}

/// Returns a hint if a hook differs only in the name of the tool, and the names are similar, as `Bash` and `bash`.
fn nearest_tool(event: &HookEvent, explanation: &Explanation) -> Option<String> {
    let pattern = explanation.hook.pattern();
    if !matches!(explanation.omission, Some(Omission::Mismatch(_))) || pattern.matches(event) {
        return None;
    }
    let mut names = pattern.other_tools(&event.event_type).into_iter();
    let Some(tool) = &event.tool_name else {
        names.next()?;
        return Some("; name it with `--tool`".to_owned());
    };
    Some(format!("; {}", meant_tool(tool, names)?))
}
