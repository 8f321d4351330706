//! What blocks and what does not: every cause, under both policies, for an event that can block and
//! for one that cannot.

use std::sync::Arc;
use std::time::Duration;

use forge_hooks::config::TrustPolicy;
use forge_hooks::protocol::{Gate, GateVerdict};
use forge_hooks::{
    EventType, FailureKind, FailurePolicy, FireOptions, Hook, HookBlockedError, HookConfig,
    HookEvent, HookRegistry, HookResult,
};

use crate::support::{LONG, World, blocking_event, hook};

/// What a hook may bring about: a row of the table in docs/protocol.md. Lost exit statuses are in
/// `hosts`, circles in `circular`: they take a host of their own.
struct Row {
    hook: Hook,
    /// On an event that can block, and on one that cannot.
    failure: [Option<FailureKind>; 2],
    /// On an event that can block, with each policy.
    continues: [bool; 2],
    succeeds: bool,
    /// The event has a value that fits into no variable.
    large: bool,
}

/// A hook that fails so, whatever the event.
fn fails(failure: FailureKind, hook: Hook) -> Row {
    Row {
        hook,
        failure: [Some(failure); 2],
        continues: [false, true],
        succeeds: false,
        large: false,
    }
}

/// A hook at which nothing fails, and that lets the operation go on or not.
fn ends(hook: Hook, continues: bool) -> Row {
    Row {
        hook,
        failure: [None; 2],
        continues: [continues; 2],
        succeeds: true,
        large: false,
    }
}

#[derive(Debug)]
struct Refuses(GateVerdict);

impl Gate for Refuses {
    fn check(&self, _hook: &Hook) -> GateVerdict {
        self.0.clone()
    }
}

#[derive(Debug)]
struct Panics;

impl Gate for Panics {
    fn check(&self, _hook: &Hook) -> GateVerdict {
        panic!("the gate panics, and is to")
    }
}

fn failing(world: &World) -> Vec<Row> {
    use FailureKind::{
        ApprovalLost, EventTooLarge, Exit, Misconfigured, NotFound, Panicked, TimedOut,
    };
    let missing = world.path("missing").display().to_string();
    let lost = Refuses(GateVerdict::ApprovalLost("changed".into()));
    world.write(
        ".src/forge/hooks.json",
        r#"{"hooks": [{"event": "*", "comand": "exit 0"}]}"#,
    );
    let loaded = HookRegistry::new();
    let config = HookConfig::default().with_config_home(world.path("home"));
    let _ = config.load_into(&loaded, world.directory(), TrustPolicy::Everything);
    let placeholder = loaded.hooks().remove(0).as_ref().clone();
    vec![
        fails(Exit, hook("*", "exit 1")),
        fails(
            TimedOut,
            hook("*", "sleep 30 || ping -n 30 127.0.0.1").with_timeout(Duration::from_millis(100)),
        ),
        fails(NotFound, hook("*", "exit 0").with_working_dir(&missing)),
        fails(NotFound, Hook::program("*", [missing]).unwrap()),
        fails(Misconfigured, placeholder),
        fails(Panicked, hook("*", "exit 0").with_gate(Arc::new(Panics))),
        Row {
            continues: [false, false],
            ..fails(ApprovalLost, hook("*", "exit 0").with_gate(Arc::new(lost)))
        },
        Row {
            // The others run with a file in the place of the value.
            failure: [Some(EventTooLarge), None],
            large: true,
            ..fails(EventTooLarge, hook("*", "exit 0"))
        },
    ]
}

#[cfg(unix)]
fn failing_on_unix() -> Vec<Row> {
    use FailureKind::{NotExecutable, NotFound, NotStarted, Signal};
    vec![
        fails(Signal, hook("*", "kill -9 $$")),
        fails(NotFound, hook("*", "no-such-command")),
        fails(NotExecutable, hook("*", "/etc/passwd")),
        fails(NotExecutable, Hook::program("*", ["/etc/passwd"]).unwrap()),
        fails(NotExecutable, Hook::program("*", ["/"]).unwrap()),
        fails(NotStarted, hook("*", "true").with_env("A=B", "c")),
    ]
}

