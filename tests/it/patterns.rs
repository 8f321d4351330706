//! Patterns: what they match, what is printed of those that are malformed, and that neither a strange
//! pattern nor a strange name of a tool can slow down or crash the host.

use forge_hooks::{EventType, Hook, HookEvent};
use proptest::prelude::*;

use crate::growth::assert_linear;

/// Counts what each thread allocates, since other tests run beside.
#[allow(dead_code)]
#[path = "../../benches/cost/memory.rs"]
mod memory;

#[track_caller]
fn pattern(text: &str) -> Hook {
    Hook::new(text, "true").unwrap()
}

/// `category:action`, or `category:action tool`; known names and others.
fn event(text: &str) -> HookEvent {
    let (name, tool) = match text.split_once(' ') {
        Some((name, tool)) => (name, Some(tool)),
        None => (text, None),
    };
    let event = HookEvent::new(name.parse().or_else(|_| EventType::custom(name)).unwrap());
    match tool {
        Some(tool) => event.with_tool_name(tool),
        None => event,
    }
}

/// A pattern, the events that it matches, and events that it does not.
const MATCHES: &str = r#"
# patterns of the specification match
tool:pre_execute == tool:pre_execute; tool:pre_execute bash != tool:post_execute bash
tool:* == tool:pre_execute bash; tool:post_execute; tool:error != llm:pre_request
tool:pre_execute:bash == tool:pre_execute bash != tool:pre_execute read; tool:error bash
tool:pre_execute:read == none != tool:pre_execute bash
tool:*:write == tool:pre_execute write; tool:post_execute write; tool:error write != tool:error bash; permission:check write
session:start,session:end == session:start; session:end != session:message; user:interrupt
tool:pre_execute,tool:post_execute == tool:pre_execute bash; tool:post_execute != tool:error
llm:* == llm:stream_start != tool:pre_execute bash
* == tool:pre_execute bash; game:saved; game:saved map != none
# one segment is a glob over the whole name
tool* == tool:error; tool:error bash; toolbox:opened != game:tool
*_execute == tool:pre_execute; game:_execute != tool:error; tool:x y_execute
test == none != test:test; user:interrupt
tool?error == tool:error != tool:errors
tool[:]error == tool:error bash != tool:errors
llm*|user* == llm:stream_end; user:interrupt != tool:error
*:* == tool:error; game:saved map != none
# two segments match whatever the tool
tool:error == tool:error; tool:error bash; tool:error a:b != none
*:error == tool:error bash; net:error != tool:errors; error:x
session:start == session:start; session:start some_tool != none
# a tool segment needs a tool
tool:error:** == tool:error bash; tool:error a/b != tool:error
*:*:* == tool:error bash; game:saved map != tool:error; game:saved
session:start:* == none != session:start
# names of tools may hold colons
tool:pre_execute:mcp:server:tool == tool:pre_execute mcp:server:tool != tool:pre_execute mcp; tool:pre_execute mcp:server; tool:pre_execute tool
tool:pre_execute:mcp:* == tool:pre_execute mcp:server:tool; tool:pre_execute mcp: != tool:pre_execute mcp; tool:pre_execute smcp:x
tool:*:mcp:*:read|bash == tool:error mcp:x:read; tool:error bash != tool:error mcp:x
tool:error:: == tool:error : != tool:error; tool:error a
# each segment may have alternatives
tool:pre_execute:bash|write == tool:pre_execute bash; tool:pre_execute write != tool:pre_execute read; tool:pre_execute bash|write; tool:pre_execute
tool|permission:*_execute|check:bash|mcp:* == tool:pre_execute bash; permission:check mcp:a; tool:check bash != tool:error bash; permission:check read; user:check bash
tool:pre_execute|post_execute == tool:post_execute; tool:pre_execute x != tool:error
# each segment is a glob
t?ol:* == tool:error; twol:x != tol:x; toool:x
[lt]*m:* == llm:stream_end; tm:x != tool:error
[!lt]*:* == user:interrupt != tool:error; llm:stream_end
tool:p*_execute == tool:pre_execute; tool:post_execute != tool:error
tool:*:[a-c]* == tool:error bash; tool:error c != tool:error read; tool:error B
tool:*:? == tool:error x; tool:error é; tool:error 😀 != tool:error xy
tool:*:*.rs == tool:error a/b.rs; tool:error .rs != tool:error rs
tool:*:[]] == tool:error ] != tool:error [
tool:*:[*] == tool:error * != tool:error x
# letters count as they are
tool:error:Bash == tool:error Bash != tool:error bash
tool:error:größe_* == tool:error größe_ändern != tool:error grosse_x
tool:error:[à-ü]* == tool:error été != tool:error ete
tool:error:道具 == tool:error 道具 != tool:error 道
# a separator in brackets is literal
tool:error:[a,b]x == tool:error ax; tool:error ,x != tool:error x; tool:error abx
tool:error:a[|:]b == tool:error a|b; tool:error a:b != tool:error a; tool:error b
tool:error:[!,] == tool:error a != tool:error ,; tool:error
tool:error:[],]|b == tool:error ]; tool:error ,; tool:error b != tool:error ],
tool:error:[!],],llm:* == tool:error a; llm:stream_end != tool:error ]
[t,l]*,user:* == tool:error; llm:stream_end; user:interrupt != session:end
# only spaces around commas are ignored
 session:start , session:end  == session:start; session:end != session:message
