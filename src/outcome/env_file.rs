//! The environment variables that a hook sets for later commands of a session.
//!
//! Knows the file, but not its format: the host decides how to use it.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempPath;

/// The file in which a hook could set variables for the session, with its content: lines such as
/// `export KEY=value` for the commands of the session. The file is removed when its last result is
/// dropped.
#[derive(Debug, Clone)]
pub(crate) struct EnvFile {
    path: Arc<TempPath>,
    bytes: Vec<u8>,
}

impl EnvFile {
    pub(crate) fn new(path: TempPath, bytes: Vec<u8>) -> Self {
        let path = Arc::new(path);
        Self { path, bytes }
    }

    /// Returns the path of the file. The hook may have put another file in its place, so read [`bytes`](EnvFile::bytes)
    /// instead.
    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the content that the hook has written. If it is longer than 1 MiB, returns only the complete lines within the
    /// first 1 MiB.
    #[must_use]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Two files are equal if the hooks have written the same content.
impl PartialEq for EnvFile {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}
