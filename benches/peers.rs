//! Measures other crates on the task of a hook: run `exit 0` in a shell, capture both outputs, and
//! stop at a deadline.
//!
//! Compares this crate with `duct`, `subprocess`, tokio's process, and `Command::output()`, which
//! has no deadline. All set the same variables, and run in turns. There is no limit, since other
//! crates may change. docs/performance.md has the figures of one run.

#[path = "cost/one_hook.rs"]
mod one_hook;

use std::time::{Duration, Instant};

use one_hook::{
    Variables, event, executor, hook, percentile, run_bare, run_hook, variables_of_a_hook,
};
use subprocess::Redirection;

const ROUNDS: usize = 1000;
const DEADLINE: Duration = Duration::from_secs(10);

fn run_duct(variables: &Variables) {
    let mut expression = duct::cmd!("/bin/sh", "-c", "exit 0")
        .stdin_null()
        .stdout_capture()
        .stderr_capture();
    for (name, value) in variables {
        expression = expression.env(name, value);
    }
    let handle = expression.start().expect("/bin/sh");
    let output = handle.wait_timeout(DEADLINE).expect("/bin/sh");
    assert!(output.is_some(), "it ends in time");
}

fn run_subprocess(variables: &Variables) {
    let command = subprocess::Exec::cmd("/bin/sh")
        .args(["-c", "exit 0"])
        .env_extend(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Redirection::Null)
        .stdout(Redirection::Pipe)
        .stderr(Redirection::Pipe);
    let job = command.start().expect("/bin/sh");
    let output = job.capture_timeout(DEADLINE).expect("in time");
    assert!(output.success());
}

/// Runs on an existing runtime, as in a host that has one.
fn run_tokio(runtime: &tokio::runtime::Runtime, variables: &Variables) {
    let mut command = tokio::process::Command::new("/bin/sh");
    command
        .args(["-c", "exit 0"])
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true);
    let output = runtime.block_on(async { tokio::time::timeout(DEADLINE, command.output()).await });
    assert!(output.expect("in time").expect("/bin/sh").status.success());
}

fn main() {
    let event = event();
    let variables = variables_of_a_hook(&event);
    let executor = executor(hook("exit 0"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let runners: [(&str, &dyn Fn()); 5] = [
        ("Command::output()", &|| run_bare(&variables)),
        ("execute_hooks", &|| run_hook(&executor, &event)),
        ("tokio::process, with timeout", &|| {
            run_tokio(&runtime, &variables)
        }),
        ("duct, with wait_timeout", &|| run_duct(&variables)),
        ("subprocess, with capture_timeout", &|| {
            run_subprocess(&variables)
        }),
    ];
    // `cargo bench` passes `--bench`; a test of the bench does not.
    let has = |argument: &str| std::env::args().any(|passed| passed == argument);
    let rounds = if has("--test") || !has("--bench") {
        1
    } else {
        ROUNDS
    };
    let mut times = runners.map(|_| Vec::with_capacity(rounds));
    for round in 0..rounds {
        // Rotates and reverses the order, so that each is at each position equally often, and
        // follows each of its neighbours.
        for turn in 0..runners.len() {
            let turn = if round % 2 == 0 {
                turn
            } else {
                runners.len() - turn
            };
            let index = (round / 2 + turn) % runners.len();
            let start = Instant::now();
            runners[index].1();
            times[index].push(start.elapsed());
        }
    }
    let medians = times.map(|mut times| percentile(&mut times, 50));
    for ((name, _), median) in runners.iter().zip(medians) {
        let ratio = median.as_secs_f64() / medians[0].as_secs_f64();
        println!("{name:<32} {:>6} us   {ratio:.3}", median.as_micros());
    }
    println!("exit code 0: this bench only compares; docs/performance.md explains the rows");
}
