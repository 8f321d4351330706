//! The cases of an entry: which hold, what is said of the others, and that they change no run.

use forge_hooks::config::{LoadReport, TrustPolicy};
use forge_hooks::trust::{Approval, TrustStore};
use forge_hooks::{AppProfile, Hook, HookConfig, HookEvent, Hooks};
use serde_json::{Value, json};

use crate::support::World;

fn check(text: &str) -> LoadReport {
    HookConfig::default().check_text("FILE", text)
}

/// The problems of an entry's cases.
fn reported(entry: &Value) -> Vec<String> {
    let report = check(&json!({"hooks": [entry]}).to_string());
    let problems = report.problems.iter().map(ToString::to_string);
    problems.filter(|line| line.contains(".cases")).collect()
}

/// An event, its conditions, and one list for each answer. `allow` makes it an entry that widens.
const HOLD: &str = r#"
tool:pre_execute:bash {"/tool_args/command": {"runs": "sudo"}} ["sudo ls", "env sudo ls", {"tool_args": {"command": "sudo x"}}] ["ls", "git commit -m 'no sudo'", {"tool_args": {"command": "ls"}}]
tool:pre_execute:bash {"/tool_args/command": {"not": {"runs": "ls"}}} ["rm y"] ["ls", "sudo ls"]
tool:pre_execute:bash {"/tool_args/command": {"runs": "rm", "paths": "outside"}} ["rm -r /etc/x", "rm ../x", "rm ~/x", "rm \"$X\""] ["rm -r build", "rm -r /tmp/x", "rm a/../b"]
tool:pre_execute:bash {"/tool_args/command": {"writes": ["**/.env", "~/.ssh/**"]}} ["echo x > .env", "tee a/.env", "cp k ~/.ssh/id"] ["cat .env", "echo x > .env.example"]
tool:pre_execute:write|edit {"/tool_args/path": ["**/.env", "secrets/**"]} [".env", "a/.env", "secrets/x", "a/../.env", "/project/secrets/x", {"tool_name": "edit", "tool_args": {"path": ".env"}}] ["a.env", ".env.example", "secrets", {"tool_name": "read", "tool_args": {"path": ".env"}}]
tool:pre_execute:read {"/tool_args/path": {"path": "outside"}} ["/etc/passwd", "../x", "~/x"] ["x", "/tmp/x", "/project/x"]
tool:pre_execute:fetch {"/tool_args/url": "https://example.com/*"} ["https://example.com/a"] ["https://example.org/a", "http://example.com/a"]
user:prompt_submit {"/prompt": {"regex": "(?i)password"}} ["my Password is x"] ["hello"]
tool:pre_execute:multi_edit {"/tool_args/edits/*/path": "*.lock"} ["a.lock", {"tool_args": {"edits": [{"path": "a"}, {"path": "b.lock"}]}}] ["a.rs"]
tool:pre_execute:x {"/tool_args/a~1b/0": "c"} ["c"] ["d"]
tool:pre_execute:grep {"/tool_args/path": "secrets/**"} ["secrets", {"tool_args": {"glob": "secrets/*"}}] ["src", {"tool_args": {}}]
tool:post_execute:bash {"/tool_args/command": {"runs": "git push"}} ["git push"] ["\"$X\" push"]
*:*m* {"/content": {"runs": "git push"}} ["\"$X\" push"] ["ls"]
session:end {"/reason": "x"} ["x"] ["y"]
game:saved {"/slot": "1"} ["1"] ["2"]
tool:* {"/tool_args/path": "a", "/tool_args/to": "b"} [{"tool_args": {"path": "a", "to": "b"}}] [{"tool_args": {"path": "a", "to": "c"}}]
allow:tool:pre_execute:bash {"/tool_args/command": {"runs_only": ["git status"]}} ["git status"] ["git status; rm x", "git status \"$X\""]
allow:tool:pre_execute:write {"/tool_args/path": "src/**"} ["src/a"] ["a", "src/../a"]
"#;

/// A guard would match it, whatever it is.
#[test]
fn a_case_without_the_tested_value_is_an_error() {
    for case in [
        json!({"tool_args": "git push -f"}),
        json!({"tool_nme": "bash"}),
        json!({"command": "git push -f"}),
        json!({"tool_args": {"command": null}}),
        json!({}),
    ] {
        for list in ["matches", "passes"] {
            let entry = json!({
                "event": "tool:pre_execute:bash",
                "when": {"/tool_args/command": {"runs": "git push"}},
                "answer": {"decision": "block"},
                "cases": {list: [case]},
            });
            let reported = reported(&entry);
            assert_eq!(reported.len(), 1, "{case}: {reported:?}");
            let message = "the case has no value at `/tool_args/command`";
            assert!(reported[0].contains(message), "{reported:?}");
        }
    }
}

