//! A command that needs no shell gives the same result with and without one: exit code, output, arguments,
//! environment, working directory. These tests leave out the differences that docs/gotchas.md lists.
//!
//! `FORGE_HOOKS_TEST_COMMANDS` is the number of commands.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;

use forge_hooks::hook::Shell;
use forge_hooks::{FailureKind, FireOptions, Hook, HookEvent, HookExecutor, HookResult};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};

use crate::executor::endurance::from_environment;
use crate::support::{World, blocking_event, hook, run_alone};

/// Executed with any arguments.
const WITH_ARGUMENTS: &str = "./report.sh tools/report.sh tools/../report.sh .//report.sh \
    -x/report.sh ./linked ./relative ./bare.sh ./empty ./exit.sh ./plain ./lost ./crlf ./nothing \
    ./garbage ./tools ./missing no/such ./plain/x ./dangling ./loop /no/such / /bin/echo /bin/true \
    /bin/false ./echo";

/// Executed as they are.
const WHOLE: &str = include_str!("direct_exec.txt");

const ARGUMENTS: &str = "a -n -e -c -- - = A=1 --b=c,d %1 @ +x : . .. / --help";

/// The name and value of a variable of the hook's own.
const VARIABLES: &[(&str, &str)] = &[
    ("A", "b  c\n*"),
    ("PWD", "/"),
    ("PWD", "no/where"),
    ("PATH", "/no/where"),
    ("IFS", "x/"),
    ("a.b", "1"),
    ("ENV", "./report.sh"),
];

/// The working directories of the hooks, relative to the directory of the test. The last is a link to the first.
const DIRECTORIES: &[&str] = &["a b", "a b/tools", "link"];

const NO_DIRECTORIES: &[&str] = &["no/where", "a b/plain"];

/// The environments that the host inherits.
const HOSTS: &[&[(&str, &str)]] = &[
    &[],
    &[("PWD", "/no/where"), ("OLDPWD", "/no/where"), ("a.b", "1")],
    &[("PWD", "/"), ("OLDPWD", "/"), ("IFS", "x"), ("1 x", "1")],
];

/// The variables that differ: docs/gotchas.md, "A shell that only starts one program".
const SHELLS_OWN: &str =
    "_ SHLVL OLDPWD IFS OPTIND OPTERR PPID LINENO PS1 PS2 PS4 SHELLOPTS POSIXLY_CORRECT";

/// A command, where it runs, whether that is counted from the host's own directory instead of from the root, a variable
/// of its own, and its input.
type Case = (
    String,
    &'static str,
    bool,
    Option<(&'static str, &'static str)>,
    bool,
);

fn case() -> impl Strategy<Value = Case> {
    let words = |text: &'static str, mark| {
        let words = text.split(mark).map(str::to_owned).collect::<Vec<_>>();
        prop::sample::select(words)
    };
    let argument = prop_oneof![words(ARGUMENTS, ' '), "[A-Za-z0-9_.,/:@%+=-]{1,9}"];
    let arguments = prop::collection::vec(argument, 0..4);
    let with_arguments = (words(WITH_ARGUMENTS, ' '), arguments)
        .prop_map(|(program, arguments)| [&[program], &arguments[..]].concat().join(" "));
    let command = prop_oneof![
        20 => with_arguments,
        20 => words(WHOLE.trim_end(), '\n'),
        1 => Just(format!("./{}", "x".repeat(256))),
    ];
    let directory = prop_oneof![
        9 => prop::sample::select(DIRECTORIES),
        1 => prop::sample::select(NO_DIRECTORIES),
    ];
    let is_relative = prop::bool::weighted(0.1);
    let variable = prop::option::of(prop::sample::select(VARIABLES));
    (command, directory, is_relative, variable, any::<bool>())
}

