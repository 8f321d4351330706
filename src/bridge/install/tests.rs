//! `install` adds handlers, and `uninstall` removes them: other values and comments stay.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::agents::{BRIDGED, CLAUDE, CODEX, COPILOT, GEMINI, OwnCommand};
use crate::json;

fn registration() -> Registration {
    Registration {
        program: "/home/ada/.cargo/bin/forge-hooks".into(),
        original: None,
        home: "/home/ada".into(),
        config_home: None,
        path: "/usr/bin:/bin".to_owned(),
        profile: None,
        inherited: Vec::new(),
        trace_events: None,
        left_out: Vec::new(),
    }
}

fn handlers(agent: &Agent) -> Vec<(&'static str, Value)> {
    registration().handlers(agent).unwrap()
}

fn is_ours(agent: &Agent, command: &str) -> bool {
    OwnCommand::read(agent, command).is_some()
}

/// The value of a text as the agents read it.
fn value_of(text: &str) -> Value {
    let text = json::readable(text);
    let tree = json::parse_object(&text).unwrap_or_else(|fault| panic!("{fault:?}: {}", &*text));
    json::Node::new(&tree).value().unwrap()
}

/// The settings without the handlers of this program, and without the lists and objects that this makes empty.
fn without_own(agent: &Agent, mut settings: Value, before: &Value) -> Value {
    let Some(events) = settings.get_mut("hooks").and_then(Value::as_object_mut) else {
        return settings;
    };
    for groups in events.values_mut().filter_map(Value::as_array_mut) {
        let is_own = |group: &Value| {
            let command = group.pointer("/hooks/0/command").and_then(Value::as_str);
            command.is_some_and(|command| is_ours(agent, command))
        };
        groups.retain(|group| !is_own(group));
    }
    events.retain(|event, groups| {
        *groups != json!([]) || before.pointer(&format!("/hooks/{event}")).is_some()
    });
    if events.is_empty() && before.get("hooks").is_none() {
        settings.as_object_mut().unwrap().remove("hooks");
    }
    settings
}

/// The settings without empty lists of events, and without an empty object of events.
fn pruned(mut settings: Value) -> Value {
    if let Some(events) = settings.get_mut("hooks").and_then(Value::as_object_mut) {
        events.retain(|_, groups| *groups != json!([]));
        if events.is_empty() {
            settings.as_object_mut().unwrap().remove("hooks");
        }
    }
    settings
}

/// How often each comment of `space` that ends with its line is in a text.
fn comments(text: &str) -> [usize; 2] {
    ["// c, }", "// a \"b\" ["].map(|comment| text.matches(comment).count())
}

/// The events that the settings below may have.
const EVENTS: &[&str] = &[
    "PreToolUse",
    "Stop",
    "SessionStart",
    "BeforeTool",
    "AfterAgent",
    "Custom",
];

/// White space and comments.
fn space() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => Just(""), 2 => Just(" "), 3 => Just("\n"), 2 => Just("\n  "), 1 => Just("\n\t"), 1 => Just("\r\n    "), 1 => Just("\t"),
        1 => Just("/* c, */"), 1 => Just("// c, }\n"), 1 => Just("\n// a \"b\" [\n  "),
    ];
    proptest::collection::vec(part, 0..3).prop_map(|parts| parts.concat())
}

