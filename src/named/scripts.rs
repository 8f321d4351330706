//! Whether the files that a hook's command names have changed since the hook was loaded: the user, or a tool, may have
//! changed them.
//!
//! Compares times and stamps, so no file is opened. Of most hooks that are loaded none runs, so the files are looked for
//! before the first run.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::anywhere::{named_by_command, without_links};
use super::stamp::Stamp;
use crate::hook::{Hook, ScriptCheck};

/// The scripts of one hook. Copies of the hook share it.
#[derive(Debug)]
struct Scripts(Mutex<State>);

#[derive(Debug)]
struct State {
    loaded: SystemTime,
    /// None before the first run.
    files: Option<Vec<Script>>,
}

#[derive(Debug)]
struct Script {
    path: PathBuf,
    /// As it was when it was first looked at, or when a change was last told; none if it was missing.
    then: Option<Stamp>,
    /// It had changed before the first look.
    is_new: bool,
}

/// Returns what compares the scripts of a hook that is loaded now. Where the system has no time of the last change that no
/// program can set, no change is noticed.
pub(crate) fn scripts_since(loaded: SystemTime) -> Arc<dyn ScriptCheck> {
    let files = None;
    Arc::new(Scripts(Mutex::new(State { loaded, files })))
}

impl Script {
    fn first_look(path: PathBuf, loaded: SystemTime) -> Self {
        let then = stamp_of(&path);
        let is_new = then.as_ref().is_some_and(|stamp| stamp.is_newer(loaded));
        Self { path, then, is_new }
    }

    fn has_changed(&self) -> bool {
        self.is_new || stamp_of(&self.path) != self.then
    }
}

fn stamp_of(path: &Path) -> Option<Stamp> {
    Stamp::of(&path.symlink_metadata().ok()?)
}

fn look_for(hook: &Hook, host_dir: Option<&Path>, loaded: SystemTime) -> Vec<Script> {
    if !cfg!(unix) {
        return Vec::new();
    }
    let here = || std::env::current_dir().unwrap_or_default();
    let host_dir = without_links(&host_dir.map_or_else(here, Path::to_owned));
    let paths = named_by_command(hook, &host_dir).into_iter();
    paths.map(|path| Script::first_look(path, loaded)).collect()
}

impl Scripts {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic leaves at most a script whose change is told twice.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScriptCheck for Scripts {
    fn changed(&self, hook: &Hook, host_dir: Option<&Path>) -> Option<String> {
        let mut state = self.state();
        let loaded = state.loaded;
        let files = state
            .files
            .get_or_insert_with(|| look_for(hook, host_dir, loaded));
        let changed = files.iter().find(|script| script.has_changed())?;
        let name = changed.path.file_name();
        let name = name.unwrap_or(changed.path.as_os_str()).to_string_lossy();
        Some(name.into_owned())
    }

    fn is_told(&self) -> bool {
        let mut is_first = false;
        for script in self.state().files.iter_mut().flatten() {
            is_first |= script.has_changed();
            script.then = stamp_of(&script.path);
            script.is_new = false;
        }
        is_first
    }
}
