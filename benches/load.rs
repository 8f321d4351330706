//! Measures the cost of loading the largest allowed files.
//!
//! Loads files of 256 KiB and 1 MiB of each kind, all below the limits. Fails if the peak memory at 1 MiB is above 96 MiB
//! (reported by Linux). Prints whether 1 MiB takes at most 0.2 seconds, and whether the time per byte at 1 MiB is at most
//! 1.5 times that at 256 KiB. Then compares 300 hooks that cover 50 MiB with their approval, which should take at most twice
//! the time that it takes without one.

#[path = "cost/ending.rs"]
mod ending;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use ending::Ending;
use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::Approval;
use forge_hooks::{AppProfile, HookConfig, HookRegistry, Hooks};

const MIB: usize = 1024 * 1024;
const MOST_TIME: Duration = Duration::from_millis(200);
const MOST_GROWTH: f64 = 1.5;
/// The shortest time whose ratio counts: that of shorter times says nothing.
const LEAST_TIME: Duration = Duration::from_millis(10);
const MOST_MEMORY: u64 = 96 * 1024 * 1024;
/// The number of runs, of which the fastest counts: other programs use the machine too.
const RUNS: usize = 3;

/// A name, and a function that returns a file of about this length.
type Kind = (&'static str, fn(usize) -> String);

const KINDS: [Kind; 10] = [
    ("valid entries", valid_entries),
    (UNAPPROVED, valid_entries),
    ("bad entries", |length| {
        entries(length, |_| {
            r#"{"event":"tool:*","command":7,"stdin":"jsn"}"#.to_owned()
        })
    }),
    ("warnings", |length| {
        let entry = |number| format!(r#"{{"event":"tol:pre_execute:{number}","command":"x"}}"#);
        entries(length, entry)
    }),
    ("unknown keys", |length| {
        let key = |number| format!(r#""commnd_{number}":1,"#);
        let keys: String = (0..length / 20).map(key).collect();
        with_entry(&format!(r#"{{{keys}"event":"*","command":"true"}}"#))
    }),
    ("patterns", |length| {
        let pattern = "a:b,".repeat(8_000) + "*";
        let entry = format!(r#"{{"event":"{pattern}","command":"true"}}"#);
        let count = length / entry.len();
        with_entry(&vec![entry; count].join(","))
    }),
    ("nesting", |length| {
        // The number of values is just below the limit of those that are kept.
        with_entry(&format!(
            r#"{{"event":"*","command":"true","_":[{}0]}}{}"#,
            r#"{"":1},"#.repeat(24_900),
            " ".repeat(length.saturating_sub(210_000))
        ))
    }),
    ("values beyond the limit", |length| {
        inputs(&r#"{"":1},"#.repeat(length / 8))
    }),
    ("long keys", |length| {
        let key = "k".repeat(length / 4);
        with_entry(&format!(
            r#"{{"event":"*","command":"true","{key}":1,"env":{{"{key}":"1"}}}}"#
        ))
    }),
    ("empty lines", |length| {
        with_entry(r#"{"event":"tool:*","command":"true"}"#) + &"\n".repeat(length - 100)
    }),
];

/// The kind of entries in a project's file without any approval.
const UNAPPROVED: &str = "unapproved";

fn valid_entries(length: usize) -> String {
    let description = "d".repeat(length / 1000 - 60);
    entries(length, |_| {
        format!(r#"{{"event":"tool:*","command":"true","description":"{description}"}}"#)
    })
}

/// Returns a file with a thousand entries, or as many as fit.
fn entries(length: usize, entry: impl Fn(usize) -> String) -> String {
    let mut left = length;
    let entries = (0..1000).map(entry).take_while(|entry| {
        left = left.saturating_sub(entry.len() + 1);
        left > 20
    });
    with_entry(&entries.collect::<Vec<_>>().join(","))
}

fn with_entry(entry: &str) -> String {
    format!("{{\"hooks\":[{entry}]}}")
}

/// Returns a file with a usable entry, and one whose `inputs` has these items.
fn inputs(items: &str) -> String {
    with_entry(&format!(
        r#"{{"event":"*","command":"true"}},{{"event":"*","command":"true","inputs":[{items}0]}}"#
    ))
}

/// Returns a value of `/proc/self/status` in bytes; None if there is no such file.
fn memory(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// Loads once, in a separate process, since the peak memory is that of a whole process. Prints
/// nanoseconds and bytes.
fn load_once(home: &Path) {
    let config = HookConfig::default().with_config_home(home);
    let before = memory("VmRSS").unwrap_or(0);
    let registry = HookRegistry::new();
    let start = Instant::now();
    let policy = TrustPolicy::Approved(config.trust_store().expect("a store"));
    let _report = config.load_into(&registry, home.join("project"), policy);
    let time = start.elapsed();
    let peak = memory("VmHWM").unwrap_or(0).saturating_sub(before);
    println!("{} {peak}", time.as_nanos());
}

const CHILD: &str = "FORGE_HOOKS_BENCH_LOAD";
const COMPARES: &str = "FORGE_HOOKS_BENCH_COMPARE";

/// Returns the time of the fastest run, and the largest peak.
fn measure(child: &str, home: &Path, runs: usize) -> (Duration, u64) {
    let program = std::env::current_exe().expect("this program");
    let run = |_| {
        let child = Command::new(&program).env(child, home).output();
        let printed = String::from_utf8(child.expect("a process").stdout).expect("a text");
        let (time, peak) = printed.trim().split_once(' ').expect("two numbers");
        let time = time.parse().expect("a time");
        (time, peak.parse().expect("a peak"))
    };
    let runs: Vec<(u64, u64)> = (0..runs).map(run).collect();
    let fastest = runs.iter().map(|run| run.0).min().expect("a run");
    let peak = runs.iter().map(|run| run.1).max().expect("a run");
    (Duration::from_nanos(fastest), peak)
}

/// Writes and loads the files of a kind, one after the other.
fn load(home: &Path, kind: &Kind, runs: usize, ending: &mut Ending) {
    let file = match kind.0 {
        UNAPPROVED => "project/.src/forge/hooks.json",
        _ => "src/forge/hooks.json",
    };
    let path = home.join(file);
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    let mut measured = Vec::new();
    for length in [MIB / 4, MIB] {
        std::fs::write(&path, kind.1(length)).expect("a file");
        let (time, peak) = measure(CHILD, home, runs);
        println!(
            "{:>24} {:>5} KiB: {time:>9.1?}, {:>4} MiB at the peak",
            kind.0,
            length >> 10,
            peak >> 20
        );
        measured.push((time, peak));
    }
    std::fs::remove_file(path).expect("a file");
    let (largest, peak) = measured[1];
    let growth = largest.as_secs_f64() / 4.0 / measured[0].0.as_secs_f64();
    let is_linear = largest < LEAST_TIME || growth <= MOST_GROWTH;
    let time = ending.target(is_linear && largest <= MOST_TIME);
    let memory = ending.limit(&format!("memory of {}", kind.0), peak <= MOST_MEMORY);
    println!(
        "{:>24} time {time} ({growth:.2} times as long per byte), memory {memory}",
        ""
    );
}

/// Loads a project's hooks and compares them with their approval, as `list`, `trust` and `serve` do. Prints nanoseconds.
fn compare_once(home: &Path) {
    let builder = Hooks::builder(AppProfile::default()).config_home(home);
    let start = Instant::now();
    let hooks = builder.project(home.join("project")).load();
    let mut looked_at = None;
    let is_approved = hooks.approve_with(|approval| {
        looked_at = Some(approval.hooks.len());
        false
    });
    let time = start.elapsed();
    let is_approved = is_approved.expect("an approval");
    let is_whole = is_approved && hooks.report().in_use == COMPARED_HOOKS;
    assert!(is_whole || looked_at == Some(COMPARED_HOOKS));
    println!("{} 0", time.as_nanos());
}

const COMPARED_HOOKS: usize = 300;
/// The most time after the approval, as a multiple of the time before it.
const MOST_COMPARED: f64 = 2.0;

/// Compares 300 hooks that cover 50 MiB with their approval, before it and after it.
fn compare(runs: usize, ending: &mut Ending) {
    let home = tempfile::tempdir().expect("a directory");
    let project = home.path().join("project");
    let file = |path: String, text: &[u8]| {
        let path = project.join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    };
    let content = vec![b'x'; 1_000_000];
    for (directory, number) in ["a", "b", "c", ".src/forge/hooks"]
        .iter()
        .flat_map(|directory| (0..13).map(move |number| (directory, number)))
    {
        file(format!("{directory}/{number}.sh"), &content);
    }
    let entry = |number| {
        format!(r#"{{"event":"tool:*","command":"sh ./g{number}.sh","inputs":["a","b","c"]}}"#)
    };
    let entries: Vec<String> = (0..COMPARED_HOOKS).map(entry).collect();
    file(
        ".src/forge/hooks.json".to_owned(),
        with_entry(&entries.join(",")).as_bytes(),
    );
    for number in 0..COMPARED_HOOKS {
        file(format!("g{number}.sh"), b"true");
    }
    // A file that has just changed is read again each time: it may change without another stamp.
    std::thread::sleep(Duration::from_millis(2_100));
    let (before, _) = measure(COMPARES, home.path(), runs);
    let config = HookConfig::default().with_config_home(home.path());
    let approval = Approval::of(&project, config.load_project(&project)).expect("an approval");
    let store = config.trust_store().expect("a store");
    store.approve(&approval).expect("an approval");
    let (after, _) = measure(COMPARES, home.path(), runs);
    let ratio = after.as_secs_f64() / before.as_secs_f64();
    let verdict = ending.target(ratio <= MOST_COMPARED);
    println!(
        "300 hooks over 50 MiB: {before:.1?} before the approval, {after:.1?} after it, {ratio:.2} times as long: {verdict}"
    );
}

fn main() -> ExitCode {
    for (variable, run) in [(CHILD, load_once as fn(&Path)), (COMPARES, compare_once)] {
        if let Some(home) = std::env::var_os(variable) {
            run(Path::new(&home));
            return ExitCode::SUCCESS;
        }
    }
    let home = tempfile::tempdir().expect("a directory");
    // `cargo bench` passes `--bench`; a test of the bench does not.
    let has = |argument: &str| std::env::args().any(|passed| passed == argument);
    let runs = if has("--test") || !has("--bench") {
        1
    } else {
        RUNS
    };
    let mut ending = Ending::default();
    for kind in &KINDS {
        load(home.path(), kind, runs, &mut ending);
    }
    compare(runs, &mut ending);
    ending.exit_code()
}
