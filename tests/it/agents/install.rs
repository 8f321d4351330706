//! `install` and `uninstall`: what they write, and what the registered commands do.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{AGENTS, Agent, for_all};
use crate::program::{Printed, User};
use crate::support::is_missing;

impl User {
    /// One who has a home and a directory for configuration.
    fn with_home() -> Self {
        let user = Self::new();
        fs::create_dir_all(user.path("home")).unwrap();
        user.has_hooks(&json!([]));
        user.has_codex();
        user
    }

    /// The command that is registered in a file for an event.
    fn command_in(&self, file: &str, event: &str) -> String {
        let settings: Value = serde_json::from_str(&self.read(&format!("home/{file}"))).unwrap();
        let handler = &settings["hooks"][event][0]["hooks"][0];
        handler["command"].as_str().unwrap().to_owned()
    }

    /// Runs a registered command as an agent does.
    fn runs(&self, shell: &str, command: &str, mode: &str, input: &str) -> Printed {
        let mut started = Command::new(shell);
        self.set(&mut started);
        started.args(["-c", command]).env("MODE", mode);
        self.feed(started, input)
    }

    /// All files below the home directory.
    fn files_at_home(&self) -> Vec<PathBuf> {
        let mut directories = vec![self.path("home")];
        let mut files = Vec::new();
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                } else {
                    files.push(path);
                }
            }
        }
        files
    }
}

/// The message of a registered command if the program has not answered.
fn did_not_run(agent: &Agent, program: &str) -> String {
    format!(
        "forge-hooks did not run: {program} is missing, was killed or has crashed, and ~/{} starts it. To register it anew, run it with the path that it has now: /new/path/forge-hooks install {name}. To go on without it, remove its entries from that file, as forge-hooks uninstall {name} does.",
        agent.file,
        name = agent.name
    )
}

/// The JSON of a text; null if it is empty.
fn members(text: &str) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    serde_json::from_str(text).unwrap()
}

#[test]
fn registered_commands_fail_closed_but_at_the_end_of_a_turn() {
    const STAND_IN: &str = "#!/bin/sh\ncase $MODE in killed) kill -9 $$;; ended) kill -TERM $$;; piped) kill -PIPE $$;; *) exit $MODE;; esac\n";
    let user = User::with_home();
    let program = user.path("it's a \"d\\r\" $HOME/forge-hooks");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    user.has_program(&program);
    let display = user.normal(&program.to_string_lossy());
    let mut install = Command::new(&program);
    user.set(&mut install);
    install.args(for_all("install"));
    assert!(install.output().unwrap().status.success());
    // Claude Code shows the command to its model with each block: it must not say how to go on without it.
    for agent in AGENTS.iter().filter(|agent| agent.name != "copilot") {
        let command = user.command_in(agent.file, agent.before);
        assert!(!command.contains("uninstall"), "{command}");
    }
    fs::remove_file(&program).unwrap();
    let shells = ["sh", "bash", "dash", "zsh", "fish"];
    let shells = shells.into_iter().filter(|shell| !is_missing(shell));
    let shells: Vec<_> = shells.collect();
    let check = |mode: &str, at_tool: i32, at_end: i32| {
        for agent in AGENTS {
            let (before, stop) = (agent.before, agent.stop);
            for (event, expected) in [(before, at_tool), (stop, at_end)] {
                let command = user.command_in(agent.file, event);
                for shell in &shells {
                    let ended = user.runs(shell, &command, mode, "{}");
                    let context = format!("{shell} {event} {mode}: {ended:?}");
                    assert_eq!(ended.status, expected, "{context}");
                    let is_json = agent.name == "copilot" && event == before;
                    // Elsewhere, exit code 2 says it all.
                    let is_broken = mode != "0" && (mode != "2" || is_json);
                    let is_told = is_broken && (mode, event) != ("1", stop);
                    let message = did_not_run(&agent, &display);
                    let denied = json!({"permissionDecision": "deny", "permissionDecisionReason": message, "decision": "block", "reason": message});
                    let out = if is_broken && is_json {
                        denied.to_string()
                    } else {
                        String::new()
                    };
                    assert_eq!(members(&ended.out), members(&out), "{context}");
                    // A shell may have said something before.
                    let told = ended
                        .err
                        .find("forge-hooks did not run")
                        .map(|at| &ended.err[at..]);
                    assert_eq!(told, is_told.then_some(&*message), "{context}");
                }
            }
        }
    };
    check("missing", 2, 1);
    fs::write(&program, STAND_IN).unwrap();
    check("not executable", 2, 1);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for (mode, at_tool, at_end) in [
        ("0", 0, 0),
        ("2", 2, 2),
        ("1", 2, 1),
        ("3", 2, 1),
        ("101", 2, 1),
        ("killed", 2, 1),
        ("ended", 2, 1),
        ("piped", 2, 1),
    ] {
        check(mode, at_tool, at_end);
    }
    // Without a program, a shell takes the file for its script.
    fs::write(&program, "").unwrap();
    check("empty", 2, 1);
    // Whatever the file of the message is, the text is not empty and no JSON, so that each agent takes it for a block.
    let other = user.write("other", "not for the model");
    for agent in AGENTS {
        let name = format!("home/.local/state/forge-hooks/did-not-run-{}", agent.name);
        let message = user.path(&name);
        let command = user.command_in(agent.file, agent.before);
        let told = |expected: &str| {
            let ended = user.runs("sh", &command, "1", "{}");
            let expected = format!("forge-hooks did not run: {expected}");
            assert_eq!((ended.status, &*ended.err), (2, &*expected), "{ended:?}");
        };
        user.write(&name, "");
        told("");
        user.write(&name, "{\"decision\": \"allow\"}");
        told("{\"decision\": \"allow\"}");
        user.write(&name, &"x".repeat(100_000));
        told(&"x".repeat(2000));
        fs::remove_file(&message).unwrap();
        told("");
        symlink(&other, &message).unwrap();
        told("");
    }
    // `install` replaces a link, and not what it leads to.
    assert_eq!(user.run(&for_all("install")).status, 0);
    assert_eq!(fs::read_to_string(&other).unwrap(), "not for the model");
}

