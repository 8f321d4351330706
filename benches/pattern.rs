//! What does it cost to parse a pattern, and to ask it about an event?

use std::hint::black_box;

use criterion::Criterion;
use forge_hooks::{EventPattern, HookEvent};

const PATTERNS: [(&str, &str); 5] = [
    ("everything", "*"),
    ("exact", "tool:pre_execute"),
    ("glob", "tool:*_execute"),
    ("tool", "tool:pre_execute:bash"),
    (
        "list",
        "session:start, llm:*, permission:check|prompt, tool:*:read|write|bash",
    ),
];

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for (name, text) in PATTERNS {
        criterion.bench_function(&format!("parse {name}"), |b| {
            b.iter(|| EventPattern::new(black_box(text)));
        });
    }
    let events = [
        ("a match", HookEvent::tool_pre_execute("bash", "ls")),
        ("no match", HookEvent::user_interrupt()),
    ];
    for (name, text) in PATTERNS {
        let pattern = EventPattern::new(text).expect("a pattern");
        for (which, event) in &events {
            criterion.bench_function(&format!("ask {name}, {which}"), |b| {
                b.iter(|| pattern.matches(black_box(event)));
            });
        }
    }
    criterion.final_summary();
}
