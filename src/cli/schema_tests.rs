//! The schemas in `schemas/` are those of the structs that the commands print.

use std::path::Path;

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use super::serve::message;
use super::shape_tests::Check;
use super::{events, fire, list, replay};

/// Forbids other keys in all objects.
fn close(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if object.contains_key("properties") {
                object.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            object.values_mut().for_each(close);
        }
        Value::Array(values) => values.iter_mut().for_each(close),
        _ => {}
    }
}

fn schema_of<T: JsonSchema>() -> (String, Value) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema: Schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    close(&mut value);
    (T::schema_name().into_owned(), value)
}

/// Returns the schema of a line that is one of these messages.
fn schema_of_lines(
    name: &str,
    about: &str,
    lines: &[Value],
    mut generator: SchemaGenerator,
) -> (String, Value) {
    let mut value = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        "description": about,
        "anyOf": lines,
        "$defs": generator.take_definitions(true),
    });
    close(&mut value);
    (name.to_owned(), value)
}

fn line(members: &Value, required: &[&str]) -> Value {
    let mut line = json!({"type": "object", "properties": members, "required": required});
    line["properties"]["jsonrpc"] = json!({"const": "2.0"});
    line
}

/// Returns the schema of a line that a host writes to `serve`.
fn input_of_serve() -> (String, Value) {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let mut generator = settings.into_generator();
    let id = generator.subschema_for::<message::Id>();
    let nothing = json!({"type": "object"});
    let initialize = json!(generator.subschema_for::<message::Initialize>());
    let fire = json!(generator.subschema_for::<message::Fire>());
    let approve = json!(generator.subschema_for::<message::Approve>());
    let shutdown = json!(generator.subschema_for::<message::Shutdown>());
    let requests = [
        ("initialize", initialize),
        ("fire", fire),
        ("approvals", nothing.clone()),
        ("approve", approve),
        ("revoke", nothing.clone()),
        ("reload", nothing.clone()),
        ("events", nothing),
        ("shutdown", shutdown),
    ];
    let lines = requests.map(|(method, params)| {
        let members = json!({"id": id, "method": {"const": method}, "params": params});
        match method {
            "fire" | "approve" | "shutdown" => {
                line(&members, &["jsonrpc", "id", "method", "params"])
            }
            _ => line(&members, &["jsonrpc", "id", "method"]),
        }
    });
    let cancel = generator.subschema_for::<message::Cancel>();
    let cancel = json!({"method": {"const": "$/cancelRequest"}, "params": cancel});
    let mut lines = lines.to_vec();
    lines.push(line(&cancel, &["jsonrpc", "method", "params"]));
    let about = "A line that a host writes to `forge-hooks serve`.";
    schema_of_lines("serve-input", about, &lines, generator)
}

/// Returns the schema of a line that `serve` writes.
fn output_of_serve() -> (String, Value) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut generator = settings.into_generator();
    let id = generator.subschema_for::<message::Id>();
    let results = [
        generator.subschema_for::<message::Initialized<'_>>(),
        generator.subschema_for::<fire::FireOutput<'_>>(),
        generator.subschema_for::<Vec<message::Block>>(),
        generator.subschema_for::<message::Reloaded<'_>>(),
        generator.subschema_for::<events::EventsOutput<'_>>(),
        generator.subschema_for::<()>(),
    ];
    let result = json!({"id": id, "result": {"anyOf": results}});
    let error = generator.subschema_for::<message::Refusal>();
    let error = json!({"id": {"anyOf": [id, {"type": "null"}]}, "error": error});
    let of_hook = generator.subschema_for::<message::OfHook<'_>>();
    let methods = json!({"enum": ["hook/started", "hook/finished"]});
    let of_hook = json!({"method": methods, "params": of_hook});
    let lost = generator.subschema_for::<message::OfLost>();
    let lost = json!({"method": {"const": "hook/lost"}, "params": lost});
    let report = generator.subschema_for::<Check>();
    let report = json!({"method": {"const": "report/changed"}, "params": report});
    let lines = [
        line(&result, &["jsonrpc", "id", "result"]),
        line(&error, &["jsonrpc", "id", "error"]),
        line(&of_hook, &["jsonrpc", "method", "params"]),
        line(&lost, &["jsonrpc", "method", "params"]),
        line(&report, &["jsonrpc", "method", "params"]),
    ];
    let about = "A line that `forge-hooks serve` writes.";
    schema_of_lines("serve-output", about, &lines, generator)
}

#[test]
fn the_schemas_are_those_of_the_structs() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let schemas = [
        schema_of::<fire::FireOutput<'_>>(),
        schema_of::<list::ListOutput<'_>>(),
        schema_of::<replay::ReplayOutput>(),
        schema_of::<Check>(),
        input_of_serve(),
        output_of_serve(),
    ];
    let files = std::fs::read_dir(&directory).unwrap().count();
    assert_eq!(files, schemas.len());
    for (name, schema) in schemas {
        let path = directory.join(format!("{name}.schema.json"));
        let text = format!("{schema:#}\n");
        if std::env::var_os("FORGE_HOOKS_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        let is_current = text == expected;
        assert!(is_current, "{name}: FORGE_HOOKS_BLESS=1 writes it again");
    }
}
