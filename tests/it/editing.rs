//! Saving changes of a hand-written hooks file: everything else keeps its bytes.

use std::time::Duration;

use forge_hooks::Hook;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::config::{FORGE, commands, config};
use crate::support::{World, assert_computes_within, hook};

pub(crate) const STYLED: &str = "\
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

/// What is saved of the styled file when its hooks are changed.
fn styled(change: impl FnOnce(&mut Vec<Hook>)) -> String {
    let world = World::new();
    let config = config(&world);
    world.write(FORGE, STYLED);
    let mut hooks = config.load_global();
    assert_eq!(hooks.len(), 3);
    change(&mut hooks);
    config.save_global(&hooks).unwrap();
    assert_eq!(all_json(&config.load_global()), all_json(&hooks));
    world.read(FORGE)
}

fn all_json(hooks: &[Hook]) -> Vec<Value> {
    hooks.iter().map(Hook::to_json).collect()
}

#[test]
fn saving_what_was_loaded_changes_no_byte() {
    assert_eq!(styled(|_| {}), STYLED);
}

#[test]
fn a_changed_value_changes_its_line_alone() {
    let saved = styled(|hooks| hooks[1] = hooks[1].clone().with_timeout(Duration::from_secs(9)));
    assert_eq!(
        saved,
        STYLED.replace("\"timeout\": 5.0,", "\"timeout\": 9.0,")
    );
    let saved = styled(|hooks| hooks[1] = hooks[1].clone().with_name("n"));
    let expected = STYLED.replace(
        "\"a\": [1,2]},",
        "\"a\": [1,2]},\n            \"name\": \"n\",",
    );
    assert_eq!(saved, expected);
    let saved = styled(|hooks| {
        hooks[0] = hooks[0].clone().with_enabled(false);
        hooks[2] = hooks[2].clone().with_name("n").with_inputs(["a", "b"]);
    });
    let expected = STYLED
        .replace("\"enabled\": true", "\"enabled\": false")
        .replace(
            "\"command\": \"3\"",
            "\"command\": \"3\", \"name\": \"n\", \"inputs\": [\"a\", \"b\"]",
        );
    assert_eq!(saved, expected);
}

