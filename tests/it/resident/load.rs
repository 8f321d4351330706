//! Many threads, many events, and a host that is killed.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::outcome::Residency;
use serde_json::json;

use super::{PYTHON, assert_kept, fire, is_gone, python};
use crate::endurance::from_environment;
use crate::support::{World, alone, blocking_event, eventually};

/// Each gets the answer to its own event.
#[test]
fn many_threads_share_one_hook() {
    let world = World::new();
    let program = r#"
import json, sys
for line in sys.stdin:
    event = json.loads(line)
    print(json.dumps({"id": event["id"], "reason": event["data"]["n"]}), flush=True)
"#;
    let hook = python(&world, program).with_timeout(Duration::from_secs(60));
    world.registry().register(hook);
    let seconds = from_environment("FORGE_HOOKS_TEST_SECONDS", 1.0);
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..64 {
            let (world, count) = (&world, &count);
            scope.spawn(move || {
                let mut turn = 0;
                while turn < 3 || Instant::now() < until {
                    let sent = format!("{thread} {turn}");
                    let event = blocking_event().with_data("n", json!(sent));
                    let result = world.fire(&event).remove(0);
                    assert!(result.success(), "{result:?}");
                    let printed = result.output().and_then(|it| it.reason.clone());
                    assert_eq!(printed, Some(sent));
                    count.fetch_add(1, Ordering::Relaxed);
                    turn += 1;
                }
            });
        }
    });
    assert!(count.into_inner() >= 64 * 3);
}

#[cfg(target_os = "linux")]
mod on_linux {
    use super::*;

    fn count(directory: &str) -> usize {
        std::fs::read_dir(directory).unwrap().count()
    }

    fn zombies() -> usize {
        let children = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
        let is_zombie = |pid: &&str| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit(')')
                .next()
                .is_some_and(|rest| rest.trim_start().starts_with('Z'))
        };
        children.split_whitespace().filter(is_zombie).count()
    }

    #[test]
    fn nothing_grows_with_the_events() {
        if !alone("resident::load::on_linux::nothing_grows_with_the_events") {
            return;
        }
        let world = World::new();
        let hook = python(&world, PYTHON);
        world.registry().register(hook);
        for _ in 0..10 {
            assert!(fire(&world).success());
        }
        let before = (count("/proc/self/fd"), count("/proc/self/task"));
        // More than one process's life.
        let events = from_environment("FORGE_HOOKS_TEST_HOOKS", 1100);
        for _ in 0..events {
            assert!(fire(&world).success());
        }
        eventually("all is as before", || {
            (count("/proc/self/fd"), count("/proc/self/task")) == before && zombies() == 0
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
        world.registry().register(python(&world, PYTHON));
        let result = fire(&world);
        assert_kept(&result, Residency::Started);
        let pid = result.pid.unwrap().to_string();
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
