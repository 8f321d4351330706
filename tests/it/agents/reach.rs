//! Where a guard reaches: the directory of a command, JSON in texts, words of names; and ordinary calls that nothing blocks.

use serde_json::{Value, json};

use crate::cases::at_once;
use crate::program::User;

/// Guards on commands, and on paths of each kind of tool.
fn guards() -> Value {
    let on_paths = ["edit", "read", "write", "grep", "glob", "ls"].map(|tool| {
        json!({"event": format!("tool:pre_execute:{tool}"), "when": {"/tool_args/path": ["secrets/**", ".ssh/**"]},
            "answer": {"decision": "block", "reason": "a secret"}})
    });
    let on_command = |condition: Value| {
        json!({"event": "tool:pre_execute:bash", "when": {"/tool_args/command": condition},
            "answer": {"decision": "block", "reason": "not this command"}})
    };
    let on_commands = [
        json!({"runs": "sudo"}),
        json!({"writes": ["secrets/**"]}),
        json!({"runs": "cat|less", "paths": ["secrets/**"]}),
        json!({"runs": "rm -r|-R", "paths": "outside"}),
    ];
    let on_fetch = json!({"event": "tool:pre_execute:web_fetch", "when": {"/tool_args/url": "*evil.com*"},
        "answer": {"decision": "block", "reason": "not this address"}});
    on_paths
        .into_iter()
        .chain(on_commands.map(on_command))
        .chain([on_fetch])
        .collect()
}

const CALLS: &str = include_str!("reach.txt");

/// A line is `blocks` or `passes`, the agent, the tool, the directory below the project, and the arguments. `@` is the project,
/// `~` the home.
#[test]
fn a_guard_reaches_what_a_call_does_and_no_more() {
    let rows: Vec<_> = CALLS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let new = || {
        let user = User::new();
        user.has_hooks(&guards());
        user.write("project/.git/HEAD", "");
        user.write("project/secrets/key", "");
        user.write("project/src/hooks/a.ts", "");
        user.write("home/.claude/settings.json", "{}");
        user
    };
    let wrong = at_once(&rows, new, |user, row| {
        let cells: Vec<_> = row.splitn(5, ' ').collect();
        let [expected, agent, tool, directory, input] = cells[..] else {
            panic!("{row}");
        };
        let input = input
            .replace('@', user.project().to_str().unwrap())
            .replace('~', user.path("home").to_str().unwrap());
        let input: Value =
            serde_json::from_str(&input).unwrap_or_else(|error| panic!("{row}: {error}"));
        let event = match agent {
            "gemini" => "BeforeTool",
            "opencode" => "tool.execute.before",
            "pi" => "tool_call",
            _ => "PreToolUse",
        };
        let mut fields = json!({"tool_name": tool, "tool_input": input});
        fields["cwd"] = user.project().join(directory).to_str().unwrap().into();
        let answer = user.fired(agent, event, &fields);
        let is_blocked = answer.status == 2 || answer.out.contains("\"deny\"");
        let is_right = is_blocked == (expected == "blocks");
        if is_right {
            String::new()
        } else {
            format!("{row}\n    {answer:?}\n")
        }
    });
    let wrong: String = wrong.concat();
    assert!(wrong.is_empty(), "{wrong}");
}