#[test]
fn a_call_through_a_registered_command_is_guarded() {
    let user = User::with_home();
    user.has_hooks(
        &json!([{"event": "tool:pre_execute:bash", "when": {"/tool_args/command": "*sudo*"},
        "answer": {"decision": "block", "reason": "no sudo"}}]),
    );
    let printed = user.run(&for_all("install"));
    assert_eq!((printed.status, &*printed.err), (0, ""), "{printed:?}");
    let approved = printed.out.matches(": approved in Codex").count();
    assert_eq!(approved, 1, "{printed:?}");
    // Beside the settings of each agent is its message, and one file says that there were hooks.
    assert_eq!(user.files_at_home().len(), 2 * AGENTS.len() + 1);
    for agent in AGENTS {
        let event = agent.before;
        let command = user.command_in(agent.file, event);
        let calls = |shell: &str| {
            let input = json!({"session_id": "s", "cwd": user.project(), "hook_event_name": event,
                "tool_name": agent.shell, "tool_input": {"command": shell}});
            user.runs("sh", &command, "", &input.to_string())
        };
        let blocked = calls("sudo ls");
        assert_eq!(blocked.status, 2, "{blocked:?}");
        assert!(blocked.err.contains("no sudo"), "{blocked:?}");
        assert_eq!(calls("ls").status, 0);
    }
    let path = user.path("home/.claude/settings.json");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn handlers_have_the_timeouts_of_their_agents() {
    let user = User::with_home();
    assert_eq!(user.run(&for_all("install")).status, 0);
    let of_all = AGENTS.map(|agent| {
        let (timeout, seconds) = agent.timeout;
        (agent.file, agent.before, json!(timeout), seconds)
    });
    let of_claude = [
        ("UserPromptSubmit", json!(30), "30"),
        ("SessionEnd", json!(60), "60"),
    ];
    let of_claude = of_claude
        .map(|(event, timeout, seconds)| (".claude/settings.json", event, timeout, seconds));
    for (file, event, timeout, seconds) in of_all.into_iter().chain(of_claude) {
        let settings: Value = serde_json::from_str(&user.read(&format!("home/{file}"))).unwrap();
        let group = &settings["hooks"][event][0];
        assert_eq!(group["hooks"][0]["timeout"], timeout, "{event}");
        assert_eq!(group.get("matcher"), None);
        // Its messages have the name in place of the command.
        let has_name = matches!(file, ".gemini/settings.json" | ".qwen/settings.json");
        let name = has_name.then(|| json!("forge-hooks"));
        assert_eq!(group["hooks"][0].get("name"), name.as_ref());
        let command = user.command_in(file, event);
        assert!(
            command.contains(&format!(" --timeout {seconds} ")),
            "{command}"
        );
    }
}

/// Grok Build reads Claude Code's settings too, and none of their hooks if one timeout is a fraction.
#[test]
fn timeouts_are_whole_numbers() {
    let user = User::with_home();
    assert_eq!(user.run(&for_all("install")).status, 0);
    for agent in AGENTS {
        let settings: Value =
            serde_json::from_str(&user.read(&format!("home/{}", agent.file))).unwrap();
        for (event, groups) in settings["hooks"].as_object().unwrap() {
            let handler = &groups[0]["hooks"][0];
            assert!(handler["timeout"].is_u64(), "{event}: {handler}");
            let command = handler["command"].as_str().unwrap();
            let (_, rest) = command.split_once(" --timeout ").unwrap();
            let (seconds, _) = rest.split_once(' ').unwrap();
            assert!(seconds.parse::<u64>().is_ok(), "{event}: {command}");
        }
    }
}

/// They are for the agent. Whoever reads its settings in the agent's place has hooks.json itself.
#[test]
fn registered_handlers_run_only_under_their_agent() {
    let user = User::with_home();
    user.has_hooks(&json!([{"event": "*", "answer": {"decision": "block", "reason": "no"}}]));
    assert_eq!(user.run(&for_all("install")).status, 0);
    for (agent, tool) in [("claude", "Bash"), ("codex", "Bash")] {
        let event = json!({"hook_event_name": "PreToolUse",
            "session_id": "s", "cwd": user.project(), "tool_name": tool, "tool_input": {"command": "ls"}});
        let fire = user.command(&[
            "fire",
            "--other-agents",
            agent,
            "--agent",
            agent,
            "--event-json",
            "-",
            "--json",
        ]);
        let fired = user.feed(fire, &event.to_string());
        assert_eq!(fired.status, 0, "{fired:?}");
        assert_eq!(fired.json()["results"], json!([]), "{fired:?}");
    }
}

#[test]
fn the_command_has_what_the_environment_has() {
    let user = User::with_home();
    let registered = |name: &str, value: PathBuf, words: &[&str]| {
        let mut install = user.command(&[&["install", "claude", "--yes"], words].concat());
        let printed = user.printed(install.env(name, value).output().unwrap());
        assert_eq!(printed.status, 0, "{printed:?}");
        user.normal(&user.command_in(".claude/settings.json", "Stop"))
    };
    let usual = registered("XDG_CONFIG_HOME", user.path("home/.config"), &[]);
    assert!(usual.contains(" --home [DIR]/home --path "), "{usual}");
    let other = registered(
        "XDG_CONFIG_HOME",
        user.path("config"),
        &["--profile", "mygame"],
    );
    assert!(
        other.contains("[DIR]/home --config-home [DIR]/config --profile mygame --path "),
        "{other}"
    );
    // A model could put programs into a relative directory.
    let path = registered("PATH", "bin:/usr/bin:.::/bin:/usr/bin".into(), &[]);
    assert!(path.ends_with(" --path /usr/bin:/bin"), "{path}");
    // A model could do the same with a directory of its project.
    fs::create_dir(user.project().join(".git")).unwrap();
    let own = user.project().join("node_modules/.bin");
    let mut install = user.command(&["install", "claude", "--yes"]);
    let paths = std::env::join_paths([&own, Path::new("/bin"), Path::new("../x")]).unwrap();
    let printed = user.printed(install.env("PATH", paths).output().unwrap());
    assert!(
        printed
            .out
            .contains("left out of `PATH`: [DIR]/project/node_modules/.bin, where"),
        "{printed:?}"
    );
    let path = user.command_in(".claude/settings.json", "Stop");
    assert!(path.ends_with(" --path /bin"), "{path}");
    let refused = |name: &str, value: PathBuf, expected: &str| {
        let before = user.read("home/.claude/settings.json");
        let mut install = user.command(&["install", "claude", "--yes"]);
        let printed = user.printed(install.env(name, value).output().unwrap());
        assert_eq!(printed.status, 2, "{printed:?}");
        assert!(printed.err.contains(expected), "{printed:?}");
        assert_eq!(user.read("home/.claude/settings.json"), before);
    };
    refused(
        "XDG_CONFIG_HOME",
        user.path("nowhere"),
        "`[DIR]/nowhere` is not a directory",
    );
    refused("PATH", "bin".into(), "`PATH` has no absolute directory");
    refused("CLAUDECODE", "1".into(), "`CLAUDECODE` is set");
}

#[test]
fn files_that_cannot_be_edited_are_not_touched() {
    type Prepare = fn(&Path);
    let cases: [(Prepare, &str); 9] = [
        (
            |path| {
                fs::write(path, "{}").unwrap();
                fs::hard_link(path, path.with_extension("other")).unwrap();
            },
            "the file has another name, a hard link",
        ),
        (
            |path| fs::write(path, "{\"hooks\": []}").unwrap(),
            ", line 1, column 11: `hooks` is a list, expected an object",
        ),
        (
            |path| fs::write(path, "").unwrap(),
            "the file is not valid JSON",
        ),
        (
            |path| fs::write(path, "{\n  \"a\": 1,\n  \"a\": 2}").unwrap(),
            ", line 3, column 3: the key `a` occurs twice",
        ),
        (
            |path| fs::write(path, b"{\"\xff\": 1}").unwrap(),
            "the file is not UTF-8",
        ),
        (
            |path| fs::write(path, " ".repeat(1024 * 1024 + 1)).unwrap(),
            "the file is larger than 1 MiB",
        ),
        (
            |path| symlink("nowhere", path).unwrap(),
            "the file is a link to a file that does not exist",
        ),
        (
            |path| fs::create_dir(path).unwrap(),
            "the file is a directory",
        ),
        (
            |path| {
                fs::write(path, "{}").unwrap();
                fs::set_permissions(path, fs::Permissions::from_mode(0o444)).unwrap();
            },
            "the file is read-only",
        ),
    ];
    for (prepare, expected) in cases {
        let user = User::with_home();
        let path = user.path("home/.claude/settings.json");
        fs::create_dir(path.parent().unwrap()).unwrap();
        prepare(&path);
        let before = (fs::read(&path).ok(), fs::read_link(&path).ok());
        let installed = user.run(&["install", "codex", "claude", "--yes"]);
        assert!(
            installed
                .out
                .contains("\n  \"PreToolUse\": [{\"hooks\": [{"),
            "{installed:?}"
        );
        let removed = user.run(&["uninstall", "claude", "copilot", "--yes"]);
        for printed in [installed, removed] {
            assert_eq!(printed.status, 2, "{printed:?}");
            assert!(
                printed
                    .err
                    .contains("cannot edit `[DIR]/home/.claude/settings.json`"),
                "{printed:?}"
            );
            assert!(printed.err.contains(expected), "{expected}: {printed:?}");
        }
        assert_eq!((fs::read(&path).ok(), fs::read_link(&path).ok()), before);
        // The other agent has its guards.
        assert!(user.path("home/.codex/hooks.json").exists());
    }
}

#[test]
fn a_program_that_is_killed_says_nothing_before_the_block() {
    let user = User::with_home();
    let program = user.path("home").join("forge-hooks");
    user.has_program(&program);
    let mut install = Command::new(&program);
    user.set(&mut install);
    install.args(["install", "copilot", "--yes"]);
    assert!(install.output().unwrap().status.success());
    fs::remove_file(&program).unwrap();
    user.write(
        "home/forge-hooks",
        "#!/bin/sh\n[ \"$MODE\" = said ] || echo '{\"permissionDecision\": \"allow\"}'\n[ \"$MODE\" != killed ] || kill -9 $$\nexit 2\n",
    );
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let command = user.command_in(".copilot/hooks/forge-hooks.json", "UserPromptSubmit");
    // Exit code 2 without JSON is not the program's.
    for (mode, decision) in [
        ("killed", json!("block")),
        ("said", json!("block")),
        ("", Value::Null),
    ] {
        let ended = user.runs("bash", &command, mode, "{}");
        let answer: Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(
            (ended.status, &answer["decision"]),
            (2, &decision),
            "{ended:?}"
        );
    }
}

#[test]
fn what_was_not_there_before_is_not_there_after() {
    let user = User::with_home();
    let run = |command| user.run(&for_all(command));
    assert_eq!(run("install").status, 0);
    // Each agent has its settings, and a message for when the program does not run.
    assert_eq!(user.files_at_home().len(), 2 * AGENTS.len());
    let removed = run("uninstall");
    assert_eq!(
        (removed.status, user.files_at_home().len()),
        (0, 0),
        "{removed:?}"
    );
    // An empty object that a person has written stays.
    user.write("home/.claude/settings.json", "{}\n");
    run("install");
    run("uninstall");
    assert_eq!(user.read("home/.claude/settings.json"), "{}\n");
}

#[test]
fn codex_runs_what_a_person_has_approved() {
    let user = User::with_home();
    let others = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "other"}]}]}});
    user.write("home/.codex/hooks.json", &others.to_string());
    let installed = user.run(&["install", "codex", "--yes"]);
    assert_eq!(installed.status, 0, "{installed:?}");
    let asked: Value =
        serde_json::from_str(&fs::read_to_string(user.approvals()).unwrap()).unwrap();
    let edit = &asked["params"]["edits"][0];
    assert_eq!(edit["keyPath"], "hooks.state");
    let states = edit["value"].as_object().unwrap();
    // Those of all events, and no other hook.
    assert_eq!(states.len(), 12, "{edit}");
    for (key, state) in states {
        let digest = key.replace("key-", "hash-");
        assert_eq!(*state, json!({"trusted_hash": digest}));
    }
    let twice = user.run(&["install", "codex", "--yes"]);
    assert!(!twice.out.contains("approve"), "{twice:?}");
    let asked = fs::read_to_string(user.approvals()).unwrap();
    assert_eq!(asked.lines().count(), 1, "{asked}");
    // The user is asked again after withdrawing an approval.
    fs::remove_file(user.approvals()).unwrap();
    let asked = user.run(&["install", "codex"]);
    assert_eq!(asked.status, 2, "{asked:?}");
    assert!(asked.err.contains("add `--yes`"), "{asked:?}");
}

