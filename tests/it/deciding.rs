//! The files that decide which hooks run: a host that asks before a tool writes there finds them in all forms of a path.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use forge_hooks::compat::OtherAgents;
use forge_hooks::config::TrustPolicy;
use forge_hooks::{AppProfile, Hooks};
use serde_json::{Value, json};

use crate::support::{World, run_alone};

const USER: &str = "home/.config/myagent/hooks.json";
const PROJECT: &str = "project/.myagent/hooks.json";

/// A host that loads no hooks of other agents.
fn host(world: &World) -> Hooks {
    Hooks::builder(AppProfile::new("myagent"))
        .config_home(world.path("home/.config"))
        .system_file(world.path("etc/myagent/hooks.json"))
        .other_agents(OtherAgents::default().with_home(world.path("home")))
        .project(world.path("project"))
        .trust(TrustPolicy::Everything)
        .load()
}

/// A world with a few other files.
fn world() -> World {
    let world = World::new();
    for name in ["home/notes.md", "project/src/main.rs", "etc/passwd"] {
        world.write(name, "");
    }
    world
}

fn write(world: &World, name: &str, hooks: &Value) {
    world.write(name, &json!({"hooks": hooks}).to_string());
}

#[track_caller]
fn check(hooks: &Hooks, path: impl AsRef<Path>, expected: bool) {
    let path = path.as_ref();
    assert_eq!(hooks.decides(path), expected, "{}", path.display());
}

/// Checks each path of a world, in each of its forms.
#[track_caller]
fn check_forms(world: &World, hooks: &Hooks, path: &str, expected: bool) {
    check(hooks, world.path(path), expected);
    let whole = world.directory().to_str().unwrap();
    let absolute = [
        format!("{whole}//./{path}"),
        format!("{whole}/project/../{path}"),
        format!("{whole}/project/src/../../home/./../{path}"),
    ];
    absolute
        .iter()
        .for_each(|path| check(hooks, path, expected));
    check(hooks, format!("../{path}"), expected);
    if let Some(below) = path.strip_prefix("project/") {
        check(hooks, below, expected);
        check(hooks, format!("./{below}"), expected);
        check(hooks, format!("src/../{below}"), expected);
    }
}

#[test]
fn the_files_of_all_scopes_and_agents_decide() {
    let world = world();
    let hooks = host(&world);
    for path in [
        USER,
        PROJECT,
        "etc/myagent/hooks.json",
        "home/.config/myagent/trust.json",
        "home/.config/myagent/trust.json.lock",
        "home/.config/myagent/hooks.d",
        "home/.config/myagent/hooks.d/10-more.json",
        "home/.config/myagent/hooks/deep/guard",
        "project/.myagent/hooks/guard.py",
        "project/.myagent/hooks.d/x",
        "etc/myagent/hooks/x",
        "home/.claude/settings.json",
        "home/.claude/settings.local.json",
        "home/.claude/hooks/guard.py",
        "project/.claude/settings.json",
        "project/.claude/settings.local.json",
        "home/.codex/hooks.json",
        "project/.codex/config.toml",
        "home/.gemini/settings.json",
        "home/.claude.json",
        "project/.mcp.json",
        "project/.claude/skills/new/SKILL.md",
        "home/.copilot/hooks/new.json",
        "home/.copilot/settings.json",
        "project/.github/hooks/deep/new.json",
        "project/.github/copilot/settings.local.json",
        "home/.gemini/extensions/other/hooks/hooks.json",
        "project/.gemini/extensions/new",
        // As a whole.
        "project/.myagent",
        "project",
        "home/.config",
        "home",
    ] {
        check_forms(&world, &hooks, path, true);
    }
    for path in [
        "home/notes.md",
        "home/.config/myagent/hooks.json.bak",
        "home/.config/myagent/hooks.jso",
        "home/.config/myagent/hooksd/x",
        "home/.config/myagent/hooks.data",
        "home/.config/otheragent/hooks.json",
        "home/.claude/todo.json",
        "home/.claude/settings.jsonc",
        "home/hooks.json",
        "project/hooks.json",
        "project/.myagent2/hooks.json",
        "project/.myagent/notes.md",
        "project/src/main.rs",
        "project/src",
        "project/src/hooks/x",
        "project/src/.claude/settings.json",
        "etc/passwd",
    ] {
        check_forms(&world, &hooks, path, false);
    }
    check(&hooks, "/", true);
    check(&hooks, "", true);
    check(&hooks, ".", true);
}

