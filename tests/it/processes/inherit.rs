//! The variables that a hook inherits from the host's own environment.

use forge_hooks::Hook;

use crate::support::{World, alone_with, custom};

/// The names in the environment of a hook with a variable `OWN`, but for the event's: with the lists of its host and of
/// its own.
fn found(of_host: Option<&str>, of_hook: Option<&str>) -> String {
    let world = World::with(|builder| match of_host {
        Some(names) => builder.inherit(names.split_whitespace()),
        None => builder,
    });
    let env = Hook::program("*", ["/usr/bin/env"]).unwrap();
    let env = match of_hook {
        Some(names) => env.with_inherit(names.split_whitespace()),
        None => env,
    };
    let result = world.run(env.with_env("OWN", "1"), &custom("x:y"));
    assert!(result.success(), "{result:?}");
    let names = result.stdout().lines().map(|line| line.split('=').next());
    let is_ours = |name: &str| name.starts_with("FORGE_") || name.starts_with("OPENCODE_");
    let mut others: Vec<_> = names.flatten().filter(|name| !is_ours(name)).collect();
    others.sort_unstable();
    others.join(" ")
}

#[test]
fn a_hook_inherits_what_it_names() {
    let own = [("LC_ALL", "C"), ("LC_X", "x"), ("SECRET", "s")];
    if !alone_with("processes::inherit::a_hook_inherits_what_it_names", &own) {
        return;
    }
    let all = found(None, None);
    assert!(all.contains("PATH") && all.contains("SECRET"), "{all}");
    // The hook's list replaces the host's.
    for (of_host, of_hook, expected) in [
        (None, Some(""), "OWN PATH PWD"),
        (None, Some("LC_* NONE"), "LC_ALL LC_X OWN PATH PWD"),
        (Some("PATH SECRET"), None, "OWN PATH PWD SECRET"),
        (Some("PATH SECRET"), Some("LC_ALL"), "LC_ALL OWN PATH PWD"),
    ] {
        let found = found(of_host, of_hook);
        assert_eq!(found, format!("EVENT_TYPE {expected}"));
    }
}

#[test]
fn a_program_is_found_on_the_hooks_path() {
    let world = World::new();
    let program = Hook::program("*", ["only-here"]).unwrap();
    let result = world.one(program.with_inherit([""; 0]));
    let error = result.error().unwrap();
    assert!(error.contains("not found"), "{error}");
    // Without one, in the system's directories.
    let sh = Hook::program("*", ["sh", "-c", "exit 0"]).unwrap();
    assert!(world.one(sh.with_inherit([""; 0])).success());
    // bash has one of its own, which ends with the working directory.
    world.script("mytool", "#!/bin/sh\necho project\n");
    let bash = Hook::program("*", ["/bin/bash", "-c", "mytool; true"]).unwrap();
    let result = world.one(bash.with_inherit(["HOME"]));
    assert_eq!(result.stdout(), "", "{result:?}");
}
