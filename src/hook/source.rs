//! The place of a hook in a file.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The place of a hook in a file. `Display` formats it as compilers do: `/path/hooks.json:12`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HookSource {
    /// The file. Its hooks share it.
    pub(crate) path: Arc<Path>,
    /// The index in the file's list `hooks`, counted from 0; none if the hook represents the whole file.
    pub(crate) index: Option<usize>,
    /// The line in which the entry begins, counted from 1; none if the hook represents the whole file.
    pub(crate) line: Option<usize>,
}

impl HookSource {
    pub(crate) fn new(path: Arc<Path>, index: Option<usize>, line: Option<usize>) -> Self {
        Self { path, index, line }
    }
}

/// The directory beside a hooks file that contains more hooks files.
pub(crate) const HOOKS_D: &str = "hooks.d";

/// Returns whether a file is beside a hooks file, not in its place.
pub(crate) fn is_beside_hooks(file: &Path) -> bool {
    let directory = file.parent().and_then(Path::file_name);
    directory.is_some_and(|name| name == HOOKS_D)
}

/// Returns the directory of this hooks file, or of the hooks file beside which it is.
pub(crate) fn directory_of_hooks(file: &Path) -> Option<&Path> {
    let directory = file.parent()?;
    if is_beside_hooks(file) {
        directory.parent()
    } else {
        Some(directory)
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
