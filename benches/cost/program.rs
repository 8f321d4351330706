//! Figures of the program `forge-hooks`, beside the same in process, or beside a program that does nothing.

use std::ffi::OsString;
use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use forge_hooks::HookConfig;
use forge_hooks::cli::{Io, run_standalone};
use forge_hooks::trust::Approval;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::counted;
use crate::one_hook::{event, executor, hook, percentile, run_bare, run_hook};
use crate::process::{ratio, turns};
use crate::table::{Effort, Figure, Measured};

const PROGRAM: &str = env!("CARGO_BIN_EXE_forge-hooks");

/// Returns the program with this command, and a hooks file that has the hook `exit 0`.
fn program(command: &str) -> (Command, TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("hooks.json");
    let hooks = r#"{"hooks": [{"event": "tool:pre_execute", "command": "exit 0"}]}"#;
    std::fs::write(&config, hooks).expect("a hooks file");
    let mut program = Command::new(PROGRAM);
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
    call(&mut served, "initialize", &json!({"protocol": 2}));
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
    input
        .write_all(format!("{request}\n").as_bytes())
        .expect("it reads");
    let mut line = String::new();
    // One request is open, so nothing else waits in the buffer.
    let mut output = BufReader::new(served.stdout.as_mut().expect("a pipe"));
    output.read_line(&mut line).expect("it writes");
    assert!(line.contains("\"result\""), "{line}");
}

/// The argument with which this bench ends at once. It has the code of the program, so it is an empty program of its size.
pub(crate) const EMPTY: &str = "--empty";

