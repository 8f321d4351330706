//! Protects the files that decide which hooks run, without any hook.
//!
//! Does not stop a shell command that is intended to evade the protection.

use std::path::{Component, Path, PathBuf};

use super::{front_matter, session};
use crate::agents::{Agent, BRIDGED};
use crate::config::{AlsoDeciding, directories_of};
use crate::events::{EventType, HookEvent};
use crate::hooks::Hooks;
use crate::paths::Names;
use crate::printable::printable;
use crate::profile::AppProfile;

/// The reason that the model reads if it writes such a file.
pub(crate) const DECIDES: &str = "is one of the files that decide which hooks run";

/// The reason for a skill, command or subagent with such a text.
const REGISTERS: &str = "may be one of the files that decide which hooks run: its front matter may register hooks, permissions or servers, \
    unless it is lines `key: value` without such keys";

/// The reason for files that git reads.
const OF_GIT: &str = "is one of git's own files, which name commands that git runs";

/// The directory of git's own files, or the file in its place.
const GIT: &str = ".git";

/// The files in the user's home that git reads in every repository.
const GIT_OF_USER: [&str; 2] = [".gitconfig", ".config/git/config"];

/// Returns the files that decide besides the hooks' own: the program, what is kept of sessions, and, in any directory, the files that
/// an agent or this program reads if it is started there.
fn also_deciding(profile: &AppProfile, agent: &Agent, home: &Path) -> AlsoDeciding {
    let of_agents = BRIDGED.into_iter().flat_map(|agent| agent.files);
    let files = of_agents.map(PathBuf::from);
    let own = profile.project_files().iter().cloned();
    let directories = BRIDGED.into_iter().flat_map(|agent| agent.also_decides);
    let files = files.chain(own).flat_map(|file| {
        let has_directory = file.parent() != Some(Path::new(""));
        let beside = has_directory.then(|| directories_of(&file));
        std::iter::once(file).chain(beside.into_iter().flatten())
    });
    // It may be registered by a link.
    let called = std::env::args_os().next().map(PathBuf::from);
    let called = called.filter(|path| path.is_absolute());
    let at_home = agent.decides_at_home.iter().map(|file| home.join(file));
    AlsoDeciding {
        files: std::env::current_exe().into_iter().chain(called).collect(),
        directories: at_home.chain([session::state(home)]).collect(),
        anywhere: files.chain(directories.map(PathBuf::from)).collect(),
        reads_texts: true,
        leaves_out_above: false,
    }
}

/// The paths of a call that are protected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Protects {
    All,
    /// Not a directory above protected files: the call does something else in it.
    NotAbove,
    /// The call only reads.
    Nothing,
}

/// The protection of files for one event.
pub(super) struct Guarded<'a> {
    pub(super) hooks: &'a Hooks,
    pub(super) agent: &'a Agent,
    /// The user's home directory.
    pub(super) home: &'a Path,
    /// The root of the session, where relative paths begin.
    pub(super) root: &'a Path,
}

impl Guarded<'_> {
    /// Returns why a call may not change the file that it is about to write.
    pub(super) fn objection(&self, event: &HookEvent, protects: Protects) -> Option<String> {
        let tool = event.tool_name.as_deref()?;
        let is_before = event.event_type == EventType::ToolPreExecute;
        if !is_before || !matches!(tool, "write" | "edit") || protects == Protects::Nothing {
            return None;
        }
        let arguments = event.data.get("tool_args")?.as_object()?;
        let path = arguments.get("path")?.as_str()?;
        let whole = self.root.join(path);
        // A path without names decides, as `Hooks::decides` has it.
        let names = Names::of_file(&whole).ok();
        let has = |part: &str| {
            names
                .as_ref()
                .is_some_and(|names| names.has_parts(part.as_ref()))
        };
        let is_of_user = || {
            let mut files = GIT_OF_USER.iter().map(|file| self.home.join(file));
            let is_one = |file: PathBuf| {
                let file = Names::of_file(&file).ok();
                names
                    .as_ref()
                    .zip(file)
                    .is_some_and(|(names, file)| names.leads_to(&file))
            };
            !whole.is_dir() && files.any(is_one)
        };
        let may_register = || {
            let mut directories = BRIDGED.into_iter().flat_map(|agent| agent.may_decide);
            directories.any(|directory| has(directory))
                && front_matter::is_written(&whole, arguments)
        };
        let why = if has(GIT) || is_of_user() {
            OF_GIT
        } else if self.decides(path, &whole, protects) {
            DECIDES
        } else if may_register() {
            REGISTERS
        } else {
            return None;
        };
        let path = printable(path);
        Some(format!(
            "blocked by forge-hooks: `{path}` {why}: a person changes it, in an editor"
        ))
    }

    fn decides(&self, path: &str, whole: &Path, protects: Protects) -> bool {
        let also = AlsoDeciding {
            leaves_out_above: protects == Protects::NotAbove && self.is_place(path.as_ref(), whole),
            ..also_deciding(self.hooks.config().profile(), self.agent, self.home)
        };
        self.hooks.decides_with(path.as_ref(), &also)
    }

    /// Returns whether a directory may have protected files in or below it, but is none of the agents' own: the name of no directory
    /// in its path begins with a dot, or the home or the root are there.
    fn is_place(&self, path: &Path, whole: &Path) -> bool {
        let is_hidden = |part: Component<'_>| {
            let name = part.as_os_str().as_encoded_bytes();
            matches!(part, Component::Normal(_)) && name.starts_with(b".")
        };
        let place: PathBuf = whole.components().collect();
        let is_around = [self.root, self.home]
            .iter()
            .any(|inner| inner.starts_with(&place));
        (is_around || !path.components().any(is_hidden)) && place.is_dir()
    }
}
