//! `Hooks`: the object that a host makes once, with what it fires and whose hooks may run.

use std::path::{Path, PathBuf};

use forge_hooks::compat::{CLAUDE, OtherAgents};
use forge_hooks::trust::Approval;
use forge_hooks::{
    AppProfile, Decision, EventSpec, EventType, FailureKind, FireOptions, HookEvent, HookExecutor,
    Hooks, HooksBuilder, SubmitError,
};
use serde_json::{Value, json};

use crate::support::{PATIENCE, World, custom, hook, known_events};

/// The paths at which `mygame` finds the user's file and the project's.
const USERS: &str = "config/mygame/hooks.json";
const PROJECTS: &str = "project/.mygame/hooks.json";

/// Builds a host whose user's configuration is below the world's directory.
fn game(world: &World) -> HooksBuilder {
    Hooks::builder(AppProfile::new("mygame")).config_home(world.path("config"))
}

fn entry(event: &str, command: &str) -> Value {
    json!({"event": event, "command": command})
}

fn file(entries: &[Value]) -> String {
    json!({"hooks": entries}).to_string()
}

fn spec(name: &str) -> EventSpec {
    EventSpec::named(name)
}

#[test]
fn every_way_to_fire_runs_the_hooks() {
    fn is_shared<T: Clone + Send + Sync>(_: &T) {}
    let world = World::new();
    world.write(USERS, &file(&[entry("tool:pre_execute", "exit 3")]));
    let hooks = game(&world).load();
    is_shared(&hooks);
    let report = hooks.report();
    let loaded = (
        report.is_ok(),
        report.loaded,
        hooks.executor().registry().len(),
    );
    assert_eq!((loaded, hooks.project()), ((true, 1, 1), None));
    let event = HookEvent::tool_pre_execute("bash", "ls");
    let options = FireOptions::default();
    for outcome in [
        hooks.execute(&event),
        hooks.execute_with(&event, options.clone()),
        hooks.clone().submit(event.clone()).wait(),
        hooks.submit_with(event.clone(), options).wait(),
    ] {
        assert_eq!(outcome.results()[0].exit_code(), 3);
    }
    let tool = hooks.lifecycle().tool("bash", "ls");
    assert!(tool.permit().is_err());
    assert!(hooks.shutdown(PATIENCE));
    let refused = hooks.submit(event);
    assert!(matches!(refused.refusal(), Some(SubmitError::ShutDown(_))));
    let outcome = refused.wait();
    assert!(!outcome.allowed());
    let reason = "executor has been shut down, tool:pre_execute was not taken";
    assert_eq!(outcome.reason(), Some(reason));
}

/// Another program has given the approval that this one was about to ask for.
#[test]
fn an_approval_of_another_program_loads_the_hooks() {
    let world = World::new();
    world.write(PROJECTS, &file(&[entry("level:loaded", "exit 0")]));
    let load = || game(&world).project(world.path("project")).load();
    let (hooks, other) = (load(), load());
    assert!(other.approve_with(|_| true).unwrap());
    assert!(hooks.execute(&custom("level:loaded")).results().is_empty());
    let is_approved = hooks.approve_with(|_| panic!("nothing is to be asked"));
    assert!(is_approved.unwrap());
    assert!(hooks.execute(&custom("level:loaded")).results()[0].success());
}

#[test]
fn a_projects_hooks_need_approval() {
    let world = World::new();
    let entries = ["level:loaded", "level:left"].map(|event| entry(event, "exit 0"));
    world.write(PROJECTS, &file(&entries));
    let root = world.path("project");
    let builder = game(&world).project(&root);
    let hooks = builder.approve_command("mygame hooks trust").load();
    let report = hooks.report();
    assert_eq!(report.unapproved, ["exit 0"; 2]);
    assert_eq!(report.problems.len(), 1);
    let help = report.problems[0].help.as_deref();
    assert_eq!(help, Some("to approve: `mygame hooks trust`"));
    assert!(hooks.execute(&custom("level:loaded")).results().is_empty());

    let approval = Approval::of(&root, hooks.config().load_project(&root)).unwrap();
    hooks
        .config()
        .trust_store()
        .unwrap()
        .approve(&approval)
        .unwrap();
    let report = hooks.reload();
    assert!(report.unapproved.is_empty() && report.problems.is_empty());
    assert!(hooks.execute(&custom("level:loaded")).results()[0].success());
}

