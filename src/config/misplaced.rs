//! Finds files that were probably intended as hooks files, but that no host reads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::HookConfig;
use super::places::config_home;
use crate::files::quoted;
use crate::printable::printable;
use crate::problem::{Problem, Severity};
use crate::profile::AppProfile;

/// The right name, and the names that people write instead.
const NAMES: [&str; 4] = ["hooks.json", "hook.json", "Hooks.json", "hooks.jsonc"];

impl HookConfig {
    /// Returns a warning for each such file of the user and of the project, if the right file does not exist.
    pub(super) fn misplaced(&self, root: Option<&Path>) -> Vec<Problem> {
        let dotted = format!(".{}", self.profile.name());
        let default = AppProfile::default();
        let mut problems = Vec::new();
        let home = self.config_home.clone().or_else(config_home);
        let right = self.candidates_to_edit(None);
        if let Some(directory) = home
            && right.iter().any(|path| path.starts_with(&directory))
        {
            // The user's own home directory has nothing to do with another place of the configuration.
            let own = home::home_dir().filter(|_| self.config_home.is_none());
            let near = own.map(|home| home.join(&dotted));
            let others = default.global_files();
            problems.extend(self.instead_of(&right, root, near, (&directory, others)));
        }
        if let Some(root) = root {
            let right = self.candidates_to_edit(Some(root));
            let named = root.join(&dotted);
            let near = [root.to_owned(), named.join("hooks"), named];
            let others = default.project_files();
            problems.extend(self.instead_of(&right, Some(root), near, (root, others)));
        }
        problems
    }

    /// Returns the files in these directories and beside the right files, and those of hosts without a name, if none of the
    /// right files exists. A new file is the first of them.
    fn instead_of(
        &self,
        right: &[PathBuf],
        root: Option<&Path>,
        near: impl IntoIterator<Item = PathBuf>,
        (directory, of_default): (&Path, &[PathBuf]),
    ) -> Vec<Problem> {
        let Some(new) = right.first() else {
            return Vec::new();
        };
        if right.iter().any(|path| path.exists()) {
            return Vec::new();
        }
        let beside = right.iter().filter_map(|path| path.parent());
        let near = near.into_iter().chain(beside.map(Path::to_owned));
        let named = near.flat_map(|near| NAMES.map(|name| near.join(name)));
        let of_default = of_default.iter().map(|file| directory.join(file));
        let is_read = |path: &Path| {
            let in_project = root.map(|root| self.project_candidates(root));
            let mut read = in_project
                .into_iter()
                .flatten()
                .chain(self.global_candidates());
            read.any(|known| known == path)
        };
        let paths = named.chain(of_default);
        let paths = paths.filter(|path| path.is_file() && !is_read(path));
        let problem = |path: PathBuf| {
            let message = "the file is not read, since hooks are not looked for there";
            // A file beside a right one only has a wrong name.
            let mut right = right.iter();
            let to = right.find(|right| right.parent() == path.parent());
            let to = to.unwrap_or(new).to_string_lossy();
            let help = format!("move it to {}", quoted(&to));
            let problem = Problem::in_file(Severity::Warning, &path, message);
            problem.with_help(printable(&help)).made_printable()
        };
        BTreeSet::from_iter(paths)
            .into_iter()
            .map(problem)
            .collect()
    }
}
