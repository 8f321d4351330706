//! `Standing`: whether a hook may run, independent of the event.

use std::fmt;

use super::failure::Failure;

/// The answer to the question whether a hook may run, independent of the event. `Display` is a phrase for people, such as
/// `fails: ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "only the program shows it")
)]
pub(crate) enum Standing {
    /// The hook may run. Its success is not known before.
    Ready,
    /// The hook is switched off, which is not a failure.
    Off(Off),
    /// The hook is a project's, and no person has approved it: it is not registered.
    NotApproved,
    /// The hook fails with this failure, without being started.
    Fails(Failure),
}

/// The switch that keeps a hook from running.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "only the program shows it")
)]
pub(crate) enum Off {
    /// The entry of the hook switches it off. The registry leaves it out.
    Entry,
    /// A file lists the hook's name: the administrator's, or the user's. The hook is not registered.
    Name { by_administrator: bool },
    /// This environment variable is set: no hook runs.
    Variable(String),
}

impl Standing {
    /// Returns whether an event reaches the hook: it runs, or it fails.
    #[cfg(feature = "cli")]
    pub(crate) fn takes_part(&self) -> bool {
        matches!(self, Self::Ready | Self::Fails(_))
    }

    /// Returns the reason why the hook does not run, or `runs`.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Ready => "runs".to_owned(),
            Self::Off(off) => off.to_string(),
            Self::NotApproved => "it comes from a project and has not been approved".to_owned(),
            Self::Fails(failure) => format!("fails: {}", failure.message),
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready | Self::Fails(_) => f.write_str(&self.reason()),
            Self::Off(_) | Self::NotApproved => write!(f, "does not run: {}", self.reason()),
        }
    }
}

impl fmt::Display for Off {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry => f.write_str("disabled by `\"enabled\": false`"),
            Self::Name {
                by_administrator: true,
            } => f.write_str("disabled by name in the administrator's file"),
            Self::Name {
                by_administrator: false,
            } => f.write_str("disabled by name in the user's file"),
            Self::Variable(name) => write!(f, "`{name}` is set"),
        }
    }
}
