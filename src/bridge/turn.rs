//! Handles one event of an agent, and its effects on the session.

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::background;
use super::call::Call;
use super::decision::{CallDecision, Scene};
use super::dispatch::Dispatch;
use super::firing::{Deadline, Firing};
use super::paths::Places;
use super::registered::Registered;
use super::session::{Beginning, Session, note_start};
use super::settings;
use crate::agents::{APPLY_PATCH, Agent, Answers, Event, Questions};
use crate::error::SetupError;
use crate::events::{AGENT_ID, EventType, HookEvent};
use crate::executor::FireOptions;
use crate::hook::Hook;
use crate::hooks::Hooks;
use crate::json;
use crate::printable::printable;
use crate::trace::Trace;

/// Members that only events of Cursor have.
const OF_CURSOR: [&str; 2] = ["cursor_version", "workspace_roots"];

/// The remedy if Cursor runs the command. <https://cursor.com/docs/reference/third-party-hooks>
const BY_CURSOR: &str = "the event is one of Cursor, which also runs the hooks in the settings of Claude Code, and for which this \
    command is not: switch off `Include third-party Plugins, Skills, and other configs` in Cursor's settings";

/// The event of an agent that asks before it applies a change of its settings.
const SETTINGS_CHANGED: &str = "session:config_changed";

/// The time that an answer waits for the last lines of the recorded events.
const LAST_LINES: Duration = Duration::from_millis(200);

/// Practically unlimited: every hook has its own deadline.
const NO_DEADLINE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// One event of an agent, and the hooks that it may have.
pub(super) struct Turn<'a> {
    registered: &'a Registered,
    input: &'a str,
    event: HookEvent,
    cwd: PathBuf,
    session: Option<Session>,
    deadline: Deadline,
    hooks: Hooks,
    /// The root of the session.
    root: PathBuf,
    /// A file that had hooks when the session began, and has none now.
    gone: Option<String>,
    /// The trace that records the events; the error if that is not possible.
    trace: Option<Result<Trace, SetupError>>,
    /// The output of a tool in its own form.
    output: Value,
}

impl<'a> Turn<'a> {
    /// Reads an event as the agent has written it, and the hooks that it may have.
    ///
    /// # Errors
    /// If the input cannot be understood.
    pub(super) fn read(
        registered: &'a Registered,
        input: &'a str,
        deadline: Deadline,
    ) -> Result<Self, String> {
        registered.check_home()?;
        let agent = registered.agent;
        let fields: Map<String, Value> = json::read(input).map_err(|error| {
            format!(
                "the event of {} is not a JSON object: {error}",
                agent.title()
            )
        })?;
        let fields = with_named_patch(agent, fields);
        check(&fields, registered.event)?;
        let text = |key: &str| fields.get(key).and_then(Value::as_str);
        let cwd = text("cwd").map(PathBuf::from).unwrap_or_default();
        let session = text("session_id").map(|id| Session::new(&registered.home, agent, id));
        let output = fields.get(agent.key("tool_result")).cloned();
        let output = output.unwrap_or_default();
        let event = agent.event(Value::Object(fields));
        let event = event.map_err(|error| error.to_string())?;
        let own = session.as_ref().map(Session::beginning).transpose()?;
        let is_first = own == Some(None);
        let mut begun = own.flatten();
        if is_first && !starts_agent(&event) {
            begun = Session::beginning_above(&registered.home)?;
        }
        let root = registered.root(begun.as_ref())?;
        let trace = registered.trace(&root);
        let recording = trace.as_ref().and_then(|trace| trace.as_ref().ok());
        let hooks = registered.hooks(&root, recording, deadline.grace);
        let now = Beginning {
            files: files_of(&hooks),
            root,
        };
        if let Some(session) = session
            .as_ref()
            .filter(|_| is_first || starts_agent(&event))
        {
            session.begin(begun.as_ref().filter(|_| is_first).unwrap_or(&now))?;
        }
        if event.event_type == EventType::SessionStart {
            note_start(&registered.home, agent);
        }
        let mut gone = None;
        if starts_agent(&event) {
            Session::note_process(&registered.home, &now);
        } else {
            let files = begun.into_iter().flat_map(|begun| begun.files);
            gone = files.into_iter().find(|file| !now.files.contains(file));
        }
        Ok(Self {
            event,
            hooks,
            root: now.root.directory,
            gone,
            trace,
            registered,
            input,
            cwd,
            session,
            deadline,
            output,
        })
    }

