//! The access of a confined process, and the error if a process cannot be confined.
//!
//! Knows files and directories. Does not know how the kernel enforces the access.

use std::fmt;
use std::path::PathBuf;

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

/// A path without a link below the directory at which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
// This type is not used on systems where no process can be confined.
#[allow(dead_code)]
pub(crate) struct Place {
    /// The setting that names the place, for messages.
    pub(crate) name: String,
    /// The real path of the directory at which the path begins.
    pub(crate) base: PathBuf,
    /// The path below the base, without `..`.
    pub(crate) below: PathBuf,
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
