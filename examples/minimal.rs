//! A host in its smallest form: it loads the hooks of its user and of the project in the current directory, and asks
//! them before it runs a tool.

use forge_hooks::{AppProfile, HookEvent, Hooks};
use serde_json::json;

fn main() {
    let hooks = Hooks::builder(AppProfile::new("myagent"))
        .project(".")
        .load();
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
    match hooks.execute(&event).check() {
        Ok(()) => println!("no hook objects"),
        Err(blocked) => println!("{blocked}"),
    }
}
