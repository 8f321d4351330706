//! Protects the files that decide which hooks run, without any hook.
//!
//! Does not stop a shell command that is intended to evade the protection.

use std::path::{Path, PathBuf};

use super::{front_matter, session};
use crate::compat::{Agent, BRIDGED};
use crate::config::{AlsoDeciding, directories_of};
use crate::events::{EventType, HookEvent};
use crate::hooks::Hooks;
use crate::printable::printable;
use crate::profile::AppProfile;

/// The reason that the model reads if it writes such a file.
pub(crate) const DECIDES: &str = "is one of the files that decide which hooks run";

/// The reason for files that git reads.
const OF_GIT: &str = "is one of git's own files, which name commands that git runs";

/// The directory of git's own files, or the file in its place.
const GIT: &str = ".git";

/// Returns the files that decide besides the hooks' own: the program, what is kept of sessions, and, in any directory, the files that
/// an agent or this program reads if it is started there.
fn also_deciding(profile: &AppProfile, agent: &Agent, home: &Path) -> AlsoDeciding {
    let of_agents = BRIDGED.into_iter().flat_map(Agent::deciding_files);
    let files = of_agents.map(PathBuf::from);
    let own = profile.project_files().iter().cloned();
    let directories = BRIDGED.into_iter().flat_map(Agent::deciding_directories);
    let files = files.chain(own).flat_map(|file| {
        let directories = directories_of(&file);
        std::iter::once(file).chain(directories)
    });
    let at_home = agent.decides_at_home.iter().map(|file| home.join(file));
    AlsoDeciding {
        files: std::env::current_exe().into_iter().collect(),
        directories: at_home.chain([session::state(home)]).collect(),
        anywhere: files.chain(directories.map(PathBuf::from)).collect(),
        reads_texts: true,
    }
}

/// Returns why a call of an agent may not change the file that it is about to write. `root` is that of relative paths.
pub(super) fn objection(
    hooks: &Hooks,
    agent: &Agent,
    [home, root]: [&Path; 2],
    event: &HookEvent,
) -> Option<String> {
    let tool = event.tool_name.as_deref()?;
    let is_before = event.event_type == EventType::ToolPreExecute;
    if !is_before || !matches!(tool, "write" | "edit") {
        return None;
    }
    let arguments = event.data.get("tool_args")?.as_object()?;
    let path = arguments.get("path")?.as_str()?;
    let whole = root.join(path);
    let has = |parts: &mut dyn Iterator<Item = &'static str>| {
        let anywhere = parts.map(PathBuf::from).collect();
        AlsoDeciding::anywhere(anywhere).has_path(&whole)
    };
    let may_register = || {
        let directories = BRIDGED.into_iter().flat_map(|agent| agent.may_decide);
        has(&mut directories.copied()) && front_matter::is_written(&whole, arguments)
    };
    let also = also_deciding(hooks.profile(), agent, home);
    let why = if has(&mut std::iter::once(GIT)) {
        OF_GIT
    } else if may_register() || hooks.decides_with(path.as_ref(), &also) {
        DECIDES
    } else {
        return None;
    };
    let path = printable(path);
    Some(format!(
        "blocked by forge-hooks: `{path}` {why}: a person changes it, in an editor"
    ))
}
