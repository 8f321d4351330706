//! What is found, in which order, and what becomes of the keys of a handler.

use std::time::Duration;

use forge_hooks::config::{Severity, TrustPolicy};
use forge_hooks::hook::{HookCommand, Shell};
use forge_hooks::{AppProfile, FailurePolicy, HookConfig, HookEvent, Hooks, compat};
use proptest::prelude::*;
use serde_json::json;

use super::{Place, command, one, settings};

#[test]
fn files_are_read_in_order_native_first() {
    let claude = |text| settings("PreToolUse", "Bash", &command(text));
    let gemini = |text| settings("BeforeTool", "", &command(text));
    let place = Place::new([
        ("home/.claude/settings.json", &claude("claude user") as &str),
        ("home/.codex/hooks.json", &claude("codex user")),
        ("home/.gemini/settings.json", &gemini("gemini user")),
        (
            "home/.gemini/extensions/b/hooks/hooks.json",
            &gemini("gemini b"),
        ),
        (
            "home/.gemini/extensions/a/hooks/hooks.json",
            &gemini("gemini a"),
        ),
        ("project/.claude/settings.json", &claude("claude project")),
        (
            "project/.claude/settings.local.json",
            &claude("claude local"),
        ),
        ("project/.codex/hooks.json", &claude("codex project")),
        ("project/.gemini/settings.json", &gemini("gemini project")),
        ("plugin/hooks/hooks.json", &claude("plugin")),
        (
            "project/.src/forge/hooks.json",
            r#"{"hooks": [{"event": "tool:pre_execute", "command": "native"}]}"#,
        ),
    ]);
    let tools = place.tools().with_plugin(place.world.path("plugin"));
    let config = place.config_with(tools);
    let report = place.load_with(&config, TrustPolicy::Everything);
    assert!(report.problems.is_empty(), "{report:?}");
    let expected = [
        "native",
        "claude user",
        "codex user",
        "gemini user",
        "gemini a",
        "gemini b",
        "claude project",
        "claude local",
        "codex project",
        "gemini project",
        "plugin",
    ];
    assert_eq!(place.commands(), expected);
    assert_eq!((report.loaded, report.files.len()), (11, 11));
    let hooks = place.world.registry().hooks();
    let protocols = [0, 1, 2, 3, 10].map(|index| hooks[index].protocol_name());
    assert_eq!(protocols, ["native", "claude", "codex", "gemini", "claude"]);
    assert_eq!(hooks[6].base_dir(), Some(&*place.root()));
    assert_eq!(hooks[1].base_dir(), None);
}

#[test]
fn only_the_named_tools_are_loaded() {
    let text = settings("PreToolUse", "Bash", &command("x"));
    let place = Place::new([
        ("project/.claude/settings.json", text.as_str()),
        ("project/.codex/hooks.json", &text),
    ]);
    let config = place.config_with(place.tools().with_tools([compat::CODEX]));
    let _ = place.load_with(&config, TrustPolicy::Everything);
    let hooks = place.world.registry().hooks();
    assert_eq!(hooks.len(), 1);
    assert_eq!(hooks[0].protocol_name(), "codex");
}

#[test]
fn a_home_that_is_the_project_is_read_once() {
    let text = settings("PreToolUse", "Bash", &command("x"));
    let place = Place::new([("project/.claude/settings.json", text.as_str())]);
    let config = place.config_with(place.tools().with_home(place.root()));
    let _ = place.load_with(&config, TrustPolicy::Everything);
    assert_eq!(place.commands(), ["x"]);
    assert_eq!(place.world.registry().hooks()[0].base_dir(), None);
}

#[test]
fn plugins_are_known_by_their_manifests() {
    let place = Place::new([
        ("a/gemini-extension.json", "{}"),
        (
            "a/hooks/hooks.json",
            &settings("BeforeTool", "", &command("gemini")) as &str,
        ),
        (
            "b/.claude-plugin/plugin.json",
            &settings("Stop", "", &command("manifest")),
        ),
        (
            "b/hooks/hooks.json",
            &settings("Stop", "", &command("claude")),
        ),
    ]);
    let mut tools = place.tools().with_tools([]);
    for plugin in ["a", "b", "c"] {
        tools = tools.with_plugin(place.world.path(plugin));
    }
    let report = place.load_with(&place.config_with(tools), TrustPolicy::Everything);
    assert_eq!(place.commands(), ["gemini", "manifest", "claude"]);
    let expected = ["error: c: the path is not a directory, expected the directory of a plugin"];
    assert_eq!(place.problems(&report), expected);
    let entry = place.world.registry().hooks()[0].to_json();
    let plugin_root = &entry["protocol"]["definition"]["plugin_root"];
    assert_eq!(*plugin_root, json!(place.world.path("a")));
}

