//! A clone with very many files of plugins: they are read up to a limit, and what is left out is printed.

use serde_json::json;

use super::{CLAUDE, GEMINI, Place, command, groups};
use crate::growth::assert_costs_at_most;
use crate::support::blocking_event;

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

/// A clone may have very many matchers. They are compiled when they are tested, which only approved ones are.
#[test]
fn the_matchers_of_a_clone_cost_little() {
    let load = |matcher: &str| {
        let group = |index: usize| {
            format!(
                r#"{{"matcher": "{matcher}|{index}", "hooks": [{}]}}"#,
                command("x")
            )
        };
        let many: Vec<_> = (0..400).map(group).collect();
        let text = groups("BeforeTool", &many.join(", "));
        let place = Place::new([("project/.gemini/settings.json", &*text)]);
        let report = place.load();
        assert_eq!(report.in_use, 400);
    };
    assert_costs_at_most(4, "a clone", || load("w"), || load(r"\\w{9}"));
}
