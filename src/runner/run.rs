//! Runs one hook on one event: its input, its process, and its result.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::NamedTempFile;

use super::admit::{Admitted, admit};
use super::direct::direct_words;
use super::ending::{Ran, result_of, without_answer};
use super::firing::Firing;
use super::observation::{DropReason, Observation, Observers};
use super::report::Reporter;
use super::resident::Residents;
use super::sandbox::Bases;
#[cfg(feature = "cli")]
use crate::entry::Standing;
use crate::entry::{Failure, HookOutput, Reading};
use crate::hook::Hook;
use crate::outcome::{End, EnvFile, FailureKind, HookResult, Residency};
use crate::process::{self, Args, Confinement, Spec};
use crate::protocol::{Call, Exit, Launch, Native, check_answer, limit, too_deep};

/// The most bytes that are read from the file of a session's variables.
const LARGEST_ENV_FILE: usize = 1024 * 1024;

/// The parts that every run depends on: the settings, the observations, and the log.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) native: Native,
    pub(crate) default_timeout: Duration,
    pub(crate) working_dir: Option<PathBuf>,
    pub(crate) bases: Bases,
    pub(crate) kill_grace: Duration,
    pub(crate) output_limit: usize,
    pub(crate) residents: Residents,
    pub(crate) observers: Observers,
    pub(crate) reporter: Reporter,
}

impl Runner {
    /// Runs the hook, unless its event has been cancelled.
    pub(crate) fn run_unless_cancelled(&self, firing: &Firing, hook: &Arc<Hook>) -> HookResult {
        if firing.is_cancelled() {
            self.drop_run(firing, hook, DropReason::Cancelled);
            return HookResult::never_ran(hook, firing.queued);
        }
        self.run(firing, hook)
    }

    /// Reports a hook that will not run.
    pub(crate) fn drop_run(&self, firing: &Firing, hook: &Arc<Hook>, reason: DropReason) {
        self.reporter
            .dropped(hook, &firing.event.event_type, reason);
        self.observers
            .observe(|| Observation::Dropped(firing.run_of(hook), reason.as_str()));
    }

    /// Returns the result of a hook at which this crate's own code panicked, and logs the panic.
    pub(crate) fn panicked(&self, hook: &Arc<Hook>) -> HookResult {
        self.reporter.panicked(hook);
        let error = "the hooks engine panicked";
        HookResult::failing(Arc::clone(hook), FailureKind::Panicked, error)
    }

    /// Runs the hook. A panic of the engine becomes a result.
    pub(crate) fn run(&self, firing: &Firing, hook: &Arc<Hook>) -> HookResult {
        self.residents.end_idle();
        self.observers
            .observe(|| Observation::Started(firing.run_of(hook)));
        let attempt = AssertUnwindSafe(|| self.attempt(firing, hook));
        let panicked = || self.panicked(hook).handled(firing.handles);
        let mut result = catch_unwind(attempt).unwrap_or_else(|_| panicked());
        result.trail.queued = firing.queued;
        result.set_shown_reason(self.shown_reason(&result));
        self.observers
            .observe(|| Observation::Ended(firing.run_of(hook), Box::new(result.clone())));
        result
    }

    /// Returns the reason of a result as it is shown, if that is not the hook's own. The reason of a guard is not true of an event on
    /// which it ran only because a condition could not be tested. A guard without a reason says what met its condition.
    fn shown_reason(&self, result: &HookResult) -> Option<String> {
        let reason = self.reporter.shown_reason(result);
        if result.should_continue() {
            return reason;
        }
        let hook = &result.hook();
        let met = || hook.met_note().filter(|_| result.reason().is_none());
        // A condition on a value that is nested too deep cannot be tested: this value is the reason.
        let untested = hook.untested_note();
        let untested = untested.filter(|_| result.failure() != Some(FailureKind::EventTooLarge));
        let note = untested.map(Some).or_else(|| reason.is_none().then(met));
        let note = note
            .flatten()
            .map(|note| self.reporter.without_secrets(hook, note));
        note.or(reason)
    }

