//! Hooks with a protocol of the host's own.

use std::sync::Arc;
use std::time::Duration;

use forge_hooks::config::TrustPolicy;
use forge_hooks::protocol::Protocol;
use forge_hooks::protocol::{Answer, Call, End, Failure, Order, ProtocolMismatch, Start};
use forge_hooks::trust::Approval;
use forge_hooks::{
    AppProfile, Decision, FailureKind, FireOptions, Hook, HookEvent, HookOutput, HookResult, Hooks,
    compat,
};
use serde_json::{Value, json};

use crate::support::{World, blocking_event, hook};

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
        let name = if self.fault == Fault::BadVariable {
            "A=B\0"
        } else {
            "OLD"
        };
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

fn fired(world: &World, hook: Hook) -> HookResult {
    world.one(hook)
}

#[test]
fn a_host_brings_its_own_protocol() {
    let world = World::new();
    let old = || Old::with(Fault::None);
    let seen = "echo $1 $OLD $FORGE_TOOL_NAME $(grep -c tool_args)";
    let result = fired(&world, hook("*", seen).with_protocol(old()));
    assert!(result.success(), "{result:?}");
    assert_eq!(result.stdout.trim(), "bash old 1");
    let result = fired(
        &world,
        hook("*", "echo no >&2; exit 3").with_protocol(old()),
    );
    assert_eq!(
        (result.decision(), result.reason()),
        (Decision::Block, Some("no"))
    );
    assert_eq!((result.failure, result.exit_code), (None, 3));
    let result = fired(&world, hook("*", "exit 1").with_protocol(old()));
    assert_eq!(result.failure, Some(FailureKind::Exit));
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
            world.registry().register(faulty);
            world.hook("*", "echo other");
            let options = options.stop_on_failure(false);
            let outcome = world.executor.execute(&blocking_event(), options);
            assert_eq!(outcome.results().len(), 2, "{fault:?}: {outcome:?}");
            assert_eq!(
                outcome.results()[0].failure,
                failure,
                "{fault:?}: {outcome:?}"
            );
            assert_eq!(outcome.allowed(), failure.is_none(), "{fault:?}");
            assert_eq!(outcome.results()[1].stdout.trim(), "other", "{fault:?}");
        }
    }
}

#[test]
fn a_mismatch_skips_the_hook_and_is_explained() {
    let world = World::new();
    let protocol = |tool| {
        Arc::new(Old {
            fault: Fault::None,
            tool,
        })
    };
    let hook = hook("tool:*", "exit 3");
    world
        .registry()
        .register(hook.clone().with_protocol(protocol("write")));
    let event = HookEvent::tool_pre_execute("bash", json!({}));
    assert!(
        world
            .executor
            .execute(&event, FireOptions::default())
            .results()
            .is_empty()
    );
    let mismatches = hook
        .with_protocol(protocol("write"))
        .mismatches(&event, true);
    assert_eq!(
        (
            mismatches[0].alternative.as_str(),
            mismatches[0].expected.as_str()
        ),
        ("tool", "write")
    );
    assert_eq!(mismatches[0].found.as_deref(), Some("bash"));
}

/// What decides what a hook does is part of its identity.
#[test]
fn definitions_are_part_of_a_hooks_identity() {
    let world = World::new();
    let old = |tool| {
        let protocol = Old {
            fault: Fault::None,
            tool,
        };
        hook("tool:*", "true").with_protocol(Arc::new(protocol))
    };
    let [one, same, other] = [old("bash"), old("bash"), old("write")];
    assert_eq!(one, same);
    assert_ne!(one, other);
    assert_ne!(one, hook("tool:*", "true"));
    assert_ne!(one.to_json(), other.to_json());
    let digest = |hook: &Hook| {
        let approval = Approval::of(world.directory(), [hook.clone()]).unwrap();
        approval.hooks[0].digest.clone()
    };
    assert_eq!(digest(&one), digest(&same));
    assert_ne!(digest(&one), digest(&other));
    // The fingerprint is what a program that a hook starts gets of it.
    let chain = |tool| {
        let shows = hook("*", "echo $FORGE_HOOK_CHAIN");
        let protocol = Old {
            fault: Fault::None,
            tool,
        };
        fired(&world, shows.with_protocol(Arc::new(protocol))).stdout
    };
    assert_eq!(chain("bash"), chain("bash"));
    assert_ne!(chain("bash"), chain(""));
}

