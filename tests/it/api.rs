//! The public types: they can be shared between threads and returned as an error, and a result says what
//! the specification says of it.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use forge_hooks::lifecycle::{OwnAction, Submitted, ToolRun};
use forge_hooks::trust::{Approval, Approved};
use forge_hooks::{
    AppProfile, CancelToken, Decision, EventType, FailureKind, FireOptions, Hook, HookBlockedError,
    HookConfig, HookError, HookEvent, HookExecutor, HookHandle, HookOutput, HookResult, Hooks,
    HooksBuilder, Lifecycle, LoadReport, Outcome, SetupError, SubmitError, Trace,
};

use forge_hooks::lifecycle::{Model, Permission, Request, Running, Session, Tool, Turn};

use crate::support::{World, hook};

/// Without `Debug`, a host could not derive it for a struct of its own that holds one. The types that are not here are
/// in the fields of these.
#[test]
fn types_are_send_and_sync_and_have_debug() {
    fn shared<T: Debug + Send + Sync + 'static>() {}
    shared::<Approval>();
    shared::<Approved>();
    shared::<CancelToken>();
    shared::<HookHandle>();
    shared::<HookOutput>();
    shared::<Hooks>();
    shared::<HooksBuilder>();
    shared::<Lifecycle>();
    shared::<Running<Model>>();
    shared::<LoadReport>();
    shared::<Running<Permission>>();
    shared::<Running<Session>>();
    shared::<Running<Turn>>();
    shared::<Running<Tool>>();
    shared::<ToolRun>();
    shared::<Trace>();

    fn value<T: Clone + PartialEq + Debug + Send + Sync + 'static>() {}
    value::<AppProfile>();
    value::<EventType>();
    value::<FireOptions>();
    value::<Hook>();
    value::<HookEvent>();
    value::<HookResult>();

    fn handle<T: Clone + Debug + Send + Sync + 'static>() {}
    handle::<HookExecutor>();
    handle::<Outcome>();
    handle::<HookBlockedError>();

    fn sent<T: Send>() {}
    sent::<Request<'_, Tool>>();
    sent::<Request<'_, Model>>();
    sent::<Request<'_, Permission>>();
}

/// Checks that a program may have `catch_unwind` around its frame while it holds any of these. Returns their names.
macro_rules! kept {
    ($($module:ident::{$($type:ident $(<$($argument:tt),+>)?),+ $(,)?})+) => {{
        fn kept<T: UnwindSafe + RefUnwindSafe>() {}
        $($(kept::<forge_hooks::$module::$type $(<$($argument),+>)?>();)+)+
        BTreeSet::from([$($(stringify!($type)),+),+])
    }};
}

#[test]
fn each_type_can_be_kept_in_a_panic() {
    let kept = kept! {
        compat::{Agent, OtherAgents}
        config::{HookConfig, LoadReport, Position, Problem, TrustPolicy}
        events::{CustomEventType, EventSpec, EventType, HookEvent, HostContext}
        executor::{
            CancelToken, FireOptions, HookExecutor, HookExecutorBuilder, HookHandle, HookRegistry, HookRun,
            Observation, Observations, SubmitError,
        }
        hook::{FailurePolicy, Hook, HookError, May, Sandbox, Shell}
        lifecycle::{
            Compaction, Lifecycle, Model, Next, OwnAction, Permission, Permit, Question<'static>,
            Request<'static, Tool>, Running<Turn>, Session, Submitted<Tool>, Tool, ToolRun, Turn,
        }
        outcome::{Decision, FailureKind, HookBlockedError, HookOutput, HookResult, Outcome}
        redact::{Redactor}
        trace::{Trace, TraceBuilder}
        trust::{Approval, Approved, TrustStore}
    };
    fn generic<T: UnwindSafe + RefUnwindSafe>() {}
    generic::<Running<Model>>();
    generic::<Running<OwnAction>>();
    generic::<Running<Permission>>();
    generic::<Running<Session>>();
    generic::<Submitted<Permission>>();
    generic::<(AppProfile, Hooks, HooksBuilder, SetupError)>();
    #[cfg(feature = "cli")]
    generic::<forge_hooks::cli::Io<'_>>();
    let others = ["AppProfile", "Hooks", "HooksBuilder", "Io", "SetupError"];
    let all = include_str!("../../api.txt").lines().filter_map(|line| {
        let item = line.trim_start_matches("#[non_exhaustive] ");
        let path = ["pub struct ", "pub enum "]
            .iter()
            .find_map(|kind| item.strip_prefix(kind))?;
        let (_, name) = path.split(['<', '(']).next()?.rsplit_once("::")?;
        Some(name)
    });
    let all: BTreeSet<_> = all.collect();
    assert_eq!(kept.into_iter().chain(others).collect::<BTreeSet<_>>(), all);
}

/// Another decision would be a break: a host must say what it does for each.
#[test]
fn a_match_of_each_decision_is_enough() {
    let runs = |decision| match decision {
        Decision::Allow => true,
        Decision::Ask | Decision::Block => false,
    };
    let allowing: Vec<_> = Decision::ALL
        .iter()
        .filter(|decision| runs(**decision))
        .collect();
    assert_eq!(allowing, [&Decision::Allow]);
}

#[test]
fn every_error_can_travel_in_a_box() {
    fn error<T: Error + Send + Sync + 'static>() {}
    error::<HookBlockedError>();
    error::<HookError>();
    error::<SetupError>();
    error::<SubmitError>();

    fn guarded() -> Result<(), Box<dyn Error + Send + Sync>> {
        let refused = HookResult::new(Hook::new("tool:*", "./guard.sh")?, 1);
        Err(HookBlockedError::new(refused))?
    }
    let error = guarded().unwrap_err();
    let blocked = error.downcast_ref::<HookBlockedError>().unwrap();
    assert_eq!(blocked.result.exit_code(), 1);
    assert_eq!(
        error.to_string(),
        "blocked by hook `./guard.sh`: exited with code 1"
    );
}

