//! What a hook has written for the environment of the commands that follow it in a session.
//!
//! Knows the file, not what stands in it: the host decides what to do with that.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempPath;

/// The file that a Claude Code hook has been given as `CLAUDE_ENV_FILE`, with what it wrote there:
/// lines such as `export KEY=value` for the commands of the session. Removed when its last result is
/// dropped.
#[derive(Debug, Clone)]
pub struct EnvFile {
    path: Arc<TempPath>,
    bytes: Vec<u8>,
}

impl EnvFile {
    pub(crate) fn new(path: TempPath, bytes: Vec<u8>) -> Self {
        let path = Arc::new(path);
        Self { path, bytes }
    }

    /// The file; the hook may have put another one in its place, so read [`bytes`](EnvFile::bytes).
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the hook has written: of more than 1 MiB, the whole lines within the first.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// By what was written.
impl PartialEq for EnvFile {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}