#[test]
fn a_key_takes_the_place_of_the_last_one() {
    let world = World::new();
    let config = config(&world);
    let text = r#"{"hooks": [{"event": "*", "command": "1", "inputs": ["a"]}]}"#;
    world.write(FORGE, text);
    let mut hooks = config.load_global();
    hooks[0] = hooks[0].clone().with_inputs([""; 0]).with_name("n");
    config.save_global(&hooks).unwrap();
    let saved = text.replace(r#""inputs": ["a"]"#, r#""name": "n""#);
    assert_eq!(world.read(FORGE), saved);
}

#[test]
fn comments_beside_enabled_stay() {
    for text in [
        "{\"hooks\": [\n  {\n    \"event\": \"*\",\n    \"command\": \"1\",\n    // why\n    \"enabled\": false // so\n  }\n]}\n",
        "{\"hooks\": [\n  {\"event\": \"*\", \"enabled\": /* not */ false, /* yet */ \"command\": \"1\"}\n]}\n",
        "{\"hooks\": [{\"enabled\": false /* yet */, \"event\": \"*\", \"command\": \"1\"}]}",
    ] {
        let world = World::new();
        let config = config(&world);
        world.write(FORGE, text);
        let mut file = config.global_file().unwrap();
        assert!(file.set_enabled(0, true));
        file.save().unwrap();
        assert_eq!(world.read(FORGE), text.replace("false", "true"));
        let hooks = config.load_global().into_iter();
        let off: Vec<_> = hooks.map(|hook| hook.with_enabled(false)).collect();
        config.save_global(&off).unwrap();
        assert_eq!(world.read(FORGE), text);
    }
}

#[test]
fn an_added_hook_adds_its_lines_alone() {
    let saved = styled(|hooks| hooks.push(hook("tool:*", "4").with_name("four")));
    let added = "\"3\"},\n        {\n            \"event\": \"tool:*\",\n            \
                 \"command\": \"4\",\n            \"name\": \"four\",\n        },\n";
    assert_eq!(saved, STYLED.replace("\"3\"},\n", added));
    let saved = styled(|hooks| hooks.insert(0, hook("tool:*", "4")));
    for line in STYLED.lines() {
        assert!(saved.contains(line), "{line}\n{saved}");
    }
}

#[test]
fn a_large_file_is_saved_in_time() {
    let world = World::new();
    let config = config(&world);
    let mut hooks: Vec<_> = (0..1000).map(|it| hook("*", &it.to_string())).collect();
    let file = json!({"hooks": hooks.iter().map(Hook::to_json).collect::<Vec<_>>()});
    world.write(FORGE, &file.to_string());
    hooks.swap(7, 8);
    hooks[9] = hooks[9].clone().with_name("n");
    assert_computes_within(Duration::from_secs(20), "1000 hooks", || {
        config.save_global(&hooks).unwrap();
    });
    assert_eq!(all_json(&config.load_global()), all_json(&hooks));
}

#[test]
fn a_removed_hook_takes_its_line_along() {
    let saved = styled(|hooks| drop(hooks.remove(0)));
    let line = "        {\"event\": \"tool:*\", \"command\": \"1\", \"enabled\": true}, // short\n";
    assert_eq!(saved, STYLED.replace(line, ""));
    let saved = styled(|hooks| drop(hooks.pop()));
    let line = "        {\"event\": \"session:*\", \"command\": \"3\"},\n";
    assert_eq!(saved, STYLED.replace(line, ""));
    assert!(styled(Vec::clear).contains("// The guards of this machine.\n    \"$schema\": \"x\","));
}

#[test]
fn a_moved_hook_keeps_its_comments() {
    let saved = styled(|hooks| hooks.swap(0, 1));
    let first = saved.find("/* formats */").unwrap();
    let second = saved.find("// Keeps sudo out.").unwrap();
    assert!(first < second, "{saved}");
    for line in STYLED.lines() {
        assert!(saved.contains(line), "{line}\n{saved}");
    }
}

#[test]
fn line_ends_and_the_byte_order_mark_stay() {
    let world = World::new();
    let config = config(&world);
    let text = format!("\u{FEFF}{}", STYLED.replace('\n', "\r\n"));
    world.write(FORGE, &text);
    let mut hooks = config.load_global();
    hooks.push(hook("*", "4"));
    config.save_global(&hooks).unwrap();
    let saved = world.read(FORGE);
    assert_eq!(saved.matches('\n').count(), saved.matches("\r\n").count());
    assert!(
        saved.starts_with("\u{FEFF}{\r\n") && saved.contains("\"4\",\r\n"),
        "{saved}"
    );
    assert_eq!(commands(&config.load_global()), ["1", "2", "3", "4"]);
}

/// An entry in some style, by its number.
pub(crate) fn any_entry() -> impl Strategy<Value = String> {
    (any::<u16>(), 0..5).prop_map(|(number, style)| match style {
        0 => format!(r#"{{"event":"*","command":"{number}"}}"#),
        1 => format!(r#"{{ "command": "{number}", "event" : "tool:*", "later": [1,{{}}] }}"#),
        2 => format!("{{\n      \"event\": \"*\",\n      \"command\": \"{number}\"\n    }}"),
        3 => format!("{{\n\t// why\n\t\"event\": \"*\", \"command\": \"{number}\", /* so */\n}}"),
        _ => format!(r#"{{"event": "*", "comand": "{number}"}}"#),
    })
}

/// What is between two entries.
pub(crate) const SEPARATORS: &[&str] = &[
    ", ",
    ",\n    ",
    " ,\n\n    ",
    ", // a\n    ",
    ",\n    // b\n    ",
    "/* c */,",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn unedited_entries_keep_their_bytes(
        entries in proptest::collection::vec((any_entry(), select(SEPARATORS)), 0..6),
        ends in (select(&["", "\n    ", " // x\n    "][..]), select(&["", "\n  ", ",", ",\n  ", " // y\n  "][..])),
        edits in proptest::collection::vec(0..5, 0..6),
        order in any::<u64>(),
    ) {
        let mut list = String::new();
        for (index, (entry, separator)) in entries.iter().enumerate() {
            let separator = if index + 1 < entries.len() { separator } else { "" };
            list = list + entry + separator;
        }
        let end = if entries.is_empty() { "" } else { ends.1 };
        let text = format!("{{\n  \"hooks\": [{}{list}{end}]\n}}", ends.0);
        let world = World::new();
        let config = config(&world);
        world.write(FORGE, &text);
        let (mut hooks, mut gone) = (Vec::new(), Vec::new());
        for (index, hook) in config.load_global().into_iter().enumerate() {
            let place = hook.source().and_then(|source| source.index).unwrap();
            match edits.get(index) {
                Some(0) => gone.push(place),
                Some(1) => {
                    gone.push(place);
                    hooks.push(hook.with_name("changed"));
                }
                Some(2) => {
                    hooks.push(Hook::new("*", "new").unwrap());
                    hooks.push(hook);
                }
                _ => hooks.push(hook),
            }
        }
        if hooks.len() > 1 && order % 3 == 0 {
            let (from, to) = (order as usize % hooks.len(), order as usize / 7 % hooks.len());
            hooks.swap(from, to);
        }
        config.save_global(&hooks).unwrap();
        let saved = world.read(FORGE);
        prop_assert_eq!(all_json(&config.load_global()), all_json(&hooks), "{}\n{}", text, saved);
        for (index, (entry, _)) in entries.iter().enumerate() {
            prop_assert!(gone.contains(&index) || saved.contains(entry), "{}\n{}", text, saved);
        }
    }
}
