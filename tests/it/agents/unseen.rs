//! Calls and environments by which a model could get past a guard that does not see them.

use serde_json::{Value, json};

use crate::program::User;

/// A user with a guard for the shell, and one for files.
fn guarded() -> User {
    let user = User::new();
    let block = |reason: &str| json!({"decision": "block", "reason": reason});
    user.has_hooks(&json!([
        {"event": "tool:pre_execute:bash", "when": {"/tool_args/command": "*sudo *"}, "answer": block("no sudo")},
        {"event": "tool:pre_execute:read|write|edit|ls|grep|glob", "when": {"/tool_args/path": "secrets/**"},
            "answer": block("no secrets")},
    ]));
    user.write("project/secrets/key", "key");
    user
}

/// Fires calls, and compares what the model reads of each. An empty text stands for a call that passes.
#[track_caller]
fn check(
    user: &User,
    rows: impl IntoIterator<Item = (&'static str, &'static str, Value, &'static str)>,
) {
    for (agent, tool, arguments, expected) in rows {
        let event = if agent == "gemini" {
            "BeforeTool"
        } else {
            "PreToolUse"
        };
        let call = json!({"tool_name": tool, "tool_input": arguments});
        let answer = user.fired(agent, event, &call);
        let status = if expected.is_empty() { 0 } else { 2 };
        assert!(
            answer.status == status && answer.err.contains(expected),
            "{agent} {tool} {arguments}: expected {expected:?}, got {answer:?}"
        );
    }
}

#[test]
fn a_path_that_leads_elsewhere_is_unclear() {
    let escape = "has an escape";
    let process = "each process";
    check(
        &guarded(),
        [
            (
                "gemini",
                "list_directory",
                json!({"dir_path": "secret%73"}),
                escape,
            ),
            (
                "gemini",
                "grep_search",
                json!({"pattern": "x", "dir_path": "./secret%73"}),
                escape,
            ),
            (
                "gemini",
                "glob",
                json!({"pattern": "*", "dir_path": "@secrets"}),
                escape,
            ),
            (
                "gemini",
                "list_directory",
                json!({"dir_path": "secrets"}),
                "no secrets",
            ),
            (
                "gemini",
                "list_directory",
                json!({"dir_path": "100% new"}),
                "",
            ),
            ("claude", "LS", json!({"path": "secret%73"}), ""),
            (
                "claude",
                "Read",
                json!({"file_path": "/proc/self/cwd/secrets/key"}),
                process,
            ),
            (
                "codex",
                "mcp__fs__read",
                json!({"path": "/proc/thread-self/cwd/secrets/key"}),
                process,
            ),
            (
                "copilot",
                "Grep",
                json!({"pattern": "x", "paths": "/proc/1/cwd"}),
                process,
            ),
            (
                "gemini",
                "read_file",
                json!({"file_path": "/dev/fd/3"}),
                process,
            ),
            ("claude", "Read", json!({"file_path": "/proc/version"}), ""),
        ],
    );
}

#[test]
fn text_typed_into_a_shell_is_a_command() {
    check(
        &guarded(),
        [
            (
                "copilot",
                "write_bash",
                json!({"shellId": "1", "input": "sudo ls{enter}"}),
                "no sudo",
            ),
            (
                "copilot",
                "write_powershell",
                json!({"shellId": "1", "input": "sudo ls"}),
                "no sudo",
            ),
            (
                "copilot",
                "write_bash",
                json!({"shellId": "1", "input": "{up}"}),
                "",
            ),
            (
                "copilot",
                "read_bash",
                json!({"shellId": "1", "delay": 5}),
                "",
            ),
        ],
    );
}

#[test]
fn a_joined_tool_has_each_name_that_it_may_have() {
    let user = User::new();
    let block = json!({"decision": "block", "reason": "not this tool"});
    let guard = |tool: &str| json!({"event": format!("tool:pre_execute:{tool}"), "answer": block});
    user.has_hooks(&json!([
        guard("mcp__files__write"),
        guard("mcp__my-server__get-it")
    ]));
    check(
        &user,
        [
            ("copilot", "files-write", json!({}), "not this tool"),
            ("copilot", "my-server-get-it", json!({}), "not this tool"),
            ("copilot", "files-read", json!({}), ""),
            ("copilot", "my-server-get-that", json!({}), ""),
            ("codex", "files-write", json!({}), ""),
            ("copilot", &*"a-".repeat(30).leak(), json!({}), "servers"),
        ],
    );
}

#[test]
fn commands_of_unknown_tools_are_found_at_any_depth() {
    let rows = [
        json!({"commands": ["ls", "sudo ls"]}),
        json!({"shell_command": "sudo ls"}),
        json!({"bashCommand": "sudo ls"}),
        json!({"script": "sudo ls"}),
        json!({"options": {"command": "sudo ls"}}),
        json!({"steps": [{"command": "ls"}, {"command": "sudo ls"}]}),
        json!({"command": "bash", "args": ["-c", "sudo ls"]}),
        json!({"command": ["sudo", "ls"]}),
    ];
    let user = guarded();
    for arguments in rows {
        check(&user, [("claude", "mcp__s__t", arguments, "no sudo")]);
    }
    check(
        &user,
        [
            ("claude", "mcp__s__t", json!({"transcript": "sudo ls"}), ""),
            (
                "codex",
                "mcp__s__t",
                json!({"commands": vec!["ls"; 101]}),
                "more than 100 commands",
            ),
        ],
    );
}

/// Tools of git name the root in each call.
#[test]
fn a_directory_above_protected_files_may_be_named() {
    let user = User::new();
    user.write("project/.claude/settings.json", "{}");
    let (root, home) = (user.project(), user.path("home"));
    let protected = "files that decide which hooks run";
    check(
        &user,
        [
            (
                "claude",
                "mcp__git__git_status",
                json!({"repo_path": root}),
                "",
            ),
            (
                "codex",
                "mcp__git__git_status",
                json!({"repo_path": "."}),
                "",
            ),
            ("copilot", "fs-list_directory", json!({"path": home}), ""),
            ("gemini", "mcp_git_log", json!({"directory": "."}), ""),
            (
                "claude",
                "mcp__fs__delete_directory",
                json!({"path": root}),
                protected,
            ),
            (
                "claude",
                "mcp__fs__manage",
                json!({"path": root, "action": "remove"}),
                protected,
            ),
            (
                "claude",
                "mcp__fs__copy",
                json!({"source": "/tmp", "destination": root}),
                protected,
            ),
            ("claude", "mcp__fs__list", json!({"path": ".claude"}), ""),
            (
                "claude",
                "mcp__fs__sort",
                json!({"path": ".claude"}),
                protected,
            ),
            (
                "claude",
                "mcp__fs__write",
                json!({"path": ".claude/settings.json"}),
                protected,
            ),
            (
                "claude",
                "mcp__fs__write",
                json!({"path": ".claude/skills"}),
                protected,
            ),
        ],
    );
}

/// The hook of an agent is started again by its own command: it runs once.
#[cfg(target_os = "linux")]
#[test]
fn only_living_hooks_above_count() {
    let user = User::new();
    let log = user.path("log");
    let call = json!({"hook_event_name": "Notification", "cwd": user.project(), "message": "x"});
    user.write("project/call", &call.to_string());
    let again = user.registered("claude", "Notification");
    let words = std::iter::once(again.get_program()).chain(again.get_args());
    let words: Vec<_> = words
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let command = format!(
        "echo run >> '{}'; {} < call",
        log.display(),
        words.join(" ")
    );
    user.has_hooks(&json!([{"event": "*", "command": command}]));
    let mut first = user.registered("claude", "Notification");
    first.env("FORGE_HOOK_CHAIN", "1:2:3:4:5:6:7:8");
    let answer = user.feed(first, &call.to_string());
    assert_eq!(answer.status, 0, "{answer:?}");
    assert_eq!(user.read("log"), "run\n");
}

/// A guard of what is written does not keep viewers and searches from their work.
#[test]
fn other_texts_of_a_call_are_its_content() {
    let user = User::new();
    let block = json!({"decision": "block", "reason": "no keys"});
    user.has_hooks(&json!([
        {"event": "tool:pre_execute:edit", "when": {"/tool_args/new_string": {"regex": "BEGIN .*KEY"}}, "answer": block},
    ]));
    let key = "-----BEGIN PRIVATE KEY-----";
    check(
        &user,
        [
            ("claude", "mcp__fs__view", json!({"path": "a"}), ""),
            (
                "claude",
                "LSP",
                json!({"operation": "hover", "filePath": "a", "line": 1}),
                "",
            ),
            (
                "claude",
                "mcp__fs__put",
                json!({"path": "a", "body": {"text": key}}),
                "no keys",
            ),
            (
                "claude",
                "mcp__fs__put",
                json!({"path": "a", "lines": ["x", key]}),
                "no keys",
            ),
            (
                "claude",
                "mcp__fs__put",
                json!({"path": "a", "new_string": "x", "note": key}),
                "no keys",
            ),
        ],
    );
}

/// An allow-list of addresses works under Gemini CLI too, whose tool has them in a text.
#[test]
fn each_address_of_a_fetch_is_an_event() {
    let user = User::new();
    let block = json!({"decision": "block", "reason": "not listed"});
    let listed = json!({"not": {"regex": "^https://docs\\.rs/.*$"}});
    user.has_hooks(&json!([
        {"event": "tool:pre_execute:web_fetch", "when": {"/tool_args/url": listed}, "answer": block},
    ]));
    let text = |prompt: &str| json!({"prompt": prompt});
    check(
        &user,
        [
            (
                "gemini",
                "web_fetch",
                text("what says https://docs.rs/a ?"),
                "",
            ),
            (
                "gemini",
                "web_fetch",
                text("https://docs.rs/a https://docs.rs/b"),
                "",
            ),
            (
                "gemini",
                "web_fetch",
                text("https://docs.rs/a and https://evil.com"),
                "not listed",
            ),
            (
                "gemini",
                "web_fetch",
                text("(https://evil.com)"),
                "not listed",
            ),
            ("gemini", "web_fetch", text("nothing"), "no such value"),
            (
                "claude",
                "WebFetch",
                json!({"url": "https://docs.rs/a", "prompt": "https://evil.com"}),
                "",
            ),
        ],
    );
}

/// Fires a call of an agent that has gone to a directory below the project.
fn called_in(user: &User, directory: &str, tool: &str, arguments: Value) -> i32 {
    let call =
        json!({"tool_name": tool, "tool_input": arguments, "cwd": user.project().join(directory)});
    user.fired("claude", "PreToolUse", &call).status
}

/// A server may have begun where the session did, and a search without a path is where the agent is.
#[test]
fn a_change_of_directory_hides_nothing() {
    let user = guarded();
    for directory in ["sub/deep", "secrets"] {
        std::fs::create_dir_all(user.project().join(directory)).unwrap();
    }
    let path = |path: &str| json!({"path": path, "content": "x"});
    for (directory, tool, arguments, status) in [
        ("sub", "mcp__fs__write_file", path("secrets/key"), 2),
        ("sub", "mcp__fs__write_file", path("../secrets/key"), 2),
        (
            "sub",
            "mcp__fs__write_file",
            path(".claude/settings.json"),
            2,
        ),
        ("sub", "mcp__fs__write_file", path("a"), 0),
        ("secrets", "Grep", json!({"pattern": "."}), 2),
        ("secrets", "Glob", json!({"pattern": "*"}), 2),
        ("secrets", "LS", json!({}), 2),
        ("sub", "Grep", json!({"pattern": "."}), 0),
        ("", "Grep", json!({"pattern": "."}), 0),
        (
            "",
            "mcp__fs__move_file",
            json!({"source": "secrets", "destination": "b"}),
            2,
        ),
        ("", "mcp__fs__delete_directory", path("secrets"), 2),
        (
            "",
            "mcp__fs__write",
            json!({"uri": format!("file://{}?x", user.project().join("secrets/key").display())}),
            2,
        ),
        (
            "",
            "mcp__fs__open",
            json!({"url": format!("file://{}", user.project().join("secrets/key").display())}),
            2,
        ),
        ("", "mcp__fs__open", json!({"path1": "secrets/key"}), 2),
    ] {
        let found = called_in(&user, directory, tool, arguments.clone());
        assert_eq!(found, status, "{directory}: {tool} {arguments}");
    }
}

/// A directory may be prepared elsewhere, and moved as a whole. The tools of git name the repository each time.
#[test]
fn a_directory_of_settings_is_protected_and_a_repository_is_not() {
    let user = guarded();
    std::fs::create_dir_all(user.project().join("sub")).unwrap();
    let repository = user.project();
    for (tool, arguments, status) in [
        (
            "mcp__fs__move_file",
            json!({"source": "tmp/c", "destination": "sub/.claude"}),
            2,
        ),
        (
            "mcp__fs__move_file",
            json!({"source": "tmp/c", "destination": "sub/.github"}),
            2,
        ),
        (
            "mcp__git__git_add",
            json!({"repo_path": repository, "files": ["sub/a"]}),
            0,
        ),
        (
            "mcp__git__git_diff",
            json!({"repo_path": repository, "target": "main"}),
            0,
        ),
        (
            "mcp__git__git_commit",
            json!({"repo_path": repository, "message": "remove"}),
            0,
        ),
        ("mcp__git__git_clean", json!({"repo_path": repository}), 2),
        (
            "mcp__fs__manage",
            json!({"path": repository, "delete": true}),
            2,
        ),
        ("mcp__fs__wipe_directory", json!({"path": repository}), 2),
        ("mcp__fs__list_directory", json!({"path": repository}), 0),
        (
            "mcp__fs__read_text_file",
            json!({"path": ".claude/settings.json"}),
            0,
        ),
        (
            "mcp__fs__get_or_create_file",
            json!({"path": ".claude/settings.json"}),
            2,
        ),
        (
            "mcp__fs__read_and_delete",
            json!({"path": ".claude/settings.json"}),
            2,
        ),
        ("mcp__fs__put", json!({"path": ".claude/settings.json"}), 2),
    ] {
        let found = called_in(&user, "", tool, arguments.clone());
        assert_eq!(found, status, "{tool} {arguments}");
    }
}

/// The link by which a package manager installs the program is registered, so it may not be moved away.
#[cfg(unix)]
#[test]
fn the_registered_link_is_protected() {
    let user = User::new();
    let program = user.own_program();
    std::fs::create_dir(user.path("links")).unwrap();
    let link = user.path("links/forge-hooks");
    std::os::unix::fs::symlink(&program, &link).unwrap();
    let mut command = std::process::Command::new(&link);
    user.set(&mut command);
    let usual = user.registered("claude", "PreToolUse");
    command.args(usual.get_args());
    let call = json!({
        "session_id": "s", "cwd": user.project(), "hook_event_name": "PreToolUse", "tool_name": "mcp__fs__move_file",
        "tool_input": {"source": user.path("links"), "destination": "b"},
    });
    let answer = user.feed(command, &call.to_string());
    assert_eq!(answer.status, 2, "{answer:?}");
}
