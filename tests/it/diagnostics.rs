//! What is reported of a hooks file: each typo with its place, what was expected, and what was meant.

use std::time::Duration;

use forge_hooks::config::Severity;
use forge_hooks::{HookConfig, LoadReport};

use crate::support::{World, assert_computes_within};

fn check(text: impl AsRef<[u8]>) -> (World, LoadReport) {
    let world = World::new();
    let path = world.write("hooks.json", "");
    std::fs::write(&path, text).unwrap();
    let report = HookConfig::default().check(path);
    (world, report)
}

/// The problems without the name of the file, each on a line.
fn problems(text: impl AsRef<[u8]>) -> Vec<String> {
    let (world, report) = check(text);
    let path = world.path("hooks.json").display().to_string();
    let reported = report
        .problems
        .iter()
        .map(|problem| problem.to_string().replace(&path, "FILE"));
    reported.collect()
}

/// Of a file with this one entry, on its third line.
fn of_entry(entry: &str) -> Vec<String> {
    problems(format!("{{\n  \"hooks\": [\n    {entry}\n  ]\n}}\n"))
}

#[test]
fn a_good_file_has_no_problems() {
    let (world, report) = check(
        r#"{"$schema": "x", "_": "a note", "hooks": [{"comment": 1, "//": "why", "event": "tool:*", "command": "x", "timeout": 0.5},
            {"event": "zoo:animal_fed", "args": ["feed", "now"]}]}"#,
    );
    assert!(report.problems.is_empty() && report.is_ok(), "{report:?}");
    assert_eq!(
        (report.loaded, &report.files[..]),
        (2, &[world.path("hooks.json")][..])
    );
}

