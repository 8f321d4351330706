//! The recipe for Ctrl-C in docs/embedding.md: a hook ends with its host. The Rust code of the page is compiled with the
//! documentation.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forge_hooks::{AppProfile, EventType, HookEvent, Hooks};
use rustix::process::{Pid, Signal, kill_process};

use crate::pages::blocks_of;
use crate::support::{World, blocking_event, eventually, is_alive};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

const DIRECTORY: &str = "FORGE_HOOKS_TEST_HOST";

/// The host of the page. Only runs in a process that the tests below have started.
#[test]
fn the_host_of_the_recipe() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let hooks = Hooks::builder(AppProfile::new("myagent"))
        .config_home(directory)
        .load();
    let at_end = hooks.clone();
    ctrlc::set_handler(move || {
        INTERRUPTED.store(true, Ordering::SeqCst);
        at_end.shutdown(Duration::ZERO);
        std::process::exit(130);
    })
    .unwrap();
    let _ = hooks.execute(&HookEvent::new(EventType::SessionStart));
    let outcome = hooks.execute(&blocking_event());
    while INTERRUPTED.load(Ordering::SeqCst) {
        std::thread::park();
    }
    // The handler has ended the process.
    panic!("not interrupted: {outcome:?}");
}

fn start(world: &World) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "page_embedding::the_host_of_the_recipe"])
        .env(DIRECTORY, world.directory())
        .stdout(Stdio::null());
    command.spawn().unwrap()
}

fn pid_in(world: &World, file: &str) -> String {
    eventually(file, || {
        world.path(file).exists() && world.read(file).ends_with('\n')
    });
    world.read(file)
}

#[test]
fn ctrl_c_ends_the_host_and_its_hooks() {
    let world = World::new();
    let hook = |event: &str, extra: &str, file: &str| {
        let path = world.path(file);
        let command = format!("echo $$ >{}; sleep 60; exit 0", path.display());
        format!(r#"{{"event": "{event}", "command": "{command}"{extra}}}"#)
    };
    let background = hook("session:start", r#", "background": true"#, "background");
    let guard = hook("tool:*", r#", "timeout": 60"#, "guard");
    let text = format!(r#"{{"hooks": [{background}, {guard}]}}"#);
    world.write("myagent/hooks.json", &text);
    let mut host = start(&world);
    let hooks = [pid_in(&world, "background"), pid_in(&world, "guard")];
    let pid = Pid::from_child(&host);
    kill_process(pid, Signal::INT).unwrap();
    let status = host.wait().unwrap();
    assert_eq!((status.code(), status.signal()), (Some(130), None));
    for hook in hooks {
        eventually("the hook has ended", || !is_alive(&hook));
    }
}

/// The test has the code of the page.
#[test]
fn the_page_has_the_recipe() {
    let blocks = blocks_of("docs/embedding.md");
    let recipe = blocks.iter().find(|block| block.code.contains("ctrlc::"));
    let recipe = &recipe.unwrap().code;
    for line in [
        "let at_end = hooks.clone();",
        "INTERRUPTED.store(true, Ordering::SeqCst);",
        "at_end.shutdown(Duration::ZERO);",
        "std::process::exit(130);",
        "let outcome = hooks.execute(&",
        "while INTERRUPTED.load(Ordering::SeqCst) {",
        "std::thread::park();",
    ] {
        assert!(recipe.contains(line), "{line}: {recipe}");
    }
}
