//! Runs one hook on one event: its input, its process, and its result.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::answer::add_answer;
use super::ending::{Ran, Unable, exit_code_and_failure, text, without_answer};
use super::firing::Firing;
use super::foreign_answer::add_foreign_answer;
use super::given::{prepare, prepare_foreign, read_env_file};
use super::nesting::Nesting;
use super::observer::{DropReason, HookRun, Observers};
use super::report::Reporter;
use super::resident::Residents;
use crate::hook::{GateVerdict, Hook};
use crate::outcome::{FailureKind, HookResult, Residency, SkipReason};
use crate::process::{self, End, Spec};
use crate::protocol::{NESTING_LIMIT, Naming, check_answer};

/// What every run depends on: the settings, the observers, and the log.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) naming: Naming,
    pub(crate) default_timeout: Duration,
    pub(crate) working_dir: Option<PathBuf>,
    pub(crate) kill_grace: Duration,
    pub(crate) output_limit: usize,
    pub(crate) residents: Residents,
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
        self.reporter.dropped(run.hook, event_type, reason);
        self.observers.dropped(run, reason);
    }

    /// The result of a hook at which this crate's own code panicked.
    pub(crate) fn panicked(&self, hook: &Arc<Hook>) -> HookResult {
        self.reporter.panicked(hook);
        HookResult::panicked(hook)
    }

    /// Runs the hook. A panic of the engine becomes a result. Beyond the nesting limit nothing is
    /// reported to observers: an observer that fires an event at each report would never end.
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
        let verdict = hook.gate().map_or(GateVerdict::Run, |it| it.check(hook));
        if hook.resident() && verdict != GateVerdict::Run {
            self.residents.end_of(&[hook.fingerprint()]);
        }
        let result = match verdict {
            GateVerdict::ApprovalLost(why) => not_run(FailureKind::ApprovalLost, why),
            GateVerdict::NotApproved(why) => {
                HookResult::skipped(Arc::clone(hook), SkipReason::NotApproved, why)
            }
            GateVerdict::Run => match self.try_run(firing, hook, above) {
                Ok(ran) => self.result(firing, hook, ran),
                Err((failure, error)) => not_run(failure, error),
            },
        };
        self.reporter.end(&result, event_type, firing.can_block);
        result
    }

    fn try_run(&self, firing: &Firing<'_>, hook: &Hook, above: usize) -> Result<Ran, Unable> {
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
        let prepared = match hook.foreign() {
            None => prepare(firing, hook, working_dir, &self.naming)?,
            Some(foreign) => prepare_foreign(foreign, firing, hook, working_dir, &self.naming)?,
        };
        let spec = Spec {
            program: prepared.program,
            args: prepared.args,
            direct: prepared.direct,
            environment: prepared.environment,
            working_dir: prepared.working_dir,
            stdin: prepared.stdin.as_deref(),
            timeout: self.timeout(hook),
            kill_grace: self.kill_grace,
            output_limit: self.output_limit,
            cancel: firing.cancel.as_deref(),
        };
        let mut ran = match prepared.id {
            None => Ran::new(process::run(&spec)).explained(&spec),
            Some(id) => self.run_resident(hook, spec, &id),
        };
        ran.env_file = prepared.env_file.and_then(read_env_file);
        Ok(ran)
    }

    /// Sends the event to the hook's kept process, or to a new process if none can be kept.
    fn run_resident(&self, hook: &Hook, mut spec: Spec<'_>, id: &str) -> Ran {
        let begun = Instant::now();
        if let Some(ran) = self.residents.exchange(hook, &spec, id) {
            return ran;
        }
        // The event may have been cancelled while it waited for its turn.
        let waited = begun.elapsed();
        spec.timeout = spec.timeout.saturating_sub(waited);
        let mut finished = process::run(&spec);
        finished.duration += waited;
        let answer = finished.stdout.bytes();
        let answered = match &finished.end {
            end @ (End::Exited(0..126) | End::Signaled(_)) if answer.trim_ascii().is_empty() => {
                Err(without_answer(end, &finished.stderr))
            }
            End::Exited(0..126) | End::Signaled(_) => check_answer(&answer, id),
            _ => Ok(()),
        };
        Ran {
            failure: answered.err().map(|why| (FailureKind::InvalidAnswer, why)),
            residency: Some(Residency::OneShot),
            ..Ran::new(finished)
        }
    }

    fn timeout(&self, hook: &Hook) -> Duration {
        let of_tool = || hook.foreign().map(|foreign| foreign.event().timeout);
        let own = hook.own_timeout().or_else(of_tool);
        own.unwrap_or(self.default_timeout)
    }

    /// Returns the hook's working directory, relative to its base: its project's root, else the
    /// executor's working directory, else the host's current directory.
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

    fn result(&self, firing: &Firing<'_>, hook: &Arc<Hook>, ran: Ran) -> HookResult {
        let finished = ran.finished;
        let (exit_code, failed) = exit_code_and_failure(&finished.end, self.timeout(hook));
        let (failure, error) = ran.failure.or(failed).unzip();
        let gap = finished.stdout.gap();
        let truncated = gap.is_some() || finished.stderr.omitted() > 0;
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
            residency: ran.residency,
            env_file: ran.env_file.map(Box::new),
            truncated,
            output_held_open: finished.output_held_open,
            raw_stdout,
            raw_stderr,
            ask_handled: firing.handles_ask,
            ..HookResult::new(Arc::clone(hook), exit_code)
        };
        match hook.foreign() {
            None => add_answer(result, gap, firing, &self.reporter),
            Some(foreign) => {
                add_foreign_answer(foreign, result, gap.is_some(), firing, &self.reporter)
            }
        }
    }
}
