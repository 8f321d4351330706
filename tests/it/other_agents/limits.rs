//! A clone with very many files of plugins: they are read up to a limit, and what is left out is printed.

use forge_hooks::compat::{self, OtherAgents};
use serde_json::json;

use super::{CLAUDE, GEMINI, Place, command, groups, settings};
use crate::growth::assert_costs_at_most;
use crate::support::{blocking_event, one_in};

/// Unapproved hooks must not use up the limits of approved hooks, nor the time of the host.
#[test]
fn nothing_unapproved_is_compiled() {
    let guard = command("echo no >&2; exit 2");
    let guard = format!(r#"{{"matcher": "Bash.*", "hooks": [{guard}]}}"#);
    let place = Place::new([(CLAUDE, &*groups("PreToolUse", &guard))]);
    let _ = place.approve();
    // Each matcher takes about a mebibyte when compiled, and each rule some time.
    let large = [
        r"\w{20}|x".to_owned(),
        format!("Edit({})", "[a]".repeat(100)),
    ];
    let small = ["Bash.x", "Edit(a)"].map(str::to_owned);
    let load = |[matcher, rule]: &[String; 2]| {
        let group = |index: usize| {
            let handler = json!({"type": "command", "command": format!("x{index}"), "if": rule});
            json!({"matcher": format!("{matcher}{index}"), "hooks": [handler]}).to_string() + ", "
        };
        let many: String = (0..200).map(group).collect();
        let groups = groups("PreToolUse", &(many + &guard));
        place.world.write(CLAUDE, &groups);
        assert_eq!(place.load_approved().unapproved.len(), 200);
    };
    assert_costs_at_most(4, "large", || load(&small), || load(&large));
    let outcome = place.world.outcome(&blocking_event());
    assert_eq!(outcome.reason(), Some("no"));
}

/// They are settings of Gemini CLI, not groups.
#[test]
fn names_of_hooks_count_as_no_hooks() {
    let names: Vec<_> = (0..1_100).map(|index| index.to_string()).collect();
    let group = json!({"hooks": [{"type": "command", "command": "true"}]});
    let text = json!({"hooks": {"disabled": names, "BeforeTool": [group]}});
    let place = Place::new([(GEMINI, &*text.to_string())]);
    assert!(place.load().problems.is_empty());
    assert_eq!(place.commands(), ["true"]);
}

#[test]
fn a_manifest_names_so_many_files() {
    let names: Vec<_> = (0..5000).map(|index| format!("{index}.json")).collect();
    let manifest = json!({ "hooks": names }).to_string();
    let place = Place::new([("project/p/.claude-plugin/plugin.json", &*manifest)]);
    let report = place.load_tools(place.tools().with_plugin(place.world.path("project/p")));
    assert_eq!(report.problems.len(), 101);
    let last = report.problems[100].to_string();
    let expected = "names more than 100 files; the others are left out";
    assert!(last.ends_with(expected), "{last}");
}

#[test]
fn so_many_extensions_are_read_in_their_order() {
    let place = Place::new([(".keep", "")]);
    let extensions = place.world.path("project/.gemini/extensions");
    let hooks = groups("BeforeTool", &command("exit 2"));
    for index in (0..1_002).rev() {
        std::fs::create_dir_all(extensions.join(format!("{index:04}"))).unwrap();
    }
    for index in ["0000", "0999", "1000", "1001"] {
        let extension = extensions.join(index);
        std::fs::create_dir(extension.join("hooks")).unwrap();
        std::fs::write(extension.join("gemini-extension.json"), "{}").unwrap();
        std::fs::write(extension.join("hooks/hooks.json"), &hooks).unwrap();
    }
    let report = place.load();
    let problems = place.problems(&report);
    let message = "more than 1,000 extensions";
    assert!(
        problems.iter().any(|problem| problem.contains(message)),
        "{problems:?}"
    );
    let is_read = |index: &str| {
        report
            .files
            .iter()
            .any(|file| file.starts_with(extensions.join(index)))
    };
    let read = ["0000", "0999", "1000", "1001"].map(is_read);
    assert_eq!(read, [true, true, false, false]);
}

#[test]
fn a_project_has_so_many_bytes_of_files() {
    let long = format!("x{}", " ".repeat(1_000_000));
    let first = "project/.gemini/extensions/x";
    let place = Place::new([
        (&*format!("{first}/gemini-extension.json"), "{}"),
        (&format!("{first}/hooks/hooks.json"), &long),
    ]);
    let extensions = place.root().join(".gemini/extensions");
    for index in 0..20 {
        let link = extensions.join(format!("y{index}"));
        std::os::unix::fs::symlink(extensions.join("x"), link).unwrap();
    }
    let problems = place.problems(&place.load());
    assert_eq!(problems.len(), 21);
    let (large, read): (Vec<_>, Vec<_>) = problems
        .iter()
        .partition(|problem| problem.contains("more than 16 MiB"));
    assert_eq!((large.len(), read.len()), (4, 17), "{problems:?}");
}

/// Each file of a clone is within the limits of a file. All of them together cost no more than one: the program compiles them
/// when it shows what is to be approved.
#[test]
fn the_expressions_of_a_clone_share_one_limit() {
    const IN_A_FILE: usize = 20;
    let user = settings("BeforeTool", "Users.*", &command("user"));
    let native =
        r#"{"hooks": [{"event": "tool:*", "command": "native", "when": {"/tool_args/x": "y*"}}]}"#;
    let compiled = [4, 16].map(|count| {
        let place = Place::new([
            ("home/.gemini/settings.json", &*user),
            ("config/src/forge/hooks.json", native),
            ("project/.src/forge/hooks.json", native),
            ("project/.src/opencode/hooks.json", native),
        ]);
        for extension in 0..count {
            let group = |index: usize| {
                // A quarter of a mebibyte.
                let matcher = format!(r"\\w{{4}}{extension}-{index}");
                format!(r#"{{"matcher": "{matcher}", "hooks": [{}]}}"#, command("x"))
            };
            let many: Vec<_> = (0..IN_A_FILE).map(group).collect();
            let directory = format!("project/.gemini/extensions/{extension}");
            let manifest = format!("{directory}/gemini-extension.json");
            place.world.write(&manifest, "{}");
            let file = format!("{directory}/hooks/hooks.json");
            let text = groups("BeforeTool", &many.join(", "));
            place.world.write(&file, &text);
        }
        let report = place.load();
        let problems = place.problems(&report);
        let mut others = problems
            .iter()
            .filter(|problem| !problem.contains("16 MiB"));
        assert_eq!(others.next(), None);
        assert_eq!(report.in_use, count * IN_A_FILE + 4);
        // One that cannot be tested counts as matched.
        count * IN_A_FILE - problems.len()
    });
    assert!((1..=64).contains(&compiled[0]), "{compiled:?}");
    assert_eq!(compiled[0], compiled[1]);
}

/// A plugin that somebody else has written is read before a file that the user names. What it takes must not be missing for
/// that file: its audit, on an event that cannot be blocked, would not run.
#[test]
fn plugins_take_nothing_from_files_of_the_user() {
    let group = |index: usize| {
        // A quarter of a mebibyte.
        let matcher = format!(r"\\w{{4}}{index}");
        format!(r#"{{"matcher": "{matcher}", "hooks": [{}]}}"#, command("x"))
    };
    let many: Vec<_> = (0..100).map(group).collect();
    let large = groups("AfterTool", &many.join(", "));
    let audit = settings("PostToolUse", "Bash.*", &command("audit"));
    let extension = "home/.gemini/extensions/x/gemini-extension.json";
    for plugin in one_in(3, ["plugin", "named", "home/.gemini/extensions/x"]) {
        let place = Place::new([("audit.json", &*audit), (extension, "{}")]);
        let large = if plugin.starts_with("home") {
            large.clone()
        } else {
            large.replace("AfterTool", "PostToolUse")
        };
        place
            .world
            .write(&format!("{plugin}/hooks/hooks.json"), &large);
        let path = |name: &str| place.world.path(name);
        let tools = OtherAgents::new([compat::GEMINI, compat::CLAUDE]).with_home(path("home"));
        let tools = tools.with_settings(compat::CLAUDE, path("named"));
        let tools = tools.with_settings(compat::CLAUDE, path("audit.json"));
        let report = place.load_tools(tools.with_plugin(path("plugin")));
        let problems = place.problems(&report);
        let place_of_plugin = format!("error: {plugin}/");
        let of_plugin =
            |problem: &&String| problem.starts_with(&place_of_plugin) && problem.contains("16 MiB");
        assert_ne!(problems.iter().filter(of_plugin).count(), 0, "{plugin}");
        let of_user = problems
            .iter()
            .find(|problem| problem.contains("audit.json"));
        assert_eq!(of_user, None, "{plugin}");
    }
}
