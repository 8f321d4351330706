//! Hooks that were written for other agents: those in [`AGENTS`].
//!
//! [`OtherAgents`] selects the agents whose hooks a host runs; [`Agent::event`] reads an event that another agent has
//! written. Each hook finds the input of its own agent and answers as its agent expects: [what runs and what
//! differs](crate::docs::other_agents).
//!
//! Outside of this module and `agents`, only `bridge`, `lint` and `other_agents` name an agent: each hook has a `Protocol`, and
//! `other_agents` reads the files, a source of hooks like hooks.json.

mod arguments;
mod ending;
#[cfg(test)]
mod ending_tests;
mod input;
#[cfg(test)]
mod input_tests;
#[cfg(test)]
#[cfg(unix)]
mod made_up_tests;
mod mapping;
mod matcher;
mod members;
mod protocol;
#[cfg(test)]
mod protocol_tests;
mod rule;
mod settings;
mod shell;

pub use crate::agents::{AGENTS, Agent, CLAUDE, CODEX};
#[cfg(all(test, unix, feature = "cli"))]
pub(crate) use input_tests::INPUTS;
pub(crate) use protocol::{AgentProtocol, Origin};
pub(crate) use rule::Rule;
pub use settings::OtherAgents;

/// Reads the output of a hook of this agent: its exit code, standard output and standard error.
#[cfg(test)]
#[cfg(feature = "cli")]
pub(crate) fn read(
    agent: &Agent,
    event: &crate::agents::Event,
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
