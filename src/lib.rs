//! Let your users run shell commands when something happens in your program: they may watch,
//! block, and never hang or crash it.
//!
//! A user writes a hook into `hooks.json`:
//!
//! ```json
//! {"hooks": [{"event": "tool:pre_execute:bash", "command": "./guard.sh", "timeout": 5}]}
//! ```
//!
//! and your program fires an event and obeys the outcome:
//!
//! ```
//! use forge_hooks::{AppProfile, EventSpec, EventType, HookEvent, Hooks};
//! use serde_json::json;
//!
//! # let home = tempfile::tempdir()?;
//! # let project = home.path();
//! let compacted = EventType::custom("context:compacted")?;
//! let hooks = Hooks::builder(AppProfile::new("myagent"))
//!     .event(EventSpec::new(compacted.clone()).description("The context was shortened").notify_only())
//!     .tools(["bash", "write", "mcp:*"])
//!     .project(project) // optional: its hooks run once a person has approved them
//! #   .config_home(home.path())
//!     .load();
//! for problem in &hooks.report().problems {
//!     eprintln!("{problem}");
//! }
//!
//! let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
//! match hooks.execute(&event).into_result() {
//!     Ok(_) => println!("running ls"),
//!     Err(blocked) => println!("{blocked}"),
//! }
//! drop(hooks.submit(HookEvent::new(compacted))?); // does not wait
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! There is no async runtime. A blocking call runs the hooks on the thread that called; a program
//! that must not wait, such as a game or a user interface, [submits](Hooks::submit) the event and
//! polls a handle.
//!
//! # From the top
//! - [`Hooks`] is made once: of the names that your program goes by, of what it fires
//!   ([`EventSpec`], [`Vocabulary`]), and of whose hooks may run. It owns the parts below, and hands
//!   them out.
//! - [`HookEvent`] is what happened, of one of sixteen kinds ([`EventType`]) or one of your own.
//! - [`Hook`] is a command and the [`EventPattern`] of the events it is for. [`HookRegistry`] holds
//!   them in order; [`HookConfig`] loads them from files.
//! - [`HookExecutor`] runs them: threads, timeouts, observers. [`Outcome`] says whether you may go on, [`HookResult`] what each
//!   hook did, and [`HookBlockedError`] is the error to return when you may not.
//!
//! # Blocking what a hook objects to
//! Ask [`Outcome::allowed`], or have [`Outcome::into_result`] make an error of it. A hook that exits
//! with a code other than 0 blocks; so does one that times out, cannot be found or cannot be
//! started, unless it says `"on_failure": "continue"`: a guard that cannot run must not let
//! everything through. Only events before the fact can be blocked ([`EventType::can_block`]); of an
//! event of your own, [`EventSpec::notify_only`] says that it cannot.
//!
//! # What a hook answers
//! Besides its exit code, a hook may answer with one JSON object on its standard output: block or
//! ask with a reason, tell the model or the user something, stop the turn, change the input.
//! [`Outcome`] adds up what all of them say: [`asks`](Outcome::asks),
//! [`updated_input`](Outcome::updated_input), [`additional_context`](Outcome::additional_context),
//! [`system_messages`](Outcome::system_messages), [`stops_turn`](Outcome::stops_turn).
//!
//! # Hooks written for other tools
//! With [`HooksBuilder::other_tools`], the hooks in the settings of Claude Code, Codex and Gemini CLI run as
//! they are, and with [`HooksBuilder::plugin`] those of a plugin. Each finds the input of its own tool and
//! answers as its tool expects; your program fires its own events. [`HookEvent::with_context`] carries what
//! only these hooks ask for, and [`foreign_event`] reads an event that another tool has written. The document
//! `docs/other-tools.md` in the repository says what differs.
//!
//! # Around a tool, a model call, a session
//! [`Lifecycle`] fires the events before and after what your program does, in the right order, also
//! when it fails or panics, and applies what hooks change after the guards have seen it.
//!
//! # Never waiting
//! [`Hooks::submit`] never blocks, and hands out a [`HookHandle`] to poll, to
//! wait for, to receive from or to cancel; [`HookExecutor::submit_with`] calls back.
//! [`FireOptions`] says what runs in which order. At its end the program calls [`Hooks::shutdown`], or
//! what was fired last is lost.
//!
//! # One executor for the whole program
//! Without a [`Hooks`] to hand around, [`HookExecutor::global`] is there, with [`fire_event`],
//! [`fire_event_blocking`] and [`shutdown`]; [`HookConfig::load_into`] fills its registry.
//!
//! # Watching
//! An [`Observer`] is told of each hook that starts, ends or is dropped. [`Trace`] is one that writes
//! a file.
//!
//! # Whose hooks run
//! A project's hooks come with the project. With [`TrustPolicy::Approved`], the default of [`Hooks`],
//! they run only as a person has approved them, see [`TrustStore`]; with [`TrustPolicy::Everything`]
//! they run because they are there.
//!
//! # Help for the authors of hooks
//! A pattern that matches nothing your program fires is [reported](LoadReport::problems), with the name
//! that was probably meant; [`Hooks::json_schema`] lets an editor offer your events and tools.
//!
//! # Hooks and files by another name
//! By default hooks find their event in variables with the prefixes `FORGE_` and `OPENCODE_`.
//! [`AppProfile::new`] gives your program names of its own.
//!
//! # Ready-made hooks
//! [`HOOK_TEMPLATES`] has some; [`templates`] makes them for another profile.
//!
//! # Trying a hook
//! With the feature `cli`, the program `forge-hooks` fires events at hooks without your program, shows
//! what each does and why another does not run, tests tables of cases, and draws what is wrong in a
//! file. The document `docs/program.md` in the repository describes its commands. They are functions of
//! this library, which use this API alone: `forge_hooks::cli::run` gives a host's users `mygame hooks fire`,
//! `list`, `trust` and the others in one line, with the host's names, events and tools.
//!
//! # Seeing what happens
//! The library logs through [`log`]: a hook's start and end at debug level, what it writes to
//! standard error as a warning, to standard output at trace level, a failure as a warning, and a
//! timeout or a hook that could not run as an error. It never configures a logger and never prints.
//! What looks like a secret is masked, and so are the values of a hook's own `env`: see [`Redactor`].
//!
//! # Showing what hooks say
//! The fields of a [`HookResult`], an [`Outcome`] and a [`Hook`] are what was written, to the byte. In front
//! of a person, such a text could hide a part of itself or command the terminal: [`printable`] and
//! [`printable_lines`] write that out. The library does so itself where it makes a text for people: in
//! the log, in each [`Problem`], and in the message of a [`HookBlockedError`].
//!
//! # Crates whose types are part of this API
//! Data of events and answers are [`serde_json`] values, and [`HookHandle::into_receiver`] gives a receiver of
//! [`crossbeam_channel`], for its `select!`. Both crates are handed on, so that a host need not name them
//! itself.
//!
//! # Platforms
//! Linux is tested. For Windows the tests are cross-built and run under Wine. macOS, FreeBSD, NetBSD,
//! Android and Linux with musl are type-checked only. OpenBSD is not supported.
//!
//! On Unix one loop waits for the pipes and, on Linux by a pidfd, for the end of a process; elsewhere
//! in Unix and on Windows `wait-timeout` does. A hook is killed with what it has started: on Unix its
//! process group, on Linux also its descendants outside the group, on Windows its job. The document
//! `docs/gotchas.md` in the repository tells what goes wrong with child processes, and what is done
//! about it here.
//!
//! No signal handler of the host is replaced where there is a pidfd, nor on Windows. Elsewhere
//! (macOS, the BSDs, Linux before 5.3 or in a sandbox that refuses it) `wait-timeout` installs one
//! for `SIGCHLD` when it first waits, and calls the one that was there from it.