#[test]
fn what_codex_does_not_take_is_said() {
    let by_hand = "approve them in Codex, in `/hooks`: before that it runs none";
    for (mode, expected) in [
        (
            "refuses",
            "has refused `config/batchWrite`: {\"message\":\"no\"}: ",
        ),
        (
            "off",
            "Codex runs none of them: `forge-hooks check --agent codex` says why",
        ),
        (
            "disabled",
            "Codex runs none of them: `forge-hooks check --agent codex` says why",
        ),
        ("silent", "without an answer to `hooks/list`"),
    ] {
        let user = User::with_home();
        user.codex_is(mode);
        let printed = user.run(&["install", "codex", "--yes"]);
        assert_eq!(printed.status, 1, "{printed:?}");
        assert!(printed.out.contains(expected), "{mode}: {printed:?}");
        let is_approvable = !expected.contains("says why");
        assert_eq!(printed.out.contains(by_hand), is_approvable, "{printed:?}");
        assert!(!user.approvals().exists());
    }
    let user = User::with_home();
    let mut install = user.command(&["install", "codex", "--yes"]);
    let printed = user.printed(install.env("PATH", user.path("home")).output().unwrap());
    assert_eq!(printed.status, 1, "{printed:?}");
    assert!(
        printed.out.contains("cannot start `codex app-server`") && printed.out.contains(by_hand),
        "{printed:?}"
    );
}

