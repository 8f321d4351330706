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
    if let Some(text) = output["file"]["content"].as_str() {
        return Some(text.to_owned());
    }
    if let Some(names) = output["filenames"].as_array() {
        let text = output["content"].as_str().map(str::to_owned);
        return text.or_else(|| joined(names, Value::as_str));
    }
    if let Some(inner) = output.get("llmContent") {
        return text(inner);
    }
    let blocks = output.get("content").unwrap_or(output).as_array()?;
    let text = joined(blocks, |block| block["text"].as_str());
    text.filter(|_| !blocks.is_empty())
}

/// Returns the lines of which each has a text.
fn joined<'a>(values: &'a [Value], text: impl Fn(&'a Value) -> Option<&'a str>) -> Option<String> {
    let texts: Option<Vec<_>> = values.iter().map(text).collect();
    Some(texts?.join("\n"))
}

/// Returns the output with another text; none if its form is not known.
pub(super) fn with_text(output: &Value, text: &str) -> Option<Value> {
    self::text(output)?;
    let mut changed = output.clone();
    if output.is_string() {
        return Some(text.into());
    }
    if output["stdout"].is_string() {
        changed["stdout"] = text.into();
        changed["stderr"] = "".into();
    } else if output["file"]["content"].is_string() {
        changed["file"]["content"] = text.into();
    } else if output["filenames"].is_array() && output["content"].is_string() {
        changed["filenames"] = json!([]);
        changed["content"] = text.into();
    } else if output["filenames"].is_array() {
        changed["filenames"] = json!([text]);
    } else if output.get("llmContent").is_some() {
        changed["llmContent"] = text.into();
    } else {
        let blocks = json!([{"type": "text", "text": text}]);
        match changed.get_mut("content") {
            Some(content) => *content = blocks,
            None => changed = blocks,
        }
    }
    Some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_and_put_back() {
        for (output, text_of, changed) in [
            (json!("a"), "a", json!("b")),
            (
                json!({"stdout": "a", "stderr": "e", "x": 1}),
                "a\ne",
                json!({"stdout": "b", "stderr": "", "x": 1}),
            ),
            (
                json!({"file": {"content": "a", "n": 1}}),
                "a",
                json!({"file": {"content": "b", "n": 1}}),
            ),
            (
                json!({"mode": "content", "filenames": [], "content": "a"}),
                "a",
                json!({"mode": "content", "filenames": [], "content": "b"}),
            ),
            (
                json!({"filenames": ["a", "c"], "n": 2}),
                "a\nc",
                json!({"filenames": ["b"], "n": 2}),
            ),
            (
                json!({"llmContent": "a", "returnDisplay": "a"}),
                "a",
                json!({"llmContent": "b", "returnDisplay": "a"}),
            ),
            (
                json!({"llmContent": [{"text": "a"}]}),
                "a",
                json!({"llmContent": "b"}),
            ),
            (
                json!([{"type": "text", "text": "a"}, {"text": "c"}]),
                "a\nc",
                json!([{"type": "text", "text": "b"}]),
            ),
            (
                json!({"content": [{"text": "a"}], "n": 1}),
                "a",
                json!({"content": [{"type": "text", "text": "b"}], "n": 1}),
            ),
        ] {
            assert_eq!(text(&output).as_deref(), Some(text_of), "{output}");
            assert_eq!(with_text(&output, "b"), Some(changed), "{output}");
        }
        for output in [
            json!(null),
            json!(1),
            json!({}),
            json!([]),
            json!([{"type": "image"}]),
            json!({"content": "a"}),
        ] {
            assert_eq!(
                (text(&output), with_text(&output, "b")),
                (None, None),
                "{output}"
            );
        }
    }
}