#[test]
fn every_mistake_has_its_place() {
    for (entry, expected) in [
        (
            "7",
            "error: FILE:3:5: hooks[0]: expected an object with `event` and `command`, found a number",
        ),
        (
            r#"{"command": "x"}"#,
            "error: FILE:3:5: hooks[0].event: the key is missing",
        ),
        (
            r#"{"event": "*"}"#,
            "error: FILE:3:5: hooks[0].command: the key is missing, and there is no `args`",
        ),
        (
            r#"{"event": ["*"], "command": "x"}"#,
            "error: FILE:3:15: hooks[0].event: expected a string (a comma separates patterns), found a list",
        ),
        (
            r#"{"event": "tool:", "command": "x"}"#,
            "error: FILE:3:15: hooks[0].event: invalid event pattern `tool:` at column 6: expected a name or a glob after `:`",
        ),
        (
            r#"{"event": "tool:pre_exec", "command": "x"}"#,
            "warning: FILE:3:15: hooks[0].event: `tool:pre_exec` matches no built-in event, did you mean `tool:pre_execute`?",
        ),
        (
            r#"{"event": "tool", "command": "x"}"#,
            "warning: FILE:3:15: hooks[0].event: `tool` matches no event, did you mean `tool:*`?",
        ),
        (
            r#"{"event": "tool:pre_execute:bash | write", "command": "x"}"#,
            "warning: FILE:3:15: hooks[0].event: `bash ` begins or ends with a space, which is part of the name, did you mean `tool:pre_execute:bash|write`?",
        ),
        (
            r#"{"event": "session:start:bash", "command": "x"}"#,
            "warning: FILE:3:15: hooks[0].event: `session:start:bash` names a tool, but its events have no tool, did you mean `session:start`?",
        ),
        (
            r#"{"event": "*", "command": "x", "matcher": "Bash"}"#,
            "warning: FILE:3:36: hooks[0].matcher: unknown key `matcher` (name the tool in `event`, as in `tool:pre_execute:bash`)",
        ),
        (
            r#"{"event": "*", "command": "x", "hooks": []}"#,
            "warning: FILE:3:36: hooks[0].hooks: unknown key `hooks` (write each hook as its own entry, with `event` and `command`)",
        ),
        (
            r#"{"event": "*", "command": "x", "disabled": true}"#,
            "warning: FILE:3:36: hooks[0].disabled: unknown key `disabled` (write \"enabled\": false)",
        ),
        (
            r#"{"event": "*", "command": "x", "onFailure": "block"}"#,
            "warning: FILE:3:36: hooks[0].onFailure: unknown key `onFailure`, did you mean `on_failure`?",
        ),
        (
            r#"{"event": "*", "command": "x", "dialekt": 1}"#,
            "warning: FILE:3:36: hooks[0].dialekt: unknown key `dialekt`",
        ),
        (
            r#"{"event": "*", "args": ["sh", "~/guard.sh"]}"#,
            "warning: FILE:3:35: hooks[0].args[1]: `~/guard.sh` is used as it is, since `args` run without a shell (write the whole path, or use `command`)",
        ),
        (
            r#"{"event": "session:*, PreToolUse", "command": "x"}"#,
            "error: FILE:3:15: hooks[0].event: invalid event pattern `session:*, PreToolUse` at column 12: event names have no capital letters: expected `category:action`, optionally with a tool, as in `tool:pre_execute:bash`",
        ),
        (
            r#"{"event": "PreToolUse", "command": "x"}"#,
            "error: FILE:3:15: hooks[0].event: invalid event pattern `PreToolUse` at column 1: event names have no capital letters: expected `category:action`, optionally with a tool, as in `tool:pre_execute:bash`, did you mean `tool:pre_execute`?",
        ),
        (
            r#"{"event": "session:*, before", "command": "x"}"#,
            "warning: FILE:3:15: hooks[0].event: `before` matches no event (names of events have the form `category:action`, as in `tool:pre_execute`)",
        ),
        (
            r#"{"event": "*", "command": "  "}"#,
            "error: FILE:3:31: hooks[0].command: the command is empty",
        ),
        (
            r#"{"event": "*", "args": ["a", 1]}"#,
            "error: FILE:3:34: hooks[0].args[1]: expected a string, found a number",
        ),
        (
            r#"{"event": "*", "command": "x", "timeout": 5000000}"#,
            "error: FILE:3:47: hooks[0].timeout: expected a number of seconds above 0 and up to 86400, found 5000000 (the unit is seconds)",
        ),
        (
            r#"{"event": "*", "command": "x", "on_failure": "blok"}"#,
            "error: FILE:3:50: hooks[0].on_failure: expected one of `block`, `continue`, `withhold`, found `blok`, did you mean `block`?",
        ),
        (
            r#"{"event": "*", "command": "x", "stdin": "NONE"}"#,
            "error: FILE:3:45: hooks[0].stdin: expected one of `json`, `none`, found `NONE`, did you mean `none`?",
        ),
        (
            r#"{"event": "*", "command": "x", "env": {"A": "1", "B": 2}}"#,
            "error: FILE:3:59: hooks[0].env.B: expected a string, found a number",
        ),
        (
            r#"{"event": "*", "command": "x", "timout": 5}"#,
            "warning: FILE:3:36: hooks[0].timout: unknown key `timout`, did you mean `timeout`?",
        ),
        (
            r#"{"event": "*", "command": "x", "TimeOut": 5}"#,
            "warning: FILE:3:36: hooks[0].TimeOut: unknown key `TimeOut`, did you mean `timeout`?",
        ),
        (
            r#"{"event": "*", "command": "x", "command": "y"}"#,
            "error: FILE:3:36: hooks[0].command: the key occurs twice",
        ),
        (
            r#"{"event": "*", "command": "x", "env": {"A": "1", "A": "2"}}"#,
            "error: FILE:3:54: hooks[0].env.A: the key occurs twice",
        ),
        (
            r#"{"event": "*", "command": "x", "_": [1e999]}"#,
            "error: FILE:3:42: hooks[0]._: the number is out of range",
        ),
    ] {
        assert_eq!(of_entry(entry), [expected], "{entry}");
    }
}

