//! The check whether the files that a hook's command names have changed since the hook was loaded. The user, or a tool, may
//! have changed them.
//!
//! The check compares times and stamps, so it opens no file. Most hooks that are loaded never run, so the files are looked
//! for before the first run.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::anywhere::{named_by_command, without_links};
use super::stamp::Stamp;
use crate::hook::{Hook, ScriptCheck};

/// The scripts of one hook. Copies of the hook share it.
#[derive(Debug)]
struct Scripts {
    loaded: SystemTime,
    /// The scripts; None before the first run. Replaced as a whole: files are looked at without the lock.
    files: Mutex<Option<Arc<[Script]>>>,
}

#[derive(Debug)]
struct Script {
    path: PathBuf,
    /// The stamp at the first look, or when a change was last reported; none if the file was missing.
    then: Option<Stamp>,
    /// True if the file had changed before the first look.
    is_new: bool,
}

/// Returns the check of the scripts of a hook that is loaded now. On a system without a time of the last change that no
/// program can set, no change is noticed.
pub(crate) fn scripts_since(loaded: SystemTime) -> Arc<dyn ScriptCheck> {
    let files = Mutex::default();
    Arc::new(Scripts { loaded, files })
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
    fn files(&self) -> MutexGuard<'_, Option<Arc<[Script]>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScriptCheck for Scripts {
    fn changed(&self, hook: &Hook, host_dir: Option<&Path>) -> Option<String> {
        let known = self.files().clone();
        let files = known.unwrap_or_else(|| {
            let looked_at = look_for(hook, host_dir, self.loaded).into();
            Arc::clone(self.files().get_or_insert(looked_at))
        });
        let changed = files.iter().find(|script| script.has_changed())?;
        let name = changed.path.file_name();
        let name = name.unwrap_or(changed.path.as_os_str()).to_string_lossy();
        Some(name.into_owned())
    }

    fn is_told(&self) -> bool {
        let Some(files) = self.files().clone() else {
            return false;
        };
        let now = files.iter().map(|script| Script {
            path: script.path.clone(),
            then: stamp_of(&script.path),
            is_new: false,
        });
        let now: Arc<[Script]> = now.collect();
        let mut known = self.files();
        // If another thread has noticed the change, that thread reports it.
        let is_first = known
            .as_ref()
            .is_some_and(|known| Arc::ptr_eq(known, &files));
        if is_first {
            *known = Some(now);
        }
        is_first
    }
}
