//! The file of a pack, in `hooks.d` beside the hooks file of the user or of a project: read, written and removed for a person.

use std::path::{Path, PathBuf};

use super::HookConfig;
use super::places::absolute;
use super::replacing::{self, cannot_write};
use super::report::ConfigError;
use crate::files;
use crate::hook::HOOKS_D;

pub(crate) struct PackFile {
    path: PathBuf,
    root: Option<PathBuf>,
}

impl HookConfig {
    /// Returns the file of a pack of the project, or of the user without a root.
    ///
    /// # Errors
    /// If there is no directory for it, or several hooks files exist.
    pub(crate) fn pack_file(
        &self,
        name: &str,
        root: Option<&Path>,
    ) -> Result<PackFile, ConfigError> {
        let root = root.map(absolute);
        let hooks_file = replacing::place(&self.candidates_to_edit(root.as_deref()))?;
        let directory = hooks_file.with_file_name(HOOKS_D);
        let path = directory.join(format!("{name}.json"));
        Ok(PackFile { path, root })
    }
}

impl PackFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file; none if it does not exist.
    ///
    /// # Errors
    /// If it cannot be read, or a link leads out of the project.
    pub(crate) fn read(&self) -> Result<Option<String>, ConfigError> {
        replacing::read(&self.path, self.root.as_deref())
    }

    /// Writes the file (none removes it) if its text is still this one.
    ///
    /// # Errors
    /// If it cannot be written, if it has changed, or a link leads out of the project.
    pub(crate) fn change(&self, old: Option<&str>, new: Option<&str>) -> Result<(), ConfigError> {
        let lock = replacing::lock(&self.path, self.root.as_deref())?;
        let current = self.read()?;
        if current.as_deref() == new {
            // Another program has done the same meanwhile.
            return Ok(());
        }
        if current.as_deref() != old {
            let path = self.path.clone();
            return Err(ConfigError::Changed { path });
        }
        match new {
            Some(text) => replacing::replace(&self.path, text),
            None => {
                files::remove(&self.path).map_err(|error| cannot_write(&self.path, error))?;
                // Only an empty directory can be removed: one without the file of the lock.
                drop(lock);
                let _ = self.path.parent().map(files::remove_directory);
                Ok(())
            }
        }
    }
}
