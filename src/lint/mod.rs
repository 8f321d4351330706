//! Every lint: warnings about probable mistakes in entries of hooks.json, in handlers of other agents, in patterns, and in the
//! commands and scripts of hooks.
//!
//! Runs nothing, and changes no hook: only the shell and the host know for certain. The readers of files call these checks, and
//! place the problems.

mod agent;
mod agent_names;
mod entry;
mod foreign_names;
mod of_command;
mod pattern;
mod script;
mod shell;

pub(crate) use entry::{Host, entry, guards};
pub(crate) use pattern::unfired;
#[cfg(feature = "cli")]
pub(crate) use shell::last_test;

/// The checks of handlers that were written for other agents.
pub(crate) mod of_agent {
    pub(crate) use super::agent::{command, matcher, nearest_event, timeout, unknown_tool};
    pub(crate) use super::agent_names::{key, tool};
}
