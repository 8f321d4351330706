//! Figures of the program `forge-hooks`, beside the same in process.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::one_hook::{event, executor, hook, percentile, run_bare, run_hook};
use crate::process::{ratio, turns};
use crate::table::{Effort, Figure, Measured};

/// The program, with a hooks file that has the hook `exit 0`.
fn program(command: &str) -> (Command, TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("hooks.json");
    let hooks = r#"{"hooks": [{"event": "tool:pre_execute", "command": "exit 0"}]}"#;
    std::fs::write(&config, hooks).expect("a hooks file");
    let mut program = Command::new(Path::new(env!("CARGO_BIN_EXE_forge-hooks")));
    program.args(command.split(' ')).arg("--config").arg(config);
    (program, directory)
}

/// Compares trying a hook with the shell of such a hook.
pub(crate) fn fire(effort: Effort) -> Measured {
    let (mut program, _directory) = program("fire tool:pre_execute --tool bash --json");
    program
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let run = || assert!(program.status().expect("it runs").success());
    Ok(ratio(effort, run, || run_bare(&Vec::new())))
}

/// Measures how much longer a fire through `serve` takes than `execute` in process.
pub(crate) fn serve(effort: Effort) -> Measured {
    let (mut program, _directory) = program("serve");
    program.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut served = program.spawn().expect("it runs");
    call(&mut served, "initialize", &json!({}));
    let (executor, event) = (executor(hook("exit 0")), event());
    let (mut through, mut in_process) = turns(
        effort.rounds(2000),
        || call(&mut served, "fire", &json!({"event": event})),
        || run_hook(&executor, &event),
    );
    call(&mut served, "shutdown", &json!({"deadline": 1}));
    served.wait().expect("its end");
    let more = percentile(&mut through, 50).saturating_sub(percentile(&mut in_process, 50));
    Ok(Figure::exactly(more.as_secs_f64() * 1e9))
}

fn call(served: &mut Child, method: &str, params: &Value) {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let input = served.stdin.as_mut().expect("a pipe");
    let written = input.write_all(format!("{request}\n").as_bytes());
    written.expect("it reads");
    let mut line = String::new();
    // One request is open, so nothing else waits in the buffer.
    let mut output = BufReader::new(served.stdout.as_mut().expect("a pipe"));
    output.read_line(&mut line).expect("it writes");
    assert!(line.contains("\"result\""), "{line}");
}
