//! The templates, each with real files and the real git.

use std::time::Duration;

use forge_hooks::{
    AppProfile, FailurePolicy, FireOptions, HOOK_TEMPLATES, Hook, HookEvent, HookExecutor,
    templates,
};
use serde_json::json;

#[test]
fn each_template_has_its_event() {
    for (name, event, seconds) in [
        ("log_all", "*", 5),
        ("notify_session_start", "session:start", 5),
        ("git_auto_commit", "tool:post_execute:write", 30),
        ("block_sudo", "tool:pre_execute:bash", 5),
        (
            "block_private_keys",
            "tool:pre_execute:write|edit|multi_edit|apply_patch",
            5,
        ),
        (
            "block_env_files",
            "tool:pre_execute:write|edit|multi_edit",
            5,
        ),
        ("ask_before_push", "tool:pre_execute:bash", 5),
        ("tell_the_model", "session:start", 5),
    ] {
        let template = &HOOK_TEMPLATES[name];
        let actual = (template.event_pattern(), template.name());
        assert_eq!(actual, (event, Some(name)));
        let is_whole = !template.description().is_empty() && template.enabled();
        assert!(is_whole && template.timeout() >= Duration::from_secs(seconds));
        assert_eq!(&Hook::from_json(&template.to_json()).unwrap(), template);
        let answers = template.to_json().get("answer").is_some();
        let guards = template.on_failure() == FailurePolicy::Block && !answers;
        assert_eq!(
            guards,
            name.starts_with("block") && !answers,
            "only a guard may block"
        );
    }
    assert_eq!(HOOK_TEMPLATES.len(), 8);
    let of_host = templates::for_profile(&AppProfile::new("mygame"));
    assert!(of_host.keys().eq(HOOK_TEMPLATES.keys()));
    let commands = of_host.values().map(|hook| hook.command());
    let commands: String = commands.collect();
    assert!(commands.contains(".mygame") && !commands.contains("forge"));
}

/// The templates without a process work the same on every system.
#[test]
fn answers_do_what_they_say() {
    let executor = HookExecutor::builder().build();
    for name in ["block_env_files", "ask_before_push", "tell_the_model"] {
        executor.registry().register(HOOK_TEMPLATES[name].clone());
    }
    let fired = |event: HookEvent| executor.execute(&event, FireOptions::default().handles_ask());
    for (path, is_blocked) in [
        (".env", true),
        ("./.env", true),
        ("a/b/.env.local", true),
        ("env", false),
        ("a/.envrc", false),
        ("a/x.env", false),
        (".env.example", false),
    ] {
        let event = HookEvent::tool_pre_execute("write", json!({"path": path}));
        assert_eq!(fired(event).allowed(), !is_blocked, "{path}");
    }
    for (command, asks) in [
        ("git push origin", true),
        ("git -C x push", true),
        ("git pull", false),
        ("pushd x", false),
        ("git push --dry-run", false),
        ("git commit -m 'git push'", false),
    ] {
        let event = HookEvent::tool_pre_execute("bash", json!({"command": command}));
        assert_eq!(fired(event).asks().is_some(), asks, "{command}");
    }
    let outcome = fired(HookEvent::session_start("s"));
    assert!(outcome.additional_context().is_some());
}

#[cfg(unix)]
mod at_work {
    use forge_hooks::{
        AppProfile, FailureKind, HOOK_TEMPLATES, Hook, HookEvent, HookResult, templates,
    };
    use serde_json::json;

    use crate::git::OUTER;
    use crate::support::World;

    fn template(name: &str) -> Hook {
        HOOK_TEMPLATES[name].clone()
    }

    /// A host with this name, and a template for it.
    fn of_host(name: &str, template: &str) -> (World, Hook) {
        let profile = AppProfile::new(name);
        let world = World::with(|builder| builder.profile(profile.clone()));
        let hook = templates::for_profile(&profile)[template].clone();
        (world, hook)
    }

    fn bash(command: &str) -> HookEvent {
        HookEvent::tool_pre_execute("bash", json!({"command": command}))
    }

