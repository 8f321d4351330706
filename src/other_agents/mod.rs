//! The files of other agents as a source of hooks: [`OtherAgents`](crate::compat::OtherAgents) is a `Source` of `config`.
//!
//! `compat` knows the differences between the agents.

mod files;
mod reader;
