//! What does it cost to load very many hooks?
//!
//! A file of 100,000 hooks, of nearly the largest size that a file may have. Fails when loading it
//! takes more than a second, or more than 100 MiB of memory at its peak (which Linux tells).

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use criterion::Criterion;
use forge_hooks::{HookConfig, HookRegistry, TrustPolicy};
use serde_json::{Value, json};

const HOOKS: usize = 100_000;
const MOST_TIME: Duration = Duration::from_secs(1);
const MOST_MEMORY: u64 = 100 * 1024 * 1024;

fn hook(number: usize) -> Value {
    json!({
        "event": format!("tool:pre_execute:tool_{number}"),
        "command": "./scripts/guard.sh --strict \"$FORGE_TOOL_ARGS\"",
        "timeout": 5,
        "description": "Guards a tool",
    })
}

fn write_file(home: &Path) {
    let path = home.join("src/forge/hooks.json");
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let hooks: Vec<_> = (0..HOOKS).map(hook).collect();
    let text = format!("{:#}", json!({"hooks": hooks}));
    let text = if text.len() > 16 * 1024 * 1024 {
        json!({"hooks": hooks}).to_string()
    } else {
        text
    };
    println!("{} hooks in {} KiB", HOOKS, text.len() / 1024);
    std::fs::write(path, text).expect("a file");
}

/// A value of `/proc/self/status` in bytes; None where there is no such file.
fn memory(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// In a process that has done nothing else, for the peak is that of its whole life.
fn load_once(home: &Path) -> bool {
    let config = HookConfig::default().with_config_home(home);
    let before = memory("VmRSS");
    let registry = HookRegistry::new();
    let start = Instant::now();
    let report = config.load_into(&registry, home, TrustPolicy::Everything);
    let time = start.elapsed();
    assert_eq!((report.loaded, report.problems.len()), (HOOKS, 0));
    let peak = memory("VmHWM")
        .zip(before)
        .map(|(peak, before)| peak - before);
    println!("first load: {time:?} (at most {MOST_TIME:?})");
    if let Some(peak) = peak {
        println!(
            "memory: {} MiB at the peak (at most {})",
            peak >> 20,
            MOST_MEMORY >> 20
        );
    }
    time <= MOST_TIME && peak.is_none_or(|peak| peak <= MOST_MEMORY)
}

const CHILD: &str = "FORGE_HOOKS_BENCH_LOAD";

fn main() -> ExitCode {
    if let Some(home) = std::env::var_os(CHILD) {
        return if load_once(Path::new(&home)) {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    let home = tempfile::tempdir().expect("a folder");
    write_file(home.path());
    let program = std::env::current_exe().expect("this program");
    let child = std::process::Command::new(program)
        .env(CHILD, home.path())
        .status();
    let within = child.expect("a process").success();

    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let config = HookConfig::default().with_config_home(home.path());
    criterion.bench_function("load 100,000 hooks", |b| {
        b.iter(|| {
            let registry = HookRegistry::new();
            black_box(config.load_into(&registry, home.path(), TrustPolicy::Everything)).loaded
        });
    });
    criterion.final_summary();
    if within {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
