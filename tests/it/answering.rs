//! Hooks whose answer stands in their entry: no process, the same on every system.

use forge_hooks::hook::{Condition, HookCommand};
use forge_hooks::{Decision, FireOptions, Hook, HookEvent, HookOutput, Lifecycle, Outcome};
use serde_json::{Value, json};

use crate::program::User;
use crate::support::{World, hook};

fn answering(event: &str, answer: &Value) -> Hook {
    Hook::from_json(&json!({"event": event, "answer": answer})).unwrap()
}

#[test]
fn an_answer_counts_as_if_a_hook_had_written_it() {
    for answer in [
        json!({"decision": "block", "reason": "no"}),
        json!({"decision": "deny"}),
        json!({"decision": "ask", "reason": "sure?"}),
        json!({"decision": "allow"}),
        json!({"continue": false, "stopReason": "enough"}),
        json!({"updatedInput": {"command": "ls -l"}, "systemMessage": "m"}),
        json!({"updatedOutput": ""}),
        json!({"additionalContext": "c", "feedback": "f"}),
        json!({"hookSpecificOutput": {"permissionDecision": "ask"}}),
    ] {
        let (world, other) = (World::new(), World::new());
        world.add(answering("*", &answer));
        let says = other.says(&answer.to_string());
        other.hook("*", &says);
        for event in events() {
            let options = FireOptions::default().handles_ask();
            let [ours, theirs] = [&world, &other].map(|it| it.executor.execute(&event, options));
            check(&ours, &theirs, &format!("{answer} on {}", event.event_type));
        }
    }
}

fn events() -> [HookEvent; 4] {
    [
        HookEvent::tool_pre_execute("bash", json!({"command": "ls"})),
        HookEvent::tool_post_execute("bash", json!({}), "x"),
        HookEvent::agent_stop(false),
        HookEvent::session_start("s"),
    ]
}

/// Checks that an answer in an entry counts as the one that was written.
fn check(ours: &Outcome, theirs: &Outcome, case: &str) {
    let (result, written) = (&ours.results()[0], &theirs.results()[0]);
    assert_eq!(result.output(), written.output(), "{case}");
    assert_eq!(result.decision(), written.decision(), "{case}");
    let follows = |it: &Outcome| (it.allowed(), it.decision(), it.reason().map(str::to_owned));
    assert_eq!(follows(ours), follows(theirs), "{case}");
    assert!(result.success() && !result.started(), "{case}");
    assert_eq!((result.exit_code, result.pid()), (0, None), "{case}");
    assert!(result.diagnostics().is_empty(), "{case}");
}

/// An entry with a mistake, and what its problem says.
fn mistakes() -> Vec<(Value, &'static str)> {
    vec![
        (json!({"answer": {}}), "`answer`: the answer says nothing"),
        (json!({"answer": {"decision": null}}), "says nothing"),
        (
            json!({"answer": "block"}),
            "`answer`: expected an object, as in",
        ),
        (
            json!({"answer": {"decision": "maybe"}}),
            "unknown decision `maybe`",
        ),
        (
            json!({"answer": {"descision": "block"}}),
            "did you mean `decision`",
        ),
        (
            json!({"answer": {"updatedInput": "ls"}}),
            "`updatedInput`: expected an object",
        ),
        (
            json!({"answer": {"reason": "x", "note": 1}}),
            "keys of the answer are ignored: `note`",
        ),
        (
            json!({"answer": {"result": {"decision": "block"}}}),
            "`decision` is not read in this place",
        ),
        (
            json!({"answer": {"reason": "x"}, "command": "x"}),
            "together with `answer`",
        ),
        (
            json!({"answer": {"reason": "x"}, "args": ["x"]}),
            "together with `answer`",
        ),
        (
            json!({"answer": {"reason": "x"}, "timeout": 5}),
            "together with `answer`",
        ),
        (
            json!({"answer": {"reason": "x"}, "may": ["grant"]}),
            "together with `answer`",
        ),
        (
            json!({"answer": {"reason": "x"}, "background": true}),
            "together with `answer`",
        ),
        (
            json!({"answer": {"reason": "x"}, "on_failure": "continue"}),
            "together with `answer`",
        ),
        (json!({}), "there is neither `args` nor `answer`"),
    ]
}

