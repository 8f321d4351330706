//! Logs the output of a hook and its end. The level depends on the severity.
//!
//! Every text goes through the redactor, with the values of the hook's own `env`; then invisible
//! characters are written as escapes. This happens only if the level is enabled.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use super::observation::DropReason;
use crate::events::EventType;
use crate::hook::Hook;
use crate::logging::{Level, error, log};
use crate::outcome::{Decision, FailureKind, HookResult};
use crate::printable::{printable, printable_lines};
use crate::redact::Redactor;

/// Writes the log, with secrets masked.
#[derive(Debug)]
pub(crate) struct Reporter {
    pub(crate) redactor: Redactor,
    /// The kinds of warnings that were logged, for each hook by its fingerprint.
    logged: Mutex<BTreeMap<u64, BTreeSet<String>>>,
}

/// The most hooks whose warnings are remembered. After that, all are forgotten, and each warning is logged once more: no hook
/// mutes another.
const MOST_HOOKS: usize = 1000;

/// The most kinds of warnings of one hook that are logged: there are fewer.
const MOST_KINDS: usize = 50;

/// Returns the part of a warning that is this crate's own: what a hook or a person has written stands between backticks, or after
/// a colon, and numbers differ from run to run.
fn kind_of(message: &str) -> String {
    let own = |text: &str| text.split([':', '(']).next().unwrap_or_default().to_owned();
    let mut kind = match (message.split_once('`'), message.rsplit_once('`')) {
        (Some((before, _)), Some((_, after))) if !before.contains(':') => {
            own(before) + "`" + &own(after)
        }
        _ => own(message),
    };
    kind.retain(|c| !c.is_ascii_digit());
    kind
}