#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr
)]

/// Has the examples of the README compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use std::time::Duration;

#[cfg(feature = "cli")]
pub mod cli;
mod config;
#[cfg(any(doc, doctest))]
pub mod docs;
mod events;
mod executor;
mod files;
mod hook;
mod hooks;
mod lifecycle;
mod outcome;
mod pattern;
mod pool;
mod printable;
mod process;
mod profile;
mod protocol;
mod redact;
mod registry;
mod runner;
pub mod templates;
mod trace;
mod trust;

pub use crossbeam_channel;
pub use serde_json;

/// What `fuzz/` needs besides the public API.
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing {
    use crate::HookOutput;
    use crate::hook::{Dialect, dialects};
    use crate::protocol::{Ended, from_first_visible, read_answer, read_foreign_answer};

    /// What a hook that wrote this has answered, if that can be used.
    #[must_use]
    pub fn answer(stdout: &[u8]) -> Option<HookOutput> {
        let answer = read_answer(from_first_visible(stdout));
        answer.ok().map(|answer| answer.output)
    }

    /// Reads this as the answer of a hook of each other tool, on each of its events.
    pub fn foreign_answers(stdout: &[u8]) {
        let text = String::from_utf8_lossy(stdout);
        for dialect in Dialect::ALL {
            for event in dialects::events(*dialect) {
                for code in [0, 1, 2] {
                    let ended = Ended {
                        code,
                        stdout: &text,
                        stderr: &text,
                    };
                    let _ = read_foreign_answer(*dialect, event.name, true, &ended);
                }
            }
        }
    }
}

