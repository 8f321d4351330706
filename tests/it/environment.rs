//! What a hook finds: its environment, the files for values that do not fit there, its standard
//! input.

use forge_hooks::hook::Shell;
use forge_hooks::{AppProfile, HookEvent};
use serde_json::json;

use crate::support::{World, custom, hook};

#[test]
fn a_profile_says_which_names_there_are() {
    let event = HookEvent::tool_post_execute("bash", json!({"command": "ls"}), json!([1, "2"]))
        .with_session_id("sess_123");
    let names = r#"EVENT=tool:post_execute SESSION_ID=sess_123 TOOL_ARGS={"command":"ls"} TOOL_NAME=bash TOOL_RESULT=[1,"2"]"#;
    let short = r#"EVENT_TYPE=tool:post_execute TOOL_ARGS={"command":"ls"} TOOL_NAME=bash TOOL_RESULT=[1,"2"]"#;
    let game = AppProfile::new("mygame");
    let own = AppProfile::default().with_env_prefixes(["a", "b-c"]);
    for (profile, prefixes, has_short) in [
        (AppProfile::default(), "FORGE OPENCODE", true),
        (game.clone(), "FORGE MYGAME", false),
        (game.with_short_names(true), "FORGE MYGAME", true),
        (own.with_short_names(false), "A B_C FORGE", false),
    ] {
        let environment = event.to_env_for(&profile);
        let time = format!("TIMESTAMP={:?}", event.timestamp);
        let mut expected: Vec<String> = Vec::new();
        for prefix in prefixes.split(' ') {
            let names = names.split(' ').chain([&*time]);
            expected.extend(names.map(|line| format!("{prefix}_{line}")));
        }
        let short = short.split(' ').filter(|_| has_short);
        expected.extend(short.map(str::to_owned));
        expected.sort();
        let lines = environment.iter();
        let mut lines: Vec<_> = lines
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
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
        (
            json!(r#"{"looks": "like JSON"}"#),
            r#"{"looks": "like JSON"}"#,
        ),
        (json!(null), "null"),
        (json!(true), "true"),
        (json!(-1.5), "-1.5"),
        (json!(u64::MAX), "18446744073709551615"),
        (json!([1, "zwei", null]), r#"[1,"zwei",null]"#),
        (
            json!({"a": {"y": "\n"}, "b": []}),
            r#"{"a":{"y":"\n"},"b":[]}"#,
        ),
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
                   hooks_trace content_file _file TOOL_NAME Session-Id hooks.disable";
    let others = ["", "hook chain", "a=b", "größe", "a/b", "a\0", "a\nb", "$x"];
    let mut event = plain.clone();
    for key in engines.split_whitespace().chain(others) {
        event = event.with_data(key, "forged");
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
        .with_data("file", "x")
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
        ("FORGE_FILE", "x"),
    ] {
        assert_eq!(environment[name], value, "{name}");
    }
}

#[cfg(unix)]
mod in_a_process {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use forge_hooks::hook::{Reads, Stdin};
    use forge_hooks::{FailureKind, FailurePolicy, Hook};

    use super::*;
    use crate::support::blocking_event;

    #[track_caller]
    fn shown(world: &World, hook: Hook, event: &HookEvent) -> String {
        let result = world.run(hook, event);
        assert!(result.success(), "{result:?}: {}", result.stderr);
        result.stdout
    }

    /// All that the hook finds in its environment.
    #[track_caller]
    fn environment(world: &World, hook: Hook, event: &HookEvent) -> BTreeMap<String, String> {
        let shown = shown(world, hook, event);
        let lines = shown.lines().filter_map(|line| line.split_once('='));
        lines
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn a_hook_finds_all_that_to_env_says() {
        let world = World::new();
        let event = HookEvent::tool_post_execute("bash", json!({"command": "ls"}), json!(true))
            .with_session_id("sess_123")
            .with_data("thing", 1);
        for env in [hook("*", "env"), Hook::program("*", ["env"]).unwrap()] {
            let found = environment(&world, env, &event);
            for (name, value) in event.to_env() {
                assert_eq!(found.get(&name), Some(&value), "{name}");
            }
        }
    }

    /// The outer hook runs this test again, as a host that fires an event with less data.
    #[test]
    fn an_outer_events_values_reach_no_inner_hook() {
        const INNER: &str = "FORGE_HOOKS_TEST_INNER";
        const TEST: &str = "environment::in_a_process::an_outer_events_values_reach_no_inner_hook";
        if std::env::var_os(INNER).is_some() {
            let own = hook("*", "env").with_env("FORGE_SESSION_ID", "own");
            let found = shown(&World::new(), own, &HookEvent::user_interrupt());
            return print!("{found}");
        }
        let binary = std::env::current_exe().unwrap();
        let host = Hook::program(
            "*",
            [binary.to_str().unwrap(), "--exact", TEST, "--nocapture"],
        );
        let host = host.unwrap().with_env(INNER, "1");
        let host = host.with_env("FORGE_API_KEY", "kept");
        let host = host.with_env("TOOL_HOME", "kept");
        let outer =
            HookEvent::tool_post_execute("outer", "outer", "outer").with_session_id("outer");
        let mut many = outer.clone();
        let keys = (0..5_000).map(|number| (format!("outer_key_{number}"), "outer".into()));
        many.data.extend(keys);
        let large = outer.with_data("content", "outer".repeat(100_000));
        for (profile, event, reads) in [
            (AppProfile::default(), large, Reads::Environment),
            (AppProfile::new("mygame"), many, Reads::Stdin),
        ] {
            let world = World::with(|builder| builder.profile(profile));
            let found = shown(&world, host.clone().with_reads(reads), &event);
            assert!(!found.contains("=outer"), "{found}");
            assert!(!found.contains("CONTENT_FILE="), "{found}");
            let kept = [
                "FORGE_EVENT=user:interrupt",
                "FORGE_SESSION_ID=own",
                "FORGE_API_KEY=kept",
                "TOOL_HOME=kept",
            ];
            // Of too many variables, the names cannot be handed on: all with the prefix are removed.
            let count = if reads == Reads::Stdin { 2 } else { 4 };
            for line in &kept[..count] {
                assert!(found.lines().any(|it| it == *line), "{line}: {found}");
            }
            let mut lines = found.lines();
            let listed = lines.find_map(|line| line.strip_prefix("FORGE_HOOK_VARIABLES="));
            let listed = listed.unwrap();
            assert!(listed.contains("FORGE_EVENT"), "{listed}");
            let is_set = |name: &str| found.contains(&format!("\n{name}="));
            assert!(listed.split(' ').all(is_set), "{found}");
        }
    }

    #[test]
    fn a_hooks_own_variables_win() {
        let own = [
            ("FORGE_TOOL_NAME", "mine"),
            ("TOOL_NAME", "mine too"),
            ("FORGE_WORKING_DIR", "/mine"),
            ("GREETING", "hello world"),
            ("EMPTY", ""),
        ];
        let with = |hook: Hook, (name, value)| hook.with_env(name, value);
        let hook = own.into_iter().fold(hook("*", "env"), with);
        let found = environment(&World::new(), hook, &blocking_event());
        for (name, value) in own.into_iter().chain([("OPENCODE_TOOL_NAME", "bash")]) {
            assert_eq!(found[name], value);
        }
    }

    #[test]
    fn working_dir_is_where_the_hook_runs() {
        const WHERE: &str = "pwd -P
            (cd \"$FORGE_WORKING_DIR\" && pwd -P)
            (cd / && cd \"$OPENCODE_WORKING_DIR\" && pwd -P)";
        let world = World::new();
        let directory = "it's \"a\" $directory";
        std::fs::create_dir(world.path(directory)).unwrap();
        let without = World::with(|_| forge_hooks::HookExecutor::builder());
        let host = std::env::current_dir().unwrap();
        let below = world.path(directory);
        let whole: &Path = world.directory();
        for (world, hook, expected) in [
            (&world, hook("*", WHERE), whole),
            (&world, hook("*", WHERE).with_working_dir(directory), &below),
            (&world, hook("*", WHERE).with_working_dir(&below), &below),
            (&without, hook("*", WHERE), &host),
        ] {
            let found = shown(world, hook, &blocking_event());
            // The directory for temporary files may be behind a link, which `pwd -P` resolves.
            let expected = expected.canonicalize().unwrap();
            let lines: Vec<_> = found.lines().collect();
            assert_eq!(lines, [expected.to_str().unwrap(); 3]);
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
        let silent = hook("*", "cat; echo end").with_stdin(Stdin::None);
        assert_eq!(shown(&world, silent, &event), "end\n");
        let large = HookEvent::tool_pre_execute("write", "x".repeat(2 << 20));
        let guard = hook("*", "cat >copy").with_reads(Reads::Stdin);
        assert_eq!(shown(&world, guard, &large), "");
        let is_whole = world.read("copy") == large.to_json() + "\n";
        assert!(is_whole, "the copy is not the event");
    }

    /// No variable holds so much.
    fn large() -> String {
        "größer als 128 KiB, \"$(touch pwned)\"\n".repeat(8 * 1024)
    }

    #[test]
    fn a_large_value_is_in_a_file() {
        let world = World::new();
        let text = large();
        let json = json!(text).to_string();
        for (event, name, expected) in [
            (
                HookEvent::session_message("s", "user", &*text),
                "CONTENT",
                &text,
            ),
            (
                HookEvent::tool_post_execute("read", "", &*text),
                "TOOL_RESULT",
                &json,
            ),
            (
                HookEvent::user_interrupt().with_data("some-list", vec![text.clone()]),
                "SOME_LIST",
                &json!([text]).to_string(),
            ),
            // A hook that may fail is no guard.
            (
                HookEvent::tool_pre_execute("write", &*text),
                "TOOL_ARGS",
                &json,
            ),
        ] {
            let command = format!(
                "test -z \"${{FORGE_{name}+set}}${{OPENCODE_{name}+set}}${{{name}+set}}\" &&
                 test -n \"$FORGE_WORKING_DIR\" && test -z \"$FORGE_ROLE_FILE\" &&
                 test \"$FORGE_{name}_FILE\" = \"$OPENCODE_{name}_FILE\" &&
                 cp \"$FORGE_{name}_FILE\" copy &&
                 ls -ld \"$(dirname \"$FORGE_{name}_FILE\")\" >mode &&
                 printf %s \"$FORGE_{name}_FILE\""
            );
            let hook = hook("*", &command).with_on_failure(FailurePolicy::Continue);
            // Each hook of the event finds the file.
            world.registry().load_hooks([hook.clone(), hook]);
            let outcome = world.submit(event).wait();
            for result in outcome.results() {
                assert!(result.success(), "{result:?}");
                let file = PathBuf::from(&result.stdout);
                assert!(file.is_absolute() && !file.exists(), "{}", file.display());
                assert!(!file.parent().unwrap().exists(), "the directory goes too");
            }
            assert!(&world.read("copy") == expected, "the copy is not the value");
            let mode = world.read("mode");
            assert!(mode.starts_with("drwx------"), "{mode}");
            world.registry().clear();
        }
        assert!(!world.path("pwned").exists());
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
        assert_eq!(result.failure, Some(FailureKind::EventTooLarge));
        assert_eq!((result.exit_code, result.pid), (-1, None));
        assert!(!result.should_continue() && !world.path("ran").exists());
        let error = result.error.unwrap();
        assert!(error.starts_with("`FORGE_CONTENT` is too large"), "{error}");
        for words in [(room + 1).to_string(), "\"reads\": \"stdin\"".to_owned()] {
            assert!(error.contains(&words), "{error}");
        }
        let outcome = world.outcome(&event);
        assert!(!outcome.allowed() && outcome.reason() == Some(error.as_str()));
    }

    #[test]
    fn many_values_are_partly_in_files() {
        const VALUES: usize = 40;
        let world = World::new();
        let mut event = HookEvent::session_end("s");
        // More than any system takes in all, with both prefixes.
        for number in 0..VALUES {
            event = event.with_data(format!("v{number}"), "x".repeat(40_000 + number));
        }
        let command = "n=0; while test $n -lt 40; do
                eval value=\\$FORGE_V$n file=\\$FORGE_V${n}_FILE
                if test -n \"$file\"; then echo file $(wc -c <\"$file\")
                else echo value ${#value}; fi
                n=$((n+1))
            done";
        let shown = shown(&world, hook("*", command), &event);
        let places = shown.lines().map(|line| line.split_once(' ').unwrap());
        let places: Vec<(&str, usize)> = places
            .map(|(place, size)| (place, size.parse().unwrap()))
            .collect();
        let sizes: Vec<_> = places.iter().map(|(_, size)| *size).collect();
        assert_eq!(sizes, (40_000..40_000 + VALUES).collect::<Vec<_>>());
        let in_variables = places.iter().filter(|(place, _)| *place == "value");
        let total: usize = in_variables.map(|(_, size)| size * 2).sum();
        assert!((200_000..=256 * 1024).contains(&total), "{total} bytes");
    }
}

/// `cmd` inserts `%NAME%` before it reads the command, so the value would be code. Checked before it is known
/// that only Windows has `cmd`.
#[test]
fn cmd_inserts_no_value_of_an_event() {
    let (default, ours) = (AppProfile::default(), AppProfile::new("my-game"));
    for (profile, command, variable) in [
        (&default, "echo %FORGE_TOOL_NAME%", "FORGE_TOOL_NAME"),
        (&default, "echo %opencode_content:a=b%", "OPENCODE_CONTENT"),
        (&default, "echo %Tool_Args:~0,5%", "TOOL_ARGS"),
        (&default, "%TOOL_RESULT%", "TOOL_RESULT"),
        (&default, "echo a%PATH%EVENT_TYPE%", "EVENT_TYPE"),
        (&default, "call echo %%TOOL_NAME%%", "TOOL_NAME"),
        (&default, "type %FORGE_X_FILE%", "FORGE_X_FILE"),
        (&default, "echo %FORGE_ANY_KEY%", "FORGE_ANY_KEY"),
        (&ours, "echo %my_game_content%", "MY_GAME_CONTENT"),
        (
            &default,
            "echo !FORGE_TOOL_NAME!!TOOL_ARGS:~0,5! || echo no",
            "",
        ),
        (
            &default,
            "echo %PATH% %TOOL_NAMES% %MY_TOOL_NAME% | findstr x",
            "",
        ),
        (&default, "echo TOOL_NAME 100% FORGE_TOOL_NAME", ""),
        (&default, "call \"%CLAUDE_PROJECT_DIR%\\a.exe\"", ""),
        (&ours, "echo %TOOL_NAME% %OPENCODE_TOOL_NAME%", ""),
    ] {
        let world = World::with(|builder| builder.profile(profile.clone()));
        let result = world.one(hook("*", command).with_shell(Shell::Cmd));
        let error = result.error.unwrap_or_default();
        let refused = format!(
            "`cmd` would execute the value of `%{variable}%` as code: write `!{variable}!` instead"
        );
        let is_refused = error.contains("`cmd` would");
        assert_eq!(is_refused, !variable.is_empty(), "{command}: {error}");
        assert!(!is_refused || error == refused, "{error}");
    }
}
