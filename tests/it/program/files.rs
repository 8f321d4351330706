//! `init` and `add`: files that are written.

use serde_json::{Value, json};

use super::{User, with};

#[test]
fn init_writes_what_its_schema_describes() {
    for (args, path) in [
        (&["init"][..], "project/.forge-hooks/hooks.json"),
        (&["init", "--global"], "config/forge-hooks/hooks.json"),
    ] {
        let user = User::new();
        assert_eq!(user.run(args).status, 0);
        if !args.contains(&"--global") {
            let checked = user.run(&["check"]);
            let is_said = checked.out.contains("`forge-hooks trust`");
            assert!(checked.status == 1 && is_said, "{checked:?}");
            assert_eq!(user.run(&["trust", "--yes"]).status, 0);
        }
        assert_eq!(user.run(&["check", "--strict"]).status, 0);
        let content: Value = serde_json::from_str(&user.read(path)).unwrap();
        assert_eq!(content["$schema"], "./hooks.schema.json");
        let schema = user.read(&path.replace("hooks.json", "hooks.schema.json"));
        let schema = serde_json::from_str(&schema).unwrap();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        assert!(validator.is_valid(&content), "{content:#}");
        assert_eq!(user.run(args).status, 2);
    }
}

#[test]
fn options_without_an_effect_are_refused() {
    let user = User::new();
    for args in [
        &["events", "--no-global"][..],
        &["--project", ".", "events"],
        &["trace", "x.jsonl", "--config", "x.json"],
        &["install", "claude", "--project", "."],
    ] {
        let printed = user.run(args);
        let is_said = printed.err.contains("have no effect on this command");
        assert!(is_said && printed.status == 2, "{printed:?}");
    }
    for (command, is_shown) in [("events", false), ("list", true)] {
        let help = user.run(&[command, "--help"]).out;
        assert_eq!(help.contains("--no-global"), is_shown, "{help}");
    }
}

#[test]
fn an_old_name_says_the_new_one() {
    let user = User::new();
    for (args, name, fix) in [
        (&["validate"][..], "validate", "use `forge-hooks check`"),
        (
            &["validate", "--json"],
            "validate",
            "use `forge-hooks check`",
        ),
        (
            &["--project", ".", "doctor", "claude"],
            "doctor",
            "use `forge-hooks check`",
        ),
        (&["status"], "status", "use `forge-hooks list`"),
        (
            &["untrust", "--yes"],
            "untrust",
            "use `forge-hooks trust --revoke`",
        ),
        (
            &["schema"],
            "schema",
            "is written beside the hooks file by `init` and `add`",
        ),
        (
            &["fire", "--as", "claude"],
            "--as",
            "use `forge-hooks fire --agent AGENT --other-agents AGENT`",
        ),
        (
            &["fire", "--as=claude"],
            "--as",
            "`forge-hooks fire --agent",
        ),
        (
            &["fire", "a:b", "--dry-run"],
            "--dry-run",
            "use `forge-hooks list EVENT`",
        ),
        (
            &["list", "--event", "a:b"],
            "--event",
            "use `forge-hooks list EVENT`",
        ),
    ] {
        let printed = user.run(args);
        let is_said = printed.err.contains(&format!("error: `{name}` is gone"));
        assert!(is_said && printed.err.contains(fix), "{printed:?}");
        assert_eq!(printed.status, 2, "{printed:?}");
    }
}

