//! `validate`, `list`, `init`, `templates`: hooks files looked at and written.

use serde_json::Value;

use super::{GUARDED, User};

const BROKEN: &str = r#"{
  "hooks": [
    {"event": "tool:pre_exec", "command": "true"},
    {"event": "tool:*", "command": "true", "timeout": "5", "naem": "x"}
  ]
}
"#;

const DOUBTFUL: &str = r#"{"hooks": [{"event": "tool:pre_exec", "command": "true"}]}"#;

#[test]
fn validate_draws_each_problem() {
    let user = User::with_project_file(BROKEN);
    user.run(&["validate"]).is_as_in("validate.txt");
    let doubtful = user.write("doubtful.json", DOUBTFUL);
    let doubtful = doubtful.to_str().unwrap();
    let good = user.write("good.json", GUARDED);
    let good = good.to_str().unwrap();
    let cases: [(&[&str], i32); 7] = [
        (&["validate", good], 0),
        (&["validate", "--strict", good], 0),
        (&["validate", doubtful], 0),
        (&["validate", "--strict", good, doubtful], 1),
        (&["validate", good, "../missing.json"], 1),
        (&["validate", "--config", good], 0),
        (&["validate", "--config", "missing.json"], 2),
    ];
    for (args, status) in cases {
        let printed = user.run(args);
        assert_eq!(printed.status, status, "{args:?}: {printed:?}");
    }
}

#[test]
fn validate_reads_standard_input() {
    let user = User::new();
    let printed = user.run_with_input(&["validate", "-"], BROKEN);
    assert_eq!(printed.status, 1);
    assert!(printed.out.contains("--> standard input:"), "{printed:?}");
    assert_eq!(user.run_with_input(&["validate", "-"], GUARDED).status, 0);
    let printed = user.run_with_input(&["validate", "-"], r#"{"hooks": {"PreToolUse": []}}"#);
    let note = "note: standard input was read as settings of Claude Code\n1 file: 0 errors";
    assert!(printed.out.starts_with(note), "{printed:?}");
}

#[test]
fn validate_without_a_file_lists_the_paths() {
    let printed = User::new().run(&["validate"]);
    assert_eq!(printed.status, 2);
    let words = "found no hooks file, such as `[DIR]/config/src/forge/hooks.json` \
        or `.src/forge/hooks.json`\n";
    assert!(printed.err.contains(words), "{printed:?}");
    assert!(printed.err.contains("forge-hooks init"), "{printed:?}");
}

#[test]
fn list_shows_position_and_state() {
    let user = User::with_project_file(GUARDED);
    let global = r#"{
  "disable": ["unwanted"],
  "hooks": [
    {"event": "session:*", "command": "true", "enabled": false, "description": "Rests"},
    {"event": "session:*", "args": ["true", "x"], "name": "unwanted"},
    {"event": "session:*", "args": []},
    {"event": "*", "command": "echo\nhello", "inherit": [], "when": {"/a": "x*", "/b": ["y", "z"]}}
  ]
}
"#;
    user.write("config/src/forge/hooks.json", global);
    user.run(&["list"]).is_as_in("list.txt");
    let states = |args: &[&str]| {
        let list = user.run(args).json();
        let states = list["hooks"].as_array().unwrap().iter();
        let state = |hook: &Value| hook["state"].as_str().unwrap().to_owned();
        states.map(state).collect::<Vec<_>>().join(" ")
    };
    let all = "disabled disabled_by_name unusable enabled not_approved not_approved";
    assert_eq!(states(&["list", "--json"]), all);
    let cases: [(&[&str], &str); 4] = [
        (
            &["list", "--json", "--no-global"],
            "not_approved not_approved",
        ),
        (
            &["list", "--json", "--event", "tool:error"],
            "enabled not_approved",
        ),
        (
            &["list", "--json", "--tool", "bash"],
            "enabled not_approved not_approved",
        ),
        (
            &[
                "list",
                "--json",
                "--event",
                "tool:pre_execute",
                "--tool",
                "x",
            ],
            "enabled not_approved",
        ),
    ];
    for (args, expected) in cases {
        assert_eq!(states(args), expected, "{args:?}");
    }
}

