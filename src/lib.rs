//! Lets your users run shell commands on events of your program. The commands can observe, block or change what
//! your program does; they cannot hang or crash it.
//!
//! A user writes a hook into `hooks.json`:
//!
//! ```json
//! {"hooks": [{"event": "tool:pre_execute:bash", "command": "./guard.sh", "timeout": 5}]}
//! ```
//!
//! Your program, the *host*, fires an event and checks the outcome:
//!
//! ```
//! use forge_hooks::{AppProfile, EventSpec, HookEvent, Hooks};
//! use serde_json::json;
//!
//! # let home = tempfile::tempdir()?;
//! # let project = home.path();
//! let saved = EventSpec::custom("file:saved")?.description("A file was saved").notify_only();
//! let hooks = Hooks::builder(AppProfile::new("myagent"))
//!     .event(saved.clone())
//!     .tools(["bash", "write", "mcp:*"])
//!     .project(project) // optional: its hooks run only after a person has approved them
//! #   .config_home(home.path())
//!     .load();
//! eprint!("{}", hooks.report()); // what is wrong in the hooks files
//!
//! let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
//! let outcome = hooks.execute(&event);
//! eprint!("{}", outcome.failures()); // hooks that failed and did not block
//! match outcome.check() {
//!     Ok(()) => println!("running ls"),
//!     Err(blocked) => println!("{blocked}"),
//! }
//! drop(hooks.submit(saved.event())?); // does not wait
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [Hooks in your program](docs::embedding) goes on from here: approval prompts, output, logging, Ctrl-C, async hosts.
//! Your users begin with [their first hook](docs::first_hook).
//!
//! # The main types
//! - [`Hooks`] is built once, from your program's names ([`AppProfile`]), its events ([`EventSpec`]) and tools, and the
//!   hooks that may run ([`TrustPolicy`](config::TrustPolicy)). It owns the parts below, which can be used alone.
//! - [`HookEvent`] is one event. Its kind ([`EventType`]) is one of sixteen built-in kinds, one of the kinds
//!   for agents, or one of your own.
//! - [`Outcome`] says whether your program may continue, and combines the answers of all hooks; [`HookResult`] is what
//!   one hook did. [`HookBlockedError`] is the error to return if a hook blocked.
//! - [`Lifecycle`] fires the events before and after a tool, a model call or a session in the right order, also if the
//!   action fails or panics ([`lifecycle`]).
//! - [`Hook`] is a command and the [pattern] of its events. [`HookRegistry`] holds hooks in order; [`HookConfig`] loads
//!   them from files; [`HookExecutor`] runs them.
//!
//! What only some programs need is in a module: [`config`] (problems, edits, watching), [`trust`] (approvals),
//! [`compat`] (hooks of other agents), [`lifecycle`], [`trace`], [`redact`], and
//! for the rest of a type's parts [`events`], [`pattern`], [`hook`], [`executor`] and [`outcome`].
//!
//! # Blocking
//! A hook blocks if it exits with a code other than 0, times out, cannot be found or cannot be started: a guard that
//! cannot run must not let everything through. With `"on_failure": "continue"`, none of these blocks. Hooks can only
//! block events that have not happened yet ([`EventType::can_block`]). [`EventSpec::notify_only`] declares that hooks
//! cannot block an event of your own.
//!
//! Besides its exit code, a hook may answer with JSON: it can block or ask with a reason, send a message to the
//! model or the user, change a tool's input or output, or stop the turn (what an agent does until its user speaks
//! again). See [`asks`](Outcome::asks), [`updated_input`](Outcome::updated_input),
//! [`additional_context`](Outcome::additional_context), [`system_messages`](Outcome::system_messages),
//! [`stops_turn`](Outcome::stops_turn).
//!
//! # Never waiting
//! [`Hooks::submit`] never blocks. It returns a [`HookHandle`] to poll, to wait for, to await, to receive from or to
//! cancel. [`FireOptions`] sets the order
//! of events. Before your program ends, it calls [`Hooks::shutdown`]; otherwise hooks of the last events
//! may not run.
//!
//! # Which hooks run
//! A project's hooks may have been written by strangers. By default, they run only if a person
//! has approved them: [`Hooks::approve_with`] and [`trust`]. With
//! [`TrustPolicy::Everything`](config::TrustPolicy::Everything) they run without an approval.
//!
//! # Hooks written for other agents
//! With [`HooksBuilder::other_tools`], the hooks in the settings of Claude Code, Codex and Gemini CLI run as
//! they are, and those of a plugin: [`compat`], [what runs and what differs](docs::other_tools).
//! [`HookEvent::with_context`] sets fields that only these hooks read, such as the path of the transcript.
//!
//! # Observing
//! An [`Observer`] receives each start, end and drop of a hook. [`Trace`] is an observer that writes a file.
//!
//! # Without `Hooks`
//! A program that cannot pass a [`Hooks`] around can use [`HookExecutor::global`] with [`fire_event`],
//! [`fire_event_blocking`] and [`shutdown`]. [`HookConfig::load_into`] fills its registry. [`HOOK_TEMPLATES`] has
//! ready-made hooks; [`templates`] creates them for another profile.
//!
//! # Showing texts of hooks
//! The fields of a [`HookResult`], an [`Outcome`] and a [`Hook`] contain the text as the hook wrote it, also secrets,
//! hidden characters and terminal commands. Before your program shows it to a person, it masks secrets with a
//! [`Redactor`], and makes the rest visible with [`printable`](printable()) or [`printable_lines`]. The library does so in its
//! log; in each [`Problem`](config::Problem) and in the message of a [`HookBlockedError`], it makes hidden characters visible.
//!
//! # Features
//! None is on by default. `watch` adds [`Hooks::watch`], which loads hooks files again when they change. `cli`
//! adds the module `cli` and the program `forge-hooks` ([its commands](docs::program)), which fires events without
//! your program and shows what each hook does. A host that calls `forge_hooks::cli::run` has `mygame hooks fire`,
//! `list`, `trust` and the other commands, with its own names, events and tools.
//!
//! # Crates whose types are part of this API
//! The data of events and answers are [`serde_json`] values. [`HookHandle::into_receiver`] returns a receiver
//! of [`crossbeam_channel`], for its `select!`. Both crates are re-exported, so that your program can use
//! `forge_hooks::serde_json`.
//!
//! # Platforms
//! Linux is tested. For Windows the tests are cross-built and run under Wine. macOS, FreeBSD, NetBSD,
//! Android and Linux with musl are type-checked only. OpenBSD is not supported.
//!
//! When a hook is killed, the processes that it has started are killed too: on Unix its process group, on Linux also
//! its descendants outside the group, on Windows its job. [What goes wrong with child processes](docs::gotchas), and
//! what this library does about it. The library replaces no signal handler of the host.

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

