//! Many threads, many events, and a host that is killed.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{PYTHON, SHELL, fire, fires, is_gone, python, reason, shell};
use crate::executor::endurance::from_environment;
use crate::support::{World, alone, blocking_event, eventually};

/// Each gets the answer to its own event.
#[test]
fn many_threads_share_one_hook() {
    let world = World::new();
    let program = PYTHON.replace("str(os.getpid())", "event['data']['n']");
    let hook = python(&world, &program).with_timeout(Duration::from_secs(60));
    world.add(hook);
    let seconds = from_environment("FORGE_HOOKS_TEST_SECONDS", 0.2);
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    thread::scope(|scope| {
        for thread in 0..12 {
            let world = &world;
            scope.spawn(move || {
                let mut turn = 0;
                while turn < 3 || Instant::now() < until {
                    let sent = format!("{thread} {turn}");
                    let event = blocking_event().with_data("n", &*sent);
                    let result = world.fire(&event).remove(0);
                    assert!(result.success(), "{result:?}");
                    assert_eq!(reason(&result), sent);
                    turn += 1;
                }
            });
        }
    });
}

#[cfg(target_os = "linux")]
mod on_linux {
    use super::*;
    use crate::support::hook;

    fn count(directory: &str) -> usize {
        std::fs::read_dir(directory).unwrap().count()
    }

    /// Children of this thread that are not reaped.
    fn zombies() -> usize {
        let children = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
        let has_ended = |pid: &&str| crate::resident::has_ended(pid.parse().ok());
        children.split_whitespace().filter(has_ended).count()
    }

    /// And a process is replaced after 1000 events.
    #[test]
    fn nothing_grows_with_the_events() {
        if !alone("resident::load::on_linux::nothing_grows_with_the_events") {
            return;
        }
        let world = World::new();
        // Makes the pipe with which a shutdown cancels what is waited for.
        assert!(world.one(hook("*", "sleep 0.02")).success());
        world.registry().clear();
        world.add(shell(&world, SHELL));
        let first = fires(&world, "started");
        for _ in 0..9 {
            fires(&world, "kept");
        }
        let before = (count("/proc/self/fd"), count("/proc/self/task"));
        for _ in 10..1000 {
            assert_eq!(fire(&world).pid(), first.pid());
        }
        fires(&world, "replaced");
        for _ in 0..from_environment("FORGE_HOOKS_TEST_HOOKS", 10) {
            assert!(fire(&world).success());
        }
        eventually("all is as before", || {
            let now = (count("/proc/self/fd"), count("/proc/self/task"));
            now == before && zombies() == 0 && is_gone(first.pid())
        });
        world.registry().clear();
        eventually("nothing is left of the process", || {
            count("/proc/self/fd") < before.0 && count("/proc/self/task") == before.1
        });
    }
}

/// Its input ends, and so does its loop.
#[test]
fn a_killed_host_leaves_no_hook() {
    const TEST: &str = "resident::load::a_killed_host_leaves_no_hook";
    if let Some(directory) = std::env::var_os("RESIDENT_HOST") {
        let world = World::new();
        world.add(shell(&world, SHELL));
        let result = fires(&world, "started");
        let pid = result.pid().unwrap().to_string();
        std::fs::write(std::path::Path::new(&directory).join("pid"), pid).unwrap();
        thread::sleep(Duration::from_secs(60));
        return;
    }
    let world = World::new();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", TEST])
        .env("RESIDENT_HOST", world.directory())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut pid = String::new();
    eventually("the hook is idle", || {
        pid = std::fs::read_to_string(world.path("pid")).unwrap_or_default();
        !pid.is_empty()
    });
    host.kill().unwrap();
    host.wait().unwrap();
    eventually("the hook has ended", || is_gone(pid.parse().ok()));
}