/// Each of these was once not reported, or explained wrongly.
#[test]
fn what_newcomers_write_is_explained() {
    for (entry, expected) in [
        (
            r#"{"event": "pre_tool_use", "command": "x"}"#,
            "warning: FILE:3:15: hooks[0].event: `pre_tool_use` matches no event, did you mean `tool:pre_execute`?",
        ),
        (
            r#"{"event": "tool:pre_execute:bash,write", "command": "x"}"#,
            "warning: FILE:3:15: hooks[0].event: `write` matches no event, since a comma separates whole patterns, did you mean `tool:pre_execute:bash|write`?",
        ),
        (
            r#"{"event": "tool:pre_execute:Bash", "command": "x"}"#,
            "warning: FILE:3:15: hooks[0].event: tool names are case-sensitive: `Bash` is not `bash`, did you mean `bash`?",
        ),
        (
            r#"{"event": "*", "command": "x", "timeout": 5000}"#,
            "warning: FILE:3:47: hooks[0].timeout: 5000 seconds are longer than an hour (the unit is seconds, not milliseconds: 5000 milliseconds are 5)",
        ),
        (
            r#"{"event": "*", "command": "x", "working_dir": "~/src"}"#,
            "warning: FILE:3:51: hooks[0].working_dir: `~` and variables are not replaced here (write the whole path)",
        ),
        (
            r#"{"event": "*", "shell": "sh", "command": "[ $FORGE_TOOL_NAME = x ]"}"#,
            "warning: FILE:3:46: hooks[0].command: `$FORGE_TOOL_NAME` is not in quotes, so the shell splits its value into words (write \\\"$FORGE_TOOL_NAME\\\")",
        ),
        (
            r#"{"event": "*", "args": ["x", "$FORGE_EVENT"]}"#,
            "warning: FILE:3:34: hooks[0].args[1]: `$FORGE_EVENT` is used as it is, since `args` run without a shell (to have a shell put in the variable, use `command`)",
        ),
        (
            r#"{"event": "*", "command": "x", "when": {"/tool_args/command": "sudo"}}"#,
            "warning: FILE:3:67: hooks[0].when./tool_args/command: `sudo` has no `*`: it matches only a value that is exactly this (to find it within a value, write `*sudo*`)",
        ),
        (
            r#"{"event": "*", "command": "x", "when": {"/path": "^/etc"}}"#,
            "warning: FILE:3:54: hooks[0].when./path: `^/etc` is a glob, and looks like a regular expression (a regular expression is {\"regex\": \"...\"})",
        ),
        (
            r#"{"event": "*", "command": "x", "when": {"/a": {"regex": "\bsudo"}}}"#,
            "error: FILE:3:51: hooks[0].when./a: `\\b` is a backspace in JSON: for the word boundary of an expression write `\\\\b`",
        ),
        (
            r#"{"event": "*", "command": "grep -q \"\bsudo\""}"#,
            "error: FILE:3:31: hooks[0].command: `\\b` is a backspace in JSON: for the word boundary of an expression write `\\\\b`",
        ),
        (
            r#"{"event": "tool:pre_execute:{bash,write}", "command": "x"}"#,
            "warning: FILE:3:15: hooks[0].event: braces have no meaning in a pattern, did you mean `tool:pre_execute:bash|write`?",
        ),
        (
            r#"{"event": "tool:pre_exec:bash", "command": "x"}"#,
            "warning: FILE:3:15: hooks[0].event: `tool:pre_exec:bash` matches no built-in event, did you mean `tool:pre_execute:bash`?",
        ),
        (
            r#"{"event": "*", "command": "x", "when": {"tool_input.command": "git*"}}"#,
            "error: FILE:3:67: hooks[0].when.tool_input.command: expected a JSON Pointer into the event's data, as in `/tool_args/command`, found `tool_input.command`, did you mean `/tool_args/command`?",
        ),
        (
            r#"{"event": "*", "command": "grep '\.env'"}"#,
            "error: FILE:3:38: the file is not valid JSON: invalid escape in a string: write `\\\\` for a backslash",
        ),
        (
            r#"{"event": "*", "command": "x", "enabled": True}"#,
            "error: FILE:3:47: the file is not valid JSON: unexpected text (write `true` or `false`)",
        ),
        (
            r#"{"event": "*", "command": "x", "async": true}"#,
            "warning: FILE:3:36: hooks[0].async: unknown key `async` (write \"background\": true)",
        ),
        (
            r#"{"event": "*", "command": "echo "no""}"#,
            "error: FILE:3:38: the file is not valid JSON: unexpected text (a string has ended here: write `\\\"` for a quote within it)",
        ),
        (
            "{\"event\": \"*\", \"command\": \"echo\n x\"}",
            "error: FILE:3:31: the file is not valid JSON: the string that begins here has no closing `\"` on its line (write `\\\"` for a quote within a string, and `\\n` for a line break)",
        ),
        (
            "{\"event\": \"*, \"command\": \"x\"}",
            "error: FILE:3:20: the file is not valid JSON: unexpected text (a string has ended here: write `\\\"` for a quote within it)",
        ),
        (
            r#"{"event": "*", "command": "jq -r .tool_input.command | grep -q sudo && exit 2 || exit 0"}"#,
            "warning: FILE:3:31: hooks[0].command: `tool_input` is Claude Code's name: here the arguments are in `.data.tool_args` (docs/porting.md has the names for each)",
        ),
        (
            r#"{"event": "*", "args": ["sh", "-c", "cd \"$CLAUDE_PROJECT_DIR\" && ./x"]}"#,
            "warning: FILE:3:41: hooks[0].args[2]: `CLAUDE_PROJECT_DIR` is Claude Code's name: here the directory is in `FORGE_WORKING_DIR` (docs/porting.md has the names for each)",
        ),
        (
            r#"{"event": "tool:before", "command": "x"}"#,
            "warning: FILE:3:15: hooks[0].event: `tool:before` matches no built-in event, did you mean `tool:pre_execute`?",
        ),
        (
            r#"{"event": "tool:after_execute:bash", "command": "x"}"#,
            "warning: FILE:3:15: hooks[0].event: `tool:after_execute:bash` matches no built-in event, did you mean `tool:post_execute:bash`?",
        ),
        (
            r#"{"event": "*", "command": "x", "timeout": "5s"}"#,
            "error: FILE:3:47: hooks[0].timeout: expected a number of seconds, found a string (write 5, without quotes: the unit is seconds)",
        ),
        (
            r#"{"event": "*", "command": "x", "timeout": "500 ms"}"#,
            "error: FILE:3:47: hooks[0].timeout: expected a number of seconds, found a string",
        ),
        (
            r#"{"event": "*", "command": "x""#,
            "error: FILE:4:3: the file is not valid JSON: expected `,` or `}`, found `]`",
        ),
        (
            "{\"event\": “*”, \"command\": \"x\"}",
            "error: FILE:3:15: the file is not valid JSON: unexpected text (typographic quotes cannot be used: write `\"`)",
        ),
    ] {
        assert_eq!(of_entry(entry), [expected], "{entry}");
    }
}

