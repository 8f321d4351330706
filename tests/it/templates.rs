//! The templates, each with real files and the real git.

use std::time::Duration;

use forge_hooks::{AppProfile, FailurePolicy, HOOK_TEMPLATES, Hook, templates};

#[test]
fn each_template_has_its_event() {
    for (name, event) in [
        ("log_all", "*"),
        ("notify_session_start", "session:start"),
        ("git_auto_commit", "tool:post_execute:write"),
        ("block_sudo", "tool:pre_execute:bash"),
    ] {
        let template = &HOOK_TEMPLATES[name];
        assert_eq!(template.event_pattern(), event);
        assert_eq!(template.name(), Some(name));
        assert!(!template.description().is_empty() && template.enabled());
        assert_eq!(&Hook::from_json(&template.to_json()).unwrap(), template);
        let guards = template.on_failure() == FailurePolicy::Block;
        assert_eq!(guards, name == "block_sudo", "only a guard may block");
    }
    assert_eq!(HOOK_TEMPLATES.len(), 4);
    assert_eq!(
        HOOK_TEMPLATES["git_auto_commit"].timeout(),
        Duration::from_secs(30)
    );
}

#[test]
fn a_profile_has_its_own_names() {
    let templates = templates::for_profile(&AppProfile::new("mygame"));
    assert!(templates.keys().eq(HOOK_TEMPLATES.keys()));
    let commands: String = templates
        .values()
        .map(|hook| hook.command().to_string())
        .collect();
    assert!(commands.contains("FORGE_TOOL_ARGS") && commands.contains(".mygame"));
    assert!(!commands.contains("forge"));
}

#[cfg(unix)]
mod at_work {
    use forge_hooks::{
        AppProfile, FailureKind, HOOK_TEMPLATES, Hook, HookEvent, HookResult, templates,
    };
    use serde_json::{Value, json};

    use crate::git::OUTER;
    use crate::support::World;

    fn template(name: &str) -> Hook {
        HOOK_TEMPLATES[name].clone()
    }

    #[test]
    fn log_all_writes_a_line_for_each_event() {
        let world = World::new();
        let home = world.path("home of 'me' \"$x\"");
        let log = || template("log_all").with_env("HOME", home.to_str().unwrap());
        for event in [
            HookEvent::tool_pre_execute("bash", json!({"command": "ls"})),
            HookEvent::session_start("s"),
            HookEvent::tool_error("a\nforged", json!({}), "it failed"),
        ] {
            let result = world.run(log(), &event);
            assert!(result.success(), "{}", result.stderr);
        }
        let written = std::fs::read_to_string(home.join(".src/forge/events.log")).unwrap();
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!(lines.len(), 3, "{written}");
        let ends = [
            "] tool:pre_execute tool=bash",
            "] session:start tool=-",
            "] tool:error tool=?",
        ];
        for (line, end) in lines.iter().zip(ends) {
            assert!(line.starts_with("[20") && line.ends_with(end), "{line}");
        }
    }

    #[test]
    fn log_all_never_blocks() {
        let world = World::new();
        let nowhere = template("log_all").with_env("HOME", "/dev/null");
        let result = world.run(nowhere, &HookEvent::user_prompt_submit("hello"));
        assert!(!result.success() && result.should_continue());
        let huge = HookEvent::tool_pre_execute("write", json!("x".repeat(200_000)));
        let home = world.directory().to_str().unwrap();
        let result = world.run(template("log_all").with_env("HOME", home), &huge);
        assert!(result.success(), "{result:?}");
    }

    #[test]
    fn log_all_uses_the_profiles_names() {
        let profile = AppProfile::new("mygame");
        let world = World::with(|builder| builder.profile(profile.clone()));
        let log = templates::for_profile(&profile)["log_all"].clone();
        let log = log.with_env("HOME", world.directory().to_str().unwrap());
        assert!(world.run(log, &HookEvent::session_end("s")).success());
        assert!(
            world
                .read(".mygame/events.log")
                .ends_with("] session:end tool=-\n")
        );
    }

