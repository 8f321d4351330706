//! The program `forge-hooks`, as it was built: its commands, its exit statuses, what it prints.

#[cfg(target_os = "linux")]
mod answers;
mod completion;
mod files;
mod foreign;
mod hosted;
#[cfg(unix)]
mod json_keys;
mod json_texts;
mod other_agents;
mod packs;
mod printing;
#[cfg(unix)]
mod repairs;
#[cfg(unix)]
mod replay;
#[cfg(unix)]
mod resident;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(unix)]
mod serve;
mod session;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod trace;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_forge-hooks");

/// The beginning of the line in which dash or bash reports a command.
static SHELL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?:/[\w/.-]*)?\b(?:ba|da)?sh: (?:line )?1: ").unwrap());

/// The end of this line, if the command or its interpreter does not exist.
static NOT_FOUND: LazyLock<Regex> = LazyLock::new(|| {
    let texts =
        "command not found|No such file or directory|cannot execute: required file not found";
    Regex::new(&format!(r"(\[SHELL\]: \S+): (?:{texts})")).unwrap()
});

/// A user with a home and a project of their own.
pub(crate) struct User {
    directory: TempDir,
}

/// The exit status of the program, and its output.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl User {
    pub(crate) fn new() -> Self {
        let user = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir_all(user.project()).unwrap();
        user
    }

    /// Creates a user whose project has a hooks file with this text.
    pub(crate) fn with_project_file(text: &str) -> Self {
        let user = Self::new();
        user.write("project/.src/forge/hooks.json", text);
        user
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        // As a process sees it that was started there: without links.
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path("project")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program, in the project, in an environment that says nothing.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        // The program of the tests is in a project, where none is registered.
        let of_agents = ["install", "uninstall", "check"];
        let is_registered = args.first().is_some_and(|first| of_agents.contains(first));
        let mut command = if is_registered {
            Command::new(self.own_program())
        } else {
            Command::new(PROGRAM)
        };
        self.set(&mut command);
        command.args(args);
        command
    }

    /// The program where a user may have it.
    pub(crate) fn own_program(&self) -> PathBuf {
        let path = self.path("opt/forge-hooks");
        if !path.exists() {
            std::fs::create_dir_all(self.path("opt")).unwrap();
            self.has_program(&path);
        }
        path
    }

    /// Puts the program at a path. A process that another test starts meanwhile would keep a copy open for writing.
    pub(crate) fn has_program(&self, path: &Path) {
        if std::fs::hard_link(PROGRAM, path).is_err() {
            std::fs::copy(PROGRAM, path).unwrap();
        }
    }

    pub(crate) fn set(&self, command: &mut Command) {
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", self.search_path())
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            // A program that was built for coverage needs this variable.
            .envs(std::env::vars_os().filter(|(name, _)| name == "LLVM_PROFILE_FILE"))
            .stdin(Stdio::null());
    }

    /// The directories of this machine's programs, behind the user's own.
    fn search_path(&self) -> OsString {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = Some(self.path("bin")).filter(|own| own.is_dir());
        let directories = own.into_iter().chain(std::env::split_paths(&path));
        std::env::join_paths(directories).unwrap()
    }

    /// A shell that finds the program, and prints errors with the output.
    pub(crate) fn shell(&self, script: &str) -> Command {
        let directory = self.own_program().parent().unwrap().to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let directories = std::iter::once(directory).chain(std::env::split_paths(&path));
        let mut shell = Command::new("sh");
        self.set(&mut shell);
        shell.env("PATH", std::env::join_paths(directories).unwrap());
        shell.args(["-c", &format!("{{ {script}\n}} 2>&1")]);
        shell
    }

    pub(crate) fn run(&self, args: &[&str]) -> Printed {
        self.printed(self.command(args).output().unwrap())
    }

    /// Runs these commands in parallel.
    pub(crate) fn run_at_once(&self, commands: &[&[&str]]) -> Vec<Printed> {
        let start = |args: &&[&str]| {
            let mut command = self.command(args);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let children: Vec<_> = commands.iter().map(start).collect();
        let ends = children.into_iter();
        ends.map(|child| self.printed(child.wait_with_output().unwrap()))
            .collect()
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Printed {
        self.feed(self.command(args), input)
    }

    /// Runs this command with this standard input.
    pub(crate) fn feed(&self, mut command: Command, input: &str) -> Printed {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A program that refuses its arguments ends without reading its input.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        self.printed(child.wait_with_output().unwrap())
    }

    /// Normalizes the paths of this user's directory, the times, and what shells write about a command.
    pub(crate) fn printed(&self, output: Output) -> Printed {
        let text = |bytes: &[u8]| self.normal(std::str::from_utf8(bytes).unwrap());
        Printed {
            status: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    pub(crate) fn normal(&self, text: &str) -> String {
        let text = text.replace(self.path("").to_str().unwrap(), "[DIR]/");
        let text = SHELL.replace_all(&text, "[SHELL]: ");
        let text = NOT_FOUND.replace_all(&text, "$1: not found");
        let end = if text.ends_with('\n') { "\n" } else { "" };
        let lines: Vec<_> = text.lines().map(without_time).collect();
        lines.join("\n") + end
    }
}

/// A duration that stands at the end of a line.
fn without_time(line: &str) -> String {
    let is_time = |text: &str| {
        let number = text.strip_suffix(" ms").or(text.strip_suffix(" s"));
        number.is_some_and(|number| number.parse::<f64>().is_ok())
    };
    match line.rsplit_once(", ") {
        Some((rest, time)) if is_time(time) => format!("{rest}, [TIME]"),
        _ => line.to_owned(),
    }
}

impl Printed {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A guard that objects to `sudo`, and one that only looks on.
pub(crate) const GUARDED: &str = r#"{
  "hooks": [
    {"event": "tool:pre_execute:bash", "command": "case $FORGE_TOOL_ARGS in *sudo*) echo 'no sudo'; exit 1;; esac", "name": "guard"},
    {"event": "tool:*", "command": "echo looking; echo 'not happy' >&2", "name": "looker", "on_failure": "continue"}
  ]
}
"#;

pub(crate) const SUDO: [&str; 6] = [
    "fire",
    "tool:pre_execute",
    "--tool",
    "bash",
    "--args",
    r#"{"command":"sudo ls"}"#,
];

pub(crate) const LS: [&str; 6] = [
    "fire",
    "tool:pre_execute",
    "--tool",
    "bash",
    "--args",
    r#"{"command":"ls"}"#,
];

/// Joins two lists of arguments.
pub(crate) fn with<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [args, more].concat()
}
