//! The newer agents: those with tables in TOML, with plugins, or with a JSON file of their own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::Agent;
use crate::program::{Printed, User};
use crate::support::is_missing;

const NEWER: [Agent; 5] = [
    Agent {
        name: "kimi",
        file: ".kimi-code/config.toml",
        before: "PreToolUse",
        stop: "Stop",
        shell: "Bash",
        timeout: (600, "600"),
        moved_by: ("KIMI_CODE_HOME", "home/.kimi-code"),
    },
    Agent {
        name: "opencode",
        file: ".config/opencode/plugin/forge-hooks.js",
        before: "tool.execute.before",
        stop: "",
        shell: "bash",
        timeout: (600, "600"),
        moved_by: ("XDG_CONFIG_HOME", "home/.config"),
    },
    Agent {
        name: "kilo",
        file: ".config/kilo/plugin/forge-hooks.js",
        before: "tool.execute.before",
        stop: "",
        shell: "bash",
        timeout: (600, "600"),
        moved_by: ("XDG_CONFIG_HOME", "home/.config"),
    },
    Agent {
        name: "pi",
        file: ".pi/agent/extensions/forge-hooks.ts",
        before: "tool_call",
        stop: "",
        shell: "bash",
        timeout: (600, "600"),
        moved_by: ("PI_CODING_AGENT_DIR", "home/.pi/agent"),
    },
    Agent {
        name: "grok",
        file: ".grok/hooks/forge-hooks.json",
        before: "PreToolUse",
        stop: "Stop",
        shell: "run_terminal_command",
        timeout: (600, "600"),
        moved_by: ("GROK_HOME", "home/.grok"),
    },
];

impl User {
    /// Runs the program with the usual directory for configuration.
    fn ran(&self, words: &[&str]) -> Printed {
        let mut command = self.command(words);
        command.env_remove("XDG_CONFIG_HOME");
        self.printed(command.output().unwrap())
    }

    fn with_hooks_at_home() -> Self {
        let user = Self::new();
        let block = json!({"event": "tool:pre_execute:bash", "when": {"/tool_args/command": "*forbidden*"},
            "answer": {"decision": "block", "reason": "not here"}});
        let change = json!({"event": "tool:pre_execute:bash", "when": {"/tool_args/command": "*old*"},
            "answer": {"updatedInput": {"command": "echo new"}}});
        let file = json!({"hooks": [block, change]}).to_string();
        user.write("home/.config/forge-hooks/hooks.json", &file);
        user
    }
}

fn has_handlers(agent: &super::Agent, text: &str) {
    let is_named = text.contains(agent.before) || agent.stop.is_empty();
    assert!(is_named, "{text}");
    let seconds = agent.timeout.1;
    let forms = [
        format!("--timeout {seconds}"),
        format!("\"--timeout\",\"{seconds}\""),
    ];
    assert!(forms.iter().any(|form| text.contains(form)), "{text}");
}

#[test]
fn newer_agents_are_registered_and_removed() {
    for agent in &NEWER {
        let user = User::with_hooks_at_home();
        let file = format!("home/{}", agent.file);
        let installed = user.ran(&["install", agent.name, "--yes"]);
        assert_eq!(installed.status, 0, "{installed:?}");
        let text = user.read(&file);
        has_handlers(agent, &text);
        let checked = user.ran(&["check", "--agent", agent.name]);
        assert!(checked.out.contains("a probe is blocked"), "{checked:?}");
        let again = user.ran(&["install", agent.name, "--yes"]);
        assert!(again.out.contains("already registered"), "{again:?}");
        let removed = user.ran(&["uninstall", agent.name, "--yes"]);
        assert_eq!(removed.status, 0, "{removed:?}");
        assert!(!user.path(&file).exists(), "{}", agent.name);
        let (variable, _) = agent.moved_by;
        let mut moved = user.command(&["install", agent.name, "--yes"]);
        let moved = user.printed(moved.env(variable, "/elsewhere").output().unwrap());
        assert_ne!(moved.status, 0, "{moved:?}");
    }
}

