//! Where the text of a tool's output stands, which agents wrap in forms of their own.
//!
//! Knows the forms, and no tool.

use serde_json::{Value, json};

/// Returns the text of an output; none if its form is not known.
pub(super) fn text(output: &Value) -> Option<String> {
    if let Some(text) = output.as_str() {
        return Some(text.to_owned());
    }
    if let Some(out) = output["stdout"].as_str() {
        let errors = output["stderr"].as_str().unwrap_or_default();
        let texts = [out, errors].into_iter().filter(|text| !text.is_empty());
        return Some(texts.collect::<Vec<_>>().join("\n"));
    }
    let member = output["file"]["content"]
        .as_str()
        .or(output["llmContent"].as_str());
    if let Some(text) = member {
        return Some(text.to_owned());
    }
    let blocks = output.get("content").unwrap_or(output).as_array()?;
    let texts: Option<Vec<_>> = blocks.iter().map(|block| block["text"].as_str()).collect();
    texts
        .filter(|texts| !texts.is_empty())
        .map(|texts| texts.join("\n"))
}

/// Returns the output with another text; none if its form is not known.
pub(super) fn with_text(output: &Value, text: &str) -> Option<Value> {
    let mut changed = output.clone();
    if output.is_string() {
        return Some(text.into());
    }
    if output["stdout"].is_string() {
        changed["stdout"] = text.into();
        changed["stderr"] = "".into();
        return Some(changed);
    }
    if output["file"]["content"].is_string() {
        changed["file"]["content"] = text.into();
        return Some(changed);
    }
    self::text(output)?;
    let blocks = json!([{"type": "text", "text": text}]);
    match output.get("content") {
        Some(_) => {
            changed["content"] = blocks;
            Some(changed)
        }
        None if output.is_array() => Some(blocks),
        None => None,
    }
}
