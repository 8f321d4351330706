//! Tests that each agent reads in its answers what hooks have decided.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::decision::CallDecision;
use crate::agents::{Agent, BRIDGED, CLAUDE, CODEX, COPILOT, Effect, Event, GEMINI, KIMI, QWEN};
use crate::compat;
use crate::entry::Reading;
use crate::{Decision, HookOutput};

/// An agent as docs/agents.md describes it. The rows of `src/agents/` do not count here, since they are tested.
struct Expected {
    agent: &'static Agent,
    /// The event before a tool, if the agent can ask its user there.
    asks: Option<&'static str>,
    /// True if an explicit yes before a tool is not an empty answer.
    takes_yes: bool,
    /// True if a tool runs with the changed input; otherwise the change blocks.
    takes_input: bool,
    /// The events at which a message does not reach the user.
    without_message: &'static [&'static str],
    /// The events that a hook that ends the turn blocks, since the turn cannot end there. None: those of the agent's row.
    blocked_for_stop: Option<&'static [&'static str]>,
    /// Returns whether a turn can end at the event.
    ends_turn: fn(&Event) -> bool,
    /// True if a block is JSON, which can also end the turn.
    blocks_in_json: bool,
}

/// The agents whose answers have a form of their own. Others read exit code 2, and a text or one JSON object.
const EXPECTED: [Expected; 5] = [
    Expected {
        agent: CLAUDE,
        asks: Some("PreToolUse"),
        takes_yes: true,
        takes_input: true,
        without_message: &[],
        blocked_for_stop: Some(&["PreToolUse"]),
        ends_turn: |event| !event.is_stop() && event.name != "PreToolUse",
        blocks_in_json: false,
    },
    Expected {
        agent: CODEX,
        asks: None,
        takes_yes: false,
        takes_input: false,
        without_message: &[],
        blocked_for_stop: Some(&["PreToolUse", "PermissionRequest"]),
        ends_turn: |event| {
            let around_tool = ["PreToolUse", "PermissionRequest", "PostToolUse"];
            !event.is_stop() && !around_tool.contains(&event.name)
        },
        blocks_in_json: false,
    },
    Expected {
        agent: GEMINI,
        asks: Some("BeforeTool"),
        takes_yes: false,
        takes_input: true,
        without_message: &[],
        blocked_for_stop: Some(&[]),
        // It reads no decision of an event without an effect.
        ends_turn: |event| !event.is_stop() && event.effect != Effect::Nothing,
        blocks_in_json: true,
    },
    Expected {
        agent: COPILOT,
        asks: Some("PreToolUse"),
        takes_yes: true,
        takes_input: true,
        without_message: &["PreToolUse", "PostToolUseFailure"],
        blocked_for_stop: Some(&["PreToolUse", "UserPromptSubmit", "PermissionRequest"]),
        ends_turn: |_| false,
        blocks_in_json: false,
    },
    Expected {
        agent: QWEN,
        asks: Some("PreToolUse"),
        takes_yes: false,
        takes_input: false,
        without_message: &[],
        blocked_for_stop: Some(&["PreToolUse", "PostToolBatch", "PermissionRequest"]),
        ends_turn: |event| event.name == "UserPromptSubmit",
        blocks_in_json: false,
    },
];

fn expected(agent: &Agent) -> Expected {
    let row = EXPECTED.into_iter().find(|row| row.agent == agent);
    row.unwrap_or(Expected {
        agent: CLAUDE,
        asks: None,
        takes_yes: false,
        takes_input: true,
        without_message: &[],
        blocked_for_stop: None,
        ends_turn: |event| !event.is_stop(),
        blocks_in_json: false,
    })
}

/// The answers of hooks, before it is known at which event.
#[derive(Debug, Clone)]
struct Saying {
    block: Option<String>,
    asks: Vec<String>,
    grants: Option<bool>,
    input: Option<String>,
    prompt: Option<String>,
    output: Option<Value>,
    context: Vec<String>,
    objections: Vec<String>,
    messages: Vec<String>,
    stop: Option<String>,
}

