//! Protects the files that decide which hooks run, without any hook.
//!
//! Does not stop a shell command that is intended to evade the protection.

use std::path::{Path, PathBuf};

use super::session;
use crate::compat::{Agent, BRIDGED};
use crate::config::{AlsoDeciding, directories_of};
use crate::events::{EventType, HookEvent};
use crate::hooks::Hooks;
use crate::printable::printable;
use crate::profile::AppProfile;

/// The reason that the model reads if it writes such a file.
pub(crate) const DECIDES: &str = "is one of the files that decide which hooks run";

/// Returns the files that decide besides the hooks' own: the program, what is kept of sessions, and, in any directory, the files that
/// an agent or this program reads if it is started there.
fn also_deciding(profile: &AppProfile, home: &Path) -> AlsoDeciding {
    let of_agents = BRIDGED.into_iter().flat_map(Agent::deciding_files);
    let files = of_agents.map(PathBuf::from);
    let own = profile.project_files().iter().cloned();
    let directories = BRIDGED.into_iter().flat_map(Agent::deciding_directories);
    let files = files.chain(own).flat_map(|file| {
        let directories = directories_of(&file);
        std::iter::once(file).chain(directories)
    });
    AlsoDeciding {
        files: std::env::current_exe().into_iter().collect(),
        directories: vec![session::state(home)],
        anywhere: files.chain(directories.map(PathBuf::from)).collect(),
    }
}

/// Returns why a call may not change the file that it is about to write.
pub(super) fn objection(hooks: &Hooks, home: &Path, event: &HookEvent) -> Option<String> {
    let tool = event.tool_name.as_deref()?;
    let is_before = event.event_type == EventType::ToolPreExecute;
    if !is_before || !matches!(tool, "write" | "edit") {
        return None;
    }
    let path = event.data.get("tool_args")?.get("path")?.as_str()?;
    let also = also_deciding(hooks.profile(), home);
    let decides = hooks.decides_with(path.as_ref(), &also);
    let path = printable(path);
    decides.then(|| {
        format!("blocked by forge-hooks: `{path}` {DECIDES}: a person changes it, in an editor")
    })
}