#[test]
fn what_another_version_has_written_is_replaced() {
    for agent in &NEWER {
        let user = User::with_hooks_at_home();
        let file = format!("home/{}", agent.file);
        user.ran(&["install", agent.name, "--yes"]);
        let text = user.read(&file);
        let text = text.replace(" --home", " --inherit A_B --home");
        let text = text.replace("\"--home\"", "\"--inherit\",\"A_B\",\"--home\"");
        user.write(&file, &text.replace(" asks ", " asked "));
        let upgraded = user.ran(&["install", agent.name, "--yes"]);
        assert!(upgraded.out.contains(": registered"), "{upgraded:?}");
        let text = user.read(&file);
        assert!(text.contains("A_B"), "a person's option is kept: {text}");
        assert!(!text.contains(" asked "), "{text}");
        let removed = user.ran(&["uninstall", agent.name, "--yes"]);
        assert!(!user.path(&file).exists(), "{removed:?}");
    }
}

/// An agent says nothing of a plugin that it does not load.
#[test]
fn a_session_proves_that_a_plugin_is_loaded() {
    let user = User::with_hooks_at_home();
    assert_eq!(user.ran(&["install", "opencode", "--yes"]).status, 0);
    let checked = user.ran(&["check", "--agent", "opencode"]);
    assert!(checked.out.contains("not loaded yet"), "{checked:?}");
    let started = user.fired("opencode", "session.created", &json!({}));
    assert_eq!(started.status, 0, "{started:?}");
    let checked = user.ran(&["check", "--agent", "opencode"]);
    assert!(checked.out.contains("has loaded it"), "{checked:?}");
    let plugin = user.path("home/.config/opencode/plugin/forge-hooks.js");
    let plugin = fs::File::options().append(true).open(plugin).unwrap();
    let later = SystemTime::now() + Duration::from_secs(9);
    plugin.set_modified(later).unwrap();
    let checked = user.ran(&["check", "--agent", "opencode"]);
    assert!(
        checked.out.contains("not loaded yet"),
        "written anew: {checked:?}"
    );
}

#[test]
fn a_plugin_that_a_person_has_changed_stays() {
    for agent in NEWER.iter().filter(|agent| agent.stop.is_empty()) {
        let user = User::with_hooks_at_home();
        let file = format!("home/{}", agent.file);
        user.ran(&["install", agent.name, "--yes"]);
        let changed = user.read(&file) + "// mine\n";
        user.write(&file, &changed);
        let checked = format!("{:?}", user.ran(&["check", "--agent", agent.name]));
        assert!(checked.contains("a person has changed it"), "{checked}");
        let removed = user.ran(&["uninstall", agent.name, "--yes"]);
        assert!(
            removed.out.contains("still starts this program"),
            "{removed:?}"
        );
        assert_eq!(user.read(&file), changed);
        let installed = user.ran(&["install", agent.name, "--yes"]);
        assert!(
            installed.out.contains("a person has changed"),
            "{installed:?}"
        );
        assert!(!user.read(&file).contains("// mine"));
        // The plugin of another program is not replaced.
        user.write(&file, "export const Mine = 1\n");
        let refused = user.ran(&["install", agent.name, "--yes"]);
        assert_eq!(refused.status, 2, "{refused:?}");
        assert!(refused.err.contains("move it elsewhere"), "{refused:?}");
        assert_eq!(user.read(&file), "export const Mine = 1\n");
    }
}