/// A host may also put hooks of its own into the registry before anything is loaded.
#[test]
fn reload_keeps_what_the_host_registered() {
    let world = World::new();
    let two = ["a:b", "a:c"].map(|event| entry(event, "exit 0"));
    world.write(USERS, &file(&two));
    world.registry().register(hook("own:event", "exit 0"));
    let executor = HookExecutor::builder().registry(world.registry().clone());
    let hooks = game(&world).executor(executor).load();
    assert_eq!(hooks.executor().registry().len(), 3);
    world.write(USERS, &file(&[entry("a:d", "exit 0")]));
    assert_eq!((hooks.reload().loaded, hooks.report().loaded), (1, 1));
    let registered = hooks.executor().registry().hooks();
    let patterns: Vec<_> = registered.iter().map(|hook| hook.event_pattern()).collect();
    assert_eq!(patterns, ["own:event", "a:d"]);
}

#[test]
fn an_event_that_only_notifies_blocks_nothing() {
    let world = World::new();
    let entries = [r#"{"decision": "block"}"#, r#"{"decision": "#].map(|answer| {
        let mut entry = entry("save:*", &world.says(answer));
        entry["working_dir"] = json!(world.directory());
        entry
    });
    world.write(USERS, &file(&entries));
    let hooks = game(&world).event(spec("save:done").notify_only());
    let hooks = hooks.event(spec("save:begins")).load();
    let options = FireOptions::default().stop_on_failure(false);
    for (name, can_block) in [("save:done", false), ("save:begins", true)] {
        let outcome = hooks.execute_with(&custom(name), options.clone());
        assert_eq!(outcome.can_block(), can_block);
        let failure = outcome.results()[1].failure();
        assert_eq!(failure, Some(FailureKind::InvalidAnswer));
        let submitted = hooks.submit(custom(name)).wait();
        let allowed = [outcome, submitted].map(|outcome| outcome.allowed());
        assert_eq!(allowed, [!can_block; 2]);
    }
}

#[test]
fn the_vocabulary_describes_what_is_fired() {
    let world = World::new();
    let loaded = spec("level:loaded").with_description("A level is ready");
    let session = EventSpec::new(EventType::SessionStart).with_description("A game begins");
    let hooks = game(&world)
        .event(loaded.with_data("level", "its name").notify_only())
        .event(session.notify_only())
        .load();
    let described = |name: &str| {
        let mut events = hooks.events().iter();
        events
            .find(|spec| spec.event_type().as_str() == name)
            .unwrap()
    };
    assert_eq!(hooks.events().len(), known_events().len() + 1);
    let stop = described("agent:stop");
    assert!(stop.can_block());
    let loaded = described("level:loaded");
    let keys: Vec<_> = loaded.data_keys().collect();
    assert_eq!(keys, [("level", "its name")]);
    assert!(!loaded.can_block());
    let session = described("session:start");
    let texts = [loaded, session].map(EventSpec::description);
    assert_eq!(texts, ["A level is ready", "A game begins"]);
}

#[test]
fn the_schema_lists_events_and_tools() {
    let world = World::new();
    let loaded = spec("level:loaded").with_description("A level is ready");
    let hooks = game(&world)
        .event(loaded.with_data("level", "its name"))
        .tools(["bash"])
        .load();
    let schema = hooks.json_schema();
    let event = &schema["properties"]["hooks"]["items"]["properties"]["event"]["anyOf"];
    let level = "A level is ready. Can be blocked. Data: level (its name).";
    let tool = "Before the tool `bash` runs. Can be blocked.";
    for listed in [
        json!({"const": "level:loaded", "description": level}),
        json!({"const": "session:start", "description": "A session begins."}),
        json!({"const": "tool:pre_execute:bash", "description": tool}),
    ] {
        assert!(event.as_array().unwrap().contains(&listed), "{listed}");
    }
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let is_valid = |pattern| validator.is_valid(&json!({"hooks": [entry(pattern, "exit 0")]}));
    let validity = ["level:loaded", "game:*, tool:*:b*", ""].map(is_valid);
    assert_eq!(validity, [true, true, false]);
}

/// The root that is found from `start`.
fn discovered(world: &World, start: &str) -> PathBuf {
    let hooks = game(world).discover_project(world.path(start)).load();
    let project = hooks.project().unwrap();
    let root = if cfg!(windows) {
        world.path("")
    } else {
        world.path("").canonicalize().unwrap()
    };
    project.strip_prefix(root).unwrap().to_owned()
}

