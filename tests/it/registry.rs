//! The registry: which hooks it finds and in what order, also while others change it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::{Hook, HookEvent, HookRegistry};
use proptest::prelude::*;

use crate::executor::endurance::from_environment;
use crate::support::{blocking_event, custom, hook};

#[test]
fn hooks_are_found_in_their_order() {
    let registry = HookRegistry::new();
    assert!(registry.is_empty() && !registry.unregister("*"));
    let twice = Arc::new(hook("*", "true"));
    registry.register(Arc::clone(&twice));
    registry.register(twice);
    registry.register(hook("tool:*:bash,tool:pre_execute", "true"));
    registry.register(hook("tool:pre_execute", "true").with_enabled(false));
    let lengths = |registry: &HookRegistry| {
        let hooks = registry.get_hooks(&blocking_event());
        let patterns = hooks.iter().map(|hook| hook.event_pattern().len());
        patterns.collect::<Vec<_>>()
    };
    assert_eq!(lengths(&registry), [1, 1, 28]);
    let snapshot = registry.get_hooks(&blocking_event());
    assert!(!registry.unregister("tool:*") && registry.unregister("*"));
    assert_eq!((lengths(&registry), registry.len()), (vec![28], 2));
    registry.clear();
    assert_eq!((registry.hooks().len(), snapshot.len()), (0, 3));
}

#[test]
fn the_global_registry_is_the_same_for_all() {
    let elsewhere = thread::spawn(HookRegistry::global).join().unwrap();
    assert!(Arc::ptr_eq(HookRegistry::global(), elsewhere));
}

#[test]
fn hooks_are_loaded_atomically() {
    const BATCH: usize = 7;
    let registry = HookRegistry::new();
    let batches_seen = AtomicUsize::new(0);
    let seconds = from_environment("FORGE_HOOKS_TEST_SECONDS", 0.1);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let goes_on = || Instant::now() < end || batches_seen.load(Ordering::Relaxed) == 0;
    let look = || {
        let mut batches = HashMap::<_, usize>::new();
        for hook in registry.get_hooks(&blocking_event()) {
            *batches.entry(hook.event_pattern().to_owned()).or_default() += 1;
        }
        batches_seen.fetch_add(batches.len(), Ordering::Relaxed);
        assert!(batches.values().all(|hooks| *hooks == BATCH), "{batches:?}");
        assert_eq!(registry.len() % BATCH, 0);
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                std::iter::repeat_with(look)
                    .take_while(|()| goes_on())
                    .count()
            });
        }
        // In all three kinds of list that the registry may keep.
        for kind in ["*", "*:bash", "*:b*"]
            .into_iter()
            .cycle()
            .take_while(|_| goes_on())
        {
            let pattern = format!("tool:{kind}");
            registry.load_hooks([(); BATCH].map(|()| hook(&pattern, "true")));
            assert!(registry.unregister(&pattern));
            assert!(registry.get_hooks(&blocking_event()).is_empty());
        }
    });
    assert!(registry.is_empty());
}

fn naive(hooks: &[Arc<Hook>], event: &HookEvent) -> Vec<Arc<Hook>> {
    let is_match = |hook: &&Arc<Hook>| hook.enabled() && hook.matches(event);
    hooks.iter().filter(is_match).cloned().collect()
}

#[track_caller]
fn assert_same(found: &[Arc<Hook>], expected: &[Arc<Hook>]) {
    let pointers = |hooks: &[Arc<Hook>]| hooks.iter().map(Arc::as_ptr).collect::<Vec<_>>();
    assert_eq!(pointers(found), pointers(expected), "{found:#?}");
}

fn pattern() -> impl Strategy<Value = String> {
    let segment = |names: &'static [&'static str]| {
        let one = prop::sample::select(names);
        prop::collection::vec(one, 1..3).prop_map(|globs| globs.join("|"))
    };
    let category = segment(&["*", "tool", "t*l", "game", "[gt]*", "llm"]);
    let action = segment(&["*", "pre_execute", "*_execute", "error", "saved", "s*"]);
    let tool = segment(&["*", "bash", "read", "b*", "mcp:a:b", "mcp:*", "[!b]*", ""]);
    let whole = prop::sample::select(&["*", "tool*", "*saved", "game:saved", "nothing"][..]);
    let alternative = prop_oneof![
        1 => whole.prop_map(str::to_owned),
        3 => (category.clone(), action.clone()).prop_map(|(a, b)| format!("{a}:{b}")),
        5 => (category, action, tool).prop_map(|(a, b, c)| format!("{a}:{b}:{c}")),
    ];
    let valid = |text: &String| Hook::new(text.as_str(), "true").is_ok();
    prop::collection::vec(alternative, 1..4)
        .prop_map(|alternatives| alternatives.join(","))
        .prop_filter("an empty name of a tool", valid)
}

/// A number picks the action. The other values are drawn for every action, and may stay unused.
type Change = (u8, Vec<(String, bool)>, &'static str);

fn change() -> impl Strategy<Value = Change> {
    let entry = (pattern(), prop::bool::weighted(0.85));
    let entries = prop::collection::vec(entry, 0..5);
    let known = prop::sample::select(&["*", "tool:*", "tool:pre_execute:bash", "game:saved"][..]);
    (0..19_u8, entries, known)
}

fn events() -> Vec<HookEvent> {
    let tools = ["bash", "read", "mcp:a:b", ""];
    let of_tools = tools.into_iter().flat_map(|tool| {
        [
            HookEvent::tool_pre_execute(tool, ""),
            HookEvent::tool_error(tool, "", ""),
            custom("tool:saved").with_tool_name(tool),
        ]
    });
    let others = [
        HookEvent::new(forge_hooks::EventType::ToolPreExecute),
        HookEvent::llm_stream_start("m"),
        custom("game:saved"),
        custom("game:saved").with_tool_name("bash"),
    ];
    of_tools.chain(others).collect()
}

/// The expected content of the registry.
type Model = Vec<Arc<Hook>>;

fn apply(change: Change, registry: &HookRegistry, model: &mut Model) {
    let (what, entries, known) = change;
    let made = |(pattern, enabled): &(String, bool)| {
        Arc::new(hook(pattern, "true").with_enabled(*enabled))
    };
    match what {
        0..11 => {
            let known = (known.to_owned(), true);
            let entry = entries.first().filter(|_| what < 8).unwrap_or(&known);
            let hook = made(entry);
            registry.register(Arc::clone(&hook));
            model.push(hook);
        }
        11..16 => {
            let hooks: Vec<_> = entries.iter().map(made).collect();
            registry.load_hooks(hooks.iter().cloned());
            model.extend(hooks);
        }
        16..18 => {
            let before = model.len();
            model.retain(|hook| hook.event_pattern() != known);
            assert_eq!(registry.unregister(known), model.len() < before);
        }
        _ => {
            registry.clear();
            model.clear();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_lookup_equals_a_full_search(
        changes in prop::collection::vec(change(), 1..30),
    ) {
        let (registry, mut model) = (HookRegistry::new(), Vec::new());
        let events = events();
        for change in changes {
            apply(change, &registry, &mut model);
            assert_same(&registry.hooks(), &model);
            prop_assert_eq!(registry.len(), model.len());
            for event in &events {
                assert_same(&registry.get_hooks(event), &naive(&model, event));
            }
        }
    }
}
