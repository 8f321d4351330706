//! A small agent: a model asks for tools, the agent calls them, and its user's hooks block, change,
//! question and note down what it does.
//!
//! The model is a list, so that this always runs alike; the tools are real, and work in a temporary
//! folder. `RUST_LOG=forge_hooks=debug` shows what the library does meanwhile.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use forge_hooks::{Hook, HookExecutor, Lifecycle, Question, ToolRun};
use serde_json::{Value, json};

/// What the user has written into hooks.json.
#[cfg(not(windows))]
fn hooks() -> Value {
    json!([
        {
            "event": "tool:pre_execute:bash",
            "command": r#"case $FORGE_TOOL_ARGS in *sudo*) echo '{"decision": "block", "reason": "sudo is not allowed"}';; esac"#,
            "description": "Block sudo",
        },
        {
            "event": "tool:pre_execute:bash",
            "command": r#"case $FORGE_TOOL_ARGS in *'rm '*) echo '{"decision": "ask", "reason": "it deletes files"}';; esac"#,
            "description": "Ask before rm",
        },
        {
            "event": "tool:pre_execute:write",
            "command": r#"case $FORGE_TOOL_ARGS in *'"path":"notes.txt"'*) echo '{"updatedInput": {"path": "out/notes.txt"}, "systemMessage": "written below out/"}';; esac"#,
            "description": "Write below out/",
        },
        {
            "event": "tool:post_execute:read",
            "command": r#"echo '{"additionalContext": "notes are drafts"}'"#,
            "description": "Tell of drafts",
        },
        {
            "event": "tool:post_execute, tool:error",
            "command": r#"echo "$FORGE_EVENT $FORGE_TOOL_NAME" >>audit.log"#,
            "description": "Audit",
        },
    ])
}

/// The event is on standard input too, where `find` looks.
#[cfg(windows)]
fn hooks() -> Value {
    let where_found = |text: &str, answer: Value| {
        let answer = answer.to_string();
        format!("find \"{text}\" >NUL & if errorlevel 1 (exit 0) else (echo {answer})")
    };
    json!([
        {
            "event": "tool:pre_execute:bash",
            "command": where_found("sudo", json!({"decision": "block", "reason": "sudo is not allowed"})),
            "description": "Block sudo",
        },
        {
            "event": "tool:pre_execute:bash",
            "command": where_found("rm ", json!({"decision": "ask", "reason": "it deletes files"})),
            "description": "Ask before rm",
        },
        {
            "event": "tool:pre_execute:write",
            "command": where_found("\"\"path\"\":\"\"notes.txt", json!({
                "updatedInput": {"path": "out/notes.txt"}, "systemMessage": "written below out/",
            })),
            "description": "Write below out/",
        },
        {
            "event": "tool:post_execute:read",
            "command": r#"echo {"additionalContext": "notes are drafts"}"#,
            "description": "Tell of drafts",
        },
        {
            "event": "tool:post_execute, tool:error",
            "command": "echo !FORGE_EVENT! !FORGE_TOOL_NAME!>>audit.log",
            "description": "Audit",
        },
    ])
}

/// What the model asks for, one after the other.
fn model() -> Vec<(&'static str, Value)> {
    vec![
        ("write", json!({"path": "notes.txt", "text": "buy milk"})),
        ("read", json!({"path": "out/notes.txt"})),
        ("bash", json!({"command": "echo hello"})),
        ("bash", json!({"command": "sudo reboot"})),
        ("bash", json!({"command": "rm -r out"})),
        ("read", json!({"path": "missing.txt"})),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    env_logger::init();
    let folder = tempfile::tempdir()?;
    let executor = HookExecutor::builder().working_dir(folder.path()).build();
    for hook in hooks().as_array().into_iter().flatten() {
        executor.registry().register(Hook::from_json(hook)?);
    }
    let session = Lifecycle::new(executor).session("sess_1");
    for (tool, args) in model() {
        println!("> {tool} {args}");
        let call = session.lifecycle().tool(tool, args);
        // The hooks have their say here; the tool is called in between, or not at all.
        match call
            .apply_updates()
            .on_ask(ask_user)
            .run(|args| use_tool(tool, args, folder.path()))
        {
            Ok(run) => {
                show(&run);
                if run.stops_turn() {
                    break;
                }
            }
            Err(blocked) => {
                println!("  {blocked}");
                if blocked.stops_turn() {
                    break;
                }
            }
        }
    }
    session.end();
    print!(
        "\naudit.log:\n{}",
        fs::read_to_string(folder.path().join("audit.log"))?
    );
    Ok(())
}

/// A real agent would ask; this one's user is careful.
fn ask_user(question: &Question<'_>) -> bool {
    let reasons = question.reasons();
    let why = if reasons.is_empty() {
        "a hook wants to know".to_owned()
    } else {
        reasons.join("; ")
    };
    println!("  may it? {why}");
    println!("  the user says no");
    false
}

fn show(run: &ToolRun<String, Box<dyn Error>>) {
    if run.again.is_some() {
        println!("  changed to {}", run.args);
    }
    for message in run.system_messages() {
        println!("  for the user: {message}");
    }
    match &run.result {
        Ok(output) => println!("  {}", output.trim_end()),
        Err(error) => println!("  failed: {error}"),
    }
    if let Some(context) = run.additional_context() {
        println!("  for the model: {context}");
    }
}

/// The tools. What a hook has changed, they find in their arguments.
fn use_tool(name: &str, args: &Value, folder: &Path) -> Result<String, Box<dyn Error>> {
    let arg = |key: &str| args[key].as_str().ok_or(format!("{name} wants `{key}`"));
    match name {
        "read" => {
            let path = folder.join(arg("path")?);
            // The system's own words for it differ from one to the next.
            fs::read_to_string(path).map_err(|error| error.kind().to_string().into())
        }
        "write" => {
            let path = folder.join(arg("path")?);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, arg("text")?)?;
            Ok("written".to_owned())
        }
        "bash" => {
            let (shell, flag) = if cfg!(windows) {
                ("cmd", "/C")
            } else {
                ("sh", "-c")
            };
            let mut command = Command::new(shell);
            let output = command
                .args([flag, arg("command")?])
                .current_dir(folder)
                .output()?;
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        _ => Err(format!("there is no tool {name}").into()),
    }
}
