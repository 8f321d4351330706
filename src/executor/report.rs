//! What the log is told of a hook: what it writes, how it ends, the louder the worse.
//!
//! All of it goes through the redactor, with the values of the hook's own `env`, and then has what is
//! hidden written out; only where somebody listens.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use log::{debug, error, trace, warn};

use super::observer::{DropReason, HookRun};
use super::run::Engine;
use crate::events::{EventType, HookEvent};
use crate::hook::Hook;
use crate::outcome::{Decision, FailureKind, HookResult};
use crate::printable::{printable, printable_lines};

/// Tells the log, and is none the worse for a logger that panics: one that writes with `println!` does,
/// when nobody reads any more.
pub(super) fn tell(what: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(what));
}

impl Engine {
    /// A text that has to do with this hook, as it may be shown.
    pub(super) fn shown(&self, hook: &Hook, text: &str) -> String {
        printable_lines(&self.masked(hook, text))
    }

    /// The words by which the hook is known.
    pub(super) fn label(&self, hook: &Hook) -> String {
        printable(&self.masked(hook, hook.label()))
    }

    fn masked<'a>(&self, hook: &Hook, text: &'a str) -> Cow<'a, str> {
        let own = hook.env().values().map(String::as_str);
        self.redactor.text_with(text, own)
    }

    pub(super) fn report_start(&self, hook: &Hook, event_type: &EventType) {
        tell(|| debug!("hook `{}` starts on {event_type}", self.label(hook)));
    }

    pub(super) fn report_end(&self, result: &HookResult, event: &HookEvent) {
        tell(|| self.report_output_and_end(result, event));
    }

    fn report_output_and_end(&self, result: &HookResult, event: &HookEvent) {
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
            self.report_trouble(result, &event.event_type);
        } else if event.event_type.can_block() && result.decision() == Decision::Block {
            self.report_block(result, &event.event_type);
        }
    }

    /// By its answer: who blocks by failing is reported as a failure.
    fn report_block(&self, result: &HookResult, event_type: &EventType) {
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

    fn report_trouble(&self, result: &HookResult, event_type: &EventType) {
        let hook = &result.hook;
        let place = hook
            .source()
            .map(|source| printable(&format!(" of {source}")));
        let place = place.unwrap_or_default();
        let label = || self.label(hook);
        let error = || self.shown(hook, result.error.as_deref().unwrap_or_default());
        match result.failure {
            None => warn!(
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

    /// Tells of a hook that will not run, also the observers.
    pub(super) fn drop_run(&self, run: &HookRun<'_>, reason: DropReason) {
        let event_type = &run.event.event_type;
        tell(|| {
            debug!(
                "hook `{}` does not run on {event_type}: {reason}",
                self.label(run.hook)
            );
        });
        self.observers.dropped(run, reason);
    }
}
