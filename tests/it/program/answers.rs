//! The program's output about hooks whose answer stands in their entry, and about what an answer may do.

use forge_hooks::Hook;
use serde_json::{Value, json};

use super::User;

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
            json!({"answer": {"decision": "ask", "note": 1}}),
            "keys of the answer are ignored: `note`",
        ),
        (
            json!({"answer": {"result": {"decision": "block"}}}),
            "`decision` is not read in this place",
        ),
        (
            json!({"answer": {"decision": "ask"}, "command": "x"}),
            "together with `answer`",
        ),
        (
            json!({"answer": {"decision": "ask"}, "args": ["x"]}),
            "together with `answer`",
        ),
        (
            json!({"answer": {"decision": "ask"}, "timeout": 5}),
            "together with `answer`",
        ),
        (
            json!({"answer": {"decision": "ask"}, "may": ["grant"]}),
            "an answer in the entry needs no `may`",
        ),
        (
            json!({"answer": {"decision": "ask"}, "background": true}),
            "together with `answer`",
        ),
        (
            json!({"answer": {"decision": "ask"}, "on_failure": "continue"}),
            "together with `answer`",
        ),
        (
            json!({"answer": {"reason": "x"}}),
            "`answer`: the answer says nothing",
        ),
        (
            json!({"answers": {"decision": "ask"}}),
            "neither `args` nor `answer`",
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
            .run(&["check", "--json", file.to_str().unwrap()])
            .json();
        let problem = &checked["problems"][0];
        let message = problem["message"].as_str().unwrap();
        let words = words.strip_prefix("`answer`: ").unwrap_or(words);
        assert!(message.contains(words), "{problem}");
        assert_eq!(problem["line"], 1, "{problem}");
        assert!(problem["offset"].as_u64().unwrap() >= 10, "{problem}");
    }
}

/// The display of the answer to people and to other programs.
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
    let output = trusted.out + &trusted.err;
    assert!(
        output.contains("\"answer\"") && output.contains("Files covered: none"),
        "{output}"
    );
    let fire = |command: &str, more: &[&str]| {
        let args = json!({"command": command}).to_string();
        let mut arguments = vec![
            "fire",
            "tool:pre_execute",
            "--tool",
            "bash",
            "--args",
            &args,
        ];
        arguments.extend(more);
        user.run(&arguments)
    };
    assert_eq!(fire("sudo ls", &[]).status, 1);
    assert_eq!(fire("ls", &[]).status, 0);
    let json = fire("sudo ls", &["--json"]).json();
    assert_eq!(json["reason"], "no sudo");
    assert_eq!(json["results"][0]["hook"], entry);
    let dry = user.run(&["list", "tool:pre_execute", "--tool", "bash"]);
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
    let expected =
        "May: change the input, replace the messages of a model request, grant permissions";
    assert!(
        trusted.out.contains(expected),
        "{}{}",
        trusted.out,
        trusted.err
    );
    let listed = user.run(&["list"]).out;
    assert!(
        listed.contains("may      change the input, replace the messages of a model request"),
        "{listed}"
    );
    let fire = ["fire", "tool:pre_execute", "--tool", "bash"];
    assert_eq!(user.run(&fire).status, 0);
    // Only what can happen at its events.
    for (event, expected) in [
        ("llm:*", "May: replace the messages of a model request\n"),
        ("tool:pre_execute:bash", "May: change the input\n"),
        ("user:prompt_submit", "May: change the input\n"),
    ] {
        write(&json!({"event": event, "command": "true", "may": ["change_input"]}));
        let trusted = user.run(&["trust", "--yes"]).out;
        assert!(trusted.contains(expected), "{event}: {trusted}");
    }
    write(&entry);
    assert_eq!(user.run(&["trust", "--yes"]).status, 0);
    // A further word is another entry, which was not approved.
    write(
        &json!({"event": "*", "command": "true", "name": "n", "may": ["change_input", "grant", "end_turn"]}),
    );
    assert_eq!(user.run(&fire).status, 1);
}

/// An entry that cannot be used blocks, whatever else it says; a trace, `fire` and `list` say what would follow.
#[test]
fn people_are_told_what_would_follow() {
    let user = User::new();
    let file = |entries: Value| {
        let text = json!({ "hooks": entries }).to_string();
        user.write("hooks.json", &text)
    };
    let entry =
        json!({"event": "*", "command": "echo no; exit 1", "enforce": false, "name": "guard"});
    let path = file(json!([entry]));
    let args = |words: &'static str| {
        let mut all: Vec<_> = words.split(' ').map(str::to_owned).collect();
        all.extend(["--config".to_owned(), path.to_string_lossy().into_owned()]);
        all
    };
    let run = |words: &'static str| {
        let all = args(words);
        user.run(&all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let fired = run("fire tool:pre_execute --tool bash");
    assert_eq!(fired.status, 0, "{}", fired.err);
    assert!(
        fired.err.contains("would block, is not enforced")
            || fired.out.contains("would block, is not enforced")
    );
    let json = run("fire tool:pre_execute --tool bash --json").json();
    assert_eq!(json["allowed"], true);
    assert_eq!(json["results"][0]["would"], "block");
    assert!(json["messages"].as_array().unwrap().is_empty(), "{json}");
    let listed = run("list").out;
    assert!(listed.contains("enforce  nothing follows"), "{listed}");
    let dry = run("list tool:pre_execute --tool bash");
    assert!((dry.out + &dry.err).contains("runs; enforce: nothing follows"));
    file(json!([{"event": "*", "comand": "x", "enforce": false}]));
    let blocked = run("fire tool:pre_execute --tool bash --json").json();
    assert_eq!(blocked["allowed"], false, "{blocked}");
}

