//! No hook that this crate shows or writes loses its approval by running.
#![cfg(unix)]

use std::fs;
use std::process::{Command, Stdio};

use forge_hooks::trust::Approval;
use forge_hooks::{AppProfile, HOOK_TEMPLATES, Hook, HookConfig};
use serde_json::{Value, json};

use crate::pages::hooks_files;
use crate::support::World;
use crate::thorough::all_cases;

/// Runs the hook's command in its project, whatever it does there, and with what it finds there.
fn run(hook: &Hook, world: &World) {
    let entry = hook.to_json();
    let mut command = if let Some(args) = entry.get("args") {
        let args: Vec<String> = serde_json::from_value(args.clone()).unwrap();
        let mut program = Command::new(&args[0]);
        program.args(&args[1..]);
        program
    } else if let Some(text) = entry["command"].as_str() {
        let mut shell = Command::new("sh");
        shell.args(["-c", text]);
        shell
    } else {
        return; // an answer
    };
    let project = world.path("project");
    let command = command
        .current_dir(&project)
        .env("HOME", world.path("home"))
        .env("FORGE_WORKING_DIR", &project)
        .env("FORGE_EVENT_TYPE", "tool:pre_execute")
        .env("FORGE_TOOL_ARGS", "{}")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Not every program that a page names is here.
    if let Ok(mut child) = command.spawn() {
        let _ = child.wait();
    }
}

#[test]
fn no_hook_of_a_page_loses_its_approval() {
    let mut files = hooks_files();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hooks");
    let text = fs::read_to_string(format!("{examples}/hooks.json")).unwrap();
    files.push((
        "examples".to_owned(),
        json!({"hooks": serde_json::from_str::<Value>(&text).unwrap()["hooks"]}),
    ));
    for (name, hook) in HOOK_TEMPLATES.iter() {
        files.push(((*name).to_owned(), json!({"hooks": [hook.to_json()]})));
    }
    for (place, file) in files {
        let world = World::new();
        world.write("project/.src/forge/hooks.json", &file.to_string());
        fs::create_dir(world.path("home")).unwrap();
        let example = |entry: fs::DirEntry| {
            let name = format!("project/hooks/{}", entry.file_name().display());
            world.script(&name, &fs::read_to_string(entry.path()).unwrap());
        };
        let entries = fs::read_dir(examples).unwrap();
        entries.for_each(|entry| example(entry.unwrap()));
        let root = world.path("project");
        let config = HookConfig::new(AppProfile::default()).with_config_home(world.path("config"));
        let hooks = config.load_project(&root);
        let approval = Approval::of(&root, &hooks).unwrap();
        for round in 0..if all_cases() { 3 } else { 1 } {
            for hook in &hooks {
                run(hook, &world);
                let now = Approval::of(&root, &hooks).unwrap();
                assert_eq!(now, approval, "{round}: {place}");
            }
        }
    }
}
