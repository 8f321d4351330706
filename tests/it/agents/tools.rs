//! One guard for all agents: their tools, arguments and paths under one name.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::program::User;

/// A user with a guard for the shell, and one for files.
fn guarded() -> User {
    let user = User::new();
    user.has_hooks(&json!([
        {"event": "tool:pre_execute:bash", "name": "shell", "when": {"/tool_args/command": "*rm *"},
            "answer": {"decision": "block", "reason": "no rm"}},
        {"event": "tool:pre_execute:write|edit", "name": "files", "when": {"/tool_args/path": "secrets/**"},
            "answer": {"decision": "block", "reason": "no secrets"}},
        {"event": "tool:pre_execute:write|edit", "name": "keys",
            "when": {"/tool_args/path": [format!("{}/keys/**", user.project().display()), format!("{}/**", user.path("home/.ssh").display())]},
            "answer": {"decision": "block", "reason": "no keys"}},
    ]));
    user.write("project/secrets/key", "key");
    user.write("project/sub/a", "a");
    symlink(user.path("project/secrets"), user.path("project/sub/link")).unwrap();
    symlink(user.project(), user.path("elsewhere")).unwrap();
    user
}

fn before(agent: &str) -> &'static str {
    if agent == "gemini" {
        "BeforeTool"
    } else {
        "PreToolUse"
    }
}

fn patch(lines: &str) -> Value {
    json!({"command": format!("*** Begin Patch\n{lines}*** End Patch\n")})
}

/// Claude Code runs these without a call of a tool. It neither asks nor runs another command there.
#[test]
fn the_commands_of_skills_are_events_of_bash() {
    let user = User::new();
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": "rm -r x"}, "command_name": "clean", "invoked_by": "user"});
    for (answer, expected) in [
        (json!({"decision": "block", "reason": "no rm"}), "no rm"),
        (json!({"decision": "ask", "reason": "rm?"}), "rm?"),
        (
            json!({"updatedInput": {"command": "ls"}}),
            "input instead: {\"command\":\"ls\"}",
        ),
        (json!({"decision": "allow"}), ""),
    ] {
        user.has_hooks(&json!([{"event": "tool:pre_execute:bash", "when": {"/tool_args/command": "rm *"}, "answer": answer}]));
        let answered = user.fired("claude", "PreSkillShellCommand", &fields);
        let status = if expected.is_empty() { 0 } else { 2 };
        assert_eq!(
            (answered.status, &*answered.out),
            (status, ""),
            "{answered:?}"
        );
        assert!(answered.err.contains(expected), "{answered:?}");
    }
    user.has_hooks(&json!([{"event": "*", "answer": {"continue": false, "stopReason": "enough"}}]));
    let answered = user.fired("claude", "PreSkillShellCommand", &fields);
    assert_eq!(answered.status, 2, "{answered:?}");
    assert!(answered.err.contains("enough"), "{answered:?}");
}

