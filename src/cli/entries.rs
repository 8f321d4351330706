//! Hooks as the commands show them: each with its title, its place and its state.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::cli::Style;
use crate::cli::files::shown;
use crate::executor::{Explanation, Fate};
use crate::{FailureKind, Hook, Hooks, Redactor};

/// A hook of a file or of the host.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Whether the hook runs on its events.
    pub(crate) state: State,
    /// Why the hook does not run, or fails.
    pub(crate) why: Option<String>,
    #[serde(flatten)]
    pub(crate) prediction: Option<Prediction>,
    #[serde(skip)]
    pub(crate) source: Arc<Hook>,
}

/// What would happen to the hook on an event.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Prediction {
    /// Whether the hook `runs`, `fails` because it cannot run, or `does_not_run`.
    verdict: &'static str,
    /// Its position among the hooks that would run or fail, counted from 1.
    pub(crate) order: Option<usize>,
}

#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) enum State {
    Enabled,
    /// Its entry has `"enabled": false`, or a variable disables all hooks.
    Disabled,
    /// The user's file lists its name.
    DisabledByName,
    NotApproved,
    /// It fails, and blocks.
    ApprovalLost,
    /// It fails, and blocks: its entry is invalid.
    Unusable,
}

impl State {
    fn new(fate: &Fate) -> Self {
        match fate {
            Fate::Disabled | Fate::DisabledBy(_) => Self::Disabled,
            Fate::DisabledByName(_) => Self::DisabledByName,
            Fate::NotApproved(_) => Self::NotApproved,
            Fate::Fails { failure, .. } if *failure == FailureKind::ApprovalLost => {
                Self::ApprovalLost
            }
            Fate::Fails { .. } => Self::Unusable,
            _ => Self::Enabled,
        }
    }

    pub(crate) fn style(self) -> Style {
        match self {
            Self::Enabled => Style::GOOD,
            Self::Disabled | Self::DisabledByName => Style::DIM,
            Self::NotApproved => Style::WARNING,
            Self::ApprovalLost | Self::Unusable => Style::BAD,
        }
    }
}

impl Entry {
    fn new(hook: Arc<Hook>, fate: &Fate) -> Self {
        let source = hook.source();
        Self {
            // The command of a placeholder hook is not part of the file.
            hook: hook.refusal().is_none().then(|| hook.to_json()),
            event: hook.event_pattern().to_owned(),
            name: hook.name().map(str::to_owned),
            file: source.map(|source| source.path.to_string_lossy().into_owned()),
            line: source.and_then(|source| source.line),
            index: source.and_then(|source| source.index),
            state: State::new(fate),
            why: (*fate != Fate::Runs).then(|| fate.to_string()),
            prediction: None,
            source: hook,
        }
    }

    /// A hook, and what would happen to it on an event.
    pub(crate) fn explained(explanation: Explanation) -> Self {
        let verdict = match &explanation.fate {
            Fate::Runs => "runs",
            Fate::Fails { .. } => "fails",
            _ => "does_not_run",
        };
        let order = explanation.order;
        Self {
            prediction: Some(Prediction { verdict, order }),
            ..Self::new(explanation.hook, &explanation.fate)
        }
    }

    /// Returns all hooks in the order in which they would run, also those that would not run.
    pub(crate) fn all(found: &Hooks) -> Vec<Self> {
        let registered = found.registry().hooks().into_iter();
        let entries = registered.map(|hook| {
            let fate = found.executor().fate_of(&hook);
            Self::new(hook, &fate)
        });
        let mut entries: Vec<_> = entries.collect();
        let before = entries.len();
        entries.extend(Self::disabled_by_name(found));
        if entries.len() > before {
            let files = &found.report().files;
            entries.sort_by_key(|entry| place_in(files, &entry.source));
        }
        entries
    }

    pub(crate) fn disabled_by_name(found: &Hooks) -> Vec<Self> {
        let disabled = disabled_by_name(found).into_iter();
        disabled.map(|it| Self::new(it.hook, &it.fate)).collect()
    }
}

/// Returns the hooks that the administrator's or the user's file disables by their names, which are not registered.
pub(crate) fn disabled_by_name(found: &Hooks) -> Vec<Explanation> {
    let report = found.report();
    let by = match found.config().system_path() {
        Some(system) if report.files.contains(&system) => "the administrator's or the user's file",
        _ => "the user's file",
    };
    // What cannot be used, or is gone from its file, is no hook of a file.
    let is_usable = |hook: &&Arc<Hook>| hook.refusal().is_none() && hook.source().is_some();
    let usable = report.left_out.iter().filter(is_usable);
    let explained = usable.map(|hook| Explanation {
        hook: Arc::clone(hook),
        fate: Fate::DisabledByName(by),
        order: None,
    });
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

/// Returns what is said of a hook, in one line: with its title and its place.
pub(crate) fn headline(hook: &Hook, words: impl Display) -> String {
    let name = Style::STRONG.of(&title(hook));
    let place = Style::DIM.paint(format_args!("({})", place(hook)));
    format!("{name} {place}: {words}\n")
}

/// Returns the position of a hook, for example `hooks.json:7`.
pub(crate) fn place(hook: &Hook) -> String {
    let Some(source) = hook.source() else {
        return "not in a file".to_owned();
    };
    let line = source.line.map(|line| format!(":{line}"));
    shown(&source.path) + &line.unwrap_or_default()
}

/// Returns the title of a hook: its label, or what an entry without a name is that cannot be used.
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
        Some((words, end)) if hook.protocol_name() != "native" && is_place(end) => words.to_owned(),
        _ => label.into_owned(),
    }
}

/// Returns the variables of the program's environment that the hook inherits, if it names them.
pub(crate) fn inherited(hook: &Hook) -> Option<String> {
    let names = hook.inherit()?;
    Some(match names.is_empty() {
        true => "no variables".to_owned(),
        false => names.join(", "),
    })
}
