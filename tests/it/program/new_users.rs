//! The mistakes of new users: what the program says makes each of them easy to fix.

use serde_json::json;

use super::{LS, Printed, SUDO, User, with};

fn fire(user: &User, hooks: serde_json::Value, args: &[&str]) -> Printed {
    user.write("project/hooks.json", &json!({"hooks": hooks}).to_string());
    user.run(&with(args, &["--config", "hooks.json"]))
}

#[test]
fn without_a_file_the_paths_are_named() {
    let user = User::new();
    let printed = user.run(&LS);
    let words = "tool:pre_execute: no hook ran; the host would continue\n  there is no hooks file: \
        looked for `[DIR]/config/src/forge/hooks.json` and `.src/forge/hooks.json`\n  \
        fix: write one with `forge-hooks init`\n";
    assert_eq!((printed.status, &*printed.out), (0, words), "{printed:?}");
    let dry = user.run(&with(&LS, &["--dry-run"]));
    assert!(dry.out.contains("there is no hooks file"), "{dry:?}");
}

#[test]
fn a_file_in_a_wrong_place_gets_a_hint() {
    for (wrong, options, right) in [
        ("hooks.json", &[][..], ".src/forge/hooks.json"),
        (
            ".mygame/hooks/hooks.json",
            &["--profile", "mygame"],
            ".mygame/hooks.json",
        ),
        (".src/forge/hook.json", &[], ".src/forge/hooks.json"),
        (".forge/hooks.json", &[], ".src/forge/hooks.json"),
        (
            ".mygame/hook.json",
            &["--profile", "mygame"],
            ".mygame/hooks.json",
        ),
        (
            ".src/forge/hooks.json",
            &["--profile", "mygame"],
            ".mygame/hooks.json",
        ),
    ] {
        let user = User::new();
        user.write(&format!("project/{wrong}"), r#"{"hooks": []}"#);
        let words = format!("hint: `{wrong}` is not read: move it to `{right}`\n");
        for args in [&LS[..], &["list"]] {
            let printed = user.run(&with(args, options));
            assert!(printed.out.contains(&words), "{args:?}: {printed:?}");
        }
        let printed = user.run(&with(&["validate"], options));
        assert_eq!(printed.status, 2);
        assert!(
            printed.err.contains(&format!("\n  {words}  fix: ")),
            "{printed:?}"
        );
    }
}

#[test]
fn files_of_other_hosts_and_tools_get_a_hint() {
    let user = User::new();
    let hooks = json!({"hooks": [{"event": "*", "command": "true"}]});
    user.write("project/.mygame/hooks.json", &hooks.to_string());
    let stop = json!([{"hooks": [{"type": "command", "command": "true"}]}]);
    let settings = json!({"hooks": {"Stop": stop}});
    user.write("project/.claude/settings.json", &settings.to_string());
    let words = "hint: `.mygame/hooks.json` is for hosts called `mygame`: add `--profile mygame`\n";
    let of_claude =
        "hint: `.claude/settings.json` has hooks of Claude Code: add `--other-tools claude`\n";
    for args in [&LS[..], &["list"]] {
        let printed = user.run(args);
        assert!(printed.out.contains(words), "{printed:?}");
        assert!(printed.out.contains(of_claude), "{printed:?}");
    }
    let printed = user.run(&["list", "--profile", "mygame", "--other-tools", "claude"]);
    assert!(!printed.out.contains("hint"), "{printed:?}");
}

#[test]
fn the_home_directory_is_no_project() {
    let user = User::new();
    let hooks = json!({"hooks": [{"event": "tool:*", "command": "exit 1"}]});
    user.write("home/.mygame/hooks.json", &hooks.to_string());
    let list = |user: &User| {
        let mut command = user.command(&["list", "--profile", "mygame"]);
        user.printed(command.current_dir(user.path("home")).output().unwrap())
    };
    let printed = list(&user);
    assert!(printed.out.starts_with("no hooks\n"), "{printed:?}");
    user.write("home/.git/HEAD", "");
    assert!(list(&user).out.contains("exit 1"));
}

#[test]
fn an_invalid_entry_is_named_once() {
    let user = User::new();
    let printed = fire(&user, json!([{"event": "tool:*"}]), &LS);
    let words = "blocks, hooks[0].command: the key is missing, and there is no `args`\n";
    assert!(printed.out.contains(words), "{printed:?}");
    let hooks = json!([{"event": "tool:*"}, {"event": "tool:*", "command": "true"}]);
    let printed = fire(&user, hooks, &with(&LS, &["--dry-run"]));
    let words = "`invalid entry at hooks.json:1`";
    assert!(printed.out.contains(words), "{printed:?}");
}

/// A person reads one line of each file, and is not told that everything is blocked.
#[test]
fn changed_hooks_are_reported_in_one_line() {
    let user = User::new();
    let file = |events: &[&str], command: &str| {
        let of_event = |event: &&str| json!({"name": event.replace(':', "-"), "event": event, "command": command});
        let hooks: Vec<_> = events.iter().map(of_event).collect();
        user.write(
            "project/.src/forge/hooks.json",
            &json!({"hooks": hooks}).to_string(),
        );
    };
    for (events, words) in [
        (
            &["session:start"][..],
            "`session-start` was approved but has changed or been removed, so it blocks what it could have blocked\n",
        ),
        (
            &["tool:pre_execute"],
            "`tool-pre_execute` was approved but has changed or been removed, so it blocks what it could have blocked\n",
        ),
        (
            &["session:start", "tool:pre_execute"],
            "so they block what they could have blocked: `session-start`, `tool-pre_execute`\n",
        ),
    ] {
        file(events, "true");
        assert_eq!(user.run(&["trust", "--yes"]).status, 0);
        file(events, "echo");
        let printed = user.run(&LS);
        assert!(printed.err.contains(words), "{printed:?}");
        assert!(!printed.err.contains("not approved"), "{printed:?}");
        user.run(&["untrust"]);
    }
}

#[cfg(unix)]
#[test]
fn scripts_of_the_user_are_looked_at() {
    let user = User::new();
    let directory = "home/.config/myagent";
    user.write(&format!("{directory}/good.py"), "print()\n");
    user.write(&format!("{directory}/crlf.sh"), "echo\r\n");
    for (command, expected) in [
        ("sh ~/.config/myagent/good.py", None),
        (
            "~/.config/myagent/gone.sh",
            Some("gone.sh` does not exist\n"),
        ),
        (
            "sh \"$HOME/.config/myagent/gone.py\"",
            Some("gone.py` does not exist\n"),
        ),
        ("sh '~/.config/myagent/gone.py'", None),
        (
            "sh ~/.config/myagent/crlf.sh",
            Some("crlf.sh` has CRLF line ends"),
        ),
    ] {
        let hooks = json!({"hooks": [{"event": "*", "command": command}]});
        user.write("config/src/forge/hooks.json", &hooks.to_string());
        let printed = user.run(&["validate"]);
        match expected {
            None => assert!(printed.out.contains("0 warnings"), "{printed:?}"),
            Some(words) => assert!(printed.out.contains(words), "{printed:?}"),
        }
    }
}

#[test]
fn the_nearest_tool_is_named() {
    let user = User::new();
    for (pattern, words) in [
        (
            "tool:pre_execute:Bash",
            "; upper and lower case must agree\n",
        ),
        (
            "tool:pre_execute:read|bahs",
            "; did you mean `--tool bahs`?\n",
        ),
    ] {
        let hooks = json!([{"event": pattern, "command": "exit 1"}]);
        let printed = fire(&user, hooks, &LS);
        assert!(printed.out.contains(words), "{printed:?}");
    }
    let hooks = json!([{"event": "tool:pre_execute:write", "command": "exit 1"}]);
    let printed = fire(&user, hooks, &LS);
    let words = "tool:pre_execute: no hook matches this event; the host would continue\n";
    assert_eq!(printed.out, words);
}

#[test]
fn a_background_hook_that_is_not_reached_is_counted() {
    let user = User::new();
    let hooks = json!([
        {"event": "tool:*", "command": "exit 1", "name": "guard"},
        {"event": "tool:*", "command": "echo >>ran", "background": true},
        {"event": "tool:*", "command": "echo >>ran"},
    ]);
    let printed = fire(&user, hooks, &LS);
    let words = "blocked by guard: exited with code 1 (2 hooks after it did not run)\n";
    assert!(printed.out.ends_with(words), "{printed:?}");
    assert!(!user.path("project/ran").exists());
}

#[test]
fn a_hook_without_a_name_is_called_by_its_command() {
    let user = User::new();
    let command = "echo a long command that goes on and on; exit 1";
    let printed = fire(&user, json!([{"event": "tool:*", "command": command}]), &LS);
    let words = "blocked by echo a long command that goes on and on; exit 1: a long command";
    assert!(printed.out.contains(words), "{printed:?}");
}

#[test]
fn grep_that_finds_nothing_gets_a_hint() {
    let user = User::new();
    for (command, is_hinted) in [
        ("grep -q sudo", true),
        ("echo \"$FORGE_TOOL_ARGS\" | grep sudo", true),
        ("grep -q sudo; exit 1", false),
        ("exit 1", false),
    ] {
        let printed = fire(&user, json!([{"event": "tool:*", "command": command}]), &LS);
        let is_found = printed.out.contains("hint: `grep` exits with 1");
        assert_eq!(is_found, is_hinted, "{command}: {printed:?}");
    }
}

#[test]
fn recording_is_confirmed() {
    let user = User::new();
    let hooks = json!([{"event": "tool:*", "command": "true"}]);
    let printed = fire(&user, hooks, &with(&SUDO, &["--record", "cases.json"]));
    assert_eq!(printed.err, "recorded as a case in `cases.json`\n");
}

#[test]
fn a_variable_names_the_host() {
    let user = User::new();
    let run = |args: &[&str], name: &str| {
        let mut command = user.command(args);
        user.printed(command.env("FORGE_HOOKS_PROFILE", name).output().unwrap())
    };
    let printed = run(&["init"], "mygame");
    let words = "wrote [DIR]/project/.mygame/hooks.json\n";
    assert!(printed.out.starts_with(words), "{printed:?}");
    assert!(
        printed.out.contains("hosts called `mygame` read it"),
        "{printed:?}"
    );
    run(&["list"], "a/b").is_refused("invalid name `a/b` in `FORGE_HOOKS_PROFILE`");
    assert_eq!(run(&["list"], "").status, 0);
    assert_eq!(run(&["trust", "--yes"], "mygame").status, 0);
    assert_eq!(run(&SUDO, "mygame").status, 1);
}
