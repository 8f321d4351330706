//! The hooks that are found, their order, and the effect of a handler's keys.

use std::time::Duration;

use forge_hooks::{AppProfile, FailurePolicy, Hook, HookEvent, Hooks, compat};
use proptest::prelude::*;
use serde_json::json;

use super::{CLAUDE, CODEX, Place, command, settings};
use crate::support::{config_of, nowhere};

fn claude(text: &str) -> String {
    settings("PreToolUse", "Bash", &command(text))
}

const HOME: &str = "home/.claude/settings.json";
const LOCAL: &str = "project/.claude/settings.local.json";

#[test]
fn files_are_read_in_order_native_first() {
    let native = r#"{"hooks": [{"event": "tool:pre_execute", "command": "native"}]}"#;
    let place = Place::new([
        (HOME, &*claude("claude user")),
        ("home/.codex/hooks.json", &claude("codex user")),
        (CLAUDE, &claude("claude project")),
        (LOCAL, &claude("claude local")),
        (CODEX, &claude("codex project")),
        ("plugin/hooks/hooks.json", &claude("plugin")),
        ("project/.src/forge/hooks.json", native),
    ]);
    let report = place.load_tools(place.tools().with_plugin(place.world.path("plugin")));
    assert!(report.problems.is_empty(), "{report:?}");
    let expected =
        "native, claude user, codex user, claude project, claude local, codex project, plugin";
    assert_eq!(place.commands().join(", "), expected);
    assert_eq!((report.loaded, report.files.len()), (7, 7));
    let hooks = place.hooks();
    assert_eq!(hooks[3].base_dir(), Some(&*place.root()));
    assert_eq!(hooks[1].base_dir(), None);
    let _ = place.load_tools(place.tools_of(&[compat::CODEX]));
    let commands = place.commands();
    assert_eq!(commands, ["native", "codex user", "codex project"]);
}

/// A host that reads the same hooks.json itself.
#[test]
fn handlers_of_forge_hooks_do_not_run() {
    let script = r#"if [ -s \"$0\" ]; then \"$0\" \"$@\"; else (exit 3); fi; echo forge-hooks did not run >&2; exit 2"#;
    let foreign = r#"if [ -s $0 ]; then /opt/guard; fi; echo forge-hooks did not run; exit 2"#;
    let guard = "/opt/guard; echo forge-hooks did not run; exit 2";
    for (text, is_left_out) in [
        (
            "[PROGRAM] --config-home [CONFIG] --path /bin || exit 2",
            true,
        ),
        (
            "/bin/sh -c '[SCRIPT]' [PROGRAM] --config-home [CONFIG]",
            true,
        ),
        ("[PROGRAM] --home /home/ada || exit 2", false),
        ("[PROGRAM] --home=/home/ada --path=/bin", false),
        ("[PROGRAM] --config-home=[CONFIG]", true),
        (
            "/bin/sh -c '[FOREIGN]' [PROGRAM] --config-home [CONFIG]",
            false,
        ),
        ("[PROGRAM] --config-home [CONFIG] --profile mygame", false),
        (
            "/bin/sh -c '[GUARD]' [PROGRAM] --config-home [CONFIG]",
            false,
        ),
        ("[PROGRAM] --config-home [CONFIG]; /opt/guard", false),
        ("forge-hooks fire tool:pre_execute", false),
    ] {
        let place = Place::new([]);
        let text = text
            .replace("[PROGRAM]", "/usr/bin/forge-hooks hook claude PreToolUse")
            .replace("[CONFIG]", place.world.path("config").to_str().unwrap())
            .replace("[SCRIPT]", script)
            .replace("[FOREIGN]", foreign)
            .replace("[GUARD]", guard);
        place.world.write(HOME, &claude(&text));
        let report = place.load_tools(place.tools());
        let expected = if is_left_out { vec![] } else { vec![text] };
        assert_eq!(place.commands(), expected, "{report:?}");
        assert!(report.problems.is_empty() || !is_left_out, "{report:?}");
    }
}

#[test]
fn a_file_is_read_once() {
    let place = Place::new([(CLAUDE, &*claude("x"))]);
    let _ = place.load_tools(place.tools().with_home(place.root()));
    assert_eq!(place.commands(), ["x"], "a home that is the project");
    assert_eq!(place.hooks()[0].base_dir(), None);
}

