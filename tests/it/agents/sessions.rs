//! State that outlives one event: a session's root, its end, its settings, and hooks in the background. Text that a
//! model can write decides nothing.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::AGENTS;
use crate::program::{Printed, User};
use crate::support::eventually;

fn shell(command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": command}})
}

fn blocking(name: &str) -> Value {
    json!([{"event": "agent:stop", "name": name, "answer": {"decision": "block", "reason": "go on"}}])
}

#[test]
fn the_end_of_a_turn_is_blocked_eight_times() {
    for (agent, stop, before) in [
        ("claude", "Stop", "PreToolUse"),
        ("codex", "Stop", "PreToolUse"),
        ("gemini", "AfterAgent", "BeforeTool"),
    ] {
        let user = User::new();
        user.has_hooks(&blocking("again"));
        let end = || user.fired(agent, stop, &json!({}));
        let blocked = |times: usize| (0..times).for_each(|_| assert_eq!(end().status, 2));
        blocked(5);
        // The agent works on.
        assert_eq!(user.fired(agent, before, &shell("ls")).status, 0);
        blocked(8);
        let last = end();
        assert_eq!(last.status, 0);
        let message = last.json()["systemMessage"].as_str().unwrap().to_owned();
        assert!(
            message.contains("too often: blocked by hook `again`: go on"),
            "{message}"
        );
        // Another session has its own count.
        assert_eq!(
            user.fired(agent, stop, &json!({"session_id": "s2"})).status,
            2
        );
        blocked(8);
    }
}

#[test]
fn a_turn_that_a_hook_ends_before_a_tool_ends_after_the_batch() {
    let user = User::new();
    user.has_hooks(&json!([{"event": "tool:pre_execute", "answer": {"continue": false, "stopReason": "enough"}}]));
    let batch = || user.fired("claude", "PostToolBatch", &json!({"tool_calls": []}));
    assert_eq!(batch().out, "");
    assert_eq!(user.fired("claude", "PreToolUse", &shell("ls")).status, 2);
    // That of a subagent is another one.
    let of_subagent = json!({"tool_calls": [], "agent_id": "a1"});
    assert_eq!(user.fired("claude", "PostToolBatch", &of_subagent).out, "");
    assert_eq!(
        batch().out,
        "{\"continue\":false,\"stopReason\":\"enough\"}\n"
    );
    assert_eq!(batch().out, "");
    // The next prompt begins a turn of its own.
    assert_eq!(user.fired("claude", "PreToolUse", &shell("ls")).status, 2);
    user.fired("claude", "UserPromptSubmit", &json!({"prompt": "p"}));
    assert_eq!(batch().out, "");
}

/// A project with an approved guard, as `DIRECTORY`.
fn project(user: &User, directory: &str, name: &str) {
    let when = json!({"/tool_args/command": "*rm*"});
    project_with(user, directory, "tool:pre_execute:bash", name, when);
}

/// The same with a guard for this event under this condition.
fn project_with(user: &User, directory: &str, event: &str, name: &str, when: Value) {
    let answer = json!({"decision": "block", "reason": "no"});
    let guard = json!({"event": event, "name": name, "when": when, "answer": answer});
    approved(user, directory, &json!([guard]));
}

/// Makes a directory a project with these approved hooks.
fn approved(user: &User, directory: &str, hooks: &Value) {
    let file = json!({"hooks": hooks});
    user.write(
        &format!("{directory}/.forge-hooks/hooks.json"),
        &file.to_string(),
    );
    let mut trust = user.command(&["trust", "--yes"]);
    assert!(
        trust
            .current_dir(user.path(directory))
            .status()
            .unwrap()
            .success()
    );
}

/// Lets an agent that was started in one directory, and names one in its variable, call `rm` in another.
fn calls_rm(
    user: &User,
    agent: &str,
    started: &str,
    variable: Option<(&str, &str)>,
    cwd: &str,
) -> String {
    let event = if agent == "gemini" {
        "BeforeTool"
    } else {
        "PreToolUse"
    };
    let mut command = user.registered(agent, event);
    command.current_dir(user.path(started));
    command.envs(variable.map(|(name, directory)| (name, user.path(directory))));
    let id = format!("{started} {variable:?}");
    let mut input = json!({"hook_event_name": event, "session_id": id, "cwd": user.path(cwd)});
    let call = shell("rm x");
    input
        .as_object_mut()
        .unwrap()
        .extend(call.as_object().unwrap().clone());
    let answer = user.feed(command, &input.to_string());
    match answer.status {
        0 => "none".to_owned(),
        _ => answer.err,
    }
}

