//! The table of actions: the events around each, and the sources of their data.
//!
//! Knows the names of events and of keys. Does not know how an event is fired.

use std::borrow::Cow;

use crate::events::EventType;

/// The events around an action of the host. All of them have the same tool and session.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// The event that announces the action.
    pub(super) before: Name,
    /// The event of the action's end, and the key of its result.
    pub(super) after: End,
    /// The event of the action's failure, and the key of the reason. An action that is dropped has failed.
    pub(super) failed: Option<End>,
    /// The keys of the announced data that the later events lack.
    pub(super) left_out: &'static [&'static str],
}

impl<'a> From<&'a Row> for Cow<'a, Row> {
    fn from(row: &'a Row) -> Self {
        Self::Borrowed(row)
    }
}

impl From<Row> for Cow<'_, Row> {
    fn from(row: Row) -> Self {
        Self::Owned(row)
    }
}

impl Row {
    /// Returns whether one of the events has a key of this name itself.
    pub(super) fn has_key(&self, name: &str) -> bool {
        self.names()
            .map(EventType::of_name)
            .any(|event| event.is_ok_and(|event| event.has_key(name)))
    }

    /// Returns the names of the events.
    fn names(&self) -> impl Iterator<Item = &str> {
        let failed = self.failed.iter().map(|(event, _)| event);
        let events = [&self.before, &self.after.0].into_iter().chain(failed);
        events.map(|name| &**name)
    }
}

/// The name of an event of this table, or of a host's custom event.
type Name = Cow<'static, str>;

/// An event, and the key in its data that contains the result of the action.
type End = (Name, Option<&'static str>);

/// Creates the end of a row of this table.
const fn end(name: &'static str, key: Option<&'static str>) -> End {
    (Cow::Borrowed(name), key)
}

/// The key of a tool's arguments.
pub(super) const ARGS: &str = "tool_args";

/// The keys of a request to a model.
pub(super) const MESSAGES: &str = "messages";
pub(super) const MESSAGE_COUNT: &str = "message_count";
pub(super) const TOKENS: &str = "llm_tokens";

/// All rows.
#[cfg(test)]
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
    before: Cow::Borrowed("tool:pre_execute"),
    after: end("tool:post_execute", Some("tool_result")),
    failed: Some(end("tool:error", Some("error"))),
    left_out: &[],
};
pub(super) static MODEL: Row = Row {
    before: Cow::Borrowed("llm:pre_request"),
    after: end("llm:post_response", Some(TOKENS)),
    failed: Some(end("llm:error", Some("error"))),
    left_out: &[MESSAGES, MESSAGE_COUNT],
};
pub(super) static STREAM: Row = Row {
    before: Cow::Borrowed("llm:stream_start"),
    after: end("llm:stream_end", None),
    failed: Some(end("llm:stream_end", None)),
    left_out: &[],
};
pub(super) static PERMISSION: Row = Row {
    before: Cow::Borrowed("permission:check"),
    after: end("permission:granted", None),
    failed: Some(end("permission:denied", None)),
    left_out: &[],
};
pub(super) static SESSION: Row = Row {
    before: Cow::Borrowed("session:start"),
    after: end("session:end", None),
    failed: Some(end("session:end", None)),
    left_out: &[],
};
pub(super) static TURN: Row = Row {
    before: Cow::Borrowed("user:prompt_submit"),
    after: end("agent:stop", None),
    failed: None,
    left_out: &["content"],
};
pub(super) static SUBAGENT: Row = Row {
    before: Cow::Borrowed("agent:subagent_start"),
    after: end("agent:subagent_stop", None),
    failed: None,
    left_out: &[],
};
pub(super) static COMPACTION: Row = Row {
    before: Cow::Borrowed("context:pre_compact"),
    after: end("context:post_compact", None),
    failed: None,
    left_out: &[],
};

/// Returns the row of a host's custom action.
pub(super) fn own_row([before, after, failed]: [&EventType; 3]) -> Row {
    let name = |event: &EventType| Cow::Owned(event.as_str().to_owned());
    Row {
        before: name(before),
        after: (name(after), None),
        failed: Some((name(failed), Some("error"))),
        left_out: &[],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::events::Vocabulary;

    /// The engine blocks a change if no row applies it.
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
        let around = rows.iter().flat_map(|row| row.names());
        let placed: BTreeSet<_> = around.chain(others).collect();
        let vocabulary = Vocabulary::default();
        let events = vocabulary.events().iter();
        let known: BTreeSet<_> = events.map(|spec| spec.event_type().as_str()).collect();
        assert_eq!(placed, known);
    }
}
