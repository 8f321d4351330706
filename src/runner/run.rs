//! One hook on one event: what it is given, its process, and its result.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::answer::answered;
use super::command::command_line;
use super::direct::direct_words;
use super::ending::{Unable, judge, text};
use super::firing::Firing;
use super::nesting::Nesting;
use super::observer::{DropReason, HookRun, Observers};
use super::report::Reporter;
use crate::hook::{GateVerdict, Hook, Stdin};
use crate::outcome::{FailureKind, HookResult, SkipReason};
use crate::process::{self, End, Finished, Spec};
use crate::protocol::{NESTING_LIMIT, Naming, VariablesError};

/// What every run depends on: the settings, the observers, and the log.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) naming: Naming,
    pub(crate) default_timeout: Duration,
    pub(crate) working_dir: Option<PathBuf>,
    pub(crate) kill_grace: Duration,
    pub(crate) output_limit: usize,
    pub(crate) observers: Observers,
    pub(crate) reporter: Reporter,
}

impl Runner {
    /// Runs the hook, unless its event has been cancelled.
    pub(crate) fn run_unless_cancelled(&self, firing: &Firing<'_>, hook: &Arc<Hook>) -> HookResult {
        if firing.is_cancelled() {
            self.drop_run(&firing.run_of(hook), DropReason::Cancelled);
            return HookResult::never_ran(hook, firing.queued);
        }
        self.run(firing, hook)
    }

    /// Reports a hook that will not run, also to the observers.
    pub(crate) fn drop_run(&self, run: &HookRun<'_>, reason: DropReason) {
        let event_type = &run.event.event_type;
        self.reporter.dropped(run.hook, event_type, reason.words());
        self.observers.dropped(run, reason);
    }

    /// The result of a hook at which this crate's own code panicked.
    pub(crate) fn panicked(&self, hook: &Arc<Hook>) -> HookResult {
        self.reporter.panicked(hook);
        HookResult::panicked(hook)
    }

    /// A panic of the engine's own becomes a result. Beyond the nesting limit nothing is reported to
    /// observers: one that fires an event at each report would never end.
    fn run(&self, firing: &Firing<'_>, hook: &Arc<Hook>) -> HookResult {
        let nesting = Nesting::enter();
        let above = nesting.above();
        let is_reported = above < NESTING_LIMIT;
        let run = firing.run_of(hook);
        if is_reported {
            self.observers.start(&run);
        }
        let attempt = AssertUnwindSafe(|| self.attempt(firing, hook, above));
        let mut result = catch_unwind(attempt).unwrap_or_else(|_| self.panicked(hook));
        result.queued = firing.queued;
        if is_reported {
            self.observers.finish(&run, &result);
        }
        result
    }

    fn attempt(&self, firing: &Firing<'_>, hook: &Arc<Hook>, above: usize) -> HookResult {
        let event_type = &firing.event.event_type;
        self.reporter.start(hook, event_type);
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
        self.reporter.end(&result, &firing.event);
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
        let can_block = firing.event.event_type.can_block();
        let environment = firing
            .variables
            .for_hook(
                hook,
                can_block,
                &working_dir.to_string_lossy(),
                &self.naming,
            )
            .map_err(|error| (kind_of(&error), error.to_string()))?;
        let (program, args) = command_line(hook.command(), self.naming.profile().env_prefixes())
            .map_err(|error| (FailureKind::NotStarted, error))?;
        Ok(process::run(&Spec {
            program,
            args,
            direct: direct_words(hook.command(), &working_dir, environment.sets("PWD")),
            environment,
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
        let (exit_code, failed) = judge(&finished.end, self.timeout(hook));
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
        answered(result, stdout_cut, &firing.event.event_type, &self.reporter)
    }
}

fn kind_of(error: &VariablesError) -> FailureKind {
    match error {
        VariablesError::TooLarge { .. } | VariablesError::TooDeep { .. } => {
            FailureKind::EventTooLarge
        }
        VariablesError::NoSpill { .. } | VariablesError::BadName { .. } => FailureKind::NotStarted,
    }
}
