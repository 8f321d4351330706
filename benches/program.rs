//! Measures the cost of trying a hook: the program `forge-hooks fire` with one hook that does nothing,
//! compared with the shell of such a hook. Both run in turns, so that other load on the machine
//! affects both. Then the cost of a fire through `forge-hooks serve`, compared with `execute` in process.
//!
//! `cargo bench --features cli --bench program`; with `-- --test` each runs once. Fails if the
//! program takes more than four times as long as the shell, or a fire more than 300 us longer than `execute`
//! (three times the target, which it misses: docs/performance.md).

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use forge_hooks::{AppProfile, Hook, HookEvent, Hooks};
use serde_json::json;

const RUNS: usize = 400;
const MOST: f64 = 4.0;

/// The most that a fire through `serve` takes longer than `execute`.
const MOST_OF_SERVE: Duration = Duration::from_micros(300);

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
    let more = serve(&config, if is_test { 1 } else { 5 * RUNS });
    if is_test || (ratio <= MOST && more <= MOST_OF_SERVE) {
        ExitCode::SUCCESS
    } else {
        println!("more than {MOST} times the shell, or than {MOST_OF_SERVE:?} for `serve`");
        ExitCode::FAILURE
    }
}

/// Prints how long a fire takes in process and through `serve`, and returns the difference.
fn serve(config: &Path, runs: usize) -> Duration {
    let home = config.parent().expect("a directory");
    let builder = Hooks::builder(AppProfile::default());
    let hooks = builder.config_home(home).load();
    let hook = Hook::new("tool:pre_execute:bash", "exit 0").expect("a hook");
    hooks.registry().register(hook);
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
    let mut served = Served::start(config);
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..runs {
        let start = Instant::now();
        assert!(hooks.execute(&event).results()[0].success());
        times[0].push(start.elapsed());
        let start = Instant::now();
        served.call("fire", &json!({"event": event}));
        times[1].push(start.elapsed());
    }
    served.call("shutdown", &json!({"deadline": 1}));
    served.child.wait().expect("its end");
    let [in_process, through] = times.map(median);
    println!("execute                  {in_process:>10.1?}");
    println!("a fire through serve     {through:>10.1?}");
    through.saturating_sub(in_process)
}

struct Served {
    child: Child,
    line: String,
}

impl Served {
    fn start(config: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forge-hooks"));
        command.arg("serve").arg("--config").arg(config);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut served = Self {
            child: command.spawn().expect("it runs"),
            line: String::new(),
        };
        served.call("initialize", &json!({}));
        served
    }

    fn call(&mut self, method: &str, params: &serde_json::Value) {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let input = self.child.stdin.as_mut().expect("a pipe");
        input
            .write_all(format!("{request}\n").as_bytes())
            .expect("it reads");
        self.line.clear();
        let output = self.child.stdout.as_mut().expect("a pipe");
        // One request is open, so nothing else waits in the buffer.
        let mut output = BufReader::new(output);
        output.read_line(&mut self.line).expect("it writes");
        assert!(self.line.contains("\"result\""), "{}", self.line);
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
