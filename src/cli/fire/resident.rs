//! `fire --resident N`: measures how long the kept process of each resident hook takes for an
//! event.
//!
//! The times are measured by the engine, as in any result: from the event to its answer.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::message::{Message, TICK};
use super::outcome_of;
use super::show::{Show, shown};
use crate::cli::context::Context;
use crate::cli::ended::Ended;
use crate::cli::error::Failure;
use crate::cli::terminal::{Style, Terminal};
use crate::cli::validate::counted;
use crate::{
    FireOptions, Hook, HookEvent, HookExecutor, HookRegistry, HookResult, Hooks, Residency,
};

/// The number of one-shot runs for comparison.
const ONE_SHOT_RUNS: usize = 5;

/// How long an ended run may still occupy its thread.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) fn run(
    events: u32,
    event: HookEvent,
    context: &Context<'_>,
    found: &Hooks,
    is_json: bool,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    if cfg!(not(unix)) {
        return Err(Failure::new("on this platform no hook's process is kept")
            .with_fix("leave `--resident` out"));
    }
    let mut hooks = found.executor().hooks_for(&event);
    hooks.retain(|hook| hook.is_system() || context.disabled_by().is_none());
    let (hooks, others): (Vec<_>, Vec<_>) = hooks.into_iter().partition(|hook| hook.resident());
    let _ = terminal.interrupted();
    let event = Arc::new(event);
    let mut series = Series {
        events,
        show: Show::new(&event, &hooks, is_json, context),
        event,
        ended: Ended::Fine,
    };
    let mut reports = Vec::new();
    for hook in &hooks {
        let measured = series.measure(hook, context, found, terminal)?;
        if !is_json {
            measured.show(terminal)?;
        }
        reports.push(measured.to_json(hook));
        if matches!(series.ended, Ended::Interrupted(_)) {
            break;
        }
    }
    series.show.clear(terminal)?;
    if is_json {
        terminal.json(&json!({
            "event": *series.event,
            "events": events,
            "hooks": reports,
            "not_resident": others.len(),
        }))?;
    } else {
        conclude(&series, hooks.len(), others.len(), terminal)?;
    }
    Ok(series.ended)
}

fn conclude(
    series: &Series,
    hooks: usize,
    others: usize,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    let name = &series.event.event_type;
    if hooks > 0 {
        writeln!(terminal)?;
    }
    let words = match (series.ended, hooks) {
        (Ended::Interrupted(_), _) => "interrupted".to_owned(),
        (_, 0) => "no resident hook is for this event".to_owned(),
        _ => format!("fired at {}", counted(hooks, "resident hook")),
    };
    writeln!(terminal, "{name}: {words}")?;
    if others > 0 {
        let others = counted(others, "hook");
        let words = "without `\"resident\": true` did not run";
        writeln!(terminal, "  {others} {words}")?;
    }
    Ok(())
}

struct Series {
    events: u32,
    event: Arc<HookEvent>,
    show: Show,
    ended: Ended,
}

/// The measurements of one hook.
#[derive(Default)]
struct Measured {
    /// The times of the events that were answered by a kept process, including a replaced one.
    kept: Vec<Duration>,
    /// How often another process replaced it.
    replaced: usize,
    one_shot: Vec<Duration>,
    /// The first result, or the one that ended the measurement.
    result: Option<HookResult>,
}

impl Series {
    /// Fires one more event than is counted: the first one starts the process.
    fn measure(
        &mut self,
        hook: &Arc<Hook>,
        context: &Context<'_>,
        found: &Hooks,
        terminal: &mut Terminal<'_>,
    ) -> Result<Measured, Failure> {
        let registry = Arc::new(HookRegistry::new());
        registry.register(Hook::clone(hook));
        let executor = HookExecutor::builder().registry(registry);
        let executor = context.executor(found, executor);
        let mut measured = Measured::default();
        let goes_on = self.fire_at_kept(&executor, hook, &mut measured, terminal)?;
        // Ends the process, so that each of the next runs is one-shot.
        let _ = executor.shutdown(PATIENCE);
        if goes_on {
            self.run_one_shot(&executor, &mut measured, terminal)?;
        }
        Ok(measured)
    }