/// A repository could guess the path of a file that the user names, and a link to it would need an approval.
#[cfg(unix)]
#[test]
fn a_link_in_a_project_hides_no_named_file() {
    let links = [".codex/hooks.json", ".claude/settings.json"];
    let off = r#"{"disableAllHooks": true}"#;
    for link in links {
        let place = Place::new([("named.json", &*claude("named")), (LOCAL, off)]);
        let (link, named) = (place.root().join(link), place.world.path("named.json"));
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&named, &link).unwrap();
        let config = place.config_with(place.tools().with_settings(compat::CLAUDE, named));
        let policy = forge_hooks::config::TrustPolicy::Approved(place.store());
        let report = place.load_with(&config, policy);
        assert_eq!(report.in_use, 1, "{report:?}");
    }
}

#[test]
fn plugins_are_known_by_their_manifests() {
    let stop = |text| settings("Stop", "", &command(text));
    let names = r#"{"name": "p", "hooks": ["./hooks/hooks.json", "./more.json", "../x.json"]}"#;
    let place = Place::new([
        ("a/.codex-plugin/plugin.json", "{}"),
        ("a/hooks/hooks.json", &*stop("codex")),
        ("b/.claude-plugin/plugin.json", &stop("manifest")),
        ("b/hooks/hooks.json", &stop("claude")),
        ("d/.claude-plugin/plugin.json", names),
        ("d/hooks/hooks.json", &stop("usual")),
        ("d/more.json", &stop("more")),
        ("x.json", &stop("outside")),
    ]);
    let mut tools = place.tools_of(&[]);
    for plugin in ["a", "b", "c", "d"] {
        tools = tools.with_plugin(place.world.path(plugin));
    }
    let report = place.load_tools(tools);
    let commands = place.commands().join(" ");
    assert_eq!(commands, "codex manifest claude usual more");
    let expected = [
        "error: c: the path is not a directory, expected the directory of a plugin",
        "error: d/.claude-plugin/plugin.json: the manifest names `../x.json`, which is not a file of the plugin",
    ];
    assert_eq!(place.problems(&report), expected);
    let entry = place.hooks()[0].to_json();
    let plugin_root = &entry["protocol"]["definition"]["plugin_root"];
    assert_eq!(*plugin_root, json!(place.world.path("a")));
}

#[test]
fn a_host_names_the_tools_when_it_loads() {
    let stop = settings("Stop", "", &command("true"));
    let plugin = ("plugin/hooks/hooks.json", &*stop);
    let hook = claude("true");
    let place = Place::new([(HOME, &hook), plugin, (CLAUDE, &hook)]);
    let tools = place.tools_of(&[compat::CLAUDE]);
    let hooks = Hooks::builder(AppProfile::default())
        .config_home(place.world.path("config"))
        .project(place.root())
        .other_agents(tools.with_plugin(place.world.path("plugin")))
        .load();
    let registered = hooks.executor().registry().hooks();
    let names: Vec<_> = registered.iter().map(|hook| hook.label()).collect();
    let of_claude = "PreToolUse(Bash) .claude/settings.json:1";
    assert_eq!(names, [of_claude, "Stop plugin/hooks/hooks.json:1"]);
    let report = hooks.report();
    assert_eq!(report.unapproved, [of_claude]);
    assert_eq!(report.problems[0].path, place.world.path(CLAUDE));
}

/// The one hook of a project's file of Claude Code with this handler.
#[track_caller]
fn one(handler: &str) -> Hook {
    let place = Place::new([(CLAUDE, &*settings("PreToolUse", "Bash", handler))]);
    let report = place.load();
    let hooks = place.hooks();
    assert_eq!(hooks.len(), 1, "{report:?}");
    Hook::clone(&hooks[0])
}