    #[test]
    fn block_sudo_uses_the_profiles_names() {
        let profile = AppProfile::new("mygame");
        let world = World::with(|builder| builder.profile(profile.clone()));
        let guard = &templates::for_profile(&profile)["block_sudo"];
        for (command, passes) in [("ls", true), ("sudo ls", false)] {
            let event = HookEvent::tool_pre_execute("bash", json!({ "command": command }));
            let result = world.run(guard.clone(), &event);
            assert_eq!(result.should_continue(), passes, "{command}");
        }
    }

    #[track_caller]
    fn sudo(command: &str, is_blocked: bool) {
        let event = HookEvent::tool_pre_execute("bash", json!({ "command": command }));
        let result = World::new().run(template("block_sudo"), &event);
        let expected = if is_blocked {
            (1, "Blocked: sudo is not allowed\n")
        } else {
            (0, "")
        };
        assert_eq!((result.exit_code, &*result.stdout), expected, "{command}");
        assert_eq!(result.should_continue(), !is_blocked, "{command}");
    }

    #[test]
    #[rustfmt::skip]
    fn block_sudo_finds_sudo_as_a_word() {
        for command in [
            "sudo ls", "sudo", "ls; sudo rm -rf /", "ls &&sudo rm", "/usr/bin/sudo x", "echo hi\nsudo rm",
            "echo hi\tsudo rm", "echo hi\u{b}sudo rm", "echo \"sudo\"", "sudoedit /etc/passwd", "$(sudo x)",
            "`sudo x`", "FOO=1 sudo x",
        ] {
            sudo(command, true);
        }
        for command in [
            "ls -la", "echo pseudocode", "cat sudoers", "cat /etc/sudo.conf", "visudo", "my_sudo x", "no-sudo x", "",
        ] {
            sudo(command, false);
        }
    }

    #[test]
    fn block_sudo_blocks_what_it_cannot_search() {
        let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
        let blind = template("block_sudo").with_env("PATH", "/nonexistent");
        let result = World::new().run(blind, &event);
        assert!(!result.should_continue());
        let reason = "Blocked: the command could not be searched for sudo";
        assert_eq!(result.reason(), Some(reason));

        let event = HookEvent::tool_pre_execute("bash", json!("x".repeat(200_000)));
        let result = World::new().run(template("block_sudo"), &event);
        assert_eq!(result.failure, Some(FailureKind::EventTooLarge));
        assert!(!result.should_continue());
    }

    const IDENTITY: [(&str, &str); 4] = [
        ("GIT_AUTHOR_NAME", "Me"),
        ("GIT_AUTHOR_EMAIL", "me@here"),
        ("GIT_COMMITTER_NAME", "Me"),
        ("GIT_COMMITTER_EMAIL", "me@here"),
    ];

    /// The template, without the settings of the machine.
    fn auto_commit(world: &World, change: impl FnOnce(&mut Value)) -> Hook {
        let mut entry = template("git_auto_commit").to_json();
        let command = entry["command"].as_str().unwrap().to_owned();
        entry["command"] = format!("unset {}\n{command}", OUTER.join(" ")).into();
        change(&mut entry);
        world.with_git(Hook::from_json(&entry).unwrap())
    }

    fn identified(mut hook: Hook) -> Hook {
        for (name, value) in IDENTITY {
            hook = hook.with_env(name, value);
        }
        hook
    }

    fn commit(world: &World) -> HookResult {
        world.run(identified(auto_commit(world, |_| ())), &written())
    }

    fn written() -> HookEvent {
        HookEvent::tool_post_execute(
            "write",
            json!({"file_path": "a b"}),
            json!({"success": true}),
        )
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
        assert!(result.success(), "{}", result.stderr);
        assert_eq!(world.git(&["log", "--format=%s"]), "Auto-save: write\n");
        assert_eq!(world.git(&["status", "--porcelain"]), "");

        assert!(commit(&world).success());
        assert_eq!(world.commits(), 1, "no empty commit");

        world.write("a b/new file", "2");
        assert!(commit(&world).success());
        assert_eq!(world.commits(), 2);
    }

    #[test]
    fn auto_commit_makes_no_repository() {
        let world = World::new();
        world.write("file", "1");
        let result = commit(&world);
        assert!(result.success() && result.stdout.is_empty() && result.stderr.is_empty());
        assert!(!world.path(".git").exists());
    }