#[test]
fn a_wrong_answer_is_a_problem_with_its_place() {
    let user = User::new();
    for (rest, words) in mistakes() {
        let mut entry = json!({"event": "tool:pre_execute"});
        let members = rest.as_object().unwrap().clone();
        entry.as_object_mut().unwrap().extend(members);
        let error = Hook::from_json(&entry).unwrap_err().to_string();
        assert!(error.contains(words), "{entry}: {error}");
        let file = user.write("hooks.json", &json!({"hooks": [entry]}).to_string());
        let checked = user
            .run(&["validate", "--json", file.to_str().unwrap()])
            .json();
        let problem = &checked["problems"][0];
        let message = problem["message"].as_str().unwrap();
        let words = words.strip_prefix("`answer`: ").unwrap_or(words);
        assert!(message.contains(words), "{problem}");
        assert_eq!(problem["line"], 1, "{problem}");
        let begin = problem["offset"].as_u64().unwrap();
        assert!(begin > 10 || rest == json!({}), "{problem}");
    }
}

/// What could not be tested stops an operation, and does nothing else.
#[test]
fn an_answer_in_doubt_only_stops() {
    let long = format!("rm -rf ~ #{}", "x".repeat(17 * 1024));
    let answer = json!({
        "decision": "allow", "updatedInput": {"a": 1}, "additionalContext": "c", "systemMessage": "m",
    });
    let world = World::new();
    let condition = Condition::Regex("^ls [a-z]*$".into());
    let answers = answering("tool:pre_execute", &answer);
    world.add(answers.with_when("/tool_args/command", condition).unwrap());
    let fired = |command: &str| {
        let event = HookEvent::tool_pre_execute("bash", json!({"command": command}));
        world.outcome(&event)
    };
    let met = fired("ls src");
    assert_eq!(met.decision(), Some(Decision::Allow));
    assert!(met.updated_input().is_some() && met.additional_context().is_some());
    let doubt = fired(&long);
    assert!(doubt.allowed() && doubt.decision().is_none());
    assert_eq!(
        (doubt.updated_input(), doubt.additional_context()),
        (None, None)
    );
    assert_eq!(doubt.system_messages()[0], "m");
    let blocks = json!({"decision": "block", "reason": "no"});
    let blocks = answering("tool:pre_execute", &blocks);
    world.add(blocks.with_when("/tool_args/command", "rm *").unwrap());
    assert!(!fired(&long).allowed());
}

#[test]
fn a_permission_can_be_granted_by_an_answer() {
    let world = World::new();
    world.add(answering(
        "permission:check:ls",
        &json!({"decision": "allow"}),
    ));
    let lifecycle = Lifecycle::new(world.executor.clone());
    let granted = |tool: &str| {
        let request = lifecycle.permission(tool, "execute").hooks_may_grant();
        request.run(|_| false).unwrap().granted
    };
    assert!(granted("ls") && !granted("rm"));
}

#[test]
fn an_answer_is_observed_too() {
    let world = World::new();
    let blocks = answering("*", &json!({"decision": "block"}));
    world.add(blocks.with_enforce(false));
    let outcome = world.outcome(&HookEvent::tool_pre_execute("bash", "ls"));
    assert!(outcome.allowed());
    assert_eq!(outcome.results()[0].would(), Some(Decision::Block));
}