#[test]
fn the_hooks_of_the_sessions_project_run_wherever_the_agent_is() {
    let user = User::new();
    project(&user, "project", "first");
    project(&user, "other", "second");
    fs::create_dir_all(user.path("free")).unwrap();
    for (agent, started, variable, cwd, expected) in [
        ("codex", "project", None, "project", "`first`"),
        ("codex", "project", None, "free", "`first`"),
        ("codex", "project", None, "other", "`first`"),
        ("codex", "free", None, "other", "none"),
        ("codex", "free", None, "free", "none"),
        // Another agent's variable is not read.
        (
            "codex",
            "free",
            Some(("CLAUDE_PROJECT_DIR", "other")),
            "free",
            "none",
        ),
        (
            "claude",
            "free",
            Some(("CLAUDE_PROJECT_DIR", "project")),
            "free",
            "`first`",
        ),
        (
            "gemini",
            "free",
            Some(("GEMINI_PROJECT_DIR", "other")),
            "free",
            "`second`",
        ),
        (
            "claude",
            "other",
            Some(("CLAUDE_PROJECT_DIR", "free")),
            "other",
            "none",
        ),
        (
            "claude",
            "free",
            Some(("CLAUDE_PROJECT_DIR", "free")),
            "free",
            "none",
        ),
        ("claude", "project", None, "free", "`first`"),
    ] {
        let message = calls_rm(&user, agent, started, variable, cwd);
        assert!(
            message.contains(expected),
            "{agent} {started} {variable:?} {cwd}: {message}"
        );
    }
}

/// A model may make a directory a project of its own, or take the other project's hooks away.
#[test]
fn the_projects_of_a_session_stay_what_they_were() {
    let user = User::new();
    project(&user, "project", "first");
    user.write("project/.git/HEAD", "");
    fs::create_dir_all(user.path("project/src")).unwrap();
    let in_src = || calls_rm(&user, "codex", "project/src", None, "project/src");
    assert!(in_src().contains("`first`"));
    user.write("project/src/.git/HEAD", "");
    user.write("project/src/.forge-hooks/hooks.json", "{\"hooks\": []}");
    assert!(in_src().contains("`first`"));
    // An approved hook blocks when its file is gone or invalid.
    fs::remove_file(user.path("project/.forge-hooks/hooks.json")).unwrap();
    assert!(in_src().contains("approv"), "{}", in_src());
    user.write("project/.forge-hooks/hooks.json", "{");
    assert!(in_src().contains("hooks.json"), "{}", in_src());
}

/// Copilot CLI's subagents have sessions of their own, which begin without `SessionStart`.
#[test]
#[cfg(target_os = "linux")]
fn a_subagent_with_its_own_session_has_the_root_of_its_agent() {
    let user = User::new();
    project(&user, "project", "first");
    user.write("project/.git/HEAD", "");
    fs::create_dir_all(user.path("project/src")).unwrap();
    let mut start = user.registered("copilot", "SessionStart");
    start.current_dir(user.path("project/src"));
    let fields = json!({"hook_event_name": "SessionStart", "session_id": "main", "source": "new", "cwd": user.path("project/src")});
    user.feed(start, &fields.to_string());
    user.write("project/src/.git/HEAD", "");
    user.write("project/src/.forge-hooks/hooks.json", "{\"hooks\": []}");
    let of_subagent = calls_rm(&user, "copilot", "project/src", None, "project/src");
    assert!(of_subagent.contains("`first`"), "{of_subagent}");
    // An agent that is started below has a root of its own.
    project(&user, "other", "second");
    let mut start = user.registered("claude", "SessionStart");
    start.current_dir(user.path("other"));
    let fields = json!({"hook_event_name": "SessionStart", "session_id": "other None", "source": "startup", "cwd": user.path("other")});
    user.feed(start, &fields.to_string());
    let below = calls_rm(&user, "claude", "other", None, "other");
    assert!(below.contains("`second`"), "{below}");
}

/// The files count that had hooks when its agent began, not those that are left when it does.
#[test]
#[cfg(target_os = "linux")]
fn a_subagent_with_its_own_session_misses_the_hooks_of_its_agent() {
    let user = User::new();
    user.has_hooks(&json!([{"event": "tool:pre_execute:bash", "command": "exit 0"}]));
    let main = json!({"session_id": "main", "source": "new"});
    assert_eq!(user.fired("copilot", "SessionStart", &main).status, 0);
    let mut call = shell("ls");
    call["session_id"] = "sub".into();
    fs::remove_file(user.path("config/forge-hooks/hooks.json")).unwrap();
    for _ in 0..2 {
        let blocked = user.fired("copilot", "PreToolUse", &call);
        let answer = format!("{blocked:?}");
        assert!(
            answer.contains("had hooks when this session began"),
            "{answer}"
        );
    }
}

/// An agent may start hooks at a prompt before those at the start of the session have ended, and be started by the same shell as
/// another one before.
#[test]
#[cfg(target_os = "linux")]
fn a_session_has_no_hooks_of_an_earlier_one() {
    let user = User::new();
    user.has_hooks(&json!([{"event": "tool:pre_execute:bash", "command": "exit 0"}]));
    // `timeout` is the agent. It goes on, so its process is above that of the program.
    let fired = |event: &str, fields: &Value| {
        let mut agent = Command::new("timeout");
        let registered = user.registered("grok", event);
        user.set(&mut agent);
        agent.arg("60").arg(registered.get_program());
        agent
            .args(registered.get_args())
            .current_dir(user.project());
        user.feed(agent, &fields.to_string())
    };
    let start = json!({"hook_event_name": "SessionStart", "session_id": "one", "source": "new", "cwd": user.project()});
    assert_eq!(fired("SessionStart", &start).status, 0);
    fs::remove_file(user.path("config/forge-hooks/hooks.json")).unwrap();
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "two", "prompt": "hi", "cwd": user.project()});
    let answer = fired("UserPromptSubmit", &prompt);
    assert!(!format!("{answer:?}").contains("had hooks"), "{answer:?}");
}