#[test]
fn install_and_uninstall_are_for_a_person() {
    let user = User::with_home();
    for command in ["install", "uninstall"] {
        let mut below = user.command(&[command, "claude", "--yes"]);
        let printed = user.printed(below.env("CODEX_THREAD_ID", "1").output().unwrap());
        assert_eq!(printed.status, 2);
        assert!(
            printed
                .err
                .contains("run the same command in your own terminal"),
            "{printed:?}"
        );
    }
    let asked = user.run(&["install", "claude"]);
    assert_eq!(asked.status, 2);
    assert!(asked.err.contains("add `--yes`"), "{asked:?}");
    assert_eq!(user.files_at_home().len(), 0);
    let twice = user.run(&["install", "claude", "claude", "-y"]);
    assert_eq!(
        (twice.status, twice.out.lines().count()),
        (0, 4),
        "{twice:?}"
    );
    let link = user.path("home/real.json");
    let path = user.path("home/.claude/settings.json");
    // A link stays, as in a repository of settings.
    fs::rename(&path, &link).unwrap();
    symlink(&link, &path).unwrap();
    assert_eq!(user.run(&["uninstall", "claude", "-y"]).status, 0);
    assert_eq!(
        (user.read("home/real.json"), path.is_symlink()),
        ("{}\n\n".to_owned(), true)
    );
}

