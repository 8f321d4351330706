//! The place of a hook in a file.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The place of a hook in a file. `Display` formats it as compilers do: `/path/hooks.json:12`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookSource {
    /// The file. Its hooks share it.
    pub path: Arc<Path>,
    /// The index in the file's list `hooks`, counted from 0; none if the hook represents the whole file.
    pub index: Option<usize>,
    /// The line in which the entry begins, counted from 1; none if the hook represents the whole file.
    pub line: Option<usize>,
}

impl HookSource {
    pub(crate) fn new(path: Arc<Path>, index: Option<usize>, line: Option<usize>) -> Self {
        Self { path, index, line }
    }
}

/// The directory beside a hooks file with more of them.
pub(crate) const HOOKS_D: &str = "hooks.d";

/// Returns the directory of the hooks file that this file is, or beside which it stands.
pub(crate) fn directory_of_hooks(file: &Path) -> Option<&Path> {
    let directory = file.parent()?;
    match directory.file_name() {
        Some(name) if name == HOOKS_D => directory.parent(),
        _ => Some(directory),
    }
}

impl fmt::Display for HookSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}
