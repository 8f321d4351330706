//! The tools whose hooks this crate runs. Another tool is another row, and a file with its value.

use super::tool::Tool;
use super::{claude, codex, gemini};

/// Claude Code.
pub const CLAUDE: &Tool = &claude::TOOL;

/// Codex CLI.
pub const CODEX: &Tool = &codex::TOOL;

/// Gemini CLI.
pub const GEMINI: &Tool = &gemini::TOOL;

/// All tools.
pub const TOOLS: [&Tool; 3] = [CLAUDE, CODEX, GEMINI];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{EventType, meant_by};

    #[test]
    fn every_event_is_one_of_ours() {
        for tool in TOOLS {
            let names: Vec<_> = tool.event_names().collect();
            for (index, name) in names.iter().enumerate() {
                let event = tool.event_named(name).unwrap();
                if let Some(ours) = event.ours {
                    EventType::of_name(ours).unwrap();
                    let meant = meant_by(event.name);
                    let is_told = event.is_of_host || event.name == "Interrupt";
                    assert!(meant.as_deref() == Some(ours) || is_told && meant.is_none());
                }
                assert!(!names[index + 1..].contains(name));
            }
        }
    }

    #[test]
    fn lists_of_names_have_their_characters() {
        for (matcher, tools) in [
            ("Bash", &[CLAUDE, CODEX][..]),
            ("Edit|mcp__a__b2", &[CLAUDE, CODEX]),
            ("mcp__my-server", &[CLAUDE]),
            ("Edit, Write", &[CLAUDE]),
            ("Edit |Write", &[CLAUDE]),
            ("Edit.*", &[]),
            ("Änderung", &[]),
        ] {
            let found = TOOLS.into_iter().filter(|it| it.is_list_of_names(matcher));
            assert_eq!(found.collect::<Vec<_>>(), tools, "{matcher}");
        }
    }

    #[test]
    fn tools_have_the_other_tools_names() {
        for (tool, ours, expected) in [
            (CLAUDE, "bash", "Bash"),
            (CLAUDE, "Bash", "Bash"),
            (CODEX, "edit", "apply_patch"),
            (GEMINI, "bash", "run_shell_command"),
            (GEMINI, "mcp__x__y", "mcp__x__y"),
        ] {
            assert_eq!(tool.tool_name(ours), expected);
        }
    }
}
