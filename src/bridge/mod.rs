//! Runs the hooks of hooks.json for the events of other agents.

// Nothing calls them yet.
#[allow(dead_code)]
mod patch;
#[allow(dead_code)]
mod paths;

#[cfg(fuzzing)]
pub use patch::check_patch;
