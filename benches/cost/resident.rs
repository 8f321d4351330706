//! Compares a Python guard whose process is kept with the same guard started for each event.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use forge_hooks::{Hook, HookExecutor};
use tempfile::TempDir;

use crate::one_hook::{event, executor, percentile, run_hook};
use crate::table::{Effort, Figure, Measured};

const GUARD: &str = r#"
import json, sys
for line in sys.stdin:
    event = json.loads(line)
    answer = {"id": event.get("id")}
    if "sudo" in event["data"]["tool_args"]["command"]:
        answer.update(decision="block", reason="no sudo")
    print(json.dumps(answer), flush=True)
"#;

/// The guard, resident and one-shot.
struct Guard {
    one_shot: HookExecutor,
    kept: HookExecutor,
    _directory: TempDir,
}

impl Guard {
    fn new() -> Result<Self, String> {
        let python = python()?;
        let directory = tempfile::tempdir().expect("a directory");
        let script = directory.path().join("guard.py");
        std::fs::write(&script, GUARD).expect("a file");
        let hook = || hook(&python, &script);
        Ok(Self {
            one_shot: executor(hook()),
            kept: executor(hook().with_resident()),
            _directory: directory,
        })
    }

    /// Returns the times of this many events, with this idle time before each.
    fn times(executor: &HookExecutor, rounds: usize, idling: Duration) -> Vec<Duration> {
        let event = event();
        let one = |_| {
            if !idling.is_zero() {
                std::thread::sleep(idling);
            }
            let start = Instant::now();
            run_hook(executor, &event);
            start.elapsed()
        };
        (0..rounds).map(one).collect()
    }
}

/// Returns the interpreter itself, since `python3` may be a script that looks for one.
fn python() -> Result<String, String> {
    let mut command = Command::new("python3");
    command.args(["-I", "-c", "import sys; print(sys.executable)"]);
    match command.output() {
        Ok(output) if output.status.success() => {
            let path = String::from_utf8_lossy(&output.stdout);
            Ok(path.trim().to_owned())
        }
        _ => Err("python3 is not installed".to_owned()),
    }
}

fn hook(python: &str, script: &Path) -> Hook {
    let script = script.to_str().expect("a path in UTF-8");
    Hook::program("tool:pre_execute", [python, "-I", script]).expect("a hook")
}

/// Returns a percentile of the kept guard's times, divided by the median of the other guard's
/// times.
pub(crate) fn ratio(
    effort: Effort,
    hundredths: usize,
    rounds: usize,
    idling: Duration,
) -> Measured {
    let guard = Guard::new()?;
    Guard::times(&guard.kept, 10, Duration::ZERO);
    let figure = Figure::of_blocks(|| {
        let mut one_shot = Guard::times(&guard.one_shot, effort.rounds(20), Duration::ZERO);
        let mut kept = Guard::times(&guard.kept, effort.rounds(rounds), idling);
        let kept = percentile(&mut kept, hundredths).as_secs_f64();
        kept / percentile(&mut one_shot, 50).as_secs_f64()
    });
    // Otherwise the process would outlive this program for a moment.
    let _report = guard.kept.shutdown(Duration::from_secs(1));
    Ok(figure)
}
