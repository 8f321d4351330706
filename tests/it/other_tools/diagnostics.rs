//! What is printed of a settings file: a problem has its place, and the other hooks load all the same. All messages
//! are in `golden/validate.txt`.

use forge_hooks::config::TrustPolicy;

use super::{Place, command, settings};

const CLAUDE: &str = "project/.claude/settings.json";
const CODEX: &str = "project/.codex/hooks.json";
const GEMINI: &str = "project/.gemini/settings.json";

/// What is printed of a file; a good hook before and one behind load in any case.
#[test]
fn a_problem_costs_no_other_hook() {
    let handler = |text: &str| format!("{{\"hooks\": [{text}]}},");
    for (file, event, groups, expected) in [
        (
            CLAUDE,
            "PreToolUse",
            handler("5"),
            "2:12: hooks.PreToolUse[1].hooks[0]: expected an object with `type` and `command`, found a number",
        ),
        (
            CLAUDE,
            "PreToolUse",
            handler(r#"{"command": "x"}"#),
            "2:12: hooks.PreToolUse[1].hooks[0]: has no `type`, so Claude Code ignores it (add \"type\": \"command\")",
        ),
        (
            CLAUDE,
            "PreToolUse",
            "7,".to_owned(),
            "2:1: hooks.PreToolUse[1]: expected an object with a list `hooks`, found a number",
        ),
        (
            CODEX,
            "Stop",
            handler(r#"{"type": "mcp_tool", "server": "s", "tool": "t"}"#),
            "2:21: hooks.Stop[1].hooks[0].type: handlers of type `mcp_tool` do not run: only type `command` is supported",
        ),
        (
            GEMINI,
            "BeforeTool",
            r#"{"sequential": true, "hooks": []},"#.to_owned(),
            "2:16: hooks.BeforeTool[1].sequential: Gemini CLI applies this key, hosts of this crate do not",
        ),
    ] {
        let good = handler(&command("good"));
        let text = format!("{{\"hooks\": {{\"{event}\": [{good}\n{groups}{good}");
        let text = text.trim_end_matches(',').to_owned() + "]}}";
        let place = Place::new([(file, text.as_str())]);
        let found = place.problems(&place.load()).join("\n");
        assert!(
            found.ends_with(&format!(": {file}:{expected}")),
            "{expected}: {found}"
        );
        assert_eq!(found.lines().count(), 1, "{found}");
        let commands = place.commands();
        assert_eq!(commands.iter().filter(|it| *it == "good").count(), 2);
    }
}

#[test]
fn events_that_never_come_are_named() {
    for (file, event, expected) in [
        (
            CLAUDE,
            "preToolUse",
            "error: project/.claude/settings.json:1:12: hooks.preToolUse: `preToolUse` is not an event of Claude Code, did you mean `PreToolUse`?",
        ),
        (
            CLAUDE,
            "TaskCreated",
            "warning: project/.claude/settings.json:1:12: hooks.TaskCreated: hosts do not fire `TaskCreated`: its hooks do not run",
        ),
        (
            GEMINI,
            "PreToolUse",
            "error: project/.gemini/settings.json:1:12: hooks.PreToolUse: `PreToolUse` is not an event of Gemini CLI",
        ),
        (
            CODEX,
            "Zebra",
            "warning: project/.codex/hooks.json:1:12: hooks.Zebra: `Zebra` is not an event of Codex that is known here: its hooks do not run",
        ),
        // It is newer, and no typo of `Stop`.
        (
            CODEX,
            "StopFailure",
            "warning: project/.codex/hooks.json:1:12: hooks.StopFailure: `StopFailure` is not an event of Codex that is known here: its hooks do not run",
        ),
    ] {
        let place = Place::new([]);
        place.world.write(file, &settings(event, "", &command("x")));
        let report = place.load();
        assert_eq!(place.problems(&report), [expected]);
        assert!(place.commands().is_empty());
        let strict = place.config_with(place.tools().with_strict_guards());
        let _ = place.load_with(&strict, TrustPolicy::Everything);
        let blocks = expected.contains("did you mean");
        assert_eq!(place.world.registry().len(), usize::from(blocks), "{event}");
    }
}

#[cfg(unix)]
#[test]
fn a_script_that_cannot_be_run_is_named() {
    let says = |command: &str| {
        let text = settings("PreToolUse", "", &super::command(command));
        let place = Place::new([
            (CLAUDE, text.as_str()),
            ("project/.claude/plain.sh", ""),
            (
                "plugin/hooks/hooks.json",
                &text.replace("PreToolUse", "Stop"),
            ),
            ("plugin/plain.sh", ""),
        ]);
        place.world.script("project/.claude/good.sh", "");
        let report = place.load_with(&place.config(), TrustPolicy::Everything);
        let messages = report.problems.iter();
        messages
            .map(|problem| problem.message.clone())
            .collect::<Vec<_>>()
    };
    let root = "\\\"$CLAUDE_PROJECT_DIR\\\"/.claude";
    let found = says(&format!("{root}/plain.sh --x"));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].contains("plain.sh` is not executable"),
        "{found:?}"
    );
    for fine in [
        format!("{root}/good.sh"),
        format!("bash {root}/plain.sh"),
        ".claude/good.sh".to_owned(),
        "$UNKNOWN/x.sh".to_owned(),
        "plain.sh".to_owned(),
    ] {
        assert_eq!(says(&fine), Vec::<String>::new(), "{fine}");
    }
    assert!(says(&format!("bash {root}/gone.sh"))[0].contains("does not exist"));
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