#[test]
fn settings_that_a_variable_moves_are_not_written() {
    for agent in AGENTS {
        let (name, usual) = agent.moved_by;
        let user = User::with_home();
        let install = |directory: &str| {
            let mut install = user.command(&["install", agent.name, "--yes"]);
            let value = user.path(directory);
            user.printed(install.env(name, value).output().unwrap())
        };
        let moved = install("elsewhere");
        assert_eq!(moved.status, 2, "{moved:?}");
        assert!(
            moved
                .err
                .contains(&format!("`{name}` is `[DIR]/elsewhere`")),
            "{moved:?}"
        );
        assert!(moved.out.contains("\"hooks\": [{"), "{moved:?}");
        assert_eq!(user.files_at_home().len(), 0);
        assert_eq!(install(usual).status, 0);
    }
}

#[test]
fn an_agent_that_cannot_be_registered_keeps_no_other_one_from_it() {
    let user = User::with_home();
    user.write("home/.claude/settings.json", "[]");
    user.write("home/.gemini/settings.json", "{");
    let check = |command: &str, is_there: bool| {
        let printed = user.run(&for_all(command));
        assert_eq!(printed.status, 2, "{printed:?}");
        for name in ["claude", "gemini"] {
            let said = format!("cannot edit `[DIR]/home/.{name}/settings.json`");
            assert_eq!(printed.err.matches(&said).count(), 1, "{printed:?}");
        }
        for file in [".codex/hooks.json", ".copilot/hooks/forge-hooks.json"] {
            assert_eq!(user.path("home").join(file).exists(), is_there, "{file}");
        }
    };
    check("install", true);
    check("uninstall", false);
}

