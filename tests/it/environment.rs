//! The input of a hook: its environment, the files for values that do not fit there, and its standard input.

use forge_hooks::hook::Shell;
use forge_hooks::{AppProfile, EventSpec, HookEvent};
use serde_json::json;

use crate::support::{World, custom, hook, known_events};

#[test]
fn a_profile_says_which_names_there_are() {
    let event = HookEvent::tool_post_execute("bash", json!({"command": "ls"}), json!([1, "2"]))
        .with_session_id("sess_123");
    let time = format!("TIMESTAMP={:?}", event.timestamp);
    let data = r#"TOOL_ARGS={"command":"ls"} TOOL_NAME=bash TOOL_RESULT=[1,"2"]"#;
    let names = format!("EVENT=tool:post_execute SESSION_ID=sess_123 {time} {data}");
    let game = AppProfile::new("mygame");
    let own = AppProfile::default().with_env_prefixes(["a", "b-c"]);
    for (profile, prefixes, has_short) in [
        (AppProfile::default(), "FORGE OPENCODE", true),
        (game.clone(), "FORGE MYGAME", false),
        (game.with_short_names(true), "FORGE MYGAME", true),
        (own.with_short_names(false), "A B_C FORGE", false),
    ] {
        let mut expected = Vec::new();
        for prefix in prefixes.split(' ') {
            expected.extend(names.split(' ').map(|line| format!("{prefix}_{line}")));
        }
        if has_short {
            let short = format!("EVENT_TYPE=tool:post_execute {data}");
            expected.extend(short.split(' ').map(str::to_owned));
        }
        expected.sort();
        let lines = event.to_env_for(&profile).into_iter();
        let mut lines: Vec<_> = lines.map(|(name, value)| name + "=" + &value).collect();
        lines.sort();
        assert_eq!(lines, expected, "{profile:?}");
    }
    assert_eq!(event.to_env_for(&AppProfile::default()), event.to_env());
}

