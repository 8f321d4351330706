//! Editing a hooks file entry by entry: what is written, and that approvals do not follow.

use forge_hooks::Hook;
use forge_hooks::config::{ConfigError, HooksFile, HooksFileEntry};
use forge_hooks::protocol::GateVerdict;
use forge_hooks::trust::{Approval, TrustStore};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

use crate::config::{FORGE, commands, config, file_of};
use crate::editing::{SEPARATORS, STYLED, any_entry};
use crate::support::{World, hook};

const PROJECT: &str = "project/.src/forge/hooks.json";

fn open(world: &World, text: &str) -> HooksFile {
    world.write(FORGE, text);
    config(world).global_file().unwrap()
}

/// What is saved of the styled file when its entries are edited.
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
    let text = "{\"hooks\": [\n  {\"event\": \"*\", \"command\": \"1\"},\n  {\"event\": \"*\", \"comand\": \"ä\"}\n]}";
    let file = open(&world, text);
    assert_eq!(file.path(), world.path(FORGE));
    let places: Vec<_> = file
        .entries()
        .iter()
        .map(|entry| {
            let range = entry.range().unwrap();
            (
                range.start.line,
                &text[range.start.offset..range.end.offset],
            )
        })
        .collect();
    assert_eq!(
        places,
        [
            (2, r#"{"event": "*", "command": "1"}"#),
            (3, r#"{"event": "*", "comand": "ä"}"#)
        ]
    );
    assert_eq!(
        file.entries()[0].hook().unwrap().source().unwrap().line,
        Some(2)
    );
    let problem = file.entries()[1].hook().unwrap_err();
    assert_eq!(problem.index, Some(1));
}

#[test]
fn saving_without_an_edit_changes_no_byte() {
    assert_eq!(styled(|_| {}), STYLED);
    let there_and_back = styled(|file| {
        assert!(file.set_enabled(1, false) && file.set_enabled(1, true));
        assert!(file.move_to(0, 2) && file.move_to(2, 0));
    });
    assert_eq!(there_and_back, STYLED);
}

#[test]
fn switching_a_hook_changes_one_key() {
    let saved = styled(|file| assert!(file.set_enabled(0, false)));
    assert_eq!(
        saved,
        STYLED.replace("\"enabled\": true", "\"enabled\": false")
    );
}

#[test]
fn a_place_without_an_entry_is_refused() {
    let unchanged = styled(|file| {
        assert!(!file.set_enabled(3, false) && !file.remove(3) && !file.move_to(3, 0));
        assert!(!file.replace(3, hook("*", "x")));
    });
    assert_eq!(unchanged, STYLED);
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
    let words = error.to_string();
    assert!(words.contains("is not valid JSON"), "{words}");
}

#[test]
fn an_unusable_entry_is_replaced_in_its_place() {
    let world = World::new();
    let mut file = open(
        &world,
        r#"{"hooks": [{"event": "*"}, {"event": "*", "command": "2"}]}"#,
    );
    assert!(!file.set_enabled(0, false));
    assert!(file.replace(0, hook("*", "1")));
    file.save().unwrap();
    assert_eq!(commands(&config(&world).load_global()), ["1", "2"]);
    assert!(
        world
            .read(FORGE)
            .contains(r#"{"event": "*", "command": "2"}]}"#)
    );
}

/// A project with these commands as approved hooks.
struct Project {
    world: World,
    store: TrustStore,
}

impl Project {
    fn new(commands: &[&str]) -> Self {
        let world = World::new();
        world.write(PROJECT, &file_of(commands));
        let store = config(&world).trust_store().unwrap();
        let project = Self { world, store };
        let root = project.world.path("project");
        let hooks = config(&project.world).load_project(&root);
        let approval = Approval::of(&root, hooks).unwrap();
        project.store.approve(&approval).unwrap();
        project
    }

    fn edit(&self, edit: impl FnOnce(&mut HooksFile)) {
        let root = self.world.path("project");
        let mut file = config(&self.world).project_file(root).unwrap();
        edit(&mut file);
        file.save().unwrap();
    }

    /// How the hooks stand, and how many approved ones are not there.
    fn status(&self) -> (String, usize) {
        let root = self.world.path("project");
        let hooks = config(&self.world).load_project(&root);
        let present: Vec<Value> = hooks.iter().map(Hook::to_json).collect();
        let gone = self.store.approved(&root).unwrap().into_iter();
        let gone = gone.filter(|it| !present.contains(&it.definition));
        let verdicts = self.store.status(&root, hooks).unwrap();
        let letters = verdicts.iter().map(|verdict| match verdict {
            GateVerdict::Run => 'r',
            GateVerdict::NotApproved(_) => 'n',
            _ => 'l',
        });
        (letters.collect(), gone.count())
    }
}

#[test]
fn an_edited_hook_asks_again() {
    let project = Project::new(&["echo 1", "echo 2"]);
    project.edit(|file| assert!(file.move_to(1, 0)));
    assert_eq!(project.status(), ("rr".to_owned(), 0));
    project.edit(|file| assert!(file.replace(1, hook("tool:*", "echo changed"))));
    assert_eq!(project.status(), ("rn".to_owned(), 1));
    project.edit(|file| assert!(file.remove(0)));
    assert_eq!(project.status(), ("n".to_owned(), 2));
}

#[derive(Debug, Clone)]
enum Edit {
    Switch(Index, bool),
    Insert(Index, u16),
    Replace(Index, u16),
    Remove(Index),
    Move(Index, Index),
    Save,
}

fn any_edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        any::<(Index, bool)>().prop_map(|(index, on)| Edit::Switch(index, on)),
        any::<(Index, u16)>().prop_map(|(index, number)| Edit::Insert(index, number)),
        any::<(Index, u16)>().prop_map(|(index, number)| Edit::Replace(index, number)),
        any::<Index>().prop_map(Edit::Remove),
        any::<(Index, Index)>().prop_map(|(index, to)| Edit::Move(index, to)),
        Just(Edit::Save),
    ]
}