/// What is not a mistake, though it looks like one.
#[test]
fn what_is_right_is_not_reported() {
    for entry in [
        r#"{"event": "tool:pre_execute:bash,tool:error", "command": "x"}"#,
        r#"{"event": "tool:pre_execute:my_tool|Custom", "command": "x"}"#,
        r#"{"event": "*", "shell": "sh", "command": "[ \"$FORGE_TOOL_NAME\" = x ] && case $FORGE_EVENT in *) ;; esac"}"#,
        r#"{"event": "*", "args": ["sh", "-c", "$FORGE_EVENT"]}"#,
        r#"{"event": "*", "args": ["awk", "$NF", "$TODO"]}"#,
        r#"{"event": "tool:pre_execute:Bash|bash, mode:changed:Edit", "command": "x"}"#,
        r#"{"event": "*", "command": "x", "when": {"/tool_args/command": ["ls", "pwd"]}}"#,
        r#"{"event": "*", "command": "x", "when": {"/path": "Cargo.toml", "/tool_args/command": "git *"}}"#,
        r#"{"event": "*", "command": "x", "when": {"/a": {"regex": "\\bsudo"}}}"#,
        r#"{"event": "*", "command": "x", "timeout": 3600}"#,
        r#"{"event": "*", "command": "jq '.data.tool_args // .tool_input'"}"#,
        r#"{"event": "*", "command": "$CLAUDE_PROJECT_DIR/x", "env": {"CLAUDE_PROJECT_DIR": "/x"}}"#,
    ] {
        assert_eq!(of_entry(entry), [""; 0], "{entry}");
    }
}