#[test]
fn all_else_in_a_file_of_toml_stays() {
    const OWN: &str = "# mine\ndefault_model = \"a\"   # why\n\n[[hooks]]  # one\nevent = \"Stop\"\ncommand = \"say done\"\n\n[models.a]\nmodel = 'b'\n# end\n";
    for before in ["", "# only this\n", OWN] {
        let user = User::with_hooks_at_home();
        let file = user.write("home/.kimi-code/config.toml", before);
        let installed = user.ran(&["install", "kimi", "--yes"]);
        assert_eq!(installed.status, 0, "{installed:?}");
        let text = fs::read_to_string(&file).unwrap();
        for line in before.lines() {
            assert!(text.contains(line), "{line} of {text}");
        }
        let removed = user.ran(&["uninstall", "kimi", "--yes"]);
        assert_eq!(removed.status, 0, "{removed:?}");
        let after = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(after, before);
    }
}

#[test]
fn toml_that_cannot_be_edited_stays() {
    for (text, why) in [
        ("hooks = 1\n", "expected tables"),
        ("a = [\n", "config.toml`, line "),
    ] {
        let user = User::with_hooks_at_home();
        let file = user.write("home/.kimi-code/config.toml", text);
        let refused = user.ran(&["install", "kimi", "--yes"]);
        assert_eq!(refused.status, 2, "{refused:?}");
        assert!(refused.err.contains(why), "{refused:?}");
        assert!(refused.out.contains("[[hooks]]"), "{refused:?}");
        assert_eq!(fs::read_to_string(file).unwrap(), text);
    }
}

/// What a plugin makes of a call: `passed` with the arguments, or `blocked` with the reason.
fn asked_by(user: &User, agent: &Agent, plugin: &PathBuf, command: &str, mode: &str) -> String {
    let call = match agent.name {
        "pi" => {
            "const on = {}; plugin.default({ on: (name, does) => on[name] = does })
            const call = args => on.tool_call({ toolName: 'bash', toolCallId: 'c', input: args }, { cwd: process.cwd(), hasUI: false })"
        }
        _ => {
            "const hooks = await plugin.ForgeHooks({ directory: process.cwd() })
            const call = args => hooks['tool.execute.before']({ tool: 'bash', sessionID: 's', callID: 'c' }, { args })"
        }
    };
    let script = format!(
        "const plugin = await import({})
        {call}
        const args = {{ command: {} }}
        try {{ await call(args); console.log('passed', args.command) }} catch (error) {{ console.log('blocked', error.message) }}
        process.exit(0)",
        json!(plugin),
        json!(command)
    );
    let mut node = Command::new("node");
    user.set(&mut node);
    node.args(["--input-type=module", "--no-warnings", "-e", &script]);
    node.env_remove("XDG_CONFIG_HOME").env("MODE", mode);
    let printed = user.printed(node.output().unwrap());
    assert_eq!(printed.status, 0, "{printed:?}");
    printed.out.trim().to_owned()
}

/// Returns whether node can run the plugin. Says so if not.
fn can_run(agent: &Agent) -> bool {
    let needs_types = agent.file.ends_with(".ts");
    let mut features = Command::new("node");
    features.args(["-p", "process.features.typescript"]);
    let can = !is_missing("node")
        && (!needs_types
            || features
                .output()
                .is_ok_and(|output| output.stdout.starts_with(b"strip")));
    if !can {
        eprintln!("skipped: no node that runs the plugin of {}", agent.name);
    }
    can
}

/// A program that answers in the way that `MODE` says.
const STAND_IN: &str = r#"#!/bin/sh
nonce=$(sed 's/.*"nonce":"\([^"]*\)".*/\1/')
case $MODE in
  yes) printf '{"nonce": "%s"}' "$nonce";;
  silent) ;;
  half) printf '{"nonce": "%s' "$nonce";;
  other) printf '{"nonce": "another"}';;
  none) printf '{}';;
  signal) printf '{"nonce": "%s"}' "$nonce"; kill -9 $$;;
  failed) printf '{"nonce": "%s"}' "$nonce"; exit 1;;
  block) printf '{"nonce": "%s"}' "$nonce"; echo 'not so' >&2; exit 2;;
  hang) printf '{"nonce": "%s"}' "$nonce"; exec sleep 60;;
esac
"#;

