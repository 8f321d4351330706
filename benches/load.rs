//! Measures the cost of loading the largest allowed files.
//!
//! Loads files of 1, 4 and 16 MiB of each kind, all below the limits. Fails if 16 MiB take more
//! than 5 seconds, if the time per byte at 16 MiB is more than 1.5 times the time at 1 MiB, or if
//! the peak memory at 16 MiB is above 256 MiB (reported by Linux). Where Linux reports it, only the
//! time of the thread itself counts.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use forge_hooks::{HookConfig, HookRegistry, TrustPolicy};

const MIB: usize = 1024 * 1024;
const MOST_TIME: Duration = Duration::from_secs(5);
const MOST_GROWTH: f64 = 1.5;
const MOST_MEMORY: u64 = 256 * 1024 * 1024;
/// The number of runs, of which the fastest counts: other programs use the machine too. With
/// `--test`, one run suffices if it is within the bounds.
const RUNS: usize = 3;
const ATTEMPTS: usize = 3;

/// A name, and a function that returns the n-th entry of a file.
type Kind = (&'static str, fn(usize) -> String);

const KINDS: [Kind; 9] = [
    ("valid entries", valid_entry),
    (UNAPPROVED, valid_entry),
    ("many lines", |number| {
        format!(
            "\n  {{\n    \"event\": \"tool:*:tool_{number}\",\n    \"command\": \"./guard.sh\",\n    \"timeout\": 5\n  }}"
        )
    }),
    ("bad entries", |_| {
        r#"{"event":"tool:*","command":7,"stdin":"jsn"}"#.to_owned()
    }),
    ("bad patterns", |_| {
        r#"{"event":"TOOL:a","command":"true"}"#.to_owned()
    }),
    ("warnings", |number| {
        format!(r#"{{"event":"tol:pre_execute:{number}","command":"echo '$FORGE_EVENT'"}}"#)
    }),
    ("unknown keys", |number| {
        let keys = (0..990).map(|key| format!(r#""commnd_{key}":{number},"#));
        format!(
            r#"{{{}"event":"*","command":"true"}}"#,
            keys.collect::<String>()
        )
    }),
    ("nesting", |number| {
        // At 16 MiB this is just below the limit of values that are kept.
        if number % 850 > 0 {
            return valid_entry(number);
        }
        let (open, close) = (r#"{"":"#.repeat(90), "}".repeat(90));
        let open = format!("{open}1");
        format!(r#"{{"event":"*","command":"true","_":{open}{close}}}"#)
    }),
    ("long keys", |_| {
        let key = "k".repeat(MIB / 50);
        format!(r#"{{"event":"{key}","command":"true","{key}":1,"env":{{"{key}":"1"}}}}"#)
    }),
];

/// The kind of entries in a project's file without any approval.
const UNAPPROVED: &str = "unapproved";

fn valid_entry(_number: usize) -> String {
    r#"{"event":"tool:*","command":"true"}"#.to_owned()
}

fn text(kind: &Kind, length: usize) -> String {
    let mut text = String::from("{\"hooks\":[");
    for number in 0.. {
        let entry = kind.1(number);
        if text.len() + entry.len() + 3 > length {
            break;
        }
        if number > 0 {
            text.push(',');
        }
        text += &entry;
    }
    text + "]}"
}

/// Returns a value of `/proc/self/status` in bytes; None if there is no such file.
fn memory(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// Returns the time that this thread has run.
fn thread_time() -> Option<Duration> {
    let status = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let time = status.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(time))
}

/// Loads once, in a separate process, since the peak memory is that of a whole process. Prints
/// nanoseconds and bytes.
fn load_once(home: &Path) {
    let config = HookConfig::default().with_config_home(home);
    let before = memory("VmRSS").unwrap_or(0);
    let registry = HookRegistry::new();
    let start = (Instant::now(), thread_time());
    let policy = TrustPolicy::Approved(config.trust_store().expect("a store"));
    let _report = config.load_into(&registry, home.join("project"), policy);
    let time = match (start.1, thread_time()) {
        (Some(start), Some(end)) => end - start,
        _ => start.0.elapsed(),
    };
    let peak = memory("VmHWM").unwrap_or(0).saturating_sub(before);
    let first = registry.hooks().into_iter().next().expect("a hook");
    let index = first.source().and_then(|source| source.index);
    assert_eq!(
        index,
        Some(0),
        "a file beyond a limit is given up early: {first:?}"
    );
    println!("{} {peak}", time.as_nanos());
}

const CHILD: &str = "FORGE_HOOKS_BENCH_LOAD";

/// Returns the time of the fastest run, and the largest peak.
fn measure(home: &Path, runs: usize) -> (Duration, u64) {
    let program = std::env::current_exe().expect("this program");
    let runs = (0..runs).map(|_| {
        let child = Command::new(&program).env(CHILD, home).output();
        let printed = child.expect("a process").stdout;
        let printed = String::from_utf8(printed).expect("a text");
        let mut numbers = printed
            .split_whitespace()
            .map(|it| it.parse().expect("a number"));
        let (time, peak) = (
            numbers.next().expect("a time"),
            numbers.next().expect("a peak"),
        );
        (Duration::from_nanos(time), peak)
    });
    let runs: Vec<(Duration, u64)> = runs.collect();
    let fastest = runs.iter().map(|run| run.0).min().expect("a run");
    (fastest, runs.iter().map(|run| run.1).max().expect("a run"))
}

/// Writes and loads the files of a kind, one after the other; true if all are within the bounds.
fn is_within_bounds(home: &Path, kind: &Kind, runs: usize) -> bool {
    let file = match kind.0 {
        UNAPPROVED => "project/.src/forge/hooks.json",
        _ => "src/forge/hooks.json",
    };
    let path = home.join(file);
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    let mut measured = Vec::new();
    for mebibytes in [1, 4, 16] {
        std::fs::write(&path, text(kind, mebibytes * MIB)).expect("a file");
        let (time, peak) = measure(home, runs);
        println!(
            "{:>14} {mebibytes:>3} MiB: {time:>9.1?}, {:>4} MiB at the peak",
            kind.0,
            peak >> 20
        );
        measured.push((time, peak));
    }
    std::fs::remove_file(path).expect("a file");
    let (largest, peak) = measured[2];
    let growth = largest.as_secs_f64() / 16.0 / measured[0].0.as_secs_f64();
    let is_small = peak <= MOST_MEMORY;
    let is_fast = largest <= MOST_TIME && growth <= MOST_GROWTH;
    if !(is_small && is_fast) {
        println!(
            "{}: beyond bounds, {growth:.2} times as long per byte",
            kind.0
        );
    }
    is_small && is_fast
}

fn main() -> ExitCode {
    if let Some(home) = std::env::var_os(CHILD) {
        load_once(Path::new(&home));
        return ExitCode::SUCCESS;
    }
    let home = tempfile::tempdir().expect("a directory");
    let is_test = std::env::args().any(|arg| arg == "--test");
    // Code that is too slow is slow each time; a delay by a busy machine is not repeated.
    let is_wrong = |kind: &&Kind| {
        let is_fine = is_test && is_within_bounds(home.path(), kind, 1);
        !is_fine && (0..ATTEMPTS).all(|_| !is_within_bounds(home.path(), kind, RUNS))
    };
    let wrong = KINDS.iter().filter(is_wrong);
    if wrong.count() == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