#[test]
fn a_handler_has_defaults() {
    let hook = one(&command("guard.sh"));
    assert_eq!(hook.event_pattern(), "tool:pre_execute");
    assert_eq!(hook.on_failure(), FailurePolicy::Continue);
    assert!(!hook.background());
    assert_eq!(hook.command(), "guard.sh");
    assert_eq!(hook.to_json().get("shell"), None);
    let powershell = one(r#"{"type": "command", "command": "x", "shell": "powershell"}"#);
    assert_eq!(powershell.to_json()["shell"], "pwsh");
}

#[test]
fn the_keys_of_a_handler_are_read() {
    let hook = one(
        r#"{"type": "command", "command": "a b", "args": ["${CLAUDE_PROJECT_DIR}", "c d"], "timeout": 5,
            "async": true, "onFailure": "block", "statusMessage": "Looking", "if": "Bash(git *)", "once": true}"#,
    );
    let program = json!(["a b", "${CLAUDE_PROJECT_DIR}", "c d"]);
    assert_eq!(hook.to_json()["args"], program);
    assert_eq!(hook.timeout(), Duration::from_secs(5));
    assert_eq!(hook.on_failure(), FailurePolicy::Block);
    assert!(hook.background());
    assert_eq!(hook.label(), "Looking");
    // The rule and the matcher are conditions.
    let bash = |text| HookEvent::tool_pre_execute("bash", json!({"command": text}));
    assert!(hook.matches(&bash("cd x && git push")));
    assert!(!hook.matches(&bash("ls")));
    let edit = HookEvent::tool_pre_execute("edit", json!({}));
    let mismatch = hook.mismatch(&edit, true).unwrap();
    let expected = "`matcher` does not match: its value is `Edit`";
    assert!(mismatch.starts_with(expected), "{mismatch}");
}

/// The agent waits for the hooks of its last event, so that they end with it.
#[test]
fn no_hook_of_the_last_event_is_left_in_the_background() {
    let handler = r#"{"type": "command", "command": "x", "async": true}"#;
    let both = ["Stop", "SessionEnd"].map(|event| {
        let place = Place::new([(CODEX, &*settings(event, "", handler))]);
        let _ = place.load();
        place.hooks()[0].background()
    });
    assert_eq!(both, [true, false]);
}

#[test]
fn timeouts_are_in_seconds_with_a_default() {
    let handler = r#"{"type": "command", "command": "x", "timeout": 900}"#;
    let bare = &*command("x");
    for (file, event, handler, seconds) in [
        (CLAUDE, "PreToolUse", handler, 900.0),
        (CLAUDE, "PreToolUse", bare, 600.0),
        (CLAUDE, "UserPromptSubmit", bare, 30.0),
        (CLAUDE, "SessionEnd", bare, 1.5),
        (CLAUDE, "PreModelSwitch", bare, 30.0),
        (CODEX, "Stop", bare, 600.0),
        (CODEX, "SessionEnd", bare, 1.0),
        (CODEX, "SessionEnd", handler, 3.0),
        (CODEX, "Interrupt", bare, 1.0),
        (CODEX, "Interrupt", handler, 3.0),
    ] {
        let place = Place::new([(file, &*settings(event, "", handler))]);
        let _ = place.load();
        let hook = &place.hooks()[0];
        assert_eq!(hook.timeout().as_secs_f64(), seconds, "{file} {event}");
    }
}

#[test]
fn a_host_can_name_its_tools() {
    let place = Place::new([(CLAUDE, &*claude("x"))]);
    let _ = place.load_tools(place.tools().with_tool(
        compat::CLAUDE,
        "run",
        "Bash",
        [("command", "command")],
    ));
    let hook = &place.hooks()[0];
    assert!(hook.matches(&HookEvent::tool_pre_execute("run", json!({}))));
    assert!(!hook.matches(&HookEvent::tool_pre_execute("other", json!({}))));
}

