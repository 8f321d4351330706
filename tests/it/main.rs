//! The scenario tests: real processes, real files, one binary.

mod api;
mod blocking;
mod cancel;
mod circular;
mod config;
mod diagnostics;
mod disabling;
mod endurance;
mod environment;
mod events;
mod examples;
mod execution;
mod hosts;
mod limits;
mod load_into;
mod logging;
mod observers;
mod order;
mod parallel;
mod patterns;
mod processes;
#[cfg(all(feature = "cli", unix))]
mod program;
mod protocol_page;
mod registry;
mod saving;
mod schedules;
mod schema;
mod shutdown;
mod submit;
mod support;
mod templates;
mod tidy;
mod trust;
mod watching;
mod windows;
