//! The protection of the files that decide which hooks run: no hook has to be written for it.
//!
//! Against a shell command it is no wall, only a hurdle.

use std::path::{Path, PathBuf};

use crate::compat::OtherAgents;
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
        let decides = hooks.decides_with(path.as_ref(), &self.files, &self.directories)
            || is_read_elsewhere(hooks, path.as_ref());
        let path = printable(path);
        decides.then(|| {
            format!("blocked by forge-hooks: `{path}` {DECIDES}: a person changes it, in an editor")
        })
    }
}

/// Whether an agent that is started in another directory reads this file: by its name, or by the one behind a link.
fn is_read_elsewhere(hooks: &Hooks, path: &Path) -> bool {
    let real = path.parent().and_then(|parent| {
        let parent = hooks.project().unwrap_or(Path::new("")).join(parent);
        Some(parent.canonicalize().ok()?.join(path.file_name()?))
    });
    let (files, directories) = OtherAgents::deciding_names();
    let own: Vec<_> = hooks
        .profile()
        .project_files()
        .iter()
        .flat_map(|file| {
            [
                file.clone(),
                file.with_file_name("hooks"),
                file.with_file_name("hooks.d"),
            ]
        })
        .collect();
    let files = files.into_iter().map(Path::new);
    let places: Vec<_> = files
        .chain(directories.into_iter().map(Path::new))
        .chain(own.iter().map(PathBuf::as_path))
        .collect();
    [Some(path), real.as_deref()]
        .into_iter()
        .flatten()
        .any(|path| places.iter().any(|place| has_place(path, place)))
}

/// Whether a path has these parts one after the other, in any case: systems differ in whether case matters.
fn has_place(path: &Path, place: &Path) -> bool {
    let parts = |path: &Path| -> Vec<String> {
        let parts = path.components();
        parts
            .map(|part| part.as_os_str().to_string_lossy().to_lowercase())
            .collect()
    };
    let place = parts(place);
    !place.is_empty() && parts(path).windows(place.len()).any(|parts| parts == place)
}