    /// Fires the events of the call at the hooks. Returns what they have decided, as far as the session allows it.
    pub(super) fn decide(&self, is_interrupted: &mut dyn FnMut() -> bool) -> CallDecision {
        let row = self.registered.event;
        let answers = &self.registered.agent.answers;
        if self.is_no_prompt(answers) {
            return CallDecision::default();
        }
        let mut options = FireOptions::default()
            .applies_updates()
            .without_background();
        if asks_at(answers, row) {
            options = options.handles_ask();
        }
        if row.is_stop() {
            options = options.only_decisions();
        }
        let mut decision = self.fire(Firing {
            options,
            deadline: self.deadline,
            is_interrupted,
        });
        if let Some(file) = self
            .gone
            .as_ref()
            .filter(|_| row.can_block() && !row.is_stop())
        {
            decision.block_with(format!(
                "blocked by forge-hooks: `{}` had hooks when this session began, and has none now: restore it, or start the agent again",
                printable(file)
            ));
        }
        self.guard_settings(&mut decision);
        if self.event.event_type == EventType::SessionStart {
            self.note_problems(&mut decision);
        }
        self.end_turn(answers, &mut decision);
        self.limit_stops(&mut decision);
        decision
    }

    /// Returns the decision in the form that the agent reads.
    pub(super) fn write(self, decision: CallDecision) -> Answer {
        let has_hooks = decision.has_hooks;
        let answers = &self.registered.agent.answers;
        let answer = answers.answer(self.registered.event, &self.output, decision);
        if let Some(Ok(trace)) = &self.trace {
            trace.flush(LAST_LINES.min(self.deadline.grace));
        }
        if !has_hooks {
            // The process ends now, and freeing hooks of which none has run would take longer than all the work before.
            std::mem::forget(self.hooks);
        }
        answer
    }

    /// Returns whether the agent fires the event of a prompt, but has none of the user.
    fn is_no_prompt(&self, answers: &Answers) -> bool {
        let data = &self.event.data;
        let is_empty = data.get("content").is_some_and(|text| text == "");
        let has_not = |key: &str| is_empty && !data.contains_key(key);
        self.event.event_type == EventType::UserPromptSubmit
            && answers.prompts_have.is_some_and(has_not)
    }

