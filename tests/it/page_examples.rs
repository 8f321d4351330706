//! The examples of docs/guards.md, each run as a hook if its interpreter is installed, in a host with a name of its
//! own: an example that reads a variable with another prefix than `FORGE_` fails.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use forge_hooks::{AppProfile, FailurePolicy, Hook, HookEvent};
use serde_json::{Value, json};

use crate::pages::{Block, blocks_of};
use crate::support::{World, hook, is_missing, one_in};

/// A block of code of a page that can be a hook.
pub(crate) struct Example(pub(crate) Block);

impl std::ops::Deref for Example {
    type Target = Block;

    fn deref(&self) -> &Block {
        &self.0
    }
}

/// A host with a name of its own.
pub(crate) fn host() -> World {
    World::with(|builder| builder.profile(AppProfile::new("pagehost")))
}

/// The examples of a page that have an interpreter.
pub(crate) fn examples_of(page: &str) -> Vec<Example> {
    let blocks = blocks_of(page).into_iter();
    blocks
        .filter(|block| interpreter(&block.language).is_some())
        .map(Example)
        .collect()
}

/// The examples with these headings that can run here.
fn runnable(heading: impl Fn(&str) -> bool) -> Vec<Example> {
    let mut examples = examples_of(PAGE);
    examples.retain(|example| heading(&example.heading) && example.can_run());
    examples
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
            .reading_stdin()
            .with_timeout(Duration::from_secs(60))
    }

    /// The hook with what the entry below the same heading says of its answer.
    fn hook_of_entry(&self, world: &World) -> Hook {
        let blocks = blocks_of(PAGE).into_iter();
        let mut entries =
            blocks.filter(|block| block.heading == self.heading && block.language == "json");
        let Some(entry) = entries.next() else {
            return self.hook(world);
        };
        let mut merged = self.hook(world).to_json();
        let entry: Value = serde_json::from_str(&entry.code).unwrap();
        for key in ["event", "may", "on_failure"] {
            if !entry[key].is_null() {
                merged[key] = entry[key].clone();
            }
        }
        Hook::from_json(&merged).unwrap()
    }
}

fn event(command: &str) -> HookEvent {
    HookEvent::tool_pre_execute("bash", json!({"command": command, "cwd": "/"}))
}

const PAGE: &str = "docs/guards.md";
const QUOTES: &str = "echo \"it's\" \\ $HOME `x`\nls";
const REDACT: &str = "Redact what a tool has returned";

/// The heading of resident hooks, which have a test of their own.
pub(crate) const RESIDENT: &str = "Resident hooks: keep the process";

const STDIN: &str = "Block with an exit code";
const ANSWER: &str = "Answer with JSON";
const CHANGE: &str = "Change the input";

/// Heading, command, exit code, standard error, and the answer; null for none.
#[rustfmt::skip]
fn cases() -> Vec<(&'static str, &'static str, i32, &'static str, Value)> {
    let none = Value::Null;
    vec![
        (STDIN, "deploy production", 1, "not in production\n", none.clone()),
        (STDIN, QUOTES, 0, "", none),
        (CHANGE, QUOTES, 0, "", json!({"updatedInput": {"command": format!("nice {QUOTES}")}})),
        (REDACT, "a sk-123 b\nsk-4", 0, "", json!({"updatedOutput": "a [key] b\n[key]"})),
    ]
}

#[test]
fn the_first_heading_has_each_language() {
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let examples = examples_of(PAGE).into_iter();
    for example in examples.filter(|example| example.heading != RESIDENT) {
        let lines = example.code.lines().count();
        assert!(lines <= 12, "{} is too long", example.heading);
        let languages = shown.entry(example.0.heading).or_default();
        assert!(languages.insert(example.0.language));
    }
    let tested: BTreeSet<_> = cases().into_iter().map(|case| case.0).collect();
    assert!(shown.keys().eq(&tested), "{:?}", shown.keys());
    assert_eq!(shown[STDIN].len(), 3, "{shown:?}");
}

/// Each as the output of a hook, with the quoting that the page recommends.
#[test]
fn every_constant_answer_is_read() {
    let blocks = blocks_of(PAGE).into_iter();
    let answers = blocks.filter(|block| block.heading == ANSWER && block.language == "text");
    let mut count = 0;
    let answers: String = answers.map(|block| block.code).collect();
    for answer in answers.lines() {
        let world = host();
        let command = format!("printf '%s\\n' '{answer}'");
        let result = world.run(hook("*", &command), &event("ls"));
        let expected: Value = serde_json::from_str(answer).unwrap();
        assert_eq!(json!(result.output()), expected);
        assert!(result.diagnostics().is_empty(), "{result:?}");
        count += 1;
    }
    assert_eq!(count, 4);
}

#[test]
fn examples_do_what_their_heading_says() {
    for example in one_in(2, runnable(|_| true)) {
        let world = host();
        for (heading, command, exit_code, stderr, answer) in cases() {
            if heading != example.heading {
                continue;
            }
            let event = match heading {
                REDACT => HookEvent::tool_post_execute("bash", json!({}), command),
                _ => event(command),
            };
            let result = world.run(example.hook_of_entry(&world), &event);
            let place = example.place();
            let printed = (result.exit_code(), result.stderr());
            assert_eq!(printed, (exit_code, stderr), "{place}");
            assert_eq!(json!(result.output()), answer, "{place}");
        }
    }
}

#[test]
fn examples_fail_on_unreadable_events() {
    let reading = |heading: &str| [STDIN, CHANGE].contains(&heading);
    for (index, example) in one_in(3, runnable(reading).iter().enumerate()) {
        let world = host();
        world.add(example.hook(&world));
        let unreadable = [json!(null), json!([1]), json!({}), json!({"command": 5})];
        for args in one_in(4, unreadable.into_iter().cycle().skip(index).take(4)) {
            let event = HookEvent::tool_pre_execute("bash", args);
            let result = world.fire(&event).remove(0);
            let place = example.place();
            assert!(!result.should_continue(), "{place}: {}", result.stdout());
        }
    }
}

/// The example only redacts strings.
#[test]
fn unredactable_output_is_withheld() {
    for example in runnable(|heading| heading == REDACT) {
        let world = host();
        let hook = example
            .hook(&world)
            .with_on_failure(FailurePolicy::Withhold);
        world.add(hook);
        let event = HookEvent::tool_post_execute("bash", json!({}), json!({"key": "sk-123"}));
        let output = world.outcome(&event).updated_output().unwrap();
        assert!(output.as_str().unwrap().contains("withheld"), "{output}");
    }
}
