//! The files that a hook names: by the words of its command, by its interpreters and its `inputs`; the targets of their
//! paths, and their changes. Approvals, kept processes and `Hooks::decides` all use this module.

mod anywhere;
mod content;
mod files;
mod look;
mod scripts;
mod stamp;
mod tree;

pub(crate) use anywhere::{GetVariable, named_anywhere, without_links};
pub(crate) use content::{Contents, Copies, digest, of_text};
pub(crate) use files::hooks_directories;
pub(crate) use look::{Files, Lookup, Named, TOO_MUCH, is_data};
pub(crate) use scripts::scripts_since;
pub(crate) use stamp::Settled;
#[cfg(unix)]
pub(crate) use stamp::Stamps;
pub(crate) use tree::{End, follow_within, name_of};
