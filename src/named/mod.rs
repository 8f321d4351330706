//! What a hook names: the files behind the words of its command, behind its interpreters and its `inputs`, where their paths
//! lead, and whether they have changed. Approvals and kept processes ask the same questions here.

mod content;
mod files;
mod stamp;
mod tree;

pub(crate) use content::{digest, of_text};
pub(crate) use files::{Files, Lookup, Named, TOO_MUCH};
pub(crate) use stamp::Settled;
#[cfg(unix)]
pub(crate) use stamp::Stamps;
pub(crate) use tree::{End, follow_within};