/// Loads a project's hook with these keys.
fn load_project(world: &World, keys: &str) -> LoadReport {
    let text = format!(r#"{{"hooks": [{{"event": "*", {keys}}}]}}"#);
    world.write(".src/forge/hooks.json", &text);
    let config = HookConfig::default().with_config_home(world.path("none"));
    let everything = forge_hooks::config::TrustPolicy::Everything;
    config.load_into(world.registry(), world.path(""), everything)
}

#[cfg(unix)]
#[test]
fn a_script_that_cannot_run_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let write = |name: &str, text: &str, mode: u32| {
        let path = world.write(name, text);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    write("good.sh", "#!/bin/sh\nexit 0\n", 0o755);
    write("plain.sh", "exit 0\n", 0o644);
    write("crlf.sh", "#!/bin/sh\r\nexit 0\r\n", 0o755);
    write("wrong.sh", "#!/usr/bin/no-such-shell\n", 0o755);
    write("crlf.py", "#!/usr/bin/env python3\r\nprint(1)\r\n", 0o755);
    world.write("my hooks/guard.sh", "");
    write("env.sh", "#!/usr/bin/env pyhton3\n", 0o755);
    let of_claude = "import json, sys\njson.load(sys.stdin)['tool_input']\n";
    write("of_claude.py", of_claude, 0o644);
    let of_both = "data = event.get('data', {}).get('tool_args') or event['tool_input']";
    write("of_both.py", of_both, 0o644);
    for (command, expected) in [
        (r#""command": "./good.sh --strict""#, None),
        (r#""command": "sh ./plain.sh""#, None),
        (r#""command": "cd sub && ./none.sh""#, None),
        (r#""command": "test -f ./none.sh || exit 0""#, None),
        (r#""command": "mkdir -p ./none""#, None),
        (r#""command": "./none.sh; x""#, None),
        (r#""command": "TZ=Europe/Berlin date""#, None),
        (r#""command": "\"./my hooks/guard.sh\"""#, None),
        (r#""command": "sh ./crlf.py x""#, Some("has CRLF line ends")),
        (r#""command": "python3 ./crlf.py""#, None),
        (r#""command": "./none.ps1", "shell": "pwsh""#, None),
        (r#""command": "python3 ./of_both.py""#, None),
        (
            r#""command": "python3 ./of_claude.py""#,
            Some("in `./of_claude.py`: `tool_input` is Claude Code's name: here the arguments"),
        ),
        (r#""args": ["sh"]"#, None),
        (
            r#""args": ["nosuchprogram"]"#,
            Some("args[0]: `nosuchprogram` is not found in `PATH`"),
        ),
        (
            r#""command": "./none.sh --strict""#,
            Some("command: `./none.sh` does not exist"),
        ),
        (
            r#""command": "\"$FORGE_WORKING_DIR\"/none.sh""#,
            Some("none.sh` does not exist"),
        ),
        (
            r#""command": "sh ./none.sh""#,
            Some("command: `./none.sh` does not exist"),
        ),
        (
            r#""args": ["sh", "./none.sh"]"#,
            Some("args[1]: `./none.sh` does not exist"),
        ),
        (
            r#""args": ["./good.sh --strict"]"#,
            Some("args[0]: `./good.sh --strict` does not exist"),
        ),
        (
            r#""args": ["python3 good.py"]"#,
            Some("args[0]: `python3 good.py` is not found in `PATH`"),
        ),
        (
            r#""command": "sh none.sh""#,
            Some("command: `none.sh` does not exist"),
        ),
        (
            r#""command": "./env.sh""#,
            Some("command: `./env.sh` needs `pyhton3`, which is not found"),
        ),
        (
            r#""command": "./plain.sh""#,
            Some("command: `./plain.sh` is not executable (make it executable with `chmod +x`)"),
        ),
        (
            r#""command": "./crlf.sh""#,
            Some(
                "command: `./crlf.sh` has CRLF line ends, with which it does not run: save it with LF",
            ),
        ),
        (
            r#""command": "./wrong.sh""#,
            Some("command: `./wrong.sh` needs `/usr/bin/no-such-shell`, which is not found"),
        ),
        (
            r#""command": "python9 ./good.sh""#,
            Some("command: `python9` is not found in `PATH`"),
        ),
    ] {
        let report = load_project(&world, command);
        let reported = report.to_string();
        match expected {
            None => assert_eq!(reported, "", "{command}"),
            Some(words) => assert!(reported.contains(words), "{command}: {reported}"),
        }
        assert!(report.is_ok(), "{reported}");
    }
}

/// A project names any path, before a person has approved anything of it.
#[test]
fn only_scripts_within_the_project_are_looked_at() {
    let world = World::new();
    #[cfg(unix)]
    {
        // A link out of the project, and an interpreter elsewhere.
        std::os::unix::fs::symlink("/no/such/directory", world.path("out")).unwrap();
        world.script("elsewhere.sh", "#!//no/such/interpreter\n");
    }
    for command in [
        "/no/such/script.sh",
        "../none.sh",
        "//host/share/x.sh",
        "./out/none.sh",
        "./elsewhere.sh",
    ] {
        let report = load_project(&world, &format!(r#""command": "{command}""#));
        assert_eq!(report.to_string(), "", "{command}");
    }
}

#[test]
fn an_inherited_secret_is_reported() {
    let entry =
        r#"{"event": "*", "args": ["./x"], "inherit": ["PATH", "HOME", "AWS_SECRET_ACCESS_KEY"]}"#;
    let expected = "warning: FILE:3:48: hooks[0].inherit: the list passes on `AWS_SECRET_ACCESS_KEY`, whose name looks like \
                    that of a secret (remove it unless the hook needs it)";
    assert_eq!(of_entry(entry), [expected]);
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let text = r#"{"hooks": [
        {"event": "*", "command": "x", "timeout": "5", "enabled": 1},
        {"event": "*", "command": "y"},
        {"event": 1, "command": 2}
    ]}"#;
    let reported = problems(text);
    let places: Vec<_> = reported
        .iter()
        .map(|line| line.split(": ").nth(2).unwrap())
        .collect();
    let expected = [
        "hooks[0].timeout",
        "hooks[0].enabled",
        "hooks[2].event",
        "hooks[2].command",
    ];
    assert_eq!(places, expected, "{reported:?}");
    assert_eq!(check(text).1.loaded, 1);
}

#[test]
fn a_missing_key_may_have_another_name() {
    let entry = r#"{"events": "*", "command": "x", "comment": "a note", "Shell": "bash"}"#;
    assert_eq!(
        of_entry(entry),
        [
            "error: FILE:3:5: hooks[0].event: the key is missing",
            "warning: FILE:3:6: hooks[0].events: unknown key `events`, did you mean `event`?",
            "warning: FILE:3:58: hooks[0].Shell: unknown key `Shell`, did you mean `shell`?",
        ]
    );
    let shell = of_entry(r#"{"event": "*", "command": "x", "shell": "Bash"}"#);
    assert!(shell[0].ends_with("did you mean `bash`?"), "{shell:?}");
}

#[test]
fn problems_of_a_whole_file_have_a_place() {
    for (text, expected) in [
        (
            &b""[..],
            "error: FILE:1:1: the file is not valid JSON: expected a value, found the end (the file is empty; a file without hooks is {})",
        ),
        (
            b"{\n  \"hooks\": [\n    {\"event\": \"*\" \"command\": \"x\"}\n]}",
            "error: FILE:3:18: the file is not valid JSON: expected `,` after the value",
        ),
        (
            b"{\n  \"hooks\": [\n    {\"event\": \"*\"}\n",
            "error: FILE:2:12: the file is not valid JSON: `]` is missing for the list that begins here",
        ),
        (
            b"{\n  # why\n  \"hooks\": []}",
            "error: FILE:2:3: the file is not valid JSON: unexpected text (a comment begins with `//`)",
        ),
        (
            b"{'hooks': []}",
            "error: FILE:1:2: the file is not valid JSON: single-quoted strings are not allowed (a string needs double quotes)",
        ),
        (
            br#"{"hooks": [{"event": "\d"}]}"#,
            "error: FILE:1:23: the file is not valid JSON: invalid escape in a string: write `\\\\` for a backslash",
        ),
        (
            b"{\"hooks\": [{\"event\": x}]}",
            "error: FILE:1:22: the file is not valid JSON: unexpected text (a string needs double quotes)",
        ),
        (
            b"{\"hooks\": \"a\nb\"}",
            "error: FILE:1:11: the file is not valid JSON: the string that begins here has no closing `\"` on its line (write `\\\"` for a quote within a string, and `\\n` for a line break)",
        ),
        (
            b"{\"hooks\": \"a\x1bb\"}",
            "error: FILE:1:13: the file is not valid JSON: a control character in a string: write `\\u001b`",
        ),
        (
            b"[]",
            "error: FILE:1:1: expected an object with a list `hooks` (write {\"hooks\": [ ... ]} around the list)",
        ),
        (
            b"{\"hooks\": 7}",
            "error: FILE:1:11: `hooks`: expected a list",
        ),
        (
            b"{\"hooks\": [],\n \"hooks\": []}",
            "error: FILE:2:2: `hooks` occurs twice",
        ),
        (
            b"{\"hook\": []}",
            "error: FILE:1:2: the file has no list `hooks`, and an unknown key `hook`, did you mean `hooks`?",
        ),
        (
            b"{\n\"a\": \"\xFF\"}",
            "error: FILE:2:7: the file is not UTF-8",
        ),
        (
            b"\xFF\xFE{\0}\0",
            "error: FILE:1:1: the file is not UTF-8: it looks like UTF-16, save it as UTF-8",
        ),
    ] {
        assert_eq!(
            problems(text),
            [expected],
            "{}",
            String::from_utf8_lossy(text)
        );
    }
    let world = World::new();
    let missing = HookConfig::default().check(world.path("none.json"));
    assert!(
        missing.problems[0]
            .to_string()
            .ends_with("none.json: the file does not exist")
    );
    assert!(!missing.is_ok());
}

#[cfg(unix)]
#[test]
fn a_dangling_link_is_not_a_missing_file() {
    let world = World::new();
    let link = world.path("hooks.json");
    std::os::unix::fs::symlink("gone.json", &link).unwrap();
    let report = HookConfig::default().check(&link);
    let reported = report.problems[0].to_string();
    assert!(
        reported.ends_with("hooks.json: the file is a link to a file that does not exist"),
        "{reported}"
    );
}

#[test]
fn the_json_report_is_complete() {
    let (world, report) =
        check(r#"{"hooks": [{"event": "*", "command": "x", "on_failure": "blok"}]}"#);
    let path = world.path("hooks.json");
    let expected = serde_json::json!({
        "files": [path.to_string_lossy()],
        "loaded": 0,
        "in_use": 0,
        "disabled": [],
        "unapproved": [],
        "problems": [{
            "severity": "error",
            "file": path.to_string_lossy(),
            "index": 0,
            "key": "hooks[0].on_failure",
            "line": 1,
            "column": 57,
            "end_line": 1,
            "end_column": 63,
            "offset": 56,
            "end_offset": 62,
            "message": "expected one of `block`, `continue`, `withhold`, found `blok`",
            "expected": "one of `block`, `continue`, `withhold`",
            "found": "`blok`",
            "suggestion": "block",
            "help": null,
        }],
    });
    assert_eq!(report.to_json(), expected);
}

/// A file may come with a repository, and what is printed of it goes to a terminal.
#[test]
fn no_file_controls_the_terminal() {
    let (_world, report) = check(
        r#"{"\u001b[2Jhook": 1, "hooks": [{"event": "\u001b]0;x\u0007", "command": "x", "on_failure": "\u001b[1m"}]}"#,
    );
    assert_eq!(report.problems.len(), 2, "{report:?}");
    let (_world, broken) = check("{\"hooks\": [\u{1b}[2J \u{202e}]}");
    for text in [
        broken.to_string(),
        report.to_string(),
        report
            .problems
            .iter()
            .map(|it| it.to_string() + "\n")
            .collect(),
    ] {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
    }
}

#[test]
fn of_very_many_problems_some_are_shown() {
    let keys: String = (0..3000).map(|key| format!("\"k{key}\": 1, ")).collect();
    let text = format!(r#"{{"hooks": [{{{keys}"event": "*", "command": "x"}}]}}"#);
    let (_world, report) = check(text);
    assert_eq!(report.problems.len(), 1001);
    let last = report.problems.last().unwrap();
    assert_eq!(last.severity, Severity::Error);
    assert_eq!(
        last.message,
        "the file has more than 1000 problems; the others are not shown"
    );
}

#[test]
fn a_text_has_the_problems_of_its_file() {
    let text = r#"{"hooks": [{"event": "tool:pre_exec", "command": "x", "timeout": 0}, 7]}"#;
    let (_world, of_file) = check(text);
    let of_text = HookConfig::default().check_text("a buffer", text);
    assert_eq!(of_file.problems.len(), of_text.problems.len());
    for (file, text) in of_file.problems.iter().zip(&of_text.problems) {
        assert_eq!((file.range, &file.message), (text.range, &text.message));
        assert_eq!(text.path, std::path::Path::new("a buffer"));
    }
}

#[test]
fn ranges_count_characters_and_bytes() {
    let text = "\u{FEFF}{\"hooks\": [\n {\"event\": \"ä:b\", \"command\": \"x\", \"ö\": 1}]}";
    let (_world, report) = check(text);
    let range = report.problems[0].range.unwrap();
    let (start, end) = (range.start, range.end);
    assert_eq!((start.line, start.column), (2, 35));
    assert_eq!((end.line, end.column), (2, 38));
    assert_eq!(&text[start.offset..end.offset], "\"ö\"");
}

#[test]
fn comments_and_trailing_commas_are_allowed() {
    let (_world, report) = check(
        "// mine\n{\"hooks\": [/* first */ {\"event\": \"*\", \"command\": \"x\",}, // last\n],}\n",
    );
    assert!(report.problems.is_empty(), "{report:?}");
    assert_eq!(report.loaded, 1);
}

/// Each of these once took a time that grew with the square of its length.
#[test]
fn a_file_is_checked_in_linear_time() {
    let list = |entry: &str, count: usize| format!("{{\"hooks\": [{}7]}}", entry.repeat(count));
    let keys: String = (0..900).map(|key| format!("\"timot{key}\": 1,")).collect();
    let long = "timeout".repeat(30_000);
    for (text, loaded) in [
        (list("7,", 999), 0),
        (
            format!("{{{}\"hooks\": []}}", "\"a\":1,".repeat(100_000)),
            0,
        ),
        (
            list(
                "{\"event\": \"tol:pre_execute\", \"command\": \"[[\"},",
                999,
            ),
            999,
        ),
        (
            list(
                &format!("{{{keys}\"event\": \"*\", \"command\": \"x\"}},"),
                50,
            ),
            50,
        ),
        (
            list(
                &format!("{{\"{long}\": 1, \"shell\": \"{long}\", \"event\": \"{long}\"}},"),
                1,
            ),
            0,
        ),
        (format!("{{\"hooks\": [{}", "[".repeat(500_000)), 0),
        ("{\"hooks\": []".to_owned() + &"\n".repeat(500_000), 0),
        (
            list(
                &format!(
                    "{{\"event\": \"{}\", \"command\": \"x\"}},",
                    "a:b,".repeat(8_000) + "*"
                ),
                15,
            ),
            15,
        ),
    ] {
        let report = assert_computes_within(Duration::from_secs(5), &text, || {
            HookConfig::default().check_text("a text", &text)
        });
        assert_eq!(report.loaded, loaded, "{:.80}", text);
        assert!(!report.is_ok());
    }
}

#[test]
fn a_file_beyond_a_limit_cannot_be_used() {
    let list = |count: usize| {
        let entry = r#"{"event": "*", "command": "x"},"#.repeat(count - 1);
        format!(r#"{{"hooks": [{entry}{{"event": "*", "command": "x"}}]}}"#)
    };
    assert!(problems(list(1000)).is_empty());
    let found = problems(list(1001));
    assert!(
        found[0].ends_with("the file has more than 1,000 hooks"),
        "{found:?}"
    );
    let long = |length: usize| format!("{{\"hooks\": []{}}}", " ".repeat(length - 13));
    assert!(problems(long(1 << 20)).is_empty());
    let found = problems(long((1 << 20) + 1));
    assert!(
        found[0].ends_with("the file is larger than 1 MiB"),
        "{found:?}"
    );
}

#[test]
fn a_value_out_of_range_costs_one_key() {
    let entry = r#"{"event": "tool:a", "command": "x", "timeout": 1e999, "stdin": "jsn", "enabled": false}"#;
    let (world, report) = check(format!(r#"{{"hooks": [{entry}]}}"#));
    let reported: Vec<_> = report
        .problems
        .iter()
        .map(|it| it.key.clone().unwrap())
        .collect();
    assert!(
        reported.contains(&"hooks[0].timeout".to_owned()),
        "{reported:?}"
    );
    assert!(
        reported.contains(&"hooks[0].stdin".to_owned()),
        "{reported:?}"
    );
    drop(world);
}

#[test]
fn a_pattern_with_capitals_blocks() {
    for (pattern, hint) in [
        ("TOOL:pre_execute", "write `tool:pre_execute`"),
        ("PreToolUse", "optionally with a tool"),
        ("tool:Bash", "optionally with a tool"),
        ("PreToolUse:Bash", "optionally with a tool"),
    ] {
        let world = World::new();
        let text = format!(r#"{{"hooks": [{{"event": "{pattern}", "command": "true"}}]}}"#);
        world.write("config/src/forge/hooks.json", &text);
        let config = HookConfig::default().with_config_home(world.path("config"));
        let report = config.load_into(
            world.registry(),
            world.path("none"),
            forge_hooks::config::TrustPolicy::Everything,
        );
        assert!(report.problems[0].to_string().contains(hint), "{report:?}");
        let event = forge_hooks::HookEvent::tool_pre_execute("bash", "ls");
        assert!(!world.outcome(&event).allowed(), "{pattern}");
    }
}
