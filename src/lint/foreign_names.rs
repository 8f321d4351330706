//! Finds names of another program that a command or a script uses, and their replacements.
//!
//! Searches only for the names. Does not know how the text uses them.

use crate::hook::Hook;

/// Names of Claude Code, each with a part of the name that a script for both programs would also have, and the replacement.
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

/// The reference to the documentation for a name of another program.
pub(super) const ABOUT_NAMES: &str = "docs/porting.md has the names for each";

/// Returns the name of another program that a text of the hook uses, and the replacement.
pub(super) fn name_elsewhere(hook: &Hook, text: &str) -> Option<String> {
    let mut known = NAMES.iter();
    let is_used = |theirs: &str, ours: &str| {
        text.contains(theirs) && !text.contains(ours) && !hook.env().contains_key(theirs)
    };
    let (theirs, _, here) = known.find(|(theirs, ours, _)| is_used(theirs, ours))?;
    Some(format!("`{theirs}` is Claude Code's name: {here}"))
}
