//! The public names: all that the specification lists can be imported, shared between threads and
//! returned as an error; and a result says what the specification says of it.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use forge_hooks::config::{
    ConfigError, HooksFile, HooksFileEntry, Problem, Severity, TextRange, TrustPolicy,
};
use forge_hooks::events::{CustomEventType, Vocabulary};
use forge_hooks::executor::DropReason;
use forge_hooks::hook::{HookCommand, HookSource, KeyError, Reads, Shell, Stdin};
use forge_hooks::lifecycle::ToolRun;
use forge_hooks::outcome::SkipReason;
use forge_hooks::pattern::{EventPattern, Mismatch, PatternError, PatternPart};
use forge_hooks::protocol::GateVerdict;
use forge_hooks::redact::RedactError;
use forge_hooks::trace::TraceError;
use forge_hooks::trust::{Approval, Approved, TrustError, TrustStore};
use forge_hooks::{
    AppProfile, CancelToken, Decision, EventSpec, EventType, EventTypeError, FailureKind,
    FailurePolicy, FireOptions, HOOK_TEMPLATES, Hook, HookBlockedError, HookConfig, HookError,
    HookEvent, HookExecutor, HookExecutorBuilder, HookHandle, HookId, HookOutput, HookRegistry,
    HookResult, Hooks, HooksBuilder, Lifecycle, LoadReport, Outcome, Redactor, ShutdownReport,
    SubmitError, Trace, fire_event, fire_event_blocking, fire_event_blocking_with,
};

use forge_hooks::lifecycle::{
    Model, Permission, PermissionRun, Request, Running, Session, Stream, Tool, Turn,
};

use crate::support::{World, blocking_event, hook};

#[test]
fn types_are_send_and_sync() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<AppProfile>();
    shared::<Approval>();
    shared::<Approved>();
    shared::<CancelToken>();
    shared::<ConfigError>();
    shared::<CustomEventType>();
    shared::<Decision>();
    shared::<DropReason>();
    shared::<EventPattern>();
    shared::<EventSpec>();
    shared::<EventType>();
    shared::<EventTypeError>();
    shared::<FailureKind>();
    shared::<FailurePolicy>();
    shared::<FireOptions>();
    shared::<GateVerdict>();
    shared::<Hook>();
    shared::<HookBlockedError>();
    shared::<HookCommand>();
    shared::<HookConfig>();
    shared::<HookError>();
    shared::<HookEvent>();
    shared::<HookExecutor>();
    shared::<HookExecutorBuilder>();
    shared::<HookHandle>();
    shared::<HookId>();
    shared::<HookOutput>();
    shared::<HookRegistry>();
    shared::<HookResult>();
    shared::<HookSource>();
    shared::<Hooks>();
    shared::<HooksBuilder>();
    shared::<HooksFile>();
    shared::<HooksFileEntry>();
    shared::<KeyError>();
    shared::<Lifecycle>();
    shared::<Running<Model>>();
    shared::<Running<Stream>>();
    shared::<LoadReport>();
    shared::<Mismatch>();
    shared::<Outcome>();
    shared::<PatternError>();
    shared::<Running<Permission>>();
    shared::<PermissionRun>();
    shared::<PatternPart>();
    shared::<Problem>();
    shared::<Reads>();
    shared::<RedactError>();
    shared::<Redactor>();
    shared::<Running<Session>>();
    shared::<Running<Turn>>();
    shared::<Running<Tool>>();
    shared::<Severity>();
    shared::<Shell>();
    shared::<ShutdownReport>();
    shared::<SkipReason>();
    shared::<Stdin>();
    shared::<SubmitError>();
    shared::<TextRange>();
    shared::<ToolRun<(), String>>();
    shared::<Trace>();
    shared::<TraceError>();
    shared::<TrustError>();
    shared::<TrustPolicy>();
    shared::<TrustStore>();
    shared::<Vocabulary>();
}