    fn call(&self) -> Call<'_> {
        let places = Places {
            cwd: &self.cwd,
            root: &self.root,
        };
        Call::new(self.registered.agent, self.event.clone(), places)
    }

    /// Fires the events of the call, and starts hooks in the background.
    fn fire<'f>(&'f self, firing: Firing<'f>) -> CallDecision {
        let mut dispatch = Dispatch {
            firing,
            scene: Scene {
                agent: self.registered.agent,
                is_end: self.registered.event.is_stop(),
            },
            home: &self.registered.home,
            root: &self.root,
            is_tool: self.event.tool_name.is_some(),
            background: Vec::new(),
            unanswered: Vec::new(),
            decision: CallDecision::default(),
        };
        dispatch.call(&self.hooks, self.call());
        let mut decision = std::mem::take(&mut dispatch.decision);
        if !dispatch.background.is_empty()
            && let Err(error) =
                background::start(&self.input_after(&decision), &dispatch.background)
        {
            decision.note(&format!("cannot start hooks in the background: {error}"));
        }
        decision
    }

    /// Returns the input with the changes of other hooks: a part of an output that they have removed stays removed.
    fn input_after(&self, decision: &CallDecision) -> Cow<'_, str> {
        if decision.output.is_none() && decision.input.is_none() {
            return self.input.into();
        }
        // `Turn::read` has read the same text without an error.
        let mut fields: Map<String, Value> = json::read(self.input).unwrap_or_default();
        let key = |ours: &str| self.registered.agent.key(ours).to_owned();
        let output = decision.output.iter().cloned();
        fields.extend(output.map(|output| (key("tool_result"), output)));
        let input = decision.input.iter().cloned();
        fields.extend(input.map(|input| (key("tool_args"), input.into())));
        Value::from(fields).to_string().into()
    }

    /// Adds the mistakes in hooks files, the hooks that are not approved, and that hooks are gone, to the user's lines.
    fn note_problems(&self, decision: &mut CallDecision) {
        for problem in &self.hooks.report().problems {
            decision.note(&problem.to_string());
        }
        if let Some(message) = self.registered.vanished() {
            decision.note(&message);
        }
        if let Some(Err(error)) = &self.trace {
            decision.note(&format!("events are not recorded: {}", error.with_cause()));
        }
    }

    /// Keeps the agent's settings from being changed so that our hooks do not run.
    fn guard_settings(&self, decision: &mut CallDecision) {
        let Some(session) = &self.session else {
            return;
        };
        let agent = self.registered.agent;
        if self.registered.event.ours() == Some(SETTINGS_CHANGED) {
            if let Some(why) = settings::objection(agent, &session.settings()) {
                decision.block_with(why);
            }
            return;
        }
        // A person may have changed them since the agent was started last.
        let begins = starts_agent(&self.event);
        session.keep_settings(begins, || {
            let start = self.registered.start().unwrap_or_default();
            settings::snapshot(agent, &[&self.root, &self.registered.home, &start])
        });
    }

    /// Returns the id of a subagent; empty for the agent itself.
    fn agent_id(&self) -> &str {
        let context = self.event.context();
        let of_context = context.and_then(|context| context.field(AGENT_ID));
        let id = self.event.data.get(AGENT_ID).or(of_context);
        id.and_then(Value::as_str).unwrap_or_default()
    }

    /// Ends the turn at the first event at which the agent allows it.
    fn end_turn(&self, answers: &Answers, decision: &mut CallDecision) {
        let Some(session) = &self.session else {
            return;
        };
        let agent = self.agent_id();
        match &self.event.event_type {
            EventType::UserPromptSubmit => drop(session.ended_turn(agent)),
            EventType::ToolPreExecute if answers.ends_turn_later.is_some() => {
                if let Some(reason) = &decision.stop {
                    session.end_turn(agent, reason);
                }
            }
            _ if answers.ends_turn_later == Some(self.registered.event.name) => {
                decision.stop = decision.stop.take().or_else(|| session.ended_turn(agent));
            }
            _ => {}
        }
    }

    /// Lets a turn end that hooks have kept from it too often.
    fn limit_stops(&self, decision: &mut CallDecision) {
        let session = self.session.as_ref();
        if !self.registered.event.is_stop() {
            if self.event.event_type == EventType::ToolPreExecute {
                session.map(Session::note_tool);
            }
            return;
        }
        let agent = self.agent_id();
        let name = self.registered.event.name;
        let is_blocked = decision.block.is_some();
        let may_block =
            session.is_some_and(|session| session.may_block_stop(name, agent, is_blocked));
        if let Some(reason) = decision.block.take_if(|_| !may_block) {
            decision.note(&format!(
                "hooks have kept the agent from its end too often: {reason}"
            ));
        }
    }

    /// Runs the hooks in the background with these fingerprints to their end.
    pub(super) fn run_background(&self, fingerprints: &[u64]) {
        let (hooks, call) = (&self.hooks, self.call());
        let is_own =
            |hook: &Arc<Hook>| hook.background() && fingerprints.contains(&hook.fingerprint());
        let own: Vec<_> = hooks
            .executor()
            .registry()
            .hooks()
            .into_iter()
            .filter(is_own)
            .collect();
        hooks.executor().registry().clear();
        hooks.executor().registry().load_hooks(own);
        let whole = call.whole().unwrap_or_else(|_| call.as_it_came());
        for event in std::iter::once(whole).chain(call.parts().unwrap_or_default()) {
            let _ = hooks.execute(&event);
        }
        hooks.shutdown(NO_DEADLINE);
    }
}

