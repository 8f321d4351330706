//! Writing to the log of the host, whose logger may panic: one that uses `println!` panics when its output is closed.
//!
//! Only these macros write to the log. They catch the panic of a logger, so that it does not affect hooks.

use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) use log::Level;

/// Calls code that writes to the log, and catches the panic of a logger. Returns None if it panicked.
pub(crate) fn log_safely<T>(write: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(write)).ok()
}

macro_rules! log_at {
    ($level:expr, $($message:tt)+) => {{
        let _ = $crate::logging::log_safely(|| ::log::log!($level, $($message)+));
    }};
}

macro_rules! error_safely {
    ($($message:tt)+) => { $crate::logging::log!($crate::logging::Level::Error, $($message)+) };
}

macro_rules! warn_safely {
    ($($message:tt)+) => { $crate::logging::log!($crate::logging::Level::Warn, $($message)+) };
}

macro_rules! info_safely {
    ($($message:tt)+) => { $crate::logging::log!($crate::logging::Level::Info, $($message)+) };
}

macro_rules! debug_safely {
    ($($message:tt)+) => { $crate::logging::log!($crate::logging::Level::Debug, $($message)+) };
}

// `warn` is also an attribute, so a macro cannot be exported under this name where it is defined.
pub(crate) use {
    debug_safely as debug, error_safely as error, info_safely as info, log_at as log,
    warn_safely as warn,
};
