//! `hook`: an agent starts this command as a hook of its own, for each of its events.
//!
//! The command line is the registered command, so it is read apart from the others: a mistake in it is reported in the
//! agent's way.

use std::ffi::OsString;
use std::thread;

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::AppProfile;
use crate::agents::{self, Agent, Effect, Event};
use crate::bridge::{self, Answer, Registered};
use crate::cli::args::Hook;
use crate::cli::io::{end, start};
use crate::cli::{Exit, Io, first_value};

/// The most bytes of an event.
const LONGEST_EVENT: usize = 256 * 1024 * 1024;

#[derive(Parser)]
#[command(name = "hook", args_override_self = true)]
struct Line {
    #[command(flatten)]
    hook: Hook,
}

/// Answers one event of an agent, if this is the command line of `hook`.
pub(crate) fn run(args: &[OsString], io: &mut Io<'_>) -> Option<Exit> {
    let (command, args) = args.split_first()?;
    if command != "hook" {
        return None;
    }
    let command = Line::command()
        .bin_name(format!("{} hook", io.program))
        .no_binary_name(true);
    let parsed = command
        .try_get_matches_from(args)
        .and_then(|matches| Line::from_arg_matches(&matches));
    let (hook, registered) = match parsed {
        Ok(line) => match line.hook.registered() {
            Ok(registered) => (line.hook, registered),
            Err(why) => return Some(report(io, &why, 1)),
        },
        // The help for all commands has this one too.
        Err(help) if !help.use_stderr() => return None,
        Err(error) => {
            let error = error.to_string();
            return Some(match intended(args) {
                Some((agent, event)) => answered(io, &bridge::fault(agent, event, &error)),
                None => {
                    let code = if is_end(args) { 1 } else { 2 };
                    report(io, &format!("blocked by forge-hooks: {error}"), code)
                }
            });
        }
    };
    if io.terminal.is_system && hook.background.is_empty() {
        let _ = start(watch(&registered));
    }
    let read = first_value::read(&mut io.terminal.input, LONGEST_EVENT);
    if !hook.background.is_empty() {
        bridge::run_background(&registered, &read.unwrap_or_default(), &hook.background);
        return Some(Exit::FINE);
    }
    let terminal = &mut io.terminal;
    let answer = match read {
        Ok(input) => bridge::answer(&registered, &input, &mut || {
            terminal.interrupted().is_some()
        }),
        Err(error) => {
            let why = format!("cannot read the event: {error}");
            bridge::fault(registered.agent, registered.event, &why)
        }
    };
    let result = terminal.write_all(answer.stdout.as_bytes());
    if result.and_then(|()| terminal.flush()).is_err() {
        // The agent gets no JSON, only the exit code.
        let event = registered.event;
        let blocks = event.effect == Effect::Blocks && !event.is_stop();
        let why = "blocked by forge-hooks: cannot write the answer";
        return Some(report(io, why, if blocks { 2 } else { 1 }));
    }
    Some(ended(io, &answer))
}

/// Writes an answer.
fn answered(io: &mut Io<'_>, answer: &Answer) -> Exit {
    // The agent gets the exit code even if standard output is closed.
    let _ = io.terminal.write_all(answer.stdout.as_bytes());
    let _ = io.terminal.flush();
    ended(io, answer)
}

fn ended(io: &mut Io<'_>, answer: &Answer) -> Exit {
    match answer.stderr.trim_end() {
        "" => Exit(answer.code),
        reason => report(io, reason, answer.code),
    }
}

/// Answers in time if anything but the hooks takes too long: after its own timeout, the agent allows everything.
fn watch(registered: &Registered) -> impl FnOnce() + Send + use<> {
    let (last, answer) = bridge::late(registered);
    move || {
        thread::sleep(last);
        end(&answer.stdout, &answer.stderr, answer.code)
    }
}

/// Writes a reason for the agent.
fn report(io: &mut Io<'_>, reason: &str, code: u8) -> Exit {
    // The agent gets the exit code even if standard error is closed too.
    let _ = io.terminal.note(reason.trim_end());
    Exit(code)
}

/// Returns the agent and the event of a command line that is not understood.
fn intended(args: &[OsString]) -> Option<(&'static Agent, &'static Event)> {
    let [agent, event, ..] = args else {
        return None;
    };
    let agent = agents::named(agent.to_str()?)?;
    Some((agent, agent.event_named(event.to_str()?)?))
}

/// Returns whether a command line that is not understood is for the end of a turn of some agent, where code 2 would let it go on.
fn is_end(args: &[OsString]) -> bool {
    let name = args.get(1).and_then(|name| name.to_str());
    let mut agents = agents::BRIDGED.into_iter();
    name.is_some_and(|name| agents.any(|agent| agent.event_named(name).is_some_and(Event::is_stop)))
}

impl Hook {
    /// # Errors
    /// If the agent has no such event.
    fn registered(&self) -> Result<Registered, String> {
        let agent = self.agent;
        let event = agent.event_named(&self.event);
        let nearest = agent.nearest_event(&self.event);
        let profile = self.profile.as_ref();
        Ok(Registered {
            agent,
            event: event.ok_or_else(|| {
                format!(
                    "{} has no event `{}`, as far as forge-hooks knows{}: no hook runs",
                    agent.title(),
                    self.event,
                    nearest
                        .map(|name| format!(" (did you mean `{name}`?)"))
                        .unwrap_or_default()
                )
            })?,
            profile: profile.map_or_else(AppProfile::default, AppProfile::new),
            home: self.home.clone(),
            config_home: self.config_home.clone(),
            path: self.path.clone(),
            inherited: self.inherit.clone(),
            timeout: self.timeout,
            is_background: !self.background.is_empty(),
            // The process that answered has recorded the events.
            trace_events: self
                .recording
                .trace_events
                .clone()
                .filter(|_| self.background.is_empty()),
        })
    }
}