    #[test]
    fn auto_commit_stops_at_a_failed_add() {
        let world = repository();
        world.write("file", "1");
        world.git(&["add", "file"]);
        world.write("other", "1");
        world.write(".git/index.lock", "");
        let result = commit(&world);
        assert!(!result.success() && result.should_continue());
        assert!(result.stderr.contains("index.lock"), "{}", result.stderr);
        std::fs::remove_file(world.path(".git/index.lock")).unwrap();
        assert_eq!(world.commits(), 0);
    }

    /// As above the commit would be refused anyway, here it would not.
    #[test]
    fn auto_commit_commits_all_or_nothing() {
        let world = repository();
        world.write("file", "1");
        world.git(&["add", "file"]);
        world.git(&["init", "--quiet", "inner"]);
        let result = commit(&world);
        assert_eq!(result.failure, Some(FailureKind::Exit), "{}", result.stderr);
        assert!(result.should_continue() && result.stderr.contains("inner"));
        assert_eq!(world.commits(), 0);
    }

    #[test]
    fn auto_commit_names_a_tool_of_any_name() {
        let world = repository();
        world.write("file", "1");
        let any = auto_commit(&world, |entry| entry["event"] = json!("*"));
        let tool = "edit \"$(touch forged)\" `x`; 'it'";
        let event = HookEvent::tool_post_execute(tool, json!({}), json!({}));
        let result = world.run(identified(any), &event);
        assert!(result.success(), "{}", result.stderr);
        assert_eq!(
            world.git(&["log", "--format=%s"]),
            format!("Auto-save: {tool}\n")
        );
        assert!(!world.path("forged").exists());
    }

    #[test]
    fn auto_commit_needs_an_identity() {
        let world = repository();
        world.write("file", "1");
        world.git(&["config", "user.useConfigOnly", "true"]);
        let anonymous = auto_commit(&world, |entry| {
            let command = entry["command"].as_str().unwrap();
            let names = IDENTITY.map(|(name, _)| name).join(" ");
            entry["command"] = format!("unset EMAIL {names}\n{command}").into();
        });
        let result = world.run(anonymous, &written());
        assert_eq!(result.failure, Some(FailureKind::Exit), "{}", result.stderr);
        assert!(result.should_continue());
        assert!(
            result.reason().unwrap().contains("tell me who you are"),
            "{}",
            result.stderr
        );
        assert_eq!(world.commits(), 0);
    }

    #[test]
    fn a_refused_commit_is_reported() {
        let world = repository();
        world.write("file", "1");
        world.script(
            ".git/hooks/pre-commit",
            "#!/bin/sh\necho not today >&2\nexit 1\n",
        );
        let result = commit(&world);
        assert!(!result.success() && result.should_continue());
        assert_eq!(result.reason(), Some("not today"));
    }

    /// Runs the notification with only this program to show it, and returns the program's arguments.
    fn notify(profile: &AppProfile, program: &str) -> String {
        let world = World::with(|builder| builder.profile(profile.clone()));
        let script = "#!/bin/sh\nprintf '%s|' \"$@\" > printed\n";
        world.script(&format!("bin/{program}"), script);
        let path = world.path("bin");
        let notify = templates::for_profile(profile)["notify_session_start"].clone();
        let notify = notify.with_env("PATH", path.to_str().unwrap());
        assert!(world.run(notify, &HookEvent::session_start("s")).success());
        world.read("printed")
    }

    #[test]
    fn notify_calls_the_desktops_program() {
        let forge = AppProfile::default();
        let printed = notify(&forge, "notify-send");
        assert_eq!(printed, "forge|Session started|");
        let printed = notify(&forge, "osascript");
        let script = "-e|on run argv|-e|display notification \"Session started\" with title item 1 of argv|-e|end run|";
        assert_eq!(printed, format!("{script}forge|"));
        let printed = notify(&AppProfile::new("it's; exit 1"), "notify-send");
        assert_eq!(printed, "it's; exit 1|Session started|");
    }

    #[test]
    fn notify_without_a_desktop_blocks_nothing() {
        let notify = template("notify_session_start").with_env("PATH", "/nonexistent");
        let result = World::new().run(notify, &HookEvent::session_start("s"));
        assert_eq!(result.failure, Some(FailureKind::NotFound));
        assert!(result.should_continue());
    }
}
