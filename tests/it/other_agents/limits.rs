//! A clone with very many files of plugins: they are read up to a limit, and what is left out is printed.

use serde_json::json;

use super::{CLAUDE, Place, command, groups};
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
fn a_project_has_so_many_bytes_of_files() {
    let long = format!("x{}", " ".repeat(1_000_000));
    let plugin = |index: usize| format!("project/p{index}");
    let place = Place::new([]);
    let mut tools = place.tools();
    for index in 0..21 {
        let directory = plugin(index);
        place
            .world
            .write(&format!("{directory}/hooks/hooks.json"), &long);
        tools = tools.with_plugin(place.world.path(&directory));
    }
    let problems = place.problems(&place.load_tools(tools));
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
        let text = groups("PreToolUse", &many.join(", "));
        let place = Place::new([(CLAUDE, &*text)]);
        let report = place.load();
        assert_eq!(report.in_use, 400);
    };
    assert_costs_at_most(4, "a clone", || load("w"), || load(r"\\w{9}"));
}