#[test]
fn a_root_that_is_moved_blocks() {
    let user = User::new();
    project(&user, "project", "first");
    fs::create_dir_all(user.path("free")).unwrap();
    let inside = || {
        calls_rm(
            &user,
            "claude",
            "free",
            Some(("CLAUDE_PROJECT_DIR", "project")),
            "free",
        )
    };
    assert!(inside().contains("`first`"));
    fs::rename(user.path("project"), user.path("moved")).unwrap();
    assert!(inside().contains("was moved"), "{}", inside());
    std::os::unix::fs::symlink(user.path("moved"), user.path("project")).unwrap();
    assert!(inside().contains("is a link now"), "{}", inside());
    fs::remove_file(user.path("project")).unwrap();
    fs::rename(user.path("moved"), user.path("project")).unwrap();
    assert!(inside().contains("`first`"));
}

/// A person may change the settings between two runs of the agent in one session.
#[test]
fn settings_are_kept_anew_where_an_agent_starts() {
    let user = User::new();
    let change = || user.fired("claude", "ConfigChange", &json!({})).status;
    user.fired("claude", "SessionStart", &json!({"source": "startup"}));
    user.write("project/.claude/settings.json", "{\"env\": {}}");
    assert_eq!(change(), 2);
    user.fired("claude", "SessionStart", &json!({"source": "compact"}));
    assert_eq!(change(), 2);
    user.fired("claude", "SessionStart", &json!({"source": "resume"}));
    assert_eq!(change(), 0);
}

/// Fires an event of a session in `project` that has gone to `other`.
fn fired_in_other(user: &User, event: &str, mut fields: Value) -> Printed {
    let mut command = user.registered("claude", event);
    command.env("CLAUDE_PROJECT_DIR", user.project());
    fields["hook_event_name"] = event.into();
    fields["session_id"] = "s".into();
    fields["cwd"] = user.path("other").to_str().into();
    user.feed(command, &fields.to_string())
}

/// A hook for a part of a call is not asked if a hook for the whole cannot be used, or if the parts are unclear.
#[test]
fn an_output_is_withheld_if_the_redacting_hook_of_a_part_does_not_run() {
    let user = User::new();
    let audits = |regex: &str| json!({"event": "tool:post_execute:apply_patch", "name": "audits", "when": {"/tool_result": {"regex": regex}}, "command": "exit 0"});
    let redacts = |enabled: bool| json!({"event": "tool:post_execute:write", "name": "redacts", "command": "exit 0", "on_failure": "withhold", "enabled": enabled});
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
    let unclear = "*** Begin Patch\n*** Add";
    for (regex, patch, enabled, is_withheld) in [
        ("\\w", patch, true, false),
        ("\\w{2000}", patch, true, true),
        ("\\w{2000}", patch, false, false),
        ("\\w", unclear, true, true),
        ("\\w", unclear, false, false),
    ] {
        user.has_hooks(&json!([audits(regex), redacts(enabled)]));
        let fields = json!({"tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_response": "secret"});
        let answer = user.fired("codex", "PostToolUse", &fields);
        assert_eq!(
            answer
                .out
                .contains("output withheld: hook `redacts` did not redact it"),
            is_withheld,
            "{regex} {patch} {enabled}: {answer:?}"
        );
    }
}

/// It may repeat what a hook behind it has removed.
#[test]
fn the_model_reads_nothing_that_was_said_of_a_replaced_output() {
    let user = User::new();
    let on = |answer: Value| json!({"event": "tool:post_execute:bash", "answer": answer});
    let replaces = |text: &str| on(json!({"updatedOutput": text}));
    let says = |text: &str| on(json!({"additionalContext": text}));
    user.has_hooks(&json!([
        says("first SECRET"),
        replaces("half"),
        says("second SECRET"),
        replaces("clean"),
        says("seen"),
    ]));
    let mut fields = shell("ls");
    fields["tool_response"] = json!({"stdout": "SECRET", "stderr": ""});
    let answer = user.fired("claude", "PostToolUse", &fields).out;
    assert!(
        answer.contains("clean") && answer.contains("seen"),
        "{answer}"
    );
    assert!(!answer.contains("SECRET"), "{answer}");
}

/// The hooks for a part of a call get the output as those for the whole have left it.
#[test]
fn a_part_has_the_output_that_is_left() {
    let user = User::new();
    let replaces = |tool: &str, old: &str, new: &str| {
        json!({
            "event": format!("tool:post_execute:{tool}"),
            "when": {"/tool_result": format!("*{old}*")},
            "answer": {"updatedOutput": new},
        })
    };
    user.has_hooks(&json!([
        replaces("apply_patch", "secret", "masked"),
        replaces("write", "secret", "late"),
        replaces("write", "masked", "masked again"),
    ]));
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
    let fields = json!({"tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_response": "secret"});
    let answer = user.fired("codex", "PostToolUse", &fields).out;
    assert!(answer.contains("masked again"), "{answer}");
    assert!(!answer.contains("late"), "{answer}");
}