#[test]
fn init_writes_a_guard_of_commands_with_sudo() {
    let user = User::new();
    assert_eq!(user.run(&["init", "--global"]).status, 0);
    let blocked = [
        "sudo ls",
        "cd x && sudo ls",
        "(sudo ls)",
        "a; sudo b",
        "a | sudo tee x",
        "a\n\tsudo b",
        "A=1 sudo ls",
        "env X=1 sudo ls",
        "timeout -k 1 5 sudo ls",
        "ls | xargs -n 1 sudo rm",
        "if ! sudo ls; then x; fi",
        "for f in *; do sudo rm $f; done",
        "{ /usr/bin/sudo ls; }",
        "x=$(sudo cat y)",
        "bash -lc \"sudo ls\"",
        "sh -c 'sudo ls'",
    ];
    let passed = [
        "ls ~/sudoku",
        "./sudoku.sh; cd sudo",
        "git commit -m \"no sudo\"",
        "git commit -m 'docs: no sudo needed'",
        "grep sudo file",
        "grep -r \"sudo\" .",
        "grep -c 'sudo ls' file",
        "env | xargs grep sudo",
        "man sudo",
        "echo \"use sudo\"",
        "apt-get install -y sudo",
        "echo $SUDO_USER",
        // A long one, too.
        &"ls ~/sudoku; ".repeat(1200),
    ];
    let case = |command: &&str, expected: &str| json!({"name": command, "event": "tool:pre_execute", "tool": "bash", "args": {"command": command}, "expect": expected});
    let blocked = blocked.iter().map(|command| case(command, "block"));
    let passed = passed.iter().map(|command| case(command, "allow"));
    let cases = Value::from_iter(blocked.chain(passed));
    let cases = user.write("cases.json", &cases.to_string());
    let tested = user.run(&["test", cases.to_str().unwrap()]);
    assert_eq!(tested.status, 0, "{}", tested.out);
}

#[test]
fn init_says_who_reads_its_file() {
    let user = User::new();
    for (args, install) in [
        (&["init"][..], "forge-hooks install"),
        (&["init", "--global"], "forge-hooks install"),
        (
            &["--profile", "mygame", "init"],
            "forge-hooks --profile mygame install",
        ),
    ] {
        let printed = user.run(args).out;
        let expected = format!(
            "to guard an agent with it: `{install} claude` (or codex, gemini, copilot, qwen, kimi, opencode, kilo, pi, grok)\n"
        );
        assert!(printed.contains(&expected), "{printed}");
    }
}

/// A broken file is in the log once, and not at all where only names are needed.
#[test]
fn hooks_files_are_read_where_they_are_needed() {
    let user = User::with_project_file("{");
    user.write("trace.jsonl", "");
    for (args, times) in [
        (&["completions", "bash"][..], 0),
        (&["events"], 0),
        (&["trace", "trace.jsonl"], 0),
        (&["check"], 1),
        (&["fire", "session:start", "--no-global"], 1),
        (&["fire", "session:start"], 1),
    ] {
        let mut command = user.command(args);
        let printed = user.printed(command.env("RUST_LOG", "warn").output().unwrap());
        let warnings = printed.err.matches("[WARN ").count();
        assert_eq!(warnings, times, "{args:?} {printed:?}");
    }
}

