//! Writing to the log of the host, whose logger may panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Writes to the log, and catches the panic of a logger: one that uses `println!` panics when its
/// output is closed.
pub(crate) fn log_safely(write: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(write));
}
