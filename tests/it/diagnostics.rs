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

/// One of each form; `golden/validate.txt` has all messages.
#[test]
fn every_mistake_has_its_place() {
    for (entry, expected) in [
        (
            r#"{"event": "*"}"#,
            "error: FILE:3:5: hooks[0].command: the key is missing, and there is no `args`",
        ),
        (
            r#"{"event": "PreToolUse", "command": "x"}"#,
            "error: FILE:3:15: hooks[0].event: invalid event pattern `PreToolUse` at column 1: event names have no capital letters: expected `category:action`, optionally with a tool, as in `tool:pre_execute:bash`, did you mean `tool:pre_execute`?",
        ),
        (
            r#"{"event": "*", "command": "x", "disabled": true}"#,
            "warning: FILE:3:36: hooks[0].disabled: unknown key `disabled` (write \"enabled\": false)",
        ),
        (
            r#"{"event": "*", "command": "x", "env": {"A": "1", "B": 2}}"#,
            "error: FILE:3:59: hooks[0].env.B: expected a string, found a number",
        ),
        (
            r#"{"event": "*", "command": "x""#,
            "error: FILE:4:3: the file is not valid JSON: expected `,` or `}`, found `]`",
        ),
    ] {
        assert_eq!(of_entry(entry), [expected], "{entry}");
    }
    let whole = "error: FILE:1:11: `hooks`: expected a list";
    assert_eq!(problems("{\"hooks\": 7}"), [whole]);
    let missing = HookConfig::default().check(World::new().path("none.json"));
    let missing = missing.problems[0].to_string();
    assert!(
        missing.ends_with("none.json: the file does not exist"),
        "{missing}"
    );
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
            "error: FILE:3:6: hooks[0].events: unknown key `events`, did you mean `event`?",
            "warning: FILE:3:58: hooks[0].Shell: unknown key `Shell`, did you mean `shell`?",
        ]
    );
    let shell = of_entry(r#"{"event": "*", "command": "x", "shell": "Bash"}"#);
    assert!(shell[0].ends_with("did you mean `bash`?"), "{shell:?}");
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