#[test]
fn a_project_is_found_upwards_to_its_git() {
    let world = World::new();
    const PACKAGE: &str = "outer/repo/package";
    let start = "outer/repo/package/src";
    std::fs::create_dir_all(world.path(start)).unwrap();
    let hooks = file(&[entry("level:loaded", "exit 0")]);
    // Each row adds a file.
    for (path, text, found) in [
        ("outer/.mygame/hooks.json", &*hooks, start),
        ("outer/repo/.git", "gitdir: elsewhere", "outer/repo"),
        ("outer/repo/.mygame/hooks.json", &hooks, "outer/repo"),
        ("outer/repo/package/.mygame/hooks.json", &hooks, PACKAGE),
    ] {
        world.write(path, text);
        assert_eq!(discovered(&world, start), Path::new(found), "{path}");
    }
    let downwards = discovered(&world, "outer/repo");
    assert_eq!(downwards, Path::new("outer/repo"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(world.path(start), world.path("link")).unwrap();
        assert_eq!(discovered(&world, "link"), Path::new(PACKAGE));
    }
    let hooks = game(&world).discover_project(world.path(start)).load();
    assert_eq!(hooks.report().unapproved, ["exit 0"]);
    // Files of other agents mark a project too, if the host reads them.
    world.write("outer/repo/package/src/.claude/settings.json", "{}");
    let builder = game(&world).discover_project(world.path(start));
    assert!(builder.clone().load().project().unwrap().ends_with(PACKAGE));
    let hooks = builder.other_agents([forge_hooks::compat::CLAUDE]).load();
    assert!(hooks.project().unwrap().ends_with(start));
}

#[test]
fn a_constant_name_of_an_event_is_checked() {
    assert_eq!(EventSpec::named("game:saved"), spec("game:saved"));
    for (name, reason) in [
        ("game", "invalid name `game` for a custom event"),
        ("Game:saved", "expected `category:action` of a-z, 0-9 and _"),
        ("tool:error", "`tool:error` is a built-in event"),
    ] {
        let panic = std::panic::catch_unwind(|| EventSpec::named(name)).unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(message.contains(reason), "{message}");
    }
}

/// A host that has not declared its tools may have one of any name.
#[test]
fn a_tool_is_unknown_only_if_tools_are_declared() {
    let world = World::new();
    world.write(USERS, &file(&[entry("tool:pre_execute:Bash", "exit 1")]));
    let hooks = game(&world).load();
    assert!(hooks.report().problems.is_empty(), "{:?}", hooks.report());
    let call = HookEvent::tool_pre_execute("Bash", "ls");
    assert!(!hooks.execute(&call).allowed());
    let hooks = game(&world).tools(["bash"]).load();
    let problem = &hooks.report().problems[0];
    assert_eq!(problem.suggestion.as_deref(), Some("bash"));
}

/// The load reports a condition on a value that the declared data lacks, or that is never text.
#[test]
fn a_condition_that_cannot_be_tested_is_reported() {
    let world = World::new();
    for (event, pointer, expected) in [
        (
            "game:saved",
            "/fle",
            Some(["`fle`", "did you mean `/file`?"]),
        ),
        ("game:saved", "/player/1", Some(["`player`", "`/file`"])),
        (
            "tool:pre_execute",
            "/command",
            Some(["`command`", "`/tool_args`"]),
        ),
        (
            "tool:pre_execute:bash",
            "/tool_name",
            Some(["`tool_name`", "`/tool_args`"]),
        ),
        (
            "llm:pre_request",
            "/messages",
            Some(["`messages` is a list", "remove"]),
        ),
        (
            "agent:stop",
            "/stop_hook_active",
            Some(["is a boolean", "remove"]),
        ),
        ("game:saved", "/file", None),
        ("game:saved", "/file/0", None),
        ("game:saved", "/agent_type", None),
        ("tool:*", "/tool_result", None),
        ("tool:pre_execute", "/tool_args/comand", None),
        ("tool:pre_execute", "/agent/model", None),
        ("permission:check", "/tool_args/command", None),
        ("llm:pre_request", "/messages/0/content", None),
        // Nothing is known of their data.
        ("game:over", "/fle", None),
        ("game:lost", "/fle", None),
        ("session:start", "/source", None),
        ("*", "/fle", None),
    ] {
        let when = json!({pointer: {"regex": "x"}});
        let blocks = json!({"event": event, "answer": {"decision": "block"}, "when": when});
        world.write(USERS, &file(&[blocks]));
        let saved = EventSpec::named("game:saved").with_data("file", "its name");
        let hooks = game(&world)
            .event(saved)
            .event(EventSpec::named("game:over"));
        let hooks = hooks.event(EventSpec::named("game:lost")).load();
        let report = hooks.report();
        let problems: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
        match (&problems[..], expected) {
            ([], None) => {}
            ([problem], Some(parts)) => {
                let place = format!("when.{pointer}");
                let is_there = |part: &&str| problem.contains(part);
                assert!(
                    parts.iter().all(is_there) && problem.contains(&place),
                    "{problem}"
                );
                assert!(problem.contains("cannot be tested"), "{problem}");
            }
            _ => panic!("{event} {pointer}: {problems:?}"),
        }
    }
}

/// A block says that it is one because of a condition, for a value that the load cannot know too.
#[test]
fn a_block_names_its_untested_condition() {
    let world = World::new();
    let reason = json!({"decision": "block", "reason": "not this one"});
    let blocks = json!({"event": "game:saved", "answer": reason, "when": {"/files": "*.sav"}});
    world.write(USERS, &file(&[blocks]));
    let saved = EventSpec::named("game:saved").with_data("files", "their names");
    let hooks = game(&world).event(saved.clone()).load();
    assert!(hooks.report().problems.is_empty());
    let files = json!(["a.txt", "b.txt"]);
    let outcome = hooks.execute(&saved.event().with_data("files", files));
    let expected = "the condition on `/files` could not be tested: its value is not a text";
    assert!(outcome.reason().unwrap().starts_with(expected));
    let blocked = outcome.check().unwrap_err().to_string();
    assert!(blocked.contains(expected), "{blocked}");
    let outcome = hooks.execute(&saved.event().with_data("files", "a.sav"));
    assert_eq!(outcome.reason(), Some("not this one"));
}

#[test]
fn an_event_is_created_by_its_declared_name() {
    let directory = tempfile::tempdir().unwrap();
    let hooks = Hooks::builder(AppProfile::new("mygame"))
        .event(EventSpec::named("game:level_up"))
        .config_home(directory.path())
        .load();
    for name in ["game:level_up", "tool:pre_execute", "agent:stop"] {
        assert_eq!(hooks.event(name).unwrap().event_type.as_str(), name);
    }
    for (name, hint) in [
        ("game:levelup", ", did you mean `game:level_up`?"),
        ("tool:pre_exec", ", did you mean `tool:pre_execute`?"),
        ("other:thing", ""),
        ("tool:pre_execute:bash", ""),
        ("no name", ""),
    ] {
        let error = hooks.event(name).unwrap_err().to_string();
        let expected = format!("unknown event `{name}`{hint}");
        assert!(error.starts_with(&expected), "{error}");
    }
}

/// Approvals that the user gave to another host do not matter to this one.
#[test]
fn a_host_is_not_asked_about_tools_that_it_does_not_load() {
    let world = World::new();
    let handler = json!({"type": "command", "command": "true"});
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}});
    world.write("project/.claude/settings.json", &settings.to_string());
    let host = |tools: OtherAgents| {
        let builder = Hooks::builder(AppProfile::new("mygame")).without_system_file();
        let builder = builder.config_home(world.path("config"));
        let tools = tools.with_home(world.path("home"));
        builder
            .project(world.path("project"))
            .other_agents(tools)
            .load()
    };
    let with_claude = host(OtherAgents::new([CLAUDE]));
    assert!(with_claude.approve_with(|_| true).unwrap());
    let without = host(OtherAgents::new([]));
    assert!(without.approve_with(|_| panic!("nothing is new")).unwrap());
    let again = with_claude.approve_with(|_| panic!("it is still approved"));
    assert!(again.unwrap());
}