    /// Whether all events were answered.
    fn fire_at_kept(
        &mut self,
        executor: &HookExecutor,
        hook: &Arc<Hook>,
        measured: &mut Measured,
        terminal: &mut Terminal<'_>,
    ) -> Result<bool, Failure> {
        let spins = Message::Started(Arc::clone(hook));
        self.show.take(spins, terminal)?;
        let mut last_tick = Instant::now();
        for number in 0..=self.events {
            let Some(result) = self.answer(executor, terminal)? else {
                return Ok(false);
            };
            if result.failure.is_some() || !result.started() {
                self.take(result, measured, terminal)?;
                return Ok(false);
            }
            if number == 0 {
                self.take(result, measured, terminal)?;
                continue;
            }
            measured.replaced += usize::from(result.residency == Some(Residency::Replaced));
            measured.kept.push(result.duration);
            if last_tick.elapsed() >= TICK {
                self.show.tick(terminal)?;
                last_tick = Instant::now();
            }
        }
        Ok(true)
    }

    /// Fires one event, and returns its result; None after Ctrl-C.
    fn answer(
        &mut self,
        executor: &HookExecutor,
        terminal: &mut Terminal<'_>,
    ) -> Result<Option<HookResult>, Failure> {
        let event = Arc::clone(&self.event);
        let tick = |terminal: &mut Terminal<'_>| self.show.tick(terminal);
        let outcome = outcome_of(executor, event, terminal, tick)?;
        self.note_interrupt(terminal);
        Ok(outcome.and_then(|outcome| outcome.into_results().pop()))
    }

    fn run_one_shot(
        &mut self,
        executor: &HookExecutor,
        measured: &mut Measured,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), Failure> {
        for _ in 0..ONE_SHOT_RUNS {
            if self.note_interrupt(terminal) {
                return Ok(());
            }
            let results = executor.execute_hooks(&self.event, FireOptions::default());
            let Some(result) = results.into_iter().next() else {
                return Ok(());
            };
            if result.failure.is_some() {
                return self.take(result, measured, terminal);
            }
            measured.one_shot.push(result.duration);
        }
        Ok(())
    }

    fn note_interrupt(&mut self, terminal: &mut Terminal<'_>) -> bool {
        if let Some(status) = terminal.interrupted() {
            self.ended = Ended::Interrupted(status);
        }
        matches!(self.ended, Ended::Interrupted(_))
    }

    /// Shows a result, and stores it.
    fn take(
        &mut self,
        result: HookResult,
        measured: &mut Measured,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), Failure> {
        if !result.should_continue() && self.ended == Ended::Fine {
            self.ended = Ended::Problems;
        }
        self.show.take(Message::Result(result.clone()), terminal)?;
        measured.result = Some(result);
        Ok(())
    }
}

impl Measured {
    fn show(&self, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
        let name = |what| terminal.styled(Style::Dim, what);
        let (kept, one_shot) = (name("kept    "), name("one-shot"));
        if let (Some(median), Some(p99)) = (percentile(&self.kept, 50), percentile(&self.kept, 99))
        {
            let (median, p99) = (shown(median), shown(p99));
            let events = counted(self.kept.len(), "event");
            let replaced = match self.replaced {
                0 => String::new(),
                times => format!(", process replaced {}", counted(times, "time")),
            };
            let times = format!("median {median:>8}  p99 {p99:>8}");
            writeln!(terminal, "  {kept}  {times}  {events}{replaced}")?;
        }
        if let Some(median) = percentile(&self.one_shot, 50) {
            let (median, runs) = (shown(median), counted(self.one_shot.len(), "run"));
            writeln!(terminal, "  {one_shot}  median {median:>8}  {runs}")?;
        }
        terminal.flush()?;
        Ok(())
    }

    fn to_json(&self, hook: &Hook) -> Value {
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        json!({
            "hook": hook.to_json(),
            "answered": self.kept.len(),
            "replaced": self.replaced,
            "median": seconds(percentile(&self.kept, 50)),
            "p99": seconds(percentile(&self.kept, 99)),
            "one_shot_median": seconds(percentile(&self.one_shot, 50)),
            "result": self.result,
        })
    }
}

/// Returns a percentile of the times; None if there are none.
fn percentile(times: &[Duration], hundredths: usize) -> Option<Duration> {
    let mut times = times.to_vec();
    times.sort_unstable();
    let last = times.len().checked_sub(1)?;
    Some(times[last * hundredths / 100])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_times() {
        let times: Vec<_> = (1..=200).rev().map(Duration::from_micros).collect();
        let of = |times: &[Duration], hundredths| percentile(times, hundredths).map(shown);
        assert_eq!(of(&times, 50).as_deref(), Some("0.10 ms"));
        assert_eq!(of(&times, 99).as_deref(), Some("0.20 ms"));
        assert_eq!(of(&times[..1], 99).as_deref(), Some("0.20 ms"));
        assert_eq!(of(&[], 50), None);
    }
}
