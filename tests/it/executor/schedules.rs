//! The pool and the handles under randomized schedules: several threads submit, wait, cancel, drop
//! and shut down in every way. In every schedule
//! each event is answered once, in order, on at most the allowed number of threads, and no thread
//! waits forever.
//!
//! The hooks fail before there would be a process, so that thousands of events fit into a second.
//! `FORGE_HOOKS_TEST_SECONDS` says how long; a failure names its seed, and `FORGE_HOOKS_TEST_SEED`
//! plays that round again (as far as the system's scheduler does).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::executor::{HookRun, Observation, Observations};
use forge_hooks::{CancelToken, FireOptions, HookEvent, HookExecutor, HookHandle, SubmitError};

use super::endurance::from_environment;
use crate::support::{custom, eventually, hook};

/// Hooks of every event that are waited for, and one in the background.
const WAITED_FOR: usize = 3;

/// Longer than any round takes on the slowest machine.
const FOR_EVER: Duration = Duration::from_secs(60);

/// Marsaglia's xorshift: what is drawn depends on the seed alone.
struct Lot(u64);

impl Lot {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// What was observed in one round.
#[derive(Default)]
struct Witness {
    /// By event: hooks that have ended or been dropped.
    seen: HashMap<u64, usize>,
    /// The last event that has started, by ordering key and submitting thread.
    last: HashMap<(u64, u64), u64>,
    running: usize,
    most_running: usize,
}

fn number(event: &HookEvent, key: &str) -> u64 {
    event.data()[key].as_u64().unwrap()
}

impl Witness {
    /// Reads until the executor is gone, or this says so.
    fn read(observations: &Observations, is_over: &AtomicBool) -> Self {
        let mut witness = Self::default();
        loop {
            match observations.recv_timeout(Duration::from_millis(1)) {
                Some(observation) => witness.saw(&observation),
                None if is_over.load(Ordering::SeqCst) => return witness,
                None => {}
            }
        }
    }

    fn saw(&mut self, observation: &Observation) {
        match observation {
            Observation::Started(run) if !run.hook.background() => self.started(run),
            Observation::Ended(run, _) => {
                self.running -= usize::from(!run.hook.background());
                self.ended(run);
            }
            // The host has got back what was refused; each of the others is reported once.
            Observation::Dropped(run, reason)
                if *reason == "cancelled" || run.hook.background() =>
            {
                self.ended(run);
            }
            _ => {}
        }
    }

    fn started(&mut self, run: &HookRun) {
        self.running += 1;
        self.most_running = self.most_running.max(self.running);
        if run.hook.name() == Some("0") {
            let [lane, by, id] = ["lane", "by", "id"].map(|key| number(&run.event, key));
            let before = self.last.insert((lane, by), id);
            assert!(
                lane == 0 || before.is_none_or(|before| before < id),
                "{id} has overtaken {before:?} of its lane"
            );
        }
    }

    fn ended(&mut self, run: &HookRun) {
        *self.seen.entry(number(&run.event, "id")).or_default() += 1;
    }
}

/// One thread of the host: what it has submitted and not finished with.
struct Actor<'a> {
    number: u64,
    lot: Lot,
    executor: &'a HookExecutor,
    handles: Vec<HookHandle>,
    tokens: Vec<CancelToken>,
    taken: Vec<u64>,
}

