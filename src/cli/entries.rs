//! Hooks as the commands show them: each with its title, its place and its standing.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::cli::Style;
use crate::cli::files::display_path;
use crate::entry::{Off, Standing};
use crate::events::{LIKE_AN_EVENT, nearest};
use crate::executor::Explanation;
use crate::{FailureKind, Hook, HookEvent, Hooks, LoadReport, Redactor};

/// A hook of a file or of the host.
#[derive(Serialize)]
pub(crate) struct Entry {
    /// The hook as an entry of hooks.json; null for an entry that is invalid.
    pub(crate) hook: Option<Value>,
    /// The hook's pattern.
    event: String,
    name: Option<String>,
    /// The file; null for a hook of the host, and for one that was approved and is gone.
    file: Option<String>,
    /// The line, counted from 1.
    line: Option<usize>,
    /// The index in the list `hooks`, counted from 0.
    index: Option<usize>,
    /// The state of the hook: whether it runs on its events.
    #[serde(serialize_with = "state_of")]
    #[serde(rename = "state")]
    pub(crate) standing: Standing,
    /// The reason why the hook does not run, or fails.
    pub(crate) why: Option<String>,
    #[serde(flatten)]
    pub(crate) prediction: Option<Prediction>,
    #[serde(skip)]
    pub(crate) source: Arc<Hook>,
}

/// The verdict about a hook that cannot run.
pub(crate) const FAILS: &str = "fails";

/// The prediction for the hook on an event.
#[derive(Serialize)]
pub(crate) struct Prediction {
    /// The prediction: the hook `runs`, `fails` because it cannot run, or `does_not_run`.
    pub(crate) verdict: &'static str,
    /// Its position among the hooks that would run or fail, counted from 1.
    pub(crate) order: Option<usize>,
}

/// The name of a standing in JSON.
pub(crate) fn state(standing: &Standing) -> &'static str {
    match standing {
        Standing::Ready => "enabled",
        Standing::Off(Off::Entry | Off::Variable(_)) => "disabled",
        Standing::Off(Off::Name { .. }) => "disabled_by_name",
        Standing::NotApproved => "not_approved",
        Standing::Fails(failure) if failure.kind == FailureKind::ApprovalLost => "approval_lost",
        Standing::Fails(_) => "unusable",
    }
}

fn state_of<S: Serializer>(standing: &Standing, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state(standing))
}

pub(crate) fn style_of(standing: &Standing) -> Style {
    match standing {
        Standing::Ready => Style::GOOD,
        Standing::Off(_) => Style::DIM,
        Standing::NotApproved => Style::WARNING,
        Standing::Fails(_) => Style::BAD,
    }
}

impl Entry {
    fn new(hook: Arc<Hook>, standing: Standing, why: Option<String>) -> Self {
        let source = hook.source();
        Self {
            // The command of a placeholder hook is not in the file.
            hook: hook.refusal().is_none().then(|| hook.to_json()),
            event: hook.event_pattern().to_owned(),
            name: hook.name().map(str::to_owned),
            file: source.map(|source| source.path.to_string_lossy().into_owned()),
            line: source.and_then(|source| source.line),
            index: source.and_then(|source| source.index),
            standing,
            why,
            prediction: None,
            source: hook,
        }
    }

    /// Creates the entry of a hook, independent of any event.
    fn of(hook: Arc<Hook>, standing: Standing) -> Self {
        let why = (standing != Standing::Ready).then(|| standing.to_string());
        Self::new(hook, standing, why)
    }

    /// Creates the entry of a hook, with a prediction for an event.
    pub(crate) fn explained(explanation: Explanation) -> Self {
        let verdict = match (&explanation.omission, &explanation.standing) {
            (None, Standing::Ready) => "runs",
            (None, Standing::Fails(_)) => FAILS,
            _ => "does_not_run",
        };
        let (why, order) = (explanation.why(), explanation.order);
        Self {
            prediction: Some(Prediction { verdict, order }),
            ..Self::new(explanation.hook, explanation.standing, why)
        }
    }

    /// Returns all hooks in the order in which they would run, also those that would not run.
    pub(crate) fn all(hooks: &Hooks) -> Vec<Self> {
        let registered = hooks.executor().registry().hooks().into_iter();
        let entries = registered.map(|hook| {
            let standing = hooks.executor().standing(&hook);
            Self::of(hook, standing)
        });
        let mut entries: Vec<_> = entries.collect();
        let report = hooks.report();
        if !report.left_out.is_empty() {
            let left_out = left_out(&report);
            entries.extend(
                left_out.map(|(hook, standing)| Self::of(Arc::clone(hook), standing.clone())),
            );
            entries.sort_by_key(|entry| place_in(&report.files, &entry.source));
        }
        entries
    }
}