/// The settings of a process change nothing.
#[test]
fn settings_of_a_process_have_no_effect() {
    let mut output = HookOutput::default();
    output.decision = Some(Decision::Block);
    let hook = Hook::answering("*", output.clone()).unwrap();
    let hook = hook
        .with_background()
        .with_resident()
        .with_working_dir("gone");
    assert!(!hook.background() && !hook.resident());
    let world = World::new();
    assert!(!world.one(hook.clone()).should_continue());
    assert!(matches!(hook.command(), HookCommand::Answer(answer) if **answer == output));
    assert_eq!(hook.command().to_string(), r#"{"decision":"block"}"#);
    assert!(Hook::answering("*", HookOutput::default()).is_err());
    assert!(Hook::answering("a:", output).is_err());
}

/// What people and other programs see of it.
#[test]
fn the_program_knows_answers() {
    let user = User::new();
    let entry = json!({"event": "tool:pre_execute:bash", "name": "sudo", "description": "no sudo",
        "when": {"/tool_args/command": {"regex": "\\bsudo\\b"}},
        "answer": {"decision": "block", "reason": "no sudo"}});
    user.write(
        "project/.src/forge/hooks.json",
        &json!({"hooks": [entry]}).to_string(),
    );
    let trusted = user.run(&["trust", "--yes"]);
    let shown = trusted.out + &trusted.err;
    assert!(
        shown.contains("\"answer\"") && shown.contains("Scripts covered: none"),
        "{shown}"
    );
    let fire = |command: &str, more: &[&str]| {
        let args = json!({"command": command}).to_string();
        let mut words = vec![
            "fire",
            "tool:pre_execute",
            "--tool",
            "bash",
            "--args",
            &args,
        ];
        words.extend(more);
        user.run(&words)
    };
    assert_eq!(fire("sudo ls", &[]).status, 1);
    assert_eq!(fire("ls", &[]).status, 0);
    let json = fire("sudo ls", &["--json"]).json();
    assert_eq!(json["reason"], "no sudo");
    assert_eq!(json["results"][0]["hook"], entry);
    let dry = fire("sudo ls", &["--dry-run"]);
    assert!((dry.out + &dry.err).contains("answers, without a process"));
    let listed = user.run(&["list"]).out;
    assert!(
        listed.contains(r#"answer   {"decision":"block""#),
        "{listed}"
    );
    // A script beside it does not concern it.
    user.write("project/.src/forge/hooks/new.sh", "exit 0");
    assert_eq!(fire("sudo ls", &["--json"]).json()["reason"], "no sudo");
    let case = json!([{"event": "tool:pre_execute", "tool": "bash", "args": {"command": "sudo"}, "expect": "block"}]);
    let cases = user.write("cases.json", &case.to_string());
    let tested = user.run(&["test", cases.to_str().unwrap()]);
    assert_eq!(tested.status, 0, "{}{}", tested.out, tested.err);
}

/// A person reads it before the approval.
#[test]
fn an_approval_says_what_an_answer_may_do() {
    let user = User::new();
    let entry =
        json!({"event": "*", "command": "true", "name": "n", "may": ["change_input", "grant"]});
    let write = |entry: &Value| {
        let text = json!({"hooks": [entry]}).to_string();
        user.write("project/.src/forge/hooks.json", &text);
    };
    write(&entry);
    let trusted = user.run(&["trust", "--yes"]);
    let words = "May: change the input, grant permissions";
    assert!(
        trusted.out.contains(words),
        "{}{}",
        trusted.out,
        trusted.err
    );
    let listed = user.run(&["list"]).out;
    assert!(
        listed.contains("may      change the input, grant permissions"),
        "{listed}"
    );
    let fire = ["fire", "tool:pre_execute", "--tool", "bash"];
    assert_eq!(user.run(&fire).status, 0);
    // A further word is another entry, which was not approved.
    write(
        &json!({"event": "*", "command": "true", "name": "n", "may": ["change_input", "grant", "end_turn"]}),
    );
    assert_eq!(user.run(&fire).status, 1);
}

#[test]
fn answers_and_processes_keep_their_order() {
    let world = World::new();
    world.hook("*", "echo first >&2");
    world.add(answering("*", &json!({"additionalContext": "a"})));
    world.add(hook("*", r#"echo '{"additionalContext": "b"}'"#));
    world.add(answering("*", &json!({"decision": "block"})));
    world.hook("*", "echo last >&2");
    let event = HookEvent::tool_pre_execute("bash", "ls");
    let outcome = world.outcome(&event);
    assert_eq!(outcome.results().len(), 4);
    assert_eq!(outcome.additional_context().as_deref(), Some("a\nb"));
    let handle = world.submit(event);
    assert_eq!(handle.wait().results().len(), 4);
}
