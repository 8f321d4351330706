//! The answer of another tool's hook: which keys of its JSON count, and what each means, by the tool's table.
//!
//! Knows neither exit codes nor plain text, and no particular tool.

use serde_json::{Map, Value};

use super::members::Members;
use super::tool::{Answers, Effect, Event, Reading, Specific, Tool, has, pairs};
use crate::hook::{Decision, HookOutput};

/// Reads an answer. The error is the reason why the tool cannot use it.
pub(super) fn answer(
    tool: &Tool,
    event: &Event,
    object: &Map<String, Value>,
) -> Result<HookOutput, String> {
    let answers = &tool.answers;
    let reading = answers.reading;
    let members = Members::new(object, reading == Reading::Tolerant);
    members.check_keys(answers.known)?;
    members.flag("suppressOutput")?;
    let reason = members.nonblank("reason")?;
    let mut output = HookOutput {
        system_message: members.nonblank("systemMessage")?,
        ..HookOutput::default()
    };
    let decision = members.choice("decision", answers.decisions);
    if reading != Reading::Tolerant || event.effect != Effect::Nothing {
        output.stops_turn = members.flag("continue")? == Some(false);
        output.stop_reason = members.nonblank("stopReason")?;
        if output.stops_turn && reading == Reading::Tolerant {
            output.stop_reason = output.stop_reason.or_else(|| reason.clone());
        }
        let has_own = |it: &Specific| it.event == event.name && !it.within.is_empty();
        match decision? {
            Some(decision) if !answers.specific.iter().any(has_own) => {
                decide(&mut output, reading, event, decision, reason.clone());
            }
            _ => {}
        }
    }
    if output.stops_turn && reading == Reading::Strict && event.effect == Effect::FeedsBack {
        let stop_reason = output.stop_reason.clone();
        output.feedback = reason.clone().or(stop_reason);
    }
    if let Some(specific) = members.object("hookSpecificOutput")? {
        add_specific(&mut output, answers, event, specific, reason)?;
    }
    check(answers, event, members)?;
    output.only_stops = output.stops_turn && !answers.stop_denies;
    Ok(output)
}

fn check(answers: &Answers, event: &Event, members: Members<'_>) -> Result<(), String> {
    let is_set = |word| pairs(word).any(|(key, value)| members.has_anywhere(key, value));
    for (events, found, needed) in answers.refused {
        let is_meant = events.is_empty() || has(events, event.name);
        if !is_meant || !is_set(found) {
            continue;
        }
        let (key, word) = found.split_once('=').unwrap_or((found, ""));
        let shown = match word {
            "" | "true" | "false" => key,
            word => word,
        };
        if needed.is_empty() {
            return Err(format!("`{shown}` is not supported on {}", event.name));
        }
        if !is_set(needed) {
            return Err(format!("`{shown}` needs `{needed}`"));
        }
    }
    Ok(())
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

fn add_specific(
    output: &mut HookOutput,
    answers: &Answers,
    event: &Event,
    specific: Members<'_>,
    reason: Option<String>,
) -> Result<(), String> {
    let expected = event.name;
    match specific.text("hookEventName")? {
        _ if answers.reading == Reading::Tolerant => {}
        None => {
            return Err(format!(
                "`hookSpecificOutput` lacks `\"hookEventName\": \"{expected}\"`"
            ));
        }
        Some(name) if name != expected && answers.reading == Reading::Typed => {
            let name: String = name.chars().take(40).collect();
            return Err(format!(
                "`hookEventName`: expected `{expected}`, found `{name}`"
            ));
        }
        Some(_) => {}
    }
    output.additional_context = specific.nonblank("additionalContext")?;
    let mut rows = answers.specific.iter();
    let Some(row) = rows.find(|row| row.event == expected) else {
        return Ok(());
    };
    let own = [row.decision, row.reason, row.new_input];
    if own.iter().any(|key| specific.get(key).is_some()) {
        specific.check_keys(row.known)?;
    }
    let members = match row.within {
        "" => specific,
        within => match specific.object(within)? {
            Some(inner) => inner,
            None => return Ok(()),
        },
    };
    add_row(output, row, members, reason)
}

fn add_row(
    output: &mut HookOutput,
    row: &Specific,
    members: Members<'_>,
    reason: Option<String>,
) -> Result<(), String> {
    match members.choice(row.decision, row.words)? {
        // If `decision` differs, the stricter one counts.
        Some(inner) if output.decision.is_none_or(|it| it.stricter(inner) == inner) => {
            output.decision = Some(inner);
            let own = members.nonblank(row.reason)?.or(reason);
            // The message of a request is that of its denial.
            output.reason = own.filter(|_| row.within.is_empty() || inner == Decision::Block);
            let interrupts = members.flag("interrupt")? == Some(true);
            output.stops_turn |= interrupts && inner == Decision::Block;
        }
        None if !row.within.is_empty() => {
            return Err(format!("`{}` lacks `{}`", row.within, row.decision));
        }
        _ => {}
    }
    for key in [row.new_input, row.merged_input] {
        if let Some(input) = members.object(key)? {
            output.updated_input = Some(input.map.clone());
            output.replaces_input = key == row.new_input;
        }
    }
    let mut new_outputs = pairs(row.new_output).filter_map(|(key, _)| members.get(key));
    output.updated_output = new_outputs.next().cloned().or(output.updated_output.take());
    Ok(())
}