#[test]
fn named_files_need_no_approval() {
    let user = User::with_project_file(r#"{"hooks": [{"event": "*", "command": "exit 1"}]}"#);
    user.write("project/one.json", GUARDED);
    user.write(
        "two.json",
        r#"{"hooks": [{"event": "*", "command": "true"}]}"#,
    );
    let list = user.run(&[
        "list",
        "--json",
        "--config",
        "one.json",
        "--config=../two.json",
    ]);
    let list = list.json();
    let files: Vec<_> = list["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["file"])
        .collect();
    let (one, two) = ("[DIR]/project/one.json", "[DIR]/project/../two.json");
    assert_eq!(files, [one, one, two]);
    assert!(
        list["hooks"]
            .as_array()
            .unwrap()
            .iter()
            .all(|it| it["state"] == "enabled")
    );
}

#[test]
fn init_never_overwrites_a_file() {
    for (args, path) in [
        (&["init"][..], "project/.src/forge/hooks.json"),
        (&["init", "--global"], "config/src/forge/hooks.json"),
    ] {
        let user = User::new();
        let printed = user.run(args);
        assert_eq!(printed.status, 0, "{printed:?}");
        let words = format!(
            "wrote [DIR]/{path}\neditors use hooks.schema.json for completion\nhosts called `forge` read it; "
        );
        assert!(printed.out.starts_with(&words), "{printed:?}");
        let checked = user.run(&["validate", "--strict"]);
        assert_eq!(checked.status, 0, "{checked:?}");
        let content: Value = serde_json::from_str(&user.read(path)).unwrap();
        assert_eq!(content["$schema"], "./hooks.schema.json");
        let schema = path.replace("hooks.json", "hooks.schema.json");
        let schema = serde_json::from_str(&user.read(&schema)).unwrap();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        assert!(validator.is_valid(&content), "{content:#}");

        user.write(path, "mine");
        let again = user.run(args);
        assert_eq!((again.status, user.read(path).as_str()), (2, "mine"));
        assert!(again.err.contains(path), "{again:?}");
        let fix = args.join(" ").replace("init", "templates NAME --add") + "`";
        assert!(again.err.contains(&fix), "{again:?}");
    }
}

#[test]
fn other_files_are_refused_where_useless() {
    let user = User::with_project_file(GUARDED);
    let other = user.write("project/other.json", r#"{"hooks": []}"#);
    for args in [
        &["init"][..],
        &["templates", "log_all", "--add"],
        &["trust", "--yes"],
        &["untrust", "--yes"],
    ] {
        let mut args = args.to_vec();
        args.extend(["--config", other.to_str().unwrap()]);
        let printed = user.run(&args);
        printed.is_refused("leave `--config` out");
    }
    assert_eq!(user.read("project/.src/forge/hooks.json"), GUARDED);
}

#[test]
fn templates_are_added_at_the_end() {
    let user = User::with_project_file(GUARDED);
    user.run(&["templates"]).is_as_in("templates.txt");
    let shown = user.run(&["templates", "block_sudo"]).json();
    assert_eq!(shown["name"], "block_sudo");
    let added = user.run(&["templates", "block_sudo", "--add"]);
    assert_eq!(added.status, 0, "{added:?}");
    let content: Value = serde_json::from_str(&user.read("project/.src/forge/hooks.json")).unwrap();
    assert_eq!(
        (&content["hooks"][0]["name"], &content["hooks"][2]),
        (&"guard".into(), &shown)
    );
    assert_eq!(user.run(&["templates", "block_sudo", "--add"]).status, 2);
    assert_eq!(
        user.run(&["templates", "block_sudo", "--add", "--global"])
            .status,
        0
    );
    let unknown = user.run(&["templates", "block_sud"]);
    assert_eq!(unknown.status, 2);
    assert!(
        unknown.err.contains("block_sudo, git_auto_commit"),
        "{unknown:?}"
    );
}

/// Lists the hooks from this directory, and returns their files.
fn listed_from(user: &User, directory: &str) -> Vec<String> {
    std::fs::create_dir_all(user.path(directory)).unwrap();
    let mut list = user.command(&["list", "--json"]);
    let printed = user.printed(list.current_dir(user.path(directory)).output().unwrap());
    let files = printed.json()["files"].clone();
    serde_json::from_value(files).unwrap()
}

#[test]
fn the_project_is_found_from_below() {
    let user = User::with_project_file(GUARDED);
    let below = "project/package/src";
    assert_eq!(listed_from(&user, below), [""; 0]);
    std::fs::create_dir(user.path("project/.git")).unwrap();
    let expected = ["[DIR]/project/.src/forge/hooks.json"];
    assert_eq!(listed_from(&user, below), expected);
}

#[test]
fn the_users_home_is_no_project() {
    let user = User::new();
    user.write("home/.src/forge/hooks.json", GUARDED);
    user.write("home/.git/HEAD", "");
    assert_eq!(listed_from(&user, "home/notes"), [""; 0]);
    user.write("home/notes/.src/forge/hooks.json", GUARDED);
    let expected = ["[DIR]/home/notes/.src/forge/hooks.json"];
    assert_eq!(listed_from(&user, "home/notes"), expected);
}

#[test]
fn templates_added_at_once_all_arrive() {
    let names = [
        "block_sudo",
        "git_auto_commit",
        "log_all",
        "notify_session_start",
    ];
    for global in [None, Some("--global")] {
        for _ in 0..5 {
            let user = User::new();
            let args = names.map(|name| {
                let mut args = vec!["templates", name, "--add"];
                args.extend(global);
                args
            });
            let args: Vec<&[&str]> = args.iter().map(Vec::as_slice).collect();
            for printed in user.run_at_once(&args) {
                assert_eq!(printed.status, 0, "{printed:?}");
            }
            let text = user.read(match global {
                None => "project/.src/forge/hooks.json",
                Some(_) => "config/src/forge/hooks.json",
            });
            for name in names {
                assert!(text.contains(&format!("\"{name}\"")), "{name}: {text}");
            }
        }
    }
}

#[test]
fn a_template_added_during_init_is_not_lost() {
    for _ in 0..10 {
        let user = User::new();
        let [init, add] = &user.run_at_once(&[&["init"], &["templates", "log_all", "--add"]])[..]
        else {
            panic!("two commands");
        };
        assert_eq!(add.status, 0, "{add:?}");
        let text = user.read("project/.src/forge/hooks.json");
        assert!(text.contains("\"log_all\""), "{init:?} {text}");
        assert_eq!(
            text.contains("\"session_log\""),
            init.status == 0,
            "{init:?}"
        );
    }
}
