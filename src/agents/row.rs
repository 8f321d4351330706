//! The words in which the file of an agent is written, and the parts that most rows share.

use std::time::Duration;

pub(super) use super::agent::{AGENT, Agent, HandlerApproval, Variable};
pub(super) use super::answers::{ANSWERS, Answers, BlockedBy, Messages, Outputs, Questions};
pub(super) use super::emulated::{Emulated, UsualShell};
pub(super) use super::event::Effect::{Blocks, FeedsBack};
pub(super) use super::event::Fires::{Never, OfHost, UnderAgent};
pub(super) use super::event::Unset::{False, List, Null, Object, Text};
pub(super) use super::event::{EVENT, Event, Field, SPECIFIC, Specific, TOOL_NAME};
pub(super) use super::names::Pairs;
pub(super) use super::tool::tool;

pub(super) const TOOL: Option<&str> = Some(TOOL_NAME);
pub(super) const INPUT: Field = ("tool_input", Object);
pub(super) const CALL: Field = text("tool_use_id");
pub(super) const TRIGGER: Field = ("trigger", Text("auto"));
pub(super) const SUBAGENT: Field = ("agent_type", Text("general-purpose"));
pub(super) const ACTIVE: Field = ("stop_hook_active", False);
pub(super) const LAST: Field = text("last_assistant_message");

pub(super) const FILE_PATH: Pairs = &[("file_path", "path")];

/// A field that is an empty text unless the host sets it.
pub(super) const fn text(key: &'static str) -> Field {
    (key, Text(""))
}

pub(super) const fn ms(milliseconds: u64) -> Option<Duration> {
    Some(Duration::from_millis(milliseconds))
}

/// Before a call of a tool.
#[rustfmt::skip]
pub(super) const DECISION: Specific = Specific {
    decision: Some(("permissionDecision", &["allow", "deny", "ask", "defer"])),
    reason: Some("permissionDecisionReason"), input: Some("updatedInput"), ..SPECIFIC
};

/// Before the agent asks for permission.
#[rustfmt::skip]
pub(super) const REQUEST: Specific = Specific {
    within: Some("decision"), decision: Some(("behavior", &["allow", "deny"])),
    reason: Some("message"), input: Some("updatedInput"), ..SPECIFIC
};

/// The tool that applies a patch, which may be for several files.
pub(crate) const APPLY_PATCH: &str = "apply_patch";
