//! The report on a settings file: a problem has its place, and the other hooks load all the same. All messages are in
//! `golden/check.txt`.

use super::{CLAUDE, Place, command, groups, settings};

/// The file, its event, what is printed of the place, and a group.
const PROBLEMS: &str = r#"
.claude/settings.json PreToolUse 2:12:hooks.PreToolUse[1].hooks[0]: {"hooks": [5]}
.claude/settings.json PreToolUse 2:1:hooks.PreToolUse[1]: 7
.codex/hooks.json Stop 2:21:hooks.Stop[1].hooks[0].type: {"hooks": [{"type": "mcp_tool"}]}
.claude/settings.json PreToolUse 2:10:hooks.PreToolUse[1].once: {"once": true, "hooks": []}
"#;

/// A good hook before and one behind load in any case.
#[test]
fn a_problem_costs_no_other_hook() {
    for row in PROBLEMS.trim().lines() {
        let parts: Vec<_> = row.splitn(4, ' ').collect();
        let good = format!("{{\"hooks\": [{}]}}", command("good"));
        let text = groups(parts[1], &format!("{good},\n{},{good}", parts[3]));
        let file = format!("project/{}", parts[0]);
        let place = Place::new([(&*file, &*text)]);
        let problems = place.problems(&place.load());
        assert_eq!(problems.len(), 1, "{problems:?}");
        let expected = format!(": {file}:{}", parts[2].replace(":hooks", ": hooks"));
        assert!(problems[0].contains(&expected), "{problems:?}");
        assert_eq!(place.commands(), ["good", "good"]);
    }
}

#[test]
fn a_script_that_cannot_be_run_is_named() {
    for (text, message) in [
        ("ROOT/plain.sh --x", "plain.sh` is not executable"),
        ("bash ROOT/gone.sh", "does not exist"),
        ("ROOT/good.sh", ""),
        ("bash ROOT/plain.sh", ""),
        (".claude/good.sh", ""),
        ("$UNKNOWN/x.sh", ""),
        ("plain.sh", ""),
    ] {
        let text = text.replace("ROOT", "\\\"$CLAUDE_PROJECT_DIR\\\"/.claude");
        let text = settings("PreToolUse", "", &command(&text));
        let place = Place::new([(CLAUDE, &*text), ("project/.claude/plain.sh", "")]);
        place.world.script("project/.claude/good.sh", "");
        assert!(place.load().problems.is_empty());
        let config = place.config_with(place.tools());
        let problems = place.problems(&config.check(place.world.path(CLAUDE)));
        assert_eq!(
            problems.len(),
            usize::from(!message.is_empty()),
            "{problems:?}"
        );
        assert!(problems.concat().contains(message), "{problems:?}");
    }
}