impl Saying {
    /// Reduces the answers to those that this event allows. A question blocks if the agent does not ask.
    fn at(mut self, agent: &Agent, event: &Event) -> Self {
        let ours = event.ours().unwrap_or_default();
        let is_before = ours == "tool:pre_execute";
        let asks = expected(agent).asks == Some(event.name) || ours == "permission:prompt";
        self.asks.retain(|_| asks);
        self.input = self.input.filter(|_| is_before);
        self.output = self.output.filter(|_| ours == "tool:post_execute");
        self.prompt = self.prompt.filter(|_| ours == "user:prompt_submit");
        self.objections
            .retain(|_| ["tool:post_execute", "tool:error"].contains(&ours));
        self
    }

    fn input(&self) -> Option<Map<String, Value>> {
        let text = self.input.as_ref()?;
        json!({"command": text}).as_object().cloned()
    }

    fn decision(&self) -> CallDecision {
        let this = self.clone();
        CallDecision {
            has_hooks: true,
            input: self.input(),
            block: this.block,
            asks: this.asks,
            grants: this.grants,
            prompt: this.prompt,
            output: this.output,
            context: this.context,
            objections: this.objections,
            messages: this.messages,
            stop: this.stop,
        }
    }

    /// Returns the reason why the agent must not continue, by the rules of the page.
    fn block(&self, agent: &Agent, event: &Event) -> Option<String> {
        let expected = expected(agent);
        // The command of a skill runs as it is, or not at all.
        let takes_input = expected.takes_input && event.name != "PreSkillShellCommand";
        let input = self.input().filter(|_| !takes_input);
        let names = expected
            .blocked_for_stop
            .unwrap_or(agent.answers.cannot_end_turn);
        let blocks = event.effect == Effect::Blocks && names.contains(&event.name);
        let stop = self.stop.clone().filter(|_| blocks);
        let why = self.block.clone().or(self.prompt.clone());
        let why = why.or(input.map(|input| Value::from(input).to_string()));
        why.or(stop).filter(|_| event.effect == Effect::Blocks)
    }
}

/// Generates texts that a hook may write, among them texts that look like an answer.
fn text() -> impl Strategy<Value = String> {
    let like_answers = prop::sample::select(vec![
        "",
        " ",
        "null",
        "true",
        "5",
        "[]",
        "{}",
        "{\"decision\":\"allow\"}",
        " \n{\"decision\":\"allow\"}\n",
        "\u{feff}{\"decision\":\"allow\"}",
        "\"{\\\"decision\\\":\\\"allow\\\"}\"",
        "{\"continue\":true,\"decision\":\"approve\"}",
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}",
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"allow\"}}}",
        "no\n{\"decision\":\"allow\"}",
        "\u{1b}[2J\0\r\n\u{2028}",
        "no sudo",
    ]);
    prop_oneof![like_answers.prop_map(str::to_owned), ".*", "(?s).{0,20}"]
}

fn output() -> impl Strategy<Value = Value> {
    prop_oneof![
        text().prop_map(Value::from),
        text().prop_map(|text| json!({"mode": text})),
        Just(Value::Null),
        Just(json!([])),
    ]
}

/// Outputs of tools, in forms that are known and others.
fn old_output() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        Value::Null,
        json!("out"),
        json!({"stdout": "out", "stderr": "err"}),
        json!({"llmContent": "out"}),
        json!([{"type": "text", "text": "out"}]),
        json!({"mode": "content"}),
    ])
}