#[test]
fn no_shell_makes_no_difference() {
    const TEST: &str = "processes::direct_exec::no_shell_makes_no_difference";
    const HOST: &str = "FORGE_HOOKS_TEST_DIRECT";
    if std::env::var_os(HOST).is_none() {
        for host in HOSTS {
            run_alone(TEST, |command| {
                command.env_remove("PWD").env_remove("OLDPWD");
                command.env(HOST, "1").envs(host.iter().copied())
            });
        }
        return;
    }
    let world = World::new();
    write_programs(&world);
    std::env::set_current_dir(world.directory()).unwrap();
    let commands = from_environment("FORGE_HOOKS_TEST_COMMANDS", 60);
    let mut runner = TestRunner::new(ProptestConfig {
        cases: commands / u32::try_from(HOSTS.len()).unwrap(),
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let checked = runner.run(&case(), |case| check(world.directory(), case));
    checked.unwrap_or_else(|error| panic!("{error}"));
}

fn write_programs(world: &World) {
    let report = "#!/bin/sh\nprintf '<%s>\\n' \"$0\" \"$@\" \"$PWD\"\npwd\npwd -P\ncat\n";
    for directory in ["a b", "a b/tools"] {
        let script = |name: &str, text: &str| world.script(&format!("{directory}/{name}"), text);
        script("report.sh", report);
        script("tools/report.sh", report);
        script("-x/report.sh", "#!/bin/cat\n");
        script("relative", "#!./echo one two\n");
        script("bare.sh", "echo bare \"$0\" \"$@\"\nexit 3\n");
        script("empty", "");
        script(
            "exit.sh",
            "#!/bin/sh -e\necho out; echo error >&2\nexit $1\n",
        );
        script("kill.sh", "#!/bin/sh\necho out\nkill -$1 $$\n");
        script("lost", "#!/no/such/interpreter\n");
        script("crlf", "#!/bin/sh\r\necho never\r\n");
        script("nothing", "#!\n");
        script("garbage", "\u{7f}ELF\0\0\n");
        world.write(&format!("{directory}/plain"), "#!/bin/sh\necho never\n");
        let link = |to: &str, name: &str| {
            symlink(to, world.path(directory).join(name)).unwrap();
        };
        link("tools/report.sh", "linked");
        link("/usr/bin/env", "env");
        link("/bin/echo", "echo");
        link("no/where", "dangling");
        link("loop", "loop");
    }
    symlink("a b", world.path("link")).unwrap();
}

fn check(root: &Path, case: Case) -> TestCaseResult {
    let (command, directory, is_relative, variable, has_stdin) = case;
    let mut plain = hook("*", &command).with_working_dir(directory);
    if !has_stdin {
        plain = plain.without_stdin();
    }
    let with = |hook: Hook, (name, value)| hook.with_env(name, value);
    let hook = variable.into_iter().fold(plain, with);
    let root = [root, Path::new(".")][usize::from(is_relative)];
    let event = blocking_event();
    let direct = run(root, hook.clone(), &event);
    let shell = run(root, hook.with_shell(Shell::Sh), &event);
    prop_assert_eq!(direct.exit_code(), shell.exit_code());
    if direct.signal().is_some() {
        // dash ends with an exit code of its own, and says so.
        prop_assert!(shell.stderr().starts_with(direct.stderr()));
    } else {
        prop_assert_eq!(&direct.stderr(), &shell.stderr());
        prop_assert_eq!(direct.failure(), shell.failure());
        // Only without the shell, a missing interpreter is named.
        if direct.failure() != Some(FailureKind::NotFound) {
            prop_assert_eq!(direct.error(), shell.error());
        }
    }
    if command.ends_with("env -0") {
        let (direct, shell) = (variables(direct.stdout()), variables(shell.stdout()));
        let different: Vec<_> = direct.symmetric_difference(&shell).collect();
        prop_assert!(different.is_empty(), "{different:?}");
    } else {
        prop_assert_eq!(direct.stdout(), shell.stdout());
    }
    Ok(())
}

fn run(root: &Path, hook: Hook, event: &HookEvent) -> HookResult {
    let executor = HookExecutor::builder().working_dir(root).build();
    executor.registry().register(hook);
    executor
        .execute_hooks(event, FireOptions::default())
        .remove(0)
}

/// Those that no shell changes by itself.
fn variables(output: &str) -> BTreeSet<&str> {
    let is_compared = |variable: &&str| {
        let name = variable.split('=').next().unwrap_or_default();
        let is_identifier = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        // The two hooks have different fingerprints.
        let is_chain = name.ends_with("_HOOK_CHAIN");
        is_identifier && !is_chain && !SHELLS_OWN.split(' ').any(|own| own == name)
    };
    output.split('\0').filter(is_compared).collect()
}

/// A shell of the hook's own would be its parent, or have become it.
#[cfg(target_os = "linux")]
#[test]
fn plain_words_start_one_process() {
    let world = World::new();
    world.script("id.sh", "#!/bin/sh\necho $$ $PPID\n");
    let result = world.one(hook("*", "./id.sh"));
    let expected = format!("{} {}\n", result.pid().unwrap(), std::process::id());
    assert_eq!(result.stdout(), expected);
}
