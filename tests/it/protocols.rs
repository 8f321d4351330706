//! Hooks with a protocol of the host's own.

use std::sync::Arc;
use std::time::Duration;

use forge_hooks::compat::{self, OtherTools};
use forge_hooks::protocol::{Answer, Call, End, Failure, Order, Protocol, ProtocolMismatch, Start};
use forge_hooks::trust::Approval;
use forge_hooks::{
    Decision, FailureKind, FailurePolicy, FireOptions, Hook, HookConfig, HookEvent, HookOutput,
};
use serde_json::{Value, json};

use crate::support::{World, blocking_event, hook, printed};

/// Which method fails, and how.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    Mismatch,
    Prepare,
    Read,
    Parallel,
    NoProgram,
    BadVariable,
    Refuses,
    Invalid,
}

/// Runs `command TOOL`, blocks with exit code 3, and may fail in one of its methods.
#[derive(Debug)]
struct Old {
    fault: Fault,
    tool: &'static str,
}

impl Old {
    fn with(fault: Fault) -> Arc<Self> {
        Arc::new(Self { fault, tool: "" })
    }

    fn fails(&self, fault: Fault) -> bool {
        assert!(self.fault != fault, "the protocol panics, and is to");
        false
    }
}

impl Protocol for Old {
    fn name(&self) -> &str {
        "old"
    }

    fn definition(&self) -> Value {
        json!({"tool": self.tool})
    }

    fn mismatch<'a>(&'a self, event: &'a HookEvent) -> Option<ProtocolMismatch<'a>> {
        self.fails(Fault::Mismatch);
        let tool = event.tool_name.as_deref();
        let is_met = self.tool.is_empty() || tool == Some(self.tool);
        (!is_met).then(|| ProtocolMismatch::new("tool", self.tool, tool))
    }

    fn prepare<'a>(&'a self, call: &Call<'a>) -> Result<Start<'a>, Failure> {
        self.fails(Fault::Prepare);
        let tool = call.event.tool_name.clone().unwrap_or_default();
        let start = match self.fault {
            Fault::Refuses => return Err(Failure::new(FailureKind::NotStarted, "not today")),
            Fault::NoProgram => Start::program(""),
            _ => Start::program("/bin/sh"),
        };
        let command = call.hook.command().to_string();
        let name = ["OLD", "A=B\0"][usize::from(self.fault == Fault::BadVariable)];
        Ok(start
            .args(["-c", &command, "sh", &tool])
            .variable(name, "old")
            .timeout(Duration::from_secs(5))
            .stdin(call.json()))
    }

    fn read(&self, _call: &Call<'_>, _start: &Start<'_>, end: &End<'_>) -> Answer {
        self.fails(Fault::Read);
        if self.fault == Fault::Invalid {
            return Answer::invalid("it is nonsense").note("a note");
        }
        if end.code != Some(3) {
            return Answer::none();
        }
        let mut output = HookOutput::default();
        output.decision = Some(Decision::Block);
        output.reason = Some(end.stderr.trim().to_owned());
        Answer::of(output).replacing_exit_code()
    }

    fn order(&self) -> Order {
        match self.fault {
            Fault::Parallel => Order::in_parallel().once_for(""),
            _ => Order::default(),
        }
    }
}

fn old(tool: &'static str) -> Arc<Old> {
    let fault = Fault::None;
    Arc::new(Old { fault, tool })
}

#[test]
fn a_host_brings_its_own_protocol() {
    let world = World::new();
    let run = |command: &str| world.one(hook("*", command).with_protocol(old("")));
    let result = run("echo $1 $OLD $FORGE_TOOL_NAME $(grep -c tool_args)");
    assert!(result.success(), "{result:?}");
    assert_eq!(result.stdout.trim(), "bash old 1");
    let result = run("echo no >&2; exit 3");
    assert_eq!(result.decision(), Decision::Block);
    assert_eq!(result.reason(), Some("no"));
    assert_eq!((result.failure, result.exit_code), (None, 3));
    assert_eq!(run("exit 1").failure, Some(FailureKind::Exit));
}

#[test]
fn a_faulty_protocol_fails_its_hook_alone() {
    for (fault, failure) in [
        (Fault::Prepare, Some(FailureKind::Panicked)),
        (Fault::Read, Some(FailureKind::Panicked)),
        (Fault::NoProgram, Some(FailureKind::NotFound)),
        (Fault::BadVariable, Some(FailureKind::NotStarted)),
        (Fault::Refuses, Some(FailureKind::NotStarted)),
        (Fault::Invalid, Some(FailureKind::InvalidAnswer)),
        // A guard is not skipped.
        (Fault::Mismatch, None),
    ] {
        for options in [FireOptions::default(), FireOptions::default().parallel()] {
            let world = World::new();
            let faulty = hook("*", "exit 0").with_protocol(Old::with(fault));
            world.add(faulty);
            world.hook("*", "echo other");
            let options = options.stop_on_failure(false);
            let outcome = world.executor.execute(&blocking_event(), options);
            let results = outcome.results();
            assert_eq!(results[0].failure, failure, "{fault:?}: {outcome:?}");
            assert_eq!(outcome.allowed(), failure.is_none(), "{fault:?}");
            assert_eq!(results[1].stdout.trim(), "other", "{fault:?}");
        }
    }
}