#[test]
fn errors_do_not_repeat_their_source() {
    let error = Hook::new("tool:", "true").unwrap_err();
    let mut source = error.source();
    while let Some(cause) = source {
        assert_ne!(cause.to_string(), error.to_string());
        source = cause.source();
    }
}

#[test]
fn a_result_can_be_made_in_tests() {
    let own = Arc::new(hook("session:*", "true").with_name("greeter"));
    let result = HookResult::new(Arc::clone(&own), 0).with_stderr("note");
    assert!(Arc::ptr_eq(result.hook(), &own));
    assert_eq!(result.clone(), result);
    let bytes = (result.stdout_bytes(), result.stderr_bytes());
    assert_eq!(bytes, (&b""[..], &b"note"[..]));
    let result = result.with_stdout("token=hunter2");
    let debug = format!("{result:?}");
    assert!(debug.contains("greeter"), "{debug}");
    assert!(!debug.contains("hunter2"), "{debug}");
}

/// Programs read these names, so a change of one is a breaking change.
#[test]
fn the_names_in_json_stay() {
    let failures = "exit signal timed_out not_found not_executable not_started no_working_dir no_sandbox event_too_large \
        arguments_not_mapped misconfigured invalid_answer no_answer status_lost panicked circular approval_lost not_taken \
        cancelled";
    let named: Vec<_> = FailureKind::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(named, failures.split_whitespace().collect::<Vec<_>>());
    assert_eq!(FailureKind::TimedOut.to_string(), "timed_out");
    let named = Decision::ALL.iter().map(ToString::to_string);
    assert!(named.eq(["allow", "ask", "block"]));
}

#[test]
fn a_loaded_hook_equals_one_made_by_hand() {
    let world = World::new();
    let text = r#"{"hooks": [{"event": "tool:*", "command": "true", "timeout": 5}]}"#;
    world.write("project/.src/forge/hooks.json", text);
    let loaded = HookConfig::default().load_project(world.path("project"));
    let by_hand = Hook::new("tool:*", "true").unwrap();
    let by_hand = by_hand.with_timeout(std::time::Duration::from_secs(5));
    assert!(loaded[0].file().is_some());
    assert_eq!(loaded[0], by_hand);
    assert_ne!(loaded[0], by_hand.with_name("other"));
}

/// At the root of the crate, also those that its front page does not show.
#[test]
fn the_names_of_the_specification_are_there() {
    use forge_hooks::{
        HOOK_TEMPLATES, HookRegistry, fire_event, fire_event_blocking, fire_event_blocking_with,
    };

    assert_eq!(EventType::BUILTIN.len(), 16);
    let _ = (EventType::as_str, EventType::category, EventType::action);
    let _ = (HookEvent::to_env, HookEvent::to_json, HookEvent::data);
    let _ = (Hook::to_json, Hook::from_json, Hook::matches);
    let _ = (Hook::event_pattern, Hook::command, Hook::timeout, Hook::env);
    let _ = (Hook::working_dir, Hook::enabled, Hook::description);
    let _ = (HookRegistry::global, HookRegistry::unregister);
    let _ = (
        HookRegistry::get_hooks,
        HookRegistry::clear,
        HookRegistry::len,
    );
    let registry = HookRegistry::new();
    registry.register(hook("*", "true"));
    registry.load_hooks([hook("*", "true")]);
    let _ = (
        HookExecutor::new,
        HookExecutor::builder,
        HookExecutor::global,
    );
    let _ = (HookExecutor::set_global, HookExecutor::execute_hooks);
    let _ = |event: HookEvent| HookExecutor::global().submit(event, FireOptions::default());
    let _ = (fire_event, fire_event_blocking, fire_event_blocking_with);
    let _ = (
        HookResult::exit_code,
        HookResult::stdout,
        HookResult::stderr,
    );
    let _ = (
        HookResult::duration,
        HookResult::timed_out,
        HookResult::error,
    );
    let _ = (
        HookResult::hook,
        HookResult::success,
        HookResult::should_continue,
    );
    let _ = HookBlockedError::new;
    let _ = (
        HookConfig::load_global,
        HookConfig::global_path,
        HookConfig::default_hooks,
    );
    let _ = |config: &HookConfig| {
        let hooks = config.load_all("project");
        let _ = (
            config.load_project("project"),
            config.project_path("project"),
        );
        config.save_global(&hooks)?;
        config.save_project("project", &hooks)
    };
    assert!(HOOK_TEMPLATES.contains_key("log_all"));
}

/// Apart from the lines that the documentation hides.
#[test]
fn the_front_page_has_the_example_of_the_readme() {
    let [front, readme] = [
        include_str!("../../src/lib.rs"),
        include_str!("../../README.md"),
    ]
    .map(|text| text.replace("\r\n", "\n"));
    let front = front.lines().filter_map(|line| line.strip_prefix("//!"));
    let front: Vec<_> = front
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let start = front.iter().position(|line| *line == "```").unwrap();
    let code = front[start + 1..].iter().take_while(|line| **line != "```");
    let code = code.filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    for line in code {
        let is_there = readme.lines().any(|other| other.trim() == line.trim());
        assert!(is_there, "{line}");
    }
    let text = front.iter().filter(|line| !line.starts_with('#'));
    assert!(text.count() <= 60, "it fits a screen");
}
