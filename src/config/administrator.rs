//! The administrator's file: finds it, and checks its owner and mode.

use std::path::PathBuf;

use super::content::Loaded;
use super::{HookConfig, SystemFile};
#[cfg(unix)]
use crate::files;
use crate::hook::Hook;
#[cfg(unix)]
use crate::problem::{Problem, Severity};

impl HookConfig {
    /// Sets the path of the administrator's file; see [`HooksBuilder::system_file`](crate::HooksBuilder::system_file).
    pub(crate) fn with_system_file(mut self, path: PathBuf) -> Self {
        self.system_file = SystemFile::At(path);
        self
    }

    /// Reads no administrator's file.
    pub(crate) fn without_system_file(mut self) -> Self {
        self.system_file = SystemFile::Nowhere;
        self
    }

    /// Returns the path of the administrator's file, whether it exists or not. None if no such file is read.
    #[must_use]
    pub(crate) fn system_path(&self) -> Option<PathBuf> {
        match &self.system_file {
            SystemFile::OfProfile => self.profile.system_file(),
            SystemFile::At(path) => Some(path.clone()),
            SystemFile::Nowhere => None,
        }
    }

    /// Marks the hooks of an administrator's file, and refuses a file that other users can change.
    pub(super) fn check_system(&self, system: &mut Loaded) {
        #[cfg(unix)]
        {
            let or_user = matches!(self.system_file, SystemFile::At(_));
            // A file behind a link to nothing has been refused already.
            if system.path.exists()
                && let Err(reason) = files::check_system(&system.path, or_user)
            {
                let message = format!("the file {reason}");
                let problem = Problem::in_file(Severity::Error, &system.path, message);
                system.refuse(problem, true);
                system.disable.clear();
            }
        }
        let items = system.items.iter_mut();
        items.for_each(|item| item.change(Hook::with_system));
    }
}
