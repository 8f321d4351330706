//! How a command ended, as an exit status.

/// The end of a command that could do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Fine,
    /// An event was blocked, a hook failed, or problems were found.
    Problems,
    /// Ended by a signal, with the exit status that a shell reports for it.
    Interrupted(u8),
}

impl Ended {
    pub(crate) fn status(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Problems => 1,
            Self::Interrupted(status) => status,
        }
    }
}

/// The exit status of wrong usage, and of a command that could not do its work.
pub(crate) const NOTHING_DONE: u8 = 2;

/// The exit status that a shell reports for `SIGPIPE`.
pub(crate) const CLOSED_PIPE: u8 = 141;
