//! Files that decide what runs: replaced in one step, changed by one at a time, and written by nobody
//! else.
//!
//! Knows nothing of what is in them.

mod atomic;
mod lock;
#[cfg(unix)]
mod ownership;

pub(crate) use atomic::{NewFile, end_of_links, replace};
pub(crate) use lock::lock;
#[cfg(unix)]
pub(crate) use ownership::check;