#[test]
fn hooks_of_a_group_run_once_and_lose_no_guard() {
    let world = World::new();
    let parallel = |text: &str| hook("*", text).with_protocol(Old::with(Fault::Parallel));
    for hook in [
        parallel("echo same"),
        parallel("echo same"),
        parallel("echo no >&2; exit 3").with_background(),
        parallel("echo no >&2; exit 3"),
        hook("*", "echo first"),
    ] {
        world.registry().register(hook);
    }
    let outcome = world.outcome(&blocking_event());
    let said: Vec<_> = outcome
        .results()
        .iter()
        .map(|result| result.stdout.trim())
        .collect();
    assert_eq!(said, ["first", "same", ""], "{outcome:?}");
    assert_eq!(outcome.reason(), Some("no"));
}

/// What is withheld must not reach a hook that runs at the same time.
#[test]
fn a_hook_that_withholds_is_in_no_group() {
    let world = World::new();
    let post = "tool:post_execute";
    let parallel = |text: &str| hook(post, text).with_protocol(Old::with(Fault::Parallel));
    let redactor = parallel("exit 1").with_on_failure(forge_hooks::FailurePolicy::Withhold);
    world.registry().register(parallel("cat"));
    world.registry().register(redactor);
    let event = HookEvent::tool_post_execute("bash", json!({}), "secret");
    let outcome = world.outcome(&event);
    assert!(
        outcome
            .results()
            .iter()
            .all(|result| !result.stdout.contains("secret")),
        "{outcome:?}"
    );
    assert_ne!(outcome.updated_output(), None);
}

/// A saved hook would have the protocol of hooks.json, and guard nothing.
#[test]
fn a_hook_with_a_protocol_is_not_read_back() {
    let hook = hook("*", "true").with_protocol(Old::with(Fault::None));
    let error = Hook::from_json(&hook.to_json()).unwrap_err().to_string();
    assert!(
        error.contains("`protocol`: a host sets it in its program"),
        "{error}"
    );
}

/// So are the matcher and the rule of a hook of another tool.
#[test]
fn matchers_are_part_of_a_hooks_identity() {
    let world = World::new();
    let handler = |rule: Option<&str>| {
        let mut handler = json!({"type": "command", "command": "true"});
        if let Some(rule) = rule {
            handler["if"] = rule.into();
        }
        handler
    };
    let groups = json!([
        {"matcher": "Bash", "hooks": [handler(None), handler(Some("Bash(git *)"))]},
        {"matcher": "Write", "hooks": [handler(None)]},
    ]);
    let settings = json!({"hooks": {"PreToolUse": groups}}).to_string();
    world.write("project/.claude/settings.json", &settings);
    let hooks = Hooks::builder(AppProfile::new("myagent"))
        .config_home(world.path("config"))
        .project(world.path("project"))
        .other_tools([compat::CLAUDE])
        .trust(TrustPolicy::Everything)
        .load();
    let loaded = hooks.registry().hooks();
    let approval = Approval::of(world.path("project"), loaded.iter().map(|hook| &**hook)).unwrap();
    assert_eq!(loaded.len(), 3);
    for (at, hook) in loaded.iter().enumerate() {
        for (other, other_hook) in loaded.iter().enumerate().skip(at + 1) {
            assert_ne!(hook, other_hook);
            assert_ne!(approval.hooks[at].digest, approval.hooks[other].digest);
        }
    }
}
