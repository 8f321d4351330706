//! The handlers of an agent's file that the agent runs: Codex runs only those that its user has approved, and reports which ones
//! these are to clients of its `app-server`.
//!
//! The protocol is that of `codex-rs/app-server-protocol` in <https://github.com/openai/codex>: JSON-RPC without the member
//! `jsonrpc`, one message a line. The digest of an approval is the one that Codex itself reports.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::child::BoundedChild;
use crate::json;

/// The time limit for the answers of Codex.
const LONGEST: Duration = Duration::from_secs(20);

/// The time that Codex has to end.
const LONGEST_END: Duration = Duration::from_secs(2);

/// The most bytes of its answers.
const MOST: u64 = 16 * 1024 * 1024;

/// The answer of Codex about the handlers in the user's file.
#[derive(Debug)]
pub(crate) struct Approvals {
    /// The handlers in each directory, which may have settings of its own.
    handlers: Vec<Vec<Listed>>,
    /// The errors of files that Codex cannot read.
    pub(crate) errors: Vec<String>,
}

/// A handler as Codex lists it.
#[derive(Debug)]
struct Listed {
    command: String,
    /// Names the handler by its place.
    key: String,
    digest: String,
    is_approved: bool,
    is_on: bool,
}

/// The answer of Codex to the question whether it runs handlers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    All,
    /// Codex reads no hooks at all, at least in one of the directories.
    NotListed,
    /// A person has not approved them, or not as they are now.
    NotApproved,
    /// A person has switched them off.
    SwitchedOff,
}

/// The places where Codex finds its files, and programs.
pub(crate) struct User<'a> {
    /// The program of Codex, in one of the directories of `path`.
    pub(crate) program: &'a str,
    pub(crate) home: &'a Path,
    pub(crate) path: &'a str,
    /// The directory in which Codex would be started.
    pub(crate) here: &'a Path,
}

impl Approvals {
    /// Asks Codex for the handlers in this file.
    ///
    /// # Errors
    /// If Codex is not installed or does not answer.
    pub(crate) fn read(user: &User<'_>, file: &Path) -> Result<Self, String> {
        let request = ("hooks/list", json!({"cwds": [user.home, user.here]}));
        let answer = asked(user, request)?;
        let mut approvals = Self {
            handlers: Vec::new(),
            errors: Vec::new(),
        };
        for directory in answer["data"].as_array().into_iter().flatten() {
            let errors = directory["errors"].as_array().into_iter().flatten();
            let errors = errors.filter_map(|error| error["message"].as_str());
            approvals.errors.extend(errors.map(str::to_owned));
            let hooks = directory["hooks"].as_array().into_iter().flatten();
            let own = hooks.filter(|hook| hook["sourcePath"].as_str().map(Path::new) == Some(file));
            approvals
                .handlers
                .push(own.filter_map(Listed::new).collect());
        }
        Ok(approvals)
    }

    /// Returns whether Codex runs the handlers with these commands.
    pub(crate) fn of(&self, commands: &HashSet<&str>) -> Runs {
        let has_all = |handlers: &Vec<Listed>| {
            let listed: HashSet<_> = handlers.iter().map(|handler| &*handler.command).collect();
            commands.is_subset(&listed)
        };
        let listed: Vec<_> = self.listed(commands).collect();
        if self.handlers.is_empty() || !self.handlers.iter().all(has_all) {
            Runs::NotListed
        } else if listed.iter().any(|handler| !handler.is_on) {
            Runs::SwitchedOff
        } else if listed.iter().any(|handler| !handler.is_approved) {
            Runs::NotApproved
        } else {
            Runs::All
        }
    }

    fn listed(&self, commands: &HashSet<&str>) -> impl Iterator<Item = &Listed> {
        let handlers = self.handlers.iter().flatten();
        handlers.filter(|handler| commands.contains(&*handler.command))
    }

    /// Approves the handlers with these commands, and no others. Returns whether Codex then runs them.
    ///
    /// # Errors
    /// If Codex does not accept the approval.
    pub(crate) fn approve(
        &self,
        user: &User<'_>,
        file: &Path,
        commands: &HashSet<&str>,
    ) -> Result<Runs, String> {
        let states = self.listed(commands).map(|handler| {
            let state = json!({"trusted_hash": handler.digest});
            (handler.key.clone(), state)
        });
        let states: Map<String, Value> = states.collect();
        let edit = json!({"keyPath": "hooks.state", "value": states, "mergeStrategy": "upsert"});
        let request = json!({"edits": [edit], "reloadUserConfig": true});
        asked(user, ("config/batchWrite", request))?;
        Ok(Self::read(user, file)?.of(commands))
    }
}

impl Listed {
    fn new(hook: &Value) -> Option<Self> {
        let text = |key: &str| hook[key].as_str().map(str::to_owned);
        let status = hook["trustStatus"].as_str();
        Some(Self {
            command: text("command")?,
            key: text("key")?,
            digest: text("currentHash")?,
            is_approved: matches!(status, Some("trusted" | "managed")),
            is_on: hook["enabled"] == true,
        })
    }
}

/// Returns the result of a request.
fn asked(user: &User<'_>, (method, params): (&str, Value)) -> Result<Value, String> {
    // The first message introduces this program.
    let client = json!({"name": "forge-hooks", "title": "forge-hooks", "version": env!("CARGO_PKG_VERSION")});
    let messages = [
        json!({"id": 1, "method": "initialize", "params": {"clientInfo": client}}),
        json!({"method": "initialized"}),
        json!({"id": 2, "method": method, "params": params}),
    ];
    let program = user.program;
    let mut command = Command::new(program);
    command.arg("app-server").current_dir(user.home);
    command.env("PATH", user.path).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = BoundedChild::start(&mut command)
        .map_err(|error| format!("cannot start `{program} app-server`: {error}"))?;
    let answers = answers_of(&mut process.child);
    let mut stdin = process.child.stdin.take();
    for message in messages {
        // A process that does not read gives no answer, which is an error below.
        let _ = stdin.as_mut().map(|stdin| writeln!(stdin, "{message}"));
    }
    let answer = answer_to(2, &answers);
    // The process ends with its input. Its answer counts, however it ends.
    drop(stdin);
    process.end(LONGEST_END);
    let mut answer = answer.ok_or_else(|| {
        let seconds = LONGEST.as_secs();
        format!(
            "`{program} app-server` has ended without an answer to `{method}`, or not given one within {seconds} seconds"
        )
    })?;
    match answer.get("error") {
        None => Ok(answer["result"].take()),
        Some(error) => Err(format!(
            "`{program} app-server` has refused `{method}`: {error}"
        )),
    }
}

/// Reads answers beside the requests, since a process that it leaves behind may keep the stream open.
fn answers_of(child: &mut Child) -> Receiver<Value> {
    let (sender, answers) = mpsc::channel();
    let stdout = child.stdout.take().map(|stdout| stdout.take(MOST));
    thread::spawn(move || {
        let lines = stdout
            .into_iter()
            .flat_map(|stdout| BufReader::new(stdout).lines());
        for line in lines.map_while(Result::ok) {
            if let Ok(message) = json::read(&line)
                && sender.send(message).is_err()
            {
                return;
            }
        }
    });
    answers
}

/// Returns the answer to the request with this number; none if there is none in time.
fn answer_to(number: u64, answers: &Receiver<Value>) -> Option<Value> {
    let deadline = Instant::now() + LONGEST;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let message = answers.recv_timeout(left).ok()?;
        // A request that Codex sends may have the same number.
        if message["id"] == number && message.get("method").is_none() {
            return Some(message);
        }
    }
}
