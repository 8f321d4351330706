//! One hook on one event: what it is given, its process, and its result.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::answer::without_bom;
use super::chain;
use super::command::command_line;
use super::firing::Firing;
use super::nesting::Nesting;
use super::observer::Observers;
use super::pool::Pool;
use super::shutdown::Closing;
use crate::hook::{GateVerdict, Hook, Stdin};
use crate::outcome::{FailureKind, HookResult, SkipReason};
use crate::process::{self, Captured, End, Finished, Spec, StartErrorKind};
use crate::protocol::{NESTING_LIMIT, Naming, VariablesError};
use crate::redact::Redactor;

/// What every run depends on: the settings, who watches, and the threads.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(super) naming: Naming,
    pub(super) allow_disable: bool,
    pub(super) default_timeout: Duration,
    pub(super) working_dir: Option<PathBuf>,
    pub(super) kill_grace: Duration,
    pub(super) output_limit: usize,
    pub(super) observers: Observers,
    pub(super) redactor: Redactor,
    pub(super) pool: Pool,
    /// For hooks that nobody waits for.
    pub(super) background: Pool,
    pub(super) closing: Closing,
}

/// A failure before there was a process, in words.
type Unable = (FailureKind, String);

impl Engine {
    /// A panic of the engine's own becomes a result. Beyond the nesting limit nothing is reported to
    /// observers: one that fires an event at each report would never end.
    pub(super) fn run(&self, firing: &Firing<'_>, hook: &Arc<Hook>) -> HookResult {
        let nesting = Nesting::enter();
        let above = nesting.above();
        let is_reported = above < NESTING_LIMIT;
        let run = firing.run_of(hook);
        if is_reported {
            self.observers.start(&run);
        }
        let attempt = AssertUnwindSafe(|| self.attempt(firing, hook, above));
        let mut result = catch_unwind(attempt).unwrap_or_else(|_| chain::panicked(self, hook));
        result.queued = firing.queued;
        if is_reported {
            self.observers.finish(&run, &result);
        }
        result
    }

    fn attempt(&self, firing: &Firing<'_>, hook: &Arc<Hook>, above: usize) -> HookResult {
        let event_type = &firing.event.event_type;
        self.report_start(hook, event_type);
        let not_run = |failure, error| HookResult::not_run(Arc::clone(hook), failure, error);
        let result = match hook
            .gate()
            .map_or(GateVerdict::Run, |gate| gate.check(hook))
        {
            GateVerdict::ApprovalLost(why) => not_run(FailureKind::ApprovalLost, why),
            GateVerdict::NotApproved(why) => {
                HookResult::skipped(Arc::clone(hook), SkipReason::NotApproved, why)
            }
            GateVerdict::Run => match self.try_run(firing, hook, above) {
                Ok(finished) => self.result(firing, hook, finished),
                Err((failure, error)) => not_run(failure, error),
            },
        };
        self.report_end(&result, &firing.event);
        result
    }

    fn try_run(&self, firing: &Firing<'_>, hook: &Hook, above: usize) -> Result<Finished, Unable> {
        if let Some(reason) = hook.refusal() {
            return Err((FailureKind::Misconfigured, reason.to_owned()));
        }
        let circular = self.naming.chain().check(hook, above);
        circular.map_err(|error| (FailureKind::Circular, error.to_string()))?;
        let working_dir = self.working_dir(hook).map_err(|error| {
            (
                FailureKind::NotFound,
                format!("cannot read the current directory: {error}"),
            )
        })?;
        let env = firing
            .variables
            .for_hook(
                hook,
                firing.event.event_type.can_block(),
                &working_dir.to_string_lossy(),
                &self.naming,
            )
            .map_err(|error| (kind_of(&error), error.to_string()))?;
        let (program, args) = command_line(hook.command(), self.naming.profile().env_prefixes())
            .map_err(|error| (FailureKind::NotStarted, error))?;
        Ok(process::run(&Spec {
            program,
            args,
            env_remove: self.naming.inherited(),
            env: &env,
            working_dir,
            stdin: (hook.stdin() == Stdin::Json).then(|| firing.json()),
            timeout: self.timeout(hook),
            kill_grace: self.kill_grace,
            output_limit: self.output_limit,
            cancel: firing.cancel.as_deref(),
        }))
    }

    fn timeout(&self, hook: &Hook) -> Duration {
        hook.own_timeout().unwrap_or(self.default_timeout)
    }

    /// The hook's own directory, counted from the base: its project's root, else the executor's
    /// working directory, else the host's current one.
    fn working_dir(&self, hook: &Hook) -> io::Result<PathBuf> {
        let own = hook.working_dir();
        if let Some(own) = own.filter(|path| path.is_absolute()) {
            return Ok(own.to_owned());
        }
        let base = match hook.base_dir().or(self.working_dir.as_deref()) {
            Some(base) => base.to_owned(),
            None => std::env::current_dir()?,
        };
        Ok(own.map_or_else(|| base.clone(), |own| base.join(own)))
    }

