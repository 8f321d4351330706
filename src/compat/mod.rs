//! Hooks that were written for other agents: those in [`AGENTS`].
//!
//! [`OtherAgents`] selects the agents whose hooks a host runs; [`Agent::event`] reads an event that another agent has
//! written. Each hook finds the input of its own agent and answers as its agent expects: [what runs and what
//! differs](crate::docs::other_agents).
//!
//! Outside of this module, only `bridge`, `lint` and `other_agents` name an agent: each hook has a `Protocol`, and
//! `other_agents` reads the files, a source of hooks like hooks.json.

mod agent;
mod agents;
mod arguments;
mod bridged;
mod copilot;
mod ending;
#[cfg(test)]
mod ending_tests;
mod gemini;
mod grok;
mod input;
#[cfg(test)]
mod input_tests;
mod kimi;
#[cfg(test)]
#[cfg(unix)]
mod made_up_tests;
mod mapping;
mod matcher;
mod members;
mod opencode;
mod own_command;
#[cfg(test)]
mod page_tests;
mod pi;
mod protocol;
#[cfg(test)]
mod protocol_tests;
mod qwen;
mod rule;
mod settings;
mod shell;

pub use agent::Agent;
#[cfg(feature = "cli")]
pub(crate) use agent::Tool;
pub(crate) use agent::{Effect, Event, Fires, Variable, value_of};
pub use agents::*;
pub(crate) use bridged::BRIDGED;
#[cfg(feature = "cli")]
pub(crate) use copilot::COPILOT;
#[cfg(feature = "cli")]
pub(crate) use gemini::GEMINI;
pub use input::EventError;
#[cfg(all(test, unix, feature = "cli"))]
pub(crate) use input_tests::INPUTS;
pub(crate) use own_command::OwnCommand;
#[cfg(feature = "cli")]
pub(crate) use own_command::{
    DID_NOT_RUN, INHERIT, PROGRAM, RUN, RUN_AND_KEEP, TRACE_EVENTS, is_called_so,
};
pub(crate) use protocol::{AgentProtocol, Origin};
pub(crate) use rule::Rule;
pub use settings::OtherAgents;
#[cfg(feature = "cli")]
pub(crate) use {
    grok::GROK,
    kimi::KIMI,
    opencode::{KILO, OPENCODE},
    pi::PI,
    qwen::QWEN,
};

/// Reads the output of a hook of this agent: its exit code, standard output and standard error.
#[cfg(test)]
#[cfg(feature = "cli")]
pub(crate) fn read(
    agent: &Agent,
    event: &Event,
    (code, stdout, stderr): (i32, &str, &str),
) -> crate::entry::Reading {
    let end = crate::protocol::Exit {
        code: Some(code),
        stdout,
        stdout_bytes: stdout.as_bytes(),
        stderr,
        gap: None,
    };
    let fired = crate::HookEvent::user_interrupt();
    ending::read(agent, event, &fired, ending::Strictness::Lenient, &end)
}

/// Reads this as the answer of a hook of each agent, on each of its events.
#[cfg(fuzzing)]
pub fn answers(stdout: &[u8]) {
    let text = String::from_utf8_lossy(stdout);
    let fired = crate::HookEvent::user_interrupt();
    for agent in AGENTS {
        for event in agent.events {
            for code in [0, 1, 2] {
                let end = crate::protocol::Exit {
                    code: Some(code),
                    stdout: &text,
                    stdout_bytes: stdout,
                    stderr: &text,
                    gap: None,
                };
                let _ = ending::read(agent, event, &fired, ending::Strictness::Strict, &end);
            }
        }
    }
}
