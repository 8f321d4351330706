//! The tools whose path may be a directory, which stands for what is below it.
//!
//! Knows the tools' names and arguments, and no conditions.

use std::borrow::Cow;

use serde_json::Value;

use super::meeting::STAR_OF_NAME;
use crate::events::HookEvent;
use crate::globs::with_slashes;
use crate::paths::{System, Unknown, begins_at_root};

/// The tools of which a path is one file. A directory of any other tool stands for what is below it, since that tool may read,
/// move or remove all of it.
const OF_ONE_FILE: [&str; 5] = ["bash", "edit", "multi_edit", "read", "write"];

/// The tools that search, each with its arguments for a glob.
const SEARCHES: [(&str, &[&str]); 3] = [
    ("glob", &["pattern"]),
    ("grep", &["glob", "include"]),
    ("ls", &[]),
];

/// The most globs that a glob with choices may stand for.
const MOST_CHOICES: usize = 64;

const UNCLEAR: Unknown = Cow::Borrowed(
    "the glob of the search has more than names, `/`, `*`, `?`, `[..]` and simple braces",
);
const NO_TEXT: Unknown = Cow::Borrowed("the glob of the search is not a text");

/// Returns whether a path of this event may be a directory.
pub(super) fn may_be_directory(event: &HookEvent) -> bool {
    let tool = event.tool_name.as_deref();
    event.may_be_directory || tool.is_some_and(|tool| !OF_ONE_FILE.contains(&tool))
}

/// The path among the arguments of a call.
pub(super) struct PathArgument<'e> {
    pub(super) path: Cow<'e, str>,
    /// True if a directory stands for what is below it.
    pub(super) stands_for_more: bool,
    /// The globs of a search in the directory; none if it finds everything.
    pub(super) searches: Vec<String>,
}

impl<'e> PathArgument<'e> {
    pub(super) fn file(path: &'e str, stands_for_more: bool) -> Self {
        Self {
            path: path.into(),
            stands_for_more,
            searches: Vec::new(),
        }
    }

    /// The files that a pattern of a shell means in a directory. `**` stands for any names.
    ///
    /// # Errors
    /// If it is not known which files these are.
    pub(super) fn of_shell(path: impl Into<Cow<'e, str>>, pattern: &str) -> Result<Self, Unknown> {
        let mut glob = String::new();
        for (index, part) in pattern.split("**").enumerate() {
            if index > 0 {
                glob += "**";
            }
            // The third of three stars adds nothing to the two.
            let part = if index > 0 {
                part.trim_start_matches('*')
            } else {
                part
            };
            glob.extend(
                part.chars()
                    .map(|c| if c == '*' { STAR_OF_NAME } else { c }),
            );
        }
        Self::found(path, &glob)
    }

    /// The files that a glob finds in a directory.
    ///
    /// # Errors
    /// If it is not known what the glob finds.
    fn found(path: impl Into<Cow<'e, str>>, glob: &str) -> Result<Self, Unknown> {
        // A glob of marks alone finds everything, as a search without one does.
        let is_mark = |c: char| matches!(c, '*' | '?' | '/' | STAR_OF_NAME);
        let is_choice = !glob.chars().all(is_mark);
        let globs = without_braces(glob)?;
        if globs
            .iter()
            .any(|glob| glob.split('/').any(|name| name == ".."))
        {
            return Err(UNCLEAR);
        }
        Ok(Self {
            path: path.into(),
            stands_for_more: true,
            searches: if is_choice { globs } else { Vec::new() },
        })
    }
}

/// A search in a directory.
pub(super) struct Search<'e> {
    is_of_texts: bool,
    globs: Vec<&'e Value>,
}

impl<'e> Search<'e> {
    /// The argument with the directory. Without it, the search is in the working directory.
    pub(super) const PATH: &'static str = "/tool_args/path";

    pub(super) fn of(event: &'e HookEvent) -> Option<Self> {
        let tool = event.tool_name.as_deref()?;
        let (_, arguments) = SEARCHES.iter().find(|(name, _)| *name == tool)?;
        let args = event.data.get("tool_args");
        let globs = arguments.iter().filter_map(|name| args?.get(name));
        Some(Self {
            is_of_texts: tool == "grep",
            globs: globs.filter(|glob| !glob.is_null()).collect(),
        })
    }

    /// Returns what is searched: the directory with the fixed beginning of the glob, and the rest of the glob.
    ///
    /// # Errors
    /// If it is not known what the glob finds.
    pub(super) fn argument(&self, path: Option<&'e str>) -> Result<PathArgument<'e>, Unknown> {
        let path = path.filter(|path| !path.is_empty()).unwrap_or(".");
        let Some(glob) = self.glob()? else {
            return Ok(PathArgument::file(path, true));
        };
        let first = glob.find(['*', '?', '[', '{']);
        let end = first.map_or(glob.len(), |first| {
            glob[..first].rfind('/').map_or(0, |at| at + 1)
        });
        let (beginning, rest) = glob.split_at(end);
        match beginning {
            "" => PathArgument::found(path, rest),
            _ if beginning.starts_with('~') || begins_at_root(beginning, System::NATIVE) => {
                PathArgument::found(beginning.to_owned(), rest)
            }
            _ => PathArgument::found(format!("{path}/{beginning}"), rest),
        }
    }

    fn glob(&self) -> Result<Option<String>, Unknown> {
        let [first, rest @ ..] = &self.globs[..] else {
            return Ok(None);
        };
        let glob = first.as_str().filter(|_| rest.is_empty()).ok_or(NO_TEXT)?;
        // A search of texts leaves out what a glob with `!` matches.
        if glob.is_empty() || self.is_of_texts && glob.starts_with('!') {
            return Ok(None);
        }
        let glob = match System::NATIVE {
            System::Windows => with_slashes(glob),
            _ if glob.contains('\\') => return Err(UNCLEAR),
            _ => glob.into(),
        };
        if ["@(", "!(", "+(", "?(", "*("]
            .iter()
            .any(|group| glob.contains(group))
        {
            return Err(UNCLEAR);
        }
        Ok(Some(match glob.strip_prefix('/') {
            // It begins in the directory, and finds a name at any depth.
            Some(rest) if self.is_of_texts => rest.to_owned(),
            None if self.is_of_texts && !glob.contains('/') => format!("**/{glob}"),
            _ => glob.into_owned(),
        }))
    }
}

/// Returns the globs that a glob with choices, such as `{a,b}`, stands for.
///
/// # Errors
/// If a choice has a path or another choice in it, and if there are too many.
fn without_braces(glob: &str) -> Result<Vec<String>, Unknown> {
    let mut parts = glob.split('{');
    let mut globs = vec![parts.next().unwrap_or_default().to_owned()];
    for part in parts {
        let (choices, rest) = part.split_once('}').ok_or(UNCLEAR)?;
        if choices.contains('/') || choices.contains("..") {
            return Err(UNCLEAR);
        }
        let longer = globs.iter().flat_map(|glob| {
            let choices = choices.split(',');
            choices.map(move |choice| format!("{glob}{choice}{rest}"))
        });
        globs = longer.take(MOST_CHOICES + 1).collect();
    }
    if globs.len() > MOST_CHOICES || globs.iter().any(|glob| glob.contains('}')) {
        return Err(UNCLEAR);
    }
    Ok(globs)
}
