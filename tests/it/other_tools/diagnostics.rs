//! What is printed of a settings file: a problem has its place, and the other hooks load all the same. All messages
//! are in `golden/validate.txt`.

use super::{CLAUDE, CODEX, GEMINI, Place, command, groups, settings};

/// A good hook before and one behind load in any case.
#[test]
fn a_problem_costs_no_other_hook() {
    for (file, event, place_of, group) in [
        (
            CLAUDE,
            "PreToolUse",
            "2:12: hooks.PreToolUse[1].hooks[0]:",
            r#"{"hooks": [5]}"#,
        ),
        (CLAUDE, "PreToolUse", "2:1: hooks.PreToolUse[1]:", "7"),
        (
            CODEX,
            "Stop",
            "2:21: hooks.Stop[1].hooks[0].type:",
            r#"{"hooks": [{"type": "mcp_tool"}]}"#,
        ),
        (
            GEMINI,
            "BeforeTool",
            "2:16: hooks.BeforeTool[1].sequential:",
            r#"{"sequential": true, "hooks": []}"#,
        ),
    ] {
        let good = format!("{{\"hooks\": [{}]}}", command("good"));
        let text = groups(event, &format!("{good},\n{group},{good}"));
        let place = Place::new([(file, &*text)]);
        let found = place.problems(&place.load());
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains(&format!(": {file}:{place_of}")),
            "{found:?}"
        );
        assert_eq!(place.commands(), ["good", "good"]);
    }
}

#[test]
fn a_script_that_cannot_be_run_is_named() {
    let root = "\\\"$CLAUDE_PROJECT_DIR\\\"/.claude";
    for (text, message) in [
        (
            &*format!("{root}/plain.sh --x"),
            "plain.sh` is not executable",
        ),
        (&format!("bash {root}/gone.sh"), "does not exist"),
        (&format!("{root}/good.sh"), ""),
        (&format!("bash {root}/plain.sh"), ""),
        (".claude/good.sh", ""),
        ("$UNKNOWN/x.sh", ""),
        ("plain.sh", ""),
    ] {
        let text = settings("PreToolUse", "", &command(text));
        let place = Place::new([(CLAUDE, &*text), ("project/.claude/plain.sh", "")]);
        place.world.script("project/.claude/good.sh", "");
        let found = place.problems(&place.load());
        assert_eq!(found.len(), usize::from(!message.is_empty()), "{found:?}");
        assert!(found.concat().contains(message), "{found:?}");
    }
}

#[test]
fn hooks_in_toml_are_reported() {
    for (text, problems) in [
        ("[hooks]\n", 1),
        ("a = 1\n[[hooks.PreToolUse]]\n", 1),
        ("hooks.Stop = []\n", 1),
        ("[hooksx]\n# [hooks]\n", 0),
    ] {
        for file in ["home/.codex/config.toml", "project/.codex/config.toml"] {
            let place = Place::new([(file, text)]);
            let found = place.problems(&place.load());
            assert_eq!(found.len(), problems, "{text}");
            assert!(found.iter().all(|it| it.contains(file)), "{found:?}");
        }
    }
}
