//! What a hook finds: its environment, the files for values that do not fit there, its standard
//! input.

use std::collections::BTreeMap;

use forge_hooks::hook::Shell;
use forge_hooks::{AppProfile, EventType, Hook, HookEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{World, custom, hook};

const SHORT_NAMES: [&str; 4] = ["EVENT_TYPE", "TOOL_NAME", "TOOL_ARGS", "TOOL_RESULT"];

/// The environment as lines `NAME=value`, but for the time.
fn lines(environment: &BTreeMap<String, String>) -> Vec<String> {
    environment
        .iter()
        .filter(|(name, _)| !name.ends_with("_TIMESTAMP"))
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

#[test]
fn the_default_profile_has_all_names() {
    let event = HookEvent::tool_post_execute("bash", json!({"command": "ls"}), json!([1, "2"]))
        .with_session_id("sess_123");
    let expected = [
        "EVENT_TYPE=tool:post_execute",
        "FORGE_EVENT=tool:post_execute",
        "FORGE_SESSION_ID=sess_123",
        "FORGE_TOOL_ARGS={\"command\":\"ls\"}",
        "FORGE_TOOL_NAME=bash",
        "FORGE_TOOL_RESULT=[1,\"2\"]",
        "OPENCODE_EVENT=tool:post_execute",
        "OPENCODE_SESSION_ID=sess_123",
        "OPENCODE_TOOL_ARGS={\"command\":\"ls\"}",
        "OPENCODE_TOOL_NAME=bash",
        "OPENCODE_TOOL_RESULT=[1,\"2\"]",
        "TOOL_ARGS={\"command\":\"ls\"}",
        "TOOL_NAME=bash",
        "TOOL_RESULT=[1,\"2\"]",
    ];
    assert_eq!(lines(&event.to_env()), expected);
    assert_eq!(event.to_env_for(&AppProfile::default()), event.to_env());
    for prefix in ["FORGE", "OPENCODE"] {
        let shown = &event.to_env()[&format!("{prefix}_TIMESTAMP")];
        assert_eq!(shown.parse(), Ok(event.timestamp));
    }
}

#[test]
fn a_profile_adds_its_own_prefixes() {
    let event = HookEvent::tool_pre_execute("bash", json!({}));
    let own = [
        "FORGE_EVENT=tool:pre_execute",
        "FORGE_TOOL_ARGS={}",
        "FORGE_TOOL_NAME=bash",
        "MYGAME_EVENT=tool:pre_execute",
        "MYGAME_TOOL_ARGS={}",
        "MYGAME_TOOL_NAME=bash",
    ];
    let profile = AppProfile::new("mygame");
    assert_eq!(lines(&event.to_env_for(&profile)), own);

    let short = ["EVENT_TYPE=tool:pre_execute"];
    let behind = ["TOOL_ARGS={}", "TOOL_NAME=bash"];
    let profile = profile.with_short_names(true);
    assert_eq!(
        lines(&event.to_env_for(&profile)),
        [&short[..], &own, &behind].concat()
    );

    let profile = AppProfile::default()
        .with_short_names(false)
        .with_env_prefixes(["a", "b-c"]);
    let names: Vec<_> = event.to_env_for(&profile).into_keys().collect();
    let expected = [
        "A_EVENT",
        "A_TIMESTAMP",
        "A_TOOL_ARGS",
        "A_TOOL_NAME",
        "B_C_EVENT",
        "B_C_TIMESTAMP",
        "B_C_TOOL_ARGS",
        "B_C_TOOL_NAME",
        "FORGE_EVENT",
        "FORGE_TIMESTAMP",
        "FORGE_TOOL_ARGS",
        "FORGE_TOOL_NAME",
    ];
    assert_eq!(names, expected);
}

#[test]
fn every_events_data_has_the_name_of_its_key() {
    #[track_caller]
    fn case(event: HookEvent, expected: &[&str]) {
        let environment = event.to_env_for(&AppProfile::new("x"));
        let data: Vec<_> = lines(&environment)
            .into_iter()
            .filter(|line| line.starts_with("X_"))
            .filter(|line| !line.starts_with("X_EVENT=") && !line.starts_with("X_TOOL_NAME="))
            .collect();
        assert_eq!(data, expected);
    }
    let error = HookEvent::tool_error("bash", json!(null), "Command failed");
    case(error, &["X_ERROR=Command failed", "X_TOOL_ARGS=null"]);
    let request = HookEvent::llm_pre_request("claude", 7);
    case(request, &["X_LLM_MODEL=claude", "X_MESSAGE_COUNT=7"]);
    let response = HookEvent::llm_post_response("claude", 1200);
    case(response, &["X_LLM_MODEL=claude", "X_LLM_TOKENS=1200"]);
    let message = HookEvent::session_message("s1", "user", "hi");
    case(message, &["X_CONTENT=hi", "X_ROLE=user", "X_SESSION_ID=s1"]);
    let check = HookEvent::permission_check("bash", "ask", Some("bash(*)"));
    case(check, &["X_PERM_LEVEL=ask", "X_PERM_RULE=bash(*)"]);
    case(HookEvent::user_interrupt(), &[]);
}

#[test]
fn strings_stay_and_other_values_are_json() {
    #[track_caller]
    fn case(value: Value, expected: &str) {
        let event = HookEvent::user_interrupt().with_data("thing", value.clone());
        assert_eq!(event.to_env()["FORGE_THING"], expected);
        // These two are JSON whatever they hold, so that a hook need not guess.
        let event = HookEvent::tool_post_execute("t", value.clone(), value.clone());
        for name in [
            "FORGE_TOOL_ARGS",
            "OPENCODE_TOOL_RESULT",
            "TOOL_ARGS",
            "TOOL_RESULT",
        ] {
            assert_eq!(event.to_env()[name], value.to_string());
        }
    }
    case(json!("plain"), "plain");
    case(json!(""), "");
    case(json!("\"quoted\"\n"), "\"quoted\"\n");
    case(
        json!("{\"looks\": \"like JSON\"}"),
        "{\"looks\": \"like JSON\"}",
    );
    case(json!(null), "null");
    case(json!(true), "true");
    case(json!(-1.5), "-1.5");
    case(json!(u64::MAX), "18446744073709551615");
    case(json!([1, "zwei", null]), "[1,\"zwei\",null]");
    case(
        json!({"a": {"y": "\n"}, "b": []}),
        "{\"a\":{\"y\":\"\\n\"},\"b\":[]}",
    );
}

#[test]
fn a_nul_becomes_the_replacement_character() {
    let event = HookEvent::tool_pre_execute("a\0b", json!({"k": "v\0"}))
        .with_session_id("\0")
        .with_data("content", "c\0\0");
    let environment = event.to_env();
    assert_eq!(environment["FORGE_TOOL_NAME"], "a\u{FFFD}b");
    assert_eq!(environment["TOOL_NAME"], "a\u{FFFD}b");
    assert_eq!(environment["FORGE_SESSION_ID"], "\u{FFFD}");
    assert_eq!(environment["FORGE_CONTENT"], "c\u{FFFD}\u{FFFD}");
    assert_eq!(environment["FORGE_TOOL_ARGS"], "{\"k\":\"v\\u0000\"}");
}

#[test]
fn missing_fields_have_no_variable() {
    let environment = HookEvent::user_interrupt().to_env();
    let names: Vec<_> = environment.keys().collect();
    let expected = [
        "EVENT_TYPE",
        "FORGE_EVENT",
        "FORGE_TIMESTAMP",
        "OPENCODE_EVENT",
        "OPENCODE_TIMESTAMP",
    ];
    assert_eq!(names, expected);
}

#[test]
fn data_never_sets_a_name_of_the_engine() {
    let plain = custom("game:saved");
    let mut event = plain.clone();
    let reserved = [
        "event",
        "timestamp",
        "session_id",
        "tool_name",
        "working_dir",
        "hook_chain",
        "hooks_disable",
        "hooks_trace",
        "content_file",
        "_file",
        "TOOL_NAME",
        "Session-Id",
        "hook chain",
        "hooks.disable",
    ];
    for key in reserved {
        event = event.with_data(key, "forged");
    }
    event.timestamp = plain.timestamp;
    assert_eq!(event.to_env(), plain.to_env());
}

#[test]
fn data_sets_only_the_known_short_names() {
    let event = custom("game:saved")
        .with_data("PATH", "forged")
        .with_data("ld_preload", "forged")
        .with_data("event_type", "mine")
        .with_data("tool_args", "args");
    let environment = event.to_env();
    assert!(!environment.contains_key("PATH") && !environment.contains_key("LD_PRELOAD"));
    assert_eq!(environment["FORGE_PATH"], "forged");
    assert_eq!(environment["EVENT_TYPE"], "game:saved");
    assert_eq!(environment["FORGE_EVENT_TYPE"], "mine");
    assert_eq!(environment["TOOL_ARGS"], "\"args\"");
}

#[test]
fn a_key_that_can_be_no_name_is_left_out() {
    for key in ["", "a=b", "größe", "a/b", "a\0", "a\nb", "$x"] {
        let plain = custom("game:saved");
        let mut event = plain.clone().with_data(key, "x");
        event.timestamp = plain.timestamp;
        assert_eq!(event.to_env(), plain.to_env(), "{key:?}");
    }
    for (key, name) in [
        ("a.b-c d", "FORGE_A_B_C_D"),
        ("2nd", "FORGE_2ND"),
        ("file", "FORGE_FILE"),
    ] {
        assert_eq!(custom("game:saved").with_data(key, "x").to_env()[name], "x");
    }
}

#[test]
fn built_in_keys_win_over_equal_names() {
    let event = HookEvent::session_message("s", "user", "hi")
        .with_data("a-b", 1)
        .with_data("a_b", 2)
        .with_data("A_B", 3)
        .with_data("CONTENT", "forged")
        .with_data("Role", "forged");
    let environment = event.to_env();
    assert!(!environment.contains_key("FORGE_A_B"));
    assert_eq!(environment["FORGE_CONTENT"], "hi");
    assert_eq!(environment["OPENCODE_ROLE"], "user");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_data_gives_a_valid_environment(
        data in prop::collection::hash_map(
            prop_oneof![any::<String>(), "[a-cA-C._ -]{0,3}(_FILE)?", "(?i)event|tool_name|path"],
            any::<String>(),
            0..8,
        ),
        tool in any::<Option<String>>(),
        session in any::<Option<String>>(),
    ) {
        let mut event = HookEvent::new(EventType::ToolPreExecute);
        event.data = data.into_iter().map(|(key, value)| (key, value.into())).collect();
        event.tool_name = tool;
        event.session_id = session;
        let environment = event.to_env();
        for (name, value) in &environment {
            prop_assert!(!value.contains('\0'));
            let Some(short) = name.strip_prefix("FORGE_") else {
                prop_assert!(name.starts_with("OPENCODE_") || SHORT_NAMES.contains(&&**name));
                continue;
            };
            let letter = |b: u8| matches!(b, b'A'..=b'Z' | b'0'..=b'9' | b'_');
            prop_assert!(name.bytes().all(letter) && !name.ends_with("_FILE"));
            prop_assert_eq!(environment.get(&format!("OPENCODE_{short}")), Some(value));
        }
        prop_assert_eq!(&environment["FORGE_EVENT"], "tool:pre_execute");
        let clean = |text: &Option<String>| Some(text.as_ref()?.replace('\0', "\u{FFFD}"));
        prop_assert_eq!(environment.get("FORGE_TOOL_NAME").cloned(), clean(&event.tool_name));
        prop_assert_eq!(environment.get("FORGE_SESSION_ID").cloned(), clean(&event.session_id));
    }
}

#[cfg(unix)]
mod in_a_process {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use forge_hooks::hook::{Reads, Stdin};
    use forge_hooks::{
        AppProfile, FailureKind, FailurePolicy, FireOptions, Hook, HookEvent, HookResult,
    };
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::support::{World, blocking_event, hook};

    /// Fires an event at the one hook, and returns its result.
    #[track_caller]
    fn run(world: &World, hook: Hook, event: &HookEvent) -> HookResult {
        world.registry().clear();
        world.registry().register(hook);
        let mut results = world.fire(event);
        assert_eq!(results.len(), 1);
        results.remove(0)
    }

    #[track_caller]
    fn printed(world: &World, hook: Hook, event: &HookEvent) -> String {
        let result = run(world, hook, event);
        assert!(result.success(), "{result:?}: {}", result.stderr);
        result.stdout
    }

    /// All that the hook finds in its environment.
    #[track_caller]
    fn environment(world: &World, hook: Hook, event: &HookEvent) -> BTreeMap<String, String> {
        printed(world, hook, event)
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn a_hook_finds_all_that_to_env_says() {
        let world = World::new();
        let event = HookEvent::tool_post_execute("bash", json!({"command": "ls"}), json!(true))
            .with_session_id("sess_123")
            .with_data("thing", 1);
        let found = environment(&world, hook("*", "env"), &event);
        for (name, value) in event.to_env() {
            assert_eq!(found.get(&name), Some(&value), "{name}");
        }
        let own = Hook::program("*", ["env"]).unwrap();
        let found = environment(&world, own, &event);
        assert_eq!(found["FORGE_SESSION_ID"], "sess_123");
        assert!(found.contains_key("PATH"), "the rest is inherited");
    }

    #[test]
    fn hooks_of_the_specification_get_values() {
        let world = World::new();
        let echo = hook(
            "*",
            "echo \"Tool: $OPENCODE_TOOL_NAME $TOOL_NAME on $EVENT_TYPE\"",
        );
        let event = blocking_event();
        assert_eq!(
            printed(&world, echo, &event),
            "Tool: bash bash on tool:pre_execute\n"
        );
        let args = json!({"file": "/tmp/test", "content": "hello"});
        let event = HookEvent::tool_pre_execute("write", args.clone());
        let shown = printed(&world, hook("*", "echo \"$OPENCODE_TOOL_ARGS\""), &event);
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), args);
    }

    /// The outer hook runs this test again, as a host that fires an event with less data.
    #[test]
    fn an_outer_events_values_reach_no_inner_hook() {
        const INNER: &str = "FORGE_HOOKS_TEST_INNER";
        const TEST: &str = "environment::in_a_process::an_outer_events_values_reach_no_inner_hook";
        if std::env::var_os(INNER).is_some() {
            let own = hook("*", "env").with_env("FORGE_SESSION_ID", "own");
            print!(
                "{}",
                printed(&World::new(), own, &HookEvent::user_interrupt())
            );
            return;
        }
        let binary = std::env::current_exe().unwrap();
        let binary = binary.to_str().unwrap();
        for profile in [AppProfile::default(), AppProfile::new("mygame")] {
            let world = World::with(|builder| builder.profile(profile));
            let host = Hook::program("*", [binary, "--exact", TEST, "--nocapture"]).unwrap();
            let host = host
                .with_env(INNER, "1")
                .with_env("FORGE_API_KEY", "kept")
                .with_env("TOOL_HOME", "kept");
            let event = HookEvent::tool_post_execute("outer", "outer", "outer")
                .with_session_id("outer")
                .with_data("target", "outer")
                .with_data("content", "outer".repeat(100_000));
            let shown = printed(&world, host, &event);
            assert!(
                !shown.contains("=outer") && !shown.contains("CONTENT_FILE="),
                "{shown}"
            );
            let lines = [
                "FORGE_EVENT=user:interrupt",
                "FORGE_SESSION_ID=own",
                "FORGE_API_KEY=kept",
                "TOOL_HOME=kept",
            ];
            for line in lines {
                assert!(shown.lines().any(|it| it == line), "{line}: {shown}");
            }
            let many = (0..5_000).map(|number| (format!("outer_key_{number}"), "outer".into()));
            let mut event = HookEvent::tool_post_execute("outer", "outer", "outer");
            event.data.extend(many);
            let host = Hook::program("*", [binary, "--exact", TEST, "--nocapture"]).unwrap();
            let host = host.with_env(INNER, "1").with_reads(Reads::Stdin);
            let shown_of_many = printed(&world, host, &event);
            assert!(!shown_of_many.contains("=outer"), "{shown_of_many}");
            assert!(shown_of_many.contains("FORGE_EVENT=user:interrupt"));

            let listed = shown
                .lines()
                .find(|it| it.starts_with("FORGE_HOOK_VARIABLES="));
            let listed = listed.unwrap();
            assert!(listed.contains("FORGE_EVENT"), "{listed}");
            let is_set = |name: &str| shown.contains(&format!("\n{name}="));
            let mut names = listed.split(['=', ' ']).skip(1);
            assert!(names.all(is_set), "{shown}");
        }
    }

    #[test]
    fn a_hooks_own_variables_win() {
        let world = World::new();
        let own = hook("*", "env")
            .with_env("FORGE_TOOL_NAME", "mine")
            .with_env("TOOL_NAME", "mine too")
            .with_env("FORGE_WORKING_DIR", "/mine")
            .with_env("GREETING", "hello world")
            .with_env("EMPTY", "");
        let found = environment(&world, own, &blocking_event());
        assert_eq!(found["FORGE_TOOL_NAME"], "mine");
        assert_eq!(found["OPENCODE_TOOL_NAME"], "bash");
        assert_eq!(found["TOOL_NAME"], "mine too");
        assert_eq!(found["FORGE_WORKING_DIR"], "/mine");
        assert_eq!(
            (found["GREETING"].as_str(), found["EMPTY"].as_str()),
            ("hello world", "")
        );
    }

    #[test]
    fn working_dir_is_where_the_hook_runs() {
        #[track_caller]
        fn case(world: &World, hook: Hook, expected: &Path) {
            let shown = printed(world, hook, &blocking_event());
            let lines: Vec<_> = shown.lines().collect();
            // The directory for temporary files may be behind a link, which `pwd -P` resolves.
            let expected = expected.canonicalize().unwrap();
            let expected = expected.to_str().unwrap();
            assert_eq!(lines, [expected; 3]);
        }
        const WHERE: &str = "pwd -P
            (cd \"$FORGE_WORKING_DIR\" && pwd -P)
            (cd / && cd \"$OPENCODE_WORKING_DIR\" && pwd -P)";
        let world = World::new();
        let directory = "it's \"a\" $directory";
        std::fs::create_dir(world.path(directory)).unwrap();
        case(&world, hook("*", WHERE), world.directory());
        case(
            &world,
            hook("*", WHERE).with_working_dir(directory),
            &world.path(directory),
        );
        let absolute = hook("*", WHERE).with_working_dir(world.path(directory));
        case(&world, absolute, &world.path(directory));
        let without = World::with(|_| forge_hooks::HookExecutor::builder());
        case(
            &without,
            hook("*", WHERE),
            &std::env::current_dir().unwrap(),
        );
    }

    #[test]
    fn no_value_is_run_as_code() {
        let world = World::new();
        let show = "printf '%s\\0' \"$FORGE_CONTENT\" \"$FORGE_TOOL_NAME\" \
                    \"$FORGE_SESSION_ID\" \"$FORGE_TOOL_ARGS\"";
        for evil in [
            "$(touch pwned)",
            "`touch pwned`",
            "\"; touch pwned; \"",
            "'; touch pwned; '",
            "x\ntouch pwned\n",
            "x; touch pwned & touch pwned | touch pwned",
            "\\\"$(touch pwned)\\\"",
            "${IFS}$((1+1))~ * ? [a] {a,b} !! $$ %PATH% !PATH!",
            "\u{1b}[31m\r\n\t\u{7}",
            "größe 道具 😀 \u{202e}\u{feff}",
            "-n -e \\n",
            "",
            " ",
        ] {
            let event = HookEvent::session_message(evil, "user", evil)
                .with_tool_name(evil)
                .with_data("tool_args", json!({"command": evil}));
            let result = run(&world, hook("*", show), &event);
            let args = json!({"command": evil}).to_string();
            let expected = format!("{evil}\0{evil}\0{evil}\0{args}\0");
            assert_eq!(result.stdout_bytes(), expected.as_bytes(), "{evil:?}");
            assert!(!world.path("pwned").exists(), "{evil:?} was run");
        }
    }

    proptest! {
        // Each is a process.
        #![proptest_config(ProptestConfig {
            cases: 24,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn any_value_arrives_unchanged(
            value in prop_oneof![
                any::<String>(),
                "[ -~\n]{0,80}",
                "[$`'\"\\\\(){};|&<>*?!#~\n\t ]{0,80}",
            ],
        ) {
            let world = World::new();
            let event = HookEvent::session_message("s", "user", value.as_str());
            let show = hook("*", "printf %s \"$FORGE_CONTENT\"");
            let result = run(&world, show, &event);
            let expected = value.replace('\0', "\u{FFFD}");
            prop_assert_eq!(result.stdout_bytes(), expected.as_bytes());
        }
    }

    #[test]
    fn standard_input_is_one_line_of_json() {
        let world = World::new();
        for event in [
            HookEvent::user_interrupt(),
            HookEvent::tool_pre_execute(
                "a\nb",
                json!({"x": "two\nlines\u{0}\u{2028}", "y": [1.5]}),
            )
            .with_session_id("s"),
        ] {
            let read = printed(&world, hook("*", "cat"), &event);
            assert!(read.ends_with('\n') && read.matches('\n').count() == 1);
            let value: Value = serde_json::from_str(&read).unwrap();
            assert_eq!(
                value,
                serde_json::from_str::<Value>(&event.to_json()).unwrap()
            );
            assert_eq!(serde_json::from_str::<HookEvent>(&read).unwrap(), event);
            let line = printed(
                &world,
                hook("*", "IFS= read -r line && printf %s \"$line\""),
                &event,
            );
            assert_eq!(
                line,
                event.to_json(),
                "a shell's `read` needs the end of the line"
            );
        }
    }

    #[test]
    fn stdin_none_is_an_empty_input() {
        let world = World::new();
        let silent = hook("*", "cat; echo end").with_stdin(Stdin::None);
        assert_eq!(printed(&world, silent, &blocking_event()), "end\n");
    }

    /// No variable holds so much.
    fn large() -> String {
        "größer als 128 KiB, \"$(touch pwned)\"\n".repeat(8 * 1024)
    }

    #[test]
    fn a_large_value_is_in_a_file() {
        let world = World::new();
        #[track_caller]
        fn case(world: &World, event: &HookEvent, name: &str, expected: &str) {
            let command = format!(
                "test -z \"${{FORGE_{name}+set}}${{OPENCODE_{name}+set}}${{{name}+set}}\" &&
                 test \"$FORGE_{name}_FILE\" = \"$OPENCODE_{name}_FILE\" &&
                 cp \"$FORGE_{name}_FILE\" copy &&
                 ls -ld \"$(dirname \"$FORGE_{name}_FILE\")\" >mode &&
                 printf %s \"$FORGE_{name}_FILE\""
            );
            let file = PathBuf::from(printed(world, hook("*", &command), event));
            assert!(file.is_absolute() && !file.exists(), "{}", file.display());
            assert!(!file.parent().unwrap().exists(), "the directory goes too");
            assert!(world.read("copy") == expected, "the copy is not the value");
            assert!(
                world.read("mode").starts_with("drwx------"),
                "{}",
                world.read("mode")
            );
        }
        let text = large();
        let message = HookEvent::session_message("s", "user", text.as_str());
        case(&world, &message, "CONTENT", &text);
        let result = HookEvent::tool_post_execute("read", json!({}), text.as_str());
        case(&world, &result, "TOOL_RESULT", &json!(text).to_string());
        let custom_data = HookEvent::user_interrupt().with_data("some-list", vec![text.clone()]);
        case(
            &world,
            &custom_data,
            "SOME_LIST",
            &json!([text]).to_string(),
        );
        assert!(!world.path("pwned").exists());
    }

    #[test]
    fn other_values_stay_in_the_environment() {
        let world = World::new();
        let event = HookEvent::session_message("s1", "user", large());
        let found = environment(&world, hook("*", "env"), &event);
        assert_eq!(
            (
                found["FORGE_ROLE"].as_str(),
                found["FORGE_SESSION_ID"].as_str()
            ),
            ("user", "s1")
        );
        assert!(found.contains_key("FORGE_WORKING_DIR") && !found.contains_key("FORGE_ROLE_FILE"));
    }

    #[test]
    fn all_hooks_find_the_file_of_a_value() {
        let world = World::running(["wc -c <\"$FORGE_CONTENT_FILE\""; 3]);
        let text = large();
        let event = HookEvent::session_message("s", "user", text.as_str());
        let outcome = world
            .executor
            .submit(event, FireOptions::default())
            .unwrap()
            .wait();
        let counts: Vec<_> = outcome
            .results()
            .iter()
            .map(|result| result.stdout.trim())
            .collect();
        let expected = text.len().to_string();
        assert_eq!(counts, [expected.as_str(); 3]);
    }

    #[test]
    fn a_guard_without_a_value_blocks() {
        let world = World::new();
        let args = json!({"content": large()});
        let event = HookEvent::tool_pre_execute("write", args.clone());
        let result = run(&world, hook("tool:pre_execute", "touch ran"), &event);
        assert_eq!(result.failure, Some(FailureKind::EventTooLarge));
        assert_eq!(
            (result.exit_code, result.pid, result.should_continue()),
            (-1, None, false)
        );
        assert!(!world.path("ran").exists());
        let error = result.error.unwrap();
        assert!(error.contains("`FORGE_TOOL_ARGS`"), "{error}");
        assert!(
            error.contains(&args.to_string().len().to_string()),
            "{error}"
        );
        assert!(error.contains("\"reads\": \"stdin\""), "{error}");
        let outcome = world.outcome(&event);
        assert!(!outcome.allowed() && outcome.reason() == Some(error.as_str()));
    }

    #[test]
    fn a_hook_that_may_fail_runs_without_a_value() {
        let world = World::new();
        let event = HookEvent::tool_pre_execute("write", large());
        let log =
            hook("*", "wc -c <\"$FORGE_TOOL_ARGS_FILE\"").with_on_failure(FailurePolicy::Continue);
        let expected = json!(large()).to_string().len();
        assert_eq!(printed(&world, log, &event).trim(), expected.to_string());
    }

    #[test]
    fn a_guard_reads_all_of_standard_input() {
        let world = World::new();
        let event = HookEvent::tool_pre_execute("write", "x".repeat(2 << 20));
        let guard = hook("*", "tee copy | wc -c").with_reads(Reads::Stdin);
        let line = event.to_json() + "\n";
        assert_eq!(
            printed(&world, guard, &event).trim(),
            line.len().to_string()
        );
        assert!(world.read("copy") == line, "the copy is not the event");
    }

    #[test]
    fn the_largest_value_fits_into_a_variable() {
        let world = World::with(|builder| builder.profile(AppProfile::new("x")));
        let guard = || hook("*", "printf %s \"$X_CONTENT\" | wc -c");
        // Linux takes 131,071 bytes; where more are possible, no more are used.
        let room = 131_071 - "FORGE_CONTENT=".len();
        let event = HookEvent::user_prompt_submit("x".repeat(room));
        assert_eq!(printed(&world, guard(), &event).trim(), room.to_string());
        let event = HookEvent::user_prompt_submit("x".repeat(room + 1));
        let result = run(&world, guard(), &event);
        assert_eq!(
            result.failure,
            Some(FailureKind::EventTooLarge),
            "{result:?}"
        );
        assert!(
            result
                .error
                .unwrap()
                .starts_with("`FORGE_CONTENT` is too large")
        );
    }

    #[test]
    fn many_values_are_partly_in_files() {
        const VALUES: usize = 120;
        let world = World::new();
        let mut event = HookEvent::session_end("s");
        // More than any system takes in all, with both prefixes.
        for number in 0..VALUES {
            event = event.with_data(format!("v{number}"), "x".repeat(40_000 + number));
        }
        let command = "n=0; while test $n -lt 120; do
                eval value=\\$FORGE_V$n file=\\$FORGE_V${n}_FILE
                if test -n \"$file\"; then echo file $(wc -c <\"$file\")
                else echo value ${#value}; fi
                n=$((n+1))
            done";
        let shown = printed(&world, hook("*", command), &event);
        let places: Vec<(&str, usize)> = shown
            .lines()
            .map(|line| line.split_once(' ').unwrap())
            .map(|(place, size)| (place, size.parse().unwrap()))
            .collect();
        let sizes: Vec<_> = places.iter().map(|(_, size)| *size).collect();
        assert_eq!(sizes, (40_000..40_000 + VALUES).collect::<Vec<_>>());
        let in_variables = places.iter().filter(|(place, _)| *place == "value");
        let total: usize = in_variables.map(|(_, size)| size * 2).sum();
        assert!(
            (200_000..=256 * 1024).contains(&total),
            "{total} bytes are in variables"
        );
    }
}

/// `cmd` inserts `%NAME%` before it reads the command, so the value would be code. Checked before it is known
/// that only Windows has `cmd`.
#[test]
fn cmd_inserts_no_value_of_an_event() {
    let ours = AppProfile::new("my-game");
    let error_of = |profile: &AppProfile, hook: Hook| {
        let world = World::with(|builder| builder.profile(profile.clone()));
        let result = world.one(hook.with_shell(Shell::Cmd));
        result.error.unwrap_or_default()
    };
    let plain = |command: &str| hook("*", command);
    let default = AppProfile::default();
    for (profile, hook, variable) in [
        (&default, plain("echo %FORGE_TOOL_NAME%"), "FORGE_TOOL_NAME"),
        (
            &default,
            plain("echo %opencode_content:a=b%"),
            "OPENCODE_CONTENT",
        ),
        (&default, plain("echo %Tool_Args:~0,5%"), "TOOL_ARGS"),
        (&default, plain("%TOOL_RESULT%"), "TOOL_RESULT"),
        (&default, plain("echo a%PATH%EVENT_TYPE%"), "EVENT_TYPE"),
        (&default, plain("call echo %%TOOL_NAME%%"), "TOOL_NAME"),
        (
            &default,
            plain("type %FORGE_TOOL_ARGS_FILE%"),
            "FORGE_TOOL_ARGS_FILE",
        ),
        (&default, plain("echo %FORGE_ANY_KEY%"), "FORGE_ANY_KEY"),
        (&ours, plain("echo %my_game_content%"), "MY_GAME_CONTENT"),
    ] {
        let error = error_of(profile, hook);
        let expected = format!(
            "`cmd` would execute the value of `%{variable}%` as code: write `!{variable}!` instead"
        );
        assert_eq!(error, expected);
    }
    for (profile, command) in [
        (
            &default,
            "echo !FORGE_TOOL_NAME!!TOOL_ARGS:~0,5! || echo no",
        ),
        (
            &default,
            "echo %PATH% %TOOL_NAMES% %MY_TOOL_NAME% | findstr x",
        ),
        (&default, "echo TOOL_NAME 100% FORGE_TOOL_NAME"),
        (&default, "call \"%CLAUDE_PROJECT_DIR%\\a.exe\""),
        (&ours, "echo %TOOL_NAME% %OPENCODE_TOOL_NAME%"),
    ] {
        let error = error_of(profile, plain(command));
        assert!(!error.contains("`cmd` would"), "{command}: {error}");
    }
}