/// Or a host could not derive `Debug` for a struct of its own that holds one.
#[test]
fn every_type_has_debug() {
    fn shown<T: std::fmt::Debug>() {}
    shown::<FireOptions>();
    shown::<Hook>();
    shown::<HookConfig>();
    shown::<HookEvent>();
    shown::<HookExecutor>();
    shown::<HookExecutorBuilder>();
    shown::<HookHandle>();
    shown::<HookRegistry>();
    shown::<HookResult>();
    shown::<Hooks>();
    shown::<HooksBuilder>();
    shown::<HooksFile>();
    shown::<LoadReport>();
    shown::<Outcome>();
    shown::<Problem>();
    shown::<SubmitError>();
    shown::<TrustPolicy>();
}

#[test]
fn values_can_be_cloned_and_compared() {
    fn value<T: Clone + PartialEq + std::fmt::Debug>() {}
    value::<AppProfile>();
    value::<EventPattern>();
    value::<EventType>();
    value::<FireOptions>();
    value::<Hook>();
    value::<HookEvent>();
    value::<HookId>();
    value::<HookResult>();
    fn handle<T: Clone + std::fmt::Debug>() {}
    handle::<HookExecutor>();
    handle::<Outcome>();
    handle::<HookBlockedError>();
}

#[test]
fn every_error_can_travel_in_a_box() {
    fn error<T: Error + Send + Sync + 'static>() {}
    error::<ConfigError>();
    error::<EventTypeError>();
    error::<HookBlockedError>();
    error::<HookError>();
    error::<KeyError>();
    error::<PatternError>();
    error::<SubmitError>();
    error::<TrustError>();

    fn guarded() -> Result<(), Box<dyn Error + Send + Sync>> {
        let refused = HookResult::new(Hook::new("tool:*", "./guard.sh")?, 1);
        Err(HookBlockedError::new(refused))?
    }
    let error = guarded().unwrap_err();
    let blocked = error.downcast_ref::<HookBlockedError>().unwrap();
    assert_eq!(blocked.result.exit_code, 1);
    assert_eq!(
        error.to_string(),
        "blocked by hook `./guard.sh`: exited with code 1"
    );
}

#[test]
fn errors_do_not_repeat_their_source() {
    let error = Hook::new("tool:", "true").unwrap_err();
    let inner = "tool:".parse::<EventPattern>().unwrap_err();
    assert_eq!(error.to_string(), inner.to_string());
    let mut source = error.source();
    while let Some(cause) = source {
        assert_ne!(cause.to_string(), error.to_string());
        source = cause.source();
    }
}

#[test]
fn functions_of_the_specification_exist() {
    let _: fn(HookEvent) -> Result<HookHandle, SubmitError> = fire_event;
    let _: fn(&HookEvent) -> Vec<HookResult> = fire_event_blocking;
    let _: fn(&HookEvent, FireOptions) -> Vec<HookResult> = fire_event_blocking_with;
    let _: fn() -> &'static Arc<HookRegistry> = HookRegistry::global;
    let _: fn() -> &'static HookExecutor = HookExecutor::global;
    assert!(HOOK_TEMPLATES.contains_key("log_all"));
    let _ = HookConfig::default();
}

#[test]
fn all_types_can_be_named() {
    // What a host stores in its own structs.
    struct Host {
        executor: HookExecutor,
        pending: Vec<HookHandle>,
    }
    let world = World::running(["exit 3"]);
    let mut host = Host {
        executor: world.executor.clone(),
        pending: Vec::new(),
    };
    let event = Arc::new(blocking_event());
    let handle = host
        .executor
        .submit(Arc::clone(&event), FireOptions::default())
        .unwrap();
    host.pending.push(handle);
    let outcome: Outcome = host.pending.pop().unwrap().wait();
    let blocked: HookBlockedError = outcome.into_result().unwrap_err();
    assert_eq!(blocked.result.exit_code, 3);
}

fn result(exit_code: i32, stdout: &str) -> HookResult {
    let mut result = HookResult::new(hook("test", "test"), exit_code);
    result.stdout = stdout.to_owned();
    result
}

#[test]
fn exit_code_0_is_success_and_continues() {
    let mut result = result(0, "Success!");
    result.duration = Duration::from_millis(150);
    assert!(result.success() && result.should_continue() && !result.timed_out);
    assert_eq!(
        (result.error.as_ref(), result.failure, result.reason()),
        (None, None, None)
    );
}

