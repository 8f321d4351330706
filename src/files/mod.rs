//! Safe access to the files that decide what runs: regular files only, replaced in one step, changed by one
//! process at a time, and writable only by the user.
//!
//! Knows nothing of their content.

mod atomic;
mod lock;
#[cfg(unix)]
mod ownership;
mod regular;

pub(crate) use atomic::{NewFile, end_of_links, replace};
pub(crate) use lock::{Lock, lock};
#[cfg(unix)]
pub(crate) use ownership::{check, check_system};
pub(crate) use regular::open;
