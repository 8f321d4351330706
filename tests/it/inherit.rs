//! Which variables of the host's own environment a hook finds.

use forge_hooks::{Hook, HookExecutorBuilder};

use crate::support::{World, alone_with, custom};

/// The names in the environment of this hook, but for the event's.
fn found(
    settings: impl FnOnce(HookExecutorBuilder) -> HookExecutorBuilder,
    change: impl FnOnce(Hook) -> Hook,
) -> Vec<String> {
    let world = World::with(settings);
    let hook = change(Hook::program("*", ["/usr/bin/env"]).unwrap());
    let result = world.run(hook, &custom("x:y"));
    assert!(result.success(), "{result:?}");
    let names = result.stdout.lines().map(|line| line.split('=').next());
    let is_ours = |name: &str| name.starts_with("FORGE_") || name.starts_with("OPENCODE_");
    let others = names.flatten().filter(|name| !is_ours(name));
    let mut others: Vec<_> = others.map(str::to_owned).collect();
    others.sort();
    others
}

#[test]
fn a_hook_inherits_what_it_names() {
    let own = [("LC_ALL", "C"), ("LC_X", "x"), ("SECRET", "s")];
    if !alone_with("inherit::a_hook_inherits_what_it_names", &own) {
        return;
    }
    let as_is = found(|it| it, |it| it).join(" ");
    assert!(
        as_is.contains("SECRET") && as_is.contains("PATH"),
        "{as_is}"
    );
    // The lists of the host and of the hook, which replaces it.
    for (of_host, of_hook, expected) in [
        (None, Some(""), "PATH PWD"),
        (None, Some("LC_* NONE"), "LC_ALL LC_X PATH PWD"),
        (Some("PATH SECRET"), None, "PATH PWD SECRET"),
        (Some("PATH SECRET"), Some("LC_ALL"), "LC_ALL PATH PWD"),
    ] {
        let names = found(
            |it| match of_host {
                Some(names) => it.inherit(names.split(' ')),
                None => it,
            },
            |it| match of_hook {
                Some(names) => it.with_inherit(names.split(' ').filter(|it| !it.is_empty())),
                None => it,
            },
        );
        assert_eq!(names.join(" "), format!("EVENT_TYPE {expected}"));
    }
    // A variable of the hook's own needs no name in the list.
    let names = found(
        |it| it,
        |it| it.with_inherit([""; 0]).with_env("SECRET", "own"),
    );
    assert_eq!(names.join(" "), "EVENT_TYPE PATH PWD SECRET");
}

#[test]
fn a_program_is_found_on_the_hooks_path() {
    let world = World::new();
    let program = Hook::program("*", ["only-here"]).unwrap();
    let error = world.one(program.with_inherit([""; 0])).error.unwrap();
    assert!(error.contains("not found"), "{error}");
    // Without one, in the system's directories.
    let sh = Hook::program("*", ["sh", "-c", "exit 0"]).unwrap();
    assert!(world.one(sh.with_inherit([""; 0])).success());
    // bash has one of its own, which ends with the working directory.
    world.script("mytool", "#!/bin/sh\necho project\n");
    let bash = Hook::program("*", ["/bin/bash", "-c", "mytool; true"]).unwrap();
    let result = world.one(bash.with_inherit(["HOME"]));
    assert_eq!(result.stdout, "", "{result:?}");
}