impl Reporter {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            logged: Mutex::default(),
        }
    }

    /// Logs a warning for the author of a hook, once for each hook.
    pub(crate) fn diagnose_once(&self, hook: &Hook, message: &str) {
        let is_new = self.logged.lock().is_ok_and(|mut logged| {
            if logged.len() >= MOST_HOOKS {
                logged.clear();
            }
            let of_hook = logged.entry(hook.fingerprint()).or_default();
            of_hook.len() < MOST_KINDS && of_hook.insert(kind_of(message))
        });
        if is_new {
            self.warn(hook, message);
        }
    }

    /// Logs a warning about a hook.
    pub(crate) fn warn(&self, hook: &Hook, message: &str) {
        self.log(Level::Warn, hook, || {
            format!(": {}", self.masked_display(hook, message))
        });
    }

    /// Returns a text about this hook with its secrets masked.
    pub(crate) fn without_secrets(&self, hook: &Hook, text: &str) -> String {
        hook.masked(&self.redactor, text).into_owned()
    }

    /// Returns a text about this hook with its secrets masked and made printable.
    pub(crate) fn masked_display(&self, hook: &Hook, text: &str) -> String {
        printable_lines(&hook.masked(&self.redactor, text))
    }

    /// Returns the label of the hook.
    pub(crate) fn label(&self, hook: &Hook) -> String {
        printable(&hook.masked(&self.redactor, hook.label()))
    }

    /// Returns the reason of a result as it is shown, with its secrets masked; None if the result has this text.
    pub(crate) fn shown_reason(&self, result: &HookResult) -> Option<String> {
        let reason = result.unmasked_reason()?;
        let masked = match result.hook().masked(&self.redactor, &reason) {
            Cow::Owned(masked) if masked != reason => Some(masked),
            _ => None,
        };
        masked.or(match reason {
            Cow::Owned(made) => Some(made),
            Cow::Borrowed(_) => None,
        })
    }

    /// Logs a sentence about a hook. `sentence` is called only if the level is enabled.
    fn log(&self, level: Level, hook: &Hook, sentence: impl FnOnce() -> String) {
        log!(level, "hook `{}`{}", self.label(hook), sentence());
    }

    pub(crate) fn start(&self, hook: &Hook, event_type: &EventType) {
        self.log(Level::Debug, hook, || format!(" starts on {event_type}"));
    }

    pub(crate) fn end(&self, result: &HookResult, event_type: &EventType, can_block: bool) {
        let hook = &result.hook();
        let outputs = [
            (Level::Trace, "stdout", result.stdout().trim_end()),
            (Level::Warn, "stderr", result.stderr().trim_end()),
        ];
        for (level, name, text) in outputs {
            if !text.is_empty() {
                self.log(level, hook, || {
                    format!(" {name}: {}", self.masked_display(hook, text))
                });
            }
        }
        let (code, duration) = (result.exit_code(), result.duration());
        self.log(Level::Debug, hook, || {
            format!(" ended with exit code {code} after {duration:?}")
        });
        if let Some(failure) = result.failure() {
            self.failure(result, failure, event_type);
        } else if can_block && result.decision() == Decision::Block {
            // A hook that blocks by failing is logged as a failure.
            let reason = result.reason().unwrap_or("no reason given");
            self.log(Level::Warn, hook, || {
                format!(
                    " blocks {event_type}: {}",
                    self.masked_display(hook, reason)
                )
            });
        }
    }

    fn failure(&self, result: &HookResult, failure: FailureKind, event_type: &EventType) {
        let hook = &result.hook();
        let level = match failure {
            FailureKind::Exit | FailureKind::Cancelled => Level::Warn,
            _ => Level::Error,
        };
        self.log(level, hook, || {
            let place = hook.source().map(|source| format!(" of {source}"));
            let place = printable(&place.unwrap_or_default());
            let error = self.masked_display(hook, result.error().unwrap_or_default());
            format!("{place} failed on {event_type}: {error}")
        });
    }

    /// Logs that a hook will not run. The host that submits an event gets an error; the loss of a
    /// background hook is only in the log.
    pub(crate) fn dropped(&self, hook: &Hook, event_type: &EventType, reason: DropReason) {
        let level = match reason {
            DropReason::Cancelled => Level::Debug,
            _ if hook.background() => Level::Warn,
            _ => Level::Debug,
        };
        self.log(level, hook, || {
            format!(" does not run on {event_type}: {}", reason.words())
        });
    }

    /// Logs a panic in this crate's own code.
    pub(crate) fn panicked(&self, hook: &Hook) {
        error!(
            "the engine panicked at hook `{}`; please report this",
            self.label(hook)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_has_no_text_of_a_hook() {
        for (message, expected) in [
            (
                "the object has no key of an answer",
                "the object has no key of an answer",
            ),
            (
                "`descision` is not a known key; did you mean `decision`?",
                "`?",
            ),
            (
                "found `a: `b`` at line 3, column 77: an answer must be all",
                "found ` at line , column ",
            ),
            (
                "keys of the answer are ignored: `a`, `b` and 3 more",
                "keys of the answer are ignored",
            ),
            (
                "its `updatedInput` is discarded: hook `x` comes later and replaces it",
                "its ` comes later and replaces it",
            ),
            (
                "exit code 3 does not block here: exit with 2",
                "exit code  does not block here",
            ),
        ] {
            assert_eq!(kind_of(message), expected, "{message}");
        }
    }

    #[test]
    fn no_hook_mutes_another() {
        let reporter = Reporter::new(Redactor::default());
        let hook = |command: &str| Hook::new("*", command).unwrap();
        let remembered = || reporter.logged.lock().unwrap().clone();
        let noisy = hook("noisy");
        for number in 0..5_000 {
            let (name, word) = (format!("k{number}"), format!("a` w{number} `b"));
            reporter.diagnose_once(&noisy, &format!("`{name}` is not a known key"));
            reporter.diagnose_once(&noisy, &format!("found `{word}` at line {number}: {ALL}"));
            reporter.diagnose_once(&noisy, &format!("{name} breaks the rule"));
        }
        assert_eq!(remembered().len(), 1);
        assert!(remembered()[&noisy.fingerprint()].len() <= MOST_KINDS);
        for number in 0..2 * MOST_HOOKS {
            let other = hook(&format!("other {number}"));
            reporter.diagnose_once(&other, "the object has no key of an answer");
            assert!(remembered().contains_key(&other.fingerprint()), "{number}");
            assert!(remembered().len() <= MOST_HOOKS);
        }
    }

    const ALL: &str = "an answer must be all that a hook writes";
}
