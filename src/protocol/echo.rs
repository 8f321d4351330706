//! A safety net for hooks that print their input: an answer that allows, changes or adds something is refused if the event
//! contains the same text.
//!
//! It catches a hook that prints its input. It guarantees nothing: there are more ways to change a text than can be listed,
//! so the effects that an answer may have are in the hook's entry.

use serde_json::{Map, Value};

use super::keys::{Scope, scope_within};
use crate::events::{AGENT, HookEvent};

/// The member in which an agent proposes rules with a question, in the words of an answer.
const SUGGESTIONS: &str = "permission_suggestions";

/// The members of a suggestion whose values an agent chooses. The others quote the call.
const OF_AGENT: [&str; 4] = ["type", "behavior", "mode", "destination"];

/// Checks that the event contains no member of the answer which does more than stop something (`widens`). The event contains
/// a member if the letters of its name and its value follow each other in the event. Only letters of ASCII count, in any
/// case. Takes linear time: an answer has few members that are read.
pub(crate) fn check_echo(
    event: &HookEvent,
    answer: &Map<String, Value>,
    widens: impl Fn(&str, &Value) -> bool,
) -> Result<(), String> {
    let mut members = Vec::new();
    add_widening(answer, Scope::Top, &widens, &mut members);
    if members.is_empty() {
        return Ok(());
    }
    let mut event_letters = String::new();
    for text in [&event.tool_name, &event.session_id].into_iter().flatten() {
        add_letters(text, &mut event_letters);
    }
    let context = event.context().map(|context| context.fields());
    for fields in [Some(&event.data), context].into_iter().flatten() {
        add_fields(fields, &mut event_letters);
    }
    for (name, letters) in members {
        if event_letters.contains(&letters) {
            return Err(format!(
                "the event itself says so, at `{name}`: a hook that prints the event does not answer with it; write \
                 logs to standard error"
            ));
        }
    }
    Ok(())
}

/// Adds the members that widen, each with its name and its letters. Searches only the scopes of an answer that are read.
fn add_widening<'a>(
    object: &'a Map<String, Value>,
    scope: Scope,
    widens: &impl Fn(&str, &Value) -> bool,
    members: &mut Vec<(&'a str, String)>,
) {
    for (name, value) in object {
        if widens(name, value) {
            let mut letters = String::new();
            add_member(name, value, &mut letters);
            members.push((name, letters));
        } else if let Value::Object(inner) = value
            && let Some(scope) = scope_within(name, scope)
        {
            add_widening(inner, scope, widens, members);
        }
    }
}

/// Adds the letters of the data of an event.
fn add_fields(fields: &Map<String, Value>, letters: &mut String) {
    for (name, value) in fields {
        match value {
            Value::Array(items) if name == SUGGESTIONS => {
                items.iter().for_each(|item| add_suggestion(item, letters));
            }
            Value::Object(inner) if name == AGENT => add_fields(inner, letters),
            _ => add_member(name, value, letters),
        }
    }
}

/// Adds what a suggestion quotes of the call.
fn add_suggestion(suggestion: &Value, letters: &mut String) {
    let Value::Object(members) = suggestion else {
        return add_value(suggestion, letters);
    };
    let is_of_agent = |name: &str, value: &Value| {
        // A text with other characters than those of a word is none of the agent's.
        let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic());
        OF_AGENT.contains(&name) && value.as_str().is_some_and(is_word)
    };
    for (name, value) in members {
        if !is_of_agent(name, value) {
            add_member(name, value, letters);
        }
    }
}

fn add_member(name: &str, value: &Value, letters: &mut String) {
    add_letters(name, letters);
    add_value(value, letters);
}

fn add_value(value: &Value, letters: &mut String) {
    match value {
        Value::String(text) => add_letters(text, letters),
        Value::Bool(flag) => add_letters(if *flag { "true" } else { "false" }, letters),
        Value::Array(items) => items.iter().for_each(|item| add_value(item, letters)),
        Value::Object(members) => {
            members
                .iter()
                .for_each(|(name, value)| add_member(name, value, letters));
        }
        Value::Null | Value::Number(_) => {}
    }
}

fn add_letters(text: &str, letters: &mut String) {
    let ascii = text.chars().filter(char::is_ascii_alphabetic);
    letters.extend(ascii.map(|c| c.to_ascii_lowercase()));
}
