//! What an attacker may try to have a hook run what nobody approved, or to make its host wait.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use forge_hooks::Hooks;
use forge_hooks::trust::Approval;
use serde_json::{Value, json};

use crate::support::World;
use crate::trust_changes::{host, lost};

const HOOKS: &str = "project/.myagent/hooks";

/// A project with this one hook.
fn with_hook(entry: &Value) -> World {
    let world = World::new();
    let mut entry = entry.clone();
    entry["event"] = json!("tool:*");
    let text = json!({"hooks": [entry]}).to_string();
    world.write("project/.myagent/hooks.json", &text);
    world
}

/// An approved project whose hook runs `guard.sh`.
fn guarded() -> (World, Hooks) {
    let world = with_hook(&json!({"command": "sh ./guard.sh"}));
    world.write("project/guard.sh", "true\n");
    let hooks = approved(&world);
    (world, hooks)
}

fn approved(world: &World) -> Hooks {
    let hooks = host(world);
    assert!(hooks.approve_with(|_| true).unwrap());
    assert_eq!(lost(&hooks), None);
    hooks
}

#[track_caller]
fn blocks(hooks: &Hooks, words: &str) {
    let why = lost(hooks).expect("a lost approval");
    assert!(why.contains(words), "{why}");
}

/// Approves, and returns what was shown for it.
fn shown(world: &World) -> (Hooks, String) {
    let mut shown = String::new();
    let hooks = host(world);
    let asked = |approval: &Approval| {
        shown = approval.to_string();
        true
    };
    assert!(hooks.approve_with(asked).unwrap());
    (hooks, shown)
}

