//! Every lint: a warning about a mistake with which a hook never runs, always runs, or decides by accident. Mistakes of the shell's
//! language are left to shellcheck.
//!
//! Runs nothing, and changes no hook: only the shell and the host know for certain. The readers of files call these checks, and
//! place the problems.

mod agent;
mod agent_names;
mod arguments;
mod conditions;
mod entry;
mod host;
mod pattern;
mod script;
mod shell;

pub(crate) use entry::entry;
pub(crate) use host::Host;
pub(crate) use pattern::unfired;
#[cfg(feature = "cli")]
pub(crate) use shell::last_test;

/// The checks of handlers that were written for other agents.
pub(crate) mod of_agent {
    pub(crate) use super::agent::{command, matcher, nearest_event, unknown_tool};
    pub(crate) use super::agent_names::{key, tool};
}
