//! Hooks that were written for other tools: Claude Code, Codex CLI, Gemini CLI.
//!
//! [`OtherTools`] says whose hooks a host runs; [`Tool::event`] reads an event that another tool has written. Each hook
//! finds the input of its own tool and answers as its tool expects: [what runs and what
//! differs](crate::docs::other_tools).
//!
//! No other module names a tool: it gives each hook a `Protocol`, and its files are a source of
//! hooks like hooks.json.

mod arguments;
mod ending;
#[cfg(test)]
mod ending_tests;
mod files;
mod input;
#[cfg(test)]
mod input_tests;
mod large_context;
mod lint;
#[cfg(test)]
#[cfg(unix)]
mod made_up_tests;
mod mapping;
mod matcher;
mod members;
mod protocol;
#[cfg(test)]
mod protocol_tests;
mod reader;
mod rule;
mod settings;
mod shell;
mod tool;
mod tools;

pub use input::EventError;
pub use settings::OtherTools;
pub use tool::Tool;
pub use tools::{CLAUDE, CODEX, GEMINI, TOOLS};

/// Reads this as the answer of a hook of each tool, on each of its events.
#[cfg(fuzzing)]
pub fn answers(stdout: &[u8]) {
    let text = String::from_utf8_lossy(stdout);
    let fired = crate::HookEvent::user_interrupt();
    for tool in TOOLS {
        for event in tool.events {
            for code in [0, 1, 2] {
                let end = crate::hook::End {
                    code: Some(code),
                    stdout: &text,
                    stdout_bytes: stdout,
                    stderr: &text,
                    gap: None,
                };
                let _ = ending::read(tool, event, &fired, ending::Strictness::Strict, &end);
            }
        }
    }
}
