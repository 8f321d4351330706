//! Checks the JSON Schema of hooks.json with a validator that is independent of this crate.

use std::path::Path;

use forge_hooks::{AppProfile, HOOK_TEMPLATES, Hook, HookConfig, templates};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::World;

fn validator() -> Validator {
    jsonschema::draft202012::new(&HookConfig::json_schema()).unwrap()
}

#[test]
fn the_published_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks.schema.json");
    let schema = HookConfig::json_schema();
    if std::env::var_os("FORGE_HOOKS_BLESS").is_some() {
        std::fs::write(&path, format!("{schema:#}\n")).unwrap();
    }
    let published: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(
        published, schema,
        "FORGE_HOOKS_BLESS=1 lists the events again"
    );
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
}

/// The files that the documents show.
fn examples() -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for document in ["README.md", "docs/protocol.md", "src/lib.rs"] {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let text = text.replace("\r\n", "\n").replace("\n//! ", "\n");
        let blocks = text.split("```json\n").skip(1);
        let blocks = blocks.map(|rest| rest.split("```").next().unwrap());
        let values = blocks.map(|block| serde_json::from_str::<Value>(block).expect(block));
        found.extend(values.filter(|value| value.get("hooks").is_some()));
    }
    found
}

#[test]
fn examples_templates_and_saves_are_valid() {
    let validator = validator();
    let examples = examples();
    assert!(examples.len() >= 3, "{examples:?}");
    for example in examples {
        assert!(validator.is_valid(&example), "{example:#}");
    }
    let world = World::new();
    let config = HookConfig::default().with_config_home(world.path("config"));
    let mut hooks: Vec<Hook> = HOOK_TEMPLATES.values().cloned().collect();
    hooks.extend(templates::for_profile(&AppProfile::new("x")).into_values());
    config.save_global(&hooks).unwrap();
    let saved = std::fs::read_to_string(config.global_path().unwrap()).unwrap();
    assert!(
        validator.is_valid(&serde_json::from_str(&saved).unwrap()),
        "{saved}"
    );
}

/// Schema and reader accept and reject the same texts.
#[test]
fn the_schema_and_the_reader_agree() {
    let validator = validator();
    let valid = [
        json!({"event": "*", "command": "x"}),
        json!({"event": "*", "args": ["x", ""]}),
        json!({"event": "a:b", "command": "x", "shell": "bash", "timeout": 0.001, "env": {"A": ""}}),
        json!({"event": "a:b", "command": "x", "on_failure": "continue", "stdin": "none", "reads": "stdin"}),
        json!({"event": "*", "command": "x", "background": true, "enabled": false, "comment": ["a"], "_x": 1}),
        json!({"event": "*", "command": "x", "when": {"": "x", "/a~0~1/0": ["x", "y*"], "/b": {"regex": "x"}}}),
        json!({"event": "*", "command": "x", "name": "n", "description": "d", "working_dir": "w", "timeout": 86400}),
    ];
    let invalid = [
        json!(7),
        json!({"command": "x"}),
        json!({"event": "*"}),
        json!({"event": "", "command": "x"}),
        json!({"event": "*", "command": " "}),
        json!({"event": "*", "command": "x", "args": ["x"]}),
        json!({"event": "*", "args": []}),
        json!({"event": "*", "args": ["x"], "shell": "sh"}),
        json!({"event": "*", "command": "x", "shell": "csh"}),
        json!({"event": "*", "command": "x", "timeout": 0}),
        json!({"event": "*", "command": "x", "timeout": 86401}),
        json!({"event": "*", "command": "x", "timeout": "5"}),
        json!({"event": "*", "command": "x", "env": {"A": 1}}),
        json!({"event": "*", "command": "x", "env": {"A=B": "1"}}),
        json!({"event": "*", "command": "x", "enabled": "no"}),
        json!({"event": "*", "command": "x", "when": "x"}),
        json!({"event": "*", "command": "x", "when": {"a": "x"}}),
        json!({"event": "*", "command": "x", "when": {"/a~": "x"}}),
        json!({"event": "*", "command": "x", "when": {"/a": 1}}),
        json!({"event": "*", "command": "x", "when": {"/a": []}}),
        json!({"event": "*", "command": "x", "when": {"/a": [1]}}),
        json!({"event": "*", "command": "x", "when": {"/a": {"regexp": "x"}}}),
        json!({"event": "*", "command": "x", "when": {"/a": {"regex": "x", "flags": "i"}}}),
        json!({"event": "*", "command": "x", "on_failure": "blok"}),
    ];
    for (entries, expected) in [(&valid[..], true), (&invalid[..], false)] {
        for entry in entries {
            let file = json!({"hooks": [entry]});
            assert_eq!(validator.is_valid(&file), expected, "{entry}");
            assert_eq!(Hook::from_json(entry).is_ok(), expected, "{entry}");
        }
    }
    assert!(
        !validator.is_valid(&json!({"hook": []})),
        "what was mistyped is shown in an editor"
    );
    assert!(!validator.is_valid(&json!({"hooks": [{"event": "*", "command": "x", "timout": 5}]})));
}
