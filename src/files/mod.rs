//! Files that decide what runs: replaced in one step, and written by nobody else.
//!
//! Knows nothing of what is in them.

mod atomic;
#[cfg(unix)]
mod ownership;

pub(crate) use atomic::{NewFile, replace};
#[cfg(unix)]
pub(crate) use ownership::check;