#[test]
fn strings_stay_and_other_values_are_json() {
    for (value, expected) in [
        (json!("plain"), "plain"),
        (json!(""), ""),
        (json!("\"quoted\"\n"), "\"quoted\"\n"),
        (json!("a\0\0b"), "a\u{FFFD}\u{FFFD}b"),
        (json!(r#"{"like": "JSON"}"#), r#"{"like": "JSON"}"#),
        (json!(null), "null"),
        (json!(true), "true"),
        (json!(-1.5), "-1.5"),
        (json!(u64::MAX), "18446744073709551615"),
        (json!([1, "zwei", null]), r#"[1,"zwei",null]"#),
        (json!({"a": {"y": "\n"}}), r#"{"a":{"y":"\n"}}"#),
    ] {
        let event = HookEvent::tool_post_execute("t", value.clone(), value.clone());
        let event = event.with_data("thing", value.clone());
        let environment = event.with_session_id("\0").with_tool_name("a\0").to_env();
        assert_eq!(environment["FORGE_THING"], expected);
        assert_eq!(environment["FORGE_SESSION_ID"], "\u{FFFD}");
        assert_eq!(environment["TOOL_NAME"], "a\u{FFFD}");
        // These two are JSON whatever they hold, so that a hook need not guess.
        for name in ["FORGE_TOOL_ARGS", "OPENCODE_TOOL_RESULT", "TOOL_ARGS"] {
            assert_eq!(environment[name], value.to_string());
        }
    }
}

/// Keys that would be a name of the engine, or can be no name; and two keys with one name.
#[test]
fn a_key_without_a_name_of_its_own_is_left_out() {
    let plain = custom("game:saved");
    let engines = "event timestamp session_id tool_name working_dir hook_chain hooks_disable \
                   hooks_trace TOOL_NAME Session-Id hooks.disable";
    let others = ["", "hook chain", "a=b", "größe", "a/b", "a\0", "a\nb", "$x"];
    let mut event = plain.clone();
    for key in engines.split_whitespace().chain(others) {
        event = event.with_data(key, "forged");
    }
    for (key, _) in known_events().iter().flat_map(EventSpec::data_keys) {
        event = event.with_data(key.to_uppercase(), "forged");
    }
    let event = event.with_data("c-d", 1).with_data("c_d", 2);
    assert_eq!(event.to_env(), plain.to_env());

    let environment = HookEvent::session_message("s", "user", "hi")
        .with_data("CONTENT", "forged")
        .with_data("Role", "forged")
        .with_data("Agent.Type", "forged")
        .with_data("PATH", "own")
        .with_data("event_type", "own")
        .with_data("tool_args", "args")
        .with_data("a.b-c d", "x")
        .with_data("2nd", "x")
        .with_data("x_file", "x")
        .to_env();
    for name in ["PATH", "FORGE_AGENT_TYPE"] {
        assert!(!environment.contains_key(name), "`{name}` is never set");
    }
    for (name, value) in [
        ("FORGE_CONTENT", "hi"),
        ("OPENCODE_ROLE", "user"),
        ("FORGE_PATH", "own"),
        ("EVENT_TYPE", "session:message"),
        ("FORGE_EVENT_TYPE", "own"),
        ("TOOL_ARGS", "\"args\""),
        ("FORGE_A_B_C_D", "x"),
        ("FORGE_2ND", "x"),
        ("FORGE_X_FILE", "x"),
    ] {
        assert_eq!(environment[name], value, "{name}");
    }
}

#[cfg(unix)]
mod in_a_process {
    use std::time::Duration;

    use forge_hooks::{FailureKind, FailurePolicy, Hook, Sandbox};

    use super::*;

    #[track_caller]
    fn shown(world: &World, hook: Hook, event: &HookEvent) -> String {
        let result = world.run(hook, event);
        assert!(result.success(), "{result:?}: {}", result.stderr());
        result.stdout().to_owned()
    }

    #[test]
    fn a_hook_finds_to_env_and_its_own_variables() {
        let world = World::new();
        let event = HookEvent::tool_post_execute("bash", json!({"command": "ls"}), json!(true))
            .with_session_id("sess_123")
            .with_data("thing", 1);
        let own = [
            ("FORGE_TOOL_NAME", "mine"),
            ("TOOL_NAME", "mine too"),
            ("FORGE_WORKING_DIR", "/mine"),
            ("GREETING", "hello world"),
            ("EMPTY", ""),
        ];
        let mut expected = event.to_env();
        expected.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for env in [hook("*", "env"), Hook::program("*", ["env"]).unwrap()] {
            let with = |hook: Hook, (name, value)| hook.with_env(name, value);
            let variables = shown(&world, own.into_iter().fold(env, with), &event);
            for (name, value) in &expected {
                let line = format!("{name}={value}");
                assert!(
                    variables.lines().any(|variable| variable == line),
                    "{line}: {variables}"
                );
            }
        }
    }

    fn inner_host() {
        let own = hook("*", "env").with_env("FORGE_SESSION_ID", "own");
        let lists = own.clone().with_inherit(["FORGE_*", "TOOL_*"]);
        let confined = own.clone().with_sandbox(Sandbox::new());
        let confined = Sandbox::support().is_ok().then_some(confined);
        for own in [own, lists].into_iter().chain(confined) {
            print!(
                "{}",
                shown(&World::new(), own, &HookEvent::user_interrupt())
            );
        }
    }

    /// The outer hook runs this test again, as a host that fires an event with less data.
    #[test]
    fn an_outer_events_values_reach_no_inner_hook() {
        const INNER: &str = "FORGE_HOOKS_TEST_INNER";
        const TEST: &str = "environment::in_a_process::an_outer_events_values_reach_no_inner_hook";
        if std::env::var_os(INNER).is_some() {
            return inner_host();
        }
        let binary = std::env::current_exe().unwrap();
        let host = Hook::program(
            "*",
            [binary.to_str().unwrap(), "--exact", TEST, "--nocapture"],
        );
        let host = host.unwrap().with_timeout(Duration::from_secs(60));
        let host = host.with_env(INNER, "1");
        let host = host.with_env("FORGE_API_KEY", "kept");
        let host = host.with_env("TOOL_HOME", "kept");
        let outer =
            HookEvent::tool_post_execute("outer", "outer", "outer").with_session_id("outer");
        let mut many = outer.clone();
        let keys = (0..5_000).map(|number| (format!("outer_key_{number}"), "outer"));
        for (key, value) in keys {
            many = many.with_data(key, value);
        }
        let large = outer.with_data("content", "outer".repeat(100_000));
        // The names of too many variables cannot be handed on, so all with the prefix are removed.
        for (profile, event, hook, count) in [
            (AppProfile::default(), large, host.clone(), 4),
            (AppProfile::new("mygame"), many, host.reading_stdin(), 2),
        ] {
            let world = World::with(|builder| builder.profile(profile));
            let variables = shown(&world, hook, &event);
            assert!(!variables.contains("=outer"), "{variables}");
            let kept = [
                "FORGE_EVENT=user:interrupt",
                "FORGE_SESSION_ID=own",
                "FORGE_API_KEY=kept",
                "TOOL_HOME=kept",
            ];
            for line in &kept[..count] {
                assert!(
                    variables.lines().any(|variable| variable == *line),
                    "{line}: {variables}"
                );
            }
            let mut lines = variables.lines();
            let listed = lines.find_map(|line| line.strip_prefix("FORGE_HOOK_VARIABLES="));
            let listed = listed.unwrap();
            assert!(listed.contains("FORGE_EVENT"), "{listed}");
            let is_set = |name: &str| variables.contains(&format!("\n{name}="));
            assert!(listed.split(' ').all(is_set), "{variables}");
        }
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
            let result = world.run(hook("*", show), &event);
            let args = json!({"command": evil}).to_string();
            let expected = format!("{evil}\0{evil}\0{evil}\0{args}\0");
            assert_eq!(result.stdout_bytes(), expected.as_bytes(), "{evil:?}");
            assert!(!world.path("pwned").exists(), "{evil:?} was run");
        }
    }

    #[test]
    fn standard_input_is_one_line_of_json() {
        let world = World::new();
        let args = json!({"x": "two\nlines\u{0}\u{2028}", "y": [1.5]});
        let event = HookEvent::tool_pre_execute("a\nb", args).with_session_id("s");
        let read = shown(&world, hook("*", "cat"), &event);
        assert_eq!(read, event.to_json() + "\n");
        assert_eq!(read.matches('\n').count(), 1);
        assert_eq!(serde_json::from_str::<HookEvent>(&read).unwrap(), event);
        // A shell's `read` needs the end of the line.
        let reads = hook("*", "IFS= read -r line && printf %s \"$line\"");
        assert_eq!(shown(&world, reads, &event), event.to_json());
        let silent = hook("*", "cat; echo end").without_stdin();
        assert_eq!(shown(&world, silent, &event), "end\n");
        let large = HookEvent::tool_pre_execute("write", "x".repeat(2 << 20));
        let guard = hook("*", "cat >copy").reading_stdin();
        assert_eq!(shown(&world, guard, &large), "");
        let is_whole = world.read("copy") == large.to_json() + "\n";
        assert!(is_whole, "the copy is not the event");
    }

    /// No variable holds so much.
    fn large() -> String {
        "größer als 128 KiB, \"$(touch pwned)\"\n".repeat(8 * 1024)
    }

    #[test]
    fn a_large_value_is_on_standard_input_alone() {
        let world = World::new();
        let text = large();
        for (event, key) in [
            (HookEvent::session_message("s", "user", &*text), "content"),
            (HookEvent::tool_post_execute("x", "", &*text), "tool_result"),
            (custom("a:b").with_data("a-b", vec![&*text]), "a-b"),
            // A hook that may fail is no guard.
            (HookEvent::tool_pre_execute("x", &*text), "tool_args"),
        ] {
            let name = key.to_uppercase().replace('-', "_");
            let command = format!(
                "test -z \"${{FORGE_{name}+set}}${{OPENCODE_{name}+set}}${{{name}+set}}\" &&
                 test -n \"$FORGE_WORKING_DIR\" && cat >copy"
            );
            let hook = hook("*", &command).with_on_failure(FailurePolicy::Continue);
            shown(&world, hook, &event);
            let is_whole = world.read("copy") == event.to_json() + "\n";
            assert!(is_whole, "the copy is not the event");
        }
        assert!(!world.path("pwned").exists());
    }

    /// The limits are those of any value.
    #[test]
    fn long_messages_are_on_standard_input_only() {
        let world = World::new();
        let messages = vec![json!("long ".repeat(100_000))];
        let event = HookEvent::llm_pre_request("m", 1).with_data("messages", messages);
        let guard = || hook("llm:pre_request", "wc -c");
        let result = world.run(guard(), &event);
        assert_eq!(result.failure(), Some(FailureKind::EventTooLarge));
        let counted = shown(&world, guard().reading_stdin(), &event);
        assert!(counted.trim().parse::<usize>().unwrap() > 500_000);
    }

    #[test]
    fn a_guard_without_a_value_blocks() {
        // Linux takes 131,071 bytes; where more are possible, no more are used.
        let room = 131_071 - "FORGE_CONTENT=".len();
        let world = World::with(|builder| builder.profile(AppProfile::new("x")));
        let guard = || hook("*", "touch ran; printf %s \"$X_CONTENT\" | wc -c");
        let event = HookEvent::user_prompt_submit("x".repeat(room));
        let counted = shown(&world, guard(), &event);
        assert_eq!(counted.trim(), room.to_string());
        std::fs::remove_file(world.path("ran")).unwrap();

        let event = HookEvent::user_prompt_submit("x".repeat(room + 1));
        let result = world.run(guard(), &event);
        assert_eq!(result.failure(), Some(FailureKind::EventTooLarge));
        assert_eq!((result.exit_code(), result.pid()), (-1, None));
        assert!(!result.should_continue() && !world.path("ran").exists());
        let error = result.error().unwrap();
        assert!(error.starts_with("`FORGE_CONTENT` is too large"), "{error}");
        let has_size = error.contains(&(room + 1).to_string());
        assert!(
            has_size && error.contains("\"reads\": \"stdin\""),
            "{error}"
        );
    }

    #[test]
    fn of_many_values_the_largest_have_no_variable() {
        const VALUES: usize = 40;
        let world = World::new();
        let mut event = HookEvent::session_end("s");
        // More than any system takes in all, with both prefixes.
        for number in 0..VALUES {
            event = event.with_data(format!("v{number}"), "x".repeat(40_000 + number));
        }
        let command = "n=0; while test $n -lt 40; do
                eval value=\\$FORGE_V$n; echo ${#value}; n=$((n+1))
            done";
        let output = shown(&world, hook("*", command), &event);
        let sizes: Vec<usize> = output.lines().map(|size| size.parse().unwrap()).collect();
        let set = sizes.iter().take_while(|size| **size > 0).count();
        let expected = (0..VALUES).map(|number| if number < set { 40_000 + number } else { 0 });
        assert!(expected.eq(sizes.iter().copied()), "{sizes:?}");
        let total = sizes.iter().sum::<usize>() * 2;
        assert!((200_000..=256 * 1024).contains(&total), "{total} bytes");
    }
}

/// A variable whose value `cmd` would execute, or `-`, and the command. `MY_GAME` is of another host.
const CMD: &str = r#"
FORGE_TOOL_NAME echo %FORGE_TOOL_NAME%
OPENCODE_CONTENT echo %opencode_content:a=b%
TOOL_ARGS echo %Tool_Args:~0,5%
TOOL_RESULT %TOOL_RESULT%
EVENT_TYPE echo a%PATH%EVENT_TYPE%
TOOL_NAME call echo %%TOOL_NAME%%
FORGE_X_FILE type %FORGE_X_FILE%
FORGE_ANY_KEY echo %FORGE_ANY_KEY%
MY_GAME_CONTENT echo %my_game_content%
- echo !FORGE_TOOL_NAME!!TOOL_ARGS:~0,5! || echo no
- echo %PATH% %TOOL_NAMES% %MY_TOOL_NAME% | findstr x
- echo TOOL_NAME 100% FORGE_TOOL_NAME
- call "%CLAUDE_PROJECT_DIR%\a.exe"
- echo MY_GAME %TOOL_NAME% %OPENCODE_TOOL_NAME%
"#;

/// `cmd` inserts `%NAME%` before it reads the command, so the value would be code. Checked before it is known
/// that only Windows has `cmd`.
#[test]
fn cmd_inserts_no_value_of_an_event() {
    for (variable, command) in CMD.trim().lines().map(|row| row.split_once(' ').unwrap()) {
        let profile = if command.to_uppercase().contains("MY_GAME") {
            AppProfile::new("my-game")
        } else {
            AppProfile::default()
        };
        let world = World::with(|builder| builder.profile(profile));
        let result = world.one(hook("*", command).with_shell(Shell::Cmd));
        let error = result.error().unwrap_or_default();
        let refused = format!(
            "`cmd` would execute the value of `%{variable}%` as code: write `!{variable}!` instead"
        );
        let is_refused = error.contains("`cmd` would");
        assert_eq!(is_refused, variable != "-", "{command}: {error}");
        assert!(!is_refused || error == refused, "{error}");
    }
}