#[test]
fn other_exit_codes_fail_and_stop() {
    for code in [1, 2, 127, 137, 255, -1, i32::MIN, i32::MAX] {
        let result = result(code, "Blocked: dangerous command\n");
        assert!(!result.success() && !result.should_continue() && !result.timed_out);
        assert_eq!(result.failure, Some(FailureKind::Exit));
        assert_eq!(result.reason(), Some("Blocked: dangerous command"));
    }
}

#[test]
fn a_timeout_does_not_continue() {
    // As a host's test may write it, down to fields that contradict each other.
    for code in [-1, 0, 1] {
        let mut result = result(code, "");
        result.timed_out = true;
        assert!(!result.success() && !result.should_continue());
        result.failure = Some(FailureKind::TimedOut);
        result.error = Some("Hook timed out after 10s".to_owned());
        assert!(!result.success() && !result.should_continue());
        assert_eq!(result.reason(), Some("Hook timed out after 10s"));
    }
}

#[test]
fn a_hook_may_say_that_its_failures_continue() {
    let lenient = hook("test", "test").with_on_failure(FailurePolicy::Continue);
    for failure in FailureKind::ALL {
        let mut result = HookResult::new(lenient.clone(), 1);
        result.failure = Some(*failure);
        assert!(!result.success());
        assert_eq!(
            result.should_continue(),
            !matches!(failure, FailureKind::Cancelled | FailureKind::ApprovalLost),
            "{failure:?}"
        );
        result.hook = Arc::new(hook("test", "test"));
        assert!(!result.should_continue(), "{failure:?}");
    }
}

#[test]
fn a_result_can_be_changed_in_tests() {
    let own = Arc::new(hook("session:*", "true").with_name("greeter"));
    let mut result = HookResult::new(Arc::clone(&own), 0);
    result.stderr = "note".to_owned();
    assert!(Arc::ptr_eq(&result.hook, &own));
    assert_eq!(result.clone(), result);
    assert_eq!(
        (result.stdout_bytes(), result.stderr_bytes()),
        (&b""[..], &b"note"[..])
    );
    result.stdout = "token=hunter2".to_owned();
    let shown = format!("{result:?}");
    assert!(
        shown.contains("greeter") && !shown.contains("hunter2"),
        "{shown}"
    );
}

/// What programs read: a change of one of these is a break.
#[test]
fn the_names_in_json_stay() {
    let failures: Vec<&str> = FailureKind::ALL.iter().map(|it| it.as_str()).collect();
    let expected = [
        "exit",
        "signal",
        "timed_out",
        "not_found",
        "not_executable",
        "not_started",
        "event_too_large",
        "misconfigured",
        "invalid_answer",
        "status_lost",
        "panicked",
        "circular",
        "approval_lost",
        "cancelled",
    ];
    assert_eq!(failures, expected);
    assert_eq!(FailureKind::TimedOut.to_string(), "timed_out");
    let skips: Vec<&str> = SkipReason::ALL.iter().map(|it| it.as_str()).collect();
    assert_eq!(skips, ["not_approved"]);
    let decisions: Vec<&str> = Decision::ALL.iter().map(|it| it.as_str()).collect();
    assert_eq!(decisions, ["allow", "ask", "block"]);
    let drops: Vec<&str> = DropReason::ALL.iter().map(|it| it.as_str()).collect();
    assert_eq!(drops, ["cancelled", "busy", "no_thread", "shut_down"]);
}

#[test]
fn lifecycle_values_can_be_sent() {
    fn sent<T: Send>() {}
    sent::<Request<'_, Tool>>();
    sent::<Request<'_, Model>>();
    sent::<Request<'_, Permission>>();
}

#[test]
fn a_loaded_hook_equals_one_made_by_hand() {
    let world = crate::support::World::new();
    let text = r#"{"hooks": [{"event": "tool:*", "command": "true", "timeout": 5}]}"#;
    world.write("project/.src/forge/hooks.json", text);
    let loaded = HookConfig::default().load_project(world.path("project"));
    let by_hand = Hook::new("tool:*", "true").unwrap();
    let by_hand = by_hand.with_timeout(std::time::Duration::from_secs(5));
    assert!(loaded[0].source().is_some());
    assert_eq!(loaded[0], by_hand);
    assert_ne!(loaded[0], by_hand.with_name("other"));
}