tool:error: bash , llm:* == tool:error  bash; llm:stream_end != tool:error bash
tool:error:my tool == tool:error my tool != tool:error my
tool: error == none != tool:error
"#;

#[test]
fn a_pattern_matches_what_the_table_says() {
    let rows = MATCHES.lines();
    for row in rows.filter(|row| !row.is_empty() && !row.starts_with("# ")) {
        let (text, events) = row.split_once(" == ").unwrap();
        let (matched, others) = events.split_once(" != ").unwrap();
        let pattern = pattern(text);
        for (names, expected) in [(matched, true), (others, false)] {
            for name in names.split("; ").filter(|name| *name != "none") {
                let matches = pattern.matches(&event(name));
                assert_eq!(matches, expected, "`{text}` on `{name}`");
            }
        }
    }
    assert!(pattern("tool:error:*").matches(&event("tool:error ")));
    let all = pattern("*");
    assert!(
        EventType::BUILTIN
            .iter()
            .all(|event_type| all.matches(&HookEvent::new(event_type.clone())))
    );
    let hook = Hook::new("tool:*:bash", "true")
        .unwrap()
        .with_enabled(false);
    let matches = hook.matches(&event("tool:error bash"));
    assert!(matches, "also when it is disabled");
}

/// The column, the pattern, and what is said of it. `NAME` is a text that has to be there, `CAPITALS` what
/// is said of capital letters.
const INVALID: &str = r#"
1 () expected NAME
4 (   ) expected NAME
1 (,) expected NAME
9 (tool:*, ) expected NAME after `,`
8 (tool:*,,llm:*) expected NAME
6 (tool:) expected NAME after `:`
1 (:error) expected NAME
6 (tool::bash) expected NAME
19 (llm:*, tool:error:) expected NAME
12 (tool:error:|bash) expected NAME
17 (tool:error:bash|) expected NAME
8 (tool:a||b) expected NAME
1 (|) expected NAME
7 (größe:) expected NAME
1 (TOOL:pre_execute) CAPITALS: write `tool:pre_execute`
13 (llm:*, tool:Pre_execute:Bash) CAPITALS: write `tool:pre_execute:Bash`
2 ([A-Z]*) CAPITALS: write `[a-z]*`
8 (tool:a|Ä:x) CAPITALS: expected `category:action`, optionally with a tool, as in `tool:pre_execute:bash`
11 (session:*,PreToolUse) CAPITALS: expected `category:action`, optionally with a tool, as in `tool:pre_execute:bash`
12 (tool:error:[ab) `[` without `]`
13 (tool:error:a[) `[` without `]`
12 (tool:error:[]) `[` without `]`
12 (tool:error:[!]) `[` without `]`
13 (llm:*, größe[:x) `[` without `]`
1 ([tool:error) `[` without `]`
14 (tool:error:***) wildcards are either
8 (tool:**x) recursive wildcards must form
12 (tool:error:x**) recursive wildcards must form
"#;

#[test]
fn an_invalid_pattern_is_refused() {
    for row in INVALID.lines().skip(1) {
        let (column, rest) = row.split_once(" (").unwrap();
        let (text, complaint) = rest.split_once(") ").unwrap();
        let complaint = complaint.replace("NAME", "a name or a glob");
        let complaint = complaint.replace("CAPITALS", "event names have no capital letters");
        let error = Hook::new(text, "true").unwrap_err();
        let expected = format!("invalid event pattern `{text}` at column {column}: {complaint}");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

#[test]
fn a_pattern_keeps_its_text() {
    let text = " tool:* ,llm:[a,b]*";
    assert_eq!(pattern(text).event_pattern(), text);
}

#[test]
fn matching_allocates_nothing() {
    let patterns = [
        "*",
        "tool*",
        "tool:pre_execute",
        "tool:*_execute:bash|read|mcp:*",
        "llm:*, session:[se]*, tool:pre_execute:[!x]*:*y?",
        "tool:**:**",
    ]
    .map(pattern);
    let events = [
        event("tool:pre_execute mcp:server:my"),
        event("session:start"),
        event("game:saved größe"),
    ];
    let before = memory::allocations();
    assert!(before > 0, "the patterns themselves were counted");
    let mut matches = 0;
    for pattern in &patterns {
        for event in &events {
            matches += usize::from(pattern.matches(event));
        }
    }
    assert_eq!(memory::allocations() - before, 0);
    assert!(matches > 3);
}

#[test]
fn globs_match_in_linear_time() {
    let long = "a".repeat(60_000);
    let directories = "a/".repeat(20_000);
    // One `*` after the other: as many as can be, each of which `glob` answers by calling itself.
    let (stars, stars_b) = ("*a".repeat(500), "*a".repeat(499) + "b");
    let (words, deep) = ("a".repeat(998), "**/a/*/".repeat(100));
    for (text, tools, expected) in [
        ("*a*a*a*a*a*a*b", &*long, false),
        ("*a*a*a*a*a*a*", &long, true),
        ("*?*?*?*?*?*?*[!a]", &long, false),
        (&stars, &long, true),
        (&stars_b, &long, false),
        (&format!("*{words}b"), &long[..10_000], false),
        (&format!("{deep}b"), &directories, false),
        (&format!("{}b", "**/".repeat(300)), &directories, false),
    ] {
        let pattern = pattern(&format!("tool:*:{text}"));
        let event = |length: usize| HookEvent::tool_pre_execute(&tools[..length], "");
        assert_linear(text, tools.len(), event, |event| {
            assert_eq!(pattern.matches(event), expected);
        });
    }
}

#[test]
fn a_glob_too_deep_for_the_stack_is_refused() {
    let error = Hook::new(format!("llm:*,tool:*:{}", "*a".repeat(501)), "true").unwrap_err();
    assert!(error.to_string().contains("at column 14"));
    assert!(error.to_string().contains("longer than 1000 bytes"));
    let names: Vec<_> = (0..1000).map(|number| format!("tool_{number}")).collect();
    let list = pattern(&format!("tool:*:{}|x*", names.join("|")));
    assert!(list.matches(&event("tool:error tool_999")));
    assert!(list.matches(&event("tool:error xyz")));
    assert!(
        pattern(&format!("tool:*:{}", "n".repeat(2000))).matches(&HookEvent::tool_error(
            "n".repeat(2000),
            "",
            ""
        ))
    );
}

#[test]
fn patterns_are_parsed_in_linear_time() {
    for part in ["A,", "[[", "[a", "[!]", "*a", "[a],", "::"] {
        let text = |count| part.repeat(count);
        assert_linear(part, 100_000, text, |text| {
            assert!(Hook::new(&**text, "true").is_err());
        });
    }
}

/// A text of what patterns are made of, more often than not a valid pattern.
fn pattern_like() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-c*?\\[\\]!:,|é \\-/.]{0,24}",
        "(tool|t[io]ol|\\*|\\[a-z\\]\\*)(:(\\*|error|[ab*?é]{1,5}|\\[!?[a,:|\\]\\-]{1,4}\\])){0,3}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn neither_parsing_nor_matching_panics(text in pattern_like(), tool in any::<String>()) {
        match Hook::new(text.as_str(), "true") {
            Ok(pattern) => {
                prop_assert_eq!(pattern.event_pattern(), text.as_str());
                let tools = [tool.as_str(), "", "a", "a/b", "/", "é:b", "]", "a,b|c"];
                for tool in tools {
                    let event = HookEvent::tool_error(tool, "", "");
                    let _ = pattern.matches(&event);
                }
                for event_type in EventType::BUILTIN {
                    let _ = pattern.matches(&HookEvent::new(event_type));
                }
            }
            Err(error) => {
                let error = error.to_string();
                let place = error.rsplit("` at column ").next().and_then(|rest| rest.split(':').next());
                let column: usize = place.and_then(|place| place.parse().ok()).unwrap_or_default();
                prop_assert!((1..=text.chars().count() + 1).contains(&column), "{error}");
            }
        }
    }
}