/// Items between brackets, with white space and perhaps a comma at the end.
fn list(brackets: [&'static str; 2], items: BoxedStrategy<Vec<String>>) -> BoxedStrategy<String> {
    (items, proptest::collection::vec(space(), 20), any::<bool>())
        .prop_map(move |(items, spaces, has_comma)| {
            let mut spaces = spaces.into_iter().cycle();
            let mut space = || spaces.next().unwrap();
            let mut text = brackets[0].to_owned() + &space();
            for (index, item) in items.iter().enumerate() {
                let is_last = index + 1 == items.len();
                let comma = if is_last && !has_comma { "" } else { "," };
                text += &format!("{item}{}{comma}{}", space(), space());
            }
            text + brackets[1]
        })
        .boxed()
}

fn group() -> BoxedStrategy<String> {
    let handler = prop_oneof![
        Just(r#"{"type": "command", "command": "other-tool"}"#),
        Just(
            r#"{"type":"command","command":"echo forge-hooks hook claude PreToolUse","timeout":5}"#
        ),
        Just(r#"{"command": "notforge-hooks hook claude Stop"}"#),
    ];
    let handlers = proptest::collection::vec(handler.prop_map(str::to_owned), 0..3).boxed();
    let group = list(["[", "]"], handlers)
        .prop_map(|handlers| format!(r#"{{"matcher": "Bash", "hooks": {handlers}}}"#));
    prop_oneof![8 => group, 1 => Just("{}".to_owned()), 1 => Just("7".to_owned())].boxed()
}

fn hooks() -> BoxedStrategy<String> {
    let names = proptest::sample::subsequence(EVENTS, 0..5);
    let groups = list(["[", "]"], proptest::collection::vec(group(), 0..3).boxed());
    let events = (names, proptest::collection::vec(groups, 5)).prop_map(|(names, lists)| {
        let events = names.into_iter().zip(lists);
        events
            .map(|(name, groups)| format!(r#""{name}": {groups}"#))
            .collect()
    });
    list(["{", "}"], events.boxed())
}

fn settings() -> impl Strategy<Value = String> {
    let hooks = proptest::option::weighted(0.7, hooks());
    let others = proptest::sample::subsequence(
        vec![r#""model": "opus""#, r#""env": {"A": "1"}"#, r#""x":[1,2]"#],
        0..4,
    );
    let members = (hooks, others, any::<bool>()).prop_map(|(hooks, others, is_first)| {
        let mut members: Vec<_> = others.into_iter().map(str::to_owned).collect();
        if let Some(hooks) = hooks {
            let at = if is_first { 0 } else { members.len() };
            members.insert(at, format!(r#""hooks": {hooks}"#));
        }
        members
    });
    let root = list(["{", "}"], members.boxed());
    (any::<bool>(), space(), root, space()).prop_map(|(mark, before, root, behind)| {
        let mark = if mark { "\u{FEFF}" } else { "" };
        format!("{mark}{before}{root}{behind}")
    })
}

fn check(agent: &Agent, text: &str, events: &[&str]) {
    let of_events = |registration: Registration| {
        let mut handlers = registration.handlers(agent).unwrap();
        handlers.retain(|(event, _)| events.is_empty() || events.contains(event));
        handlers
    };
    let own = of_events(registration());
    let installed =
        install(agent, text, &own).unwrap_or_else(|mistake| panic!("{mistake:?}: {text}"));
    let again = install(agent, &installed, &own).unwrap();
    assert_eq!(again, installed, "once more");
    let (before, after) = (value_of(text), value_of(&installed));
    for (event, handler) in &own {
        let groups = after["hooks"][event].as_array().unwrap();
        let group = json!({"hooks": [handler]});
        assert_eq!(groups.last(), Some(&group), "{installed}");
    }
    assert_eq!(without_own(agent, after, &before), before, "{installed}");
    // Another version was installed in between.
    let other = of_events(Registration {
        path: "/bin".to_owned(),
        ..registration()
    });
    let other = install(agent, &installed, &other).unwrap();
    assert_ne!(other, installed);
    let back = install(agent, &other, &own).unwrap();
    assert_eq!(value_of(&back), value_of(&installed), "in place");
    check_removed(agent, &installed, text);
    check_removed(agent, &other, text);
}

/// Checks that nothing of this program is left, and all of a person's.
fn check_removed(agent: &Agent, installed: &str, text: &str) {
    let left = uninstall(agent, installed);
    let left = left.unwrap_or_else(|mistake| panic!("{mistake:?}: {installed}"));
    let before = value_of(text);
    let has_hooks = before.get("hooks").is_some();
    assert_eq!(pruned(value_of(&left)), pruned(before), "{installed}");
    // A comment beside something that goes with our handlers goes too.
    if !has_hooks {
        assert_eq!(comments(&left), comments(text), "{left}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn uninstall_gives_back_each_value(text in settings(), agent in 0..5_usize) {
        check(BRIDGED[agent], &text, EVENTS);
    }
}

#[test]
fn usual_settings_get_each_value_back() {
    for text in [
        "{}",
        "{}\n",
        "{\n}\n",
        "{ }",
        "{\"hooks\": {}}",
        "{\n  \"hooks\": {}\n}\n",
        "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  }\n}\n",
        "{\n\t\"model\": \"opus\"\n}\n",
        "{\"model\":\"opus\"}",
        "{ // c\n}",
        "\u{FEFF}{\r\n    \"model\": \"opus\",\r\n}\r\n",
    ] {
        BRIDGED[..5]
            .iter()
            .for_each(|agent| check(agent, text, &[]));
    }
}

#[test]
fn what_is_added_looks_like_the_rest() {
    let own = handlers(CLAUDE);
    for (text, begins) in [
        (
            "{}\n",
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n",
        ),
        (
            "{\r\n\t\"a\": 1\r\n}",
            "{\r\n\t\"a\": 1,\r\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": [\r\n",
        ),
        (
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {}\n    ]\n  }\n}",
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {},\n      {\n        \"hooks\": [",
        ),
    ] {
        let installed = install(CLAUDE, text, &own).unwrap();
        assert!(installed.starts_with(begins), "{installed}");
    }
}

#[test]
fn what_cannot_be_edited_safely_is_refused() {
    for (text, place, expected) in [
        ("", 0, "expected a value, found the end"),
        ("{\"hooks\": {", 10, "`}` is missing"),
        ("[]", 0, "expected an object"),
        ("hooks = 1", 0, "expected an object"),
        (
            "{\"hooks\": []}",
            10,
            "`hooks` is a list, expected an object",
        ),
        (
            "{\"hooks\": null}",
            10,
            "`hooks` is null, expected an object",
        ),
        (
            "{\"hooks\": {\"PreToolUse\": {}}}",
            25,
            "`PreToolUse` is an object, expected a list",
        ),
        (
            "{\"hooks\": {}, \"hooks\": {}}",
            14,
            "the key `hooks` occurs twice",
        ),
        ("{\"a\": 1, \"a\": 1}", 9, "the key `a` occurs twice"),
        (
            "{\"hooks\": {\"Stop\": [], \"Stop\": []}}",
            23,
            "the key `Stop` occurs twice",
        ),
        (
            "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"a\": 1, \"a\": 2}]}]}}",
            40,
            "the key `a` occurs twice",
        ),
    ] {
        let installed = install(CLAUDE, text, &handlers(CLAUDE)).unwrap_err();
        let removed = uninstall(CLAUDE, text).unwrap_err();
        for mistake in [installed, removed] {
            assert!(mistake.message.contains(expected), "{text}: {mistake:?}");
            assert_eq!(mistake.place, place, "{text}: {mistake:?}");
        }
    }
    // A key that is not an event may have any value.
    let text = r#"{"hooks": {"enabled": true, "notifications": {}}, "x": {"a": 1, "a": 1}}"#;
    check(GEMINI, text, &[]);
}

#[test]
fn handlers_of_this_program_are_recognised() {
    let own = handlers(CODEX).into_iter().map(|(_, handler)| handler);
    let commands = own.map(|handler| handler["command"].as_str().unwrap().to_owned());
    assert!(
        commands
            .into_iter()
            .all(|command| is_ours(CODEX, &command) && !is_ours(GEMINI, &command))
    );
    for (command, expected) in [
        ("forge-hooks hook claude PreToolUse", true),
        (
            "/home/ada/.cargo/bin/forge-hooks hook claude Stop --timeout 600 || exit 2",
            true,
        ),
        ("'/home/a b/forge-hooks' hook claude Stop", true),
        ("\"$HOME\"/.cargo/bin/forge-hooks hook claude Stop", true),
        ("~/bin/forge-hooks hook claude Stop", true),
        (
            "/bin/sh -c 'another \"$0\"' /x/forge-hooks hook claude Stop",
            false,
        ),
        (
            "forge-hooks hook claude Stop || exit 2; exec /opt/guard",
            false,
        ),
        ("forge-hooks hook claude Stop && /my/guard", false),
        ("forge-hooks hook claude Stop | tee /log", false),
        ("forge-hooks hook claude Stop > /log", false),
        ("forge-hooks hook claude Stop $(guard)", false),
        ("/opt/forge-hooks.py hook claude Stop", false),
        ("notforge-hooks hook claude Stop", false),
        ("forge-hooks-other hook claude Stop", false),
        ("forge-hooks hook claude Nothing", false),
        ("forge-hooks hook gemini AfterAgent", false),
        ("forge-hooks fire hook claude Stop", false),
        ("echo forge-hooks hook claude Stop", false),
        ("forge-hooks; hook claude Stop", false),
        ("other 'forge-hooks hook claude Stop'", false),
        ("", false),
    ] {
        assert_eq!(is_ours(CLAUDE, command), expected, "{command}");
    }
}

#[test]
fn what_people_have_changed_since_stays() {
    let own = handlers(CLAUDE);
    let handler = &own.iter().find(|(event, _)| *event == "Stop").unwrap().1;
    for (text, expected) in [
        // A person added something beside the handler, its group, its event, or the object of all events.
        (
            r#"{"hooks": {"Stop": [{"hooks": [OWN, {"command": "a"}]}]}}"#,
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "a"}]}]}}"#,
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "a"}, OWN]}]}}"#,
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "a"}]}]}}"#,
        ),
        (
            r#"{"hooks": { "Stop": [ {"hooks": [OWN, OWN]} ], "X": 1 }}"#,
            r#"{"hooks": { "X": 1 }}"#,
        ),
        (
            "{ \"a\": 1, // of a\n  \"hooks\": { \"Stop\": [ {\"hooks\": [OWN]} ] }\n}",
            "{ \"a\": 1 }",
        ),
        (
            "{\"hooks\": {\n  // why\n  \"Stop\": [ {\"hooks\": [OWN]} ] // here\n}}",
            r#"{"hooks": {}}"#,
        ),
        (
            "{ // c\n  \"hooks\": { \"Stop\": [ {\"hooks\": [OWN]} ] } }",
            "{}",
        ),
        (
            r#"{"hooks": {"Stop": [{"note": "mine", "hooks": [OWN]}, {"hooks": [OWN], /* mine */ "matcher": "*"}]}}"#,
            r#"{"hooks": {"Stop": [{"note": "mine"}, {"matcher": "*"}]}}"#,
        ),
        // An agent has written the file again.
        (r#"{"hooks":{"Stop":[{"hooks":[OWN]}]}}"#, "{}"),
        (
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          OWN\n        ]\n      }\n    ]\n  }\n}",
            "{}",
        ),
    ] {
        let left = uninstall(CLAUDE, &text.replace("OWN", &handler.to_string())).unwrap();
        assert_eq!(value_of(&left), value_of(expected), "{text}");
        for comment in ["// of a", "// why", "// c", "/* mine */"] {
            assert_eq!(left.contains(comment), text.contains(comment), "{left}");
        }
    }
}

