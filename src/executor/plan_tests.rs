//! Random hooks on one event. The hooks that ran must be those that the pages and a dry run predict. Approved content is
//! checked when a hook starts.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use std::thread::{self, ThreadId};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::FireOptions;
use super::hook_executor::HookExecutor;
use crate::HookRegistry;
use crate::entry::{Failure, FailurePolicy, Reading};
use crate::events::HookEvent;
use crate::hook::{ApprovalCheck, Hook};
use crate::protocol::{Call, Exit, Launch, Protocol, command_line};
use crate::thorough::random_cases;

/// Hooks of another agent, whose exit code decides.
#[derive(Debug)]
struct Grouped(&'static str);

impl Protocol for Grouped {
    fn name(&self) -> &str {
        self.0
    }

    fn definition(&self) -> Value {
        json!({})
    }

    fn prepare<'a>(&'a self, call: &Call<'a>) -> Result<Launch<'a>, Failure> {
        let (program, args) = command_line(call.hook.command, |_| false)?;
        Ok(Launch::new(program, args))
    }

    fn read(&self, _: &Call<'_>, _: &Exit<'_>) -> Reading {
        Reading::default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Allows,
    Exits,
    AnswersBlock,
    AnswersNonsense,
    Invalid,
    LostApproval,
}

#[derive(Debug, Clone)]
struct Case {
    kind: Kind,
    group: Option<&'static str>,
    continues: bool,
    is_background: bool,
}

impl Case {
    /// Returns whether a dry run knows how the hook ends.
    fn is_foreseen(&self) -> bool {
        matches!(self.kind, Kind::Invalid | Kind::LostApproval)
    }

    fn hook(&self, index: usize) -> Hook {
        let command = match self.kind {
            Kind::Exits => "exit 1",
            Kind::AnswersBlock => r#"echo '{"decision": "block"}'"#,
            Kind::AnswersNonsense => r#"echo '{"decision": "blok"}'"#,
            Kind::Allows | Kind::Invalid | Kind::LostApproval => "exit 0",
        };
        let hook = match self.kind {
            Kind::Invalid => Hook::placeholder("no").with_name("x"),
            _ => Hook::new("*", command).unwrap(),
        };
        let mut hook = hook
            .with_name(index.to_string())
            .with_on_failure(FailurePolicy::Block);
        if self.continues {
            hook = hook.with_on_failure(FailurePolicy::Continue);
        }
        if self.kind == Kind::LostApproval {
            hook = hook.with_lost_approval("changed");
        }
        if let Some(group) = self.group {
            hook = hook.with_protocol(Arc::new(Grouped(group)));
        }
        if self.is_background {
            hook = hook.with_background();
        }
        hook
    }

    /// Returns whether the hook decides against the operation.
    fn objects(&self) -> bool {
        match self.kind {
            Kind::Allows => false,
            Kind::Exits | Kind::Invalid => !self.continues,
            Kind::AnswersBlock | Kind::AnswersNonsense => self.group.is_none(),
            Kind::LostApproval => true,
        }
    }

    /// Returns whether the hook keeps others from running. On an event that cannot be blocked, no answer does so.
    fn stops(&self, can_block: bool) -> bool {
        let answers = matches!(self.kind, Kind::AnswersBlock | Kind::AnswersNonsense);
        self.objects() && (can_block || !answers)
    }
}

fn cases() -> impl Strategy<Value = Vec<Case>> {
    let kind = prop_oneof![
        4 => Just(Kind::Allows),
        2 => Just(Kind::Exits),
        1 => Just(Kind::AnswersBlock),
        1 => Just(Kind::AnswersNonsense),
        1 => Just(Kind::Invalid),
        1 => Just(Kind::LostApproval),
    ];
    let group = prop_oneof![3 => Just(None), 1 => Just(Some("one")), 1 => Just(Some("two"))];
    let case = (kind, group, any::<bool>(), prop::bool::weighted(0.2));
    let case = case.prop_map(|(kind, group, continues, is_background)| Case {
        kind,
        group,
        continues,
        is_background,
    });
    prop::collection::vec(case, 1..8)
}

fn place(hook: &Hook) -> usize {
    hook.name().unwrap().parse().unwrap()
}

/// Returns for each hook whether it runs, by docs/protocol.md ("Several hooks") and docs/other-agents.md. A hook whose end is not
/// known is assumed to allow.
fn reached(cases: &[&Case], can_block: bool, stops: bool, knows: fn(&Case) -> bool) -> Vec<bool> {
    let (mut is_stopped, mut is_blocked) = (false, false);
    let mut all = Vec::new();
    for case in cases {
        let runs = match case.group {
            None => !(is_stopped && stops),
            Some(_) => !is_blocked,
        };
        all.push(runs);
        if runs && knows(case) && !case.is_background {
            is_stopped |= case.stops(can_block);
            is_blocked |= can_block && case.objects();
        }
    }
    all
}

fn check(cases: &[Case], can_block: bool, stops: bool, options: FireOptions) {
    let registry = Arc::new(HookRegistry::new());
    registry.load_hooks(
        cases
            .iter()
            .enumerate()
            .map(|(index, case)| case.hook(index)),
    );
    let executor = HookExecutor::new(registry);
    let event = if can_block {
        HookEvent::tool_pre_execute("bash", "ls")
    } else {
        HookEvent::user_interrupt()
    };
    let explained = executor.explain(&event, &options);
    let hooks = executor.hooks_for(&event);
    let order: Vec<usize> = hooks.iter().map(|hook| place(hook)).collect();
    let model = |knows: fn(&Case) -> bool| {
        let in_order: Vec<_> = order.iter().map(|index| &cases[*index]).collect();
        let reached = reached(&in_order, can_block, stops, knows);
        let reached = order
            .iter()
            .zip(reached)
            .filter(|(_, is_reached)| *is_reached);
        reached.map(|(index, _)| *index).collect::<Vec<_>>()
    };
    let results = executor.execute_hooks(&event, options);
    let ran: Vec<usize> = results.iter().map(|result| place(result.hook())).collect();
    let mut expected = model(|_| true);
    expected.retain(|index| !cases[*index].is_background);
    assert_eq!(ran, expected, "those that ran, and those of the page");
    let ordered = explained
        .iter()
        .filter(|explanation| explanation.order.is_some());
    let foretold: Vec<usize> = ordered
        .map(|explanation| place(&explanation.hook))
        .collect();
    assert_eq!(foretold, model(Case::is_foreseen), "those of the dry run");
    let is_foreseen = |case: &Case| case.is_foreseen() || case.kind == Kind::Allows;
    if cases.iter().all(is_foreseen) {
        let mut foretold = foretold;
        foretold.retain(|index| !cases[*index].is_background);
        assert_eq!(ran, foretold, "those that ran, and those of the dry run");
    }
}

#[test]
fn the_hooks_that_ran_are_those_that_were_foretold() {
    let config = ProptestConfig {
        cases: random_cases(1000),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let all = (cases(), any::<[bool; 2]>());
    let run = |(cases, [can_block, stops]): (Vec<Case>, [bool; 2])| {
        let options = FireOptions::new().stop_on_failure(stops);
        check(&cases, can_block, stops, options);
        Ok(())
    };
    TestRunner::new(config).run(&all, run).unwrap();
}

/// An approval that must not be looked at on this thread.
#[derive(Debug)]
struct NotOn(ThreadId);

impl ApprovalCheck for NotOn {
    fn lost(&self, _: &Hook) -> Option<String> {
        assert_ne!(thread::current().id(), self.0);
        None
    }
}

/// A check of an approval reads files, which takes time.
#[test]
fn submit_looks_at_no_approval() {
    let hook = Hook::new("*", "exit 0").unwrap();
    let hook = hook.with_approval(Arc::new(NotOn(thread::current().id())));
    let registry = Arc::new(HookRegistry::new());
    registry.load_hooks([hook.clone(), hook.with_protocol(Arc::new(Grouped("one")))]);
    let executor = HookExecutor::new(registry);
    let event = HookEvent::tool_pre_execute("bash", "ls");
    let outcome = executor.submit(event, FireOptions::new()).unwrap().wait();
    assert!(
        outcome.results().iter().all(|result| result.success()),
        "{outcome:?}"
    );
}