#[test]
fn cases_hold_where_the_conditions_answer_so() {
    for row in HOLD.trim().lines() {
        let (event, rest) = row.split_once(' ').unwrap();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let [when, matches, passes] = [(); 3].map(|()| values.next().unwrap().unwrap());
        let (decision, event) = match event.strip_prefix("allow:") {
            Some(event) => ("allow", event),
            None => ("block", event),
        };
        let answer = json!({"decision": decision, "reason": "x"});
        let mut entry = json!({"event": event, "when": when, "answer": answer});
        entry["cases"] = json!({"matches": matches, "passes": passes});
        assert_eq!(reported(&entry), [""; 0], "{row}");
        // Each of them fails in the other list.
        let (matches, passes) = (&matches, &passes);
        entry["cases"] = json!({"matches": passes, "passes": matches});
        let count = [matches, passes].map(|list| list.as_array().unwrap().len());
        assert_eq!(reported(&entry).len(), count[0] + count[1], "{row}");
    }
}

/// The text of a file after its first line, and its problems.
const FAIL: &str = r#"
{"matches": ["sudo ls", "ls"]} => error: FILE:3:27: hooks[0].cases.matches[1]: `no_sudo` lets pass, and must match `ls`: the condition on `/tool_args/command`, `runs sudo`, does not match
{"passes": ["a; sudo ls"]} => error: FILE:3:15: hooks[0].cases.passes[0]: `no_sudo` matches, and must let pass `a; sudo ls`: the condition on `/tool_args/command`, `runs sudo`, matches: `sudo` in `sudo ls`
{"passes": ["ls", {"tool_args": {"command": 5}}]} => error: FILE:3:21: hooks[0].cases.passes[1]: `no_sudo` matches, and must let pass `{"tool_args": {"command": 5}}`: the condition on `/tool_args/command`, `runs sudo`, could not be tested: its value is not a text
{"matches": [{"tool_name": "write", "tool_args": {"command": "sudo ls"}}]} => error: FILE:3:16: hooks[0].cases.matches[0]: `no_sudo` lets pass, and must match `{"tool_name": "write", "tool_args": {"command": "sudo ls"}}`: `tool:pre_execute:bash` names another tool
[] => error: FILE:3:3: hooks[0].cases: expected an object with the lists `matches` and `passes`, found a list
{"match": ["x"]} => error: FILE:3:4: hooks[0].cases.match: expected one of `matches`, `passes`, found `match`, did you mean `matches`?
{"matches": "sudo"} => error: FILE:3:15: hooks[0].cases.matches: expected a list of cases, found a string
{"matches": [5]} => error: FILE:3:16: hooks[0].cases.matches[0]: expected a string, or an object with the event's data, found a number
{"matches": [{"tool_name": 5}]} => error: FILE:3:16: hooks[0].cases.matches[0].tool_name: expected a string, found a number
{"matches": [{"a": 1e999}]} => error: FILE:3:22: hooks[0].cases.matches[0]: the number is out of range
{"matches": [], "matches": []} => error: FILE:3:19: hooks[0].cases.matches: the key occurs twice
{}, "cases": {} => error: FILE:3:7: hooks[0].cases: the key occurs twice
"#;

const GUARD: &str = r#"{"hooks": [{"event": "tool:pre_execute:bash", "name": "no_sudo",
  "when": {"/tool_args/command": {"runs": "sudo"}}, "answer": {"decision": "block"}, "cases":
  CASES}]}"#;

#[test]
fn cases_that_fail_are_errors_at_their_line() {
    for row in FAIL.trim().lines() {
        let (cases, expected) = row.split_once(" => ").unwrap();
        let report = check(&GUARD.replace("CASES", cases));
        assert_eq!(report.to_string().trim_end(), expected, "{cases}");
        assert!(!report.is_ok() && report.loaded == 1, "{cases}");
    }
}

#[test]
fn a_text_needs_one_condition() {
    let two = json!({"/tool_args/a": "x", "/tool_args/b": "y"});
    for (when, words, fix) in [
        (json!({}), "no condition", "`forge-hooks test` with a table"),
        (
            two,
            "more than one condition",
            "write an object with the event's data",
        ),
    ] {
        let entry = json!({"event": "tool:pre_execute:x", "when": when, "answer": {"decision": "block"},
            "cases": {"matches": ["x"]}});
        let problems = reported(&entry);
        assert_eq!(problems.len(), 1, "{problems:?}");
        let expected = format!("hooks[0].cases.matches[0]: the entry has {words}, and");
        assert!(problems[0].contains(&expected), "{problems:?}");
        assert!(problems[0].contains(fix), "{problems:?}");
    }
}

