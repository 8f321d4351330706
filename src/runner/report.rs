//! Logs what a hook writes and how it ends. The level depends on how bad it is.
//!
//! Every text goes through the redactor, with the values of the hook's own `env`; then invisible
//! characters are written as escapes. This happens only if the level is enabled.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Mutex;

use super::observer::DropReason;
use crate::events::EventType;
use crate::hook::Hook;
use crate::logging::{Level, debug, error, log, trace, warn};
use crate::outcome::{Decision, FailureKind, HookResult};
use crate::printable::{printable, printable_lines};
use crate::redact::Redactor;

/// Writes the log, with secrets masked.
#[derive(Debug)]
pub(crate) struct Reporter {
    pub(crate) redactor: Redactor,
    /// The warnings that were logged, with the fingerprints of their hooks.
    logged: Mutex<BTreeSet<(u64, String)>>,
}

/// The most warnings that are remembered; further ones are not logged.
const MOST_LOGGED: usize = 1000;

impl Reporter {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            logged: Mutex::default(),
        }
    }

    /// Logs a warning for the author of a hook, once for each hook.
    pub(crate) fn diagnose_once(&self, hook: &Hook, words: &str) {
        let is_new = match self.logged.lock() {
            Ok(mut logged) => {
                // What follows a colon differs from run to run.
                let kind = words.split(": ").next().unwrap_or_default().to_owned();
                logged.len() < MOST_LOGGED && logged.insert((hook.fingerprint(), kind))
            }
            Err(_) => false,
        };
        if is_new {
            warn!("hook `{}`: {}", self.label(hook), self.shown(hook, words));
        }
    }

    /// Returns a text about this hook in a form that may be shown.
    pub(crate) fn shown(&self, hook: &Hook, text: &str) -> String {
        printable_lines(&self.masked(hook, text))
    }

    /// Returns the label of the hook.
    pub(crate) fn label(&self, hook: &Hook) -> String {
        printable(&self.masked(hook, hook.label()))
    }

    fn masked<'a>(&self, hook: &Hook, text: &'a str) -> Cow<'a, str> {
        let own = hook.env().values().map(String::as_str);
        self.redactor.text_with(text, own)
    }

    pub(crate) fn start(&self, hook: &Hook, event_type: &EventType) {
        debug!("hook `{}` starts on {event_type}", self.label(hook));
    }

    pub(crate) fn end(&self, result: &HookResult, event_type: &EventType, can_block: bool) {
        let hook = &result.hook;
        let (stdout, stderr) = (result.stdout.trim_end(), result.stderr.trim_end());
        if !stdout.is_empty() {
            trace!(
                "hook `{}` stdout: {}",
                self.label(hook),
                self.shown(hook, stdout)
            );
        }
        if !stderr.is_empty() {
            warn!(
                "hook `{}` stderr: {}",
                self.label(hook),
                self.shown(hook, stderr)
            );
        }
        let (code, duration) = (result.exit_code, result.duration);
        debug!(
            "hook `{}` ended with exit code {code} after {duration:?}",
            self.label(hook)
        );
        if result.failure.is_some() || result.skipped.is_some() {
            self.failure(result, event_type);
        } else if can_block && result.decision() == Decision::Block {
            self.block(result, event_type);
        }
    }

    /// Logs a block by the hook's answer. A hook that blocks by failing is logged as a failure.
    fn block(&self, result: &HookResult, event_type: &EventType) {
        let hook = &result.hook;
        if hook.background() {
            return;
        }
        let reason = result.reason().unwrap_or("no reason given");
        warn!(
            "hook `{}` blocks {event_type}: {}",
            self.label(hook),
            self.shown(hook, reason)
        );
    }

    fn failure(&self, result: &HookResult, event_type: &EventType) {
        let hook = &result.hook;
        let place = hook
            .source()
            .map(|source| printable(&format!(" of {source}")));
        let place = place.unwrap_or_default();
        let label = || self.label(hook);
        let error = || self.shown(hook, result.error.as_deref().unwrap_or_default());
        match result.failure {
            // Hooks that are not approved are reported once, when they are loaded.
            None => debug!(
                "hook `{}`{place} is skipped on {event_type}: {}",
                label(),
                error()
            ),
            Some(FailureKind::Exit | FailureKind::Cancelled) => {
                warn!(
                    "hook `{}`{place} failed on {event_type}: {}",
                    label(),
                    error()
                );
            }
            Some(_) => error!(
                "hook `{}`{place} failed on {event_type}: {}",
                label(),
                error()
            ),
        }
    }

    /// Logs that a hook will not run. The host that submits an event gets an error; the loss of a
    /// background hook is only in the log.
    pub(crate) fn dropped(&self, hook: &Hook, event_type: &EventType, reason: DropReason) {
        let level = match reason {
            DropReason::Cancelled => Level::Debug,
            _ if hook.background() => Level::Warn,
            _ => Level::Debug,
        };
        log!(
            level,
            "hook `{}` does not run on {event_type}: {}",
            self.label(hook),
            reason.words()
        );
    }

    /// Logs a panic in this crate's own code.
    pub(crate) fn panicked(&self, hook: &Hook) {
        error!(
            "the engine panicked at hook `{}`; please report this",
            self.label(hook)
        );
    }
}
