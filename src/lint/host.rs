//! The names that a host has, which the lints compare with those of an entry.

use std::sync::Arc;

use crate::events::Vocabulary;

/// The names of a host.
#[derive(Default)]
pub(crate) struct Host {
    /// Its events and tools.
    pub(crate) vocabulary: Arc<Vocabulary>,
    /// Its own prefixes of the variables that hooks receive.
    pub(crate) prefixes: Vec<String>,
    /// True if the scripts of hooks are checked, as far as their place is known.
    pub(crate) looks_at_files: bool,
    /// True if the file is the user's or the administrator's own, so that its hooks begin in the host's directory.
    pub(crate) begins_anywhere: bool,
}

/// A probable mistake: its key, the message, and the fix.
pub(super) type Finding = (String, String, String);
