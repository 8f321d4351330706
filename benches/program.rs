//! Measures the cost of trying a hook: the program `forge-hooks fire` with one hook that does nothing,
//! compared with the shell of such a hook. Both run in turns, so that other load on the machine
//! affects both.
//!
//! `cargo bench --features cli --bench program`; with `-- --test` each runs once. Fails if the
//! program takes more than four times as long as the shell.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 400;
const MOST: f64 = 4.0;

fn main() -> ExitCode {
    let is_test = std::env::args().any(|arg| arg == "--test");
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("hooks.json");
    let hooks = r#"{"hooks": [{"event": "tool:pre_execute:bash", "command": "exit 0"}]}"#;
    std::fs::write(&config, hooks).expect("a hooks file");
    let commands: [(&str, &dyn Fn() -> Command); 3] = [
        ("sh -c 'exit 0'", &shell),
        ("forge-hooks --version", &version),
        ("forge-hooks fire", &|| fire(&config)),
    ];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..if is_test { 1 } else { RUNS } {
        for ((_, command), times) in commands.iter().zip(&mut times) {
            times.push(time(command()));
        }
    }
    let medians = times.map(median);
    for ((name, _), median) in commands.iter().zip(medians) {
        let ratio = median.as_secs_f64() / medians[0].as_secs_f64();
        println!(
            "{name:<24} {:>8.3} ms   {ratio:.2} x",
            median.as_secs_f64() * 1e3
        );
    }
    let ratio = medians[2].as_secs_f64() / medians[0].as_secs_f64();
    if is_test || ratio <= MOST {
        ExitCode::SUCCESS
    } else {
        println!("more than {MOST} times the shell");
        ExitCode::FAILURE
    }
}

fn shell() -> Command {
    let mut command = if cfg!(windows) {
        Command::new("cmd")
    } else {
        Command::new("/bin/sh")
    };
    command.args([if cfg!(windows) { "/C" } else { "-c" }, "exit 0"]);
    command
}

fn version() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forge-hooks"));
    command.arg("--version");
    command
}

fn fire(config: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forge-hooks"));
    command
        .args(["fire", "tool:pre_execute", "--tool", "bash"])
        .args(["--args", r#"{"command":"ls"}"#, "--config"])
        .arg(config);
    command
}

fn time(mut command: Command) -> Duration {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status().expect("it runs");
    let took = start.elapsed();
    assert!(status.success(), "{command:?}: {status}");
    took
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
