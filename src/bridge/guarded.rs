//! The protection of the files that decide which hooks run: no hook has to be written for it.
//!
//! Against a shell command it is no wall, only a hurdle.

use std::path::PathBuf;

use crate::events::{EventType, HookEvent};
use crate::hooks::Hooks;
use crate::printable::printable;

/// What the model reads of such a file.
pub(crate) const DECIDES: &str = "is one of the files that decide which hooks run";

/// What decides besides the files of the hooks.
pub(super) struct Guarded {
    /// The program itself.
    pub(super) files: Vec<PathBuf>,
    /// What is kept of sessions.
    pub(super) directories: Vec<PathBuf>,
}

impl Guarded {
    /// Returns why a call may not change the file that it is about to write.
    pub(super) fn objection(&self, hooks: &Hooks, event: &HookEvent) -> Option<String> {
        let tool = event.tool_name.as_deref()?;
        let is_before = event.event_type == EventType::ToolPreExecute;
        if !is_before || !matches!(tool, "write" | "edit") {
            return None;
        }
        let path = event.data.get("tool_args")?.get("path")?.as_str()?;
        let decides = hooks.decides_with(path.as_ref(), &self.files, &self.directories);
        let path = printable(path);
        decides.then(|| {
            format!("blocked by forge-hooks: `{path}` {DECIDES}: a person changes it, in an editor")
        })
    }
}