/// A guard of the user sees paths from the root of the session, and from each project in which they lie.
#[test]
fn a_users_guard_sees_paths_of_other_projects() {
    let user = User::new();
    for marker in ["other/.git/HEAD", "project/trees/one/.git"] {
        user.write(marker, "");
    }
    let blocks = json!({"decision": "block", "reason": "no secrets"});
    let allows = json!({"decision": "allow"});
    user.has_hooks(&json!([
        {"event": "tool:pre_execute:write|edit", "when": {"/tool_args/path": "secrets/**"}, "answer": blocks},
        {"event": "tool:pre_execute:write|edit", "when": {"/tool_args/path": "notes/**"}, "answer": allows},
    ]));
    let at = |path: &str| user.path(path).to_str().unwrap().to_owned();
    for (path, status, is_granted) in [
        ("a".to_owned(), 0, false),
        ("secrets/a".to_owned(), 2, false),
        (at("other/secrets/a"), 2, false),
        (at("project/secrets/a"), 2, false),
        (at("project/trees/one/secrets/a"), 2, false),
        (at("project/trees/two/secrets/a"), 0, false),
        (at("project/notes/a"), 0, true),
        (at("other/notes/a"), 0, false),
        ("notes/a".to_owned(), 0, false),
    ] {
        let write = json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": ""}});
        let answer = fired_in_other(&user, "PreToolUse", write);
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        assert_eq!(
            answer.out.contains("allow"),
            is_granted,
            "{path}: {answer:?}"
        );
    }
}

/// A session that began in the home directory, where there is no project, and has gone elsewhere.
#[test]
fn the_directory_in_which_a_session_began_stays() {
    let user = User::new();
    for directory in ["home/.ssh", "home/elsewhere/notes"] {
        fs::create_dir_all(user.path(directory)).unwrap();
    }
    let blocks = json!({"decision": "block", "reason": "no keys"});
    let allows = json!({"decision": "allow"});
    user.has_hooks(&json!([
        {"event": "tool:pre_execute", "when": {"/tool_args/path": ".ssh/**"}, "answer": blocks},
        {"event": "tool:pre_execute", "when": {"/tool_args/path": "notes/**"}, "answer": allows},
    ]));
    let read = |cwd: &str, path: &str| {
        let mut command = user.registered("claude", "PreToolUse");
        command.env("CLAUDE_PROJECT_DIR", user.path("home"));
        let input = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": user.path(cwd),
            "tool_name": "Read", "tool_input": {"file_path": path},
        });
        user.feed(command, &input.to_string())
    };
    let key = user.path("home/.ssh/key").to_str().unwrap().to_owned();
    for (cwd, path, status) in [
        ("home", ".ssh/key", 2),
        ("home/.ssh", "key", 2),
        ("home/.ssh", &key, 2),
        ("home/elsewhere", &key, 2),
        ("home/elsewhere", "key", 0),
    ] {
        assert_eq!(read(cwd, path).status, status, "{cwd} {path}");
    }
    assert!(!read("home/elsewhere", "notes/a").out.contains("allow"));
    fs::create_dir(user.path("home/.git")).unwrap();
    assert_eq!(read("home/.ssh", "key").status, 2);
}

#[test]
fn hooks_in_the_background_do_not_keep_the_agent_waiting() {
    let user = User::new();
    let (go, done) = (user.path("go"), user.path("done"));
    let waits = format!(
        "while [ ! -e {} ]; do sleep 0.05; done; cat > {}",
        go.display(),
        done.display()
    );
    user.has_hooks(&json!([{"event": "tool:post_execute", "background": true, "command": waits, "timeout": 60}]));
    let fields =
        json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "out"});
    let answer = user.fired("codex", "PostToolUse", &fields);
    assert_eq!((answer.status, &*answer.out, &*answer.err), (0, "", ""));
    assert!(!done.exists());
    user.write("go", "");
    eventually("the hook has its event", || {
        fs::read_to_string(&done).is_ok_and(|text| text.contains("\"tool_result\":\"out\""))
    });
}