/// An entry of the file, and its text as long as it is not edited.
struct Model {
    hook: Option<Value>,
    text: Option<String>,
}

impl Model {
    fn edited(hook: &Hook) -> Self {
        Self {
            hook: Some(hook.to_json()),
            text: None,
        }
    }
}

fn apply(edit: Edit, file: &mut HooksFile, model: &mut Vec<Model>) {
    let new = |number: u16| hook("*", &number.to_string()).with_name("new");
    let length = model.len();
    match edit {
        Edit::Insert(index, number) => {
            let index = index.index(length + 1);
            file.insert(index, new(number));
            model.insert(index, Model::edited(&new(number)));
        }
        Edit::Save => file.save().unwrap(),
        _ if length == 0 => {}
        Edit::Switch(index, enabled) => {
            let index = index.index(length);
            let hook = file.entries()[index].hook().ok().cloned();
            assert_eq!(file.set_enabled(index, enabled), hook.is_some());
            if let Some(hook) = hook.filter(|hook| hook.enabled() != enabled) {
                model[index] = Model::edited(&hook.with_enabled(enabled));
            }
        }
        Edit::Replace(index, number) => {
            let index = index.index(length);
            assert!(file.replace(index, new(number)));
            model[index] = Model::edited(&new(number));
        }
        Edit::Remove(index) => {
            let index = index.index(length);
            assert!(file.remove(index));
            model.remove(index);
        }
        Edit::Move(index, to) => {
            let (index, to) = (index.index(length), to.index(length));
            assert!(file.move_to(index, to));
            let moved = model.remove(index);
            model.insert(to, moved);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn edits_keep_the_bytes_of_other_entries(
        entries in proptest::collection::vec((any_entry(), select(SEPARATORS)), 0..6),
        edits in proptest::collection::vec(any_edit(), 0..12),
    ) {
        let mut list = String::new();
        for (index, (entry, separator)) in entries.iter().enumerate() {
            list += entry;
            list += if index + 1 < entries.len() { separator } else { "" };
        }
        let world = World::new();
        let text = format!("{{\n  // of mine\n  \"hooks\": [{list}],\n  \"_\": [ 1 ]\n}}");
        let mut file = open(&world, &text);
        let json = |entry: &HooksFileEntry| entry.hook().ok().map(Hook::to_json);
        let texts = entries.iter().map(|(entry, _)| Some(entry.clone()));
        let mut model: Vec<_> = file
            .entries()
            .iter()
            .zip(texts)
            .map(|(entry, text)| Model { hook: json(entry), text })
            .collect();
        for edit in edits {
            apply(edit, &mut file, &mut model);
        }
        file.save().unwrap();
        let saved = world.read(FORGE);
        prop_assert!(saved.contains("// of mine") && saved.contains("\"_\": [ 1 ]"), "{saved}");
        let again = HooksFile::open(world.path(FORGE)).unwrap();
        let expected: Vec<_> = model.iter().map(|entry| entry.hook.clone()).collect();
        for file in [&file, &again] {
            prop_assert_eq!(file.entries().iter().map(json).collect::<Vec<_>>(), &expected[..], "{}\n{}", text, saved);
        }
        for entry in model.iter().filter_map(|entry| entry.text.as_ref()) {
            prop_assert!(saved.contains(entry), "{entry}\n{text}\n{saved}");
        }
    }
}
