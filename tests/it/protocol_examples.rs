//! The examples under "Writing a hook" in docs/protocol.md, each run as a hook if its interpreter is installed.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use forge_hooks::{FailurePolicy, Hook, HookEvent, Reads};
use serde_json::{Value, json};

use crate::support::{World, eventually, is_missing};

/// A block of code, and its heading.
pub(crate) struct Example {
    pub(crate) heading: String,
    pub(crate) language: String,
    pub(crate) code: String,
}

/// The examples with these headings that can run here.
fn runnable(heading: impl Fn(&str) -> bool) -> Vec<Example> {
    let mut examples = examples_of(SECTION);
    examples.retain(|example| heading(&example.heading) && example.can_run());
    examples
}

/// The examples of a section.
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

/// Returns the interpreter of a language, and a file name; none for a language that is not run.
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
        let Some((program, _)) = interpreter(&self.language) else {
            return false;
        };
        let needs_jq = self.language == "sh" && self.code.contains("jq ");
        // Some `sh` do not support `--version`.
        let has_program = program == "sh" || !is_missing(program);
        has_program && !(needs_jq && is_missing("jq"))
    }

    /// For messages.
    pub(crate) fn place(&self) -> String {
        format!("{} ({})", self.heading, self.language)
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

const SECTION: &str = "Writing a hook";
const QUOTES: &str = "echo \"it's\" \\ $HOME `x`\nls";
const IN_BACKGROUND: &str = "Take long";
const REDACT: &str = "Redact what a tool has returned";

/// Heading, command, exit code, standard error, and the answer; null for none.
#[rustfmt::skip]
fn cases() -> Vec<(&'static str, &'static str, i32, &'static str, Value)> {
    let none = Value::Null;
    vec![
        ("Let it pass", "ls", 0, "", none.clone()),
        ("Block it with an exit code", "ls", 1, "not on a Friday\n", none.clone()),
        ("Block it with an answer", QUOTES, 0, "",
            json!({"decision": "block", "reason": format!("not allowed: {QUOTES}")})),
        ("Ask the user", "ls", 0, "",
            json!({"decision": "ask", "reason": "this reaches the network"})),
        ("Change the input", QUOTES, 0, "",
            json!({"updatedInput": {"command": format!("nice {QUOTES}")}})),
        (REDACT, "a sk-123 b\nsk-4", 0, "", json!({"updatedOutput": "a [key] b\n[key]"})),
        ("Tell the model something", "ls", 0, "",
            json!({"additionalContext": "The tests of this project take an hour."})),
        ("Tell the user something", "ls", 0, "",
            json!({"systemMessage": "The disk is nearly full."})),
        ("Stop the whole turn", "ls", 0, "",
            json!({"continue": false, "stopReason": "The budget is spent."})),
        ("Read the event from standard input", "deploy production", 1, "not in production\n", none.clone()),
        ("Read the event from standard input", QUOTES, 0, "", none.clone()),
        ("Read the event from the environment", "deploy production", 1, "not in production\n", none.clone()),
        ("Read the event from the environment", QUOTES, 0, "", none),
    ]
}

#[test]
fn every_heading_has_every_language() {
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for example in examples_of(SECTION) {
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
    let mut tested: BTreeSet<_> = cases().into_iter().map(|case| case.0).collect();
    tested.insert(IN_BACKGROUND);
    assert!(shown.keys().eq(&tested), "{:?}", shown.keys());
    for (heading, languages) in shown {
        assert_eq!(languages.len(), 3, "{heading}: {languages:?}");
    }
}

#[test]
fn examples_do_what_their_heading_says() {
    for example in runnable(|_| true) {
        let world = World::new();
        for (heading, command, exit_code, stderr, answer) in cases() {
            if heading != example.heading {
                continue;
            }
            let event = match heading {
                REDACT => HookEvent::tool_post_execute("bash", json!({}), command),
                _ => event(command),
            };
            let result = world.run(example.hook(&world), &event);
            let place = example.place();
            let printed = (result.exit_code, &*result.stderr);
            assert_eq!(printed, (exit_code, stderr), "{place}");
            assert_eq!(json!(result.output()), answer, "{place}");
        }
    }
}

#[test]
fn examples_fail_on_unreadable_events() {
    let reading = |heading: &str| heading.starts_with("Read the ") || heading == "Change the input";
    for example in runnable(reading) {
        let world = World::new();
        // A shell can only test whether the variable is set and not empty.
        let hook = example.hook(&world).with_env("FORGE_TOOL_ARGS", "");
        world.registry().register(hook);
        for args in [json!(null), json!([1]), json!({}), json!({"command": 5})] {
            let event = HookEvent::tool_pre_execute("bash", args);
            let result = world.fire(&event).remove(0);
            let place = example.place();
            assert!(!result.should_continue(), "{place}: {}", result.stdout);
        }
    }
}

#[test]
fn a_background_example_does_not_block() {
    for example in runnable(|heading| heading == IN_BACKGROUND) {
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

/// The example only redacts strings.
#[test]
fn unredactable_output_is_withheld() {
    for example in runnable(|heading| heading == REDACT) {
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