#[test]
fn a_change_of_settings_that_could_switch_hooks_off_is_blocked() {
    let command = "/usr/bin/forge-hooks hook claude PreToolUse --home /h";
    let handler = json!([{"hooks": [{"type": "command", "command": command}]}]);
    let own = json!({"hooks": {"PreToolUse": handler, "Stop": handler}, "model": "m"});
    let changed = |pointer: &str, value: Value| {
        let mut settings = own.clone();
        *settings.pointer_mut(pointer).unwrap() = value;
        settings.to_string()
    };
    let with = |key: &str, value: Value| {
        let mut settings = own.clone();
        settings[key] = value;
        settings.to_string()
    };
    let (users, shared, local) = (
        "home/.claude/settings.json",
        "project/.claude/settings.json",
        "project/.claude/settings.local.json",
    );
    for (file, text, is_blocked) in [
        (users, own.to_string(), false),
        (users, serde_json::to_string_pretty(&own).unwrap(), false),
        // A key that the agent does not understand may switch the whole file off.
        (users, with("permissions", "x".into()), true),
        (users, with("disableAllHooks", true.into()), true),
        (users, with("disableAllHooks", "true".into()), true),
        (users, with("env", json!({"PATH": "."})), true),
        (
            users,
            changed(
                "/hooks/PreToolUse/0",
                json!({"matcher": "Nothing", "hooks": []}),
            ),
            true,
        ),
        (
            users,
            changed("/hooks/PreToolUse/0/hooks/0/type", "prompt".into()),
            true,
        ),
        (users, changed("/hooks/Stop", json!([])), true),
        (users, "{}".to_owned(), true),
        (users, "{".to_owned(), true),
        (users, String::new(), true),
        (shared, "{\"disableAllHooks\":true}".to_owned(), true),
        (shared, "{\"disableAllHooks\":1}".to_owned(), true),
        (local, "{\"env\":{\"A\":\"b\"}}".to_owned(), true),
        (local, "{\"model\":\"n\"}".to_owned(), false),
        (local, "{".to_owned(), true),
        // Read by the agent, and not here.
        (
            local,
            "{\"a\":1,\"a\":1,\"disableAllHooks\":true}".to_owned(),
            true,
        ),
    ] {
        let user = User::new();
        user.write(users, &own.to_string());
        // Any event begins the session.
        assert_eq!(user.fired("claude", "PreToolUse", &shell("ls")).out, "");
        let path = user.write(file, &text);
        let fields = json!({"source": "user_settings", "file_path": path});
        let answer = user.fired("claude", "ConfigChange", &fields);
        assert_eq!(
            answer.status,
            if is_blocked { 2 } else { 0 },
            "{text}: {answer:?}"
        );
        assert_eq!(
            answer.err.contains("could keep hooks from running"),
            is_blocked
        );
    }
    // A file that cannot be read here must not change either.
    let user = User::new();
    let unreadable = |value: &str| format!("{{ /* {value} */ }}");
    user.write(local, &unreadable("1"));
    let change = || user.fired("claude", "ConfigChange", &json!({})).status;
    user.fired("claude", "PreToolUse", &shell("ls"));
    assert_eq!(change(), 0);
    user.write(local, &unreadable("2"));
    assert_eq!(change(), 2);
    // The settings of an unknown session are unknown, so any change blocks.
    let user = User::new();
    assert_eq!(user.fired("claude", "ConfigChange", &json!({})).status, 2);
}

#[test]
fn files_that_decide_are_protected_without_a_hook() {
    let user = User::new();
    user.write("home/.claude/settings.json", "{}");
    user.write("project/sub/.claude/a", "");
    std::os::unix::fs::symlink("sub/.claude", user.path("project/linked")).unwrap();
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, user.project().join(name)).unwrap();
    };
    link("sub/.claude/settings.json", "linked-file");
    link("sub2/.copilot", "linked-later");
    let program = crate::program::PROGRAM;
    let home = user.path("home");
    for (path, is_protected) in [
        (user.path("home/.claude/settings.json"), true),
        (user.project().join(".claude/settings.local.json"), true),
        (".codex/hooks.json".into(), true),
        ("sub/../.gemini/settings.json".into(), true),
        (".forge-hooks/hooks.json".into(), true),
        (".forge-hooks/hooks.d/new.json".into(), true),
        (".github/hooks/new.json".into(), true),
        (".github/copilot/settings.json".into(), true),
        (home.join(".copilot/hooks/sub/new.json"), true),
        (".github/workflows/new.yml".into(), false),
        ("sub/.claude/settings.json".into(), true),
        ("sub/deep/.Codex/config.toml".into(), true),
        (user.path("elsewhere/.gemini/settings.json"), true),
        ("sub/.forge-hooks/hooks/new.sh".into(), true),
        ("sub/.codex/agents/reviewer.toml".into(), true),
        (".gemini/.env".into(), true),
        (".mcp.json".into(), true),
        (".claude/notes.md".into(), false),
        ("linked/settings.json".into(), true),
        ("linked-file".into(), true),
        ("linked-later/hooks/new.json".into(), true),
        ("sub/.claude/hooks/new.sh".into(), true),
        (home.join(".copilot/config.json"), true),
        ("sub/.qwen/settings.json".into(), true),
        (home.join(".qwen/extensions/x/qwen-extension.json"), true),
        (home.join(".copilot/extensions/x/extension.mjs"), true),
        (user.path("config/src/forge/trust.json"), true),
        (home.join(".local/state/forge-hooks/sessions/x/stops"), true),
        (program.into(), true),
        ("src/main.rs".into(), false),
        (home.join("notes.txt"), false),
    ] {
        for (agent, event, tool, arguments) in [
            (
                "claude",
                "PreToolUse",
                "Write",
                json!({"file_path": path, "content": ""}),
            ),
            (
                "claude",
                "PreToolUse",
                "Edit",
                json!({"file_path": path, "old_string": "", "new_string": ""}),
            ),
            (
                "gemini",
                "BeforeTool",
                "write_file",
                json!({"file_path": path, "content": ""}),
            ),
            (
                "codex",
                "PreToolUse",
                "mcp__fs__write",
                json!({"path": path}),
            ),
            (
                "codex",
                "PreToolUse",
                "apply_patch",
                json!({"command": format!("*** Begin Patch\n*** Delete File: {}\n*** End Patch", path.display())}),
            ),
            (
                "copilot",
                "PreToolUse",
                "Edit",
                format!(
                    "*** Begin Patch\n*** Delete File: {}\n*** End Patch",
                    path.display()
                )
                .into(),
            ),
        ] {
            let answer = user.fired(
                agent,
                event,
                &json!({"tool_name": tool, "tool_input": arguments}),
            );
            let expected = if is_protected { 2 } else { 0 };
            assert_eq!(
                answer.status,
                expected,
                "{agent} {tool} {}: {answer:?}",
                path.display()
            );
            assert_eq!(
                answer.err.contains("files that decide which hooks run"),
                is_protected
            );
        }
    }
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": user.path("home/.claude/settings.json")}});
    assert_eq!(user.fired("claude", "PreToolUse", &read).status, 0);
}

