//! An agent: a model asks for tools, the agent calls them and itself again with what they return, and its user's hooks
//! block or change the calls, or ask the user. The model is a list; the tools are real, and work in a temporary directory.
//! A plugin for Claude Code guards them, although their arguments have other names. Ctrl-C ends the hooks of a call and the turn.
//! To use the hooks of this repository too: `XDG_CONFIG_HOME=$PWD/examples/config cargo run --example tool_executor`.
//!
//! `tool_executor --trace-events FILE` records the events, for `forge-hooks replay` and `forge-hooks trace --check`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_hooks::compat::{CLAUDE, OtherAgents};
use forge_hooks::lifecycle::{Next, Question, Running, Session, ToolRun, Turn};
use forge_hooks::{AppProfile, HookExecutor, Hooks, Permit, Sandbox, Trace};
use serde_json::{Value, json};

const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/plugin");

/// A call of a tool: its name and its arguments.
type Call = (&'static str, Value);

/// Returns the calls that the model asks for, and the number of tokens that it took. The model stops once it has seen the results of
/// its tools.
fn model(seen: &[String]) -> Result<(Vec<Call>, u64), Box<dyn Error>> {
    let calls = vec![
        ("write", json!({"path": "notes.txt", "text": "buy milk"})),
        ("read", json!({"path": "draft-notes.txt"})),
        ("write", json!({"path": ".env", "text": "KEY=1"})),
        ("remove", json!({"path": "draft-notes.txt"})),
        ("read", json!({"path": "missing.txt"})),
        ("read", json!({"path": "/etc/passwd"})),
    ];
    Ok((if seen.is_empty() { calls } else { Vec::new() }, 120))
}

/// The state that all calls of the agent share.
struct Agent {
    session: Running<Session>,
    turn: Option<Running<Turn>>,
    directory: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let arguments = [("path", "file_path"), ("text", "content")];
    let mut tools = OtherAgents::new([]).with_plugin(PLUGIN);
    for (ours, theirs) in [("read", "Read"), ("write", "Write")] {
        tools = tools.with_tool(CLAUDE, ours, theirs, arguments);
    }
    let mut args = std::env::args().skip(1);
    let mut trace = None;
    let mut executor = HookExecutor::builder().working_dir(directory.path());
    if args.next().as_deref() == Some("--trace-events") {
        let file = args.next().ok_or("`--trace-events` needs a file")?;
        let recording = Trace::builder(file).events().outside_of(directory.path());
        let recording = recording.build()?;
        executor = executor.trace(&recording);
        trace = Some(recording);
    }
    let mut builder = Hooks::builder(AppProfile::new("myagent"))
        .tools(["read", "write", "remove"])
        .project(directory.path())
        .other_agents(tools)
        .executor(executor.model_text_limit(2_000));
    if Sandbox::support().is_ok() {
        builder = builder.sandbox_projects(Sandbox::new().writing(["."]));
    }
    let hooks = builder.load();
    print!("{}", hooks.report());
    let running = hooks.clone();
    ctrlc::set_handler(move || running.cancel_running())?;

    let session = hooks.lifecycle().session("sess_1").begin()?;
    for failure in session.failures() {
        eprintln!("{failure}");
    }
    let mut agent = Agent {
        session,
        turn: None,
        directory: directory.path().to_owned(),
    };
    agent.turn = Some(agent.session.prompt("tidy up my notes").begin()?);
    agent.go_on(&[])?;
    agent.session.finish();
    if let Some(trace) = trace {
        trace.flush(Duration::from_secs(1));
    }
    Ok(())
}

impl Agent {
    /// Asks the model, runs its calls, and goes on with what they returned.
    fn go_on(&mut self, seen: &[String]) -> Result<(), Box<dyn Error>> {
        let calls = self.session.lifecycle().llm("a list", 1);
        let calls = calls.run(|_| model(seen))??;
        if calls.is_empty() {
            return self.stop();
        }
        let mut returned = Vec::new();
        for (tool, args) in calls {
            println!("> {tool} {args}");
            let run = self.call(tool, args);
            show(&run);
            match run.next {
                Next::GoOn(text) => returned.push(text),
                Next::EndTurn(_) | Next::Cancelled => return Ok(()), // the session ends when it is dropped
            }
        }
        self.go_on(&returned)
    }

    /// Hooks run before and after the tool; if one blocks, the tool is not called.
    fn call(&self, tool: &str, args: Value) -> ToolRun {
        let call = self.session.lifecycle().tool(tool, args);
        call.on_ask(ask_user)
            .run(|permit| use_tool(permit, &self.directory))
    }

    /// The model has no more calls. A hook may want the agent to go on.
    fn stop(&mut self) -> Result<(), Box<dyn Error>> {
        let Some(turn) = &mut self.turn else {
            return Ok(());
        };
        let outcome = turn.finish("Your notes are tidy.");
        if let Some(reason) = outcome.reason().filter(|_| !outcome.allowed()) {
            return self.go_on(&[reason.to_owned()]);
        }
        self.turn = None;
        Ok(())
    }
}

/// A real agent would ask; this one's user is careful.
fn ask_user(question: &Question<'_>) -> bool {
    println!("  may it? {}: no", question.reasons().join("; "));
    false
}

fn show(run: &ToolRun) {
    for message in &run.messages {
        println!("  for the user: {message}");
    }
    match &run.next {
        Next::GoOn(text) if run.is_error => println!("  failed: {text}"),
        Next::GoOn(text) | Next::EndTurn(text) => println!("  {text}"),
        Next::Cancelled => println!("  cancelled"),
    }
}

/// Runs a tool, which hooks have permitted with these arguments. Nothing else in this program does.
fn use_tool(permit: Permit, directory: &Path) -> ToolRun {
    permit.run(|tool, args| call_tool(tool, args, directory))
}

fn call_tool(name: &str, args: &Value, directory: &Path) -> Result<String, Box<dyn Error>> {
    let arg = |key: &str| args[key].as_str().ok_or(format!("{name} needs `{key}`"));
    let path = directory.join(arg("path")?);
    let done = match name {
        "read" => fs::read_to_string(path),
        "write" => fs::write(path, arg("text")?).map(|()| "written".to_owned()),
        "remove" => fs::remove_file(path).map(|()| "removed".to_owned()),
        _ => return Err(format!("there is no tool {name}").into()),
    };
    done.map_err(|error| error.kind().to_string().into())
}
