//! Saves lists of hooks.
//!
//! `hooks_file` changes the text.

use std::borrow::Borrow;
use std::path::Path;

use super::places::absolute;
use super::{HookConfig, hooks_file};
use crate::error::SetupError;
use crate::hook::Hook;

impl HookConfig {
    /// Saves the user's hooks in place of those in the file that exists, else in the first file of the profile.
    ///
    /// The file is replaced in one step, so that a reader never sees half of it, and keeps its mode. A hook that is
    /// equal to an entry keeps the text of this entry. If a hook has changed, only the keys that differ are written into the
    /// entry from which it was loaded; other hooks are added, with the file's indentation. All other bytes stay:
    /// comments, formatting, keys that this version does not know, and entries that it cannot use.
    ///
    /// If the whole file cannot be used, a copy is saved first, next to the file (`hooks.json.broken`).
    ///
    /// Hooks of files in `hooks.d` stay there, and are not written here.
    ///
    /// If two programs save at the same time, one waits for the other, and the later list replaces the earlier one.
    ///
    /// # Errors
    /// When the user has no home directory, when several of the profile's files exist, when a file cannot be
    /// read or written, when another program keeps the file locked for 5 seconds, and when it would exceed a limit of
    /// the file.
    pub fn save_global<I>(&self, hooks: I) -> Result<(), SetupError>
    where
        I: IntoIterator<Item: Borrow<Hook>>,
    {
        hooks_file::save_all(&self.global_candidates(), None, hooks)?;
        Ok(())
    }

    /// Saves the project's hooks; see [`save_global`](HookConfig::save_global).
    ///
    /// # Errors
    /// As with [`save_global`](HookConfig::save_global), and when a link leads out of the project, since a
    /// repository may contain such a link.
    pub fn save_project<I>(&self, root: impl AsRef<Path>, hooks: I) -> Result<(), SetupError>
    where
        I: IntoIterator<Item: Borrow<Hook>>,
    {
        let root = absolute(root.as_ref());
        let candidates = self.project_candidates(&root);
        hooks_file::save_all(&candidates, Some(root), hooks)?;
        Ok(())
    }
}
