//! The examples under "Writing a hook" in docs/protocol.md, each run as a hook, where what runs it is there.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use forge_hooks::{FailurePolicy, Hook, HookEvent, HookResult, Reads};
use serde_json::{Value, json};

use crate::support::{World, eventually, is_missing};

/// A block of code, and the heading that it stands under.
pub(crate) struct Example {
    pub(crate) heading: String,
    pub(crate) language: String,
    pub(crate) code: String,
}

fn examples() -> Vec<Example> {
    examples_of("Writing a hook")
}

/// Those of a section.
pub(crate) fn examples_of(section: &str) -> Vec<Example> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/protocol.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, rest) = page.split_once(&format!("\n## {section}\n")).unwrap();
    let mut found: Vec<Example> = Vec::new();
    let (mut heading, mut is_within) = (String::new(), false);
    for line in rest.lines() {
        match line.strip_prefix("```") {
            Some("") => is_within = false,
            Some(language) => {
                is_within = true;
                found.push(Example {
                    heading: heading.clone(),
                    language: language.to_owned(),
                    code: String::new(),
                });
            }
            None if is_within => found.last_mut().unwrap().code += &format!("{line}\n"),
            None if line.starts_with("## ") => break,
            None => heading = line.strip_prefix("### ").unwrap_or(&heading).to_owned(),
        }
    }
    found
}

/// The interpreter of a language, and how a file of it is called; none for what is not run.
pub(crate) fn interpreter(language: &str) -> Option<(&'static str, &'static str)> {
    match language {
        "sh" => Some(("sh", "hook.sh")),
        "python" => Some(("python3", "hook.py")),
        "js" => Some(("node", "hook.mjs")),
        _ => None,
    }
}

impl Example {
    pub(crate) fn can_run(&self) -> bool {
        let (program, _) = interpreter(&self.language).unwrap();
        let needs_jq = self.language == "sh" && self.code.contains("jq ");
        // Not every `sh` knows `--version`.
        let has_program = program == "sh" || !is_missing(program);
        has_program && !(needs_jq && is_missing("jq"))
    }

    pub(crate) fn hook(&self, world: &World) -> Hook {
        let (program, file) = interpreter(&self.language).unwrap();
        world.write(file, &self.code);
        Hook::program("*", [program, file])
            .unwrap()
            .with_reads(Reads::Stdin)
            .with_timeout(Duration::from_secs(60))
    }
}

fn event(command: &str) -> HookEvent {
    HookEvent::tool_pre_execute("bash", json!({"command": command, "cwd": "/"}))
}

/// The answer as the engine has read it; none when there is none.
fn answer(result: &HookResult) -> Option<Value> {
    let output = result.output()?;
    Some(serde_json::to_value(output).unwrap())
}

/// What an example does with a command.
struct Case {
    command: &'static str,
    exit_code: i32,
    stderr: &'static str,
    answer: Option<Value>,
}

fn exits(command: &'static str, exit_code: i32, stderr: &'static str) -> Case {
    Case {
        command,
        exit_code,
        stderr,
        answer: None,
    }
}

fn answers(command: &'static str, answer: Value) -> Case {
    Case {
        command,
        exit_code: 0,
        stderr: "",
        answer: Some(answer),
    }
}

const QUOTES: &str = "echo \"it's\" \\ $HOME `x`\nls";
const IN_BACKGROUND: &str = "Take long";
const REDACT: &str = "Redact what a tool has returned";

fn cases() -> BTreeMap<&'static str, Vec<Case>> {
    let reading = || {
        vec![
            exits("deploy production", 1, "not in production\n"),
            exits(QUOTES, 0, ""),
        ]
    };
    BTreeMap::from([
        ("Let it pass", vec![exits("ls", 0, "")]),
        (
            "Block it with an exit code",
            vec![exits("ls", 1, "not on a Friday\n")],
        ),
        (
            "Block it with an answer",
            vec![answers(
                QUOTES,
                json!({"decision": "block", "reason": format!("not allowed: {QUOTES}")}),
            )],
        ),
        (
            "Ask the user",
            vec![answers(
                "ls",
                json!({"decision": "ask", "reason": "this reaches the network"}),
            )],
        ),
        (
            "Change the input",
            vec![answers(
                QUOTES,
                json!({"updatedInput": {"command": format!("nice {QUOTES}")}}),
            )],
        ),
        (
            REDACT,
            vec![answers(
                "a sk-123 b\nsk-4",
                json!({"updatedOutput": "a [key] b\n[key]"}),
            )],
        ),
        (
            "Tell the model something",
            vec![answers(
                "ls",
                json!({"additionalContext": "The tests of this project take an hour."}),
            )],
        ),
        (
            "Tell the user something",
            vec![answers(
                "ls",
                json!({"systemMessage": "The disk is nearly full."}),
            )],
        ),
        (
            "Stop the whole turn",
            vec![answers(
                "ls",
                json!({"continue": false, "stopReason": "The budget is spent."}),
            )],
        ),
        ("Read the event from standard input", reading()),
        ("Read the event from the environment", reading()),
        (IN_BACKGROUND, Vec::new()),
    ])
}

