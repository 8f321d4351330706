//! Finds the text of a tool's output, which agents wrap in forms of their own.
//!
//! Knows forms, not tools.

use serde_json::{Value, json};

/// A form of an output.
enum Form {
    Text,
    /// The standard output and standard error of a shell.
    Streams,
    /// The text is this member.
    Member(&'static str),
    /// The content of a file.
    File,
    /// The matching lines of a search.
    Lines,
    /// The names of files that a search returns.
    Names,
    /// One text for the model, and one for the user.
    Displayed,
    /// A list of blocks with texts, as MCP servers return it.
    Blocks,
    /// A list of blocks in this member.
    Content,
}

fn form(output: &Value) -> Option<Form> {
    let is_text = |key: &str| output[key].is_string();
    // The model gets this in place of the text.
    if !output["structuredContent"].is_null() {
        return None;
    }
    let mut members = ["result", "text_result_for_llm"].into_iter();
    if let Some(key) = members.find(|key| is_text(key) && !is_text("stdout")) {
        return Some(Form::Member(key));
    }
    let blocks = output.get("content").unwrap_or(output).as_array();
    let is_block = |block: &Value| block["text"].is_string();
    let are_blocks = blocks.is_some_and(|all| !all.is_empty() && all.iter().all(is_block));
    Some(match output {
        Value::String(_) => Form::Text,
        _ if is_text("stdout") => Form::Streams,
        _ if output["file"]["content"].is_string() => Form::File,
        _ if output["filenames"].is_array() && is_text("content") => Form::Lines,
        _ if output["filenames"].is_array() => Form::Names,
        _ if output.get("llmContent").is_some() => Form::Displayed,
        Value::Array(_) if are_blocks => Form::Blocks,
        _ if are_blocks => Form::Content,
        _ => return None,
    })
}

/// Returns the text of an output; none if its form is not known.
pub(super) fn text(output: &Value) -> Option<String> {
    let member = |key: &str| output[key].as_str().map(str::to_owned);
    match form(output)? {
        Form::Text => output.as_str().map(str::to_owned),
        Form::Streams => {
            let texts = [output["stdout"].as_str(), output["stderr"].as_str()];
            let texts = texts.into_iter().flatten().filter(|text| !text.is_empty());
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        Form::Member(key) => member(key),
        Form::File => output["file"]["content"].as_str().map(str::to_owned),
        Form::Lines => member("content"),
        Form::Names => joined(output["filenames"].as_array()?, Value::as_str),
        Form::Displayed => text(&output["llmContent"]),
        Form::Blocks => joined(output.as_array()?, |block| block["text"].as_str()),
        Form::Content => joined(output["content"].as_array()?, |block| {
            block["text"].as_str()
        }),
    }
}

/// Returns the lines of which each has a text.
fn joined<'a>(values: &'a [Value], text: impl Fn(&'a Value) -> Option<&'a str>) -> Option<String> {
    let texts: Option<Vec<_>> = values.iter().map(text).collect();
    Some(texts?.join("\n"))
}

/// Returns the output with another text; none if its form is not known.
pub(super) fn with_text(output: &Value, text: &str) -> Option<Value> {
    let whole = self::text(output)?;
    let mut changed = output.clone();
    let blocks = || json!([{"type": "text", "text": text}]);
    match form(output)? {
        Form::Text => changed = text.into(),
        Form::Streams => {
            changed["stdout"] = text.into();
            changed["stderr"] = "".into();
            if let Some(members) = changed.as_object_mut() {
                // These members lead to the whole output.
                members.remove("persistedOutputPath");
                members.remove("persistedOutputSize");
            }
        }
        Form::Member(key) => changed[key] = text.into(),
        Form::File => changed["file"]["content"] = text.into(),
        Form::Lines => {
            changed["filenames"] = json!([]);
            changed["content"] = text.into();
        }
        Form::Names => changed["filenames"] = json!([text]),
        Form::Displayed => {
            changed["llmContent"] = text.into();
            // The text for the user is often a part of the same text, else a few words about it.
            let display = output["returnDisplay"].as_str();
            if display.is_some_and(|display| whole.contains(display.trim())) {
                changed["returnDisplay"] = text.into();
            }
        }
        Form::Blocks => changed = blocks(),
        Form::Content => changed["content"] = blocks(),
    }
    Some(changed)
}

/// Returns a text in place of the output of an MCP server that has more than texts, such as images; none if it is no such output.
pub(super) fn in_place_of_blocks(output: &Value, text: &str) -> Option<Value> {
    let block = json!([{"type": "text", "text": text}]);
    let are_blocks = |value: &Value| {
        let blocks = value.as_array().filter(|all| !all.is_empty());
        blocks.is_some_and(|all| all.iter().all(|block| block["type"].is_string()))
    };
    if are_blocks(output) {
        Some(block)
    } else if are_blocks(&output["content"]) {
        Some(json!({"content": block}))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_replaces_more_than_texts() {
        let block = json!([{"type": "text", "text": "b"}]);
        let image = json!({"type": "image", "data": "x"});
        let text = json!({"type": "text", "text": "a"});
        for (output, changed) in [
            (json!([text, image]), Some(block.clone())),
            (json!([image]), Some(block.clone())),
            (
                json!({"content": [text], "structuredContent": {"a": 1}}),
                Some(json!({"content": block})),
            ),
            (json!([]), None),
            (json!([1]), None),
            (json!({"mode": "content"}), None),
        ] {
            assert_eq!(in_place_of_blocks(&output, "b"), changed, "{output}");
        }
    }

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
                json!({"result_type": "success", "text_result_for_llm": "a"}),
                "a",
                json!({"result_type": "success", "text_result_for_llm": "b"}),
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
                json!({"llmContent": "b", "returnDisplay": "b"}),
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