#[test]
fn hooks_that_are_switched_off_do_not_run() {
    let off = |switch: &str| claude("x").replacen('{', &format!("{{{switch}, "), 1);
    let (off, nameless) = (&*off(r#""disableAllHooks": true"#), &*off(r#""": true"#));
    let on = &*claude("x");
    for (files, enabled) in [
        ([(HOME, off), (CLAUDE, on)], &[false, false][..]),
        ([(HOME, on), (CLAUDE, off)], &[true, false]),
        ([(HOME, on), (CLAUDE, nameless)], &[true, true]),
        // The file that is not shared switches off what is, not the other way round.
        ([(CLAUDE, on), (LOCAL, off)], &[false, false]),
        ([(CLAUDE, off), (LOCAL, on)], &[false, true]),
    ] {
        let place = Place::new(files);
        let _ = place.load();
        let actual: Vec<_> = place.hooks().iter().map(|hook| hook.enabled()).collect();
        assert_eq!(actual, enabled, "{files:?}");
    }
}

#[test]
fn a_plugin_switches_nothing_off() {
    let off = r#"{"disableAllHooks": true, "hooks": {}}"#;
    let place = Place::new([
        (HOME, &*claude("claude")),
        ("plugin/.claude-plugin/plugin.json", off),
        ("plugin/hooks/hooks.json", off),
    ]);
    let plugin = place.world.path("plugin");
    for tools in [
        place.tools().with_plugin(&plugin),
        place.tools().with_settings(compat::CLAUDE, &plugin),
    ] {
        let _ = place.load_tools(tools);
        let enabled: Vec<_> = place.hooks().iter().map(|hook| hook.enabled()).collect();
        assert_eq!(enabled, [true]);
    }
}

#[test]
fn a_projects_file_that_is_named_switches_off_the_projects_hooks_only() {
    let off = claude("own").replacen('{', r#"{"disableAllHooks": true, "#, 1);
    let users = (HOME, &*claude("user"));
    let place = Place::new([(CLAUDE, &off), users]);
    let named = place.world.path(CLAUDE);
    let _ = place.load_tools(place.tools().with_settings(compat::CLAUDE, named));
    assert_eq!(place.commands(), ["user", "own"]);
    let enabled: Vec<_> = place.hooks().iter().map(|hook| hook.enabled()).collect();
    assert_eq!(enabled, [true, false]);
}

#[test]
fn a_named_file_that_cannot_be_read_blocks_if_strict() {
    let place = Place::new([]);
    let named = place.world.path(&"x".repeat(300));
    let tools = place.tools().with_settings(compat::CLAUDE, named);
    let report = place.load_tools(tools.with_strict_guards());
    let message = &report.problems[0].message;
    assert!(message.contains("cannot be read"), "{report:?}");
    let event = HookEvent::tool_pre_execute("bash", json!({}));
    assert!(!place.world.outcome(&event).allowed());
}

/// A strict file blocks for the sake of an event that hosts do not fire, also behind so many problems that none is shown.
#[test]
fn an_unknown_event_blocks_if_strict_behind_many_problems() {
    let unknown: String = (0..50).map(|n| format!(r#", "timout{n}": 1"#)).collect();
    let handler = format!(r#"{{"type": "command", "command": "true"{unknown}}}"#);
    let handlers = vec![handler; 21].join(",");
    let text =
        format!(r#"{{"hooks": {{"PostToolUse": [{{"hooks": [{handlers}]}}], "PreToolUs": []}}}}"#);
    let place = Place::new([(HOME, &*text)]);
    let _ = place.load_tools(place.tools().with_strict_guards());
    let event = HookEvent::tool_pre_execute("bash", json!({}));
    assert!(!place.world.outcome(&event).allowed());
}

/// A file, an event in it, and what is printed. The profile's own file is none of another agent.
const RECOGNIZED: &str = "
.claude/settings.json BeforeTool not an event of Claude Code
.codex/hooks.json BeforeTool not an event of Codex
.gemini/settings.json BeforeTool this is a hooks file of Gemini CLI, whose hooks are not run here
.qwen/settings.json PreToolUse this is a hooks file of Qwen Code, whose hooks are not run here
any.json PreToolUse expected a list of groups
any.json pre_tool `hooks`: expected a list
.src/forge/hooks.json PreToolUse `hooks`: expected a list (write it as in [
";

#[test]
fn a_file_is_recognized_by_place_or_events() {
    for row in RECOGNIZED.trim().lines() {
        let parts: Vec<_> = row.splitn(3, ' ').collect();
        let text = format!(r#"{{"hooks": {{"{}": 5}}}}"#, parts[1]);
        let place = Place::new([(parts[0], &*text)]);
        let path = place.world.path(parts[0]);
        let report = place.config().check(&path);
        let is_native = parts[2].starts_with("`hooks`");
        assert_eq!(report.read_as.len(), usize::from(!is_native), "{row}");
        let message = report.problems[0].to_string();
        assert!(message.contains(parts[2]), "{message}");
        let report = place.config().check_text(&path, &text);
        assert_eq!(report.problems[0].to_string(), message);
    }
}

#[test]
fn foreign_hooks_are_not_saved_as_native() {
    let place = Place::new([(CLAUDE, &*claude("x"))]);
    let hooks = place.config().load_project(place.root());
    assert_eq!(hooks.len(), 1);
    place.config().save_project(place.root(), &hooks).unwrap();
    let saved = place.world.read("project/.src/forge/hooks.json");
    assert!(!saved.contains("command"), "{saved}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() })]

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
        let tools = compat::OtherAgents::new([]).with_strict_guards();
        let config = config_of(nowhere().other_agents(tools));
        for name in [".claude/a.json", ".codex/a.json", ".gemini/a.json"] {
            let _ = config.check_text(name, &text).to_string();
            let _ = config.check_text(name, &nested).to_string();
        }
    }
}
