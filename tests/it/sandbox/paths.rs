//! Tests of a sandbox's paths: they contain no link.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use forge_hooks::config::TrustPolicy;
use forge_hooks::{AppProfile, FailureKind, HookResult, Hooks, Sandbox};
use serde_json::{Value, json};

use super::{confined, is_possible};
use crate::support::{World, blocking_event, run_alone};

/// Checks that the hook has failed before its process was started, for this reason.
#[track_caller]
fn is_refused(result: &HookResult, expected: &str) {
    assert_eq!(result.failure(), Some(FailureKind::NoSandbox), "{result:?}");
    let error = result.error().unwrap();
    assert!(error.contains(expected), "{error}\n  not {expected}");
    assert!(!result.should_continue() && result.pid().is_none());
}

/// In `path`, `@` is the directory of the test, and `+` one elsewhere, whose link `alias` leads to the first.
#[test]
fn a_path_of_a_sandbox_stays_where_it_begins() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(world.path("dir/below")).unwrap();
    world.write("file", "");
    symlink(outside.path(), world.path("out")).unwrap();
    symlink("dir", world.path("in")).unwrap();
    symlink("nowhere", world.path("dangling")).unwrap();
    symlink(world.directory(), outside.path().join("alias")).unwrap();
    let directory = world.directory().display().to_string();
    let elsewhere = outside.path().to_str().unwrap();
    for (path, expected) in [
        (".", Ok("dir/x")),
        ("dir", Ok("dir/x")),
        ("dir/below/..", Ok("dir/x")),
        ("missing/../dir", Ok("dir/x")),
        ("@/dir", Ok("dir/x")),
        ("@/missing/../dir/", Ok("dir/x")),
        ("~", Ok("")),
        ("file", Ok("file")),
        ("+", Ok("+/x")),
        (
            "missing",
            Err("`sandbox.write`: `missing` is not there (`@/missing`)"),
        ),
        (
            "file/below",
            Err("`file/below` is not there (`@/file/below`)"),
        ),
        ("..", Err("leads out of `@`, to")),
        ("dir/../../x", Err("leads out of `@`, to")),
        (
            "in",
            Err(
                "`sandbox.write`: `in` is a link to `dir` (`@/in`), and a link can be replaced: if that place is meant, write `@/dir`",
            ),
        ),
        (
            "in/below",
            Err(
                "`in/below` leads through a link to `dir` (`@/in`), and a link can be replaced: if that place is meant, write `@/dir/below`",
            ),
        ),
        (
            "dangling",
            Err(
                "`dangling` is a link to `nowhere` (`@/dangling`), and there is nothing at `@/dangling`",
            ),
        ),
        ("out", Err("`out` is a link to `+` (`@/out`)")),
        ("@/out", Err("`@/out` is a link to `+` (`@/out`)")),
        ("dir/../out", Err("`dir/../out` is a link to `+` (`@/out`)")),
        (
            "+/alias/out",
            Err(
                "leads through a link to `@` (`+/alias`), and a link can be replaced: if that place is meant, write `+`",
            ),
        ),
        ("+/alias/dir", Err("if that place is meant, write `@/dir`")),
        ("~root", Err("`~root` is not a path: after `~` comes `/`")),
    ] {
        let full = |text: &str| text.replace('@', &directory).replace('+', elsewhere);
        let path = full(path);
        let file = expected.ok().filter(|file| !file.is_empty());
        let command = format!(": >{}", full(file.unwrap_or("/dev/null")));
        let result = world.one(confined(&command, Sandbox::new().writing([path.as_str()])));
        match expected {
            Ok(_) => assert_eq!(result.exit_code(), 0, "{path}: {result:?}"),
            Err(words) => is_refused(&result, &full(words)),
        }
    }
    let result = world.one(confined("ls dir", Sandbox::new().reading(["file"])));
    assert!(!result.success());
}

/// A project whose repository has the link `build -> .git/hooks`.
struct Project {
    world: World,
}

impl Project {
    fn new() -> Self {
        let world = World::new();
        std::fs::create_dir_all(world.path("p/.git/hooks")).unwrap();
        std::fs::create_dir_all(world.path("p/src")).unwrap();
        symlink(".git/hooks", world.path("p/build")).unwrap();
        Self { world }
    }

    /// Loads these entries of the project and of the user.
    fn load(&self, project: &Value, user: &Value, of_host: Option<Sandbox>) -> Hooks {
        let file = |entries: &Value| json!({"hooks": entries}).to_string();
        self.world.write("p/.agent/hooks.json", &file(project));
        self.world.write("config/agent/hooks.json", &file(user));
        let hooks = Hooks::builder(AppProfile::new("agent"))
            .config_home(self.world.path("config"))
            .project(self.world.path("p"))
            .trust(TrustPolicy::Everything)
            .executor(forge_hooks::HookExecutor::builder().working_dir(self.world.path("p")));
        match of_host {
            Some(sandbox) => hooks.sandbox_projects(sandbox).load(),
            None => hooks.load(),
        }
    }