/// Returns the hooks that are not registered, with the reason. Skips placeholders: invalid entries, and entries that have left
/// their file.
fn left_out(report: &LoadReport) -> impl Iterator<Item = (&Arc<Hook>, &Standing)> {
    let of_files = report
        .left_out
        .iter()
        .map(|(hook, standing)| (hook, standing));
    of_files.filter(|(hook, _)| hook.refusal().is_none() && hook.source().is_some())
}

/// Explains why hooks are not registered. For an event of another agent, skips hooks that no agent's file defines.
pub(crate) fn left_out_of(hooks: &Hooks, event: &HookEvent) -> Vec<Explanation> {
    let report = hooks.report();
    let context = event.context();
    let of_agent = context.is_some_and(|context| context.field("hook_event_name").is_some());
    let is_for = |hook: &Hook| !of_agent || hook.protocol_name() != "native";
    let left_out = left_out(&report).filter(|(hook, _)| is_for(hook));
    let explained = left_out.map(|(hook, standing)| Explanation::left_out(hook, standing, event));
    explained.collect()
}

/// Returns the sort key of a hook. Hooks without a file come last, as they are registered last.
fn place_in(files: &[PathBuf], hook: &Hook) -> (usize, usize) {
    let Some(source) = hook.source() else {
        return (usize::MAX, 0);
    };
    let file = files.iter().position(|file| **file == *source.path);
    (file.unwrap_or(usize::MAX), source.index.unwrap_or_default())
}

/// Returns a line about a hook: its title, its place and this text.
pub(crate) fn headline(hook: &Hook, text: impl Display) -> String {
    let name = Style::STRONG.of(&title(hook));
    let place = Style::DIM.paint(format_args!("({})", place(hook)));
    format!("{name} {place}: {text}\n")
}

/// Returns the position of a hook, for example `hooks.json:7`.
pub(crate) fn place(hook: &Hook) -> String {
    let Some(source) = hook.source() else {
        return "not in a file".to_owned();
    };
    let line = source.line.map(|line| format!(":{line}"));
    display_path(&source.path) + &line.unwrap_or_default()
}

/// Returns the title of a hook: its label, or a description of an invalid entry without a name.
pub(crate) fn title(hook: &Hook) -> String {
    if hook.name().is_none() && hook.refusal().is_some() {
        return match hook.source() {
            Some(source) if source.index.is_some() => "an invalid entry".to_owned(),
            _ => "a file that cannot be used".to_owned(),
        };
    }
    let label = hook.masked(&Redactor::default(), hook.label());
    // The label of another agent's hook ends with its place, which is shown beside it.
    let line = hook.source().and_then(|source| source.line);
    let is_place = |end: &str| line.is_some_and(|line| end.ends_with(&format!(":{line}")));
    match label.rsplit_once(' ') {
        Some((start, end)) if hook.protocol_name() != "native" && is_place(end) => start.to_owned(),
        _ => label.into_owned(),
    }
}

/// Returns the question whether another tool of these hooks is meant, if one has a similar name, such as `bash` for `Bash`.
pub(crate) fn meant_tool<'n>(
    tool: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    let near = nearest(tool, names.into_iter(), LIKE_AN_EVENT)?;
    let case = if near.eq_ignore_ascii_case(tool) {
        " (upper and lower case must agree)"
    } else {
        ""
    };
    Some(format!("did you mean `--tool {near}`?{case}"))
}

/// Returns what a hook may do, and how it runs, as far as that differs from other hooks; each with its name.
pub(crate) fn traits(hook: &Hook) -> Vec<(&'static str, String)> {
    let inherited = hook.inherit().map(|names| match names {
        [] => "no variables".to_owned(),
        names => names.join(", "),
    });
    let flag = |is_set: bool, meaning: &str| is_set.then(|| meaning.to_owned());
    let all = [
        ("inherits", inherited),
        ("may", hook.may_in_words()),
        ("sandbox", hook.reach()),
        (
            "resident",
            flag(hook.resident(), "its process is kept for many events"),
        ),
        (
            "enforce",
            flag(!hook.enforce(), "nothing follows from what it does"),
        ),
        ("mode", flag(hook.background(), "in the background")),
    ];
    let all = all.into_iter();
    all.filter_map(|(name, text)| Some((name, text?))).collect()
}
