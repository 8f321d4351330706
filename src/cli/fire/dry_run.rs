//! `fire --dry-run`: which hooks would run, in order, and for each other hook why not; and why no hook ran.

use std::io::Write;

use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::entries::{Entry, State, headline, inherited, title};
use crate::cli::error::{Done, Ended, Failure};
use crate::cli::files::shown;
use crate::cli::terminal::{Style, Terminal, counted};
use crate::config::Severity;
use crate::executor::{Explanation, Fate};
use crate::pattern::{Mismatch, PatternPart};
use crate::{FireOptions, Hook, HookEvent, Hooks, printable};

/// What `forge-hooks fire --dry-run --json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "dry-run"))]
pub(crate) struct Report<'a> {
    #[cfg_attr(test, schemars(with = "crate::cli::shape_tests::Event"))]
    event: &'a HookEvent,
    /// The variable that disables all hooks, if it is set.
    disabled_by: Option<&'a str>,
    /// The hooks of the event in the order in which they would run, then the others.
    hooks: Vec<Entry>,
}

pub(super) fn run(
    is_json: bool,
    options: FireOptions,
    event: &HookEvent,
    context: &Context<'_>,
    found: &Hooks,
    terminal: &mut Terminal<'_>,
) -> Done {
    let explained = found.executor().explain(event, options);
    let mut hooks: Vec<_> = explained.into_iter().map(Entry::explained).collect();
    hooks.extend(Entry::disabled_by_name(found));
    let fails = |entry: &Entry| matches!(entry.state, State::ApprovalLost | State::Unusable);
    let ended = Ended::fine_if(!hooks.iter().any(fails));
    let report = Report {
        event,
        disabled_by: context.disabled_by(),
        hooks,
    };
    if is_json {
        terminal.json(&report)?;
        return Ok(ended);
    }
    terminal.problems(&found.report())?;
    for entry in &report.hooks {
        show(entry, event, terminal)?;
    }
    if !report.hooks.is_empty() {
        writeln!(terminal)?;
    }
    let running = report.hooks.iter().filter(|it| it.why.is_none()).count();
    let (name, all) = (&event.event_type, counted(report.hooks.len(), "hook"));
    writeln!(terminal, "{name}: {running} of {all} would run")?;
    for line in context.nothing_found(found) {
        writeln!(terminal, "{}", printable(&line))?;
    }
    Ok(ended)
}

fn show(entry: &Entry, event: &HookEvent, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let order = entry.prediction.as_ref().and_then(|it| it.order);
    let order = order.map_or_else(String::new, |order| format!("{order}. "));
    let (style, words) = match &entry.why {
        None => (
            Style::GOOD,
            format!("runs{}", settings(&entry.source, event)),
        ),
        Some(why) if order.is_empty() => (Style::DIM, why.clone()),
        Some(why) => (Style::BAD, why.clone()),
    };
    let words = terminal.styled(style, printable(&format!("{order}{words}")));
    Ok(headline(&entry.source, words, terminal)?)
}

/// Returns what a user should know of a hook that runs.
fn settings(hook: &Hook, event: &HookEvent) -> String {
    let mut words = String::new();
    if hook.background() {
        words += " in the background";
    }
    if let Some(names) = inherited(hook) {
        words += &format!(", inherits {names}");
    }
    if hook.resident() {
        words += ", resident";
    }
    let untested = hook.untested_conditions(event);
    if !untested.is_empty() {
        words += &format!(", and cannot test `{}`", untested.join("`, `"));
    }
    words
}

/// The most hooks that are named.
const MOST_NAMED: usize = 5;

/// Says why no hook ran, in lines. Empty if no hook is for the event, and none nearly is.
pub(super) fn why_none(
    event: &HookEvent,
    explained: &[Explanation],
    context: &Context<'_>,
    found: &Hooks,
) -> Vec<String> {
    if let Some(variable) = context.disabled_by() {
        return vec![format!("`{variable}` is set"), "fix: unset it".to_owned()];
    }
    let report = found.report();
    let mut problems = report.problems.iter();
    if let Some(error) = problems.find(|it| it.severity == Severity::Error) {
        let path = shown(&error.path);
        let words = format!("`{path}` has errors, so its hooks may be missing");
        return vec![words, "fix: fix the errors above".to_owned()];
    }
    let mut named = Vec::new();
    for Explanation { hook, fate, .. } in explained {
        let near = nearest_tool(event, fate);
        if near.is_some() || hook.pattern().matches(event) {
            let (title, fate) = (title(hook), fate.to_string());
            let why = fate.trim_start_matches("does not run: ");
            named.push(format!("`{title}`: {why}{}", near.unwrap_or_default()));
        }
    }
    for entry in Entry::disabled_by_name(found) {
        if entry.source.pattern().matches(event) {
            let title = title(&entry.source);
            named.push(format!("`{title}`: disabled by name in the user's file"));
        }
    }
    if named.len() > MOST_NAMED {
        named.truncate(MOST_NAMED);
        named.push("`--dry-run` shows all".to_owned());
    }
    named.extend(context.nothing_found(found));
    named
}

/// Returns a hint if only the name of the tool differs, and that nearly agrees, as `Bash` and `bash`.
fn nearest_tool(event: &HookEvent, fate: &Fate) -> Option<String> {
    let Fate::Mismatch(mismatches) = fate else {
        return None;
    };
    let is_tool = |mismatch: &&Mismatch| mismatch.part == PatternPart::Tool;
    let mismatch = mismatches.iter().find(is_tool)?;
    let Some(tool) = &event.tool_name else {
        return Some("; name it with `--tool`".to_owned());
    };
    let distance = |name: &str| strsim::jaro_winkler(&name.to_lowercase(), &tool.to_lowercase());
    let mut names = mismatch.expected.split('|');
    let near = names.find(|name| distance(name) > 0.88)?;
    Some(match near.eq_ignore_ascii_case(tool) {
        true => "; upper and lower case must agree".to_owned(),
        false => format!("; did you mean `--tool {near}`?"),
    })
}
