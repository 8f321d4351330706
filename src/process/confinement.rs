//! What a confined process may reach, and why there may be no such process.
//!
//! Knows files and directories, not how the kernel is told.

use std::fmt;
use std::path::PathBuf;

/// What a process may reach, besides a temporary directory of its own. The threads of this program are never confined.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(windows, allow(dead_code))]
pub(crate) struct Confinement {
    /// Each narrows what the others leave.
    pub(crate) layers: Vec<Reach>,
    /// Whether it may open network sockets.
    pub(crate) network: bool,
}

/// What one layer lets pass: these files, and what is below these directories.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(windows, allow(dead_code))]
pub(crate) struct Reach {
    /// None: all that this process can read.
    pub(crate) read: Option<Vec<PathBuf>>,
    pub(crate) write: Vec<PathBuf>,
}

/// Why a process cannot be confined here, and so was not started.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) String);

impl Refused {
    /// The reason on every other system.
    #[cfg_attr(target_os = "linux", allow(dead_code))]
    pub(crate) fn on_this_system() -> Self {
        let needs =
            "it needs Linux on x86_64, aarch64 or riscv64, with Landlock (since 6.2) and seccomp";
        Self(needs.to_owned())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no sandbox is possible here: {}", self.0)
    }
}

impl std::error::Error for Refused {}