impl Actor<'_> {
    fn act(&mut self, step: u64) {
        let what = self.lot.below(12);
        if what < 6 || self.handles.is_empty() {
            return self.submit((self.number << 32) + step);
        }
        let some = self.lot.below(self.handles.len() as u64) as usize;
        match what {
            6 => drop(self.handles.swap_remove(some).cancel_on_drop()),
            7 => {
                let token = self.handles.swap_remove(some).cancel_token();
                self.tokens.push(token);
            }
            8 => assert_eq!(
                self.handles.swap_remove(some).wait().results().len(),
                WAITED_FOR
            ),
            9 => {
                let handle = self.handles.swap_remove(some);
                let token = handle.cancel_token();
                let results = handle.into_receiver();
                token.cancel();
                assert_eq!(results.iter().count(), WAITED_FOR);
            }
            10 => {
                let outcome = self.handles[some].wait_timeout(Duration::from_micros(50));
                if let Some(outcome) = outcome {
                    assert_eq!(outcome.results().len(), WAITED_FOR);
                    drop(self.handles.swap_remove(some));
                }
            }
            _ if some.is_multiple_of(2) => self.handles.iter().for_each(HookHandle::cancel),
            _ => self.tokens.iter().for_each(CancelToken::cancel),
        }
    }

    fn submit(&mut self, id: u64) {
        let event = match self.lot.below(3) {
            0 => custom("by:lot"),
            _ => HookEvent::session_message("s", "user", "hello"),
        };
        let lane = self.lot.below(4);
        let options = FireOptions::new().stop_on_failure(false);
        let options = match lane {
            // In no order.
            0 => options.ordered_by((id, self.number)),
            key => options.ordered_by(key),
        };
        let event = event.with_data("id", id).with_data("by", self.number);
        let submitted = self.executor.submit(event.with_data("lane", lane), options);
        match submitted {
            Ok(handle) => {
                self.handles.push(handle);
                self.taken.push(id);
            }
            Err(SubmitError::Busy(_) | SubmitError::ShutDown(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Waits for all that is left, and gives back what was taken.
    fn finish(self) -> Vec<u64> {
        for mut handle in self.handles {
            let outcome = handle.wait_timeout(FOR_EVER).expect("no deadlock");
            assert_eq!(outcome.results().len(), WAITED_FOR);
        }
        for token in self.tokens {
            eventually("a dropped handle's event ends", || token.is_finished());
        }
        self.taken
    }
}

fn round(seed: u64) {
    let mut lot = Lot::new(seed);
    let workers = 1 + lot.below(4) as usize;
    let executor = HookExecutor::builder()
        .workers(workers)
        .queue_capacity(1 + lot.below(40) as usize)
        .build();
    let (observations, is_over) = (executor.observations(), AtomicBool::new(false));
    let with_background = lot.below(3) == 0;
    for name in ["0", "1", "2", "b"]
        .iter()
        .take(3 + usize::from(with_background))
    {
        // It fails at once, without a process.
        let hook = hook("*", "x").with_env("no=name", "").with_name(*name);
        let hook = if *name == "b" {
            hook.with_background()
        } else {
            hook
        };
        executor.registry().register(hook);
    }
    let steps = 10 + lot.below(60);
    let ends_early = lot.below(3) == 0;
    let after = Duration::from_micros(lot.below(3000));
    let (taken, report, witness) = thread::scope(|scope| {
        let witness = scope.spawn(|| Witness::read(&observations, &is_over));
        let executor = &executor;
        let actors = [0, 1, 2].map(|number| {
            let lot = Lot::new(seed ^ (number << 48));
            let (handles, tokens, taken) = Default::default();
            let mut actor = Actor {
                number,
                lot,
                executor,
                handles,
                tokens,
                taken,
            };
            scope.spawn(move || {
                (0..steps).for_each(|step| actor.act(step));
                actor.finish()
            })
        });
        if ends_early {
            thread::sleep(after);
            let _ = executor.shutdown(after);
        }
        let taken = actors.into_iter().map(|actor| actor.join().unwrap());
        let taken: Vec<u64> = taken.flatten().collect();
        let report = executor.shutdown(FOR_EVER);
        is_over.store(true, Ordering::SeqCst);
        (taken, report, witness.join().unwrap())
    });
    // After a first shutdown, an event that was cancelled at that moment may be reported late.
    assert!(report || ends_early, "{report:?}");
    if observations.lost() > 0 {
        // The reader was too slow.
        return;
    }
    for id in taken {
        let times = witness.seen.get(&id).copied().unwrap_or_default();
        // A hook in the background is not heard of where a cancelled event was not reached.
        let may_be = WAITED_FOR..=WAITED_FOR + usize::from(with_background);
        assert!(may_be.contains(&times), "{id}: {times} ended or dropped");
    }
    let most = witness.most_running;
    assert!(most <= workers, "{most} on {workers}");
}

#[test]
fn every_schedule_answers_once_in_order() {
    if let Ok(seed) = std::env::var("FORGE_HOOKS_TEST_SEED") {
        return round(seed.parse().unwrap());
    }
    let seconds = from_environment("FORGE_HOOKS_TEST_SECONDS", 0.3);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut seed = clock.unwrap().as_nanos() as u64;
    let mut rounds = 0;
    while Instant::now() < end || rounds == 0 {
        seed = seed.wrapping_add(1);
        let played = thread::spawn(move || round(seed)).join();
        assert!(played.is_ok(), "FORGE_HOOKS_TEST_SEED={seed}");
        rounds += 1;
    }
    println!("{rounds} rounds");
}