#[test]
fn a_plugin_passes_a_call_only_at_a_yes_to_it() {
    for agent in NEWER.iter().filter(|agent| agent.stop.is_empty()) {
        if !can_run(agent) {
            continue;
        }
        let user = User::with_hooks_at_home();
        user.ran(&["install", agent.name, "--yes"]);
        let plugin = user.path(&format!("home/{}", agent.file));
        assert_eq!(
            asked_by(&user, agent, &plugin, "ls", ""),
            "passed ls",
            "{}",
            agent.name
        );
        assert_eq!(
            asked_by(&user, agent, &plugin, "old", ""),
            "passed echo new"
        );
        let blocked = asked_by(&user, agent, &plugin, "forbidden", "");
        assert!(
            blocked.starts_with("blocked ") && blocked.ends_with("not here"),
            "{blocked}"
        );
    }
}

#[test]
fn a_plugin_blocks_if_the_program_does_not_answer() {
    for agent in NEWER.iter().filter(|agent| agent.stop.is_empty()) {
        if !can_run(agent) {
            continue;
        }
        let user = User::with_hooks_at_home();
        user.ran(&["install", agent.name, "--yes"]);
        let plugin = user.path(&format!("home/{}", agent.file));
        // The same plugin, with another program and a short deadline.
        let program = user.write("stand-in/forge-hooks", STAND_IN);
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let text = fs::read_to_string(&plugin).unwrap();
        let lines = text.lines().map(|line| match line.split_once(" = ") {
            Some((name, _)) if name.starts_with("const COMMAND") => {
                format!(
                    "{name} = {}",
                    json!([program, "hook", agent.name, agent.before])
                )
            }
            Some((name, _)) if name.starts_with("const SECONDS") => format!("{name} = 1.5"),
            _ => line.to_owned(),
        });
        fs::write(&plugin, lines.collect::<Vec<_>>().join("\n")).unwrap();
        assert_eq!(asked_by(&user, agent, &plugin, "ls", "yes"), "passed ls");
        for mode in [
            "silent", "half", "other", "none", "signal", "failed", "hang",
        ] {
            let blocked = asked_by(&user, agent, &plugin, "ls", mode);
            assert!(
                blocked.starts_with("blocked forge-hooks did not run"),
                "{mode}: {blocked}"
            );
        }
        assert_eq!(
            asked_by(&user, agent, &plugin, "ls", "block"),
            "blocked not so"
        );
        fs::remove_file(&program).unwrap();
        let blocked = asked_by(&user, agent, &plugin, "ls", "yes");
        assert!(
            blocked.starts_with("blocked forge-hooks did not run"),
            "{blocked}"
        );
    }
}

#[test]
fn grok_is_known_by_its_events_under_the_settings_of_claude_code() {
    let user = User::new();
    let tool = |name: &str, more: &Value| {
        let mut fields = json!({"tool_name": name, "tool_input": {"command": "ls"}});
        fields
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        fields
    };
    user.has_hooks(&json!([{"event": "tool:pre_execute:bash", "answer": {"decision": "ask", "reason": "sure?"}}]));
    let claude = user.fired("claude", "PreToolUse", &tool("Bash", &json!({})));
    assert!(claude.out.contains("\"ask\""), "{claude:?}");
    // Grok Build would run the call.
    let own = json!({"hookEventName": "pre_tool_use", "toolName": "run_terminal_command"});
    let grok = user.fired("claude", "PreToolUse", &tool("run_terminal_command", &own));
    assert_eq!((grok.status, &*grok.out), (2, ""), "{grok:?}");
    assert!(grok.err.contains("sure?"), "{grok:?}");
    // A model chooses what stands in an argument.
    let mut within = tool("Bash", &json!({}));
    within["tool_input"]["hookEventName"] = "pre_tool_use".into();
    let claude = user.fired("claude", "PreToolUse", &within);
    assert!(claude.out.contains("\"ask\""), "{claude:?}");
}