/// Returns whether the agent asks its user the questions of hooks at this event.
fn asks_at(answers: &Answers, event: &Event) -> bool {
    match answers.questions {
        // The agent is about to ask.
        _ if event.specific.within.is_some() => true,
        Questions::Never => false,
        Questions::Reason => event.is_before_tool() && event.specific.decision.is_some(),
        Questions::Message => event.is_before_tool() && has_terminal(),
    }
}

/// Returns whether the agent has a terminal, on which it can ask. Hooks are in its session.
fn has_terminal() -> bool {
    let terminal = if cfg!(windows) { "CONIN$" } else { "/dev/tty" };
    File::open(terminal).is_ok()
}

/// Returns whether a person has just started the agent, in a new session or in an earlier one.
fn starts_agent(event: &HookEvent) -> bool {
    let of_agent = event
        .data
        .get("agent")
        .and_then(|agent| agent.get("source"));
    let source = of_agent
        .or(event.data.get("source"))
        .and_then(Value::as_str);
    event.event_type == EventType::SessionStart
        && matches!(source, Some("startup" | "new" | "resume"))
}

/// Returns the files that have hooks.
fn files_of(hooks: &Hooks) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for hook in hooks
        .executor()
        .registry()
        .hooks()
        .iter()
        .filter(|hook| hook.enabled())
    {
        let source = hook.source().map(|source| source.path.to_string_lossy());
        if let Some(file) = source.filter(|file| files.last().is_none_or(|last| *last != **file)) {
            files.push(file.into_owned());
        }
    }
    files
}

/// Gives a patch that is the whole input of a tool the form in which other agents have it.
pub(super) fn with_named_patch(
    agent: &Agent,
    mut fields: Map<String, Value>,
) -> Map<String, Value> {
    if agent.bare_patches
        && let Some(patch @ Value::String(_)) = fields.get_mut("tool_input")
    {
        *patch = json!({"command": patch.take()});
        fields.insert("tool_name".to_owned(), APPLY_PATCH.into());
    }
    fields
}

/// Checks that an event has the fields that are needed to understand it.
fn check(fields: &Map<String, Value>, event: &Event) -> Result<(), String> {
    let is_cursors = OF_CURSOR.iter().any(|key| fields.contains_key(*key));
    check_form(fields, event).map_err(|why| {
        if is_cursors {
            format!("{why}; {BY_CURSOR}")
        } else {
            why
        }
    })
}

fn check_form(fields: &Map<String, Value>, event: &Event) -> Result<(), String> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let name = text("hook_event_name").unwrap_or_default();
    if name != event.name {
        return Err(format!(
            "`hook_event_name` is `{}`, expected `{}`, as the command is registered",
            printable(name),
            event.name
        ));
    }
    let has_directory = text("cwd").is_some_and(|cwd| Path::new(cwd).is_absolute());
    if !has_directory {
        return Err("`cwd` of the event is not an absolute path".to_owned());
    }
    let has_call =
        text("tool_name").is_some() && fields.get("tool_input").is_some_and(Value::is_object);
    if event.is_of_tool() && !has_call {
        return Err("expected a text `tool_name` and an object `tool_input`".to_owned());
    }
    Ok(())
}
