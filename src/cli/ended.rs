//! How a command ended that could do what it was asked for, as an exit status.

/// What an exit status says of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Fine,
    /// Blocked, failed, or problems found.
    Problems,
    /// By a signal, which stands in the exit status as a shell puts it.
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

/// The exit status of wrong usage, and where nothing could be done.
pub(crate) const NOTHING_DONE: u8 = 2;

/// What a shell makes of an end by `SIGPIPE`.
pub(crate) const CLOSED_PIPE: u8 = 141;
