//! What blocks and what does not: every cause, under both policies, for an event that can block and
//! for one that cannot.

use std::time::Duration;

use forge_hooks::{
    EventType, FailureKind, FailurePolicy, FireOptions, Hook, HookBlockedError, HookEvent,
    HookResult,
};

use crate::support::{World, blocking_event, hook};

/// A cause that a hook brings about by itself.
struct Cause {
    failure: Option<FailureKind>,
    hook: Hook,
}

fn causes(world: &World) -> Vec<Cause> {
    let cause = |failure, hook: Hook| Cause { failure, hook };
    let missing = world.path("missing").display().to_string();
    let mut causes = vec![
        cause(None, hook("*", "exit 0")),
        cause(Some(FailureKind::Exit), hook("*", "exit 1")),
        cause(
            Some(FailureKind::TimedOut),
            hook("*", "sleep 30 || ping -n 30 127.0.0.1").with_timeout(Duration::from_millis(100)),
        ),
        cause(
            Some(FailureKind::NotFound),
            hook("*", "exit 0").with_working_dir(&missing),
        ),
        cause(
            Some(FailureKind::NotFound),
            Hook::program("*", [missing]).unwrap(),
        ),
    ];
    if cfg!(unix) {
        causes.extend([
            cause(Some(FailureKind::Signal), hook("*", "kill -9 $$")),
            cause(Some(FailureKind::NotFound), hook("*", "no-such-command")),
            cause(Some(FailureKind::NotExecutable), hook("*", "/etc/passwd")),
            cause(
                Some(FailureKind::NotExecutable),
                Hook::program("*", ["/etc/passwd"]).unwrap(),
            ),
            cause(
                Some(FailureKind::NotExecutable),
                Hook::program("*", ["/"]).unwrap(),
            ),
            cause(
                Some(FailureKind::NotStarted),
                hook("*", "true").with_env("A=B", "c"),
            ),
        ]);
    }
    causes
}

#[test]
fn every_failure_blocks_unless_the_hook_says_otherwise() {
    let world = World::new();
    for Cause { failure, hook } in causes(&world) {
        for policy in [FailurePolicy::Block, FailurePolicy::Continue] {
            let result = world.one(hook.clone().with_on_failure(policy));
            let case = format!("{} under {policy}: {result:?}", hook.command());
            assert_eq!(result.failure, failure, "{case}");
            let continues = failure.is_none() || policy == FailurePolicy::Continue;
            assert_eq!(result.should_continue(), continues, "{case}");
            assert_eq!(result.success(), failure.is_none(), "{case}");
            assert_eq!(result.error.is_some(), failure.is_some(), "{case}");
            let blocks = !world.outcome(&blocking_event()).allowed();
            assert_eq!(blocks, !continues, "{case}");
            let after_the_fact = world.outcome(&HookEvent::user_interrupt());
            assert!(after_the_fact.allowed(), "{case}");
        }
    }
}

#[test]
fn only_events_before_the_fact_can_be_blocked() {
    let world = World::running(["exit 1"]);
    for event_type in EventType::BUILTIN {
        let outcome = world.outcome(&HookEvent::new(event_type.clone()));
        assert_eq!(outcome.allowed(), !event_type.can_block(), "{event_type}");
        assert!(
            !outcome[0].should_continue(),
            "the result says what the hook did"
        );
        assert_eq!(outcome.event_type(), &event_type);
    }
    let custom = HookEvent::new(EventType::custom("game:save").unwrap());
    assert!(!world.outcome(&custom).allowed());
}

#[test]
fn a_hook_that_may_fail_does_not_stop_those_behind_it() {
    let world = World::new();
    world
        .registry()
        .register(hook("*", "exit 1").with_on_failure(FailurePolicy::Continue));
    world.hook("*", "echo second");
    let outcome = world.outcome(&blocking_event());
    assert_eq!(outcome.len(), 2);
    assert!(outcome.allowed() && outcome.reason().is_none());
    assert!(!outcome[0].success());
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
    assert_eq!(
        error.to_string(),
        "blocked by hook `tool:pre_execute:bash`: Blocked: dangerous command detected"
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
fn the_reason_is_what_the_hook_said_else_why_it_failed() {
    #[track_caller]
    fn case(failure: FailureKind, stdout: &str, stderr: &str, expected: &str) {
        let mut result = HookResult::new(hook("*", "x"), 1);
        result.failure = Some(failure);
        result.error = Some("the error".into());
        (result.stdout, result.stderr) = (stdout.into(), stderr.into());
        assert_eq!(result.reason(), Some(expected));
        let message = HookBlockedError::new(result).to_string();
        assert_eq!(message, format!("blocked by hook `*`: {expected}"));
    }
    case(FailureKind::Exit, " said\n", "whispered", "said");
    case(FailureKind::Exit, " \n", "whispered\n", "whispered");
    case(FailureKind::Exit, "", "", "the error");
    case(
        FailureKind::Exit,
        "{\"decision\": 1}",
        "whispered",
        "whispered",
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
fn all_that_block_are_told_when_nothing_stops_the_chain() {
    let world = World::running(["exit 1", "exit 2", "exit 0"]);
    let options = FireOptions::default().stop_on_failure(false);
    let outcome = world.executor.execute(&blocking_event(), options);
    assert_eq!(outcome.len(), 3);
    assert_eq!(outcome.blocked().unwrap().exit_code, 1);
    assert_eq!(
        outcome
            .iter()
            .filter(|result| !result.should_continue())
            .count(),
        2
    );
    assert_eq!(outcome.into_results().len(), 3);
}
