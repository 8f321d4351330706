//! Random lists of hooks that answer from their entry, against a model of what they come to.

#![allow(clippy::unwrap_used)]

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::{CancelToken, FireOptions, HookExecutor};
use crate::HookRegistry;
use crate::events::HookEvent;
use crate::hook::Hook;
use crate::runner::{FiredEvent, Observation, Observe};
use crate::thorough::random_cases;

/// A hook that acts on one value of the argument `n`, or on each.
#[derive(Debug, Clone)]
struct Rule {
    on: Option<u8>,
    does: Does,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Does {
    Grant,
    Block,
    Set(u8),
}

impl Rule {
    fn meets(&self, n: u8) -> bool {
        self.on.is_none_or(|on| on == n)
    }

    fn hook(&self, index: usize) -> Hook {
        let answer = match self.does {
            Does::Grant => json!({"decision": "allow"}),
            Does::Block => json!({"decision": "block", "reason": "no"}),
            Does::Set(n) => json!({"updatedInput": {"n": n.to_string()}}),
        };
        let mut entry = json!({
            "event": "tool:pre_execute",
            "name": index.to_string(),
            "answer": answer,
        });
        if let Some(on) = self.on {
            entry["when"] = json!({"/tool_args/n": on.to_string()});
        }
        Hook::from_json(&entry).unwrap()
    }
}

/// What a list comes to: the final value of `n`, and for each hook whether it allows, as far as it has a result.
#[derive(Debug, PartialEq)]
struct Model {
    n: Option<u8>,
    results: Vec<(usize, bool)>,
}

fn model(rules: &[Rule]) -> Model {
    let mut n = 0;
    let mut results = vec![None; rules.len()];
    let mut last = None;
    let mut is_blocked = false;
    for (index, rule) in rules.iter().enumerate() {
        if is_blocked || !rule.meets(n) {
            continue;
        }
        is_blocked = rule.does == Does::Block;
        results[index] = Some(!is_blocked);
        if let Does::Set(new) = rule.does
            && new != n
        {
            (n, last) = (new, Some(index));
        }
    }
    for (index, rule) in rules.iter().enumerate().take(last.unwrap_or(0)) {
        if is_blocked {
            break;
        }
        let allows = match rule.does {
            Does::Grant => true,
            Does::Block => false,
            Does::Set(new) => new == n,
        };
        results[index] = rule.meets(n).then_some(allows);
        is_blocked = results[index] == Some(false);
    }
    let results = results.into_iter().enumerate();
    Model {
        n: (!is_blocked && last.is_some()).then_some(n),
        results: results
            .filter_map(|(index, allows)| Some((index, allows?)))
            .collect(),
    }
}

fn found(rules: &[Rule], submits: bool) -> Model {
    let registry = Arc::new(HookRegistry::new());
    registry.load_hooks(
        rules
            .iter()
            .enumerate()
            .map(|(index, rule)| rule.hook(index)),
    );
    let executor = HookExecutor::new(registry);
    let event = HookEvent::tool_pre_execute("bash", json!({"n": "0"}));
    let options = FireOptions::new().applies_updates();
    let outcome = if submits {
        executor.submit(event, options).unwrap().wait()
    } else {
        executor.execute(&event, options)
    };
    let n = |event: &HookEvent| event.data["tool_args"]["n"].as_str().unwrap().parse();
    let results = outcome.results().iter().map(|result| {
        let index = result.hook().name().unwrap().parse().unwrap();
        (index, result.should_continue())
    });
    Model {
        n: outcome.changed_event().map(|event| n(event).unwrap()),
        results: results.collect(),
    }
}

#[test]
fn a_list_comes_to_what_the_model_says() {
    let does = prop_oneof![
        Just(Does::Grant),
        Just(Does::Block),
        (0..4_u8).prop_map(Does::Set),
        (0..4_u8).prop_map(Does::Set),
    ];
    let on = prop_oneof![
        Just(None),
        (0..4_u8).prop_map(Some),
        (0..4_u8).prop_map(Some)
    ];
    let rule = (on, does).prop_map(|(on, does)| Rule { on, does });
    let config = ProptestConfig {
        cases: random_cases(1000),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let lists = (prop::collection::vec(rule, 1..7), any::<bool>());
    let check = |(rules, submits): (Vec<Rule>, bool)| {
        prop_assert_eq!(found(&rules, submits), model(&rules));
        Ok(())
    };
    TestRunner::new(config).run(&lists, check).unwrap();
}

/// Cancels an event as soon as a hook of this name has ended.
struct Cancels(&'static str, AssertUnwindSafe<CancelToken>);

impl Observe for Cancels {
    fn observe(&self, observation: &Observation) {
        if matches!(observation, Observation::Ended(run, _) if run.hook.name() == Some(self.0)) {
            self.1.cancel();
        }
    }

    fn fired(&self, _fired: &FiredEvent) {}

    fn wants_events(&self) -> bool {
        false
    }
}

/// The guard has allowed the input as it was before the change.
#[test]
fn a_cancelled_event_keeps_no_yes_to_another_input() {
    let registry = Arc::new(HookRegistry::new());
    let rules = [Does::Grant, Does::Set(1)].map(|does| Rule { on: None, does });
    let hooks = rules.iter().enumerate();
    registry.load_hooks(hooks.map(|(index, rule)| rule.hook(index)));
    let executor = HookExecutor::new(registry);
    let token = CancelToken::new();
    let cancels = Cancels("1", AssertUnwindSafe(token.clone()));
    executor.core().runner.observers.add(Arc::new(cancels));
    let event = HookEvent::tool_pre_execute("bash", json!({"n": "0"}));
    let options = FireOptions::new().applies_updates().cancelled_by(&token);
    let outcome = executor.execute(&event, options);
    assert!(outcome.is_cancelled() && !outcome.allowed(), "{outcome:?}");
    assert!(outcome.changed_event().is_none());
}
