//! The access of a hook in a sandbox, as a value; its form in hooks.json.
//!
//! Does not know how a process is confined.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::error::SetupError;

/// The access of a hook in a sandbox (Linux): it reads all files that the user can read, writes its own temporary directory,
/// and opens no socket; the methods widen or narrow that. On a system that cannot enforce it, the hook fails without
/// running, with [`FailureKind::NoSandbox`](crate::FailureKind::NoSandbox). See [docs/sandbox.md](crate::docs::sandbox).
///
/// Paths are relative to the hook's working directory, or begin with `~`. A path that does not exist is an error, and so is
/// a relative one that leads out of the hook's project (without a project: out of its working directory) by `..`. No path
/// has a link, except that of the project's root, the working directory and the home directory. A hook with another path fails.
///
/// ```
/// use forge_hooks::{Hook, Sandbox};
///
/// let tests = Sandbox::new().writing(["."]).with_network();
/// assert_eq!(tests.to_string(), "reads everything, writes `.` and its temporary directory, opens network sockets");
/// let hook = Hook::new("agent:stop", "npm test")?.with_sandbox(tests);
/// # Ok::<(), forge_hooks::HookError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Sandbox {
    read: Option<Vec<String>>,
    write: Vec<String>,
    network: bool,
}

impl Sandbox {
    /// Creates a sandbox that reads everything, writes only in its temporary directory, and opens no socket.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the hook read and execute only the files below these paths, besides the system's directories (`/usr`, `/etc` and
    /// others, but not `/home`) and the places that it may write.
    #[must_use]
    pub fn reading(mut self, paths: impl IntoIterator<Item: Into<String>>) -> Self {
        self.read = Some(paths.into_iter().map(Into::into).collect());
        self
    }

    /// Lets the hook create, change and remove files below these paths.
    #[must_use]
    pub fn writing(mut self, paths: impl IntoIterator<Item: Into<String>>) -> Self {
        self.write = paths.into_iter().map(Into::into).collect();
        self
    }

    /// Lets the hook open IPv4, IPv6 and netlink sockets. It can then also connect to programs that listen on this machine.
    #[must_use]
    pub fn with_network(mut self) -> Self {
        self.network = true;
        self
    }

    /// Checks whether hooks can run in a sandbox on this system: Linux on x86_64, aarch64 or riscv64 with Landlock (since
    /// 6.2) and seccomp.
    ///
    /// # Errors
    /// The reason why they cannot. Each hook with a sandbox then fails without running.
    pub fn support() -> Result<(), SetupError> {
        crate::process::sandbox_support().map_err(SetupError::new)
    }

    /// Returns the paths that the hook may read, if they are listed.
    pub(crate) fn read(&self) -> Option<&[String]> {
        self.read.as_deref()
    }

    /// Returns the paths that the hook may write.
    pub(crate) fn write(&self) -> &[String] {
        &self.write
    }

    /// Returns whether the hook may open network sockets.
    pub(crate) fn network(&self) -> bool {
        self.network
    }
}

/// Describes the access for messages: the places that are read and written, and the sockets that are opened.
impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |paths: &[String]| {
            let paths: Vec<_> = paths.iter().map(|path| format!("`{path}`")).collect();
            paths.join(", ")
        };
        match self.read.as_deref() {
            None => f.write_str("reads everything")?,
            Some([]) => f.write_str("reads the system's directories")?,
            Some(paths) => write!(f, "reads {} and the system's directories", listed(paths))?,
        }
        match &*self.write {
            [] => f.write_str(", writes its temporary directory")?,
            paths => write!(f, ", writes {} and its temporary directory", listed(paths))?,
        }
        f.write_str(if self.network {
            ", opens network sockets"
        } else {
            ", no network"
        })
    }
}

impl Serialize for Sandbox {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self == Self::default() {
            return serializer.serialize_bool(true);
        }
        let mut keys = serializer.serialize_map(None)?;
        if let Some(paths) = &self.read {
            keys.serialize_entry("read", paths)?;
        }
        if !self.write.is_empty() {
            keys.serialize_entry("write", &self.write)?;
        }
        if self.network {
            keys.serialize_entry("network", &true)?;
        }
        keys.end()
    }
}
