//! Hooks whose process is kept.

mod failures;
mod keeping;
mod load;

use forge_hooks::outcome::Residency;
use forge_hooks::{Hook, HookResult};
use serde_json::json;

use crate::support::{World, blocking_event};

/// Answers each event with an allow, or what `answer` makes of it, and the process's number as reason.
pub(super) const PYTHON: &str = r#"
import json, os, sys
for line in sys.stdin:
    event = json.loads(line)
    answer = {"id": event.get("id"), "reason": str(os.getpid())}
    if event["data"].get("bad"): answer["decision"] = "block"
    print(json.dumps(answer), flush=True)
"#;

/// A hook that runs this Python program.
pub(super) fn python(world: &World, program: &str) -> Hook {
    world.write("hook.py", program);
    Hook::program("*", ["python3", "-I", "hook.py"])
        .unwrap()
        .with_resident()
        .with_working_dir(world.directory())
}

/// Answers each event with an allow. A shell starts sooner than Python.
pub(super) const SHELL: &str = r#"
answer() {
    id=${event##*\"id\":\"}
    printf '{"id":"%s"}\n' "${id%\"\}}"
}
while IFS= read -r event; do answer; done
"#;

/// A hook that runs this shell script.
pub(super) fn shell(world: &World, program: &str) -> Hook {
    world.write("hook.sh", program);
    Hook::program("*", ["sh", "hook.sh"])
        .unwrap()
        .with_resident()
        .with_working_dir(world.directory())
}

/// Whether no process has this number, as far as `/proc` shows.
pub(super) fn is_gone(pid: Option<u32>) -> bool {
    std::fs::metadata(format!("/proc/{}", pid.unwrap())).is_err()
}

/// Whether the process has ended; if it did so by itself while it was idle, it is reaped at the next event.
pub(super) fn has_ended(pid: Option<u32>) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.unwrap())).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default();
    state.is_empty() || state.trim_start().starts_with('Z')
}

pub(super) fn fire(world: &World) -> HookResult {
    world.fire(&blocking_event()).remove(0)
}

#[track_caller]
pub(super) fn assert_kept(result: &HookResult, how: Residency) {
    assert!(result.success(), "{result:?}");
    assert_eq!(result.residency, Some(how), "{result:?}");
}

#[test]
fn one_process_answers_many_events() {
    let world = World::new();
    world.registry().register(python(&world, PYTHON));
    let first = fire(&world);
    assert_kept(&first, Residency::Started);
    for _ in 0..20 {
        let next = fire(&world);
        assert_kept(&next, Residency::Kept);
        assert_eq!((next.pid, next.exit_code), (first.pid, 0));
        let printed = |result: &HookResult| result.output().and_then(|it| it.reason.clone());
        assert_eq!(printed(&next), first.pid.map(|pid| pid.to_string()));
    }
    let bad = blocking_event().with_data("bad", json!(true));
    let blocked = world.fire(&bad).remove(0);
    assert!(
        blocked.success() && !blocked.should_continue(),
        "{blocked:?}"
    );
}
