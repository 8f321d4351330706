//! `fire --agent`: an event of an agent, and what this program answers to it as a hook of that agent.
//!
//! Does not decide: the same function answers under the agent.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::event;
use super::other_agent::{AS_AGENTS_DO, payload};
use crate::agents::{Agent, Event, OwnCommand};
use crate::bridge::{self, Answer, Registered};
use crate::cli::args::Fire;
use crate::cli::install::{only_itself, users_file, users_home};
use crate::cli::{CommandError, Context, Done, Exit, Style, Terminal};
use crate::config::{config_home, read_for_saving};
use crate::{Decision, json, printable};

/// The answer of this program to an agent, in the words of hooks.json.
#[derive(Serialize)]
pub(crate) struct Said {
    agent: &'static str,
    event: &'static str,
    pub(crate) decision: Decision,
    pub(crate) reason: Option<String>,
    pub(crate) updated_input: Option<Map<String, Value>>,
    pub(crate) updated_output: Option<Value>,
    /// Text for the model.
    pub(crate) context: Option<String>,
    /// The answer in the agent's form; null if there is none.
    answer: Value,
    exit_code: u8,
}

pub(super) fn run(
    agent: &'static Agent,
    args: &Fire,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Done {
    if !args.settings.is_empty() || !args.plugin.is_empty() {
        let message = "`--settings` and `--plugin` name hooks of the agent, which do not run here";
        let fix = format!("add `--other-agents {agent}`, to run the agent's own hooks");
        return Err(CommandError::new(message).with_fix(fix));
    }
    let (file, payload) = payload(agent, args, context, terminal)?;
    let name = payload.get("hook_event_name").and_then(Value::as_str);
    let Some(name) = name.map(str::to_owned) else {
        let message = "expected a text `hook_event_name`";
        return Err(event::cannot_read(file, message).with_fix(AS_AGENTS_DO));
    };
    let answered = Said::on(agent, &name, payload, context, terminal)?;
    terminal.show(args.json, &answered)?;
    Ok(match terminal.interrupted() {
        Some(status) => Exit(status),
        None => Exit::fine_if(answered.decision == Decision::Allow),
    })
}

/// Returns the event of an agent with this name.
fn named(agent: &'static Agent, name: &str) -> Result<&'static Event, CommandError> {
    agent.event_named(name).ok_or_else(|| {
        let title = agent.title();
        let error = CommandError::new(format!("{title} has no event `{name}`"));
        match agent.nearest_event(name) {
            Some(nearest) => error.with_fix(format!("did you mean `{nearest}`?")),
            None => error,
        }
    })
}

impl Said {
    /// Answers an event of an agent with this name, as under the agent.
    pub(crate) fn on(
        agent: &'static Agent,
        name: &str,
        mut payload: Map<String, Value>,
        context: &Context<'_>,
        terminal: &mut Terminal<'_>,
    ) -> Result<Self, CommandError> {
        let event = named(agent, name)?;
        only_itself(context)?;
        if context.common.selects_files() {
            let message = "under an agent, hooks are those of the usual files";
            let fix =
                "leave `--config`, `--project` and `--no-global` out, and start in the project";
            return Err(CommandError::new(message).with_fix(fix));
        }
        // An event of a session that has ended must not change what is kept of it.
        payload.remove("session_id");
        let registered = registered(agent, event, context)?;
        let input = Value::Object(payload).to_string();
        let answer = bridge::answer(&registered, &input, &mut || {
            terminal.interrupted().is_some()
        });
        Ok(Self::read(agent, event, &answer))
    }

    /// Reads an answer as the agent does.
    fn read(agent: &'static Agent, event: &'static Event, answer: &Answer) -> Self {
        let whole: Value = json::read(&answer.stdout).unwrap_or_default();
        let row = &event.specific;
        let specific = whole.get("hookSpecificOutput").unwrap_or(&whole);
        let decided = row.within.map_or(Some(specific), |key| specific.get(key));
        let own = row.decision.and_then(|(key, _)| decided?.get(key));
        let word = own.or_else(|| whole.get("decision"));
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let ends = whole.get("continue") == Some(&Value::Bool(false));
        let decision = match word.and_then(Value::as_str) {
            _ if answer.code == 2 || ends => Decision::Block,
            Some("deny" | "block") => Decision::Block,
            Some("ask") => Decision::Ask,
            _ => Decision::Allow,
        };
        let own_reason = row.reason.and_then(|key| decided?.get(key));
        let reason = text(own_reason.or_else(|| whole.get("reason")));
        let stop = text(whole.get("stopReason"));
        let error = Some(answer.stderr.trim_end().to_owned()).filter(|text| !text.is_empty());
        let input = row.input.and_then(|key| specific.get(key));
        let mut outputs = row.output.iter();
        Self {
            agent: agent.name(),
            event: event.name,
            decision,
            reason: error.or(reason).or(stop),
            updated_input: input.and_then(Value::as_object).cloned(),
            updated_output: outputs.find_map(|key| specific.get(key)).cloned(),
            context: text(specific.get("additionalContext")),
            answer: whole,
            exit_code: answer.code,
        }
    }
}

/// Returns the command as it is registered, or as `install` would register it.
fn registered(
    agent: &'static Agent,
    event: &'static Event,
    context: &Context<'_>,
) -> Result<Registered, CommandError> {
    let home = users_home()?;
    let text = read_for_saving(&users_file(agent, &home)).ok().flatten();
    let own = bridge::registered(agent, &text.unwrap_or_default()).unwrap_or_default();
    let mut own = own.iter().filter(|(name, _)| *name == event.name);
    let own = own.find_map(|(_, handler)| OwnCommand::read(agent, handler["command"].as_str()?));
    let path = own.as_ref().and_then(|own| own.option("--path"));
    let usual = || std::env::var_os("PATH").unwrap_or_default();
    let inherited = own.iter().flat_map(|own| own.options("--inherit"));
    Ok(Registered {
        agent,
        event,
        profile: context.profile().clone(),
        config_home: config_home().filter(|directory| *directory != home.join(".config")),
        path: path.map_or_else(usual, Into::into),
        inherited: inherited.map(str::to_owned).collect(),
        timeout: agent.registered_timeout(event),
        trace_events: None,
        is_background: false,
        home,
    })
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (style, word) = match self.decision {
            Decision::Block => (Style::BAD, "blocks"),
            Decision::Ask => (Style::WARNING, "asks"),
            Decision::Allow => (Style::GOOD, "lets it continue"),
        };
        let (agent, event) = (self.agent, self.event);
        writeln!(f, "{event} of {agent}: {}", style.of(word))?;
        let json = |value: Option<&Value>| value.map(Value::to_string);
        let input = self.updated_input.clone().map(Value::Object);
        for (what, text) in [
            ("reason", self.reason.clone()),
            ("changes", json(input.as_ref())),
            ("output", json(self.updated_output.as_ref())),
            ("context", self.context.clone()),
            (
                "answer",
                json(Some(&self.answer).filter(|answer| !answer.is_null())),
            ),
        ] {
            for line in text.iter().flat_map(|text| text.lines()) {
                writeln!(f, "  {what:<8} {}", printable(line))?;
            }
        }
        writeln!(f, "  exit code {}", self.exit_code)
    }
}
