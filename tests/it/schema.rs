//! Checks the JSON Schema of hooks.json with a validator that is independent of this crate.

use std::path::Path;

use forge_hooks::{AppProfile, HOOK_TEMPLATES, Hook, HookConfig, templates};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::{World, nowhere};

fn validator() -> Validator {
    jsonschema::draft202012::new(&nowhere().load().json_schema()).unwrap()
}

#[test]
fn the_published_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks.schema.json");
    let schema = nowhere().load().json_schema();
    if std::env::var_os("FORGE_HOOKS_BLESS").is_some() {
        std::fs::write(&path, format!("{schema:#}\n")).unwrap();
    }
    let published: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let again = "FORGE_HOOKS_BLESS=1 lists the events again";
    assert_eq!(published, schema, "{again}");
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
    let saved = std::fs::read(config.global_path().unwrap()).unwrap();
    let saved: Value = serde_json::from_slice(&saved).unwrap();
    assert!(validator.is_valid(&saved), "{saved}");
}

/// Schema and reader accept and reject the same texts.
#[test]
fn the_schema_and_the_reader_agree() {
    let validator = validator();
    for row in include_str!("schema_cases.txt").lines() {
        let (expected, entry) = row.split_once(' ').unwrap();
        let entry: Value = serde_json::from_str(entry).unwrap();
        let is_valid = validator.is_valid(&json!({"hooks": [entry]}));
        let validity = (is_valid, Hook::from_json(&entry).is_ok());
        assert_eq!(
            validity,
            (expected == "valid", expected == "valid"),
            "{row}"
        );
    }
    // An editor shows keys that are mistyped.
    let entry = json!({"event": "*", "command": "x", "timout": 5});
    for file in [json!({"hook": []}), json!({"hooks": [entry]})] {
        assert!(!validator.is_valid(&file), "{file}");
    }
}
