//! Errors of approvals.

use std::io;
use std::path::PathBuf;

use crate::error::SetupError;

/// Error approving hooks, or using the store.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrustError {
    /// The project cannot be found, or its path is not Unicode.
    #[error("cannot find the project `{}`", root.display())]
    Root {
        /// The path that was given.
        root: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A hooks file of the project cannot be used: its hooks would count as removed.
    #[error("the project's hooks cannot be approved before this is fixed: {0}")]
    Broken(String),
    /// The project's hooks cover more than a person can decide on, or than can be looked at in a few seconds.
    #[error(
        "the project's hooks cover more than 20,000 files together, or name more than can be looked at: they cannot be \
         approved; use fewer hooks, or smaller directories"
    )]
    TooLarge,
    /// A hook may run files that are known only when it runs, and its entry lists none.
    #[error(
        "hook `{hook}` cannot be approved: it may run files that no approval covers (`{part}`); list the files that it runs in its \
         `inputs`, or write their names in full"
    )]
    NotCovered {
        /// The hook's label.
        hook: String,
        /// The part of its command.
        part: String,
    },
    /// A hook tried to approve hooks.
    #[error(
        "hooks cannot be approved, and approvals cannot be withdrawn, from within a hook (`{0}` is set)"
    )]
    WithinHook(String),
    /// The store cannot be used: it cannot be read, or another user could have written it. All approvals count
    /// as lost: the project's hooks fail, and block what they could have blocked.
    #[error("the trust store `{}` {why}", path.display())]
    Unusable {
        /// The path of the store.
        path: PathBuf,
        /// The problem, and the step that fixes it.
        why: String,
    },
    /// The store cannot be written. The old one is unchanged.
    #[error("cannot write the trust store `{}`", path.display())]
    Write {
        /// The path of the store.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl From<TrustError> for SetupError {
    fn from(error: TrustError) -> Self {
        let message = error.to_string();
        match error {
            TrustError::Root { source, .. } | TrustError::Write { source, .. } => {
                Self::because(message, source)
            }
            _ => Self::new(message),
        }
    }
}
