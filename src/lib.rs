//! Lets your users run shell commands on events of your program. The commands can observe, block or change what
//! your program does; they cannot hang or crash it.
//!
//! ```
//! use forge_hooks::lifecycle::{Next, ToolRun};
//! use forge_hooks::{AppProfile, Hooks, Permit};
//! use serde_json::json;
//!
//! /// The only function of the program that runs a command: hooks alone give a permit.
//! fn run(permit: Permit) -> ToolRun {
//!     permit.run(|_, args| Ok::<_, String>(format!("running {}", args["command"])))
//! }
//!
//! # let home = tempfile::tempdir().unwrap();
//! # let hooks = Hooks::builder(AppProfile::new("myagent")).config_home(home.path()).load();
//! # /*
//! let hooks = Hooks::builder(AppProfile::new("myagent")).project(".").load();
//! # */
//! eprint!("{}", hooks.report()); // what is wrong in hooks.json, and where
//!
//! # let command = "ls";
//! let ran = hooks.lifecycle().tool("bash", json!({"command": command})).run(run);
//! ran.messages.iter().for_each(|message| eprintln!("{message}")); // such as a hook that failed
//! match ran.next {
//!     Next::GoOn(text) | Next::EndTurn(text) => println!("{text}"), // the output, or why there is none
//!     Next::Cancelled => {}
//! }
//! ```
//!
//! A hook of a user, in `hooks.json`:
//!
//! ```json
//! {"hooks": [{"event": "tool:pre_execute:bash", "command": "~/bin/guard.sh", "timeout": 5}]}
//! ```
//!
//! | your program | page | example |
//! |---|---|---|
//! | agent | [what an agent needs](docs::embedding#what-an-agent-needs), [`Lifecycle`], [`Permit`] | [tool_executor.rs] |
//! | editor | [ask the user](docs::embedding#ask-the-user), [`Hooks::approve_with`] | [editor.rs] |
//! | game | [never waiting](docs::embedding#never-waiting), [`Hooks::submit`] | [game_loop.rs] |
//! | command line | [fire an event](docs::embedding#fire-an-event), [`Hooks::execute`] | [minimal.rs] |
//! | not in Rust | [`forge-hooks serve`](docs::serve) | [clients](https://docs.rs/crate/forge-hooks/latest/source/examples/clients/) |
//!
//! Your users begin with [their first guard](docs::guards); [the reference](docs::protocol) says what a hook
//! receives and may answer. [`docs`] lists all pages. A host that goes further finds the rest in modules by subject, such as
//! [`executor`], [`config`], [`trust`], [`lifecycle`].
//!
//! [tool_executor.rs]: https://docs.rs/crate/forge-hooks/latest/source/examples/tool_executor.rs
//! [editor.rs]: https://docs.rs/crate/forge-hooks/latest/source/examples/editor.rs
//! [game_loop.rs]: https://docs.rs/crate/forge-hooks/latest/source/examples/game_loop.rs
//! [minimal.rs]: https://docs.rs/crate/forge-hooks/latest/source/examples/minimal.rs

#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr
)]

/// Compiles the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Code that must not compile, and the same code with one change.
#[cfg(doctest)]
#[doc = include_str!("../tests/it/without_a_yes.md")]
struct WithoutAYes;

mod agents;
#[cfg(feature = "cli")]
mod bridge;
#[cfg(feature = "cli")]
pub mod cli;
mod command;
pub mod compat;
pub mod config;
#[cfg(any(doc, doctest))]
pub mod docs;
mod entry;
mod error;
pub mod events;
pub mod executor;
mod files;
mod globs;
#[cfg(test)]
#[path = "../tests/it/growth.rs"]
mod growth;
pub mod hook;
mod hooks;
mod json;
pub mod lifecycle;
mod lint;
mod logging;
mod named;
mod other_agents;
pub mod outcome;
#[cfg(feature = "cli")]
mod packs;
mod paths;
mod pattern;
mod pool;
pub mod printable;
mod problem;
mod process;
mod profile;
mod protocol;
pub mod redact;
mod registry;
mod runner;
mod sync;
pub mod templates;
#[cfg(test)]
#[path = "../tests/it/thorough.rs"]
mod thorough;
pub mod trace;
pub mod trust;

pub use crossbeam_channel;
pub use serde_json;

/// Functions that `fuzz/` needs besides the public API.
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing {
    use crate::entry::Reading;
    use crate::protocol::{limit, read_answer};
    use crate::{HookEvent, HookOutput};

    #[cfg(feature = "cli")]
    pub use crate::bridge::check_patch;
    pub use crate::compat::answers as answers_of_other_agents;

    /// Returns the answer in a hook's standard output; the error is the reason why it is invalid.
    ///
    /// # Errors
    /// If the output is an invalid answer.
    pub fn answer(stdout: &[u8]) -> Result<Option<HookOutput>, String> {
        Ok(read_answer(stdout, None, false)?.output)
    }

    /// Checks that any output of a hook without `may` can do no more than stop something.
    ///
    /// # Panics
    /// If the output does more.
    pub fn check_may(stdout: &[u8]) {
        let output = answer(stdout).ok().flatten();
        let mut reading = Reading {
            output,
            ..Reading::default()
        };
        let event = HookEvent::agent_stop(false);
        limit(&mut reading, &event, |_| Err(String::new()));
        let left = reading.output.unwrap_or_default();
        let adds = left.additional_context.is_some() || left.feedback.is_some();
        let changes = left.updated_input.is_some() || left.updated_output.is_some();
        let allows = left.decision == Some(crate::Decision::Allow);
        assert!(!adds && !changes && !allows && !left.stops_turn, "{left:?}");
    }
}

pub use error::SetupError;
pub use events::{EventSpec, EventType, HookEvent};
pub use executor::HookHandle;
pub use hook::Hook;
pub use hooks::{Hooks, HooksBuilder};
pub use lifecycle::{Lifecycle, Permit};
pub use outcome::{HookBlockedError, HookResult, Outcome};
pub use profile::AppProfile;

/// Names that the specification, or most hosts that go further, use without their module. The documentation has them there.
#[doc(hidden)]
pub use self::{
    config::{HookConfig, LoadReport},
    events::HostContext,
    executor::{
        CancelToken, FireOptions, HookExecutor, HookExecutorBuilder, HookRegistry, SubmitError,
        fire_event, fire_event_blocking, fire_event_blocking_with,
    },
    hook::{FailurePolicy, HookError, Sandbox},
    outcome::{Decision, FailureKind, HookOutput},
    printable::{printable, printable_lines},
    redact::Redactor,
    templates::HOOK_TEMPLATES,
    trace::Trace,
};