#[test]
fn a_command_is_not_run_by_its_cases() {
    let world = World::new();
    let entry = json!({"event": "tool:pre_execute:bash", "when": {"/tool_args/command": "git *"},
        "command": format!("touch {}", world.path("ran").display()),
        "cases": {"matches": ["git push"], "passes": ["ls"]}});
    let path = world.write("hooks.json", &json!({"hooks": [entry]}).to_string());
    let report = HookConfig::default().check(path);
    assert!(report.problems.is_empty(), "{report}");
    assert!(!world.path("ran").exists());
}

#[test]
fn cases_are_limited_in_number() {
    let cases = vec!["sudo"; 1001];
    let text = GUARD.replace("CASES", &json!({"matches": cases}).to_string());
    let report = check(&text);
    let message = "an entry has at most 1,000 cases: write another entry";
    assert!(report.to_string().contains(message), "{report}");
    assert_eq!(report.problems.len(), 1, "{report}");
}

fn load(world: &World, policy: TrustPolicy) -> Hooks {
    Hooks::builder(AppProfile::new("myagent"))
        .config_home(world.path("config"))
        .without_system_file()
        .project(world.path("project"))
        .trust(policy)
        .load()
}

/// A mistake in the cases is a warning for the host, and the guard decides as without them.
#[test]
fn broken_cases_block_nothing() {
    let world = World::new();
    for cases in [
        "5",
        "{\"matches\": 5}",
        "{}, \"cases\": 5",
        "{\"matches\": [1e999]}",
        "{\"matches\": [\"ls\"]}",
        "{}, \"case\": {}",
    ] {
        world.write(
            "project/.myagent/hooks.json",
            &GUARD.replace("CASES", cases),
        );
        let hooks = load(&world, TrustPolicy::Everything);
        let report = hooks.report();
        let is_warning = |problem: &forge_hooks::config::Problem| !problem.is_error();
        assert!(report.problems.iter().all(is_warning), "{cases}: {report}");
        // What does not hold is no mistake of form.
        let expected = usize::from(!cases.contains("ls"));
        assert_eq!(report.problems.len(), expected, "{cases}: {report}");
        let bash = |command: &str| HookEvent::tool_pre_execute("bash", json!({"command": command}));
        assert!(hooks.execute(&bash("ls")).allowed(), "{cases}");
        assert!(
            hooks.execute(&bash("sudo ls")).blocked().is_some(),
            "{cases}"
        );
    }
}

/// An approval is for what a hook does, and shows the cases that hold.
#[test]
fn a_change_of_a_case_keeps_the_approval() {
    let world = World::new();
    let write = |cases: &str| {
        world.write(
            "project/.myagent/hooks.json",
            &GUARD.replace("CASES", cases),
        );
    };
    let store = TrustStore::new(world.path("trust.json"));
    let config = HookConfig::new(AppProfile::new("myagent"));
    write(r#"{"matches": ["sudo \u202els", "ls"], "passes": ["cat x"], "match": ["sudo b"]}"#);
    let hooks = config.load_project(world.path("project"));
    let approval = Approval::of(world.path("project"), &hooks).unwrap();
    let text = approval.to_string();
    assert!(
        text.contains(r#""sudo \u{202e}ls""#) && text.contains("cat x"),
        "{text}"
    );
    assert!(
        !text.contains("\"ls\"") && !text.contains("sudo b"),
        "{text}"
    );
    assert!(
        text.contains("Note: cases that do not hold are left out: 2"),
        "{text}"
    );
    store.approve(&approval).unwrap();
    write(r#"{"matches": ["sudo a"]}"#);
    let changed = config.load_project(world.path("project"));
    assert_ne!(changed, hooks);
    let now = Approval::of(world.path("project"), &changed).unwrap();
    assert_eq!(now.digest(), approval.digest());
    let hooks = load(&world, TrustPolicy::Approved(store.clone()));
    let is_approved = hooks.approve_with(|approval| panic!("nothing has changed: {approval}"));
    assert!(is_approved.unwrap());
    assert!(hooks.report().is_ok(), "{}", hooks.report());
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "sudo ls"}));
    let outcome = hooks.execute(&event);
    assert_eq!(outcome.blocked().unwrap().hook().label(), "no_sudo");
}

#[test]
fn cases_are_written_again() {
    let entry = json!({"event": "tool:pre_execute:bash", "command": "x", "cases": {"matches": ["a"], "passes": [{"tool_args": {}}]}});
    let hook = Hook::from_json(&entry).unwrap();
    assert_eq!(hook.to_json(), entry);
    let text = serde_json::to_string(&hook).unwrap();
    assert!(
        text.ends_with(r#""cases":{"matches":["a"],"passes":[{"tool_args":{}}]}}"#),
        "{text}"
    );
    assert_eq!(hook.with_enabled(false).to_json()["cases"], entry["cases"]);
}
