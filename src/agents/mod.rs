//! Coding agents, a file each: a value with everything in which an agent differs from others. Other code names one only where two
//! meet: `bridge/registered.rs`, `other_agents/files.rs`.
//!
//! Each value is a `static`, since the program would have a constant several times, and start later.
//! `bridge` runs hooks of hooks.json under them; `compat` runs the own hooks of [`AGENTS`] in hosts.

mod agent;
mod answers;
mod claude;
mod codex;
mod copilot;
mod emulated;
mod event;
mod gemini;
mod grok;
mod kimi;
mod names;
mod opencode;
mod own_command;
#[cfg(test)]
mod page_tests;
mod pi;
mod qwen;
mod reading;
mod row;
mod tool;

pub use agent::Agent;
pub(crate) use agent::Variable;
#[cfg(feature = "cli")]
pub(crate) use answers::{Answers, BlockedBy, Messages, Outputs, Questions};
pub use claude::CLAUDE;
pub use codex::CODEX;
pub(crate) use copilot::COPILOT;
pub(crate) use emulated::UsualShell;
#[cfg(all(test, unix))]
pub(crate) use event::EVENT;
pub(crate) use event::{Effect, Event, Fires, Specific, TOOL_NAME, Unset};
pub(crate) use gemini::GEMINI;
pub(crate) use grok::GROK;
pub(crate) use kimi::KIMI;
pub(crate) use names::{Words, value_of};
pub(crate) use opencode::{KILO, OPENCODE};
pub(crate) use own_command::OwnCommand;
#[cfg(feature = "cli")]
pub(crate) use own_command::{
    DID_NOT_RUN, INHERIT, PROGRAM, RUN, RUN_AND_KEEP, TRACE_EVENTS, is_called_so,
};
pub(crate) use pi::PI;
pub(crate) use qwen::QWEN;
#[cfg(feature = "cli")]
pub(crate) use reading::EventError;
#[cfg(feature = "cli")]
pub(crate) use row::APPLY_PATCH;
pub(crate) use tool::Tool;

/// The agents whose hooks hosts run.
pub const AGENTS: [&Agent; 2] = [CLAUDE, CODEX];

/// The agents under which this program runs hooks.
pub(crate) const BRIDGED: [&Agent; 10] = [
    CLAUDE, CODEX, GEMINI, COPILOT, QWEN, KIMI, OPENCODE, KILO, PI, GROK,
];

/// Returns the agent with this name on the command line.
#[cfg(feature = "cli")]
pub(crate) fn named(name: &str) -> Option<&'static Agent> {
    BRIDGED.into_iter().find(|agent| agent.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventType;

    #[test]
    fn rows_name_events_and_keys_that_there_are() {
        for agent in AGENTS {
            let names: Vec<_> = agent.event_names().collect();
            for (index, event) in agent.events.iter().enumerate() {
                let is_known = |ours| EventType::of_name(ours).is_ok();
                assert_eq!(
                    event.ours().is_some_and(is_known),
                    event.fires != Fires::Never,
                    "{event:?}"
                );
                assert!(!names[index + 1..].contains(&event.name), "{event:?}");
            }
        }
    }

    #[test]
    fn lists_of_names_have_their_characters() {
        for (matcher, agents) in [
            ("Bash", &[CLAUDE, CODEX][..]),
            ("Edit|mcp__a__b2", &[CLAUDE, CODEX]),
            ("mcp__my-server", &[CLAUDE]),
            ("Edit, Write", &[CLAUDE]),
            ("Edit |Write", &[CLAUDE]),
            ("Edit.*", &[]),
            ("Änderung", &[]),
        ] {
            let of_list = AGENTS
                .into_iter()
                .filter(|agent| agent.is_list_of_names(matcher));
            assert_eq!(of_list.collect::<Vec<_>>(), agents, "{matcher}");
        }
    }

    #[test]
    fn tools_have_the_agents_names() {
        for (agent, ours, expected) in [
            (CLAUDE, "bash", "Bash"),
            (CLAUDE, "Bash", "Bash"),
            (CODEX, "edit", "apply_patch"),
            (CODEX, "mcp__x__y", "mcp__x__y"),
        ] {
            assert_eq!(agent.tool_name(ours), expected);
        }
    }

    #[test]
    fn answers_name_events_of_their_agent() {
        for agent in BRIDGED {
            let answers = &agent.answers;
            let names = answers.context.iter().chain(answers.cannot_end_turn);
            let names = names.chain(answers.messages_beside_block);
            for name in names.copied().chain(answers.ends_turn_later) {
                assert!(agent.event_named(name).is_some(), "{agent} {name}");
            }
        }
    }
}