fn saying() -> impl Strategy<Value = Saying> {
    let texts = || prop_oneof![Just(Vec::new()), vec(text(), 1..3)];
    let changes = (option::of(text()), option::of(text()), option::of(output()));
    let decisions = (option::of(text()), texts(), any::<Option<bool>>());
    let others = (texts(), texts(), texts(), option::of(text()));
    (decisions, changes, others).prop_map(
        |(
            (block, asks, grants),
            (input, prompt, output),
            (context, objections, messages, stop),
        )| Saying {
            block,
            asks,
            grants,
            input,
            prompt,
            output,
            context,
            objections,
            messages,
            stop,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn agents_read_what_hooks_have_said(saying in saying(), old in old_output()) {
        for agent in BRIDGED.into_iter().filter(|agent| *agent != KIMI) {
            for event in agent.events() {
                check(agent, event, &saying.clone().at(agent, event), &old);
            }
        }
    }
}

fn nonblank(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// Reads the answer as the agent does, and compares the answer with the decision of the hooks.
#[track_caller]
fn check(agent: &'static Agent, event: &'static Event, saying: &Saying, old: &Value) {
    let answer = agent.answers.answer(event, old, saying.decision());
    let context = format!("{agent} {}: {saying:?}\n{answer:?}", event.name);
    let output = read_by((agent, event), &answer, &context);
    check_decision((agent, event), saying, &output, &context);
    check_turn((agent, event), saying, &output, &context);
    let (reason, message) = (output.reason.as_deref(), output.system_message.as_deref());
    if let Some(block) = saying.block(agent, event) {
        assert_eq!(output.updated_input, None, "{context}");
        assert_holds(reason, saying.context.iter().chain([&block]), &context);
        // The user reads the messages beside the reason, or in it.
        let texts = [reason, message].into_iter().flatten();
        let both = texts.collect::<Vec<_>>().join("\n");
        assert_holds(Some(&both), saying.messages.iter(), &context);
        return;
    }
    assert_eq!(output.updated_input, saying.input(), "{context}");
    // The user's lines have the reason to block an event that cannot be blocked.
    if !expected(agent).without_message.contains(&event.name) {
        let messages = saying.messages.iter().chain(&saying.block);
        assert_holds(message, messages, &context);
    }
    if let Some(new) = &saying.output {
        // The new output replaces the old one, or is added to it if the form of the old one is not known.
        let seen = output.updated_output.or(output.feedback.map(Value::from));
        let holds_new = seen.is_some_and(|seen| holds(&seen, new));
        assert!(holds_new, "{new} of {context}");
    } else {
        let mut expected = saying.context.clone();
        expected.extend(saying.objections.iter().cloned());
        let expected = expected.join("\n");
        let expected = nonblank(&expected).filter(|_| agent.answers.context.contains(&event.name));
        assert_eq!(output.additional_context.as_deref(), expected, "{context}");
    }
}

/// Reads an answer as the agent does.
fn read_by(
    (agent, event): (&'static Agent, &'static Event),
    answer: &Answer,
    context: &str,
) -> HookOutput {
    match agent {
        _ if agent == COPILOT => read_by_copilot(event, answer),
        _ if agent == QWEN => read_by_qwen(event, answer),
        _ if agent == GEMINI => read_by_gemini(event, answer, context),
        _ if [CLAUDE, CODEX].contains(&agent) => read_by_others(agent, event, answer, context),
        _ => read_by_code(answer),
    }
}

fn read_by_others(
    agent: &'static Agent,
    event: &'static Event,
    answer: &Answer,
    context: &str,
) -> HookOutput {
    let end = (i32::from(answer.code), &*answer.stdout, &*answer.stderr);
    if agent == CODEX {
        assert_codex_takes(event, answer, context);
        // It reads no JSON beside another exit code.
        let stdout = if answer.code == 0 { end.1 } else { "" };
        let read = compat::read(agent, event, (end.0, stdout, end.2));
        return output_of(read, answer, context);
    }
    output_of(compat::read(agent, event, end), answer, context)
}

fn output_of(read: Reading, answer: &Answer, context: &str) -> HookOutput {
    assert_eq!(read.invalid, None, "{context}");
    assert!(answer.code == 0 || read.replaces_exit_code, "{context}");
    read.output.unwrap_or_default()
}

/// Checks that Codex takes an answer: a key or a value that it does not know makes all of it unusable.
fn assert_codex_takes(event: &Event, answer: &Answer, context: &str) {
    if answer.code == 2 {
        assert!(nonblank(&answer.stderr).is_some(), "{context}");
    }
    let Some(stdout) = nonblank(&answer.stdout).filter(|_| answer.code == 0) else {
        return;
    };
    if stdout.starts_with('{') {
        assert_codex_takes_json(event, stdout, context);
    } else {
        assert!(!event.is_stop(), "{context}");
    }
}

fn assert_codex_takes_json(event: &Event, stdout: &str, context: &str) {
    let keys: Value = serde_json::from_str(stdout).expect(context);
    let top = [
        "continue",
        "stopReason",
        "suppressOutput",
        "systemMessage",
        "decision",
        "reason",
        "hookSpecificOutput",
    ];
    assert!(has_only(&keys, &top), "{context}");
    let has = |key: &str| keys.get(key).is_some_and(|value| !value.is_null());
    let is_call = ["PreToolUse", "PermissionRequest"].contains(&event.name);
    let goes_on = keys["continue"] != false && !has("stopReason");
    assert!(!is_call || goes_on, "{context}");
    assert!(keys["decision"] != "approve", "{context}");
    let has_reason = keys["reason"].as_str().and_then(nonblank).is_some();
    assert!(keys["decision"] != "block" || has_reason, "{context}");
    let specific = &keys["hookSpecificOutput"];
    assert!(specific.get("updatedMCPToolOutput").is_none(), "{context}");
    if event.name == "PreToolUse" {
        assert_codex_takes_call(specific, context);
    }
    if event.name == "PermissionRequest" {
        let decision = &specific["decision"];
        assert!(has_only(decision, &["behavior", "message"]), "{context}");
    }
}

fn has_only(value: &Value, known: &[&str]) -> bool {
    let mut names = value.as_object().into_iter().flat_map(Map::keys);
    names.all(|name| known.contains(&&**name))
}

/// Checks the members of an answer before a tool.
fn assert_codex_takes_call(specific: &Value, context: &str) {
    let known = [
        "hookEventName",
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
        "additionalContext",
    ];
    assert!(has_only(specific, &known), "{context}");
    let decision = &specific["permissionDecision"];
    let reason = &specific["permissionDecisionReason"];
    let has_input = specific.get("updatedInput").is_some();
    assert!(decision != "ask", "{context}");
    assert!(decision != "allow" || has_input, "{context}");
    let has_reason = reason.as_str().and_then(nonblank).is_some();
    assert!(decision != "deny" || has_reason, "{context}");
    assert!(
        !decision.is_null() || reason.is_null() && !has_input,
        "{context}"
    );
}

/// Reads an answer as Gemini CLI does: JSON, also in a string, from standard error if standard output is blank. Other text is
/// a message, or with exit code 2 a block.
fn read_by_gemini(event: &Event, answer: &Answer, context: &str) -> HookOutput {
    let said = nonblank(&answer.stdout).or(nonblank(&answer.stderr));
    let Some(said) = said else {
        assert_eq!(answer.code, 0, "{context}");
        return HookOutput::default();
    };
    let keys = match serde_json::from_str::<Value>(said) {
        Ok(Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        keys => keys.unwrap_or(Value::String(said.to_owned())),
    };
    if !keys.is_object() {
        let is_block = answer.code == 2 && event.effect == Effect::Blocks;
        assert!(
            answer.code == 0 || event.effect != Effect::Nothing,
            "{context}"
        );
        return HookOutput {
            decision: is_block.then_some(Decision::Block),
            reason: is_block.then(|| said.to_owned()),
            feedback: (answer.code == 2 && !is_block).then(|| said.to_owned()),
            system_message: (answer.code == 0).then(|| said.to_owned()),
            ..HookOutput::default()
        };
    }
    let text = |pointer: &str| {
        let text = keys.pointer(pointer)?.as_str()?;
        nonblank(text).map(str::to_owned)
    };
    let decision = text("/decision").filter(|_| event.effect != Effect::Nothing);
    let decision = decision.map(|decision| match &*decision {
        "deny" | "block" => Decision::Block,
        "ask" => Decision::Ask,
        "allow" | "approve" => Decision::Allow,
        other => panic!("{other}: {context}"),
    });
    let blocks = decision == Some(Decision::Block);
    let is_too_late = blocks && event.effect == Effect::FeedsBack;
    let reason = text("/reason").filter(|_| decision.is_some());
    let name = text("/hookSpecificOutput/hookEventName");
    assert!(
        keys.get("hookSpecificOutput").is_none() || name.as_deref() == Some(event.name),
        "{context}"
    );
    HookOutput {
        decision: decision.filter(|_| !is_too_late),
        feedback: reason.clone().filter(|_| is_too_late),
        updated_output: reason.clone().filter(|_| is_too_late).map(Value::from),
        reason: reason.filter(|_| !is_too_late),
        system_message: text("/systemMessage"),
        additional_context: text("/hookSpecificOutput/additionalContext"),
        updated_input: keys["hookSpecificOutput"]["tool_input"]
            .as_object()
            .cloned(),
        stops_turn: keys["continue"] == false && event.effect != Effect::Nothing,
        stop_reason: text("/stopReason").or(text("/reason").filter(|_| keys["continue"] == false)),
        ..HookOutput::default()
    }
}

/// Reads an answer as Copilot CLI 1.0.102 has been seen to.
fn read_by_copilot(event: &Event, answer: &Answer) -> HookOutput {
    let keys: Value = serde_json::from_str(answer.stdout.trim()).unwrap_or(json!({}));
    let text = |key: &str| keys[key].as_str().map(str::to_owned);
    let is_before = event.name == "PreToolUse";
    let (decision, reason) = match (is_before, event.effect) {
        (true, _) => (text("permissionDecision"), text("permissionDecisionReason")),
        (_, Effect::Blocks) => (text("decision"), text("reason")),
        _ => (None, None),
    };
    let decision = match decision.as_deref() {
        Some("deny" | "block") => Some(Decision::Block),
        Some("ask") => Some(Decision::Ask),
        Some("allow") => Some(Decision::Allow),
        Some(other) => panic!("{other}"),
        None => None,
    };
    // Copilot CLI ignores a block without a reason.
    let is_taken = reason.is_some() || decision != Some(Decision::Block);
    assert_eq!(
        is_before && answer.code == 2,
        is_before && decision == Some(Decision::Block)
    );
    let message = (answer.code == 2 && !is_before).then(|| answer.stderr.clone());
    let output = &keys["modifiedResult"]["textResultForLlm"];
    let context = text("additionalContext");
    let context = context.as_deref().and_then(nonblank).map(str::to_owned);
    HookOutput {
        decision: decision.filter(|_| is_taken),
        reason,
        system_message: message,
        additional_context: context,
        updated_input: keys["modifiedArgs"].as_object().cloned(),
        updated_output: Some(output.clone()).filter(Value::is_string),
        stops_turn: keys["continue"] == false,
        ..HookOutput::default()
    }
}

/// Reads an answer as Qwen Code 0.24.4 has been seen to, and as its `hookRunner.ts` does.
fn read_by_qwen(event: &Event, answer: &Answer) -> HookOutput {
    let is_block = answer.code == 2;
    let said = if is_block {
        &answer.stderr
    } else {
        &answer.stdout
    };
    let keys = match serde_json::from_str::<Value>(said.trim()) {
        Ok(Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::Null),
        keys => keys.unwrap_or(Value::Null),
    };
    // JSON would be read in place of the exit code.
    assert!(!is_block || !keys.is_object(), "{answer:?}");
    if is_block {
        return HookOutput {
            decision: Some(Decision::Block),
            reason: Some(said.clone()),
            ..HookOutput::default()
        };
    }
    let text = |pointer: &str| keys.pointer(pointer)?.as_str().map(str::to_owned);
    let specific = |key: &str| text(&format!("/hookSpecificOutput/{key}"));
    let is_request = event.specific.within.is_some();
    let (decision, reason) = if is_request {
        (specific("decision/behavior"), specific("decision/message"))
    } else {
        (
            specific("permissionDecision"),
            specific("permissionDecisionReason"),
        )
    };
    let stops = keys["continue"] == false;
    let replaces = stops && event.name == "PostToolUse";
    let context = specific("additionalContext");
    HookOutput {
        decision: decision.map(|decision| match &*decision {
            "deny" => Decision::Block,
            "ask" => Decision::Ask,
            "allow" => Decision::Allow,
            other => panic!("{other}"),
        }),
        reason,
        system_message: text("/systemMessage"),
        additional_context: context.as_deref().and_then(nonblank).map(str::to_owned),
        updated_output: text("/stopReason").filter(|_| replaces).map(Value::from),
        stops_turn: stops && !replaces,
        stop_reason: text("/stopReason")
            .as_deref()
            .and_then(nonblank)
            .map(str::to_owned),
        ..HookOutput::default()
    }
}

/// Reads an answer as Grok Build 1.0.41 has been seen to, and as the plugins do.
fn read_by_code(answer: &Answer) -> HookOutput {
    if answer.code == 2 {
        return HookOutput {
            decision: Some(Decision::Block),
            reason: Some(answer.stderr.clone()),
            ..HookOutput::default()
        };
    }
    let keys: Value = serde_json::from_str(answer.stdout.trim()).unwrap_or_default();
    let text = |pointer: &str| keys.pointer(pointer)?.as_str().map(str::to_owned);
    let context = text("/hookSpecificOutput/additionalContext");
    let context = context.as_deref().and_then(nonblank).map(str::to_owned);
    let output = text("/hookSpecificOutput/updatedToolOutput/text");
    let stop = text("/stopReason");
    HookOutput {
        system_message: text("/systemMessage"),
        updated_input: keys["hookSpecificOutput"]["updatedInput"]
            .as_object()
            .cloned(),
        updated_output: output.map(Value::from),
        // An output that cannot be changed stands in a context.
        feedback: context.clone(),
        additional_context: context,
        stops_turn: keys["continue"] == false,
        stop_reason: stop.as_deref().and_then(nonblank).map(str::to_owned),
        ..HookOutput::default()
    }
}

/// Checks that a text has each line of others.
#[track_caller]
fn assert_holds<'t>(message: Option<&str>, texts: impl Iterator<Item = &'t String>, context: &str) {
    for line in texts.flat_map(|text| text.lines()).filter_map(nonblank) {
        assert!(
            message.is_some_and(|message| message.contains(line)),
            "{line:?} of {context}"
        );
    }
}

/// Returns whether the text of an output is in another one.
fn holds(output: &Value, new: &Value) -> bool {
    let text = match new {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match output {
        Value::String(output) => output.contains(text.trim()),
        other => other == new || other.to_string().contains(&json!(text).to_string()),
    }
}

#[track_caller]
fn check_decision(
    (agent, event): (&Agent, &Event),
    saying: &Saying,
    output: &HookOutput,
    context: &str,
) {
    let is_request = event.specific.within.is_some();
    let row = expected(agent);
    let is_before = row.asks == Some(event.name);
    let expected = if saying.block(agent, event).is_some() {
        Some(Decision::Block)
    } else if !saying.asks.is_empty() {
        is_before.then_some(Decision::Ask)
    } else {
        let is_taken = is_request || is_before && row.takes_yes;
        let is_given = saying.grants == Some(true);
        (is_taken && is_given).then_some(Decision::Allow)
    };
    assert_eq!(output.decision, expected, "{context}");
    if expected == Some(Decision::Ask) {
        let texts = [&output.reason, &output.system_message];
        let message: String = texts.into_iter().flatten().cloned().collect();
        assert_holds(Some(&message), saying.asks.iter(), context);
    }
}

#[track_caller]
fn check_turn(
    (agent, event): (&Agent, &Event),
    saying: &Saying,
    output: &HookOutput,
    context: &str,
) {
    let row = expected(agent);
    // Elsewhere a block is an exit code, which cannot say more.
    let is_json = saying.block(agent, event).is_none()
        || row.blocks_in_json
        || event.specific.within.is_some();
    let cannot_end = agent.answers.cannot_end_turn.contains(&event.name);
    let ends_turn = (row.ends_turn)(event) && !cannot_end;
    let expected = saying.stop.as_ref();
    let expected = expected.filter(|_| ends_turn && is_json);
    assert_eq!(output.stops_turn, expected.is_some(), "{context}");
    if let Some(reason) = expected.and_then(|reason| nonblank(reason)) {
        assert_eq!(output.stop_reason.as_deref(), Some(reason), "{context}");
    }
}
