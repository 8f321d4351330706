//! Editing a hooks file entry by entry: what is written, and that approvals do not follow.

use forge_hooks::Hook;
use forge_hooks::config::{ConfigError, HooksFile, HooksFileEntry};
use forge_hooks::trust::{Approval, ApprovalStatus};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

use super::editing::{SEPARATORS, STYLED, all_json, any_entry};
use super::{FORGE, config, file_of};
use crate::support::{World, hook};
use crate::thorough::all_cases;

const PROJECT: &str = "project/.src/forge/hooks.json";

fn open(world: &World, text: &str) -> HooksFile {
    world.write(FORGE, text);
    config(world).global_file().unwrap()
}

/// Returns the saved text of the styled file after an edit of its entries.
fn styled(edit: impl FnOnce(&mut HooksFile)) -> String {
    let world = World::new();
    let mut file = open(&world, STYLED);
    edit(&mut file);
    file.save().unwrap();
    world.read(FORGE)
}

#[test]
fn entries_have_a_place_and_a_hook_or_problem() {
    let world = World::new();
    let [one, two] = [
        r#"{"event": "*", "command": "1"}"#,
        r#"{"event": "*", "comand": "ä"}"#,
    ];
    let text = format!("{{\"hooks\": [\n  {one},\n  {two}\n]}}");
    let file = open(&world, &text);
    assert_eq!(file.path(), world.path(FORGE));
    let range = |index: usize| file.entries()[index].range().unwrap();
    let place = |index: usize| {
        let (start, end) = (range(index).start, range(index).end);
        (start.line, &text[start.offset..end.offset])
    };
    assert_eq!([place(0), place(1)], [(2, one), (3, two)]);
    let hook = file.entries()[0].hook().unwrap();
    assert_eq!(hook.source().unwrap().line, Some(2));
    let problem = file.entries()[1].hook().unwrap_err();
    assert_eq!(problem.index, Some(1));
}

#[test]
fn what_is_undone_or_refused_changes_no_byte() {
    let saved = styled(|file| {
        assert!(file.set_enabled(1, false) && file.set_enabled(1, true));
        assert!(file.move_to(0, 2) && file.move_to(2, 0));
        assert!(!file.set_enabled(3, false) && !file.remove(3) && !file.move_to(3, 0));
        assert!(!file.replace(3, hook("*", "x")));
    });
    assert_eq!(saved, STYLED);
    let saved = styled(|file| assert!(file.set_enabled(0, false)));
    let expected = STYLED.replace("\"enabled\": true", "\"enabled\": false");
    assert_eq!(saved, expected);
}

#[test]
fn a_file_that_is_not_there_is_made() {
    let world = World::new();
    let mut file = config(&world).global_file().unwrap();
    assert!(file.entries().is_empty());
    file.insert(7, hook("*", "1"));
    file.save().unwrap();
    assert!(file.entries()[0].range().is_some());
    assert!(file.set_enabled(0, false));
    file.save().unwrap();
    let again = HooksFile::open(world.path(FORGE)).unwrap();
    assert!(!again.entries()[0].hook().unwrap().enabled());
}

#[test]
fn what_another_program_writes_is_not_lost() {
    let world = World::new();
    let mut file = open(&world, &file_of(&["1"]));
    file.remove(0);
    world.write(FORGE, &file_of(&["2"]));
    let error = file.save().unwrap_err();
    assert!(matches!(error, ConfigError::Changed { .. }), "{error}");
    assert_eq!(world.read(FORGE), file_of(&["2"]));
}