#[test]
fn a_mismatch_skips_the_hook_and_is_explained() {
    let world = World::new();
    let hook = hook("tool:*", "exit 3").with_protocol(old("write"));
    world.add(hook.clone());
    assert!(world.fire(&blocking_event()).is_empty());
    let event = blocking_event();
    let mismatch = &hook.mismatches(&event, true)[0];
    let found = (&*mismatch.alternative, &*mismatch.expected);
    assert_eq!(found, ("tool", "write"));
    assert_eq!(mismatch.found.as_deref(), Some("bash"));
}

/// What decides what a hook does is part of its identity.
#[test]
fn definitions_are_part_of_a_hooks_identity() {
    let world = World::new();
    let digest = |hook: &Hook| {
        let approval = Approval::of(world.directory(), [hook.clone()]).unwrap();
        approval.hooks[0].digest.clone()
    };
    let by = |tool| hook("tool:*", "true").with_protocol(old(tool));
    assert_eq!(by("bash"), by("bash"));
    assert_eq!(digest(&by("bash")), digest(&by("bash")));
    let claude = |rule: &str, matcher| {
        let handler = json!({"type": "command", "command": "true", "if": rule});
        let groups = json!([{"matcher": matcher, "hooks": [handler]}]);
        let file = world.path("settings.json");
        let settings = json!({"hooks": {"PreToolUse": groups}});
        std::fs::write(&file, settings.to_string()).unwrap();
        let config = HookConfig::default().with_config_home(world.directory());
        let tools = OtherTools::new([]).with_settings(compat::CLAUDE, file);
        config.with_other_tools(tools).load_global().remove(0)
    };
    let codex = |key: &str, value: Value| {
        let handler = json!({"type": "command", "command": "true", key: value});
        let file = world.path("hooks.json");
        let hooks = json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}});
        std::fs::write(&file, hooks.to_string()).unwrap();
        let config = HookConfig::default().with_config_home(world.directory());
        let tools = OtherTools::new([]).with_settings(compat::CODEX, file);
        config.with_other_tools(tools).load_global().remove(0)
    };
    let limit = |tokens: u32| codex("additionalContextLimit", json!(tokens));
    let status = |text: &str| codex("statusMessage", json!(text));
    for (one, other) in [
        (limit(5), limit(6)),
        (status("a"), status("b")),
        (by("bash"), by("write")),
        (by("bash"), hook("tool:*", "true")),
        (claude("Bash(a)", "Bash"), claude("Bash(b)", "Bash")),
        (claude("Bash(a)", "Bash"), claude("Bash(a)", "Write")),
    ] {
        assert_ne!(one, other);
        assert_ne!(one.to_json(), other.to_json());
        assert_ne!(digest(&one), digest(&other));
    }
    // The fingerprint is what a program that a hook starts gets of it.
    let chain = |tool| world.one(hook("*", "echo $FORGE_HOOK_CHAIN").with_protocol(old(tool)));
    assert_eq!(chain("bash").stdout, chain("bash").stdout);
    assert_ne!(chain("bash").stdout, chain("").stdout);
}

#[test]
fn hooks_of_a_group_run_once_and_lose_no_guard() {
    let world = World::new();
    let parallel = |text: &str| hook("*", text).with_protocol(Old::with(Fault::Parallel));
    world.registry().load_hooks([
        parallel("echo same"),
        parallel("echo same"),
        parallel("echo no >&2; exit 3").with_background(),
        parallel("echo no >&2; exit 3"),
        hook("*", "echo first"),
    ]);
    let outcome = world.outcome(&blocking_event());
    let said = printed(outcome.results());
    assert_eq!(said, ["first", "same", ""], "{outcome:?}");
    assert_eq!(outcome.reason(), Some("no"));
}

/// What is withheld must not reach a hook that runs at the same time.
#[test]
fn a_hook_that_withholds_is_in_no_group() {
    let world = World::new();
    let parallel =
        |text: &str| hook("tool:post_execute", text).with_protocol(Old::with(Fault::Parallel));
    let redactor = parallel("exit 1").with_on_failure(FailurePolicy::Withhold);
    world.registry().load_hooks([parallel("cat"), redactor]);
    let event = HookEvent::tool_post_execute("bash", json!({}), "secret");
    let outcome = world.outcome(&event);
    let mut results = outcome.results().iter();
    assert!(
        results.all(|it| !it.stdout.contains("secret")),
        "{outcome:?}"
    );
    assert_ne!(outcome.updated_output(), None);
}

/// A saved hook would have the protocol of hooks.json, and guard nothing.
#[test]
fn a_hook_with_a_protocol_is_not_read_back() {
    let hook = hook("*", "true").with_protocol(old(""));
    let error = Hook::from_json(&hook.to_json()).unwrap_err().to_string();
    assert!(
        error.contains("`protocol`: a host sets it in its program"),
        "{error}"
    );
}
