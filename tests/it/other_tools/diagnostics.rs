//! What is printed of a settings file: each problem with its place, and the others load all the same.

use forge_hooks::config::TrustPolicy;

use super::{Place, command, settings};

const CLAUDE: &str = "project/.claude/settings.json";
const CODEX: &str = "project/.codex/hooks.json";
const GEMINI: &str = "project/.gemini/settings.json";

/// What is printed of a file, without its name; a good hook before and one behind load in any case.
#[track_caller]
fn case(file: &str, event: &str, groups: &str, expected: &[&str]) {
    let good = format!(r#"{{"hooks": [{}]}}"#, command("good"));
    let text = format!("{{\"hooks\": {{\"{event}\": [{good},\n{groups}{good}]}}}}");
    let place = Place::new([(file, text.as_str())]);
    let report = place.load();
    let found = place.problems(&report).join("\n");
    let expected = expected.join("\n");
    assert_eq!(found, expected);
    assert!(place.commands().iter().filter(|it| *it == "good").count() == 2);
}

/// The same of one handler on its second line, of a group for `Bash`.
#[track_caller]
fn handler(file: &str, event: &str, handler: &str, expected: &[&str]) {
    case(
        file,
        event,
        &format!("{{\"hooks\": [{handler}]}},"),
        expected,
    );
}

#[test]
fn unusable_handlers_are_named() {
    handler(
        CLAUDE,
        "PreToolUse",
        "5",
        &[
            "error: project/.claude/settings.json:2:12: hooks.PreToolUse[1].hooks[0]: expected an object with `type` and `command`, found a number",
        ],
    );
    handler(
        CLAUDE,
        "PreToolUse",
        r#"{"command": "x"}"#,
        &[
            "error: project/.claude/settings.json:2:12: hooks.PreToolUse[1].hooks[0]: has no `type`, so Claude Code ignores it (add \"type\": \"command\")",
        ],
    );
    handler(
        CLAUDE,
        "PreToolUse",
        r#"{"type": "comand", "command": "x"}"#,
        &[
            "error: project/.claude/settings.json:2:21: hooks.PreToolUse[1].hooks[0].type: expected `command`, found `comand`, did you mean `command`?",
        ],
    );
    for kind in ["prompt", "http", "agent"] {
        let expected = format!(
            "warning: project/.claude/settings.json:2:21: hooks.PreToolUse[1].hooks[0].type: handlers of type `{kind}` do not run: only type `command` is supported"
        );
        handler(
            CLAUDE,
            "PreToolUse",
            &format!(r#"{{"type": "{kind}"}}"#),
            &[&expected],
        );
    }
    handler(
        CLAUDE,
        "Stop",
        r#"{"type": "command"}"#,
        &[
            "error: project/.claude/settings.json:2:12: hooks.Stop[1].hooks[0]: `command` is missing",
        ],
    );
    handler(
        CLAUDE,
        "Stop",
        r#"{"type": "command", "command": [1]}"#,
        &[
            "error: project/.claude/settings.json:2:43: hooks.Stop[1].hooks[0].command: expected a string, found a list",
        ],
    );
    handler(
        CLAUDE,
        "Stop",
        r#"{"type": "command", "command": " "}"#,
        &[
            "error: project/.claude/settings.json:2:43: hooks.Stop[1].hooks[0].command: the command is empty",
        ],
    );
    handler(
        CLAUDE,
        "Stop",
        r#"{"type": "command", "command": "x", "args": [1]}"#,
        &[
            "error: project/.claude/settings.json:2:56: hooks.Stop[1].hooks[0].args: expected a list of strings",
        ],
    );
    handler(
        CLAUDE,
        "Stop",
        r#"{"type": "command", "command": "x", "if": "Bash(a)"}"#,
        &[
            "warning: project/.claude/settings.json:2:54: hooks.Stop[1].hooks[0].if: the hook never runs: `Stop` has no tool that a rule could match (remove `if`)",
        ],
    );
    handler(
        CODEX,
        "Stop",
        r#"{"type": "mcp_tool", "server": "s", "tool": "t"}"#,
        &[
            "warning: project/.codex/hooks.json:2:21: hooks.Stop[1].hooks[0].type: handlers of type `mcp_tool` do not run: only type `command` is supported",
        ],
    );
    let quiet = r#"{"type": "command", "command": "x", "async": true, "commandWindows": "y"}"#;
    handler(CODEX, "Stop", quiet, &[]);
}

#[test]
fn keys_that_are_ignored_are_named() {
    let with = |key: &str| format!(r#"{{"type": "command", "command": "x", {key}}}"#);
    for (key, column, name, message) in [
        (
            r#""timeout": "5""#,
            59,
            "timeout",
            "expected seconds above 0; the default of 600s is used",
        ),
        (
            r#""timeout": 0"#,
            59,
            "timeout",
            "expected seconds above 0; the default of 600s is used",
        ),
        (
            r#""shell": "zsh""#,
            57,
            "shell",
            "expected `bash` or `powershell`, found `zsh`",
        ),
        (
            r#""async": 1"#,
            57,
            "async",
            "expected true or false, found a number",
        ),
        (
            r#""if": "Bash(git""#,
            54,
            "if",
            "not a rule such as `Bash(git *)`: it is ignored, and the hook always runs",
        ),
        (
            r#""if": "rm*""#,
            54,
            "if",
            "not a rule such as `Bash(git *)`: it is ignored, and the hook always runs",
        ),
        (
            r#""if": "WebFetch(example.com)""#,
            54,
            "if",
            "the text in brackets is not understood: the hook runs on each call of the tool",
        ),
        (
            r#""onFailure": "stop""#,
            61,
            "onFailure",
            "expected `continue` or `block`, found `stop`",
        ),
        (
            r#""statusMessage": 1"#,
            65,
            "statusMessage",
            "expected a string, found a number",
        ),
        (
            r#""asyncRewake": true"#,
            63,
            "asyncRewake",
            "runs in the background, but its end does not wake the model",
        ),
    ] {
        let expected = format!(
            "warning: project/.claude/settings.json:2:{column}: hooks.PreToolUse[1].hooks[0].{name}: {message}"
        );
        handler(CLAUDE, "PreToolUse", &with(key), &[&expected]);
    }
    handler(
        GEMINI,
        "BeforeTool",
        &with(r#""timeout": -1, "env": {"A": 1}"#),
        &[
            "warning: project/.gemini/settings.json:2:59: hooks.BeforeTool[1].hooks[0].timeout: expected milliseconds above 0; the default of 60s is used",
            "warning: project/.gemini/settings.json:2:70: hooks.BeforeTool[1].hooks[0].env: `A` cannot be set",
        ],
    );
    handler(CLAUDE, "PreToolUse", &with(r#""unknown": 1"#), &[]);
    let expected = "warning: project/.codex/hooks.json:2:74: hooks.PreToolUse[1].hooks[0].additionalContextLimit: expected a number of tokens; the default is used";
    for value in ["true", "-1", "0.5"] {
        let given = with(&format!("\"additionalContextLimit\": {value}"));
        handler(CODEX, "PreToolUse", &given, &[expected]);
    }
    handler(
        CODEX,
        "PreToolUse",
        &with(r#""additionalContextLimit": 0"#),
        &[],
    );
    for (file, event, column, key, title) in [
        (CLAUDE, "PreToolUse", 56, "once", "Claude Code"),
        (GEMINI, "BeforeTool", 62, "sequential", "Gemini CLI"),
    ] {
        let expected = format!(
            "warning: {file}:2:{column}: hooks.{event}[1].hooks[0].{key}: {title} applies this key, hosts of this crate do not"
        );
        handler(
            file,
            event,
            &with(&format!("\"{key}\": true")),
            &[&expected],
        );
    }
    let expected = "warning: project/.gemini/settings.json:2:16: hooks.BeforeTool[1].sequential: Gemini CLI applies this key, hosts of this crate do not";
    let group = r#"{"sequential": true, "hooks": []},"#;
    case(GEMINI, "BeforeTool", group, &[expected]);
}

#[test]
fn groups_that_cannot_be_used_are_named() {
    case(
        CLAUDE,
        "PreToolUse",
        r#"7,"#,
        &[
            "error: project/.claude/settings.json:2:1: hooks.PreToolUse[1]: expected an object with a list `hooks`, found a number",
        ],
    );
    case(
        CLAUDE,
        "PreToolUse",
        r#"{"type": "command", "command": "x"},"#,
        &[
            "error: project/.claude/settings.json:2:1: hooks.PreToolUse[1]: found a handler where Claude Code expects a group (put it into {\"hooks\": [ ... ]})",
        ],
    );
    case(
        CLAUDE,
        "PreToolUse",
        r#"{"matcher": "Bash"},"#,
        &["error: project/.claude/settings.json:2:1: hooks.PreToolUse[1]: `hooks` is missing"],
    );
    case(
        CLAUDE,
        "PreToolUse",
        r#"{"hooks": {}},"#,
        &[
            "error: project/.claude/settings.json:2:11: hooks.PreToolUse[1].hooks: expected a list of handlers, found an object",
        ],
    );
    case(
        CLAUDE,
        "PreToolUse",
        r#"{"matcher": ["Bash"], "hooks": []},"#,
        &[
            "error: project/.claude/settings.json:2:13: hooks.PreToolUse[1].matcher: expected a string, found a list",
        ],
    );
    let matched = |text: &str| format!(r#"{{"matcher": "{text}", "hooks": [{}]}},"#, command("x"));
    case(
        CLAUDE,
        "PreToolUse",
        &matched("Bash(git *)"),
        &[
            "warning: project/.claude/settings.json:2:13: hooks.PreToolUse[1].matcher: `Bash(git *)` is a permission rule, which matches no tool (write \"matcher\": \"Bash\", and \"if\": \"Bash(git *)\" in the handler)",
        ],
    );
    case(
        CLAUDE,
        "PreToolUse",
        &matched("mcp__memory"),
        &[
            "warning: project/.claude/settings.json:2:13: hooks.PreToolUse[1].matcher: `mcp__memory` matches no tool: it names a server, did you mean `mcp__memory__.*`?",
        ],
    );
    let path = "2:13: hooks.PreToolUse[1].matcher:";
    for (matcher, words) in [
        (
            "mcp__memory",
            "`mcp__memory` matches no tool: it names a server, did you mean `mcp__memory__.*`?",
        ),
        (
            "Edit, Write",
            "`Edit, Write` is a regular expression in Codex, not a list of names, did you mean `Edit|Write`?",
        ),
        (
            "Bash(git *)",
            "`Bash(git *)` is a permission rule, which matches no tool (write \"matcher\": \"Bash\", and test the arguments in the hook)",
        ),
    ] {
        let expected = format!("warning: {CODEX}:{path} {words}");
        case(CODEX, "PreToolUse", &matched(matcher), &[&expected]);
    }
    // It matches each tool of the server.
    case(CODEX, "PreToolUse", &matched("mcp__my-server"), &[]);
    case(GEMINI, "BeforeTool", &matched("mcp__memory"), &[]);
    case(CLAUDE, "PreToolUse", &matched("Edit, Write"), &[]);
    case(
        CLAUDE,
        "PreToolUse",
        &matched("(?!Bash).*"),
        &[
            "warning: project/.claude/settings.json:2:13: hooks.PreToolUse[1].matcher: `(?!Bash).*` is not a regular expression: look-around, including look-ahead and look-behind, is not supported; so the hook always runs",
        ],
    );
    case(
        CLAUDE,
        "PostToolUse",
        &matched("(?!Bash).*"),
        &[
            "error: project/.claude/settings.json:2:13: hooks.PostToolUse[1].matcher: `(?!Bash).*` is not a regular expression: look-around, including look-ahead and look-behind, is not supported",
        ],
    );
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

#[test]
fn files_that_cannot_be_used_are_named() {
    for (text, expected) in [
        (
            "{",
            "error: project/.claude/settings.json:1:1: the file is not valid JSON: `}` is missing for the object that begins here",
        ),
        (
            "[]",
            "error: project/.claude/settings.json:1:1: expected an object with an object `hooks`",
        ),
        (
            r#"{"hooks": []}"#,
            "error: project/.claude/settings.json:1:11: hooks: expected an object of events, each with a list (a list is the form of hooks.json, which is a file of its own)",
        ),
        (
            r#"{"hooks": {"Stop": {}}}"#,
            "error: project/.claude/settings.json:1:12: hooks.Stop: expected a list of groups, each with a list `hooks`",
        ),
    ] {
        let place = Place::new([(CLAUDE, text)]);
        let report = place.load();
        assert_eq!(place.problems(&report), [expected], "{text}");
        assert!(place.commands().is_empty());
    }
}

#[test]
fn common_mistakes_are_named() {
    let with = |command: &str| format!(r#"{{"type": "command", "command": "{command}"}}"#);
    let slow = r#"{"type": "command", "command": "x", "timeout": 30000}"#;
    handler(
        CLAUDE,
        "PreToolUse",
        slow,
        &[
            "warning: project/.claude/settings.json:2:59: hooks.PreToolUse[1].hooks[0].timeout: 30000 is in seconds in Claude Code (30000 milliseconds are 30)",
        ],
    );
    let fast = r#"{"type": "command", "command": "x", "timeout": 30}"#;
    handler(
        GEMINI,
        "BeforeTool",
        fast,
        &[
            "warning: project/.gemini/settings.json:2:59: hooks.BeforeTool[1].hooks[0].timeout: 30 is in milliseconds in Gemini CLI (30 seconds are 30000)",
        ],
    );
    handler(
        CLAUDE,
        "PreToolUse",
        &with("echo $CLAUDE_TOOL_INPUT | jq ."),
        &[
            "warning: project/.claude/settings.json:2:43: hooks.PreToolUse[1].hooks[0].command: `$CLAUDE_TOOL_INPUT` is not set for hooks (the event is on standard input, as in `jq -r .tool_name`)",
        ],
    );
    handler(
        CLAUDE,
        "PreToolUse",
        &with("grep -q x && { echo BLOCKED; exit 1; }"),
        &[
            "warning: project/.claude/settings.json:2:43: hooks.PreToolUse[1].hooks[0].command: `exit 1` does not block in Claude Code (`exit 2` does, with the reason on stderr)",
        ],
    );
    handler(
        CLAUDE,
        "PreCompact",
        &with("echo BLOCKED; exit 1"),
        &[
            "warning: project/.claude/settings.json:2:43: hooks.PreCompact[1].hooks[0].command: `exit 1` does not block in Claude Code (`exit 2` does, with the reason on stderr)",
        ],
    );
    handler(CODEX, "PreCompact", &with("echo BLOCKED; exit 1"), &[]);
    handler(CLAUDE, "PostToolUse", &with("echo BLOCKED; exit 1"), &[]);
    handler(
        CLAUDE,
        "PreToolUse",
        &with("./gone.sh"),
        &[
            "warning: project/.claude/settings.json:2:43: hooks.PreToolUse[1].hooks[0].command: `./gone.sh` does not exist: the hook fails, and does not block",
        ],
    );
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
fn an_event_outside_of_hooks_is_named() {
    let text = r#"{"PreToolUse": [], "permissions": {}}"#;
    let place = Place::new([(CLAUDE, text)]);
    let expected = "error: project/.claude/settings.json:1:2: PreToolUse: an event outside of `hooks`: \
         its hooks do not run (write {\"hooks\": { ... }} around it)";
    assert_eq!(place.problems(&place.load()), [expected]);
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