#[test]
fn what_a_person_has_added_to_the_command_is_kept() {
    let user = User::with_home();
    let install = |words: &[&str]| {
        let printed = user.run(&[&["install", "claude", "--yes"], words].concat());
        assert_eq!(printed.status, 0, "{printed:?}");
        user.command_in(".claude/settings.json", "Stop")
    };
    let named = install(&["--inherit", "JAVA_HOME", "--inherit", "TMUX"]);
    let expected = " --inherit JAVA_HOME --inherit TMUX --path ";
    assert!(named.contains(expected), "{named}");
    let text = user.read("home/.claude/settings.json");
    let text = text.replace("--inherit TMUX", "--inherit=https_proxy --inherit TMUX");
    user.write("home/.claude/settings.json", &text);
    let again = install(&["--inherit", "TMUX", "--inherit", "VIRTUAL_ENV"]);
    let expected =
        " --inherit TMUX --inherit VIRTUAL_ENV --inherit JAVA_HOME --inherit https_proxy ";
    assert!(again.contains(expected), "{again}");
    assert_eq!(user.run(&["check", "--agent", "claude"]).err, "");
    let checked = user.run(&["check", "--agent", "claude"]);
    assert!(checked.out.contains("a probe is blocked"), "{checked:?}");
}

/// Makes places where the program may be, and links to them.
fn has_places(user: &User) {
    for name in ["links", "repo/.git", "home/.git"] {
        fs::create_dir_all(user.path(name)).unwrap();
    }
    let versioned = concat!("cellar/v", env!("CARGO_PKG_VERSION"));
    user.write("venv/pyvenv.cfg", "");
    user.write("tool/pyvenv.cfg", "");
    user.write("tool/uv-receipt.toml", "");
    for place in [
        "cellar/1/bin",
        versioned,
        "repo/sub",
        "lib/node_modules/x",
        "venv/bin",
        "tool/bin",
        "home/.npm/_npx/1/bin",
        "temporary/x",
        "home",
    ] {
        let place = user.path(place);
        fs::create_dir_all(&place).unwrap();
        user.has_program(&place.join("forge-hooks"));
    }
    for (name, target) in [
        ("links/forge-hooks", "../cellar/1/bin/forge-hooks"),
        ("cellar/current", "1"),
        (
            "links/new",
            concat!("../cellar/v", env!("CARGO_PKG_VERSION")),
        ),
        ("links/repo", "../repo/sub"),
        ("links/out", "../repo/out"),
        ("repo/out", "../cellar/1/bin"),
        ("links/node", "../lib/node_modules/x"),
    ] {
        symlink(target, user.path(name)).unwrap();
    }
}

