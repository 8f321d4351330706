//! How Claude Code reads the end of a hook: <https://code.claude.com/docs/en/hooks>.

use super::conclusion::{Conclusion, HookEnd, Members, nonblank};
use crate::hook::{Decision, HookOutput};

/// The meaning of exit code 2, and of a `decision` of `block`.
#[derive(Clone, Copy, PartialEq)]
enum BlockEffect {
    Blocks,
    /// The tool has run: the model receives feedback.
    FeedsBack,
    Nothing,
}

fn block_effect(event: &str) -> BlockEffect {
    match event {
        "PreToolUse" | "UserPromptSubmit" | "Stop" | "SubagentStop" | "PreCompact" => {
            BlockEffect::Blocks
        }
        "PostToolUse" | "PostToolUseFailure" => BlockEffect::FeedsBack,
        _ => BlockEffect::Nothing,
    }
}

pub(super) fn read(event: &str, ended: &HookEnd<'_>) -> Conclusion {
    let mut conclusion = match ended.object() {
        Some(object) => Conclusion::from_answer(answer(event, Members(&object))),
        None => plain(event, ended),
    };
    if ended.code != 2 {
        return conclusion;
    }
    match block_effect(event) {
        BlockEffect::Blocks => {
            let silent = || Some("the hook exited with code 2 and gave no reason".to_owned());
            conclusion.block_by_code(ended.stderr_text().or_else(silent));
        }
        BlockEffect::FeedsBack => conclusion.feed_back_by_code(ended.stderr_text()),
        BlockEffect::Nothing => {}
    }
    conclusion
}

/// Reads plain text: context for the model before its turn, ignored on other events.
fn plain(event: &str, ended: &HookEnd<'_>) -> Conclusion {
    let is_context = matches!(event, "SessionStart" | "UserPromptSubmit");
    let mut conclusion = Conclusion::default();
    if is_context && ended.code == 0 {
        conclusion.output.additional_context = nonblank(ended.stdout);
    }
    conclusion
}

fn answer(event: &str, object: Members<'_>) -> Result<HookOutput, String> {
    let mut output = object.common()?;
    let decision = object.choice("decision", &["approve", "block"])?;
    let reason = object.nonblank("reason")?;
    object.flag("suppressOutput")?;
    match (decision, block_effect(event)) {
        (Some("block"), BlockEffect::Blocks) => {
            output.decision = Some(Decision::Block);
            output.reason = reason.clone();
        }
        (Some("block"), BlockEffect::FeedsBack) => output.feedback = reason.clone(),
        (Some("approve"), _) if event == "PreToolUse" => output.decision = Some(Decision::Allow),
        _ => {}
    }
    if let Some(specific) = object.object("hookSpecificOutput")? {
        add_specific(&mut output, event, specific, reason)?;
    }
    Ok(output)
}

fn add_specific(
    output: &mut HookOutput,
    event: &str,
    specific: Members<'_>,
    reason: Option<String>,
) -> Result<(), String> {
    match specific.text("hookEventName")? {
        Some(name) if name == event => {}
        Some(name) => {
            let name: String = name.chars().take(40).collect();
            return Err(format!(
                "`hookEventName`: expected `{event}`, found `{name}`"
            ));
        }
        None => {
            return Err(format!(
                "`hookSpecificOutput` lacks `\"hookEventName\": \"{event}\"`"
            ));
        }
    }
    output.additional_context = specific.nonblank("additionalContext")?;
    match event {
        "PreToolUse" => add_permission(output, specific, reason)?,
        "PermissionRequest" => add_request(output, specific)?,
        "PostToolUse" => {
            let new = specific.get("updatedToolOutput");
            let replaced = new.or_else(|| specific.get("updatedMCPToolOutput"));
            output.updated_output = replaced.cloned();
        }
        _ => {}
    }
    Ok(())
}

/// Adds a permission decision. If `decision` differs, the stricter one counts.
fn add_permission(
    output: &mut HookOutput,
    specific: Members<'_>,
    reason: Option<String>,
) -> Result<(), String> {
    let words = &["allow", "deny", "ask", "defer"];
    let decision = match specific.choice("permissionDecision", words)? {
        None => None,
        Some("allow") => Some(Decision::Allow),
        Some("deny") => Some(Decision::Block),
        // The call waits for the user: no host of this crate lets it wait for another program.
        Some(_) => Some(Decision::Ask),
    };
    if let Some(inner) = decision {
        let outer = output.decision.unwrap_or(inner);
        if outer.stricter(inner) == inner {
            output.decision = Some(inner);
            output.reason = specific.nonblank("permissionDecisionReason")?.or(reason);
        }
    }
    if let Some(input) = specific.object("updatedInput")? {
        output.updated_input = Some(input.0.clone());
        output.replaces_input = true;
    }
    Ok(())
}

fn add_request(output: &mut HookOutput, specific: Members<'_>) -> Result<(), String> {
    let Some(decision) = specific.object("decision")? else {
        return Ok(());
    };
    match decision.choice("behavior", &["allow", "deny"])? {
        Some("allow") => output.decision = Some(Decision::Allow),
        Some(_) => {
            output.decision = Some(Decision::Block);
            output.reason = decision.nonblank("message")?;
            output.stops_turn |= decision.flag("interrupt")? == Some(true);
        }
        None => return Err("`decision` lacks `behavior`".to_owned()),
    }
    if let Some(input) = decision.object("updatedInput")? {
        output.updated_input = Some(input.0.clone());
        output.replaces_input = true;
    }
    Ok(())
}
