//! Every way in which a hook starts is confined, and the host never is.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use forge_hooks::compat::{Agent, CLAUDE, CODEX, OtherAgents};
use forge_hooks::config::TrustPolicy;
use forge_hooks::hook::May;
use forge_hooks::{AppProfile, Hook, HookEvent, Hooks, Sandbox};
use serde_json::json;

use super::{confined, is_possible};
use crate::support::{World, blocking_event, eventually};

/// Writes its temporary directory, and tries to write outside of it.
const WRITES: &str = "echo \"$TMPDIR\" && : >\"$TMPDIR/own\" && ! (: >outside)";

/// Answers each line of a kept process with what it could write.
const KEPT: &str = r#"
while IFS= read -r event; do
    id=${event##*\"id\":\"}
    wrote=none; (: >outside) 2>/dev/null && wrote=outside
    printf '{"id":"%s","additionalContext":"%s %s"}\n' "${id%\"\}}" "$wrote" "$TMPDIR"
done
"#;

#[test]
fn every_start_is_confined() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    world.script("script", &format!("#!/bin/sh\n{WRITES}\n"));
    for hook in [
        Hook::new("*", WRITES).unwrap(),
        Hook::new("*", "./script").unwrap(),
        Hook::program("*", ["./script"]).unwrap(),
        Hook::program("*", ["sh", "-c", WRITES]).unwrap(),
    ] {
        let result = world.one(hook.with_sandbox(Sandbox::new()));
        assert_eq!(result.exit_code(), 0, "{result:?}");
        let own = PathBuf::from(result.stdout().trim());
        assert!(own.is_absolute() && !own.exists(), "{own:?} is removed");
        assert!(!world.path("outside").exists());
    }
    let background = format!("({WRITES}); echo $? >\"$DONE/done\"");
    let done = world.path("done");
    std::fs::create_dir(&done).unwrap();
    let background = confined(&background, Sandbox::new().writing(["done"]))
        .with_env("DONE", done.to_str().unwrap())
        .with_background();
    world.add(background);
    world.fire(&blocking_event());
    world.await_file("done/done");
    eventually("it has ended", || world.read("done/done") == "0\n");
    assert!(!world.path("outside").exists());
}

#[test]
fn a_kept_process_is_confined_as_its_hook_is() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    world.write("kept.sh", KEPT);
    let kept = |sandbox: Option<Sandbox>| {
        let hook = Hook::program("*", ["sh", "kept.sh"])
            .unwrap()
            .with_resident()
            .with_may([May::AddContext]);
        let result = world.one(match sandbox {
            Some(sandbox) => hook.with_sandbox(sandbox),
            None => hook,
        });
        let context = result
            .output()
            .and_then(|output| output.additional_context.clone());
        let context = context.unwrap_or_else(|| panic!("{result:?}"));
        assert_eq!(result.residency(), Some("started"));
        let (wrote, own) = context.split_once(' ').unwrap();
        (wrote.to_owned(), own.to_owned())
    };
    let first = kept(Some(Sandbox::new()));
    assert_eq!(first.0, "none", "{first:?}");
    assert!(
        PathBuf::from(&first.1).exists(),
        "it lives as long as the process"
    );
    assert_eq!(kept(Some(Sandbox::new().writing(["."]))).0, "outside");
    assert_eq!(kept(None).0, "outside");
    drop(world);
    eventually("its directory is removed", || {
        !PathBuf::from(&first.1).exists()
    });
}

