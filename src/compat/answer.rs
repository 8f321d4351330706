//! The answer of another tool's hook: which keys of its JSON count, and what each means, by the tool's tables.
//!
//! Knows neither exit codes nor plain text, and no particular tool.

use std::cell::OnceCell;

use serde_json::{Map, Value};

use super::members::{Members, beginning};
use super::tool::{Effect, Event, Reading, Tool, Words, has, value_of};
use crate::hook::{Answer, Decision, HookOutput};

/// Reads an answer. It is invalid if the tool cannot use it.
pub(super) fn answer(tool: &Tool, event: &Event, object: &Map<String, Value>) -> Answer {
    let fault = OnceCell::new();
    let members = Members {
        map: object,
        fault: &fault,
    };
    let output = output(tool, event, members);
    let notes = members.not_applied(tool.not_applied);
    let fault = fault.into_inner();
    let invalid = fault.filter(|_| tool.reading != Reading::Tolerant);
    Answer {
        output: Some(output).filter(|_| invalid.is_none()),
        replaces_exit_code: invalid.is_none(),
        invalid,
        notes,
    }
}

fn output(tool: &Tool, event: &Event, members: Members<'_>) -> HookOutput {
    members.check_keys(tool.known);
    members.flag("suppressOutput");
    let is_tolerant = tool.reading == Reading::Tolerant;
    let reason = members.nonblank("reason");
    let mut output = HookOutput {
        system_message: members.nonblank("systemMessage"),
        ..HookOutput::default()
    };
    let row = row_of(tool, event);
    if !is_tolerant || event.effect != Effect::Nothing {
        output.stops_turn = members.flag("continue") == Some(false);
        let stop_reason = members.nonblank("stopReason");
        let other = reason.clone().filter(|_| is_tolerant && output.stops_turn);
        output.stop_reason = stop_reason.or(other);
        let decision = members.choice("decision", tool.decisions);
        if let Some(word) = decision.filter(|_| value_of(row, "within").is_none()) {
            let decision = meaning(word);
            decide(&mut output, tool.reading, event, decision, reason.clone());
        }
    }
    if output.stops_turn && tool.reading == Reading::Strict && event.effect == Effect::FeedsBack {
        let stop_reason = output.stop_reason.clone();
        output.feedback = reason.clone().or(stop_reason);
    }
    if let Some(specific) = members.object("hookSpecificOutput") {
        check_event_name(specific, tool, event);
        output.additional_context = specific.nonblank("additionalContext");
        add_specific(&mut output, row, specific, reason);
    }
    check_refused(tool, event, members);
    output.only_stops = output.stops_turn && !tool.stop_denies;
    output
}

/// Returns the names of the keys that `hookSpecificOutput` has on this event.
fn row_of(tool: &Tool, event: &Event) -> Words {
    let mut rows = tool.specific.lines().filter_map(|row| row.split_once(' '));
    rows.find(|(name, _)| *name == event.name)
        .map_or("", |it| it.1)
}

fn meaning(word: &str) -> Decision {
    match word {
        "allow" | "approve" => Decision::Allow,
        "ask" => Decision::Ask,
        // The call would wait for another program: no host of this crate lets it.
        "defer" => Decision::Ask,
        _ => Decision::Block,
    }
}

/// Adds a decision as its event understands it. After a tool, it is too late to block.
pub(super) fn decide(
    output: &mut HookOutput,
    reading: Reading,
    event: &Event,
    decision: Decision,
    reason: Option<String>,
) {
    let is_tolerant = reading == Reading::Tolerant;
    match (decision, event.effect) {
        (Decision::Block, Effect::Blocks) => {
            output.decision = Some(decision);
            output.reason = reason;
        }
        (Decision::Block, Effect::FeedsBack) => {
            if is_tolerant {
                output.updated_output = reason.clone().map(Value::from);
            }
            output.feedback = reason;
        }
        (Decision::Block, Effect::Nothing) => {}
        _ if is_tolerant || event.is_of_tool() && event.effect == Effect::Blocks => {
            output.decision = Some(decision);
            output.reason = reason.filter(|_| decision == Decision::Ask);
        }
        _ => {}
    }
}

fn check_event_name(specific: Members<'_>, tool: &Tool, event: &Event) {
    let expected = event.name;
    specific.blame(match specific.text("hookEventName") {
        None => format!("`hookSpecificOutput` lacks `\"hookEventName\": \"{expected}\"`"),
        Some(name) if name != expected && tool.reading == Reading::Typed => {
            let name = beginning(name);
            format!("`hookEventName`: expected `{expected}`, found `{name}`")
        }
        Some(_) => return,
    });
}

fn add_specific(
    output: &mut HookOutput,
    row: Words,
    specific: Members<'_>,
    reason: Option<String>,
) {
    let name = |key| value_of(row, key);
    let own = ["decision", "reason", "input"].map(name);
    let mut own = own.into_iter().flatten();
    if own.any(|key| specific.get(key).is_some()) {
        specific.check_keys(name("known").unwrap_or_default());
    }
    let within = name("within");
    let Some(members) = within.map_or(Some(specific), |key| specific.object(key)) else {
        return;
    };
    if let Some(key) = name("decision") {
        let decision = members.choice(key, name("words").unwrap_or_default());
        match (decision.map(meaning), within) {
            // If `decision` differs, the stricter one counts.
            (Some(inner), _) if output.decision.is_none_or(|it| it.stricter(inner) == inner) => {
                output.decision = Some(inner);
                let own = name("reason").and_then(|key| members.nonblank(key));
                // The message of a request is that of its denial.
                let is_told = within.is_none() || inner == Decision::Block;
                output.reason = own.or(reason).filter(|_| is_told);
                let interrupts = members.flag("interrupt") == Some(true);
                output.stops_turn |= interrupts && inner == Decision::Block;
            }
            (None, Some(within)) => members.blame(format!("`{within}` lacks `{key}`")),
            _ => {}
        }
    }
    for key in ["input", "merged"] {
        if let Some(input) = name(key).and_then(|key| members.object(key)) {
            output.updated_input = Some(input.map.clone());
            output.replaces_input = key == "input";
        }
    }
    let new_outputs = name("output").into_iter().flat_map(|keys| keys.split(','));
    let mut new_outputs = new_outputs.filter_map(|key| members.get(key));
    output.updated_output = new_outputs.next().cloned().or(output.updated_output.take());
}

fn check_refused(tool: &Tool, event: &Event, members: Members<'_>) {
    for row in tool.refused.lines() {
        let mut words = row.splitn(3, ' ');
        let mut next = || words.next().unwrap_or_default();
        let (found, needed, events) = (next(), next(), next());
        let is_meant = events.is_empty() || has(events, event.name);
        if !is_meant || !members.has_anywhere(found) {
            continue;
        }
        let shown = match found.split_once('=') {
            None => found,
            Some((key, "true" | "false")) => key,
            Some((_, word)) => word,
        };
        if needed == "-" {
            members.blame(format!("`{shown}` is not supported on {}", event.name));
        } else if !members.has_anywhere(needed) {
            members.blame(format!("`{shown}` needs `{needed}`"));
        }
    }
}