#[test]
fn packs_are_written_beside_a_file_of_an_older_place() {
    for (global, older) in [
        (None, "project/.src/opencode/hooks.json"),
        (Some("--global"), "config/src/forge/hooks.json"),
    ] {
        let user = User::new();
        user.write(older, r#"{"hooks": []}"#);
        let init = user.run(&with(&["init"], global.as_slice()));
        assert!(init.err.contains("already exists"), "{init:?}");
        let project = global.map_or(&["--project", "."][..], |_| &[]);
        let added = user.run(&with(&["add", "git"], project));
        assert_eq!(added.status, 0, "{added:?}");
        let pack = older.replace("hooks.json", "hooks.d/git.json");
        assert!(user.read(&pack).contains("no_force_push"));
    }
}

/// A link that leads nowhere is a file too: all hooks are blocked until the user has looked at it.
#[cfg(unix)]
#[test]
fn init_writes_no_file_beside_a_link_to_nothing() {
    let user = User::new();
    let link = user
        .write("config/src/forge/x", "")
        .with_file_name("hooks.json");
    std::os::unix::fs::symlink("missing", link).unwrap();
    let init = user.run(&["init", "--global"]);
    assert!(init.err.contains("already exists"), "{init:?}");
    assert!(!user.path("config/forge-hooks").exists());
}

/// The files cannot be written, and the system's own error would name another reason.
#[test]
fn a_file_in_place_of_a_directory_is_named() {
    for (file, command) in [
        ("config/forge-hooks", &["init", "--global"][..]),
        ("config/forge-hooks", &["add", "git"]),
        ("config/forge-hooks/hooks.d", &["add", "git"]),
    ] {
        let user = User::new();
        user.write(file, "");
        let printed = user.run(command);
        let message = format!("`[DIR]/{file}` is no directory: rename or remove it");
        assert_eq!(printed.status, 2, "{printed:?}");
        assert!(printed.err.contains(&message), "{printed:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_removed_directory_is_named() {
    let user = User::new();
    for command in ["list", "init --global", "check x.json", "list --project ."] {
        let script = format!("mkdir gone; cd gone; rmdir ../gone; forge-hooks {command}");
        let printed = user.printed(user.shell(&script).output().unwrap());
        assert_eq!(printed.status, 2, "{printed:?}");
        let message = "error: the current directory was removed\n  fix: change to a directory that exists, with `cd`\n";
        assert_eq!(printed.out, message, "{command}");
    }
}

/// Each command that the program prints for a project runs as it was printed.
#[cfg(unix)]
#[test]
fn an_advised_command_can_be_pasted() {
    for name in [
        "a b",
        "it's",
        "$x `ls`",
        "a\\b \"c\"",
        "a\nb",
        "\u{202e}x",
        "-x",
    ] {
        let user = User::new();
        let hooks = r#"{"hooks": [{"event": "*", "command": "true"}]}"#;
        user.write(&format!("{name}/.forge-hooks/hooks.json"), hooks);
        let project = user.path(name);
        let advised = |args: &[&str], before: &str| {
            let printed = user.run(&with(args, &["--project", project.to_str().unwrap()]));
            let text = printed.out + &printed.err;
            let (_, rest) = text.split_once(before).unwrap();
            let command = rest.lines().next().unwrap().strip_suffix('`').unwrap();
            command.replace("[DIR]/", user.path("").to_str().unwrap())
        };
        let of_load = advised(&["fire", "session:start"], "to approve: `");
        let of_review = advised(&["list"], "review and approve with `");
        assert_eq!(of_load, of_review);
        let trusted = user.shell(&format!("{of_load} --yes")).output().unwrap();
        assert!(trusted.status.success(), "{of_load}: {trusted:?}");
    }
}

/// An approval of such a project cannot be written, so no command is advised that would fail.
#[cfg(target_os = "linux")]
#[test]
fn a_project_that_is_not_unicode_must_be_renamed() {
    use std::os::unix::ffi::OsStrExt;

    let user = User::new();
    let project = user
        .path("x")
        .with_file_name(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir_all(project.join(".forge-hooks")).unwrap();
    let said_in_project = |args: &[&str]| {
        let mut command = user.command(args);
        user.printed(command.current_dir(&project).output().unwrap())
    };
    let rename = "its path is not Unicode, which approvals need: rename it";
    std::fs::create_dir_all(user.path("config")).unwrap();
    let init = said_in_project(&["init"]);
    assert!(init.status == 2 && init.err.contains(rename), "{init:?}");
    let hooks = r#"{"hooks": [{"event": "*", "command": "true"}]}"#;
    std::fs::write(project.join(".forge-hooks/hooks.json"), hooks).unwrap();
    std::fs::create_dir_all(user.path("home/.claude")).unwrap();
    for command in ["list", "check", "trust"] {
        let printed = said_in_project(&[command]);
        let text = printed.out + &printed.err;
        assert!(text.contains(rename), "{command}: {text}");
        assert!(!text.contains("forge-hooks trust"), "{command}: {text}");
    }
}
