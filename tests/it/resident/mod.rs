//! Hooks whose process is kept.

mod failures;
mod keeping;
mod load;

use forge_hooks::{Hook, HookResult};

use crate::support::{World, blocking_event};

/// Answers each event with an allow, or what `answer` makes of it, and the process's number as reason.
const PYTHON: &str = r#"
import json, os, sys
for line in sys.stdin:
    event = json.loads(line)
    answer = {"id": event.get("id"), "reason": str(os.getpid())}
    if event["data"].get("bad"): answer["decision"] = "block"
    print(json.dumps(answer), flush=True)
"#;

/// A hook that runs this Python program.
fn python(world: &World, program: &str) -> Hook {
    resident(world, ["python3", "-I", "hook.py"], program)
}

/// Answers each event with an allow, and the process's number as reason. A shell starts sooner than Python.
pub(crate) const SHELL: &str = r#"
answer() {
    id=${event##*\"id\":\"}
    printf '{"id":"%s","reason":"%s"}\n' "${id%\"\}}" "$$"
}
while IFS= read -r event; do answer; done
"#;

/// A hook that runs this shell script.
pub(crate) fn shell(world: &World, program: &str) -> Hook {
    resident(world, ["sh", "hook.sh"], program)
}

fn resident<const N: usize>(world: &World, args: [&str; N], program: &str) -> Hook {
    world.write(args[N - 1], program);
    let hook = Hook::program("*", args).unwrap().with_resident();
    hook.with_working_dir(world.directory())
}

/// Returns true if no process has this number, as far as `/proc` shows.
fn is_gone(pid: Option<u32>) -> bool {
    std::fs::metadata(format!("/proc/{}", pid.unwrap())).is_err()
}

/// Returns true if the process has ended. If it ended by itself while it was idle, the next event reaps it.
fn has_ended(pid: Option<u32>) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.unwrap())).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default();
    state.is_empty() || state.trim_start().starts_with('Z')
}

fn fire(world: &World) -> HookResult {
    world.fire(&blocking_event()).remove(0)
}

fn reason(result: &HookResult) -> &str {
    let output = result.output();
    output
        .and_then(|output| output.reason.as_deref())
        .unwrap_or_default()
}

#[track_caller]
fn assert_kept(result: &HookResult, how: &'static str) {
    assert!(result.success(), "{result:?}");
    assert_eq!(result.residency(), Some(how), "{result:?}");
}

/// Fires, which is answered in this way.
#[track_caller]
fn fires(world: &World, how: &'static str) -> HookResult {
    let result = fire(world);
    assert_kept(&result, how);
    result
}

#[test]
fn one_process_answers_many_events() {
    let world = World::new();
    world.add(python(&world, PYTHON));
    let first = fires(&world, "started");
    for _ in 0..5 {
        let next = fires(&world, "kept");
        assert_eq!((next.pid(), next.exit_code()), (first.pid(), 0));
        assert_eq!(reason(&next), first.pid().unwrap().to_string());
    }
    let bad = blocking_event().with_data("bad", true);
    let blocked = world.fire(&bad).remove(0);
    assert!(blocked.failure().is_none(), "{blocked:?}");
    assert!(!blocked.should_continue(), "{blocked:?}");
}