#[test]
fn what_hooks_name_decides() {
    let world = world();
    world.script("home/bin/guard", "#!/bin/sh\n");
    world.write("home/lib/check", "print()");
    world.write("home/lib/rules.json", "{}");
    world.write("project/tools/data.txt", "");
    world.write("project/lint.md", "");
    world.script("project/python3", "#!/bin/sh\n");
    let at = |name: &str| world.path(name).to_str().unwrap().to_owned();
    let user = json!([
        {"event": "*", "command": format!("{} --strict", at("home/bin/guard"))},
        {"event": "*", "args": ["/usr/bin/python3", at("home/lib/check")], "inputs": [at("home/lib/rules.json")]},
        {"event": "*", "command": format!("sh -c 'exec {}'", at("home/bin/later.sh"))},
        {"event": "*", "command": "/bin/sh -c 'jq . /dev/null'", "enabled": false},
    ]);
    write(&world, USER, &user);
    let project = json!([
        {"event": "*", "command": "bash tools/lint.sh < tools/data.txt"},
        {"event": "*", "command": "cd tools && ./deep.sh"},
        {"event": "*", "command": "grep -q '[key]' && grep -qE \"[a-z]+\""},
    ]);
    write(&world, PROJECT, &project);
    world.script("project/tools/deep.sh", "");
    let hooks = host(&world);
    for path in [
        "home/bin/guard",
        "home/bin",
        "home/lib/check",
        "home/lib/rules.json",
        "home/bin/later.sh",
        "project/tools/lint.sh",
        "project/tools/deep.sh",
        "project/tools",
    ] {
        check_forms(&world, &hooks, path, true);
    }
    for path in [
        "home/bin/guard2",
        "home/bin/guard/x",
        "home/lib/other",
        "project/tools/other.sh",
        "project/lint.md",
    ] {
        check_forms(&world, &hooks, path, false);
    }
    for path in [
        "/bin/sh",
        "/usr/bin/python3",
        "/usr/bin/env",
        "/usr/bin",
        "/dev/null",
    ] {
        check(&hooks, path, false);
    }
}

/// A host may have relative directories.
#[test]
fn a_relative_directory_of_the_configuration_is_protected_in_all_forms() {
    let world = world();
    let here = std::env::current_dir().unwrap();
    let up: std::path::PathBuf = here.components().skip(1).map(|_| "..").collect();
    let home = world.path("home/.config");
    let relative = up.join(home.strip_prefix("/").unwrap());
    let builder = Hooks::builder(AppProfile::new("myagent")).config_home(&relative);
    let hooks = builder.load();
    for path in [
        home.join("myagent/hooks.json"),
        relative.join("myagent/hooks.json"),
        home.join("myagent"),
    ] {
        check(&hooks, path, true);
    }
    check(&hooks, home.join("myagent/notes.md"), false);
}

#[test]
fn a_change_of_the_hooks_is_seen() {
    let world = world();
    let hooks = host(&world);
    let script = world.path("home/guard.sh");
    check(&hooks, &script, false);
    write(
        &world,
        USER,
        &json!([{"event": "*", "args": ["sh", script]}]),
    );
    let _ = hooks.reload();
    check(&hooks, &script, true);
    fs::remove_file(world.path(USER)).unwrap();
    let _ = hooks.reload();
    check(&hooks, &script, false);
    check(&hooks, world.path(USER), true);
}