#[test]
fn a_broken_file_is_not_edited() {
    let world = World::new();
    world.write(FORGE, "{\"hooks\": [");
    let error = config(&world).global_file().unwrap_err();
    assert!(matches!(error, ConfigError::Unusable { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("is not valid JSON"), "{message}");
}

#[test]
fn an_edited_hook_asks_again() {
    let world = World::new();
    let root = world.path("project");
    world.write(PROJECT, &file_of(&["echo 1", "echo 2"]));
    let config = config(&world);
    let store = config.trust_store().unwrap();
    let hooks = || config.load_project(&root);
    store
        .approve(&Approval::of(&root, hooks()).unwrap())
        .unwrap();
    // Returns for each hook whether it is approved, and the number of approved hooks that are gone.
    let after = |edit: &dyn Fn(&mut HooksFile) -> bool| {
        let mut file = config.project_file(&root).unwrap();
        assert!(edit(&mut file));
        file.save().unwrap();
        let present: Vec<Value> = hooks().iter().map(Hook::to_json).collect();
        let approved = store.approved(&root).unwrap().into_iter();
        let gone = approved.filter(|hook| !present.contains(&hook.definition));
        let verdicts = store.status(&root, hooks()).unwrap().into_iter();
        let runs = verdicts.map(|verdict| verdict == ApprovalStatus::Approved);
        (runs.collect::<Vec<_>>(), gone.count())
    };
    assert_eq!(after(&|file| file.move_to(1, 0)), (vec![true, true], 0));
    let changed = after(&|file| file.replace(1, hook("tool:*", "echo changed")));
    assert_eq!(changed, (vec![true, false], 1));
    assert_eq!(after(&|file| file.remove(0)), (vec![false], 2));
}

/// The action, its place, and the target of a move.
type Edit = (&'static str, Index, Index);

const EDITS: &[&str] = &["save", "insert", "replace", "remove", "move", "on", "off"];

/// The hook of an entry, and the text of the entry as long as it is not edited.
type Model = (Option<Value>, Option<String>);

fn edited(hook: &Hook) -> Model {
    (Some(hook.to_json()), None)
}

fn apply((edit, index, to): Edit, file: &mut HooksFile, model: &mut Vec<Model>) {
    let length = model.len();
    let new = hook("*", &to.index(1000).to_string()).with_name("new");
    if edit == "save" {
        return file.save().unwrap();
    }
    if edit == "insert" || length == 0 {
        let index = index.index(length + 1);
        model.insert(index, edited(&new));
        return file.insert(index, new);
    }
    let (index, to) = (index.index(length), to.index(length));
    let hook = file.entries()[index].hook().ok().cloned();
    let switched = hook.map(|hook| hook.with_enabled(edit == "on"));
    let is_done = match edit {
        "replace" => {
            model[index] = edited(&new);
            file.replace(index, new)
        }
        "remove" => {
            model.remove(index);
            file.remove(index)
        }
        "move" => {
            let moved = model.remove(index);
            model.insert(to, moved);
            file.move_to(index, to)
        }
        _ => file.set_enabled(index, edit == "on") == switched.is_some(),
    };
    assert!(is_done, "{edit}");
    if let ("on" | "off", Some(hook)) = (edit, switched)
        && model[index].0 != Some(hook.to_json())
    {
        model[index] = edited(&hook);
    }
}

proptest! {
    // Each case waits several times until a file is on the disk.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(if all_cases() { 256 } else { 16 }) })]

    #[test]
    fn edits_keep_the_bytes_of_other_entries(
        entries in proptest::collection::vec((any_entry(), select(SEPARATORS)), 0..6),
        (begin, end) in (select(&["", "\n    ", " // x\n    "][..]), select(&["", "\n  ", ",", " // y\n  "][..])),
        edits in proptest::collection::vec((select(EDITS), any::<Index>(), any::<Index>()), 0..12),
    ) {
        let mut list = String::new();
        for (index, (entry, separator)) in entries.iter().enumerate() {
            list += entry;
            list += if index + 1 < entries.len() { separator } else { "" };
        }
        let world = World::new();
        let end = if entries.is_empty() { "" } else { end };
        let text = format!("{{\n  // of mine\n  \"hooks\": [{begin}{list}{end}],\n  \"_\": [ 1 ]\n}}");
        let mut file = open(&world, &text);
        let json = |entry: &HooksFileEntry| entry.hook().ok().map(Hook::to_json);
        let texts = entries.iter().map(|(entry, _)| Some(entry.clone()));
        let mut model: Vec<Model> = file.entries().iter().map(json).zip(texts).collect();
        for edit in edits {
            apply(edit, &mut file, &mut model);
        }
        file.save().unwrap();
        let saved = world.read(FORGE);
        prop_assert!(saved.contains("// of mine") && saved.contains("\"_\": [ 1 ]"), "{saved}");
        let again = HooksFile::open(world.path(FORGE)).unwrap();
        let expected: Vec<_> = model.iter().map(|entry| entry.0.clone()).collect();
        for file in [&file, &again] {
            prop_assert_eq!(file.entries().iter().map(json).collect::<Vec<_>>(), &expected[..], "{}\n{}", text, saved);
        }
        // A list in another order moves entries, and changes none.
        let config = config(&world);
        let mut hooks = config.load_global();
        hooks.reverse();
        config.save_global(&hooks).unwrap();
        prop_assert_eq!(all_json(&config.load_global()), all_json(&hooks));
        let moved = world.read(FORGE);
        for entry in model.iter().filter_map(|entry| entry.1.as_ref()) {
            prop_assert!(saved.contains(entry), "{entry}\n{text}\n{saved}");
            prop_assert!(moved.contains(entry), "{entry}\n{saved}\n{moved}");
        }
    }
}