/// A skill is written daily, but not one that registers hooks. Git runs what its own files name, and Codex starts hooks through a shell
/// that reads the user's start-up files.
#[test]
fn what_may_decide_is_protected_by_its_text() {
    let user = User::new();
    user.write(
        "project/.claude/skills/a/SKILL.md",
        "---\nname: a\n---\ntext",
    );
    let plain = "---\nname: b\n---\nhooks: none";
    let hooks = "---\nname: b\nhooks: {}\n---\n";
    let home = user.path("home");
    let write = |path: &str, text: &str| {
        let path = path.replace('~', home.to_str().unwrap());
        ("Write", json!({"file_path": path, "content": text}))
    };
    let edit = |old: &str, new: &str| {
        let path = ".claude/skills/a/SKILL.md";
        (
            "Edit",
            json!({"file_path": path, "old_string": old, "new_string": new}),
        )
    };
    let decides = "files that decide which hooks run";
    let of_git = "git's own files";
    for (agent, (tool, arguments), expected) in [
        ("claude", write(".claude/skills/b/SKILL.md", plain), ""),
        ("claude", write(".claude/commands/b.md", hooks), decides),
        ("claude", write(".github/agents/b.md", hooks), decides),
        ("claude", edit("text", "hooks: text"), ""),
        ("claude", edit("name: a", "permissionMode: a"), decides),
        (
            "claude",
            ("mcp__fs__write", json!({"path": ".claude/agents/b.md"})),
            decides,
        ),
        (
            "claude",
            (
                "mcp__fs__put",
                json!({"path": ".claude/agents/b.md", "content": plain}),
            ),
            decides,
        ),
        (
            "codex",
            (
                "apply_patch",
                json!({"command": "*** Begin Patch\n*** Update File: tmp/e.md\n*** Move to: .claude/agents/e.md\n@@\n-x: y\n+x: z\n*** End Patch"}),
            ),
            decides,
        ),
        (
            "gemini",
            (
                "write_file",
                json!({"file_path": ".gemini/agents/a.md", "content": "---\nname: a\nmcp_servers: {}\n---\n"}),
            ),
            decides,
        ),
        ("claude", write(".git/config", ""), of_git),
        ("claude", write("sub/.git/hooks/pre-commit", ""), of_git),
        ("claude", write("~/.gitconfig", ""), of_git),
        ("claude", write("~/.config/git/config", ""), of_git),
        ("claude", write(".gitconfig", ""), ""),
        ("claude", write(".gitignore", ""), ""),
        ("claude", write("~/.bash_profile", "exit 0"), ""),
        ("codex", write("~/.bash_profile", "exit 0"), decides),
        (
            "codex",
            write("~/.config/fish/config.fish", "exit"),
            decides,
        ),
        ("codex", write(".bashrc", ""), ""),
    ] {
        let call = json!({"tool_name": tool, "tool_input": arguments});
        let event = if agent == "gemini" {
            "BeforeTool"
        } else {
            "PreToolUse"
        };
        let answer = user.fired(agent, event, &call);
        let is_blocked = answer.status == 2;
        assert_eq!(is_blocked, !expected.is_empty(), "{call}: {answer:?}");
        assert!(answer.err.contains(expected), "{call}: {answer:?}");
    }
}

/// Only a person may take the hooks away, and starts the agent again.
#[test]
fn a_file_whose_hooks_are_gone_blocks_until_the_agent_starts_again() {
    let user = User::new();
    user.has_hooks(&json!([{"event": "tool:pre_execute:bash", "command": "exit 0"}]));
    let call = || user.fired("claude", "PreToolUse", &shell("ls"));
    let start = |source: &str| user.fired("claude", "SessionStart", &json!({"source": source}));
    assert_eq!(start("startup").status, 0);
    assert_eq!(call().status, 0);
    let is_blocked = || {
        let blocked = call();
        let is_reason = blocked.err.contains("had hooks when this session began");
        assert!(blocked.status == 2 && is_reason, "{blocked:?}");
    };
    let file = user.path("config/forge-hooks/hooks.json");
    fs::write(&file, "{\"hooks\": []}").unwrap();
    is_blocked();
    fs::remove_file(&file).unwrap();
    is_blocked();
    assert_eq!(user.fired("claude", "Stop", &json!({})).status, 0);
    assert_eq!(start("compact").status, 0);
    is_blocked();
    assert_eq!(start("resume").status, 0);
    assert_eq!(call().status, 0);
}