    fn path(&self, name: &str) -> String {
        self.world.path(name).display().to_string()
    }
}

/// The command of a hook that changes what git runs.
const ATTACK: &str = "for place in .git/hooks ../.git/hooks .; do : >$place/pre-commit; done; true";

#[test]
fn a_project_does_not_choose_by_a_link_what_a_path_means() {
    if !is_possible() {
        return;
    }
    let project = Project::new();
    let whole = project.path("p/build");
    let entry = |more: Value| {
        let mut entry = json!({"event": "*", "command": ATTACK});
        entry
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!([entry])
    };
    let none = json!([]);
    let host = |path: &str| Some(Sandbox::new().writing([path]));
    let own = |path: &str| entry(json!({"sandbox": {"write": [path]}}));
    let in_build = entry(json!({"working_dir": "build", "sandbox": {"write": ["."]}}));
    let plain_in_build = entry(json!({"working_dir": "build"}));
    let in_src = entry(json!({"working_dir": "src", "sandbox": {"write": ["../build"]}}));
    let dotted = entry(json!({"working_dir": "src/../build", "sandbox": true}));
    let build = "`build` is a link to `.git/hooks`";
    for (of_project, of_user, of_host, expected) in [
        (entry(json!({})), none.clone(), host("build"), build),
        (
            entry(json!({})),
            none.clone(),
            host(&whole),
            "is a link to `.git/hooks`",
        ),
        (own("build"), none.clone(), None, build),
        (own(&whole), none.clone(), None, "is a link to `.git/hooks`"),
        (
            in_build.clone(),
            none.clone(),
            None,
            "`working_dir`: `build` is a link",
        ),
        (
            plain_in_build,
            none.clone(),
            host("src"),
            "`working_dir`: `build` is a link",
        ),
        (
            in_src,
            none.clone(),
            None,
            "`../build` is a link to `.git/hooks`",
        ),
        (
            dotted,
            none.clone(),
            None,
            "`working_dir`: `src/../build` is a link",
        ),
        (none.clone(), own("build"), None, build),
        (none.clone(), own(&whole), None, "is a link to `.git/hooks`"),
        (
            none.clone(),
            in_build,
            None,
            "`working_dir`: `build` is a link",
        ),
    ] {
        let hooks = project.load(&of_project, &of_user, of_host);
        let outcome = hooks.execute(&blocking_event());
        assert_eq!(outcome.results().len(), 1, "{outcome:?}");
        is_refused(&outcome.results()[0], expected);
        assert!(!Path::new(&project.path("p/.git/hooks/pre-commit")).exists());
    }
    // Without a sandbox, a working directory may be a link.
    let free = json!([{"event": "*", "command": "true", "working_dir": "build"}]);
    assert!(
        project
            .load(&free, &none, None)
            .execute(&blocking_event())
            .allowed()
    );
}

/// A hook that may write `cache` makes a part of it a link, and would let the next one write elsewhere.
#[test]
fn a_hook_does_not_widen_the_next_one() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    for name in ["cache/pip", "ssh", "work/p"] {
        std::fs::create_dir_all(world.path(name)).unwrap();
    }
    let [cache, pip, ssh] =
        ["cache", "cache/pip", "ssh"].map(|name| world.path(name).display().to_string());
    let replaces = format!("rm -r {pip} && ln -s {ssh} {pip}");
    let result = world.one(confined(&replaces, Sandbox::new().writing([&*cache])));
    assert!(result.success(), "{result:?}");
    let command = format!(": >{ssh}/authorized_keys");
    let result = world.one(confined(&command, Sandbox::new().writing([&*pip])));
    is_refused(&result, &format!("is a link to `{ssh}` (`{pip}`)"));
    assert!(!world.path("ssh/authorized_keys").exists());
}

/// The same with `~`, in a process of its own: the home directory is a variable.
#[test]
fn a_hook_does_not_widen_the_next_one_in_the_home_directory() {
    const NAME: &str = "sandbox::paths::a_hook_does_not_widen_the_next_one_in_the_home_directory";
    const HOME: &str = "FORGE_HOOKS_TEST_HOME";
    if !is_possible() {
        return;
    }
    let Some(home) = std::env::var_os(HOME) else {
        let world = World::new();
        for name in ["real/.cache", "real/.ssh"] {
            std::fs::create_dir_all(world.path(name)).unwrap();
        }
        symlink("../.ssh", world.path("real/.cache/pip")).unwrap();
        // A base may be a link: no hook has chosen it.
        symlink("real", world.path("home")).unwrap();
        let home = world.path("home");
        run_alone(NAME, |test| test.env("HOME", &home).env(HOME, &home));
        return;
    };
    let world = World::new();
    let key = Path::new(&home).join(".ssh/x");
    let run = |path: &str| {
        let command = format!(": >'{}'", key.display());
        world.one(confined(&command, Sandbox::new().writing([path])))
    };
    for path in ["~/.cache/pip", "~/../real/.cache/pip"] {
        is_refused(&run(path), "is a link to `../.ssh`");
    }
    assert!(!key.exists());
    assert!(run("~/.ssh").success() && key.exists());
}

