//! The scenario tests: real processes, real files, one binary.

mod api;
mod blocking;
mod config;
mod endurance;
mod environment;
mod events;
mod examples;
mod execution;
mod hosts;
mod limits;
mod load_into;
mod logging;
mod patterns;
mod processes;
mod protocol_page;
mod registry;
mod submit;
mod support;
mod templates;
mod tidy;
mod windows;
