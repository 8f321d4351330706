//! The access of a confined process, and the error if a process cannot be confined.
//!
//! Knows files and directories. Does not know how the kernel enforces the access.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The access of a process, besides a temporary directory of its own. The threads of this program are never confined.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(windows, allow(dead_code))]
pub(crate) struct Confinement {
    /// The layers, each of which narrows the access that the others allow.
    pub(crate) layers: Vec<Reach>,
    /// True if the process may open network sockets.
    pub(crate) network: bool,
    /// The working directory, if the hook has chosen it.
    pub(crate) working_dir: Option<Place>,
}

impl Confinement {
    /// Returns whether the process may read and execute only some files.
    pub(crate) fn lists_what_is_read(&self) -> bool {
        self.layers.iter().any(|layer| layer.read.is_some())
    }
}

/// The files that one layer allows, and the directories whose whole content it allows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(windows, allow(dead_code))]
pub(crate) struct Reach {
    /// The places that may be read. None: all that this process can read.
    pub(crate) read: Option<Vec<Place>>,
    pub(crate) write: Vec<Place>,
}

/// A path that is opened by one rule: from the first directory that the user can write, it has no link.
///
/// A user who can write a directory can put a link into it, and so choose where a path that another user has written leads.
#[derive(Debug, Clone, PartialEq, Eq)]
// This type is not used on systems where no process can be confined.
#[allow(dead_code)]
pub(crate) struct Place {
    /// The setting that names the place, for messages.
    pub(crate) name: String,
    /// The real path of a directory below which the rule begins. For `/`, the rule begins at the first directory that the
    /// user can write.
    pub(crate) base: PathBuf,
    /// The path below the base, without `..`.
    pub(crate) below: PathBuf,
    /// The real path of the project's root, at which the rule also begins: other people may have put links into the project.
    pub(crate) project: Option<Arc<Path>>,
    /// The device and the number of the file, if it was opened before: a kept process accesses the file that existed when it
    /// was started.
    pub(crate) identity: Option<(u64, u64)>,
}

/// Error confining a process, which was therefore not started.
#[derive(Debug)]
// This type is not used on systems where no process can be confined.
#[allow(dead_code)]
pub(crate) enum Refused {
    /// No process can be confined in this way on this system.
    Here(String),
    /// One of the process's places cannot be opened.
    Place(String),
}

impl Refused {
    /// Returns the error of a system on which no process can be confined.
    #[cfg_attr(target_os = "linux", allow(dead_code))]
    pub(crate) fn on_this_system() -> Self {
        let needs =
            "it needs Linux on x86_64, aarch64 or riscv64, with Landlock (since 6.2) and seccomp";
        Self::Here(needs.to_owned())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(why) => write!(f, "no sandbox is possible here: {why}"),
            Self::Place(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Refused {}