fn executable(path: &Path, yes: bool) {
    let mode = if yes { 0o755 } else { 0o644 };
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn put_pipe(path: &Path) {
    let _ = fs::remove_file(path);
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// Puts a link there, with its directory and instead of what is there.
fn link(world: &World, name: &str, target: impl AsRef<Path>) {
    let path = world.path(&format!("project/{name}"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(&path);
    symlink(target, path).unwrap();
}

#[test]
fn data_that_becomes_a_script_blocks() {
    let world = with_hook(&json!({"command": "cat notes late >/dev/null; true"}));
    let notes = world.write("project/notes", "a");
    let hooks = approved(&world);
    world.write("project/notes", "b");
    world.write("project/late", "b");
    let state = world.write(&format!("{HOOKS}/deep/state.txt"), "data");
    assert_eq!(lost(&hooks), None);
    executable(&notes, true);
    blocks(&hooks, "`notes` has appeared");
    executable(&notes, false);
    assert_eq!(lost(&hooks), None);
    world.write("project/notes", "#!/bin/sh\n");
    blocks(&hooks, "`notes` has appeared");
    world.write("project/notes", "b");
    world.write("project/late", "#!/bin/sh\n");
    blocks(&hooks, "`late` has appeared");
    world.write("project/late", "b");
    fs::rename(&state, state.with_file_name("json.py")).unwrap();
    blocks(&hooks, "`.myagent/hooks/deep/json.py` has appeared");
}

#[test]
fn another_kind_of_file_blocks_and_is_not_opened() {
    let (world, hooks) = guarded();
    let guard = world.path("project/guard.sh");
    put_pipe(&guard);
    blocks(&hooks, "`guard.sh` is gone");
    fs::remove_file(&guard).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(&guard).unwrap();
    blocks(&hooks, "`guard.sh` is gone");
    link(&world, "guard.sh", "/dev/zero");
    blocks(&hooks, "`guard.sh` has");
    fs::remove_file(&guard).unwrap();
    fs::create_dir(&guard).unwrap();
    blocks(&hooks, "`guard.sh` is gone");

    // From the start: named, in the hooks directory, in `inputs`.
    let world = with_hook(&json!({"command": "true pipe.sh", "inputs": ["data", "one"]}));
    fs::create_dir_all(world.path(HOOKS)).unwrap();
    fs::create_dir_all(world.path("project/data")).unwrap();
    for pipe in ["pipe.sh", ".myagent/hooks/pipe.sh", "data/pipe", "one"] {
        put_pipe(&world.path(&format!("project/{pipe}")));
    }
    let hooks = approved(&world);
    let store = hooks.trust().unwrap();
    put_pipe(store.path());
    let reported = store.approved(world.path("project")).unwrap_err();
    assert!(reported.to_string().contains("regular file"), "{reported}");
}

#[test]
fn a_link_counts_with_its_text_and_its_target() {
    let world = with_hook(&json!({"command": "./guard.sh"}));
    for name in ["a.sh", "b.sh"] {
        world.script(&format!("project/lib/{name}"), "#!/bin/sh\ntrue\n");
    }
    link(&world, "guard.sh", "lib/a.sh");
    let hooks = approved(&world);
    link(&world, "guard.sh", "lib/b.sh");
    blocks(&hooks, "`guard.sh` has changed");
    link(&world, "guard.sh", "lib/a.sh");
    assert_eq!(lost(&hooks), None);
    world.write("project/lib/a.sh", "#!/bin/sh\nfalse\n");
    blocks(&hooks, "`lib/a.sh` has changed");
    link(&world, "guard.sh", "guard.sh");
    blocks(&hooks, "`guard.sh` has changed");
}

/// Who sources `local.sh` does not see that it is a link to a file that is no script.
#[test]
fn a_link_with_the_name_of_a_script_is_one() {
    for (command, name, target) in [
        ("./guard.sh", ".myagent/hooks/local.sh", "../../NOTES"),
        ("sh x.sh", "x.sh", "NOTES"),
        ("sh x.sh", "x.sh", "missing"),
    ] {
        let world = with_hook(&json!({"command": command}));
        world.script("project/guard.sh", "#!/bin/sh\ntrue\n");
        world.write("project/NOTES", "no script");
        let hooks = approved(&world);
        link(&world, name, target);
        blocks(&hooks, "has appeared");
    }
    let world = with_hook(&json!({"command": "sh x.sh"}));
    world.write("project/NOTES", "no script");
    link(&world, "x.sh", "NOTES");
    let hooks = approved(&world);
    world.write("project/NOTES", "other text");
    blocks(&hooks, "`NOTES` has changed");
    link(&world, "x.sh", "missing");
    blocks(&hooks, "since the hook was approved");
    let hooks = approved(&world);
    world.write("project/missing", "now it is there");
    blocks(&hooks, "`missing` has appeared");
}

#[test]
fn a_link_out_of_the_project_counts_with_its_text() {
    let world = with_hook(&json!({"command": "./guard.sh"}));
    world.script("outside/a.sh", "#!/bin/sh\ntrue\n");
    link(&world, "guard.sh", "../outside/a.sh");
    let (hooks, shown) = shown(&world);
    let words = "Note: the link `guard.sh` leads out of the project";
    assert!(shown.contains(words), "{shown}");
    world.write("outside/a.sh", "#!/bin/sh\necho x\n");
    assert_eq!(lost(&hooks), None);
    link(&world, "guard.sh", world.path("outside/a.sh"));
    blocks(&hooks, "`guard.sh` has changed");
}

#[test]
fn a_directory_that_becomes_too_large_blocks() {
    let world = with_hook(&json!({"command": "true"}));
    world.write(&format!("{HOOKS}/a.sh"), "");
    let hooks = approved(&world);
    let many = world.path(&format!("{HOOKS}/many"));
    fs::create_dir(&many).unwrap();
    for number in 0..1001 {
        File::create(many.join(number.to_string())).unwrap();
    }
    blocks(&hooks, "`.myagent/hooks/` has become too large");
    // With an approval, it is not covered any more, also if it becomes smaller.
    let hooks = approved(&world);
    fs::remove_dir_all(many).unwrap();
    world.write(&format!("{HOOKS}/b.sh"), "");
    assert_eq!(lost(&hooks), None);
}

#[test]
fn an_entry_has_so_many_bytes() {
    let inputs = json!(["a", "b", "c"]);
    let world = with_hook(&json!({"command": "true", "inputs": inputs}));
    world.write("project/a", "1");
    let large = world.write("project/b", "");
    File::create(large).unwrap().set_len(256 << 20).unwrap();
    world.write("project/c", "1");
    let mut shown = String::new();
    let hooks = host(&world);
    let asked = |approval: &forge_hooks::trust::Approval| {
        shown = approval.to_string();
        true
    };
    assert!(hooks.approve_with(asked).unwrap());
    let words = "Note: `b` is not covered: the files of this entry have more than 256 MiB";
    assert!(shown.contains(words), "{shown}");
    assert!(shown.contains("Scripts covered: `a`, `c`"), "{shown}");
    assert_eq!(lost(&hooks), None);
    world.write("project/c", "2");
    blocks(&hooks, "`c` has changed");
}

#[test]
fn what_is_too_large_is_not_read() {
    let world = with_hook(&json!({"command": "true", "inputs": ["data", "deep"]}));
    world.write(&format!("{HOOKS}/big.py"), "");
    let big = File::create(world.path(&format!("{HOOKS}/big.py"))).unwrap();
    big.set_len(10 << 30).unwrap();
    for number in 0..1001 {
        world.write(&format!("project/data/{number}"), "");
    }
    world.write("project/deep/x", "");
    let made = std::process::Command::new("mkdir")
        .args(["-p", &"d/".repeat(1001)])
        .current_dir(world.path("project/deep"))
        .status();
    assert!(made.unwrap().success());
    // Reading 10 GiB would take longer than the test may.
    let (hooks, shown) = shown(&world);
    for name in [".myagent/hooks/", "inputs: data/", "inputs: deep/"] {
        let words = format!("Note: `{name}` is not covered: holds more than 1,000 files");
        assert!(shown.contains(&words), "{shown}");
    }
    assert_eq!(lost(&hooks), None);
}

#[test]
fn any_name_is_covered() {
    let command = "./a\\ b.sh; './c\nd.sh'; ./it\\'s.sh; ./gua''rd.sh";
    let world = with_hook(&json!({"command": command}));
    let names = ["a b.sh", "c\nd.sh", "it's.sh", "guard.sh"];
    for name in names {
        world.script(&format!("project/{name}"), "#!/bin/sh\n");
    }
    fs::create_dir_all(world.path(HOOKS)).unwrap();
    let odd = world.path(HOOKS).join(OsStr::from_bytes(b"\xFF.sh"));
    fs::write(&odd, "one").unwrap();
    let hooks = approved(&world);
    for name in names {
        let path = world.write(&format!("project/{name}"), "#!/bin/sh\nfalse\n");
        blocks(&hooks, &format!("`{name}` has changed"));
        fs::write(path, "#!/bin/sh\n").unwrap();
        assert_eq!(lost(&hooks), None);
    }
    fs::write(&odd, "two").unwrap();
    blocks(&hooks, "has changed");
    fs::rename(&odd, odd.with_file_name(OsStr::from_bytes(b"\xFE.sh"))).unwrap();
    blocks(&hooks, "fe.sh` has appeared");
}

#[test]
fn inputs_are_named_in_each_form() {
    let inputs = json!([
        "one.txt",
        "./lib/*.txt",
        "late",
        "../out",
        "/etc",
        "!lib/b.txt",
        "none/*.json"
    ]);
    let world = with_hook(&json!({"command": "true", "inputs": inputs}));
    for name in ["one.txt", "lib/a.txt", "lib/b.txt", "lib/deep/c.txt"] {
        world.write(&format!("project/{name}"), "1");
    }
    let hooks = approved(&world);
    let root = world.path("project");
    let approval = Approval::of(&root, hooks.config().load_project(&root)).unwrap();
    let files = approval.hooks[0].files.iter().map(|(name, _)| &**name);
    assert_eq!(files.collect::<Vec<_>>(), ["lib/a.txt", "one.txt"]);
    let notes = &approval.hooks[0].notes;
    for words in [
        "`../out` of `inputs` is not within the project",
        "`/etc` of `inputs` is not within the project",
        "`lib/b.txt` is excluded by `inputs`",
        "`none/*.json` of `inputs` matches nothing now",
    ] {
        assert!(notes.iter().any(|it| it == words), "{words}: {notes:?}");
    }
    world.write("project/lib/b.txt", "2");
    assert_eq!(lost(&hooks), None);
    world.write("project/late", "2");
    blocks(&hooks, "`late` has appeared");
}

#[test]
fn a_store_behind_a_link_is_checked_where_it_is() {
    let (world, hooks) = guarded();
    let store = hooks.trust().unwrap();
    let elsewhere = world.path("elsewhere/trust.json");
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    fs::rename(store.path(), &elsewhere).unwrap();
    symlink(&elsewhere, store.path()).unwrap();
    world.write("project/guard.sh", "echo x\n");
    assert!(hooks.approve_with(|_| true).unwrap());
    assert!(store.path().is_symlink() && elsewhere.is_file());
    assert_eq!(lost(&hooks), None);
    let mode = Permissions::from_mode(0o777);
    fs::set_permissions(elsewhere.parent().unwrap(), mode).unwrap();
    let error = store.approved(world.path("project")).unwrap_err();
    let words = "is in a world-writable directory";
    assert!(error.to_string().contains(words), "{error}");
    hooks.reload();
    blocks(&hooks, "world-writable");
}

/// What is approved as the text of a link is no file with that text.
#[test]
fn a_file_is_not_the_link_that_was_approved() {
    let world = with_hook(&json!({"command": "sh .myagent/hooks/guard.sh"}));
    world.write(&format!("{HOOKS}/real.sh"), "true\n");
    fs::create_dir_all(world.path(&format!("{HOOKS}/d; echo EVIL >evil; true #"))).unwrap();
    let text = "d; echo EVIL >evil; true #/../real.sh";
    let guard = ".myagent/hooks/guard.sh";
    link(&world, guard, text);
    let hooks = approved(&world);
    for before in ["", "link ", "link:"] {
        fs::remove_file(world.path(&format!("project/{guard}"))).unwrap();
        world.write(&format!("project/{guard}"), &format!("{before}{text}"));
        blocks(&hooks, "guard.sh` has changed");
    }
    assert!(!world.path("project/evil").exists());
}

/// A guard must not be dropped as gone because its file cannot be read now.
#[test]
fn a_broken_file_cannot_be_approved() {
    let file = "project/.myagent/hooks.json";
    let incomplete = r#"{"hooks": [{"event": "tool:*"}]}"#;
    for broken in ["", "{", "[]x", r#"{"hook": []}"#, incomplete] {
        let world = with_hook(&json!({"command": "true"}));
        let hooks = approved(&world);
        let good = world.read(file);
        world.write(file, broken);
        hooks.reload();
        let refused = hooks.approve_with(|_| panic!("{broken} is shown"));
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("hooks.json"), "{broken}: {error}");
        world.write(file, &good);
        hooks.reload();
        assert!(hooks.report().unapproved.is_empty(), "{broken}");
    }
}

#[test]
fn what_inputs_name_is_covered_however_it_is_reached() {
    for (inputs, changed) in [
        (json!(["lib/*.json"]), "shared/a.json"),
        (json!(["link/*.json"]), "shared/a.json"),
        (json!([".//shared/./*.json"]), "shared/a.json"),
        (json!(["lib/../shared/*.json"]), "shared/a.json"),
        (json!(["odd[1]"]), "odd[1]/a.json"),
        (json!(["data", "data/*.json"]), "data/a.json"),
        (json!([".myagent/hooks"]), ".myagent/hooks/a.sh"),
    ] {
        let world = with_hook(&json!({"command": "true", "inputs": inputs}));
        let files = [
            "shared/a.json",
            "odd[1]/a.json",
            "data/a.json",
            ".git/x.json",
        ];
        for name in files.into_iter().chain([".myagent/hooks/a.sh"]) {
            world.write(&format!("project/{name}"), "1");
        }
        link(&world, "lib/a.json", "../shared/a.json");
        link(&world, "link", "shared");
        // Data that no way but one looks at, and git's own files.
        let large = File::create(world.path(&format!("{HOOKS}/large.bin"))).unwrap();
        large.set_len(17 << 20).unwrap();
        let hooks = approved(&world);
        world.write("project/.git/x.json", "2");
        assert_eq!(lost(&hooks), None, "{inputs}");
        world.write(&format!("project/{changed}"), "2");
        let name = changed.rsplit('/').next().unwrap();
        blocks(&hooks, &format!("{name}` has changed"));
    }
}

#[test]
fn a_script_is_found_wherever_the_command_goes() {
    for command in [
        "cd sub && sh \"$PWD/x.sh\"",
        "sh ../project/sub/x.sh",
        "cd .. && sh project/sub/x.sh",
        // The parent of a link is that of its target.
        "cd sub/link/.. && sh ./x.sh",
        "sh sub/link/../x.sh",
    ] {
        let world = with_hook(&json!({"command": command}));
        let name = if command.contains("sh sub/link") {
            "far/x.sh"
        } else {
            "sub/x.sh"
        };
        world.write(&format!("project/{name}"), "true\n");
        world.write("project/far/away/y", "");
        link(&world, "sub/link", "../far/away");
        let hooks = approved(&world);
        world.write(&format!("project/{name}"), "false\n");
        blocks(&hooks, &format!("`{name}` has changed"));
    }
}