#[test]
fn a_host_names_the_tools_when_it_loads() {
    let user = settings("PreToolUse", "Bash", &command("true"));
    let place = Place::new([
        ("home/.claude/settings.json", user.as_str()),
        (
            "plugin/hooks/hooks.json",
            &settings("Stop", "", &command("true")),
        ),
        ("project/.claude/settings.json", &user),
    ]);
    let tools = place.tools().with_tools([compat::CLAUDE]);
    let hooks = Hooks::builder(AppProfile::default())
        .config_home(place.world.path("config"))
        .project(place.root())
        .other_tools(tools.with_plugin(place.world.path("plugin")))
        .load();
    let registered = hooks.registry().hooks();
    let names: Vec<_> = registered.iter().map(|hook| hook.label()).collect();
    assert_eq!(names, ["PreToolUse", "PreToolUse", "Stop"]);
    let report = hooks.report();
    assert_eq!(report.unapproved, ["PreToolUse"]);
    assert_eq!(
        report.problems[0].path,
        place.world.path("project/.claude/settings.json")
    );
}

#[test]
fn a_manifest_can_name_its_hooks_files() {
    let manifest = r#"{"name": "p", "hooks": ["./hooks/hooks.json", "./more.json", "../x.json"]}"#;
    let place = Place::new([
        ("p/.claude-plugin/plugin.json", manifest),
        (
            "p/hooks/hooks.json",
            &settings("Stop", "", &command("usual")),
        ),
        ("p/more.json", &settings("Stop", "", &command("more"))),
        ("x.json", &settings("Stop", "", &command("outside"))),
    ]);
    let tools = place.tools().with_plugin(place.world.path("p"));
    let config = place.config_with(tools);
    let report = place.load_with(&config, TrustPolicy::Everything);
    assert_eq!(place.commands(), ["usual", "more"]);
    let expected = "error: p/.claude-plugin/plugin.json: the manifest names `../x.json`, which is not a file of the plugin";
    assert_eq!(place.problems(&report), [expected]);
}

#[test]
fn a_handler_has_its_tools_defaults() {
    let hook = one(&command("guard.sh"));
    assert_eq!(hook.event_pattern(), "tool:pre_execute");
    assert_eq!(hook.timeout(), Duration::from_secs(600));
    assert_eq!(hook.on_failure(), FailurePolicy::Continue);
    assert!(!hook.background());
    let shell = None;
    let text = "guard.sh".to_owned();
    assert_eq!(*hook.command(), HookCommand::Shell { text, shell });
}

#[test]
fn the_keys_of_a_handler_are_read() {
    let hook = one(
        r#"{"type": "command", "command": "a b", "args": ["${CLAUDE_PROJECT_DIR}", "c d"], "timeout": 5,
            "async": true, "onFailure": "block", "statusMessage": "Looking", "if": "Bash(git *)", "once": true}"#,
    );
    let words = ["a b", "${CLAUDE_PROJECT_DIR}", "c d"].map(str::to_owned);
    assert_eq!(*hook.command(), HookCommand::Program(words.to_vec()));
    assert_eq!(hook.timeout(), Duration::from_secs(5));
    assert_eq!(hook.on_failure(), FailurePolicy::Block);
    assert!(hook.background());
    assert_eq!(hook.label(), "Looking");
}

