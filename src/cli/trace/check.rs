//! `trace --check`: what a host forgot, as its recorded events show it.
//!
//! Compares events only with each other: runs and reads no hooks.

use std::collections::{BTreeMap, HashMap};

use super::recorded::{Record, Recorded};
use crate::Decision;

/// What a host forgot.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Forgotten {
    /// The line of the event that shows it, counted from 1.
    pub(super) line: usize,
    pub(super) what: String,
    pub(super) fix: &'static str,
}

const FIRE_BEFORE: &str =
    "fire `tool:pre_execute` before each call of a tool, and run the tool only if it is allowed";
const CHECK_BEFORE: &str = "fire `permission:check` before a permission is granted";
const END_SESSION: &str = "fire `session:end` when the session ends, also after an error";
const END_TURN: &str = "fire `agent:stop` when the agent has answered, or `user:interrupt` when its user interrupts it";

/// The session of an event; without one, the process of its host.
type Session<'a> = (Option<&'a str>, u64);

/// A session, and which of its agents: the session's own has no name.
type Agent<'a> = (Session<'a>, Option<&'a str>);

/// What is open, at some event of the trace.
#[derive(Default)]
struct Open<'a> {
    /// How many calls were allowed and have not ended, by what allows them.
    allowed: HashMap<(Session<'a>, &'a str, Option<&'a str>), usize>,
    /// The lines at which sessions began.
    sessions: BTreeMap<Session<'a>, usize>,
    /// The lines at which turns began.
    turns: BTreeMap<Agent<'a>, usize>,
    forgotten: Vec<Forgotten>,
}

/// Returns what the host forgot, in the order of the lines.
pub(super) fn forgotten(record: &Record) -> Vec<Forgotten> {
    let mut open = Open::default();
    for event in &record.events {
        open.take(event);
    }
    for ((session, _), line) in std::mem::take(&mut open.turns) {
        open.no_end(("turn", session), line, END_TURN);
    }
    for (session, line) in std::mem::take(&mut open.sessions) {
        open.no_end(("session", session), line, END_SESSION);
    }
    open.forgotten.sort_by_key(|forgotten| forgotten.line);
    open.forgotten
}

impl<'a> Open<'a> {
    fn take(&mut self, recorded: &'a Recorded) {
        let session = session_of(recorded);
        let line = recorded.line;
        match recorded.event.event_type.as_str() {
            name @ ("tool:pre_execute" | "permission:check") if is_allowed(recorded) => {
                let key = (session, name, recorded.call.as_deref());
                *self.allowed.entry(key).or_default() += 1;
            }
            "tool:post_execute" | "tool:error" => {
                self.needs("tool:pre_execute", recorded, FIRE_BEFORE);
            }
            "permission:granted" => self.needs("permission:check", recorded, CHECK_BEFORE),
            "session:start" => {
                let begun = self.sessions.insert(session, line);
                self.ends_late(("session", session), begun, END_SESSION);
            }
            "session:end" => {
                self.sessions.remove(&session);
                for line in self.ended_turns(session) {
                    self.no_end(("turn", session), line, END_TURN);
                }
            }
            "user:prompt_submit" if is_allowed(recorded) => {
                let begun = self.turns.insert(agent_of(recorded), line);
                self.ends_late(("turn", session), begun, END_TURN);
            }
            "agent:stop" if is_allowed(recorded) => drop(self.turns.remove(&agent_of(recorded))),
            "user:interrupt" => drop(self.ended_turns(session)),
            _ => {}
        }
        if recorded.decided.stops_turn {
            self.turns.remove(&agent_of(recorded));
        }
    }

    /// Ends the turns of all agents of a session. Returns the lines at which they began.
    fn ended_turns(&mut self, session: Session<'a>) -> Vec<usize> {
        let is_of_it = |(of, _): &Agent<'_>| *of == session;
        let ended = self.turns.iter().filter(|(agent, _)| is_of_it(agent));
        let lines = ended.map(|(_, line)| *line).collect();
        self.turns.retain(|agent, _| !is_of_it(agent));
        lines
    }

    /// Takes the event that allows this one.
    fn needs(&mut self, name: &'static str, recorded: &'a Recorded, fix: &'static str) {
        let key = (session_of(recorded), name, recorded.call.as_deref());
        match self.allowed.get_mut(&key) {
            Some(left) if *left > 0 => *left -= 1,
            _ => {
                let event = &recorded.event;
                let tool = event.tool_name.as_deref().unwrap_or_default();
                self.forgotten.push(Forgotten {
                    line: recorded.line,
                    what: format!(
                        "`{}` of the tool `{tool}` without an allowed `{name}` of the same call",
                        event.event_type
                    ),
                    fix,
                });
            }
        }
    }

    /// Notes what had begun at this line and had not ended when it should have.
    fn ends_late(&mut self, what: (&str, Session<'_>), begun: Option<usize>, fix: &'static str) {
        if let Some(line) = begun {
            self.no_end(what, line, fix);
        }
    }

    fn no_end(&mut self, (what, session): (&str, Session<'_>), line: usize, fix: &'static str) {
        let of = match session.0 {
            Some(id) if what == "session" => format!(" `{id}`"),
            Some(id) => format!(" of the session `{id}`"),
            None => String::new(),
        };
        self.forgotten.push(Forgotten {
            line,
            what: format!("the {what}{of} has no end in this trace"),
            fix,
        });
    }
}

fn agent_of(recorded: &Recorded) -> Agent<'_> {
    let text = |key: &str| recorded.event.data.get(key)?.as_str();
    let kind = text("agent_type").filter(|kind| *kind != "main");
    (session_of(recorded), text("agent_id").or(kind))
}

fn session_of(recorded: &Recorded) -> Session<'_> {
    match recorded.event.session_id.as_deref() {
        Some(id) => (Some(id), 0),
        None => (None, recorded.host),
    }
}

/// Returns whether the host may do what the event announces, and not what a hook has changed it to: then it fires the changed event
/// once more.
fn is_allowed(recorded: &Recorded) -> bool {
    let decided = &recorded.decided;
    let is_changed = recorded.applies_updates && decided.updated_input.is_some();
    let is_asked = recorded.handles_ask || recorded.event.event_type.as_str() == "permission:check";
    match decided.decision {
        Decision::Allow => !is_changed,
        Decision::Ask => is_asked && !is_changed,
        Decision::Block => false,
    }
}
