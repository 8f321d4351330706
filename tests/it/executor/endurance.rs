//! Much of everything: output, hooks in a row, threads at once. How much is taken from the
//! environment, so that a person waits a second and a machine in the background a minute:
//! `FORGE_HOOKS_TEST_SECONDS` and `FORGE_HOOKS_TEST_HOOKS`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::FailureKind;

use crate::support::{LONG, World, custom, hook};

pub(crate) fn from_environment<T: std::str::FromStr>(name: &str, otherwise: T) -> T {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

/// Events of several kinds from many threads at once: some of their hooks end well, some fail, and some time out.
#[test]
fn every_event_is_answered_exactly_once() {
    const THREADS: usize = if cfg!(windows) { 8 } else { 32 };
    let seconds = from_environment("FORGE_HOOKS_TEST_SECONDS", 0.2);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let grace = Duration::from_millis(20);
    let world = World::with(|builder| builder.kill_grace(grace));
    world.hook("crowd:*", "exit 0");
    world.hook("crowd:fails", "exit 3");
    world.add(hook("crowd:hangs", LONG).with_timeout(Duration::from_millis(30)));
    let answered = AtomicU64::new(0);
    let one_event = |turn: usize| {
        let (name, hooks, last) = match turn % 3 {
            0 => ("crowd:passes", 1, None),
            1 => ("crowd:fails", 2, Some(FailureKind::Exit)),
            _ => ("crowd:hangs", 2, Some(FailureKind::TimedOut)),
        };
        let outcome = match turn % 2 {
            0 => world.outcome(&custom(name)),
            _ => world.submit(custom(name)).wait(),
        };
        assert_eq!(outcome.results().len(), hooks, "{outcome:?}");
        assert_eq!(outcome.results()[hooks - 1].failure(), last, "{outcome:?}");
        answered.fetch_add(1, Ordering::Relaxed);
    };
    thread::scope(|scope| {
        for number in 0..THREADS {
            let one_event = &one_event;
            scope.spawn(move || {
                let mut turn = number;
                loop {
                    one_event(turn);
                    turn += 5;
                    if Instant::now() >= end {
                        break;
                    }
                }
            });
        }
    });
    assert!(answered.load(Ordering::Relaxed) >= THREADS as u64);
}

#[cfg(target_os = "linux")]
mod on_linux {
    use forge_hooks::{FireOptions, HookEvent};

    use super::*;
    use crate::support::{alone, alone_with, eventually};

    /// A line of `/proc/self/status`, in KiB.
    fn memory(line: &str) -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|text| text.starts_with(line)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    #[test]
    fn much_output_takes_little_memory() {
        if alone("executor::endurance::on_linux::much_output_takes_little_memory") {
            let world = World::new();
            let prints = |bytes: u64| hook("*", &format!("yes | head -c {bytes}"));
            let much = prints(64 << 20).with_timeout(std::time::Duration::from_secs(300));
            assert!(world.one(prints(10_000)).success());
            let before = memory("VmRSS:");
            let result = world.one(much);
            assert!(result.success() && result.truncated(), "{result:?}");
            let (peak, after) = (memory("VmHWM:"), memory("VmRSS:"));
            let grown = peak.max(after) - before;
            let figures = format!("{before} KiB before, {peak} at most, {after} after");
            assert!(grown < 8 * 1024, "{figures}");
        }
    }

    /// The processes whose parent is this one, zombies too.
    fn children() -> usize {
        let own = std::process::id();
        let listed = std::fs::read_to_string(format!("/proc/self/task/{own}/children"));
        listed.unwrap().split_whitespace().count()
    }

    #[test]
    fn many_hooks_leave_nothing_running() {
        let temporary = tempfile::tempdir().unwrap();
        let place = [("TMPDIR", temporary.path().to_str().unwrap())];
        if !alone_with(
            "executor::endurance::on_linux::many_hooks_leave_nothing_running",
            &place,
        ) {
            return;
        }
        let entries = |path: &str| std::fs::read_dir(path).unwrap().count();
        let state = || {
            let own = ["/proc/self/fd", "/proc/self/task"].map(entries);
            let temporary = std::env::temp_dir();
            (own, children(), entries(temporary.to_str().unwrap()))
        };
        let world = World::running(["cat >/dev/null", "exit 1", "(sleep 0.001) & exit 0"]);
        world.add(hook("*", "wc -c").reading_stdin());
        let small = HookEvent::user_interrupt();
        let large = HookEvent::user_prompt_submit("x".repeat(150_000));
        let keep_going = FireOptions::default().stop_on_failure(false);
        let fire = |turn: usize| {
            let event = [&small, &large][usize::from(turn.is_multiple_of(10))];
            let called = world.executor.execute(event, keep_going.clone());
            let submitted = world
                .executor
                .submit(event.clone(), keep_going.clone())
                .unwrap();
            for outcome in [called, submitted.wait()] {
                assert_eq!(outcome.results().len(), 4);
            }
        };
        let files = state().0[0];
        fire(0);
        // The thread of the pool answers before it tidies up.
        eventually("the first event is done with", || state().0[0] == files);
        let before = state();
        let hooks = from_environment("FORGE_HOOKS_TEST_HOOKS", 80);
        (0..hooks / 8).for_each(fire);
        eventually("everything is given back", || state() == before);
        assert_eq!(before.1, 0, "no process is left");
    }
}