    fn attempt(&self, firing: &Firing, hook: &Arc<Hook>) -> HookResult {
        let event_type = &firing.event.event_type;
        self.reporter.start(hook, event_type);
        let admitted = self.admit(hook);
        if let Err(failure) = &admitted
            && hook.resident()
            && matches!(
                failure.kind,
                FailureKind::ApprovalLost | FailureKind::Misconfigured
            )
        {
            // The hook will not run again until its files are loaded again.
            self.residents.end_of(&[hook.fingerprint()]);
        }
        let ran = admitted.and_then(|admitted| {
            too_deep(&firing.event)
                .or_else(|| is_late(firing))
                .map_or(Ok(()), Err)?;
            match admitted {
                Admitted::Answer(output) => Ok(self.answer(firing, hook, *output)),
                Admitted::Start {
                    working_dir,
                    confinement,
                } => self.run_process(firing, hook, &working_dir, confinement),
            }
        });
        let result = ran.unwrap_or_else(|failure| {
            let result = HookResult::failing(Arc::clone(hook), failure.kind, failure.message);
            result.handled(firing.handles)
        });
        self.reporter.end(&result, event_type, firing.can_block);
        result
    }

    /// Returns the values that the hook needs to start.
    fn admit(&self, hook: &Hook) -> Result<Admitted, Failure> {
        let naming = self.native.naming();
        admit(hook, naming, self.working_dir.as_deref(), &self.bases)
    }

    /// Returns whether the hook may run, for people. Checks files, as before a start.
    #[cfg(feature = "cli")]
    pub(crate) fn standing_of(&self, hook: &Hook) -> Standing {
        match self.admit(hook) {
            Ok(_) => Standing::Ready,
            Err(failure) => Standing::Fails(failure),
        }
    }

    /// Returns the result of a hook whose answer is in its entry.
    fn answer(&self, firing: &Firing, hook: &Arc<Hook>, output: HookOutput) -> HookResult {
        let result = HookResult::of(Arc::clone(hook), End::Answered, None);
        let reading = Reading {
            output: Some(output),
            ..Reading::default()
        };
        self.answered(firing, result, Some(reading))
    }

    /// Adds to a result the protocol's reading of the hook's end, within the limits of `may`.
    fn answered(
        &self,
        firing: &Firing,
        result: HookResult,
        reading: Option<Reading>,
    ) -> HookResult {
        let mut result = result.handled(firing.handles);
        if let Some(mut reading) = reading {
            let (hook, event) = (&result.hook(), &firing.event);
            limit(&mut reading, event, |word| hook.check_may(word));
            result = result.with_reading(reading);
        }
        result.mask_warnings(|hook, warning| self.reporter.without_secrets(hook, warning));
        for diagnostic in result.diagnostics() {
            self.reporter.diagnose_once(result.hook(), diagnostic);
        }
        result
    }

    /// Starts the program that the protocol requests, waits for its end, and lets the protocol read that.
    fn run_process(
        &self,
        firing: &Firing,
        hook: &Arc<Hook>,
        working_dir: &Path,
        confinement: Option<Confinement>,
    ) -> Result<HookResult, Failure> {
        let protocol = hook.protocol().unwrap_or(&self.native);
        let event = &firing.event;
        let call = Call {
            event,
            hook: hook.called(),
            can_block: firing.can_block,
            working_dir,
            once: &firing.once,
        };
        // The scripts are compared before the run, since the hook may write its own script.
        let host_dir = self.working_dir.as_deref();
        let scripts = hook.scripts();
        let changed = scripts.and_then(|scripts| scripts.changed(hook, host_dir));
        let mut launch = protocol.prepare(&call)?;
        let timeout = self.timeout(hook, &launch).min(firing.left());
        let directory = match &launch.working_dir {
            Some(directory) => &working_dir.join(directory),
            None => working_dir,
        };
        let ran = self.execute(firing, hook, &mut launch, (directory, confinement), timeout)?;
        let gap = ran.finished.stdout.gap();
        let mut result = result_of(hook, ran, timeout);
        result.trail.env_file = launch.env_file.take().and_then(read_env_file).map(Box::new);
        let reading = if result.may_have_answered() {
            Some(protocol.read(&call, &exit(&result, gap)))
        } else {
            None
        };
        let mut result = self.answered(firing, result, reading);
        if let Some(name) = changed {
            self.report_change(&mut result, &name);
        }
        Ok(result)
    }