#[test]
fn links_are_seen_through() {
    let world = world();
    // As those of people who keep their settings in a repository.
    world.write("dotfiles/config/myagent/hooks.json", r#"{"hooks": []}"#);
    symlink(world.path("dotfiles/config"), world.path("home/.config")).unwrap();
    fs::create_dir(world.path("project/.myagent")).unwrap();
    symlink("../real/hooks.json", world.path(PROJECT)).unwrap();
    symlink("../home", world.path("project/linked")).unwrap();
    symlink(
        "linked/.config/myagent/hooks.json",
        world.path("project/innocent"),
    )
    .unwrap();
    symlink(
        "linked/.claude/settings.json",
        world.path("project/to-nothing"),
    )
    .unwrap();
    symlink("src", world.path("project/sources")).unwrap();
    symlink("loop", world.path("project/loop")).unwrap();
    let hooks = host(&world);
    for path in [
        USER,
        "dotfiles/config/myagent/hooks.json",
        "dotfiles/config/myagent/hooks/x",
        "dotfiles/config",
        "dotfiles",
        PROJECT,
        "project/real/hooks.json",
        "project/real",
        "project/linked/.config/myagent/hooks.json",
        "project/linked/.codex/hooks.json",
        "project/innocent",
        "project/to-nothing",
        "project/linked",
    ] {
        check(&hooks, world.path(path), true);
    }
    for path in [
        "dotfiles/config/other",
        "project/real/other",
        "project/linked/notes.md",
        "project/sources/main.rs",
        "project/sources/../src/new.rs",
    ] {
        check(&hooks, world.path(path), false);
    }
    // By its text, and where the link leads: programs differ.
    check(&hooks, "linked/../.myagent/hooks.json", true);
    check(&hooks, "sources/../.myagent/hooks.json", true);
    // It is not known where these lead.
    for path in [
        "loop",
        "missing/../notes.md",
        "/proc/self/cwd/notes.md",
        "a\0b",
    ] {
        check(&hooks, path, true);
    }
    check(&hooks, "x".repeat(4097), true);
    check(&hooks, "x".repeat(200), false);
}

#[test]
fn a_hard_link_is_the_same_file() {
    let world = world();
    write(
        &world,
        USER,
        &json!([{"event": "*", "args": ["sh", world.path("guard.sh")]}]),
    );
    world.write("guard.sh", "");
    world.write("home/.config/myagent/hooks/deep/check", "");
    let hooks = host(&world);
    for (name, file) in [
        ("one", USER),
        ("two", "guard.sh"),
        ("three", "home/.config/myagent/hooks/deep/check"),
    ] {
        let link = world.path(&format!("project/{name}"));
        fs::hard_link(world.path(file), &link).unwrap();
        check(&hooks, &link, true);
        check(&hooks, name, true);
    }
    let notes = world.path("project/notes");
    fs::hard_link(world.path("home/notes.md"), &notes).unwrap();
    check(&hooks, &notes, false);
}

#[test]
fn the_plugins_of_a_host_decide() {
    let world = world();
    let tools = OtherAgents::default().with_home(world.path("home"));
    let tools = tools
        .with_plugin(world.path("plugins/guards"))
        .with_plugin(world.path("project"));
    let hooks = Hooks::builder(AppProfile::new("myagent"))
        .config_home(world.path("home/.config"))
        .other_agents(tools)
        .project(world.path("project"))
        .load();
    check(&hooks, world.path("plugins/guards/lib/check.py"), true);
    check(&hooks, world.path("project/hooks/hooks.json"), true);
    check(&hooks, world.path("plugins/other/x"), false);
    // The project is the plugin: then its sources are no part of it.
    check(&hooks, world.path("project/src/main.rs"), false);
}

#[test]
fn the_home_directory_has_a_short_name() {
    const TEST: &str = "deciding::the_home_directory_has_a_short_name";
    let Some(home) = std::env::var_os("FORGE_HOOKS_TEST_HOME") else {
        let world = World::new();
        world.script("bin/guard.sh", "#!/bin/sh\n");
        let command = r#"~/bin/guard.sh && "$HOME/bin/check.sh""#;
        let file = ".config/myagent/hooks.json";
        write(&world, file, &json!([{"event": "*", "command": command}]));
        return run_alone(TEST, |command| {
            let home = world.directory();
            let command = command.env("HOME", home).env_remove("XDG_CONFIG_HOME");
            command.env("FORGE_HOOKS_TEST_HOME", home)
        });
    };
    let hooks = Hooks::builder(AppProfile::new("myagent")).load();
    for (path, expected) in [
        ("~/.config/myagent/hooks.json", true),
        ("~/.config/../.claude/settings.json", true),
        ("~/bin/guard.sh", true),
        ("~/bin/check.sh", true),
        ("~", true),
        ("~/notes.md", false),
        ("./~/.claude/settings.jso", false),
    ] {
        check(&hooks, path, expected);
        if let Some(rest) = path.strip_prefix("~/") {
            check(&hooks, Path::new(&home).join(rest), expected);
        }
    }
}