#[test]
fn each_thing_that_a_hook_can_do_is_shown_in_each_language() {
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for example in examples() {
        if interpreter(&example.language).is_none() {
            assert_eq!(example.language, "json", "{}", example.heading);
            let entry: Value = serde_json::from_str(&example.code).unwrap();
            Hook::from_json(&entry).unwrap();
            continue;
        }
        let lines = example.code.lines().count();
        assert!(lines <= 12, "{} is too long", example.heading);
        let languages = shown.entry(example.heading).or_default();
        assert!(languages.insert(example.language));
    }
    assert!(
        shown.keys().eq(cases().keys()),
        "{:?}",
        shown.keys().collect::<Vec<_>>()
    );
    for (heading, languages) in shown {
        assert_eq!(languages.len(), 3, "{heading}: {languages:?}");
    }
}

#[test]
fn each_example_does_what_its_heading_says() {
    let cases = cases();
    let runnable = examples()
        .into_iter()
        .filter(|example| interpreter(&example.language).is_some());
    for example in runnable.filter(Example::can_run) {
        let world = World::new();
        for case in &cases[&*example.heading] {
            let hook = example.hook(&world);
            world.registry().clear();
            world.registry().register(hook);
            let event = match &*example.heading {
                REDACT => HookEvent::tool_post_execute("bash", json!({}), case.command),
                _ => event(case.command),
            };
            let result = world.fire(&event).remove(0);
            let place = format!("{} ({})", example.heading, example.language);
            let said = (result.exit_code, &*result.stderr);
            assert_eq!(said, (case.exit_code, case.stderr), "{place}");
            assert_eq!(answer(&result), case.answer, "{place}");
        }
    }
}

#[test]
fn an_example_that_cannot_look_fails() {
    let headings = [
        "Change the input",
        "Read the event from standard input",
        "Read the event from the environment",
    ];
    let reading = examples()
        .into_iter()
        .filter(|example| headings.contains(&&*example.heading));
    for example in reading.filter(Example::can_run) {
        let world = World::new();
        let place = format!("{} ({})", example.heading, example.language);
        // Of the variable a shell can tell no more than that it is there.
        let hook = example.hook(&world).with_env("FORGE_TOOL_ARGS", "");
        world.registry().register(hook);
        for args in [json!(null), json!([1]), json!({}), json!({"command": 5})] {
            let event = HookEvent::tool_pre_execute("bash", args);
            let result = world.fire(&event).remove(0);
            assert!(!result.should_continue(), "{place}: {}", result.stdout);
        }
    }
}

#[test]
fn what_takes_long_keeps_nobody_waiting() {
    let examples = examples();
    let long = examples
        .iter()
        .filter(|example| example.heading == IN_BACKGROUND)
        .filter(|example| interpreter(&example.language).is_some() && example.can_run());
    for example in long {
        let world = World::new();
        let hook = example.hook(&world).with_background();
        world.registry().register(hook);
        let outcome = world.outcome(&event("ls"));
        assert!(outcome.allowed() && outcome.results().is_empty());
        world.await_file("index.json");
        let kept: Value = serde_json::from_str(&world.read("index.json")).unwrap();
        assert_eq!(kept["type"], "tool:pre_execute");
        eventually("it is moved", || !world.path("index.tmp").exists());
    }
}

/// What is no text is not redacted.
#[test]
fn an_output_that_cannot_be_redacted_is_withheld() {
    let examples = examples();
    let redacting = examples.iter().filter(|example| {
        example.heading == REDACT && interpreter(&example.language).is_some() && example.can_run()
    });
    for example in redacting {
        let world = World::new();
        let hook = example
            .hook(&world)
            .with_on_failure(FailurePolicy::Withhold);
        world.registry().register(hook);
        let event = HookEvent::tool_post_execute("bash", json!({}), json!({"key": "sk-123"}));
        let output = world.outcome(&event).updated_output().unwrap();
        assert!(output.as_str().unwrap().contains("withheld"), "{output}");
    }
}
