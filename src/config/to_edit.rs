//! Finds the file that the program edits for a person.

use std::path::{Path, PathBuf};

use super::places::{absolute, first_existing};
use super::report::ConfigError;
use super::{HookConfig, hooks_file};
use crate::profile::index_of_new;

impl HookConfig {
    /// Checks that the file that a program edits for a person can be read, and that no link leads out of the project.
    pub(crate) fn check_file_to_edit(&self, root: &Path) -> Result<(), ConfigError> {
        let root = absolute(root);
        hooks_file::check(&self.candidates_to_edit(Some(&root)), root)
    }

    /// Returns the path of the file of the project, or of the user without a root, that a program edits for a person: the one that
    /// exists, else the one that is written for the person.
    pub(crate) fn path_to_edit(&self, root: Option<&Path>) -> Option<PathBuf> {
        first_existing(self.candidates_to_edit(root))
    }

    /// Returns the files of the project, or of the user without a root. The first one is the path of a new file.
    pub(super) fn candidates_to_edit(&self, root: Option<&Path>) -> Vec<PathBuf> {
        let (mut candidates, files) = match root {
            Some(root) => (self.project_candidates(root), self.profile.project_files()),
            None => (self.global_candidates(), self.profile.global_files()),
        };
        if let Some(up_to_new) = candidates.get_mut(..=index_of_new(files)) {
            up_to_new.rotate_right(1);
        }
        candidates
    }
}
