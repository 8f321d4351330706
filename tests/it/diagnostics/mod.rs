//! What is reported of a hooks file: each typo with its place, what was expected, and what was meant.

#[cfg(all(feature = "cli", unix))]
mod mistakes;

use std::cell::Cell;

use forge_hooks::compat::OtherAgents;
use forge_hooks::{HookConfig, LoadReport};

use crate::growth::assert_linear;
use crate::support::{World, config_of, most_hooks, nowhere};
use crate::thorough::all_cases;

fn check(text: &str) -> (World, LoadReport) {
    let world = World::new();
    let path = world.write("hooks.json", text);
    let report = HookConfig::default().check(path);
    (world, report)
}

/// The problems without the name of the file, each on a line.
fn problems(text: &str) -> String {
    let (world, report) = check(text);
    let path = world.path("hooks.json").display().to_string();
    report.to_string().replace(&path, "FILE")
}

/// An entry of the list, and what is reported.
const LINES: &str = r#"
{"event": "*"} => error: FILE:3:5: hooks[0].command: the key is missing, and there is neither `args` nor `answer`
{"event": "*", "command": "x", "disabled": true} => warning: FILE:3:36: hooks[0].disabled: unknown key `disabled` (write "enabled": false)
{"event": "*", "command": "x", "Sandbox": true} => error: FILE:3:36: hooks[0].Sandbox: unknown key `Sandbox`, did you mean `sandbox`?
{"event": "*", "command": "x", "sand_box": true} => error: FILE:3:36: hooks[0].sand_box: unknown key `sand_box`, did you mean `sandbox`?
{"event": "*", "command": "x", "timout": 5} => error: FILE:3:36: hooks[0].timout: unknown key `timout`, did you mean `timeout`?
{"event": "*", "command": "x" => error: FILE:4:3: the file is not valid JSON: expected `,` or `}`, found `]`
"#;

/// `golden/check.txt` has all messages.
#[test]
fn a_problem_is_one_line() {
    for row in LINES.trim().lines() {
        let (entry, expected) = row.split_once(" => ").unwrap();
        let reported = problems(&format!("{{\n  \"hooks\": [\n    {entry}\n  ]\n}}\n"));
        assert_eq!(reported.trim_end(), expected, "{entry}");
    }
}

/// Checks a project's hook with these keys.
fn check_project(world: &World, keys: &str) -> LoadReport {
    let text = format!(r#"{{"hooks": [{{"event": "*", {keys}}}]}}"#);
    world.write(".src/forge/hooks.json", &text);
    HookConfig::default().check(world.path(".src/forge/hooks.json"))
}

#[cfg(unix)]
#[test]
fn a_script_that_cannot_run_is_reported() {
    let world = World::new();
    world.script("good.sh", "#!/bin/sh\nexit 0\n");
    world.script("crlf.sh", "#!/bin/sh\r\nexit 0\r\n");
    world.script("wrong.sh", "#!/usr/bin/no-such-shell\n");
    world.script("crlf.py", "#!/usr/bin/env python3\r\nprint(1)\r\n");
    world.script("my hooks/guard.sh", "exit 0\n");
    world.script("empty.sh", "");
    world.script("env.sh", "#!/usr/bin/env pyhton3\n");
    world.write("plain.sh", "exit 0\n");
    let of_claude = "import json, sys\njson.load(sys.stdin)['tool_input']\n";
    world.write("of_claude.py", of_claude);
    let of_both = "data = event.get('data', {}).get('tool_args') or event['tool_input']";
    world.write("of_both.py", of_both);
    for row in include_str!("scripts.txt").lines().skip(1) {
        let (keys, words) = row.split_once(" =>").unwrap();
        let report = check_project(&world, keys);
        let reported = report.to_string();
        assert!(reported.contains(words.trim()), "{row}: {reported}");
        let is_silent = report.problems.is_empty();
        assert_eq!(is_silent, words.is_empty(), "{row}: {reported}");
        assert!(report.is_ok(), "{row}");
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
    let commands = "/no/such/script.sh ../none.sh //host/share/x.sh ./out/none.sh ./elsewhere.sh";
    for command in commands.split(' ') {
        let report = check_project(&world, &format!(r#""command": "{command}""#));
        assert_eq!(report.to_string(), "", "{command}");
    }
}

/// A file may come with a repository, and what is printed of it goes to a terminal.
#[test]
fn no_file_controls_the_terminal() {
    for text in [
        r#"{"\u001b[2Jhook": 1, "hooks": [{"event": "\u001b]0;x\u0007", "command": "x", "on_failure": "\u001b[1m"}]}"#,
        "{\"hooks\": [\u{1b}[2J \u{202e}]}",
    ] {
        let (_world, report) = check(text);
        let lines: String = report.problems.iter().map(ToString::to_string).collect();
        assert!(!lines.is_empty(), "{report:?}");
        let shown = lines + &report.to_string();
        let controls = shown.contains(['\u{1b}', '\u{7}', '\u{202e}']);
        assert!(!controls, "{shown:?}");
    }
}

#[test]
fn a_text_has_the_problems_of_its_file() {
    let text = r#"{"hooks": [{"event": "tool:pre_exec", "command": "x", "timeout": 0}, 7]}"#;
    let (_world, of_file) = check(text);
    let of_text = HookConfig::default().check_text("a buffer", text);
    assert_eq!(of_file.problems.len(), of_text.problems.len());
    for (file, text) in of_file.problems.iter().zip(&of_text.problems) {
        assert_eq!((&file.range, &file.message), (&text.range, &text.message));
        assert_eq!(text.path, std::path::Path::new("a buffer"));
    }
}

/// Each of these once took a time that grew with the square of its length. Shorter ones would not show it.
#[test]
fn a_file_is_checked_in_linear_time() {
    let list = |entry: &str, count: usize| format!("{{\"hooks\": [{}7]}}", entry.repeat(count));
    let keys: String = (0..450).map(|key| format!("\"timot{key}\": 1,")).collect();
    let with_keys = format!("{{{keys}\"event\": \"*\", \"command\": \"x\"}},");
    let with_typo = "{\"event\": \"tol:pre_execute\", \"command\": \"[[\"},";
    let of_a_word = |length: usize| {
        let long = "timeout".repeat(length);
        let entry = format!("{{\"{long}\": 1, \"shell\": \"{long}\", \"event\": \"{long}\"}},");
        list(&entry, 1)
    };
    const PATTERNS: usize = 15;
    let with_pattern = |parts: usize| {
        let pattern = "a:b,".repeat(parts);
        let entry = format!("{{\"event\": \"{pattern}*\", \"command\": \"x\"}},");
        list(&entry, PATTERNS)
    };
    let other_keys = |count| format!("{{{}\"hooks\": []}}", "\"a\":1,".repeat(count));
    let with_variables = |count: usize| {
        let (same, unknown) = ("\"A\": \"\",".repeat(count), "\"u\": 1e999,".repeat(count));
        let entry = format!("{{\"env\": {{{same}\"B\": \"\"}}, {unknown}\"command\": \"x\"}},");
        list(&entry, 1)
    };
    let with_names = |count: usize| {
        let matcher = "bash|".repeat(count);
        let group = format!("{{\"matcher\": \"{matcher}Bash\", \"hooks\": []}}");
        format!("{{\"hooks\": {{\"PreToolUse\": [{group}, 7]}}}}")
    };
    let nested = |count| format!("{{\"hooks\": [{}", "[".repeat(count));
    let lines = |count| "{\"hooks\": []".to_owned() + &"\n".repeat(count);
    let most = most_hooks() - 1;
    // What grows; the text of so many; and how many hooks are loaded from the whole text.
    type Text<'a> = &'a dyn Fn(usize) -> String;
    type Row<'a> = (&'a str, usize, Text<'a>, fn(usize) -> usize);
    let rows: [Row<'_>; 10] = [
        ("numbers", most, &|count| list("7,", count), |_| 0),
        ("other keys", 50_000, &other_keys, |_| 0),
        ("typos", most, &|count| list(with_typo, count), |size| size),
        (
            "unknown keys",
            24,
            &|count| list(&with_keys, count),
            |size| size,
        ),
        ("variables", 20_000, &with_variables, |_| 0),
        ("names", 20_000, &with_names, |_| 0),
        ("long words", 15_000, &of_a_word, |_| 0),
        ("brackets", 250_000, &nested, |_| 0),
        ("lines", 250_000, &lines, |_| 0),
        ("patterns", 4_000, &with_pattern, |_| PATTERNS),
    ];
    for (what, most, text, loaded) in rows {
        let size = if all_cases() { most } else { most / 4 };
        let config = config_of(nowhere().other_agents(OtherAgents::new([])));
        let last = Cell::new(0);
        assert_linear(what, size, text, |text| {
            let report = config.check_text("a text", text);
            assert!(!report.is_ok());
            last.set(report.loaded);
        });
        // The last call had the whole text.
        assert_eq!(last.get(), loaded(size), "{what}");
    }
}

/// Further cases are in `golden/check.txt`.
#[test]
fn a_file_at_a_limit_can_be_used() {
    let hooks = r#"{"event": "*", "command": "x"},"#.repeat(most_hooks());
    let hooks = format!(r#"{{"hooks": [{hooks}]}}"#);
    let long = format!("{{\"hooks\": []{}}}", " ".repeat((1 << 20) - 13));
    assert_eq!([problems(&hooks), problems(&long)], ["", ""]);
}
