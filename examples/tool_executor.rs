//! An agent: a model asks for tools, the agent calls them, and its user's hooks block or change the calls, or
//! ask the user. The model is a list; the tools are real, and work in a temporary directory. A plugin for
//! Claude Code guards them. To use the hooks of this repository too: `XDG_CONFIG_HOME=$PWD/examples/config
//! cargo run --example tool_executor`.

use std::error::Error;
use std::fs;
use std::path::Path;

use forge_hooks::compat::OtherTools;
use forge_hooks::lifecycle::{Question, ToolRun};
use forge_hooks::{AppProfile, HookExecutor, Hooks};
use serde_json::{Value, json};

const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/plugin");

/// A call of a tool: its name and its arguments.
type Call = (&'static str, Value);

/// What the model asks for, and the number of tokens that it took.
fn model(_prompt: &str) -> Result<(Vec<Call>, u64), Box<dyn Error>> {
    let calls = vec![
        ("write", json!({"path": "notes.txt", "text": "buy milk"})),
        ("read", json!({"path": "draft-notes.txt"})),
        ("write", json!({"path": ".env", "text": "KEY=1"})),
        ("remove", json!({"path": "draft-notes.txt"})),
        ("read", json!({"path": "missing.txt"})),
        ("read", json!({"path": "/etc/passwd"})),
    ];
    Ok((calls, 120))
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let hooks = Hooks::builder(AppProfile::new("myagent"))
        .tools(["read", "write", "remove"])
        .project(directory.path())
        .other_tools(OtherTools::new([]).with_plugin(PLUGIN))
        .executor(HookExecutor::builder().working_dir(directory.path()))
        .load();
    print!("{}", hooks.report());

    let session = hooks.lifecycle().session("sess_1").begin()?;
    eprint!("{}", session.failures());
    let mut turn = session.prompt("tidy up my notes").begin()?;
    // A real agent gives what its tools return to the model, until the model asks for none.
    let calls = session.lifecycle().llm("a list", 1);
    for (tool, args) in calls.run(|_| model(turn.prompt()))?? {
        println!("> {tool} {args}");
        // Hooks run before and after the tool; if one blocks, the tool is not called.
        let call = session.lifecycle().tool(tool, args).apply_updates();
        let call = call.on_ask(ask_user);
        let stops_turn = match call.run(|args| use_tool(tool, args, directory.path())) {
            Ok(run) => show(&run),
            Err(blocked) => {
                println!("  {blocked}"); // for the model too, as an error
                blocked.stops_turn()
            }
        };
        if stops_turn {
            return Ok(()); // the session ends when it is dropped
        }
    }
    let stop = turn.finish("Your notes are tidy.");
    if let Some(reason) = stop.reason() {
        println!("a real agent goes on: {reason}");
    }
    session.finish();
    Ok(())
}

/// A real agent would ask; this one's user is careful.
fn ask_user(question: &Question<'_>) -> bool {
    println!("  may it? {}: no", question.reasons().join("; "));
    false
}

/// Shows a call; whether a hook wants the turn stopped.
fn show(run: &ToolRun<String, Box<dyn Error>>) -> bool {
    eprint!("{}", run.failures());
    for message in run.system_messages() {
        println!("  for the user: {message}");
    }
    // Not the tool's own output: hooks may have masked or withheld it.
    match run.output() {
        Ok(output) => println!("  {output}"),
        Err(error) => println!("  failed: {error}"),
    }
    if let Some(context) = run.additional_context() {
        println!("  for the model: {context}");
    }
    run.stops_turn()
}

/// Runs a tool. Its arguments contain the changes of hooks.
fn use_tool(name: &str, args: &Value, directory: &Path) -> Result<String, Box<dyn Error>> {
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