#[test]
fn a_rule_and_a_matcher_are_conditions() {
    let hook = one(r#"{"type": "command", "command": "x", "if": "Bash(git *)"}"#);
    let bash = |text| HookEvent::tool_pre_execute("bash", json!({"command": text}));
    assert!(hook.matches(&bash("cd x && git push"), true));
    assert!(!hook.matches(&bash("ls"), true));
    let edit = HookEvent::tool_pre_execute("edit", json!({}));
    let mismatches = hook.mismatches(&edit, true);
    assert_eq!(mismatches.len(), 1);
    assert_eq!(mismatches[0].alternative, "matcher");
    assert_eq!(mismatches[0].found.as_deref(), Some("Edit"));
}

#[test]
fn a_shell_can_be_named() {
    let powershell = one(r#"{"type": "command", "command": "x", "shell": "powershell"}"#);
    let shell = Some(Shell::Pwsh);
    let text = "x".to_owned();
    assert_eq!(*powershell.command(), HookCommand::Shell { text, shell });
}

#[test]
fn timeouts_have_the_tools_unit_and_default() {
    let handler =
        r#"{"type": "command", "command": "x", "timeout": 5000, "name": "n", "env": {"A": "1"}}"#;
    let bare = command("x");
    for (file, event, handler, seconds) in [
        (".gemini/settings.json", "BeforeTool", handler, 5.0),
        (".gemini/settings.json", "BeforeTool", &bare, 60.0),
        (".claude/settings.json", "PreToolUse", handler, 5000.0),
        (".claude/settings.json", "UserPromptSubmit", &bare, 30.0),
        (".claude/settings.json", "SessionEnd", &bare, 1.5),
        (".claude/settings.json", "PreModelSwitch", &bare, 30.0),
        (".codex/hooks.json", "Stop", &bare, 600.0),
        (".codex/hooks.json", "SessionEnd", &bare, 1.0),
        (".codex/hooks.json", "SessionEnd", handler, 3.0),
        (".codex/hooks.json", "Interrupt", &bare, 600.0),
    ] {
        let place = Place::new([]);
        place
            .world
            .write(&format!("project/{file}"), &settings(event, "", handler));
        let _ = place.load();
        let hooks = place.world.registry().hooks();
        assert_eq!(
            hooks[0].timeout(),
            Duration::from_secs_f64(seconds),
            "{file}"
        );
        let is_gemini = hooks[0].protocol_name() == "gemini" && handler.contains("env");
        assert_eq!(hooks[0].name(), is_gemini.then_some("n"));
        assert_eq!(hooks[0].env().contains_key("A"), is_gemini);
    }
}

#[test]
fn events_are_those_of_this_crate() {
    for (event, ours) in [
        ("PostToolUseFailure", "tool:error"),
        ("PermissionRequest", "permission:prompt"),
        ("Stop", "agent:stop"),
        ("SubagentStart", "agent:subagent_start"),
        ("PreCompact", "context:pre_compact"),
        ("Notification", "notification:show"),
        ("PreModelSwitch", "model:pre_switch"),
        ("PostModelSwitch", "model:post_switch"),
        ("DirectoryAdded", "session:directory_added"),
        ("UserPromptExpansion", "user:prompt_expansion"),
    ] {
        let text = settings(event, "", &command("x"));
        let place = Place::new([("project/.claude/settings.json", text.as_str())]);
        let _ = place.load();
        assert_eq!(place.world.registry().hooks()[0].event_pattern(), ours);
    }
}

#[test]
fn a_host_can_name_its_tools() {
    let text = settings("PreToolUse", "Bash", &command("x"));
    let place = Place::new([("project/.claude/settings.json", text.as_str())]);
    let tools = place.tools();
    let config = place.config_with(tools.with_tool_alias(compat::CLAUDE, "run", "Bash"));
    let _ = place.load_with(&config, TrustPolicy::Everything);
    let hook = &place.world.registry().hooks()[0];
    assert!(hook.matches(&HookEvent::tool_pre_execute("run", json!({})), true));
    assert!(!hook.matches(&HookEvent::tool_pre_execute("other", json!({})), true));
}

#[test]
fn hooks_that_are_switched_off_do_not_run() {
    let off = |text: &str, switch: &str| text.replacen('{', &format!("{{{switch}, "), 1);
    let claude = settings("PreToolUse", "", &command("x"));
    let all = off(&claude, r#""disableAllHooks": true"#);
    let enabled = |files: [(&str, &str); 2]| {
        let place = Place::new(files);
        let _ = place.load();
        let hooks = place.world.registry().hooks();
        hooks.iter().map(|hook| hook.enabled()).collect::<Vec<_>>()
    };
    let (home, project) = (
        "home/.claude/settings.json",
        "project/.claude/settings.json",
    );
    assert_eq!(enabled([(home, &all), (project, &claude)]), [false, false]);
    assert_eq!(enabled([(home, &claude), (project, &all)]), [true, false]);
    let nameless = off(&claude, r#""": true"#);
    assert_eq!(enabled([(home, &claude), (project, &nameless)]), [true; 2]);
    // The file that is not shared switches off what is, not the other way round.
    let local = "project/.claude/settings.local.json";
    assert_eq!(enabled([(project, &claude), (local, &all)]), [false, false]);
    assert_eq!(enabled([(project, &all), (local, &claude)]), [false, true]);
    let gemini = r#"{"hooksConfig": {"disabled": ["n", "y"]}, "hooks": {"enabled": true, "BeforeTool": [{"hooks": [
        {"type": "command", "command": "x", "name": "n"}, {"type": "command", "command": "y"}, {"type": "command", "command": "z"}]}]}}"#;
    let file = "project/.gemini/settings.json";
    assert_eq!(
        enabled([(file, gemini), (home, "{}")]),
        [false, false, true]
    );
    let none = gemini.replace("{\"disabled\"", "{\"enabled\": false, \"disabled\"");
    assert_eq!(
        enabled([(file, &none), (home, "{}")]),
        [false, false, false]
    );
}