    #[test]
    fn log_all_writes_a_line_for_each_event() {
        let world = World::new();
        let home = world.path("home of 'me' \"$x\"");
        for event in [
            bash("ls"),
            HookEvent::session_start("s"),
            HookEvent::tool_error("a\nforged", json!({}), "it failed"),
            HookEvent::tool_pre_execute("write", json!("x".repeat(200_000))),
        ] {
            let log = template("log_all").with_env("HOME", home.to_str().unwrap());
            let result = world.run(log, &event);
            assert!(result.success(), "{}", result.stderr());
        }
        let written = std::fs::read_to_string(home.join(".src/forge/events.log")).unwrap();
        let lines = written.lines().map(|line| line.split_once("] ").unwrap());
        let (times, ends): (Vec<_>, Vec<_>) = lines.unzip();
        assert!(
            times.iter().all(|time| time.starts_with("[20")),
            "{written}"
        );
        let expected = [
            "tool:pre_execute tool=bash",
            "session:start tool=-",
            "tool:error tool=?",
            "tool:pre_execute tool=write",
        ];
        assert_eq!(ends, expected);
        let nowhere = template("log_all").with_env("HOME", "/dev/null");
        let result = world.run(nowhere, &HookEvent::user_prompt_submit("hello"));
        assert!(!result.success() && result.should_continue());
    }

    #[test]
    fn block_private_keys_finds_them_in_what_is_written() {
        let world = World::new();
        let key = |kind: &str| format!("text\n-----BEGIN {kind}PRIVATE KEY-----\nMII\n");
        for (text, is_blocked) in [
            (key(""), true),
            (key("RSA "), true),
            (key("OPENSSH "), true),
            ("-----BEGIN PUBLIC KEY-----".to_owned(), false),
            ("a PRIVATE KEY".to_owned(), false),
            // Too large for a variable.
            ("x".repeat(200_000) + &key("EC "), true),
        ] {
            for (tool, key) in [
                ("write", "content"),
                ("edit", "new_string"),
                ("apply_patch", "patch"),
            ] {
                let event = HookEvent::tool_pre_execute(tool, json!({"path": "x", key: text}));
                let result = world.run(template("block_private_keys"), &event);
                let expected = match is_blocked {
                    true => "Blocked: the text has a private key\n",
                    false => "",
                };
                assert_eq!(result.stdout(), expected, "{result:?}");
                assert_eq!(result.should_continue(), !is_blocked);
            }
        }
    }

    #[test]
    fn they_use_the_profiles_names() {
        let (world, log) = of_host("mygame", "log_all");
        let log = log.with_env("HOME", world.directory().to_str().unwrap());
        assert!(world.run(log, &HookEvent::session_end("s")).success());
        let log = world.read(".mygame/events.log");
        assert!(log.ends_with("] session:end tool=-\n"), "{log}");
        let files = AppProfile::new("x").with_project_files([".my 'game'/hooks.json"]);
        let log = templates::for_profile(&files)["log_all"].clone();
        let log = log.with_env("HOME", world.directory().to_str().unwrap());
        assert!(world.run(log, &HookEvent::session_end("s")).success());
        assert!(world.path(".my 'game'/events.log").is_file());
    }

    #[test]
    #[rustfmt::skip]
    fn block_sudo_blocks_what_runs_sudo() {
        let blocked = [
            "sudo ls", "sudo", "ls; sudo rm -rf /", "ls &&sudo rm", "/usr/bin/sudo x", "echo hi\nsudo rm", "s\\udo x",
            "sudoedit /etc/passwd", "$(sudo x)", "`sudo x`", "FOO=1 sudo x", "sh -c 'sudo x'", "doas ls",
        ];
        let passes = [
            "ls -la", "echo pseudocode", "cat sudoers", "cat /etc/sudo.conf", "visudo", "my_sudo x", "no-sudo x", "",
            "echo \"sudo\"", "git commit -m 'no sudo'",
        ];
        let world = World::new();
        world.add(template("block_sudo"));
        for command in blocked {
            let results = world.fire(&bash(command));
            assert_eq!(results[0].reason(), Some("Blocked: sudo is not allowed"), "{command}");
            assert_eq!((results[0].exit_code(), results[0].should_continue()), (1, false), "{command}");
        }
        for command in passes {
            assert!(world.fire(&bash(command)).is_empty(), "{command}");
        }
    }

    const IDENTITY: &str =
        "GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL";

    /// The template, without the settings of the machine.
    fn auto_commit(world: &World) -> Hook {
        let mut entry = template("git_auto_commit").to_json();
        let command = entry["command"].as_str().unwrap();
        entry["command"] = format!("unset {}\n{command}", OUTER.join(" ")).into();
        entry["event"] = json!("*");
        let hook = world.with_git(Hook::from_json(&entry).unwrap());
        let names = IDENTITY.split(' ');
        names.fold(hook, |hook, name| hook.with_env(name, "me@here"))
    }

