//! Files that decide what runs: replaced in one step, changed by one at a time, written by nobody else,
//! and files at all.
//!
//! Knows nothing of what is in them.

mod atomic;
mod lock;
#[cfg(unix)]
mod ownership;
mod regular;

pub(crate) use atomic::{NewFile, end_of_links, replace};
pub(crate) use lock::lock;
#[cfg(unix)]
pub(crate) use ownership::check;
pub(crate) use regular::open;
