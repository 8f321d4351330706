//! Names of another program that a command or a script uses, and the names that are here instead.
//!
//! Looks only for the names, and not at what the text does with them.

use crate::hook::Hook;

/// Names of Claude Code, a part of the name that a script for both would have too, and what is here instead.
const NAMES: [(&str, &str, &str); 2] = [
    (
        "tool_input",
        "tool_args",
        "here the arguments are in `.data.tool_args`",
    ),
    (
        "CLAUDE_PROJECT_DIR",
        "_WORKING_DIR",
        "here the directory is in `FORGE_WORKING_DIR`",
    ),
];

/// What a person may read about a name of another program.
pub(super) const ABOUT_NAMES: &str = "docs/porting.md has the names for each";

/// Returns the name of another program that a text of the hook uses, and what is here instead.
pub(super) fn name_elsewhere(hook: &Hook, text: &str) -> Option<String> {
    let mut known = NAMES.iter();
    let is_used = |theirs: &str, ours: &str| {
        text.contains(theirs) && !text.contains(ours) && !hook.env().contains_key(theirs)
    };
    let (theirs, _, here) = known.find(|(theirs, ours, _)| is_used(theirs, ours))?;
    Some(format!("`{theirs}` is Claude Code's name: {here}"))
}