#[test]
fn settings_that_keep_the_agent_from_running_it_are_refused() {
    let (codex, claude) = (&handlers(CODEX)[0], &handlers(CLAUDE)[0]);
    let with = |(event, handler): &(&str, Value), matcher: &str| {
        format!(r#"{{"hooks": {{"{event}": [{{{matcher}"hooks": [{handler}]}}]}}}}"#)
    };
    for (agent, text, place) in [
        (CODEX, with(codex, ""), None),
        (CODEX, format!("// a\n{}", with(codex, "")), Some(0)),
        (CODEX, "{\n  \"a\": 1, // b\n}".to_owned(), Some(2)),
        (CODEX, format!("\u{FEFF}{}", with(codex, "")), Some(0)),
        (CLAUDE, format!("// a\n{}", with(claude, "")), None),
        // Copilot CLI matches no call with it.
        (CLAUDE, with(claude, r#""matcher": "", "#), None),
        (CLAUDE, with(claude, r#""matcher": "*", "#), None),
        (CLAUDE, with(claude, r#""matcher": "Bash", "#), Some(38)),
        (CLAUDE, with(claude, r#""matcher": 7, "#), Some(38)),
        (COPILOT, r#"{"version": 1, "hooks": {}}"#.to_owned(), None),
        (
            COPILOT,
            r#"{"version": 2, "hooks": {}}"#.to_owned(),
            Some(12),
        ),
        (COPILOT, r#"{"version": "1"}"#.to_owned(), Some(12)),
        (CLAUDE, r#"{"version": 2}"#.to_owned(), None),
        (
            CLAUDE,
            r#"{"hooks": {"Stop": [{"matcher": "Bash", "hooks": [{"command": "a"}]}]}}"#.to_owned(),
            None,
        ),
    ] {
        let mistake = usable(agent, &text).err().map(|mistake| mistake.place);
        assert_eq!(mistake, place, "{text}");
    }
}