/// The author meant a guard: its place is taken by one that blocks.
#[test]
fn an_invalid_answer_blocks_whatever_stands_beside_it() {
    let user = User::new();
    for rest in [
        json!({"answer": {"decision": "block"}, "background": true}),
        json!({"answer": {"decision": "blok"}, "background": true}),
        json!({"answer": {"decision": "block"}, "timeout": 5}),
        json!({"answer": {"decision": "block"}, "enforce": "no"}),
    ] {
        let mut entry = json!({"event": "tool:pre_execute"});
        let members = rest.as_object().unwrap().clone();
        entry.as_object_mut().unwrap().extend(members);
        let file = user.write("hooks.json", &json!({"hooks": [entry]}).to_string());
        let fire = ["fire", "tool:pre_execute", "--tool", "bash", "--config"];
        let args = [&fire[..], &[file.to_str().unwrap()]].concat();
        assert_eq!(user.run(&args).status, 1, "{entry}");
    }
}

#[test]
fn fire_says_why_an_answer_was_given() {
    let user = User::new();
    let entry = json!({"event": "tool:pre_execute", "when": {"/tool_args/path": {"not": "src/**"}},
        "answer": {"decision": "block", "reason": "no"}});
    let file = user.write("hooks.json", &json!({"hooks": [entry]}).to_string());
    let file = file.to_str().unwrap();
    for (args, words) in [
        (
            r#"{"file": "x"}"#,
            "the condition on `/tool_args/path` could not be tested",
        ),
        (
            r#"{"path": 5}"#,
            "the condition on `/tool_args/path` could not be tested",
        ),
        (r#"{"path": "x"}"#, "reason  no"),
    ] {
        let words_of_fire = [
            "fire",
            "tool:pre_execute",
            "--tool",
            "write",
            "--args",
            args,
            "--config",
            file,
        ];
        let fired = user.run(&words_of_fire);
        let output = fired.out + &fired.err;
        assert!(output.contains(words), "{args}: {output}");
    }
}

#[test]
fn an_approval_says_what_an_answer_in_an_entry_does() {
    let user = User::new();
    let grants = json!({"event": "permission:check", "answer": {"decision": "allow"}});
    let ends = json!({"event": "agent:stop", "answer": {"continue": false}});
    let stops = json!({"event": "tool:pre_execute", "answer": {"continue": false}});
    let text = json!({"hooks": [grants, ends, stops]}).to_string();
    user.write("project/.src/forge/hooks.json", &text);
    let output = user.run(&["trust", "--yes"]).out;
    let may: Vec<_> = output
        .lines()
        .filter(|line| line.contains("May: "))
        .collect();
    assert_eq!(
        may,
        [
            "  May: grant permissions",
            "  May: end the turn against other hooks"
        ],
        "{output}"
    );
}

/// Globs and answers that probably do not do what was meant.
#[test]
fn probable_mistakes_are_warnings() {
    let user = User::new();
    for (rest, words) in [
        (
            json!({"when": {"/tool_args/command": "git *"}}),
            "for a command, write {\"runs\": \"git\"}",
        ),
        (
            json!({"when": {"/tool_args/command": "git push*"}}),
            "for a command, write {\"runs\": \"git push\"}",
        ),
        (
            json!({"when": {"/tool_args/command": "git push*"}, "answer": {"decision": "allow"}}),
            "for a command, write {\"runs_only\": [\"...\"]}",
        ),
        (
            json!({"when": {"/tool_args/path": "!src/**"}}),
            "write {\"not\": ",
        ),
        (
            json!({"when": {"/tool_args/path": {"not": "^src/.*$"}}}),
            "looks like a regular expression",
        ),
        (
            json!({"answer": {"decision": "ask", "updatedOutput": "x"}}),
            "only on `tool:post_execute`",
        ),
        (
            json!({"event": "tool:post_execute", "answer": {"decision": "block"}}),
            "nothing can be blocked any more",
        ),
    ] {
        let mut entry = json!({"event": "tool:pre_execute", "answer": {"decision": "ask"}});
        let members = rest.as_object().unwrap().clone();
        entry.as_object_mut().unwrap().extend(members);
        let file = user.write("hooks.json", &json!({"hooks": [entry]}).to_string());
        let checked = user.run(&["check", file.to_str().unwrap()]);
        let output = checked.out + &checked.err;
        assert!(output.contains(words), "{entry}: {output}");
        assert!(output.contains("0 errors, 1 warning"), "{entry}: {output}");
    }
}
