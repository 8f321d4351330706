//! The tools whose path may be a directory, which stands for what is below it.
//!
//! Knows the tools' names and arguments, and no conditions.

use std::borrow::Cow;

use serde_json::Value;

use crate::events::HookEvent;
use crate::globs::with_slashes;

/// The tools of which a path is one file. A directory of any other tool stands for what is below it, since that tool may read,
/// move or remove all of it.
const OF_ONE_FILE: [&str; 5] = ["bash", "edit", "multi_edit", "read", "write"];

/// The tools that search, each with its argument for a glob.
const SEARCHES: [(&str, Option<&str>); 3] = [
    ("glob", Some("pattern")),
    ("grep", Some("glob")),
    ("ls", None),
];

/// Returns whether a path of this event may be a directory.
pub(super) fn may_be_directory(event: &HookEvent) -> bool {
    let tool = event.tool_name.as_deref();
    tool.is_some_and(|tool| !OF_ONE_FILE.contains(&tool))
}

/// The path that a call asks for.
pub(super) struct Asked<'e> {
    pub(super) path: Cow<'e, str>,
    pub(super) is_directory: bool,
    /// The glob of a search in the directory.
    pub(super) search: Option<String>,
}

impl<'e> Asked<'e> {
    pub(super) fn file(path: &'e str, is_directory: bool) -> Self {
        Self {
            path: path.into(),
            is_directory,
            search: None,
        }
    }
}

/// A search in a directory.
pub(super) struct Search<'e> {
    glob: Option<Cow<'e, str>>,
}

impl<'e> Search<'e> {
    /// The argument with the directory. Without it, the search is in the working directory.
    pub(super) const PATH: &'static str = "/tool_args/path";

    pub(super) fn of(event: &'e HookEvent) -> Option<Self> {
        let tool = event.tool_name.as_deref()?;
        let (_, argument) = SEARCHES.iter().find(|(name, _)| *name == tool)?;
        let glob = argument.and_then(|argument| {
            let args = event.data.get("tool_args")?;
            args.get(argument).and_then(Value::as_str)
        });
        // Searches of texts leave out what a glob with `!` matches, and find a name in each directory.
        let glob = glob.filter(|glob| !glob.is_empty() && !glob.starts_with('!'));
        let glob = glob.map(|glob| match glob.contains(['/', '\\']) {
            false if tool == "grep" => format!("**/{glob}").into(),
            _ => with_slashes(glob),
        });
        Some(Self { glob })
    }

    /// Returns what is searched: the directory with the fixed beginning of the glob, and the rest of the glob.
    pub(super) fn asked(&self, path: Option<&'e str>) -> Asked<'e> {
        let path = path.filter(|path| !path.is_empty()).unwrap_or(".");
        let Some(glob) = self.glob.as_deref() else {
            return Asked::file(path, true);
        };
        let first = glob.find(['*', '?', '[', '{']);
        let end = first.map_or(glob.len(), |first| {
            glob[..first].rfind('/').map_or(0, |at| at + 1)
        });
        let (beginning, rest) = glob.split_at(end);
        let path = match beginning {
            "" => path.into(),
            _ if beginning.starts_with(['/', '~']) => beginning.to_owned().into(),
            _ => format!("{path}/{beginning}").into(),
        };
        // A glob of marks alone finds everything, as a search without one does.
        let is_choice = !rest.trim_matches(['*', '?', '/', '.']).is_empty();
        Asked {
            path,
            is_directory: true,
            search: is_choice.then(|| without_braces(rest)),
        }
    }
}

/// Returns a glob with `*` for each choice, such as `{a,b}`.
fn without_braces(glob: &str) -> String {
    let mut parts = glob.split('{');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.split_once('}').map_or("", |(_, rest)| rest);
        plain += "*";
        plain += rest;
    }
    plain
}