use std::time::Duration;

#[cfg(feature = "cli")]
pub mod cli;
pub mod compat;
pub mod config;
#[cfg(any(doc, doctest))]
pub mod docs;
pub mod events;
pub mod executor;
mod files;
pub mod hook;
mod hooks;
pub mod lifecycle;
mod logging;
mod named;
pub mod outcome;
pub mod pattern;
mod pool;
pub mod printable;
mod process;
mod profile;
mod protocol;
pub mod redact;
mod registry;
mod runner;
pub mod templates;
pub mod trace;
pub mod trust;

pub use crossbeam_channel;
pub use serde_json;

/// Functions that `fuzz/` needs besides the public API.
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing {
    use crate::protocol::read_answer;
    use crate::{HookEvent, HookOutput};

    pub use crate::compat::answers as answers_of_other_tools;

    /// Returns the answer in a hook's standard output; the error is why it is invalid.
    ///
    /// # Errors
    /// If the output is an invalid answer.
    pub fn answer(stdout: &[u8]) -> Result<Option<HookOutput>, String> {
        let event = HookEvent::user_interrupt();
        Ok(read_answer(&event, stdout, None, false)?.output)
    }

    /// Checks that a hook which prints what an event says, alone or beside other text, has not answered.
    ///
    /// # Panics
    /// If it has.
    pub fn check_event(said: &[u8]) {
        let text = String::from_utf8_lossy(said);
        let value = serde_json::from_slice::<serde_json::Value>(said);
        let value = value.unwrap_or_else(|_| text.as_ref().into());
        let event = HookEvent::tool_pre_execute("bash", value);
        for output in [
            event.to_json(),
            event.data["tool_args"].to_string(),
            text.into_owned(),
        ] {
            for output in [
                format!("bash: {output}\n"),
                format!("{output}\ndone\n"),
                output,
            ] {
                let read = read_answer(&event, output.as_bytes(), None, false);
                let said = read.ok().and_then(|it| it.output).unwrap_or_default();
                assert!(said == HookOutput::default(), "{output}");
            }
        }
    }
}