    /// Adds to a result a note that a script of the hook has changed. If the user does not see the note, since the hook
    /// blocks or fails, it is added again at the next run.
    fn report_change(&self, result: &mut HookResult, name: &str) {
        let change = format!("its script `{name}` has changed since the hooks were loaded");
        let change = self.reporter.without_secrets(result.hook(), &change);
        let is_shown = result.failure().is_none() && result.should_continue();
        if !is_shown {
            self.reporter.diagnose_once(result.hook(), &change);
            result.add_diagnostic(change);
        } else if result
            .hook()
            .scripts()
            .is_some_and(|scripts| scripts.is_told())
        {
            self.reporter.warn(result.hook(), &change);
            result.add_user_warning(change);
        }
    }

    /// Runs the process, or sends the event to the kept one.
    fn execute(
        &self,
        firing: &Firing,
        hook: &Hook,
        launch: &mut Launch<'_>,
        (working_dir, confinement): (&Path, Option<Confinement>),
        timeout: Duration,
    ) -> Result<Ran, Failure> {
        let variables = std::mem::take(&mut launch.variables);
        let environment = self.native.naming().environment(hook.called(), variables)?;
        let direct = if launch.may_be_direct {
            direct_words(hook.action(), working_dir, environment.sets("PWD"))
        } else {
            Vec::new()
        };
        let spec = Spec {
            program: std::mem::take(&mut launch.program),
            args: launch.args.take().unwrap_or(Args::List(Vec::new())),
            direct,
            environment,
            working_dir,
            stdin: launch.stdin.as_deref(),
            timeout,
            kill_grace: self.kill_grace,
            output_limit: self.output_limit,
            cancel: Some(&firing.cancel),
            confinement,
        };
        Ok(match &launch.id {
            None => Ran::new(process::run(&spec)),
            Some(id) => self.run_resident(hook, spec, id),
        })
    }

    /// Sends the event to the hook's kept process, or to a new process if none can be kept.
    fn run_resident(&self, hook: &Hook, spec: Spec<'_>, id: &str) -> Ran {
        if let Some(ran) = self.residents.exchange(hook, &spec, id) {
            return ran;
        }
        let finished = process::run(&spec);
        let answer = finished.stdout.bytes();
        let failure = match &finished.end {
            end @ (process::End::Exited(0..126) | process::End::Signaled(_)) => {
                match answer.trim_ascii() {
                    [] => Some(without_answer(end, &finished.stderr)),
                    answer => {
                        let invalid = |why| Failure::new(FailureKind::InvalidAnswer, why);
                        check_answer(answer, id).err().map(invalid)
                    }
                }
            }
            _ => None,
        };
        Ran {
            failure,
            residency: Some(Residency::OneShot),
            ..Ran::new(finished)
        }
    }

    fn timeout(&self, hook: &Hook, launch: &Launch<'_>) -> Duration {
        let own = hook.own_timeout().or(launch.timeout);
        own.unwrap_or(self.default_timeout)
    }
}

/// Returns the failure of a hook whose turn comes when the time of its event is over.
fn is_late(firing: &Firing) -> Option<Failure> {
    let why = "the time for the whole event was over before its turn";
    let failure = || Failure::new(FailureKind::TimedOut, why);
    firing.left().is_zero().then(failure)
}

/// Returns the end of a process as its protocol reads it.
fn exit(result: &HookResult, gap: Option<usize>) -> Exit<'_> {
    Exit {
        code: result.signal().is_none().then_some(result.exit_code()),
        stdout: result.stdout(),
        stdout_bytes: result.stdout_bytes(),
        stderr: result.stderr(),
        gap,
    }
}

/// Returns the variables that the hook has written to its file. A file that the hook has put in its place is ignored:
/// opening it could block forever.
fn read_env_file(file: NamedTempFile) -> Option<EnvFile> {
    let mut bytes = Vec::new();
    let mut limited = file.as_file().take(LARGEST_ENV_FILE as u64 + 1);
    limited.read_to_end(&mut bytes).ok()?;
    if bytes.len() > LARGEST_ENV_FILE {
        // Half a line would set a variable to half of its value.
        let last = bytes[..LARGEST_ENV_FILE]
            .iter()
            .rposition(|byte| *byte == b'\n');
        bytes.truncate(last.map_or(0, |at| at + 1));
    }
    (!bytes.is_empty()).then(|| EnvFile::new(file.into_temp_path(), bytes))
}
