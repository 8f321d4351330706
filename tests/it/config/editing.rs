//! Saving changes of a hand-written hooks file: everything else keeps its bytes.

use std::time::Duration;

use forge_hooks::Hook;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::{FORGE, config};
use crate::growth::assert_linear;
use crate::support::{World, hook, most_hooks};
use crate::thorough::all_cases;

const STYLED: &str = "\
{
    // The guards of this machine.
    \"$schema\": \"x\",
    \"hooks\": [
        // Keeps sudo out.
        {\"event\": \"tool:*\", \"command\": \"1\", \"enabled\": true}, // short
        /* formats */
        {
            \"command\" : \"2\",  // its program
            \"event\":\"*\",
            \"timeout\": 5.0,
            \"later\": {\"z\": 1, \"a\": [1,2]},
        },

        {\"event\": \"session:*\", \"command\": \"3\"},
    ], // the end
    \"disable\": [ ]
}";

/// Returns the saved text after a change of its hooks.
fn saved(text: &str, change: impl FnOnce(&mut Vec<Hook>)) -> String {
    let world = World::new();
    let config = config(&world);
    world.write(FORGE, text);
    let mut hooks = config.load_global();
    change(&mut hooks);
    config.save_global(&hooks).unwrap();
    assert_eq!(all_json(&config.load_global()), all_json(&hooks));
    world.read(FORGE)
}

fn all_json(hooks: &[Hook]) -> Vec<Value> {
    hooks.iter().map(Hook::to_json).collect()
}

/// A change of the list, with what it replaces in the text.
type Change = (fn(&mut Vec<Hook>), (&'static str, &'static str));

const CHANGES: &[Change] = &[
    (
        |hooks| hooks[1] = hooks[1].clone().with_timeout(Duration::from_secs(9)),
        ("5.0,", "9.0,"),
    ),
    (
        |hooks| hooks[1] = hooks[1].clone().with_name("n"),
        ("[1,2]},", "[1,2]},\n            \"name\": \"n\","),
    ),
    (
        |hooks| hooks[2] = hooks[2].clone().with_inputs(["a", "b"]),
        (LAST, LAST_WITH_INPUTS),
    ),
    (|hooks| hooks.push(plain("tool:*", "4")), (LAST, ADDED)),
    (|hooks| drop(hooks.remove(0)), (FIRST, "")),
    (|hooks| drop(hooks.pop()), (LAST, "")),
];

/// A hook without keys besides the necessary ones.
fn plain(pattern: &str, command: &str) -> Hook {
    Hook::new(pattern, command).unwrap()
}

const FIRST: &str = r#"        {"event": "tool:*", "command": "1", "enabled": true}, // short
"#;

const LAST: &str = r#"        {"event": "session:*", "command": "3"},
"#;

/// The layout of an entry to which keys are added.
const LAST_WITH_INPUTS: &str = r#"        {
            "event": "session:*",
            "command": "3",
            "inputs": ["a", "b"]
        },
"#;

const ADDED: &str = r#"        {"event": "session:*", "command": "3"},
        {
            "event": "tool:*",
            "command": "4",
        },
"#;

#[test]
fn a_change_changes_its_lines_alone() {
    assert_eq!(saved(STYLED, |_| {}), STYLED);
    for (change, (old, new)) in CHANGES {
        assert_eq!(saved(STYLED, change), STYLED.replace(old, new));
    }
}

#[test]
fn an_added_or_moved_hook_keeps_all_lines() {
    let added = saved(STYLED, |hooks| hooks.insert(0, hook("tool:*", "4")));
    let moved = saved(STYLED, |hooks| hooks.swap(0, 1));
    for line in STYLED.lines() {
        assert!(added.contains(line) && moved.contains(line), "{line}");
    }
    assert!(moved.find("/* formats */") < moved.find("// Keeps sudo out."));
    let emptied = saved(STYLED, Vec::clear);
    assert!(emptied.contains("// The guards of this machine.\n    \"$schema\": \"x\","));
}

#[test]
fn comments_beside_enabled_stay() {
    let entry = r#"{"event": "*", "command": "1""#;
    for off in [
        format!("{{\"hooks\": [\n{entry},\n// why\n\"enabled\": false // so\n}}]}}"),
        format!("{{\"hooks\": [\n{entry}, \"enabled\": /* not */ false, /* yet */ }}]}}"),
        format!("{{\"hooks\": [{entry}, \"enabled\": false /* yet */}}]}}"),
    ] {
        let switch = |on| move |hooks: &mut Vec<Hook>| hooks[0] = hooks[0].clone().with_enabled(on);
        let on = saved(&off, switch(true));
        assert_eq!(on, off.replace("false", "true"));
        assert_eq!(saved(&on, switch(false)), off);
    }
}