/// The same entry of two owners: what the host confines is not the user's process. So it is under another sandbox of the host.
#[test]
fn a_kept_process_serves_no_hook_that_is_confined_otherwise() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    world.write("kept.sh", KEPT);
    let args = ["sh", "kept.sh"];
    let entry = json!({"event": "*", "args": args, "resident": true, "may": ["add_context"], "working_dir": world.directory()});
    let file = json!({"hooks": [entry]}).to_string();
    world.write("config/agent/hooks.json", &file);
    world.write(".agent/hooks.json", &file);
    let load = |sandbox: Sandbox| {
        Hooks::builder(AppProfile::new("agent"))
            .config_home(world.path("config"))
            .project(world.directory())
            .trust(TrustPolicy::Everything)
            .sandbox_projects(sandbox)
            .load()
    };
    let hooks = load(Sandbox::new());
    let writing = load(Sandbox::new().writing(["."]));
    let of_project = writing.executor().registry().hooks().into_iter().skip(1);
    hooks.executor().registry().load_hooks(of_project);
    let outcome = hooks.execute(&blocking_event());
    let context = outcome.additional_context().unwrap_or_default();
    let wrote: Vec<_> = context
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(wrote, ["outside", "none", "outside"], "{outcome:?}");
    let kept = |result: &forge_hooks::HookResult| result.residency() == Some("started");
    assert!(outcome.results().iter().all(kept), "{outcome:?}");
}

#[test]
fn a_host_confines_all_hooks_of_projects() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    let writes = |name: &str| {
        let socket = "bash -c ': 3<>/dev/udp/127.0.0.1/9'";
        let files = format!("(: >shared/{name}); (: >other/{name}); chmod 600 modes/{name}");
        format!("{files}; {socket} && touch shared/socket-{name}; true")
    };
    let entry =
        |name: &str, sandbox| json!({"event": "*", "command": writes(name), "sandbox": sandbox});
    let own = json!({"hooks": [
        entry("plain", json!(false)),
        entry("narrow", json!(true)),
        entry("wide", json!({"write": ["."], "network": true})),
    ]});
    world.write(".agent/hooks.json", &own.to_string());
    let user = json!({"hooks": [{"event": "*", "command": writes("user")}]});
    world.write("config/agent/hooks.json", &user.to_string());
    let handler = json!({"type": "command", "command": "echo ${CLAUDE_ENV_FILE-none}; (: >shared/other); (: >other/other); true"});
    let settings = json!({"hooks": {"SessionStart": [{"hooks": [handler]}]}});
    world.write(".claude/settings.json", &settings.to_string());
    // This file belongs to the project too, although the user has named it.
    let named = world.write(
        ".claude/settings.local.json",
        &settings.to_string().replace("/other)", "/named)"),
    );
    for name in ["shared", "other"] {
        std::fs::create_dir(world.path(name)).unwrap();
    }
    let names = ["user", "plain", "narrow", "wide"];
    for name in names {
        world.script(&format!("modes/{name}"), "");
    }
    let tools = OtherAgents::new([CLAUDE]).with_home(world.path("home"));
    let tools = tools.with_settings(CLAUDE, named);
    let hooks = Hooks::builder(AppProfile::new("agent"))
        .config_home(world.path("config"))
        .project(world.directory())
        .other_agents(tools)
        .trust(TrustPolicy::Everything)
        .sandbox_projects(Sandbox::new().writing(["shared"]))
        .executor(forge_hooks::HookExecutor::builder().working_dir(world.directory()))
        .load();
    let outcome = hooks.execute(&HookEvent::session_start("s"));
    assert_eq!(outcome.results().len(), 6, "{outcome:?}");
    for (file, is_there) in [
        ("shared/user", true),
        ("other/user", true),
        ("shared/plain", true),
        ("other/plain", false),
        ("shared/narrow", false),
        ("other/narrow", false),
        ("shared/wide", true),
        ("other/wide", false),
        ("shared/socket-user", true),
        ("shared/socket-plain", false),
        ("shared/socket-wide", false),
        ("shared/other", true),
        ("other/other", false),
        ("shared/named", true),
        ("other/named", false),
    ] {
        assert_eq!(world.path(file).exists(), is_there, "{file}");
    }
    let mode = |name: &str| world.path(&format!("modes/{name}")).metadata().unwrap();
    let is_changed = |name: &&str| mode(name).permissions().mode() & 0o777 == 0o600;
    let changed: Vec<_> = names.into_iter().filter(is_changed).collect();
    assert_eq!(changed, ["user", "plain", "wide"]);
    let output: String = outcome
        .results()
        .iter()
        .map(|result| result.stdout())
        .collect();
    assert_eq!(
        output, "none\nnone\n",
        "no file for the session's variables"
    );
}