fn answering(world: &World) -> Vec<Row> {
    let says = |answer: &str, then: &str| hook("*", &format!("{}{then}", world.says(answer)));
    let and = |then| format!("{} {then}", if cfg!(windows) { "&" } else { ";" });
    let exit = |code: u8| and(format!("exit {code}"));
    let fails_with = |code, row| Row {
        hook: says(row, &exit(code)),
        ..ends(hook("*", "x"), false)
    };
    let skipped = Refuses(GateVerdict::NotApproved("never seen".into()));
    let mut rows = vec![
        ends(hook("*", "exit 0"), true),
        ends(says("plain words", ""), true),
        ends(says("{}", ""), true),
        ends(says(r#"{"decision": "allow"}"#, ""), true),
        ends(says(r#"{"decision": "block"}"#, ""), false),
        ends(says(r#"{"continue": false}"#, ""), false),
        ends(says(r#"{"decision": "ask"}"#, ""), false),
        Row {
            succeeds: false,
            ..fails_with(3, r#"{"decision": "block"}"#)
        },
        Row {
            succeeds: false,
            ..fails_with(127, r#"{"continue": false, "decision": "allow"}"#)
        },
        Row {
            succeeds: false,
            ..ends(hook("*", "exit 0").with_gate(Arc::new(skipped)), true)
        },
    ];
    for (answer, code) in [
        (r#"{"decision": "allow"}"#, 1),
        (r#"{"decision": "ask"}"#, 1),
    ] {
        rows.push(fails(FailureKind::Exit, says(answer, &exit(code))));
    }
    for (broken, code, otherwise) in [
        (r#"{"decision": "blok"}"#, 0, None),
        (r#"{"decision": "blo"#, 0, None),
        ("{\"decision\": 1}", 2, Some(FailureKind::Exit)),
    ] {
        rows.push(Row {
            failure: [Some(FailureKind::InvalidAnswer), otherwise],
            ..fails(FailureKind::InvalidAnswer, says(broken, &exit(code)))
        });
    }
    rows
}

#[test]
fn what_blocks_is_what_the_table_says() {
    let world = World::new();
    let mut rows = failing(&world);
    rows.extend(answering(&world));
    #[cfg(unix)]
    rows.extend(failing_on_unix());
    let policies = [FailurePolicy::Block, FailurePolicy::Continue];
    for row in rows {
        for (policy, continues) in policies.into_iter().zip(row.continues) {
            check(&world, &row, policy, continues);
        }
    }
}

fn check(world: &World, row: &Row, policy: FailurePolicy, continues: bool) {
    let hook = row.hook.clone().with_on_failure(policy);
    let case = format!("{} under {policy}", hook.command());
    world.registry().clear();
    world.registry().register(hook);
    let large = |event: HookEvent| {
        let value = if row.large {
            "x".repeat(300_000)
        } else {
            String::new()
        };
        event.with_data("value", value)
    };

    let outcome = world.outcome(&large(blocking_event()));
    let result = &outcome.results()[0];
    // A hook whose failures are ignored is not a guard: it runs in spite of the large value.
    let runs_all_the_same = row.large && policy == FailurePolicy::Continue;
    let failure = row.failure[0].filter(|_| !runs_all_the_same);
    assert_eq!(result.failure, failure, "{case}: {result:?}");
    assert_eq!(result.should_continue(), continues, "{case}: {result:?}");
    let succeeds = row.succeeds || runs_all_the_same;
    assert_eq!(result.success(), succeeds, "{case}: {result:?}");
    let has_words = failure.is_some() || result.skipped.is_some();
    assert_eq!(result.error.is_some(), has_words, "{case}: {result:?}");
    assert_eq!(outcome.allowed(), continues, "{case}");

    let outcome = world.outcome(&large(HookEvent::user_interrupt()));
    assert_eq!(
        outcome.results()[0].failure,
        row.failure[1],
        "{case}, after the fact"
    );
    assert!(outcome.allowed(), "{case}, after the fact");
}

#[test]
fn cancelled_hooks_block_under_any_policy() {
    let world = World::new();
    world
        .registry()
        .register(hook("*", LONG).with_on_failure(FailurePolicy::Continue));
    let handle = world.submit(blocking_event());
    handle.cancel();
    let outcome = handle.wait();
    assert_eq!(outcome.results()[0].failure, Some(FailureKind::Cancelled));
    assert!(!outcome.allowed());
}

#[test]
fn only_events_before_an_action_block() {
    let world = World::running(["exit 1"]);
    for event_type in EventType::BUILTIN {
        let outcome = world.outcome(&HookEvent::new(event_type.clone()));
        assert_eq!(outcome.allowed(), !event_type.can_block(), "{event_type}");
        assert!(
            !outcome.results()[0].should_continue(),
            "the result says what the hook did"
        );
        assert_eq!(outcome.event_type(), &event_type);
    }
    let custom = HookEvent::new(EventType::custom("game:save").unwrap());
    assert!(!world.outcome(&custom).allowed());
}

#[test]
fn an_ignored_failure_does_not_stop() {
    let world = World::new();
    world
        .registry()
        .register(hook("*", "exit 1").with_on_failure(FailurePolicy::Continue));
    world.hook("*", "echo second");
    let outcome = world.outcome(&blocking_event());
    assert_eq!(outcome.results().len(), 2);
    assert!(outcome.allowed() && outcome.reason().is_none());
    assert!(!outcome.results()[0].success());
}

#[test]
fn an_error_says_which_hook_blocked_and_why() {
    let world = World::new();
    world.hook("tool:*", "echo fine");
    let guard = hook(
        "tool:pre_execute:bash",
        "echo Blocked: dangerous command detected& exit 1",
    );
    #[cfg(unix)]
    let guard = Hook::new(
        guard.event_pattern(),
        guard.command().to_string().replace('&', ";"),
    )
    .unwrap();
    world.registry().register(guard.clone());
    let error = world.outcome(&blocking_event()).into_result().unwrap_err();
    let command = guard.command();
    assert_eq!(
        error.to_string(),
        format!("blocked by hook `{command}`: Blocked: dangerous command detected")
    );
    assert_eq!(error.result.exit_code, 1);
    assert!(error.result.stdout.contains("dangerous command detected"));

    world.registry().clear();
    world
        .registry()
        .register(guard.with_description("Guards the shell"));
    let outcome = world.outcome(&blocking_event());
    assert_eq!(
        outcome.reason(),
        Some("Blocked: dangerous command detected")
    );
    let error = outcome.into_result().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("blocked by hook `Guards the shell`: "),
        "{error}"
    );
}

#[test]
fn the_reason_is_the_output_or_the_failure() {
    #[track_caller]
    fn case(failure: FailureKind, stdout: &str, stderr: &str, expected: &str) {
        let mut result = HookResult::new(hook("*", "x"), 1);
        result.failure = Some(failure);
        result.error = Some("the error".into());
        (result.stdout, result.stderr) = (stdout.into(), stderr.into());
        assert_eq!(result.reason(), Some(expected));
        let message = HookBlockedError::new(result).to_string();
        assert_eq!(message, format!("blocked by hook `x`: {expected}"));
    }
    case(FailureKind::Exit, " printed\n", "whispered", "printed");
    case(FailureKind::Exit, " \n", "whispered\n", "whispered");
    case(FailureKind::Exit, "", "", "the error");
    case(
        FailureKind::Exit,
        "{\"decision\": 1}",
        "whispered",
        "whispered",
    );
    case(
        FailureKind::Exit,
        "",
        "{\"error\": \"no sudo\"}",
        "{\"error\": \"no sudo\"}",
    );
    case(FailureKind::TimedOut, "half a sen", "", "the error");
    case(
        FailureKind::NotFound,
        "",
        "sh: 1: x: not found",
        "the error",
    );
    assert_eq!(HookResult::new(hook("*", "x"), 0).reason(), None);
}

#[test]
fn the_message_of_a_block_hides_nothing() {
    let mut result = HookResult::new(hook("*", "x").with_description("a\u{200b}\nb"), 1);
    result.stdout = "no\u{e0041}\nreally\u{1b}[2J".into();
    let message = HookBlockedError::new(result).to_string();
    let expected = "blocked by hook `a\\u{200b}\\nb`: no\\u{e0041}\nreally\\u{1b}[2J";
    assert_eq!(message, expected);
}

#[test]
fn all_blocks_are_reported_without_a_stop() {
    let world = World::running(["exit 1", "exit 2", "exit 0"]);
    let options = FireOptions::default().stop_on_failure(false);
    let outcome = world.executor.execute(&blocking_event(), options);
    assert_eq!(outcome.results().len(), 3);
    assert_eq!(outcome.blocked().unwrap().exit_code, 1);
    assert_eq!(
        outcome
            .results()
            .iter()
            .filter(|result| !result.should_continue())
            .count(),
        2
    );
    assert_eq!(outcome.into_results().len(), 3);
}

#[test]
#[cfg(unix)]
fn failures_are_shown_on_any_event() {
    let world = World::new();
    let missing = hook("*", "./nope.sh").with_description("Greets\u{202e}");
    world.registry().register(missing);
    world.hook("session:start", "exit 0");
    let outcome = world.outcome(&HookEvent::session_start("s1"));
    assert!(outcome.check().is_ok());
    let failures = outcome.failures();
    assert!(!failures.is_empty() && failures.iter().count() == 1);
    let shown = failures.to_string();
    assert!(
        shown.starts_with(
            "hook `Greets\\u{202e}` failed on `session:start`: command `./nope.sh` not found"
        ),
        "{shown}"
    );
    assert!(
        shown.ends_with(")\n") && shown.lines().count() == 1,
        "{shown}"
    );

    let outcome = world.outcome(&blocking_event());
    assert!(outcome.failures().is_empty(), "it blocks: `check` says so");
    assert!(outcome.check().is_err());

    let forgiven = World::new();
    let long = hook("*", "echo one; echo two; exit 1");
    let long = long.with_on_failure(FailurePolicy::Continue);
    forgiven.registry().register(long);
    let outcome = forgiven.outcome(&blocking_event());
    let shown = outcome.failures().to_string();
    assert!(shown.ends_with(": one…\n"), "{shown}");
}

#[test]
fn debug_of_the_error_is_its_message() {
    let world = World::new();
    world.hook("*", "exit 1");
    let error = world.outcome(&blocking_event()).check().unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    assert_eq!(error.outcome().unwrap().results().len(), 1);
}
