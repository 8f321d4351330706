//! Finds files that were probably meant as hooks files, where no host looks for them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::HookConfig;
use super::places::config_home;
use super::report::{Problem, Severity};
use crate::files::quoted;
use crate::printable::printable;
use crate::profile::AppProfile;

/// The right name, and what people write instead.
const NAMES: [&str; 4] = ["hooks.json", "hook.json", "Hooks.json", "hooks.jsonc"];

impl HookConfig {
    /// Returns a warning for each such file of the user and of the project, if the right file does not exist.
    pub(super) fn misplaced(&self, root: Option<&Path>) -> Vec<Problem> {
        let dotted = format!(".{}", self.profile.name());
        let default = AppProfile::default();
        let mut found = Vec::new();
        let home = self.config_home.clone().or_else(config_home);
        if let (Some(right), Some(directory)) = (self.global_path(), home)
            && right.starts_with(&directory)
        {
            // The user's own home directory has nothing to do with another place of the configuration.
            let own = home::home_dir().filter(|_| self.config_home.is_none());
            let near = own.map(|home| home.join(&dotted));
            let others = default.global_files();
            found.extend(self.instead_of(&right, root, near, (&directory, others)));
        }
        if let Some((root, right)) = root.and_then(|it| Some((it, self.project_path(it)?))) {
            let named = root.join(&dotted);
            let near = [root.to_owned(), named.join("hooks"), named];
            let others = default.project_files();
            found.extend(self.instead_of(&right, Some(root), near, (root, others)));
        }
        found
    }

    /// Returns the files in these directories and beside the right file, and those of hosts without a name, that are there
    /// instead of the right file.
    fn instead_of(
        &self,
        right: &Path,
        root: Option<&Path>,
        near: impl IntoIterator<Item = PathBuf>,
        (directory, of_default): (&Path, &[PathBuf]),
    ) -> Vec<Problem> {
        if right.exists() {
            return Vec::new();
        }
        let beside = right.parent().map(Path::to_owned);
        let near = near.into_iter().chain(beside);
        let named = near.flat_map(|near| NAMES.map(|name| near.join(name)));
        let of_default = of_default.iter().map(|file| directory.join(file));
        let is_read = |path: &Path| {
            let in_project = root.map(|root| self.project_candidates(root));
            let mut read = in_project
                .into_iter()
                .flatten()
                .chain(self.global_candidates());
            read.any(|it| it == path)
        };
        let paths = named.chain(of_default);
        let paths = paths.filter(|path| path.is_file() && !is_read(path));
        let problem = |path: PathBuf| {
            let words = "the file is not read, since hooks are not looked for there";
            let help = format!("move it to {}", quoted(&right.to_string_lossy()));
            let problem = Problem::of_file(Severity::Warning, &path, words);
            problem.with_help(printable(&help)).made_printable()
        };
        BTreeSet::from_iter(paths)
            .into_iter()
            .map(problem)
            .collect()
    }
}