#[test]
fn a_plugin_switches_nothing_off() {
    let off = r#"{"disableAllHooks": true, "hooksConfig": {"enabled": false}, "hooks": {}}"#;
    let place = Place::new([
        (
            "home/.claude/settings.json",
            &settings("Stop", "", &command("claude")) as &str,
        ),
        (
            "home/.gemini/settings.json",
            &settings("BeforeTool", "", &command("gemini")),
        ),
        ("plugin/.claude-plugin/plugin.json", off),
        ("plugin/hooks/hooks.json", off),
        ("home/.gemini/extensions/a/hooks/hooks.json", off),
        ("project/.gemini/extensions/a/hooks/hooks.json", off),
    ]);
    let plugin = place.world.path("plugin");
    for tools in [
        place.tools().with_plugin(&plugin),
        place.tools().with_settings(compat::CLAUDE, &plugin),
    ] {
        let _ = place.load_with(&place.config_with(tools), TrustPolicy::Everything);
        let hooks = place.world.registry().hooks();
        assert_eq!(hooks.len(), 2);
        assert!(hooks.iter().all(|hook| hook.enabled()));
    }
}

#[test]
fn a_projects_file_that_is_named_switches_off_the_projects_hooks_only() {
    let off = r#"{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "own"}]}]}}"#;
    let file = "project/.claude/settings.json";
    let users = settings("Stop", "", &command("user"));
    let place = Place::new([(file, off), ("home/.claude/settings.json", users.as_str())]);
    let named = place.world.path(file);
    let tools = place.tools().with_settings(compat::CLAUDE, named);
    let _ = place.load_with(&place.config_with(tools), TrustPolicy::Everything);
    let hooks = place.world.registry().hooks();
    let enabled = hooks.iter().map(|hook| hook.enabled());
    assert_eq!(place.commands(), ["user", "own"]);
    assert_eq!(enabled.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_file_may_be_named_for_two_tools() {
    let place = Place::new([(
        "named.json",
        settings("PreToolUse", "", &command("x")).as_str(),
    )]);
    let named = place.world.path("named.json");
    let tools = place.tools().with_settings(compat::GEMINI, &named);
    let tools = tools.with_settings(compat::CLAUDE, &named);
    let _ = place.load_with(&place.config_with(tools), TrustPolicy::Everything);
    assert_eq!(place.commands(), ["x"]);
}

#[cfg(unix)]
#[test]
fn a_named_file_that_cannot_be_read_blocks_if_strict() {
    let place = Place::new([]);
    let named = place.world.path(&"x".repeat(300));
    let tools = place.tools().with_settings(compat::CLAUDE, named);
    let config = place.config_with(tools.with_strict_guards());
    let report = place.load_with(&config, TrustPolicy::Everything);
    assert!(
        report.problems[0].message.contains("cannot be read"),
        "{report:?}"
    );
    let event = HookEvent::tool_pre_execute("bash", json!({}));
    assert!(!place.world.outcome(&event).allowed());
}

#[test]
fn unusable_entries_block_with_strict_guards() {
    let text = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "prompt", "prompt": "?"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "exit 1"}]}]}}"#;
    let place = Place::new([("project/.claude/settings.json", text)]);
    let _ = place.load();
    assert_eq!(place.world.registry().len(), 1);
    let strict = |place: &Place| place.config_with(place.tools().with_strict_guards());
    let report = place.load_with(&strict(&place), TrustPolicy::Everything);
    assert_eq!(report.problems[0].severity, Severity::Warning);
    let hooks = place.world.registry().hooks();
    assert!(
        hooks
            .iter()
            .all(|hook| hook.on_failure() == FailurePolicy::Block)
    );
    let bash = HookEvent::tool_pre_execute("bash", json!({}));
    let edit = HookEvent::tool_pre_execute("edit", json!({}));
    assert!(hooks[0].refusal().unwrap().contains("`prompt` do not run"));
    assert!(!place.world.outcome(&bash).allowed());
    assert!(place.world.outcome(&edit).allowed());
    let broken = Place::new([("project/.claude/settings.json", "{")]);
    let _ = broken.load();
    assert!(broken.world.outcome(&bash).allowed());
    let _ = broken.load_with(&strict(&broken), TrustPolicy::Everything);
    assert!(!broken.world.outcome(&bash).allowed());
}