#[test]
fn a_large_file_is_saved_in_linear_time() {
    let world = World::new();
    let config = config(&world);
    let hooks = |count: usize| -> Vec<Hook> {
        let commands = (0..count).map(|number| number.to_string());
        commands.map(|command| hook("*", &command)).collect()
    };
    let save = |hooks: &Vec<Hook>| {
        let file = json!({"hooks": hooks.iter().map(Hook::to_json).collect::<Vec<_>>()});
        world.write(FORGE, &file.to_string());
        let mut changed = hooks.clone();
        changed.swap(7, 8);
        changed[9] = changed[9].clone().with_name("n");
        config.save_global(&changed).unwrap();
        changed
    };
    let size = if all_cases() {
        most_hooks()
    } else {
        most_hooks() / 4
    };
    assert_linear("hooks", size, hooks, |hooks| {
        let _ = save(hooks);
    });
    let changed = save(&hooks(most_hooks()));
    assert_eq!(all_json(&config.load_global()), all_json(&changed));
}

#[test]
fn line_ends_and_the_byte_order_mark_stay() {
    let text = format!("\u{FEFF}{}", STYLED.replace('\n', "\r\n"));
    let saved = saved(&text, |hooks| hooks.push(hook("*", "4")));
    assert_eq!(saved.matches('\n').count(), saved.matches("\r\n").count());
    assert!(saved.starts_with("\u{FEFF}{\r\n"), "{saved}");
    assert!(saved.contains("\"4\",\r\n"), "{saved}");
}

/// An entry in some style, by its number.
fn any_entry() -> impl Strategy<Value = String> {
    (any::<u16>(), 0..5).prop_map(|(number, style)| match style {
        0 => format!(r#"{{"event":"*","command":"{number}"}}"#),
        1 => format!(r#"{{ "command": "{number}", "event" : "tool:*", "later": [1,{{}}] }}"#),
        2 => format!("{{\n      \"event\": \"*\",\n      \"command\": \"{number}\"\n    }}"),
        3 => format!("{{\n\t// why\n\t\"event\": \"*\", \"command\": \"{number}\", /* so */\n}}"),
        _ => format!(r#"{{"event": "*", "comand": "{number}"}}"#),
    })
}

/// The texts that may separate two entries.
const SEPARATORS: &[&str] = &[
    ", ",
    ",\n    ",
    " ,\n\n    ",
    ", // a\n    ",
    ",\n    // b\n    ",
    "/* c */,",
];

proptest! {
    // Each case waits several times until a file is on the disk.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(if all_cases() { 256 } else { 16 }) })]

    #[test]
    fn a_save_keeps_the_bytes_of_other_entries(
        entries in proptest::collection::vec((any_entry(), select(SEPARATORS)), 0..6),
        (begin, end) in (select(&["", "\n    ", " // x\n    "][..]), select(&["", "\n  ", ",", " // y\n  "][..])),
        at in any::<Index>(),
    ) {
        let mut list = String::new();
        for (index, (entry, separator)) in entries.iter().enumerate() {
            list += entry;
            list += if index + 1 < entries.len() { separator } else { "" };
        }
        let world = World::new();
        let end = if entries.is_empty() { "" } else { end };
        let text = format!("{{\n  // of mine\n  \"hooks\": [{begin}{list}{end}],\n  \"_\": [ 1 ]\n}}");
        world.write(FORGE, &text);
        let config = config(&world);
        let mut hooks = config.load_global();
        hooks.reverse();
        if !hooks.is_empty() {
            drop(hooks.remove(at.index(hooks.len())));
        }
        hooks.push(hook("*", "new"));
        config.save_global(&hooks).unwrap();
        prop_assert_eq!(all_json(&config.load_global()), all_json(&hooks));
        let saved = world.read(FORGE);
        prop_assert!(saved.contains("// of mine") && saved.contains("\"_\": [ 1 ]"), "{saved}");
        let gone = entries.iter().filter(|(entry, _)| !saved.contains(entry));
        prop_assert!(gone.count() <= 1, "{text}\n{saved}");
    }
}