#[test]
fn nothing_is_taken_from_the_environment() {
    let user = User::new();
    let script = user.write("bin/tool", "#!/bin/sh\necho the users\n");
    let other = user.write("project/bin/tool", "#!/bin/sh\necho another\n");
    for file in [&script, &other] {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let log = user.path("log");
    user.has_hooks(&json!([{"event": "tool:pre_execute", "command": format!("tool > {0}; env >> {0}", log.display())}]));
    let path = format!("{}:/usr/bin:/bin", user.path("bin").display());
    let mut command = user.command(&[
        "hook",
        "claude",
        "PreToolUse",
        "--path",
        &path,
        "--inherit",
        "KEPT",
        "--timeout",
        "60",
    ]);
    command
        .arg("--home")
        .arg(user.path("home"))
        .arg("--config-home")
        .arg(user.path("config"));
    let project = user.path("project/bin");
    command.env("PATH", format!("{}:/usr/bin:/bin", project.display()));
    command.envs([
        ("XDG_CONFIG_HOME", &project),
        ("CLAUDE_ENV_FILE", &project),
        ("BASH_ENV", &project),
    ]);
    command.env("FORGE_HOOKS_TRACE", user.path("trace"));
    command.envs([
        ("FORGE_HOOKS_DISABLE", "1"),
        ("OPENCODE_HOOKS_DISABLE", "1"),
        ("FORGE_HOOKS_PROFILE", "other"),
    ]);
    command.envs([("KEPT", "1"), ("LANG", "C"), ("RUST_LOG", "trace")]);
    let mut input = json!({"hook_event_name": "PreToolUse", "cwd": user.project()});
    input
        .as_object_mut()
        .unwrap()
        .extend(shell("ls").as_object().unwrap().clone());
    let answer = user.feed(command, &input.to_string());
    assert_eq!((answer.status, &*answer.out, &*answer.err), (0, "", ""));
    let log = user.read("log");
    assert!(log.starts_with("the users\n"), "{log}");
    for (line, is_there) in [
        (format!("PATH={path}"), true),
        (format!("HOME={}", user.path("home").display()), true),
        ("LANG=C".to_owned(), true),
        ("KEPT=1".to_owned(), true),
        ("FORGE_AGENT=claude".to_owned(), true),
    ] {
        assert_eq!(
            log.lines().any(|logged| logged == line),
            is_there,
            "{line}\n{log}"
        );
    }
    for name in [
        "XDG_CONFIG_HOME",
        "CLAUDE_ENV_FILE",
        "BASH_ENV",
        "FORGE_HOOKS_",
    ] {
        assert!(
            !log.lines().any(|line| line.starts_with(name)),
            "{name}\n{log}"
        );
    }
    assert!(!user.path("trace").exists());
}

#[test]
fn the_user_is_told_at_the_start_what_is_wrong() {
    let user = User::new();
    let condition = json!({"event": "tool:pre_execute:bash", "command": "true", "when": {"/a": {"regex": "("}}});
    let doubtful = json!({"event": "tool:pre_execute:bash", "command": "rm $FORGE_TOOL_NAME"});
    user.has_hooks(&json!([condition, doubtful]));
    let project = json!({"hooks": [{"event": "*", "command": "true", "name": "of the project"}]});
    user.write("project/.forge-hooks/hooks.json", &project.to_string());
    for agent in ["claude", "codex", "gemini"] {
        let answer = user
            .fired(agent, "SessionStart", &json!({"source": "startup"}))
            .json();
        let message = answer["systemMessage"].as_str().unwrap();
        let lines: Vec<_> = message.lines().collect();
        let last = lines.last().unwrap();
        assert!(lines[0].contains("hooks[0].when./a"), "{message}");
        assert!(
            last.contains("not approved") && last.contains("forge-hooks trust"),
            "{message}"
        );
    }
    // The advice is for the host whose hooks these are.
    user.write("project/.mygame/hooks.json", &project.to_string());
    let start = json!({"source": "startup"});
    let of_other = user.fired_with("claude", "SessionStart", &start, &["--profile", "mygame"]);
    let trust = "`forge-hooks --profile mygame trust`";
    assert!(of_other.out.contains(trust), "{of_other:?}");
}

/// The message at the start of a session, if there is one.
#[track_caller]
fn told_at_start(user: &User, agent: &str) -> String {
    let answer = user.fired(agent, "SessionStart", &json!({"source": "startup"}));
    if agent == "copilot" {
        return answer.err;
    }
    assert_eq!(answer.status, 0, "{answer:?}");
    if answer.out.is_empty() {
        return String::new();
    }
    answer.json()["systemMessage"].as_str().unwrap().to_owned()
}

const HOOKS: &str = "config/forge-hooks/hooks.json";

fn a_hook() -> Value {
    json!({"event": "tool:pre_execute", "name": "guard", "command": "true"})
}

#[track_caller]
fn assert_said(user: &User, agent: &str, note: &str) {
    let told = told_at_start(user, agent);
    let gone = format!("[DIR]/{HOOKS}` had some before, and is gone, empty or switched off now");
    assert!(told.contains(&gone), "{note}: {told}");
}

#[test]
fn hooks_that_are_gone_are_said_at_each_start() {
    for agent in AGENTS {
        let user = User::new();
        // Who never had hooks misses none.
        assert_eq!(told_at_start(&user, agent.name), "");
        user.has_hooks(&json!([a_hook()]));
        assert_eq!(told_at_start(&user, agent.name), "");
        fs::remove_file(user.path(HOOKS)).unwrap();
        assert_said(&user, agent.name, "gone");
        let mut off = a_hook();
        off["enabled"] = json!(false);
        for file in [
            json!({}),
            json!({"hooks": []}),
            json!({"hooks": [off]}),
            json!({"hooks": [a_hook()], "disable": ["guard"]}),
        ] {
            user.write(HOOKS, &file.to_string());
            assert_said(&user, agent.name, &file.to_string());
            assert_said(&user, agent.name, "once more");
        }
        user.has_hooks(&json!([a_hook()]));
        assert_eq!(told_at_start(&user, agent.name), "");
    }
}

#[test]
fn install_records_whether_there_are_hooks() {
    for agent in AGENTS {
        let user = User::new();
        let install = || {
            let mut install = user.command(&["install", agent.name, "--yes"]);
            install.env("XDG_CONFIG_HOME", user.path("config"));
            let installed = user.printed(install.output().unwrap());
            assert!(installed.out.contains("registered"), "{installed:?}");
        };
        user.has_hooks(&json!([a_hook()]));
        install();
        fs::remove_file(user.path(HOOKS)).unwrap();
        assert_said(&user, agent.name, "gone");
        // A person who wants none says so.
        install();
        assert_eq!(told_at_start(&user, agent.name), "");
    }
}

/// No command that writes what decides is one for an agent.
#[test]
fn an_agent_approves_nothing() {
    let user = User::new();
    let guard = json!({"hooks": [{"event": "*", "command": "true"}]});
    user.write("project/.forge-hooks/hooks.json", &guard.to_string());
    let trust = user.run(&["trust", "--yes"]);
    assert_eq!(trust.status, 0, "{trust:?}");
    let store = user.read("config/src/forge/trust.json");
    let commands: [&[&str]; 10] = [
        &["trust", "--yes"],
        &["trust", "--revoke", "--yes"],
        &["install", "claude", "--yes"],
        &["uninstall", "claude", "--yes"],
        &["init"],
        &["init", "--global"],
        &["add", "git"],
        &["add", "git", "--project", "."],
        &["add", "--update"],
        &["add", "git", "--remove"],
    ];
    // The page of the program has a variable of each agent, and a test compares it with the rows.
    for variable in ["CLAUDECODE", "GROK_AGENT"] {
        for args in commands {
            let mut command = user.command(args);
            let refused = user.printed(command.env(variable, "1").output().unwrap());
            assert_eq!(refused.status, 2, "{args:?} {refused:?}");
            assert!(refused.err.contains(variable) && refused.err.contains("your own terminal"));
        }
    }
    assert_eq!(user.read("config/src/forge/trust.json"), store);
    let home = user.path("home");
    assert!(!home.exists() || home.read_dir().unwrap().next().is_none());
    assert!(!user.path("config/forge-hooks").exists());
    let list = user.printed(
        user.command(&["add"])
            .env("CLAUDECODE", "1")
            .output()
            .unwrap(),
    );
    assert_eq!(list.status, 0, "{list:?}");
}

/// A hook in the background that logs what it gets.
fn logs(user: &User, event: &str, file: &str) -> Value {
    let log = user.path(file);
    let command = format!("cat > {0}.new; mv {0}.new {0}", log.display());
    json!({"event": event, "background": true, "command": command, "timeout": 60})
}

#[test]
fn hooks_in_the_background_run_in_their_turn() {
    let user = User::new();
    let guard =
        json!({"event": "tool:pre_execute", "answer": {"decision": "block", "reason": "no"}});
    let (before, after) = (
        logs(&user, "tool:pre_execute", "before"),
        logs(&user, "tool:pre_execute", "after"),
    );
    user.has_hooks(&json!([before, guard, after]));
    assert_eq!(user.fired("claude", "PreToolUse", &shell("ls")).status, 2);
    eventually("a hook before the guard has the event", || {
        user.path("before").exists()
    });
    // The part of the output that another hook has removed stays removed.
    let masks = json!({"event": "tool:post_execute", "answer": {"updatedOutput": "masked"}});
    user.has_hooks(&json!([masks, logs(&user, "tool:post_execute", "output")]));
    let fields = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {"stdout": "secret", "stderr": ""}});
    assert_eq!(user.fired("claude", "PostToolUse", &fields).status, 0);
    eventually("the hook has the output", || user.path("output").exists());
    let text = user.read("output");
    assert!(
        text.contains("masked") && !text.contains("secret"),
        "{text}"
    );
    assert!(!user.path("after").exists());
}

#[test]
fn a_configuration_that_is_not_there_blocks() {
    let user = User::new();
    for directory in ["/no/such/directory", "config"] {
        let options = ["--config-home", directory];
        let answer = user.fired_with("claude", "PreToolUse", &shell("ls"), &options);
        assert_eq!(answer.status, 2, "{answer:?}");
        assert!(
            answer
                .err
                .contains("is not the absolute path of a directory"),
            "{answer:?}"
        );
    }
}

/// As in other hosts, and not only where the rest stands that the agent says.
#[test]
fn an_event_of_a_subagent_has_its_id() {
    let user = User::new();
    let when = json!({"/agent_id": "a1", "/agent/agent_id": "a1"});
    let answer = json!({"decision": "block", "reason": "no"});
    user.has_hooks(&json!([{"event": "tool:pre_execute", "when": when, "answer": answer}]));
    for (id, status) in [("a1", 2), ("a2", 0)] {
        let mut fields = shell("ls");
        fields["agent_id"] = id.into();
        fields["agent_type"] = "explore".into();
        let fired = user.fired("claude", "PreToolUse", &fields);
        assert_eq!(fired.status, status, "{id}");
    }
}
