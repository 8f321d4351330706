//! The environment variables that another tool sets for its hooks. Few of their values come from the event.

use std::path::Path;

use serde_json::Value;

use crate::events::HookEvent;
use crate::hook::{Dialect, Foreign};
use crate::protocol::names::{CLAUDE_EFFORT, GEMINI_CWD, GEMINI_SESSION_ID};

/// Returns the variables of a hook of this project that runs in `cwd`.
pub(crate) fn foreign_variables(
    foreign: &Foreign,
    event: &HookEvent,
    project: &Path,
    cwd: &Path,
) -> Vec<(&'static str, String)> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let directories = foreign.variables(project).into_iter();
    let mut variables: Vec<_> = directories.map(|(name, path)| (name, text(path))).collect();
    match foreign.dialect() {
        Dialect::Claude => {
            if let Some(directory) = plugin_data(foreign) {
                variables.push(("CLAUDE_PLUGIN_DATA", directory));
            }
            let effort = event.context().and_then(|context| context.field("effort"));
            let level = effort.and_then(|effort| effort.get("level"));
            if let Some(level) = level.and_then(Value::as_str) {
                variables.push((CLAUDE_EFFORT, level.to_owned()));
            }
        }
        Dialect::Gemini => {
            let session = event.session_id.clone().unwrap_or_default();
            variables.push((GEMINI_CWD, text(cwd)));
            variables.push((GEMINI_SESSION_ID, session));
        }
        Dialect::Codex | Dialect::Native => {}
    }
    // No variable can contain NUL.
    variables.retain(|(_, value)| !value.contains('\0'));
    variables
}

/// Returns the directory for a plugin's persistent data, by the name of the plugin's directory. It
/// is not created here.
fn plugin_data(foreign: &Foreign) -> Option<String> {
    let name = foreign.plugin_root.as_ref()?.file_name()?;
    let directory = home::home_dir()?.join(".claude/plugins/data").join(name);
    Some(directory.to_string_lossy().into_owned())
}
