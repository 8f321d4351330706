//! `trace --check`: finds the mistakes of a host in its recorded events, such as a missing end of a session.
//!
//! Compares events only with each other. Runs and reads no hooks.

use std::collections::{BTreeMap, HashMap};

use super::recorded::{Record, Recorded};
use crate::trace::ASK;
use crate::{Decision, HookEvent};

/// An event that a host forgot to fire.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Forgotten {
    /// The line of the event that shows the mistake, counted from 1.
    pub(super) line: usize,
    pub(super) what: String,
    pub(super) fix: &'static str,
}

const FIRE_BEFORE: &str =
    "fire `tool:pre_execute` before each call of a tool, and run the tool only if it is allowed";
const CHECK_BEFORE: &str = "fire `permission:check` before a permission is granted";
const END_SESSION: &str = "fire `session:end` when the session ends, also after an error";
const END_TURN: &str = "fire `agent:stop` when the agent has answered, or `user:interrupt` when its user interrupts it";

/// A session. An event without one belongs to the process of its host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Session {
    Named(String),
    Of(u64),
}

/// An agent of a session; none for the session's own agent.
type Agent = Option<String>;

/// The key of a call: its session, the name of the event that allows it, and the id of the call.
type Call = (Session, &'static str, Option<String>);

/// The calls, sessions and turns that are open at some event of the trace.
#[derive(Default)]
struct Open {
    /// The number of calls that were allowed and have not ended.
    allowed: HashMap<Call, usize>,
    /// The lines at which sessions began.
    sessions: BTreeMap<Session, usize>,
    /// The lines at which the turns of each session began.
    turns: BTreeMap<Session, BTreeMap<Agent, usize>>,
    forgotten: Vec<Forgotten>,
}

/// Returns the mistakes of the host, in the order of the lines.
pub(super) fn forgotten(record: &Record) -> Vec<Forgotten> {
    let mut open = Open::default();
    for recorded in record.events() {
        open.take(&recorded);
    }
    for (session, turns) in std::mem::take(&mut open.turns) {
        for line in turns.into_values() {
            open.no_end("turn", &session, line, END_TURN);
        }
    }
    for (session, line) in std::mem::take(&mut open.sessions) {
        open.no_end("session", &session, line, END_SESSION);
    }
    open.forgotten.sort_by_key(|forgotten| forgotten.line);
    open.forgotten
}

impl Open {
    fn take(&mut self, recorded: &Recorded) {
        let session = session_of(recorded);
        let line = recorded.line;
        match recorded.event.event_type.as_str() {
            "tool:pre_execute" => self.allow("tool:pre_execute", recorded),
            "permission:check" => self.allow("permission:check", recorded),
            "tool:post_execute" | "tool:error" => {
                self.needs("tool:pre_execute", recorded, FIRE_BEFORE);
            }
            "permission:granted" => self.needs("permission:check", recorded, CHECK_BEFORE),
            // An agent fires this event again when it resumes a session or has made it shorter.
            "session:start" => drop(self.sessions.entry(session.clone()).or_insert(line)),
            "session:end" => {
                self.sessions.remove(&session);
                for line in self
                    .turns
                    .remove(&session)
                    .unwrap_or_default()
                    .into_values()
                {
                    self.no_end("turn", &session, line, END_TURN);
                }
            }
            "user:prompt_submit" if is_allowed(recorded) => self.begin_turn(recorded),
            "user:interrupt" => drop(self.turns.remove(&session)),
            // A blocked stop counts too: the host may let the agent stop in spite of it, after too many.
            "agent:stop" | "agent:stop_failure" | "llm:error" => self.end_turn(recorded),
            _ => {}
        }
        if recorded.decided.stops_turn {
            self.end_turn(recorded);
        }
    }

    fn begin_turn(&mut self, recorded: &Recorded) {
        let session = session_of(recorded);
        let turns = self.turns.entry(session.clone()).or_default();
        if let Some(line) = turns.insert(agent_of(&recorded.event), recorded.line) {
            self.no_end("turn", &session, line, END_TURN);
        }
    }

    fn end_turn(&mut self, recorded: &Recorded) {
        if let Some(turns) = self.turns.get_mut(&session_of(recorded)) {
            turns.remove(&agent_of(&recorded.event));
        }
    }

    fn allow(&mut self, name: &'static str, recorded: &Recorded) {
        if is_allowed(recorded) {
            let call = (session_of(recorded), name, recorded.call.clone());
            *self.allowed.entry(call).or_default() += 1;
        }
    }

    /// Consumes the event that allows this one, or notes that the host forgot it.
    fn needs(&mut self, name: &'static str, recorded: &Recorded, fix: &'static str) {
        let call = (session_of(recorded), name, recorded.call.clone());
        match self.allowed.get_mut(&call) {
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

    /// Notes a session or a turn that began at this line and had not ended when it should have.
    fn no_end(&mut self, what: &str, session: &Session, line: usize, fix: &'static str) {
        let of = match session {
            Session::Named(id) if what == "session" => format!(" `{id}`"),
            Session::Named(id) => format!(" of the session `{id}`"),
            Session::Of(_) => String::new(),
        };
        self.forgotten.push(Forgotten {
            line,
            what: format!("the {what}{of} has no end in this trace"),
            fix,
        });
    }
}

fn agent_of(event: &HookEvent) -> Agent {
    let text = |key: &str| event.data.get(key)?.as_str().map(str::to_owned);
    text("agent_id").or_else(|| text("agent_type").filter(|kind| kind != "main"))
}

fn session_of(recorded: &Recorded) -> Session {
    match &recorded.event.session_id {
        Some(id) => Session::Named(id.clone()),
        None => Session::Of(recorded.host),
    }
}

fn is_allowed(recorded: &Recorded) -> bool {
    let is_asked = recorded.was(ASK) || recorded.event.event_type.as_str() == "permission:check";
    match recorded.decided.decision {
        Decision::Allow => true,
        Decision::Ask => is_asked,
        Decision::Block => false,
    }
}