/// A file of the project that an agent loads by itself counts as the project's, even if the host names it.
#[test]
fn a_host_confines_what_it_names_of_a_project() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    let files = [
        ".codex/hooks.json",
        ".claude/settings.json",
        "vendor/y/hooks/hooks.json",
        "own/hooks.json",
        "../out/hooks/hooks.json",
    ];
    let place = |name: &str| world.path("p").join(name);
    for file in files {
        let name = file.replace('/', "-");
        let command = format!(": >'{}'; true", world.path(&name).display());
        let handler = json!({"type": "command", "command": command});
        let settings = json!({"hooks": {"SessionStart": [{"hooks": [handler]}]}});
        world.write(&format!("p/{file}"), &settings.to_string());
    }
    symlink(place(".codex"), world.path("alias")).unwrap();
    // A link out of the project, which a repository or a hook may have made.
    let out = world.path("out");
    let local = place(".claude/settings.local.json");
    symlink(out.join("hooks/hooks.json"), &local).unwrap();
    let tools = |agents: &[&'static Agent]| {
        let home = world.path("home");
        OtherAgents::new(agents.iter().copied()).with_home(home)
    };
    let both = [CLAUDE, CODEX];
    let alias = world.path("alias/hooks.json");
    // The agents that are read; what is named, as of which agent; the file in it; whether it is confined.
    for (agents, named, agent, file, is_confined) in [
        (&both[..], place(files[0]), CODEX, files[0], true),
        (&both, alias.clone(), CODEX, files[0], true),
        (&both[..1], alias, CODEX, files[0], true),
        (&both, place(files[0]), CLAUDE, files[0], true),
        (&both[..1], place(files[0]), CODEX, files[0], true),
        (&both, place(files[1]), CLAUDE, files[1], true),
        (&both, place("vendor/y"), CODEX, files[2], false),
        (&both, place(files[3]), CLAUDE, files[3], false),
        (&both, local, CLAUDE, files[4], true),
        (&both, out.join("hooks/hooks.json"), CLAUDE, files[4], false),
    ] {
        let hooks = Hooks::builder(AppProfile::new("agent"))
            .config_home(world.path("config"))
            .project(world.path("p"))
            .other_agents(tools(agents).with_settings(agent, &named))
            .sandbox_projects(Sandbox::new())
            .load();
        let outcome = hooks.execute(&HookEvent::session_start("s"));
        // No other file is approved, and the named one is read once.
        let case = format!("{} of {}: {outcome:?}", named.display(), agent.name());
        assert_eq!(outcome.results().len(), 1, "{case}");
        assert!(outcome.results()[0].started(), "{case}");
        let wrote = world.path(&file.replace('/', "-"));
        assert_eq!(!wrote.exists(), is_confined, "{case}");
        let _ = std::fs::remove_file(wrote);
    }
}

/// Only the first of equal hooks of Claude Code runs. A confined one could fail where the user's decides.
#[test]
fn a_confined_hook_does_not_replace_the_users() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    let guard = json!({"type": "command", "command": "echo >outside && exit 2; exit 0"});
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [guard]}]}}).to_string();
    world.write("project/.claude/settings.json", &settings);
    world.write("named.json", &settings);
    let tools = OtherAgents::new([CLAUDE]).with_home(world.path("home"));
    let hooks = Hooks::builder(AppProfile::new("agent"))
        .config_home(world.path("config"))
        .project(world.path("project"))
        .other_agents(tools.with_settings(CLAUDE, world.path("named.json")))
        .trust(TrustPolicy::Everything)
        .sandbox_projects(Sandbox::new())
        .executor(forge_hooks::HookExecutor::builder().working_dir(world.directory()))
        .load();
    let outcome = hooks.execute(&HookEvent::tool_pre_execute("Bash", "ls"));
    assert!(!outcome.allowed(), "{outcome:?}");
}