pub use config::{
    ConfigError, HookConfig, HooksFile, HooksFileEntry, LoadReport, Position, Problem, Severity,
    TextRange, TrustPolicy,
};
#[cfg(feature = "watch")]
pub use config::{HookWatcher, WatchError};
pub use events::{
    CustomEventType, EventSpec, EventType, EventTypeError, HookEvent, HostContext, Vocabulary,
};
pub use executor::{
    CancelToken, FireOptions, HookExecutor, HookExecutorBuilder, HookHandle, HookUpdate,
    ShutdownReport, SubmitError,
};
pub use hook::{
    Condition, Dialect, FailurePolicy, Gate, GateVerdict, Hook, HookCommand, HookError, HookSource,
    KeyError, Reads, Shell, Stdin,
};
pub use hooks::{Hooks, HooksBuilder};
pub use lifecycle::{
    Lifecycle, LlmCall, LlmRequest, LlmStream, Permission, PermissionRequest, Question, Session,
    Subagent, ToolCall, ToolRun,
};
pub use outcome::{
    Decision, EnvFile, FailureKind, HookBlockedError, HookOutput, HookResult, Outcome, Residency,
    SkipReason,
};
pub use pattern::{EventPattern, Mismatch, PatternError, PatternPart};
pub use printable::{is_printable, printable, printable_lines};
pub use profile::AppProfile;
pub use protocol::{ForeignEventError, foreign_event};
pub use redact::{RedactError, Redactor};
pub use registry::{HookId, HookRegistry};
pub use runner::{DropReason, HookRun, Observer};
pub use templates::HOOK_TEMPLATES;
pub use trace::{Trace, TraceBuilder, TraceError};
pub use trust::{Approval, Approved, TrustError, TrustStore};

/// Fires an event on the [global executor](HookExecutor::global) and waits for its hooks; the first
/// that does not continue keeps the rest from running.
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

/// Fires an event on the [global executor](HookExecutor::global) and waits for its hooks.
#[must_use = "hooks may have blocked the operation"]
pub fn fire_event_blocking_with(event: &HookEvent, options: FireOptions) -> Vec<HookResult> {
    HookExecutor::global().execute_hooks(event, options)
}

/// Fires an event on the [global executor](HookExecutor::global) without waiting for its hooks.
///
/// # Errors
/// When the queue is full or no thread can be started; the error gives the event back.
pub fn fire_event(event: HookEvent) -> Result<HookHandle, SubmitError> {
    HookExecutor::global().submit(event, FireOptions::default())
}

/// [Shuts down](HookExecutor::shutdown) the [global executor](HookExecutor::global): waits until the
/// deadline, counted from now, for what was submitted. To be called at the end of `main`, so that
/// what was fired last is not lost. Without effect where the global executor has not been used.
///
/// ```
/// use std::time::Duration;
/// use forge_hooks::{HookEvent, fire_event};
///
/// drop(fire_event(HookEvent::session_end("sess_1"))?);
/// let report = forge_hooks::shutdown(Duration::from_secs(5));
/// assert!(report.is_complete());
/// # Ok::<(), forge_hooks::SubmitError>(())
/// ```
pub fn shutdown(deadline: Duration) -> ShutdownReport {
    HookExecutor::shutdown_global(deadline)
}