/// `..` behind a link would lead to the parent of its target.
#[test]
fn a_hook_begins_where_its_path_was_checked() {
    if !is_possible() {
        return;
    }
    let project = Project::new();
    std::fs::create_dir(project.path("p/.git/src")).unwrap();
    let entry =
        json!({"event": "*", "command": "pwd -P", "working_dir": "build/../src", "sandbox": true});
    let hooks = project.load(&json!([entry]), &json!([]), None);
    let outcome = hooks.execute(&blocking_event());
    let src = project.world.path("p/src").canonicalize().unwrap();
    let result = &outcome.results()[0];
    assert_eq!(result.stdout().trim(), src.to_str().unwrap(), "{result:?}");
}

/// A directory that is created at the path later has no link.
#[test]
fn a_directory_that_was_missing_becomes_no_link() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    let late = world.path("late");
    std::fs::create_dir(world.path("other")).unwrap();
    let executor = forge_hooks::HookExecutor::builder()
        .working_dir(&late)
        .build();
    let hook = confined(": >x", Sandbox::new().writing(["."]));
    executor.registry().register(hook);
    let fire = || executor.execute(&blocking_event(), forge_hooks::FireOptions::new());
    symlink(world.path("other"), &late).unwrap();
    is_refused(&fire().results()[0], "is a link to");
    assert!(!world.path("other/x").exists());
    std::fs::remove_file(&late).unwrap();
    std::fs::create_dir(&late).unwrap();
    assert!(fire().allowed());
    assert!(late.join("x").exists());
}

/// Its place is that which it had when its files were loaded, and when the executor was built.
#[test]
fn a_project_that_is_replaced_by_a_link_is_not_followed() {
    if !is_possible() {
        return;
    }
    let entries = json!([{"event": "*", "command": ": >x", "sandbox": {"write": ["."]}}]);
    let none = json!([]);
    for (of_project, of_user) in [(&entries, &none), (&none, &entries)] {
        let project = Project::new();
        let hooks = project.load(of_project, of_user, None);
        let [p, other] = ["p", "other"].map(|name| project.world.path(name));
        std::fs::create_dir(&other).unwrap();
        std::fs::rename(&p, project.world.path("before")).unwrap();
        symlink(&other, &p).unwrap();
        let outcome = hooks.execute(&blocking_event());
        is_refused(&outcome.results()[0], "is a link to");
        assert!(!other.join("x").exists());
    }
}

/// On most systems `/bin` is a link. The kernel's own links depend on the process.
#[test]
fn no_link_of_the_system_is_followed() {
    if !is_possible() || !Path::new("/bin").is_symlink() {
        return;
    }
    let world = World::new();
    for (path, expected) in [
        (
            "/bin/sh",
            "`/bin/sh` leads through a link to `usr/bin` (`/bin`), and a link can be replaced: if that place is meant, write `/usr/bin/",
        ),
        ("/proc/self/cwd", "leads through a link to"),
        ("/proc/self/root/etc", "leads through a link to"),
    ] {
        is_refused(
            &world.one(confined("exit 3", Sandbox::new().reading([path]))),
            expected,
        );
    }
}

/// Another process makes the path a link and a directory again, all the time.
#[test]
fn a_link_that_comes_in_between_is_not_followed() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    for name in ["place", "secret"] {
        std::fs::create_dir(world.path(name)).unwrap();
    }
    symlink("secret", world.path("link")).unwrap();
    let command = "for name in secret link; do (: >$name/x) 2>/dev/null; done; true";
    let is_over = AtomicBool::new(false);
    let (mut runs, mut refusals) = (0, 0);
    thread::scope(|scope| {
        let (world, is_over) = (&world, &is_over);
        scope.spawn(move || {
            let [place, link, aside] = ["place", "link", "aside"].map(|name| world.path(name));
            while !is_over.load(Ordering::Relaxed) {
                std::fs::rename(&place, &aside).unwrap();
                std::fs::rename(&link, &place).unwrap();
                std::fs::rename(&place, &link).unwrap();
                std::fs::rename(&aside, &place).unwrap();
            }
        });
        while runs < 20 || refusals < 20 {
            let result = world.one(confined(command, Sandbox::new().writing(["place"])));
            match result.failure() {
                None => runs += 1,
                failure => {
                    assert_eq!(failure, Some(FailureKind::NoSandbox), "{result:?}");
                    refusals += 1;
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(!world.path("secret/x").exists());
}
