//! Files for values that are too large for an environment variable.
//!
//! Each event has one private directory, removed when its hooks have run. If the process is killed
//! before that, the next process that needs such a directory removes it. Large context of a hook has
//! such a directory too. The name of a directory
//! contains its owner: the namespace of process ids (containers may share a directory for temporary
//! files) and the process id.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;

use tempfile::TempDir;

use crate::process::process_is_gone;

const PREFIX: &str = "forge-hooks";

/// The directory of one event; removed when dropped.
#[derive(Debug)]
pub(crate) struct Spill {
    directory: TempDir,
}

impl Spill {
    /// Writes each value to a file with its name.
    pub(crate) fn write<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> io::Result<Self> {
        static SWEEP: Once = Once::new();
        let parent = std::env::temp_dir();
        SWEEP.call_once(|| sweep(&parent));
        Self::write_below(&parent, values)
    }

    fn write_below<'a>(
        parent: &Path,
        values: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> io::Result<Self> {
        let owner = format!("{PREFIX}-{}-{}-", namespace(), std::process::id());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&owner);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o700));
        }
        let spill = Self {
            directory: builder.tempdir_in(parent)?,
        };
        for (name, value) in values {
            fs::write(spill.directory.path().join(name), value)?;
        }
        Ok(spill)
    }

    /// Returns the path of a value's file. The directory for temporary files is set by a variable;
    /// if it is not Unicode, the hook cannot receive the path.
    pub(crate) fn path(&self, name: &str) -> String {
        self.directory
            .path()
            .join(name)
            .to_string_lossy()
            .into_owned()
    }
}

/// Removes directories of processes that have ended. Errors are ignored: another user's directories
/// cannot be removed, and another process may be removing the same ones.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(owner).is_some_and(process_is_gone) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns the id of the process that a directory belongs to, if the id is from this namespace.
fn owner(directory: &str) -> Option<u32> {
    let mut parts = directory
        .strip_prefix(PREFIX)?
        .strip_prefix('-')?
        .splitn(3, '-');
    let ours = parts.next()? == namespace();
    let process = parts.next()?.parse().ok()?;
    parts.next()?;
    ours.then_some(process)
}

/// Returns the number of the namespace of process ids; see pid_namespaces(7).
fn namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_else(|_| PathBuf::from("0"));
    link.to_string_lossy()
        .chars()
        .filter(char::is_ascii_digit)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_gone_processes_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let own = Spill::write_below(parent.path(), [("A", "b")].into_iter()).unwrap();
        // No system uses this id: it is above the largest that Linux can be configured to use.
        let left = parent
            .path()
            .join(format!("{PREFIX}-{}-2000000000-abc", namespace()));
        let elsewhere = parent
            .path()
            .join(format!("{PREFIX}-1{}-2000000000-abc", namespace()));
        let foreign = parent.path().join("forge-hooks-notes");
        for directory in [&left, &elsewhere, &foreign] {
            fs::create_dir(directory).unwrap();
        }
        sweep(parent.path());
        assert!(!left.exists());
        assert!(elsewhere.exists() && foreign.exists() && Path::new(&own.path("A")).exists());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_the_directory() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let spill = Spill::write_below(parent.path(), std::iter::empty()).unwrap();
        let mode = fs::metadata(spill.directory.path())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