#[test]
fn its_directory_is_its_own_and_goes_with_all_that_is_in_it() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    let command = "stat -c %a \"$TMPDIR\"; echo \"$TMPDIR\"; cd \"$TMPDIR\" && mkdir -p a/b/c && \
        i=0; while [ $i -lt 300 ]; do : >a/b/$i; i=$((i+1)); done; ln -s / link";
    let result = world.one(confined(command, Sandbox::new()));
    let mut lines = result.stdout().lines();
    assert_eq!(lines.next(), Some("700"), "{result:?}");
    let own = PathBuf::from(lines.next().unwrap());
    eventually("it is removed", || !own.exists());
    let names = |result: forge_hooks::HookResult| result.stdout().to_owned();
    let twice = [(); 2].map(|()| names(world.one(confined("echo \"$TMPDIR\"", Sandbox::new()))));
    assert_ne!(twice[0], twice[1]);
}

/// The lines of the status of each thread that say whether it is confined.
fn rights_of_all_threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let status = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok());
    let mut rights = Vec::new();
    for line in status.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()) {
        let is_right = ["NoNewPrivs:", "Seccomp:", "SigBlk:"]
            .iter()
            .any(|key| line.starts_with(key));
        rights.extend(is_right.then_some(line));
    }
    rights
}

/// The host runs, cancels and loses confined hooks on many threads, and keeps its rights, its memory, and no process.
#[test]
fn the_host_keeps_its_rights() {
    if !is_possible() || !crate::support::alone("sandbox::starts::the_host_keeps_its_rights") {
        return;
    }
    let seconds = std::env::var("FORGE_HOOKS_TEST_SECONDS")
        .ok()
        .and_then(|value| value.parse().ok());
    let world = World::new();
    let python = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .unwrap();
    let python = String::from_utf8(python.stdout).unwrap();
    // It looks for a thread of the host whose memory it can read.
    let races = format!(
        "import glob, os, time\nend = time.time() + {}\nwhile time.time() < end:\n for name in glob.glob('/proc/{}/task/*/mem') + glob.glob('/proc/{0}/mem'):\n  try:\n   os.close(os.open(name, os.O_RDONLY)); print('reached', name)\n  except OSError: pass\n",
        seconds.unwrap_or(0.5),
        std::process::id(),
    );
    let racing = Hook::program("session:start", [python.trim(), "-c", &races]).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for number in 0..4 {
            let (world, is_over) = (&world, &is_over);
            scope.spawn(move || {
                let executor = forge_hooks::HookExecutor::builder()
                    .working_dir(world.directory())
                    .build();
                let timeout = Duration::from_millis(if number == 0 { 3 } else { 5000 });
                let ends = [
                    ("true", 0),
                    ("exit 3", 1),
                    ("no-such-program", 2),
                    ("sleep 5", 3),
                ];
                let hook = confined(ends[number].0, Sandbox::new()).with_timeout(timeout);
                executor.registry().register(hook);
                while !is_over.load(Ordering::Relaxed) {
                    let handle = executor
                        .submit(blocking_event(), Default::default())
                        .unwrap();
                    if number == 3 {
                        handle.cancel();
                    }
                    let _ = handle.wait();
                }
            });
        }
        let racing = racing
            .with_sandbox(Sandbox::new())
            .with_timeout(Duration::from_secs(60));
        let result = world.run(racing, &HookEvent::session_start("s"));
        is_over.store(true, Ordering::Relaxed);
        assert_eq!((result.exit_code(), result.stdout()), (0, ""), "{result:?}");
    });
    // A thread of a pool may still end a start that was cancelled, with its signals blocked.
    let is_zero = |line: &String| {
        let value = line.split_once(':').unwrap().1.trim();
        value.chars().all(|digit| digit == '0')
    };
    eventually("no thread is confined", || {
        rights_of_all_threads().iter().all(is_zero)
    });
    world.write("file", "");
    std::fs::set_permissions(world.path("file"), PermissionsExt::from_mode(0o600)).unwrap();
    std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mine = format!("/proc/{}/task/{0}/children", std::process::id());
    eventually("no process is left", || {
        std::fs::read_to_string(&mine).unwrap().is_empty()
    });
}