#[test]
fn a_file_is_recognized_by_place_or_events() {
    let bad = |event: &str| format!(r#"{{"hooks": {{"{event}": 5}}}}"#);
    for (name, event, expected) in [
        (
            ".claude/settings.json",
            "BeforeTool",
            "not an event of Claude Code",
        ),
        (".codex/hooks.json", "BeforeTool", "not an event of Codex"),
        (
            ".gemini/settings.json",
            "PreToolUse",
            "not an event of Gemini CLI",
        ),
        ("any.json", "BeforeTool", "expected a list of groups"),
        ("any.json", "PreToolUse", "expected a list of groups"),
        ("any.json", "pre_tool", "`hooks`: expected a list"),
    ] {
        let place = Place::new([]);
        let path = place.world.write(name, &bad(event));
        let report = place.config().check(&path);
        assert_eq!(report.read_as.len(), usize::from(event != "pre_tool"));
        let found = report.problems[0].to_string();
        assert!(found.contains(expected), "{found}");
        let report = place.config().check_text(&path, &bad(event));
        assert_eq!(report.problems[0].to_string(), found);
    }
    let place = Place::new([("x/.claude/settings.json", r#"{"permissions": {}}"#)]);
    let report = place
        .config()
        .check(place.world.path("x/.claude/settings.json"));
    assert!(report.problems.is_empty(), "{report:?}");
}

#[test]
fn the_profiles_own_file_is_not_foreign() {
    let text = r#"{"hooks": {"PreToolUse": []}}"#;
    let place = Place::new([(".mygame/hooks.json", text)]);
    let config = HookConfig::new(AppProfile::new("mygame"));
    let path = place.world.path(".mygame/hooks.json");
    for report in [config.check(&path), config.check_text(&path, text)] {
        let found = report.problems[0].to_string();
        assert!(
            found.contains("`hooks`: expected a list (write it as in ["),
            "{found}"
        );
    }
}

#[test]
fn foreign_hooks_are_not_saved_as_native() {
    let text = settings("PreToolUse", "Bash", &command("x"));
    let place = Place::new([("project/.claude/settings.json", text.as_str())]);
    let hooks = place.config().load_project(place.root());
    assert_eq!(hooks.len(), 1);
    place.config().save_project(place.root(), &hooks).unwrap();
    let saved = place.world.read("project/.src/forge/hooks.json");
    assert!(!saved.contains("command"), "{saved}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(
        pieces in prop::collection::vec(prop_oneof![
            Just("{"), Just("}"), Just("["), Just("]"), Just(","), Just(":"), Just("\"hooks\":"),
            Just("\"PreToolUse\":"), Just("\"BeforeTool\":"), Just("\"matcher\":"), Just("\"type\":"),
            Just("\"command\""), Just("\"command\":"), Just("\"timeout\":"), Just("\"if\":"),
            Just("\"Bash(a*\""), Just("\"args\":"), Just("\"${CLAUDE_PROJECT_DIR}/é'\""), Just("1e9"),
            Just("-1"), Just("null"), Just("true"), Just("\"env\":"), Just("\"async\":"),
            Just("\"\u{FEFF}\\ud83d\\ude00\""), Just("// x\n"),
        ], 0..40),
    ) {
        let text = pieces.concat();
        let nested = format!(r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{{{text}}}]}}]}}}}"#);
        let tools = compat::OtherTools::new([]).with_strict_guards();
        let config = forge_hooks::HookConfig::default().with_other_tools(tools);
        for name in [".claude/a.json", ".codex/a.json", ".gemini/a.json"] {
            let _ = config.check_text(name, &text).to_string();
            let _ = config.check_text(name, &nested).to_string();
        }
    }
}