/// Where the program registers a copy of itself.
const COPY: &str = "home/.local/share/forge-hooks/registered/forge-hooks";

/// How the program is called, and where it is registered, or why a copy is.
#[test]
fn the_path_by_which_the_user_calls_it_is_registered() {
    let user = User::with_home();
    has_places(&user);
    let bare = "forge-hooks";
    let cases: [(&str, &str, Result<&str, &str>); 16] = [
        ("links/forge-hooks", "", Ok("links/forge-hooks")),
        (bare, "links", Ok("links/forge-hooks")),
        (bare, "nowhere", Ok("cellar/1/bin/forge-hooks")),
        (
            "cellar/current/bin/forge-hooks",
            "",
            Ok("cellar/current/bin/forge-hooks"),
        ),
        ("project/../links/forge-hooks", "", Ok("links/forge-hooks")),
        ("tool/bin/forge-hooks", "", Ok("tool/bin/forge-hooks")),
        ("home/forge-hooks", "", Ok("home/forge-hooks")),
        ("links/new/forge-hooks", "", Ok("links/new/forge-hooks")),
        ("repo/sub/forge-hooks", "", Err("repo` is a project")),
        ("links/repo/forge-hooks", "", Err("repo` is a project")),
        ("links/out/forge-hooks", "", Err("repo` is a project")),
        (
            "links/node/forge-hooks",
            "",
            Err("lib/node_modules` is a directory of Node packages"),
        ),
        (
            "venv/bin/forge-hooks",
            "",
            Err("venv` is a virtual environment"),
        ),
        (
            "home/.npm/_npx/1/bin/forge-hooks",
            "",
            Err("_npx` is a cache"),
        ),
        (
            "temporary/x/forge-hooks",
            "",
            Err("temporary` is a temporary directory"),
        ),
        (
            "cellar/v@/forge-hooks",
            "",
            Err("` has another name in each version"),
        ),
    ];
    for (called, path, expected) in cases {
        let called = called.replace('@', env!("CARGO_PKG_VERSION"));
        let file = if called == bare {
            "cellar/1/bin/forge-hooks"
        } else {
            &called
        };
        let mut install = Command::new(user.path(file));
        if called == bare {
            std::os::unix::process::CommandExt::arg0(&mut install, bare);
        }
        user.set(&mut install);
        install.args(["install", "claude", "--yes"]);
        install.env("TMPDIR", user.path("temporary"));
        let paths = [user.path(path), "/usr/bin".into()];
        install.env("PATH", std::env::join_paths(paths).unwrap());
        let printed = user.printed(install.output().unwrap());
        assert_eq!(printed.status, 0, "{called}: {printed:?}");
        let (program, why) = expected.map_or_else(|why| (COPY, Some(why)), |path| (path, None));
        let said = format!(": starts [DIR]/{program} at ");
        assert!(printed.out.contains(&said), "{called}: {printed:?}");
        let said = ", where this program is: agents start a copy of it, [DIR]/home/.local/";
        assert_eq!(printed.out.contains(said), why.is_some(), "{printed:?}");
        assert!(printed.out.contains(why.unwrap_or_default()), "{printed:?}");
    }
}

/// Runs the program, where it is in a virtual environment.
fn run_in_venv(user: &User, words: &[&str]) -> Printed {
    let program = user.path("venv/bin/forge-hooks");
    if !program.exists() {
        user.write("venv/pyvenv.cfg", "");
        fs::create_dir_all(user.path("venv/bin")).unwrap();
        user.has_program(&program);
    }
    let mut command = Command::new(&program);
    user.set(&mut command);
    user.printed(command.args(words).output().unwrap())
}

