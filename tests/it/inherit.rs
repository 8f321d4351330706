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
    world.registry().register(hook);
    let result = &world.fire(&custom("x:y"))[0];
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
    let own = [
        ("LC_ALL", "C"),
        ("LC_X", "x"),
        ("FORGE_ERROR", "above"),
        ("SECRET", "s"),
    ];
    if !alone_with("inherit::a_hook_inherits_what_it_names", &own) {
        return;
    }
    let ours = ["EVENT_TYPE", "PATH", "PWD"];
    let with = |names: &[&'static str]| {
        let mut all = [&ours[..], names].concat();
        all.sort_unstable();
        all
    };
    let as_is = found(|it| it, |it| it);
    assert!(as_is.contains(&"SECRET".to_owned()) && as_is.contains(&"PATH".to_owned()));
    let own =
        |names: &'static [&'static str]| move |hook: Hook| hook.with_inherit(names.iter().copied());
    assert_eq!(found(|it| it, own(&[])), with(&[]));
    assert_eq!(
        found(|it| it, own(&["LC_*", "NONE"])),
        with(&["LC_ALL", "LC_X"])
    );
    // The hook's own list replaces the host's.
    let host = |it: HookExecutorBuilder| it.inherit(["PATH", "SECRET"]);
    assert_eq!(found(host, |it| it), with(&["SECRET"]));
    assert_eq!(found(host, own(&["LC_ALL"])), with(&["LC_ALL"]));
    let set = |hook: Hook| hook.with_inherit(["LC_ALL"]).with_env("SECRET", "own");
    assert_eq!(found(host, set), with(&["LC_ALL", "SECRET"]));
}

/// An event's variable of a host that a hook has started is another event's.
#[test]
fn variables_of_other_events_are_removed() {
    const TEST: &str = "inherit::variables_of_other_events_are_removed";
    let above = [
        ("FORGE_ERROR", "above"),
        ("FORGE_OTHER", "1"),
        ("FORGE_HOOK_VARIABLES", "FORGE_EVENT FORGE_ERROR"),
    ];
    if !alone_with(TEST, &above) {
        return;
    }
    let world = World::new();
    let hook = Hook::program("*", ["/usr/bin/env"]).unwrap();
    let result = world.one(hook.with_inherit(["FORGE_*"]));
    assert!(result.stdout.contains("FORGE_OTHER=1"), "{result:?}");
    assert!(!result.stdout.contains("FORGE_ERROR"), "{result:?}");
}

#[test]
fn a_program_is_found_on_the_hooks_path() {
    let world = World::new();
    let script = world.script("bin/only-here", "#!/bin/sh\nexit 0\n");
    let program = || Hook::program("*", ["only-here"]).unwrap();
    let path = script.parent().unwrap().to_str().unwrap();
    assert!(
        world
            .one(program().with_inherit(["PATH"]).with_env("PATH", path))
            .success()
    );
    // Without one, in the system's directories.
    assert!(
        world
            .one(
                Hook::program("*", ["sh", "-c", "exit 0"])
                    .unwrap()
                    .with_inherit([""; 0])
            )
            .success()
    );
    let result = world.one(program().with_inherit([""; 0]));
    assert!(
        result
            .error
            .is_some_and(|error| error.contains("not found"))
    );
}

/// bash has one of its own, which ends with the working directory.
#[test]
fn an_empty_path_does_not_search_the_project() {
    let world = World::new();
    world.script("mytool", "#!/bin/sh\necho project\n");
    let hook = Hook::program("*", ["/bin/bash", "-c", "mytool; true"]).unwrap();
    let result = world.one(
        hook.with_inherit(["HOME"])
            .with_working_dir(world.directory()),
    );
    assert_eq!(result.stdout, "", "{result:?}");
}