pub use config::{HookConfig, LoadReport};
pub use events::{EventSpec, EventType, EventTypeError, HookEvent, HostContext};
pub use executor::{
    CancelToken, FireOptions, HookExecutor, HookExecutorBuilder, HookHandle, HookRun, Observer,
    SubmitError,
};
pub use hook::{FailurePolicy, Hook, HookError, Sandbox};
pub use hooks::{Hooks, HooksBuilder};
pub use lifecycle::Lifecycle;
pub use outcome::{
    Decision, FailureKind, Failures, HookBlockedError, HookOutput, HookResult, Outcome,
};
pub use printable::{printable, printable_lines};
pub use profile::AppProfile;
pub use redact::Redactor;
pub use registry::{HookId, HookRegistry};
pub use templates::HOOK_TEMPLATES;
pub use trace::Trace;

/// Fires an event on the [global executor](HookExecutor::global) and waits for its hooks.
///
/// A hook that blocks, fails (without `"on_failure": "continue"`) or stops the turn prevents the hooks after it
/// from running, also on an event that cannot be blocked.
///
/// ```
/// use forge_hooks::{Hook, HookEvent, HookRegistry, fire_event_blocking};
///
/// HookRegistry::global().register(Hook::new("session:start", "echo welcome")?);
/// let results = fire_event_blocking(&HookEvent::session_start("sess_1"));
/// assert_eq!(results[0].stdout.trim(), "welcome");
/// # Ok::<(), forge_hooks::HookError>(())
/// ```
#[must_use = "hooks may have blocked the operation"]
pub fn fire_event_blocking(event: &HookEvent) -> Vec<HookResult> {
    fire_event_blocking_with(event, FireOptions::default())
}

/// Fires an event on the [global executor](HookExecutor::global), with options, and waits for its hooks.
#[must_use = "hooks may have blocked the operation"]
pub fn fire_event_blocking_with(event: &HookEvent, options: FireOptions<'_>) -> Vec<HookResult> {
    HookExecutor::global().execute_hooks(event, options)
}

/// Fires an event on the [global executor](HookExecutor::global) without waiting for its hooks.
///
/// # Errors
/// If there are hooks for the event, and the queue is full, no thread can be started, or [`shutdown`] was
/// called. The error contains the event.
pub fn fire_event(event: HookEvent) -> Result<HookHandle, SubmitError> {
    HookExecutor::global().submit(event, FireOptions::default())
}

/// [Shuts down](HookExecutor::shutdown) the [global executor](HookExecutor::global).
///
/// Waits at most until the deadline, counted from now, for the submitted events. Call it at the end of
/// `main`; otherwise hooks of the last events may not run. Returns whether everything has ended by itself. Does nothing if
/// the global executor has not been used.
///
/// ```
/// use std::time::Duration;
/// use forge_hooks::{HookEvent, fire_event};
///
/// drop(fire_event(HookEvent::session_end("sess_1"))?);
/// assert!(forge_hooks::shutdown(Duration::from_secs(5)));
/// # Ok::<(), forge_hooks::SubmitError>(())
/// ```
pub fn shutdown(deadline: Duration) -> bool {
    HookExecutor::shutdown_global(deadline)
}
