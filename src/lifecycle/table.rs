//! The table of actions: which events are around each, and what their data is made of.
//!
//! Knows names of events and of keys; not how an event is fired.

use crate::events::EventType;

/// The events around an action of the host. All of them have the same tool and session.
pub(super) struct Row {
    /// The event that announces it.
    pub(super) before: &'static str,
    /// The event of its end, and the key of its result.
    pub(super) after: End,
    /// The event of its failure, also of one that is dropped, and the key of the reason.
    pub(super) failed: Option<End>,
    /// The key of the announced data that the later events lack.
    pub(super) left_out: Option<&'static str>,
    pub(super) rewrites: Rewrites,
}

impl Row {
    /// Whether one of its events has a key of this name itself.
    pub(super) fn has_key(&self, name: &str) -> bool {
        let failed = self.failed.map(|(event, _)| event);
        let events = [self.before, self.after.0].into_iter().chain(failed);
        events
            .map(EventType::of_name)
            .any(|event| event.is_ok_and(|event| event.has_key(name)))
    }
}

/// An event, and the key in its data of what the action has returned.
type End = (&'static str, Option<&'static str>);

/// What `updatedInput` in the answer of a hook replaces.
#[derive(Clone, Copy)]
pub(super) enum Rewrites {
    Nothing,
    /// The object of this key: its members.
    Members(&'static str),
    /// The text of this key.
    Text(&'static str),
}

const NONE: Row = Row {
    before: "",
    after: ("", None),
    failed: None,
    left_out: None,
    rewrites: Rewrites::Nothing,
};

/// All rows.
#[cfg(any(feature = "cli", test))]
pub(super) static ROWS: [&Row; 8] = [
    &TOOL,
    &MODEL,
    &STREAM,
    &PERMISSION,
    &SESSION,
    &TURN,
    &SUBAGENT,
    &COMPACTION,
];

pub(super) static TOOL: Row = Row {
    before: "tool:pre_execute",
    after: ("tool:post_execute", Some("tool_result")),
    failed: Some(("tool:error", Some("error"))),
    rewrites: Rewrites::Members("tool_args"),
    ..NONE
};
pub(super) static MODEL: Row = Row {
    before: "llm:pre_request",
    after: ("llm:post_response", Some("llm_tokens")),
    failed: Some(("llm:error", Some("error"))),
    left_out: Some("message_count"),
    ..NONE
};
pub(super) static STREAM: Row = Row {
    before: "llm:stream_start",
    after: ("llm:stream_end", None),
    failed: Some(("llm:stream_end", None)),
    ..NONE
};
pub(super) static PERMISSION: Row = Row {
    before: "permission:check",
    after: ("permission:granted", None),
    failed: Some(("permission:denied", None)),
    ..NONE
};
pub(super) static SESSION: Row = Row {
    before: "session:start",
    after: ("session:end", None),
    failed: Some(("session:end", None)),
    ..NONE
};
pub(super) static TURN: Row = Row {
    before: "user:prompt_submit",
    after: ("agent:stop", None),
    left_out: Some("content"),
    rewrites: Rewrites::Text("content"),
    ..NONE
};
pub(super) static SUBAGENT: Row = Row {
    before: "agent:subagent_start",
    after: ("agent:subagent_stop", None),
    ..NONE
};
pub(super) static COMPACTION: Row = Row {
    before: "context:pre_compact",
    after: ("context:post_compact", None),
    ..NONE
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::events::Vocabulary;

    #[test]
    fn each_known_event_has_its_place() {
        let rows = ROWS;
        // The lifecycle fires these within an action, or alone.
        let others = [
            "permission:prompt",
            "session:message",
            "notification:show",
            "user:interrupt",
        ];
        let around = rows.iter().flat_map(|row| {
            let failed = row.failed.map(|(event, _)| event);
            [row.before, row.after.0].into_iter().chain(failed)
        });
        let placed: BTreeSet<_> = around.chain(others).collect();
        let vocabulary = Vocabulary::default();
        let events = vocabulary.events().iter();
        let known: BTreeSet<_> = events.map(|spec| spec.event_type().as_str()).collect();
        assert_eq!(placed, known);
    }
}
