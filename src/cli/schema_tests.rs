//! The schemas in `schemas/` are those of the structs that the commands print.

use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::shape_tests::Validate;
use super::{error, events, fire, list, test};

/// No object has other keys.
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

#[test]
fn the_schemas_are_those_of_the_structs() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let schemas = [
        schema_of::<error::ForPrograms<'_>>(),
        schema_of::<events::Report<'_>>(),
        schema_of::<fire::Report<'_>>(),
        schema_of::<fire::DryRun<'_>>(),
        schema_of::<fire::OfOtherTool>(),
        schema_of::<list::Report<'_>>(),
        schema_of::<test::Report>(),
        schema_of::<Validate>(),
    ];
    assert_eq!(
        std::fs::read_dir(&directory).unwrap().count(),
        schemas.len()
    );
    for (name, schema) in schemas {
        let path = directory.join(format!("{name}.schema.json"));
        let text = format!("{schema:#}\n");
        if std::env::var_os("FORGE_HOOKS_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            text == expected,
            "{name}: FORGE_HOOKS_BLESS=1 writes it again"
        );
    }
}