    fn result(&self, firing: &Firing<'_>, hook: &Arc<Hook>, finished: Finished) -> HookResult {
        let (exit_code, failed) = self.judge(hook, &finished.end);
        let (failure, error) = failed.unzip();
        let stdout_cut = finished.stdout.omitted() > 0;
        let truncated = stdout_cut || finished.stderr.omitted() > 0;
        let (stdout, raw_stdout) = text(finished.stdout);
        let (stderr, raw_stderr) = text(finished.stderr);
        let result = HookResult {
            exit_code,
            stdout,
            stderr,
            duration: finished.duration,
            timed_out: failure == Some(FailureKind::TimedOut),
            error,
            failure,
            signal: match finished.end {
                End::Signaled(signal) => Some(signal),
                _ => None,
            },
            pid: finished.pid,
            truncated,
            output_held_open: finished.output_held_open,
            raw_stdout,
            raw_stderr,
            ask_handled: firing.handles_ask,
            ..HookResult::new(Arc::clone(hook), exit_code)
        };
        self.answered(result, stdout_cut, &firing.event.event_type)
    }

    /// The exit code, and the failure if it is one.
    fn judge(&self, hook: &Hook, end: &End) -> (i32, Option<Unable>) {
        use FailureKind as Kind;
        let (code, kind, error) = match end {
            End::Exited(0) => return (0, None),
            End::Exited(code) if NOT_FOUND_CODES.contains(code) => (
                *code,
                Kind::NotFound,
                format!("command not found (exit code {code})"),
            ),
            End::Exited(126) => (
                126,
                Kind::NotExecutable,
                "command is not executable (exit code 126)".to_owned(),
            ),
            End::Exited(code) => (*code, Kind::Exit, format!("exited with code {code}")),
            End::Signaled(signal) => (
                128 + signal,
                Kind::Signal,
                format!("ended by signal {signal}"),
            ),
            End::TimedOut { stopped } => {
                let hint = if *stopped { STOPPED } else { "" };
                let error = format!("timed out after {:?}{hint}", self.timeout(hook));
                (-1, Kind::TimedOut, error)
            }
            End::Cancelled => (-1, Kind::Cancelled, "cancelled while it ran".to_owned()),
            End::StatusLost => (
                -1,
                Kind::StatusLost,
                "exit status lost: the host reaps its children elsewhere, or ignores SIGCHLD"
                    .to_owned(),
            ),
            End::NotStarted(start) => {
                let kind = match start.kind {
                    StartErrorKind::NotFound => Kind::NotFound,
                    StartErrorKind::NotExecutable => Kind::NotExecutable,
                    StartErrorKind::Other => Kind::NotStarted,
                };
                (-1, kind, start.message.clone())
            }
        };
        (code, Some((kind, error)))
    }
}

/// The usual cause: `ssh` or `sudo` asking for a password.
const STOPPED: &str = ", stopped: a hook that wants the terminal is stopped, for it has none";

fn kind_of(error: &VariablesError) -> FailureKind {
    match error {
        VariablesError::TooLarge { .. } | VariablesError::TooDeep { .. } => {
            FailureKind::EventTooLarge
        }
        VariablesError::NoSpill { .. } | VariablesError::BadName { .. } => FailureKind::NotStarted,
    }
}

/// What a shell exits with when it does not find a command: POSIX, and `cmd`.
const NOT_FOUND_CODES: &[i32] = if cfg!(windows) { &[127, 9009] } else { &[127] };

/// Output as text, and as bytes where the text does not hold them all.
fn text(captured: Captured) -> (String, Option<Vec<u8>>) {
    let omitted = captured.omitted();
    if omitted > 0 {
        let (head, tail) = captured.into_parts();
        let note = format!("\n[... {omitted} bytes left out ...]\n");
        let shown = [&head[..], note.as_bytes(), &tail].concat();
        let text = String::from_utf8_lossy(without_bom(&shown)).into_owned();
        return (text, Some([head, tail].concat()));
    }
    match String::from_utf8(captured.into_bytes()) {
        Ok(text) if !text.starts_with('\u{FEFF}') => (text, None),
        Ok(text) => (
            text.trim_start_matches('\u{FEFF}').to_owned(),
            Some(text.into_bytes()),
        ),
        Err(error) => {
            let bytes = error.into_bytes();
            (
                String::from_utf8_lossy(without_bom(&bytes)).into_owned(),
                Some(bytes),
            )
        }
    }
}