#[test]
fn a_copy_is_registered_and_protected() {
    let user = User::with_home();
    let run = |words: &[&str]| run_in_venv(&user, words);
    let refused = run(&["install", "claude"]);
    assert!(refused.status != 0 && !user.path(COPY).exists());
    let installed = run(&["install", "claude", "gemini", "--yes"]);
    assert_eq!(installed.status, 0, "{installed:?}");
    let mode = user.path(COPY).metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(run(&["check", "--agent", "claude"]).err, "");

    let command = user.command_in(".claude/settings.json", "PreToolUse");
    let write = |path: &Path| {
        let tool = json!({"file_path": path, "content": "x"});
        let input = json!({"hook_event_name": "PreToolUse", "cwd": user.project(),
            "tool_name": "Write", "tool_input": tool});
        user.runs("sh", &command, "", &input.to_string())
    };
    for (path, status) in [(COPY, 2), ("home/.local/share/notes", 0)] {
        let answer = write(&user.path(path));
        assert_eq!(answer.status, status, "{path}: {answer:?}");
    }
}

#[test]
fn a_copy_is_replaced_and_removed_with_the_last_agent() {
    let user = User::with_home();
    let run = |words: &[&str]| run_in_venv(&user, words);
    let installed = run(&["install", "claude", "gemini", "--yes"]);
    assert_eq!(installed.status, 0, "{installed:?}");
    let mut copy = fs::File::options()
        .append(true)
        .open(user.path(COPY))
        .unwrap();
    std::io::Write::write_all(&mut copy, b"another version").unwrap();
    drop(copy);
    let checked = run(&["check", "--agent", "claude"]);
    assert!(
        checked.out.contains(
            "starts [DIR]/home/.local/share/forge-hooks/registered/forge-hooks, a copy of another version of this program"
        ),
        "{checked:?}"
    );
    assert_eq!(run(&["install", "claude", "--yes"]).status, 0);
    let checked = run(&["check", "--agent", "claude"]);
    assert!(checked.out.contains("a probe is blocked"), "{checked:?}");

    let removed = run(&["uninstall", "claude", "--yes"]);
    assert!(
        removed.status == 0 && user.path(COPY).exists(),
        "{removed:?}"
    );
    let removed = run(&["uninstall", "gemini", "--yes"]);
    assert_eq!(removed.status, 0, "{removed:?}");
    for left in [".local/share/forge-hooks", ".local/state/forge-hooks"] {
        assert!(!user.path("home").join(left).exists(), "{left}");
    }
}

#[test]
fn a_copy_is_not_put_where_it_would_not_last() {
    let user = User::with_home();
    has_places(&user);
    let mut install = Command::new(user.path("venv/bin/forge-hooks"));
    user.set(&mut install);
    install.env("XDG_DATA_HOME", user.path("repo/data"));
    let printed = user.printed(install.args(["install", "claude"]).output().unwrap());
    assert_eq!(printed.status, 2, "{printed:?}");
    let said = "cannot copy this program to `[DIR]/repo/data/forge-hooks/registered/forge-hooks`: \
        `[DIR]/repo` is a project, expected a place that lasts";
    assert!(printed.err.contains(said), "{printed:?}");
}

#[test]
fn a_handler_to_which_a_person_has_added_something_stays() {
    let user = User::with_home();
    for agent in AGENTS {
        for (from, to) in [
            ("; exit 1' ", "; /opt/mine; exit 1' "),
            (" --path ", "; /opt/mine --path "),
        ] {
            assert_eq!(user.run(&["install", agent.name, "--yes"]).status, 0);
            let file = format!("home/{}", agent.file);
            let mut settings: Value = serde_json::from_str(&user.read(&file)).unwrap();
            let own = &mut settings["hooks"][agent.stop][0]["hooks"][0];
            let changed = own["command"].as_str().unwrap().replace(from, to);
            assert!(changed.contains("/opt/mine"), "{changed}");
            own["command"] = changed.clone().into();
            user.write(&file, &settings.to_string());
            let removed = user.run(&["uninstall", agent.name, "--yes"]);
            assert_eq!(removed.status, 1, "{removed:?}");
            let said = format!("still starts this program at {}, by a command", agent.stop);
            assert!(removed.out.contains(&said), "{removed:?}");
            assert_eq!(user.command_in(agent.file, agent.stop), changed);
            let text = user.read(&file);
            assert_eq!(text.matches("forge-hooks did not run").count(), 1, "{text}");
            fs::remove_file(user.path(&file)).unwrap();
        }
    }
}