#[test]
fn one_guard_sees_the_tools_of_all_agents() {
    let user = guarded();
    let project = user.project();
    let absolute = project.join("secrets/key");
    let through = user.path("elsewhere/secrets/new");
    let up = project.join("sub/../secrets/new");
    let edits =
        json!([{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]);
    for (agent, tool, arguments, expected) in [
        ("claude", "Bash", json!({"command": "rm -r x"}), "no rm"),
        (
            "claude",
            "PowerShell",
            json!({"command": "rm -r x"}),
            "no rm",
        ),
        ("claude", "Monitor", json!({"command": "rm -r x"}), "no rm"),
        ("codex", "Bash", json!({"command": "rm -r x"}), "no rm"),
        (
            "gemini",
            "run_shell_command",
            json!({"command": "rm -r x"}),
            "no rm",
        ),
        ("copilot", "Bash", json!({"command": "rm -r x"}), "no rm"),
        (
            "qwen",
            "run_shell_command",
            json!({"command": "rm -r x", "is_background": false}),
            "no rm",
        ),
        (
            "qwen",
            "monitor",
            json!({"command": "rm -r x", "description": "x"}),
            "no rm",
        ),
        (
            "qwen",
            "edit",
            json!({"file_path": absolute, "old_string": "a", "new_string": "b"}),
            "no secrets",
        ),
        (
            "qwen",
            "notebook_edit",
            json!({"notebook_path": absolute, "new_source": "b"}),
            "no secrets",
        ),
        (
            "copilot",
            "Write",
            json!({"path": "secrets/new", "file_text": "x"}),
            "no secrets",
        ),
        (
            "copilot",
            "Edit",
            json!({"path": absolute, "old_str": "a", "new_str": "b"}),
            "no secrets",
        ),
        (
            "copilot",
            "Edit",
            json!(
                "*** Begin Patch\n*** Add File: b\n+x\n*** Delete File: secrets/key\n*** End Patch\n"
            ),
            "no secrets",
        ),
        (
            "copilot",
            "Edit",
            json!("*** Begin Patch\n*** Add File: secrets/new"),
            "patch",
        ),
        (
            "copilot",
            "server-write",
            json!({"path": "secrets/new"}),
            "no secrets",
        ),
        ("copilot", "Write", json!("not an object"), "patch"),
        // For it, a carriage return ends a line of a patch, and a byte order mark is a blank.
        (
            "copilot",
            "Edit",
            json!(
                "*** Begin Patch\n*** Add File: ok\n+x\r*** Add File: secrets/new\r+y\n*** End Patch\n"
            ),
            "a carriage return within a line",
        ),
        (
            "copilot",
            "Edit",
            json!("*** Begin Patch\r\n*** Add File: ok\r\n+x\r\n*** End Patch\r\n"),
            "",
        ),
        (
            "copilot",
            "Edit",
            json!("*** Begin Patch\n*** Add File: secrets/new\u{feff}\n+x\n*** End Patch\n"),
            "blanks around it",
        ),
        (
            "claude",
            "Write",
            json!({"file_path": "\u{feff}secrets/new", "content": "x"}),
            "blanks around it",
        ),
        ("copilot", "Bash", json!({"command": "ls"}), ""),
        ("claude", "Bash", json!({"command": "ls"}), ""),
        (
            "claude",
            "Write",
            json!({"file_path": absolute, "content": "x"}),
            "no secrets",
        ),
        (
            "claude",
            "Write",
            json!({"file_path": "secrets/new", "content": "x"}),
            "no secrets",
        ),
        (
            "claude",
            "Write",
            json!({"file_path": "./secrets/new", "content": "x"}),
            "no secrets",
        ),
        (
            "claude",
            "Write",
            json!({"file_path": up, "content": "x"}),
            "no secrets",
        ),
        (
            "claude",
            "Write",
            json!({"file_path": through, "content": "x"}),
            "no secrets",
        ),
        (
            "claude",
            "Write",
            json!({"file_path": "sub/link/new", "content": "x"}),
            "no secrets",
        ),
        (
            "claude",
            "Write",
            json!({"file_path": "sub/a", "content": "x"}),
            "",
        ),
        ("claude", "Read", json!({"file_path": absolute}), ""),
        (
            "claude",
            "Edit",
            json!({"file_path": absolute, "old_string": "a", "new_string": "b"}),
            "no secrets",
        ),
        (
            "claude",
            "MultiEdit",
            json!({"file_path": absolute, "edits": edits}),
            "no secrets",
        ),
        (
            "claude",
            "NotebookEdit",
            json!({"notebook_path": "secrets/a.ipynb", "new_source": "x"}),
            "no secrets",
        ),
        (
            "gemini",
            "write_file",
            json!({"file_path": "secrets/new", "content": "x"}),
            "no secrets",
        ),
        (
            "gemini",
            "replace",
            json!({"file_path": absolute, "old_string": "a", "new_string": "b"}),
            "no secrets",
        ),
        (
            "gemini",
            "write_file",
            json!({"file_path": "sub/a", "content": "x"}),
            "",
        ),
        (
            "codex",
            "apply_patch",
            patch("*** Add File: secrets/new\n+x\n"),
            "no secrets",
        ),
        (
            "codex",
            "apply_patch",
            patch("*** Add File: a\n+x\n*** Add File: b\n+x\n*** Delete File: secrets/key\n"),
            "no secrets",
        ),
        (
            "codex",
            "apply_patch",
            patch("*** Update File: sub/a\n*** Move to: secrets/a\n@@\n-a\n+b\n"),
            "no secrets",
        ),
        (
            "codex",
            "apply_patch",
            patch("*** Update File: sub/a\n@@\n-a\n+b\n"),
            "",
        ),
        (
            "codex",
            "apply_patch",
            patch("*** Add File: a\n+x\n*** Something else\n"),
            "patch",
        ),
        (
            "codex",
            "Bash",
            json!({"command": "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: secrets/new\n+x\n*** End Patch\nEOF\n"}),
            "no secrets",
        ),
        (
            "codex",
            "Bash",
            json!({"command": "cd secrets && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new\n+x\n*** End Patch\nEOF\n"}),
            "no secrets",
        ),
        // An absolute pattern, and links below another directory than the one in which the agent is.
        (
            "claude",
            "Write",
            json!({"file_path": "keys/a", "content": "x"}),
            "no keys",
        ),
        (
            "claude",
            "Write",
            json!({"file_path": user.project().join("keys/a"), "content": "x"}),
            "no keys",
        ),
        (
            "claude",
            "Write",
            json!({"file_path": user.path("home/.ssh/id"), "content": "x"}),
            "no keys",
        ),
        // Tools that no row names.
        ("claude", "NewShell", json!({"command": "rm -r x"}), "no rm"),
        (
            "claude",
            "NewWriter",
            json!({"target_path": "secrets/new"}),
            "no secrets",
        ),
        (
            "claude",
            "mcp__fs__write",
            json!({"path": absolute}),
            "no secrets",
        ),
        (
            "codex",
            "mcp__fs__write",
            json!({"filePath": "secrets/new"}),
            "no secrets",
        ),
        (
            "gemini",
            "mcp_fs_write",
            json!({"path": "secrets/new"}),
            "no secrets",
        ),
        (
            "claude",
            "NewMover",
            json!({"source": "a", "destination": "secrets/new"}),
            "no secrets",
        ),
        (
            "claude",
            "NewReaders",
            json!({"paths": ["a", "secrets/new"]}),
            "no secrets",
        ),
        (
            "claude",
            "NewWriter",
            json!({"at": {"file": "secrets/new"}}),
            "no secrets",
        ),
        ("claude", "NewShell", json!({"cmd": "rm -r x"}), "no rm"),
        (
            "claude",
            "NewWriter",
            json!({"path": "~/secrets/new"}),
            "write the full path",
        ),
        (
            "claude",
            "NewReader",
            json!({"uri": format!("file://{}/secrets/new", project.display())}),
            "no secrets",
        ),
        (
            "claude",
            "NewReader",
            json!({"uri": "file:///secrets%2Fnew"}),
            "write the full path",
        ),
        (
            "gemini",
            "mcp_s_t",
            json!({"uri": "https://example.com/a%20b", "source": "@ada"}),
            "",
        ),
        (
            "gemini",
            "replace",
            json!({"file_path": "new", "old_string": "", "new_string": "b"}),
            "",
        ),
        (
            "claude",
            "Grep",
            json!({"pattern": "x", "path": " secrets"}),
            "write the full path",
        ),
        (
            "claude",
            "NewShell",
            json!({"cmd": "ls", "command": "rm -r x"}),
            "no rm",
        ),
        (
            "claude",
            "NewShell",
            json!({"Command": "rm -r x", "command": "ls"}),
            "no rm",
        ),
        (
            "claude",
            "NewWriter",
            json!({"path": "x\n/../secrets/new"}),
            "no secrets",
        ),
        (
            "claude",
            "NewWriter",
            json!({"file_name": "secrets/new"}),
            "no secrets",
        ),
        (
            "claude",
            "NewWriter",
            json!({"path": "./".repeat(4096) + "secrets/new"}),
            "no secrets",
        ),
        // The agent reads another path.
        (
            "gemini",
            "write_file",
            json!({"file_path": "@secrets/new", "content": "x"}),
            "begins with `@`",
        ),
        (
            "gemini",
            "write_file",
            json!({"file_path": "%73ecrets/new", "content": "x"}),
            "an escape",
        ),
        (
            "gemini",
            "replace",
            json!({"file_path": "key", "old_string": "a", "new_string": "b"}),
            "there is no file",
        ),
        ("gemini", "read_file", json!({"file_path": "key"}), ""),
        (
            "gemini",
            "write_file",
            json!({"file_path": "100% new", "content": "x"}),
            "",
        ),
        (
            "claude",
            "Write",
            json!({"file_path": "@types/a%20b", "content": "x"}),
            "",
        ),
        (
            "claude",
            "NewReader",
            json!({"url": "https://example.com"}),
            "",
        ),
    ] {
        let fields = json!({"tool_name": tool, "tool_input": arguments});
        let answer = user.fired(agent, before(agent), &fields);
        let status = if expected.is_empty() { 0 } else { 2 };
        // One reads the reason in JSON alone.
        let is_json = agent == "copilot" && status == 2;
        let is_output_right = if is_json {
            denied(&answer.out).contains(expected)
        } else {
            answer.out.is_empty()
        };
        assert!(
            answer.status == status && is_output_right,
            "{agent} {tool} {arguments}: {answer:?}"
        );
        assert!(
            answer.err.contains(expected),
            "{agent} {tool} {arguments}: {answer:?}"
        );
    }
}

/// The reason of a call that Copilot CLI denies.
fn denied(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["permissionDecision"], "deny", "{answer}");
    answer["permissionDecisionReason"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Links still lead from the root if the agent is below it.
#[test]
fn links_lead_from_the_root() {
    let user = guarded();
    let path = user.project().join("sub/link/new");
    let fields = json!({"cwd": user.path("project/sub"), "tool_name": "Write",
        "tool_input": {"file_path": path, "content": "x"}});
    user.write("project/.git/HEAD", "");
    let mut command = user.registered("claude", "PreToolUse");
    command
        .current_dir(user.path("project/sub"))
        .env("CLAUDE_PROJECT_DIR", user.project());
    let mut input = json!({"hook_event_name": "PreToolUse", "session_id": "s"});
    input
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    let answer = user.feed(command, &input.to_string());
    assert!(answer.err.contains("no secrets"), "{answer:?}");
}

/// The events that hooks get for a call, as `TOOL ARGUMENTS`.
fn events_of(user: &User, agent: &str, fields: &Value) -> Vec<String> {
    let log = user.path("log");
    let command = format!("cat >> {0}; echo >> {0}", log.display());
    user.has_hooks(&json!([{"event": "tool:pre_execute", "command": command}]));
    let _ = fs::remove_file(&log);
    let answer = user.fired(agent, before(agent), fields);
    assert_eq!(answer.status, 0, "{answer:?}");
    let lines = user.read("log");
    let event = |line: &str| {
        let event: Value = serde_json::from_str(line).unwrap();
        format!(
            "{} {}",
            event["tool_name"].as_str().unwrap(),
            event["data"]["tool_args"]
        )
    };
    lines
        .lines()
        .filter(|line| !line.is_empty())
        .map(event)
        .collect()
}

#[test]
fn calls_have_our_names() {
    let user = guarded();
    let project = user.project();
    let row = |tool: &str, arguments: Value| json!({"tool_name": tool, "tool_input": arguments});
    for (agent, fields, expected) in [
        (
            "claude",
            row("Bash", json!({"command": "ls", "timeout": 3})),
            &[r#"bash {"command":"ls","timeout":3}"#][..],
        ),
        (
            "claude",
            row(
                "Read",
                json!({"file_path": project.join("sub/a"), "limit": 3}),
            ),
            &[r#"read {"limit":3,"path":"sub/a"}"#],
        ),
        (
            "claude",
            row("Write", json!({"file_path": "/etc/a", "content": ""})),
            &[r#"write {"content":"","path":"/etc/a"}"#],
        ),
        (
            "claude",
            row("Grep", json!({"pattern": "x", "path": project})),
            &[r#"grep {"path":".","pattern":"x"}"#],
        ),
        (
            "claude",
            row("LS", json!({"path": "sub"})),
            &[r#"ls {"path":"sub"}"#],
        ),
        (
            "claude",
            row("WebFetch", json!({"url": "u"})),
            &[r#"web_fetch {"url":"u"}"#],
        ),
        (
            "claude",
            row("WebSearch", json!({"query": "q"})),
            &[r#"web_search {"query":"q"}"#],
        ),
        (
            "claude",
            row("Task", json!({"prompt": "p"})),
            &[r#"task {"prompt":"p"}"#],
        ),
        (
            "claude",
            row("Agent", json!({"prompt": "p"})),
            &[r#"task {"prompt":"p"}"#],
        ),
        (
            "claude",
            row(
                "NotebookEdit",
                json!({"notebook_path": "n", "new_source": "s", "cell_id": "c"}),
            ),
            &[r#"edit {"cell_id":"c","new_string":"s","path":"n"}"#],
        ),
        (
            "claude",
            row(
                "MultiEdit",
                json!({"file_path": "sub/a", "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d", "replace_all": true}]}),
            ),
            &[
                r#"MultiEdit {"edits":[{"new_string":"b","old_string":"a"},{"new_string":"d","old_string":"c","replace_all":true}],"path":"sub/a"}"#,
                r#"edit {"new_string":"b","old_string":"a","path":"sub/a"}"#,
                r#"edit {"new_string":"d","old_string":"c","path":"sub/a","replace_all":true}"#,
            ],
        ),
        (
            "claude",
            row("mcp__s__t", json!({"a": 1})),
            &[r#"mcp__s__t {"a":1}"#],
        ),
        (
            "claude",
            row("New", json!({"command": "ls", "file": "a"})),
            &[
                r#"New {"command":"ls","file":"a"}"#,
                r#"bash {"command":"ls","file":"a"}"#,
                r#"edit {"command":"ls","file":"a","new_string":"ls","path":"a"}"#,
            ],
        ),
        (
            "gemini",
            row("run_shell_command", json!({"command": "ls"})),
            &[r#"bash {"command":"ls"}"#],
        ),
        (
            "gemini",
            row("list_directory", json!({"dir_path": project.join("sub")})),
            &[r#"ls {"path":"sub"}"#],
        ),
        (
            "gemini",
            row("grep_search", json!({"pattern": "x", "dir_path": "."})),
            &[r#"grep {"path":".","pattern":"x"}"#],
        ),
        (
            "gemini",
            row("google_web_search", json!({"query": "q"})),
            &[r#"web_search {"query":"q"}"#],
        ),
        (
            "gemini",
            json!({"tool_name": "mcp_s_t", "tool_input": {"a": 1}, "mcp_context": {"server_name": "s", "tool_name": "t"}}),
            &[r#"mcp__s__t {"a":1}"#],
        ),
        // The tool of a server may have the name of one of the agent's.
        (
            "gemini",
            json!({"tool_name": "list_directory", "tool_input": {"dir_path": "sub"}, "mcp_context": {"server_name": "s", "tool_name": "list_directory"}}),
            &[
                r#"mcp__s__list_directory {"dir_path":"sub"}"#,
                r#"ls {"dir_path":"sub","path":"sub"}"#,
            ],
        ),
        (
            "codex",
            row(
                "apply_patch",
                patch(
                    "*** Add File: a\n+x\n+y\n*** Update File: sub/a\n*** Move to: b\n@@\n-a\n+b\n",
                ),
            ),
            &[
                r#"apply_patch {"command":"*** Begin Patch\n*** Add File: a\n+x\n+y\n*** Update File: sub/a\n*** Move to: b\n@@\n-a\n+b\n*** End Patch\n"}"#,
                r#"write {"content":"x\ny\n","path":"a"}"#,
                r#"edit {"new_string":"b\n","old_string":"a\n","path":"sub/a"}"#,
                r#"write {"content":"b\n","old_string":"a\n","path":"b"}"#,
            ],
        ),
    ] {
        assert_eq!(
            events_of(&user, agent, &fields),
            expected,
            "{agent} {fields}"
        );
    }
}

#[test]
fn changes_come_back_under_the_agents_names() {
    let user = guarded();
    user.write("project/a", "x");
    for (agent, tool, arguments, changes, expected) in [
        (
            "claude",
            "Write",
            json!({"file_path": "./sub/../a", "content": "x"}),
            json!({"content": "y"}),
            json!({"file_path": "./sub/../a", "content": "y"}),
        ),
        (
            "claude",
            "NotebookEdit",
            json!({"notebook_path": "n", "new_source": "s"}),
            json!({"new_string": "t"}),
            json!({"notebook_path": "n", "new_source": "t"}),
        ),
        (
            "gemini",
            "list_directory",
            json!({"dir_path": "a"}),
            json!({"path": "/etc"}),
            json!({"dir_path": "/etc"}),
        ),
        (
            "gemini",
            "replace",
            json!({"file_path": "a", "old_string": "x"}),
            json!({"path": "b/c"}),
            json!({"file_path": user.project().join("b/c"), "old_string": "x"}),
        ),
        (
            "claude",
            "New",
            json!({"a": 1}),
            json!({"a": 2, "b": 3}),
            json!({"a": 2, "b": 3}),
        ),
    ] {
        user.has_hooks(
            &json!([{"event": format!("tool:pre_execute:*"), "answer": {"updatedInput": changes}}]),
        );
        let fields = json!({"tool_name": tool, "tool_input": arguments});
        let answer = user.fired(agent, before(agent), &fields);
        // Only parts of a call cannot be changed.
        let output = serde_json::from_str::<Value>(&answer.out);
        let output = output.unwrap_or_else(|error| panic!("{error} {tool}: {answer:?}"))["hookSpecificOutput"].clone();
        let input = if agent == "gemini" {
            &output["tool_input"]
        } else {
            &output["updatedInput"]
        };
        let expected: Value = serde_json::from_str(&user.normal(&expected.to_string())).unwrap();
        assert_eq!(input, &expected, "{tool}");
    }
}

#[test]
fn what_cannot_be_changed_alone_blocks() {
    let user = User::new();
    user.has_hooks(&json!([{"event": "tool:pre_execute:edit", "answer": {"updatedInput": {"new_string": "z"}}}]));
    let edits = json!({"file_path": "a", "edits": [{"old_string": "a", "new_string": "b"}]});
    let answer = user.fired(
        "claude",
        "PreToolUse",
        &json!({"tool_name": "MultiEdit", "tool_input": edits}),
    );
    assert_eq!(answer.status, 2);
    assert!(answer.err.contains("cannot be changed alone"), "{answer:?}");
}

/// A subagent may have the name by which the main agent is known.
#[test]
fn a_subagent_is_not_the_main_agent() {
    let user = User::new();
    let when = json!({"/agent_type": {"not": "main"}});
    let answer = json!({"decision": "block", "reason": "no"});
    user.has_hooks(&json!([{"event": "tool:pre_execute", "when": when, "answer": answer}]));
    let call = |more: Value| {
        let mut fields = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
        fields
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        user.fired("claude", "PreToolUse", &fields).status
    };
    assert_eq!(call(json!({})), 0);
    assert_eq!(call(json!({"agent_id": "x", "agent_type": "explore"})), 2);
    assert_eq!(call(json!({"agent_id": "x", "agent_type": "main"})), 2);
    // Qwen Code does not say of which type it is.
    assert_eq!(call(json!({"agent_id": "x"})), 2);
}

/// Later hooks find no other copy of the part that a hook has removed from an output. A path that is written in two
/// ways hides no output.
#[test]
fn an_output_is_in_one_place() {
    let user = User::new();
    let log = user.path("log");
    user.has_hooks(&json!([
        {"event": "tool:post_execute:read|bash", "answer": {"updatedOutput": "masked"}},
        {"event": "tool:post_execute", "command": format!("cat >> {}", log.display())},
    ]));
    let response = json!({"type": "text", "file": {"filePath": "a", "content": "secret"}});
    for path in ["a", "~/a", "a "] {
        let fields = json!({"tool_name": "Read", "tool_input": {"file_path": path}, "tool_response": response});
        let answer = user.fired("claude", "PostToolUse", &fields);
        assert!(
            answer.out.contains("masked") && !answer.out.contains("secret"),
            "{answer:?}"
        );
    }
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": "ls"},
        "tool_response": {"stdout": "secret", "stderr": "", "persistedOutputPath": "/whole"}});
    let answer = user.fired("claude", "PostToolUse", &fields);
    assert!(
        answer.out.contains("masked") && !answer.out.contains("/whole"),
        "{answer:?}"
    );
    let log = user.read("log");
    assert!(log.contains("masked") && !log.contains("secret"), "{log}");
}

#[test]
fn a_grant_holds_for_no_path_that_it_excludes() {
    let user = User::new();
    let excluded = format!("{}/keys/**", user.project().display());
    user.has_hooks(&json!([{"event": "tool:pre_execute:write|edit", "when": {"/tool_args/path": {"not": excluded}},
        "answer": {"decision": "allow"}}]));
    let grants = |path: &str| {
        let fields =
            json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": ""}});
        user.fired("claude", "PreToolUse", &fields)
            .out
            .contains("allow")
    };
    assert!(grants("src/a"));
    assert!(!grants("keys/a"));
    assert!(!grants(user.project().join("keys/a").to_str().unwrap()));
}

#[test]
fn a_list_of_paths_is_one_event_for_each() {
    let user = guarded();
    user.has_hooks(
        &json!([{"event": "tool:pre_execute:grep|glob", "when": {"/tool_args/path": "secrets/**"},
        "answer": {"decision": "block", "reason": "no secrets"}}]),
    );
    let absolute = user.project().join("secrets/key");
    for (paths, is_blocked) in [
        (json!("secrets/key"), true),
        (json!(["src", "sub"]), false),
        (json!(["src", absolute]), true),
        // A path that cannot be tested.
        (json!([]), true),
        (json!("src"), false),
        // It takes them for two.
        (json!("src secrets"), true),
        (json!(["src secrets"]), true),
    ] {
        for tool in ["Grep", "Glob"] {
            let call = json!({"tool_name": tool, "tool_input": {"pattern": "x", "paths": paths}});
            let answer = user.fired("copilot", "PreToolUse", &call);
            let status = if is_blocked { 2 } else { 0 };
            assert_eq!(answer.status, status, "{tool} {paths}: {answer:?}");
        }
    }
}