/// The host gets failures at the end of what was dropped, and the messages of a permission.
#[test]
fn nothing_that_hooks_say_is_lost() {
    let world = World::new();
    let builder = Hooks::builder(AppProfile::new("mygame")).config_home(world.directory());
    let hooks = builder.load();
    let registry = hooks.executor().registry().clone();
    registry.register(hook("session:end", "exit 3").with_name("late"));
    let speaks = r#"echo '{"systemMessage": "noted"}'"#;
    registry.register(hook("permission:check", speaks));
    registry.register(hook("permission:granted", "exit 4").with_name("after"));
    drop(hooks.lifecycle().session("s").begin().unwrap());
    let request = hooks.lifecycle().permission("bash", "execute");
    let request = request.with_verdict(Decision::Allow);
    assert!(request.run(|_| panic!("the rules allow it")).unwrap());
    let lines = hooks.take_failures();
    let expected = ["`late` failed on `session:end`", "noted", "`after` failed"];
    assert_eq!(lines.len(), expected.len(), "{lines:?}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.contains(expected), "{line}");
    }
}

/// Of background hooks, and of events that nothing waits for.
#[test]
fn failures_that_nothing_waited_for_are_taken() {
    let world = World::new();
    let builder = Hooks::builder(AppProfile::new("mygame")).config_home(world.directory());
    let hooks = builder.load();
    let fails = |name: &str| hook("tool:*", "exit 3").with_name(name);
    hooks
        .executor()
        .registry()
        .register(fails("first").with_background());
    hooks.executor().registry().register(fails("second"));
    let event = || HookEvent::tool_post_execute("bash", "ls", "x");
    drop(hooks.submit(event()));
    assert!(
        hooks
            .submit(event())
            .wait()
            .failures()
            .concat()
            .contains("second")
    );
    assert!(hooks.shutdown(PATIENCE));
    let mut failures = hooks.take_failures();
    failures.sort();
    let line = |name| format!("hook `{name}` failed on `tool:post_execute`: exited with code 3");
    assert_eq!(failures, [line("first"), line("first"), line("second")]);
    assert!(hooks.take_failures().is_empty());
}
