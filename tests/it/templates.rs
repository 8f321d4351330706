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

    /// With nothing of the machine's own settings.
    fn git(folder: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
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
        let hook = template("git_auto_commit")
            .with_env("GIT_CONFIG_GLOBAL", "/dev/null")
            .with_env("GIT_CONFIG_SYSTEM", "/dev/null");
        let hook = ["GIT_AUTHOR", "GIT_COMMITTER"]
            .iter()
            .fold(hook, |hook, who| {
                hook.with_env(format!("{who}_NAME"), "Me")
                    .with_env(format!("{who}_EMAIL"), "me@here")
            });
        run(world, hook, &written())
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
