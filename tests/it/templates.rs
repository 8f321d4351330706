//! The templates, each at its work: with a real file, the real git, and commands that hide `sudo`.

use std::time::Duration;

use forge_hooks::{AppProfile, FailurePolicy, HOOK_TEMPLATES, Hook, templates};

#[test]
fn the_templates_are_those_of_the_specification() {
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
fn another_profile_has_the_same_templates_with_its_own_names() {
    let templates = templates::for_profile(&AppProfile::new("mygame"));
    assert!(templates.keys().eq(HOOK_TEMPLATES.keys()));
    let commands: String = templates
        .values()
        .map(|hook| hook.command().to_string())
        .collect();
    assert!(commands.contains("MYGAME_TOOL_ARGS") && commands.contains(".mygame"));
    assert!(!commands.contains("FORGE_") && !commands.contains("forge"));
}

#[cfg(unix)]
mod at_work {
    use std::path::Path;
    use std::process::Command;

    use forge_hooks::{
        AppProfile, FailureKind, HOOK_TEMPLATES, Hook, HookEvent, HookExecutor, HookResult,
        templates,
    };
    use serde_json::json;

    use crate::support::World;

    fn template(name: &str) -> Hook {
        HOOK_TEMPLATES[name].clone()
    }

    fn run(world: &World, hook: Hook, event: &HookEvent) -> HookResult {
        world.registry().clear();
        world.registry().register(hook);
        world.fire(event).remove(0)
    }

    #[test]
    fn log_all_writes_a_line_for_each_event_into_a_folder_that_it_makes() {
        let world = World::new();
        let home = world.path("home of 'me' \"$x\"");
        let log = || template("log_all").with_env("HOME", home.to_str().unwrap());
        for event in [
            HookEvent::tool_pre_execute("bash", json!({"command": "ls"})),
            HookEvent::session_start("s"),
            HookEvent::tool_error("a\nforged", json!({}), "it failed"),
        ] {
            let result = run(&world, log(), &event);
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
    fn log_all_stops_nothing_whatever_happens() {
        let world = World::new();
        let nowhere = template("log_all").with_env("HOME", "/dev/null");
        let result = run(&world, nowhere, &HookEvent::user_prompt_submit("hello"));
        assert!(!result.success() && result.should_continue());
        let huge = HookEvent::tool_pre_execute("write", json!("x".repeat(200_000)));
        let home = world.folder().to_str().unwrap();
        let result = run(&world, template("log_all").with_env("HOME", home), &huge);
        assert!(result.success(), "{result:?}");
    }

    #[test]
    fn log_all_of_another_profile_reads_and_writes_under_its_names() {
        let profile = AppProfile::new("mygame");
        let world = World::with(|builder| builder.profile(profile.clone()));
        let log = templates::for_profile(&profile)["log_all"].clone();
        let log = log.with_env("HOME", world.folder().to_str().unwrap());
        assert!(run(&world, log, &HookEvent::session_end("s")).success());
        assert!(
            world
                .read(".mygame/events.log")
                .ends_with("] session:end tool=-\n")
        );
    }

    #[test]
    fn block_sudo_of_another_profile_guards_under_its_names() {
        let profile = AppProfile::new("mygame");
        let world = World::with(|builder| builder.profile(profile.clone()));
        let guard = &templates::for_profile(&profile)["block_sudo"];
        for (command, passes) in [("ls", true), ("sudo ls", false)] {
            let event = HookEvent::tool_pre_execute("bash", json!({ "command": command }));
            let result = run(&world, guard.clone(), &event);
            assert_eq!(result.should_continue(), passes, "{command}");
        }
    }

    fn sudo(command: &str) -> HookResult {
        let event = HookEvent::tool_pre_execute("bash", json!({ "command": command }));
        run(&World::new(), template("block_sudo"), &event)
    }

    #[test]
    fn block_sudo_blocks_sudo_with_a_reason() {
        for command in [
            "sudo ls",
            "sudo",
            "ls; sudo rm -rf /",
            "ls &&sudo rm",
            "/usr/bin/sudo x",
            "echo hi\nsudo rm",
            "echo hi\tsudo rm",
            "echo hi\u{b}sudo rm",
            "echo \"sudo\"",
            "sudoedit /etc/passwd",
            "$(sudo x)",
            "`sudo x`",
            "FOO=1 sudo x",
        ] {
            let result = sudo(command);
            assert_eq!(result.failure, Some(FailureKind::Exit), "{command}");
            assert_eq!(
                result.reason(),
                Some("Blocked: sudo is not allowed"),
                "{command}"
            );
        }
    }

    #[test]
    fn block_sudo_lets_what_only_looks_like_it_pass() {
        for command in [
            "ls -la",
            "echo pseudocode",
            "cat sudoers",
            "cat /etc/sudo.conf",
            "visudo",
            "my_sudo x",
            "no-sudo x",
            "",
        ] {
            let result = sudo(command);
            assert!(result.success(), "{command}: {result:?} {}", result.stdout);
            assert_eq!(result.stdout, "");
        }
    }

    #[test]
    fn block_sudo_blocks_when_it_cannot_look() {
        let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
        let blind = template("block_sudo").with_env("PATH", "/nonexistent");
        let result = run(&World::new(), blind, &event);
        assert!(!result.should_continue());
        let reason = "Blocked: the command could not be searched for sudo";
        assert_eq!(result.reason(), Some(reason));

        let event = HookEvent::tool_pre_execute("bash", json!("x".repeat(200_000)));
        let result = run(&World::new(), template("block_sudo"), &event);
        assert_eq!(result.failure, Some(FailureKind::EventTooLarge));
        assert!(!result.should_continue());
    }

    /// Whoever runs these tests from a hook of git's own has them set, to a repository of theirs.
    const OUTER: [&str; 3] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"];

    const IDENTITY: [(&str, &str); 4] = [
        ("GIT_AUTHOR_NAME", "Me"),
        ("GIT_AUTHOR_EMAIL", "me@here"),
        ("GIT_COMMITTER_NAME", "Me"),
        ("GIT_COMMITTER_EMAIL", "me@here"),
    ];

    /// The template, with nothing of the machine's own settings, not even a repository around the
    /// temporary files.
    fn auto_commit(world: &World, change: impl FnOnce(&mut serde_json::Value)) -> Hook {
        let mut entry = template("git_auto_commit").to_json();
        let command = entry["command"].as_str().unwrap().to_owned();
        entry["command"] = format!("unset {}\n{command}", OUTER.join(" ")).into();
        change(&mut entry);
        let above = world.folder().parent().unwrap().to_str().unwrap();
        let home = world.path("no home");
        Hook::from_json(&entry)
            .unwrap()
            .with_env("GIT_CONFIG_GLOBAL", "/dev/null")
            .with_env("GIT_CONFIG_SYSTEM", "/dev/null")
            .with_env("GIT_CEILING_DIRECTORIES", above)
            .with_env("XDG_CONFIG_HOME", home.to_str().unwrap())
            .with_env("HOME", home.to_str().unwrap())
            .with_env("LC_ALL", "C")
    }

    fn git(folder: &Path, args: &[&str]) -> String {
        let mut command = Command::new("git");
        OUTER.iter().for_each(|name| {
            command.env_remove(name);
        });
        let output = command
            .current_dir(folder)
            .args(args)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    fn commit(world: &World) -> HookResult {
        run(world, identified(auto_commit(world, |_| ())), &written())
    }

    fn identified(hook: Hook) -> Hook {
        IDENTITY
            .iter()
            .fold(hook, |hook, (key, value)| hook.with_env(*key, *value))
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
        git(world.folder(), &["init", "--quiet"]);
        world
    }

    fn commits(world: &World) -> usize {
        git(world.folder(), &["rev-list", "--all"]).lines().count()
    }

    #[test]
    fn git_auto_commit_commits_what_has_changed_and_nothing_else() {
        let world = repository();
        world.write("a b/new file", "1");
        let result = commit(&world);
        assert!(result.success(), "{}", result.stderr);
        assert_eq!(
            git(world.folder(), &["log", "--format=%s"]),
            "Auto-save: write\n"
        );
        assert_eq!(git(world.folder(), &["status", "--porcelain"]), "");

        assert!(commit(&world).success());
        assert_eq!(commits(&world), 1, "no empty commit");

        world.write("a b/new file", "2");
        assert!(commit(&world).success());
        assert_eq!(commits(&world), 2);
    }

    #[test]
    fn git_auto_commit_does_nothing_outside_of_a_repository() {
        let world = World::new();
        world.write("file", "1");
        let result = commit(&world);
        assert!(result.success() && result.stdout.is_empty() && result.stderr.is_empty());
        assert!(!world.path(".git").exists());
    }

    #[test]
    fn git_auto_commit_does_not_commit_after_a_failed_add() {
        let world = repository();
        world.write("file", "1");
        git(world.folder(), &["add", "file"]);
        world.write("other", "1");
        world.write(".git/index.lock", "");
        let result = commit(&world);
        assert!(!result.success() && result.should_continue());
        assert!(result.stderr.contains("index.lock"), "{}", result.stderr);
        std::fs::remove_file(world.path(".git/index.lock")).unwrap();
        assert_eq!(commits(&world), 0);
    }

    /// As above the commit would be refused anyway, here it would not.
    #[test]
    fn git_auto_commit_does_not_commit_half_of_what_there_is() {
        let world = repository();
        world.write("file", "1");
        git(world.folder(), &["add", "file"]);
        std::fs::create_dir(world.path("inner")).unwrap();
        git(&world.path("inner"), &["init", "--quiet"]);
        let result = commit(&world);
        assert_eq!(result.failure, Some(FailureKind::Exit), "{}", result.stderr);
        assert!(result.should_continue() && result.stderr.contains("inner"));
        assert_eq!(commits(&world), 0);
    }

    #[test]
    fn git_auto_commit_names_the_tool_whatever_it_is_called() {
        let world = repository();
        world.write("file", "1");
        let any = auto_commit(&world, |entry| entry["event"] = json!("*"));
        let tool = "edit \"$(touch forged)\" `x`; 'it'";
        let event = HookEvent::tool_post_execute(tool, json!({}), json!({}));
        let result = run(&world, identified(any), &event);
        assert!(result.success(), "{}", result.stderr);
        assert_eq!(
            git(world.folder(), &["log", "--format=%s"]),
            format!("Auto-save: {tool}\n")
        );
        assert!(!world.path("forged").exists());
    }

    #[test]
    fn git_auto_commit_without_an_identity_fails_and_stops_nothing() {
        let world = repository();
        world.write("file", "1");
        git(world.folder(), &["config", "user.useConfigOnly", "true"]);
        let anonymous = auto_commit(&world, |entry| {
            let command = entry["command"].as_str().unwrap();
            let names = IDENTITY.map(|(name, _)| name).join(" ");
            entry["command"] = format!("unset EMAIL {names}\n{command}").into();
        });
        let result = run(&world, anonymous, &written());
        assert_eq!(result.failure, Some(FailureKind::Exit), "{}", result.stderr);
        assert!(result.should_continue());
        assert!(
            result.reason().unwrap().contains("tell me who you are"),
            "{}",
            result.stderr
        );
        assert_eq!(commits(&world), 0);
    }

    #[test]
    fn a_commit_that_git_refuses_is_told_and_stops_nothing() {
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

    #[test]
    fn notify_session_start_hands_its_words_to_the_desktop() {
        let world = World::new();
        world.script("bin/notify-send", "#!/bin/sh\nprintf '%s|' \"$@\" > said\n");
        let path = format!("{}:/usr/bin:/bin", world.path("bin").display());
        let notify = template("notify_session_start").with_env("PATH", path);
        assert!(run(&world, notify, &HookEvent::session_start("s")).success());
        assert_eq!(world.read("said"), "forge|Session started|");
    }

    #[test]
    fn without_notify_send_notify_session_start_asks_osascript() {
        let world = World::new();
        world.script("bin/osascript", "#!/bin/sh\nprintf '%s|' \"$@\" > said\n");
        let path = world.path("bin");
        let notify = template("notify_session_start").with_env("PATH", path.to_str().unwrap());
        assert!(run(&world, notify, &HookEvent::session_start("s")).success());
        assert_eq!(
            world.read("said"),
            "-e|on run argv|-e|display notification \"Session started\" with title item 1 of argv|\
             -e|end run|forge|"
        );
    }

    #[test]
    fn without_a_desktop_notify_session_start_fails_and_stops_nothing() {
        let world = World::new();
        let notify = template("notify_session_start").with_env("PATH", "/nonexistent");
        let result = run(&world, notify, &HookEvent::session_start("s"));
        assert_eq!(result.failure, Some(FailureKind::NotFound));
        assert!(result.should_continue());
    }

    #[test]
    fn a_name_with_quotes_stays_a_name() {
        let profile = AppProfile::new("it's; exit 1");
        let executor = HookExecutor::builder().profile(profile.clone()).build();
        let world = World::new();
        world.script("bin/notify-send", "#!/bin/sh\nprintf '%s|' \"$@\"\n");
        let path = format!("{}:/usr/bin:/bin", world.path("bin").display());
        let notify = templates::for_profile(&profile)["notify_session_start"].clone();
        executor.registry().register(notify.with_env("PATH", path));
        let event = HookEvent::session_start("s");
        let results = executor.execute_hooks(&event, forge_hooks::FireOptions::default());
        assert_eq!(results[0].stdout, "it's; exit 1|Session started|");
    }
}