    fn written(tool: &str) -> HookEvent {
        HookEvent::tool_post_execute(tool, json!({"file_path": "a b"}), json!({}))
    }

    fn commit(world: &World) -> HookResult {
        world.run(auto_commit(world), &written("write"))
    }

    fn repository() -> World {
        let world = World::new();
        world.git(&["init", "--quiet"]);
        world
    }

    #[test]
    fn auto_commit_commits_every_change() {
        let world = repository();
        world.write("a b/new file", "1");
        let result = commit(&world);
        assert!(result.success(), "{}", result.stderr());
        assert_eq!(world.git(&["log", "--format=%s"]), "Auto-save: write\n");
        assert_eq!(world.git(&["status", "--porcelain"]), "");
        assert!(commit(&world).success());
        assert_eq!(world.commits(), 1, "no empty commit");
        world.write("a b/new file", "2");
        let tool = "edit \"$(touch forged)\" `x`; 'it'";
        let result = world.run(auto_commit(&world), &written(tool));
        assert!(result.success(), "{}", result.stderr());
        let message = world.git(&["log", "-1", "--format=%s"]);
        assert_eq!(message, format!("Auto-save: {tool}\n"));
        assert_eq!(world.commits(), 2);
        assert!(!world.path("forged").exists());
    }

    #[test]
    fn auto_commit_makes_no_repository() {
        let world = World::new();
        world.write("file", "1");
        let result = commit(&world);
        assert!(result.success() && result.stdout().is_empty() && result.stderr().is_empty());
        assert!(!world.path(".git").exists());
    }

    /// All or nothing, and with words; each of these makes git refuse a part.
    #[test]
    fn a_refused_commit_is_reported() {
        for (refusal, words) in [
            ("lock", "index.lock"),
            // The commit itself would not be refused.
            ("inner", "inner"),
            ("identity", "tell me who you are"),
            ("hook", "not today"),
        ] {
            let world = repository();
            world.write("file", "1");
            world.git(&["add", "file"]);
            world.write("other", "1");
            let mut hook = auto_commit(&world);
            match refusal {
                "lock" => drop(world.write(".git/index.lock", "")),
                "inner" => drop(world.git(&["init", "--quiet", "inner"])),
                "identity" => {
                    world.git(&["config", "user.useConfigOnly", "true"]);
                    let mut entry = hook.to_json();
                    let command = entry["command"].as_str().unwrap();
                    entry["command"] = format!("unset EMAIL {IDENTITY}\n{command}").into();
                    hook = Hook::from_json(&entry).unwrap();
                }
                _ => {
                    let script = "#!/bin/sh\necho not today >&2\nexit 1\n";
                    world.script(".git/hooks/pre-commit", script);
                }
            }
            let result = world.run(hook, &written("write"));
            assert_eq!(
                result.failure(),
                Some(FailureKind::Exit),
                "{}",
                result.stderr()
            );
            assert!(result.should_continue(), "{refusal}");
            assert!(result.stderr().contains(words), "{}", result.stderr());
            let _ = std::fs::remove_file(world.path(".git/index.lock"));
            assert_eq!(world.commits(), 0, "{refusal}");
        }
    }

    /// With only this program to show the notification.
    #[test]
    fn notify_calls_the_desktops_program() {
        let script = "-e|on run argv|-e|display notification \"Session started\" with title item 1 of argv|-e|end run|";
        for (host, program, expected) in [
            ("forge", "notify-send", "forge|Session started|"),
            ("forge", "osascript", &*format!("{script}forge|")),
            ("it's; exit", "notify-send", "it's; exit|Session started|"),
        ] {
            let (world, notify) = of_host(host, "notify_session_start");
            let shows = "#!/bin/sh\nprintf '%s|' \"$@\" > printed\n";
            world.script(&format!("bin/{program}"), shows);
            let notify = notify.with_env("PATH", world.path("bin").to_str().unwrap());
            assert!(world.run(notify, &HookEvent::session_start("s")).success());
            assert_eq!(world.read("printed"), expected);
        }
        let notify = template("notify_session_start").with_env("PATH", "/nonexistent");
        let result = World::new().run(notify, &HookEvent::session_start("s"));
        assert_eq!(result.failure(), Some(FailureKind::NotFound));
        assert!(result.should_continue(), "without a desktop");
    }
}