/// Keeps the code of the program in this bench.
pub(crate) fn do_nothing() {
    let program: fn(Vec<OsString>, &mut Io<'_>) -> u8 = run_standalone;
    black_box(program);
}

/// Returns the input that an agent writes for a call that no hook matches.
fn input(project: &Path) -> String {
    let input = json!({"session_id": "s", "cwd": project, "hook_event_name": "PreToolUse", "tool_name": "Read",
        "tool_input": {"file_path": project.join("src/main.rs")}, "tool_use_id": "t", "permission_mode": "default"});
    input.to_string()
}

/// Calls of the program with hooks of the user and of an approved project, none of which matches the event.
struct Calls(TempDir);

impl Calls {
    /// Writes the files. `others` are further hooks of the user.
    fn new(others: Vec<Value>) -> Self {
        let calls = Self(tempfile::tempdir().expect("a directory"));
        let (config, project) = (calls.path("config"), calls.path("project"));
        let hooks = [usual_hooks(), others].concat();
        write(
            &config.join("src/forge/hooks.json"),
            &json!({"hooks": hooks}).to_string(),
        );
        write(
            &project.join(".src/forge/hooks.json"),
            &json!({"hooks": usual_hooks()}).to_string(),
        );
        write(&project.join(".git/HEAD"), "");
        write(&calls.path("input"), &input(&project));
        let config = HookConfig::default().with_config_home(config);
        let approval = Approval::of(&project, config.load_project(&project)).expect("an approval");
        let store = config.trust_store().expect("a store");
        store.approve(&approval).expect("a store");
        calls
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns a command that finds these hooks, and has nothing else in its environment.
    fn command(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Command {
        let input = fs::File::open(self.path("input")).expect("the input");
        let mut command = Command::new(program.as_ref());
        command
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .current_dir(self.path("project"))
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Returns the arguments with which an agent starts the program.
    fn registered(&self) -> Vec<String> {
        let home = self.path("home").display().to_string();
        let config = self.path("config").display().to_string();
        let options = [
            "--home",
            &home,
            "--config-home",
            &config,
            "--path",
            "/usr/bin:/bin",
            "--timeout",
            "60",
        ];
        let arguments = ["hook", "claude", "PreToolUse"].into_iter().chain(options);
        arguments.map(str::to_owned).collect()
    }

    fn unmatched(&self) -> Command {
        let registered = self.registered();
        let registered: Vec<_> = registered.iter().map(String::as_str).collect();
        self.command(PROGRAM, &registered)
    }

    fn instructions_of_unmatched(&self) -> Measured {
        let registered = self.registered();
        let registered: Vec<_> = registered.iter().map(String::as_str).collect();
        self.instructions(&registered)
    }

    /// Counts the instructions of a call.
    fn instructions(&self, call: &[&str]) -> Measured {
        let count = counted::instructions_of(|options| {
            let arguments = [options, &[PROGRAM], call].concat();
            let mut command = self.command("valgrind", &arguments);
            command.stderr(Stdio::piped());
            command
        });
        count.map(Figure::exactly)
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, text).expect("a file");
}

/// Returns hooks as a user has them.
fn usual_hooks() -> Vec<Value> {
    vec![
        json!({"event": "session:start", "command": "echo hello", "name": "hello"}),
        json!({"event": "tool:post_execute:edit", "command": "cargo fmt", "timeout": 10}),
        json!({"event": "session:end", "command": "notify-send done", "background": true}),
        json!({"event": "tool:pre_execute:edit,write", "command": "echo no >&2; exit 2",
            "when": {"/tool_args/path": ["*.env", "**/secrets/*"]}}),
        json!({"event": "tool:pre_execute:bash", "command": "echo no >&2; exit 2",
            "when": {"/tool_args/command": {"regex": r"\bsudo\b"}}}),
    ]
}

/// Returns 50 hooks, each with a condition: half of them globs, half of them expressions.
fn hooks_with_conditions() -> Vec<Value> {
    let conditions = (0..25).flat_map(|number| {
        let regex = format!(r"\b(git|hg)\s+push{number}\b.*--force");
        [
            json!({"/tool_args/path": [format!("src/{number}/**/*.rs"), "*.env"]}),
            json!({"/tool_args/command": {"regex": regex}}),
        ]
    });
    let hook = |when| json!({"event": "tool:pre_execute:edit", "when": when, "command": "exit 2"});
    conditions.map(hook).collect()
}

fn run(mut command: Command) {
    assert!(command.status().expect("it runs").success());
}

/// Compares an unmatched call with a program of about the same size that does nothing.
pub(crate) fn unmatched(effort: Effort) -> Measured {
    let empty = std::env::current_exe().map_err(|error| error.to_string())?;
    let size = |path: &Path| fs::metadata(path).map_or(0, |file| file.len()) as f64;
    let relative = size(&empty) / size(Path::new(PROGRAM));
    if effort == Effort::Full && !(0.8..1.25).contains(&relative) {
        return Err(format!(
            "this bench is {relative:.2} times as large as the program"
        ));
    }
    let calls = Calls::new(Vec::new());
    Ok(ratio(
        effort,
        || run(calls.unmatched()),
        || run(calls.command(&empty, &[EMPTY])),
    ))
}

/// Compares an unmatched call beside 50 more hooks with conditions with one without them.
pub(crate) fn unmatched_with_conditions(effort: Effort) -> Measured {
    let (many, usual) = (Calls::new(hooks_with_conditions()), Calls::new(Vec::new()));
    Ok(ratio(
        effort,
        || run(many.unmatched()),
        || run(usual.unmatched()),
    ))
}

/// Counts the instructions of the program, not those of the hook.
pub(crate) fn instructions_of_fire(_: Effort) -> Measured {
    let calls = Calls::new(Vec::new());
    let hooks = json!({"hooks": [{"event": "tool:pre_execute", "command": "exit 0"}]});
    write(&calls.path("hook.json"), &hooks.to_string());
    let fire = [
        "fire",
        "tool:pre_execute",
        "--tool",
        "read",
        "--json",
        "--config",
        "../hook.json",
    ];
    calls.instructions(&fire)
}

pub(crate) fn instructions_of_unmatched(_: Effort) -> Measured {
    Calls::new(Vec::new()).instructions_of_unmatched()
}

pub(crate) fn instructions_with_conditions(_: Effort) -> Measured {
    Calls::new(hooks_with_conditions()).instructions_of_unmatched()
}
