//! A byte order mark before a JSON text, and half of a surrogate pair in it: every text is read alike, whoever wrote it.

use forge_hooks::config::TrustPolicy;
use forge_hooks::{Decision, Hook, HookConfig, HookRegistry};

use crate::support::{World, blocking_event, hook};

/// As `json.dumps` in Python and `JSON.stringify` in JavaScript write a text that was cut within an emoji.
const ANSWER: &str = r#"{"decision": "block", "reason": "no \ud83d"}"#;

#[test]
fn an_answer_is_read() {
    let world = World::new();
    for before in ["", "\u{FEFF}", "\u{FEFF} \n"] {
        let result = world.run(
            hook("*", &world.says(&format!("{before}{ANSWER}"))),
            &blocking_event(),
        );
        assert_eq!(result.failure(), None, "{result:?}");
        assert_eq!(result.decision(), Decision::Block);
        assert_eq!(result.reason(), Some("no \u{FFFD}"));
    }
}

#[test]
fn an_answer_among_text_is_still_invalid() {
    let world = World::new();
    let result = world.run(
        hook("*", &world.says(&format!("log\n{ANSWER}"))),
        &blocking_event(),
    );
    let error = result.error().unwrap_or_default();
    assert!(
        error.contains("found `decision` (line 2, column"),
        "{result:?}"
    );
}

#[cfg(unix)]
#[test]
fn an_answer_of_a_kept_process_is_read() {
    let world = World::new();
    let program = r#"while IFS= read -r event; do
        id=${event##*\"id\":\"}
        printf '\357\273\277{"id":"%s","decision":"block","reason":"no \\ud83d"}\n' "${id%%\"*}"
    done"#;
    let result = world.run(hook("*", program).with_resident(), &blocking_event());
    assert_eq!(result.failure(), None, "{result:?}");
    assert_eq!(result.reason(), Some("no \u{FFFD}"));
}

#[test]
fn a_hooks_file_is_read_and_edited() {
    let world = World::new();
    let text = "\u{FEFF}{\"hooks\": [\n  {\"event\": \"*\", \"command\": \"true\", \"name\": \"a \\udc00\"}\n]}\n";
    world.write("home/src/forge/hooks.json", text);
    let registry = HookRegistry::new();
    let config = HookConfig::default().with_config_home(world.path("home"));
    let report = config.load_into(&registry, world.path("project"), TrustPolicy::Everything);
    assert!(report.problems.is_empty(), "{report}");
    assert_eq!(registry.hooks()[0].name(), Some("a \u{FFFD}"));
    let mut hooks = config.load_global();
    hooks.push(Hook::new("*", "false").unwrap());
    config.save_global(hooks).unwrap();
    let saved = world.read("home/src/forge/hooks.json");
    assert!(
        saved.starts_with("\u{FEFF}{\"hooks\": [\n  {\"event\""),
        "{saved}"
    );
    assert_eq!(config.load_global().len(), 2, "{saved}");
}
