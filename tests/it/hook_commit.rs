//! The commit in examples/hooks/git-commit.sh: what it commits, what it leaves alone. With the real git.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use forge_hooks::{Hook, HookEvent, HookResult, Reads};
use serde_json::json;

use crate::support::{World, is_missing};

/// Nothing of the machine's own settings, nor of whoever runs these tests from a hook of git's.
fn environment(world: &World) -> Vec<(&'static str, String)> {
    let above = world.folder().parent().unwrap().to_str().unwrap();
    let home = world.path(".no home").to_str().unwrap().to_owned();
    vec![
        ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
        ("GIT_CONFIG_SYSTEM", "/dev/null".to_owned()),
        ("GIT_CEILING_DIRECTORIES", above.to_owned()),
        ("XDG_CONFIG_HOME", home.clone()),
        ("HOME", home),
        ("LC_ALL", "C".to_owned()),
    ]
}

fn try_git(world: &World, args: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    let output = command
        .current_dir(world.folder())
        .args(args)
        .envs(environment(world))
        .output()
        .unwrap();
    let succeeded = output.status.success();
    succeeded.then(|| String::from_utf8(output.stdout).unwrap())
}

#[track_caller]
fn git(world: &World, args: &[&str]) -> String {
    try_git(world, args).unwrap_or_else(|| panic!("git {args:?}"))
}

/// With a first commit of `other`, as somebody.
fn repository() -> Option<World> {
    if is_missing("git") || is_missing("jq") {
        return None;
    }
    let world = World::new();
    git(&world, &["init", "--quiet", "-b", "main"]);
    identify(&world);
    world.write("other", "1");
    git(&world, &["add", "other"]);
    git(&world, &["commit", "--quiet", "-m", "first"]);
    Some(world)
}

fn identify(world: &World) {
    git(world, &["config", "user.name", "Me"]);
    git(world, &["config", "user.email", "me@here"]);
}

fn hook(world: &World) -> Hook {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/hooks/git-commit.sh");
    let hook = Hook::program("*", ["/bin/sh", path.to_str().unwrap()]).unwrap();
    environment(world)
        .into_iter()
        .fold(hook, |hook, (name, value)| hook.with_env(name, value))
        .with_reads(Reads::Stdin)
        .with_timeout(Duration::from_secs(60))
}

fn commit_with(world: &World, hook: Hook, file: &str) -> HookResult {
    world.registry().clear();
    world.registry().register(hook);
    let event = HookEvent::tool_post_execute("write", json!({"file_path": file}), json!({}));
    let result = world.fire(&event).remove(0);
    assert_eq!((result.exit_code, &*result.stdout), (0, ""), "{file}");
    result
}

fn commit(world: &World, file: &str) -> HookResult {
    commit_with(world, hook(world), file)
}

fn commits(world: &World) -> usize {
    git(world, &["rev-list", "--all", "--count"])
        .trim()
        .parse()
        .unwrap()
}

/// The files of the last commit, each ended by a NUL, so that none is quoted.
fn committed(world: &World) -> String {
    git(
        world,
        &["show", "--pretty=format:", "--name-only", "-z", "HEAD"],
    )
}

#[test]
fn the_file_that_was_written_is_committed_whatever_it_is_called() {
    let Some(world) = repository() else { return };
    for name in [
        "plain",
        "with space",
        "-rf",
        "--all",
        "*",
        "[a-z]*",
        ":(top)x",
        ":!a",
        "!x",
        "new\nline",
        "ends\n",
        "\u{e9}'\"$(touch ran)`touch ran`\\",
        "sub/-a b",
        "#x",
    ] {
        world.write(name, "1");
        world.write("other too", name);
        let result = commit(&world, name);
        assert_eq!(result.stderr, "", "{name}");
        assert_eq!(committed(&world), format!("{name}\0"));
        let subject = git(&world, &["log", "-1", "--format=%B"]);
        let last = name.rsplit('/').next().unwrap().replace('\n', "?");
        assert_eq!(subject.trim_end(), format!("Auto-save: {last}"));
    }
    assert!(!world.path("ran").exists());
    let absolute = world.write("absolute", "1");
    commit(&world, absolute.to_str().unwrap());
    assert_eq!(committed(&world), "absolute\0");
}

#[test]
fn what_else_is_staged_stays_staged() {
    let Some(world) = repository() else { return };
    world.write("other", "2");
    world.write("new", "1");
    git(&world, &["add", "other", "new"]);
    world.write("written", "1");
    assert_eq!(commit(&world, "written").stderr, "");
    assert_eq!(committed(&world), "written\0");
    let staged = git(&world, &["diff", "--cached", "--name-only"]);
    assert_eq!(staged, "new\nother\n");
}

#[test]
fn the_first_commit_of_a_repository_can_be_one() {
    if is_missing("git") || is_missing("jq") {
        return;
    }
    let world = World::new();
    git(&world, &["init", "--quiet"]);
    identify(&world);
    world.write("a", "1");
    assert_eq!(commit(&world, "a").stderr, "");
    assert_eq!(committed(&world), "a\0");
}

#[test]
fn nothing_is_committed_where_there_is_nothing_to_commit() {
    let Some(world) = repository() else { return };
    world.write(".gitignore", "ignored\n");
    world.write("ignored", "1");
    world.write("folder/a", "1");
    let outside = tempfile::NamedTempFile::new().unwrap();
    symlink(world.path("folder"), world.path("link")).unwrap();
    let outside = outside.path().to_str().unwrap();
    for (file, words) in [
        ("other", ""),
        ("ignored", ""),
        ("folder", "it is no file"),
        (".", "it is no file"),
        ("gone", "it is no file"),
        ("", "no file is named"),
        ("a\0", "no file is named"),
        ("link/a", "not committed: "),
        (outside, "not committed: "),
    ] {
        let result = commit(&world, file);
        assert!(result.stderr.contains(words), "{file}: {}", result.stderr);
        assert_eq!(words.is_empty(), result.stderr.is_empty(), "{file}");
    }
    assert_eq!(commits(&world), 1);
    assert_eq!(git(&world, &["diff", "--cached", "--name-only"]), "");
}

#[test]
fn outside_of_a_repository_nothing_happens() {
    if is_missing("git") || is_missing("jq") {
        return;
    }
    let world = World::new();
    world.write("a", "1");
    assert_eq!(commit(&world, "a").stderr, "");
    assert!(!world.path(".git").exists());
}

#[test]
fn without_an_identity_it_says_so_and_stages_nothing() {
    if is_missing("git") || is_missing("jq") {
        return;
    }
    let world = World::new();
    git(&world, &["init", "--quiet"]);
    world.write("a", "1");
    let result = commit(&world, "a");
    assert!(
        result.stderr.contains("set user.name and user.email"),
        "{}",
        result.stderr
    );
    assert_eq!(
        git(&world, &["status", "--porcelain", "-uall", "a"]),
        "?? a\n"
    );
}

#[test]
fn in_the_middle_of_a_merge_nothing_is_committed() {
    let Some(world) = repository() else { return };
    git(&world, &["switch", "--quiet", "-c", "branch"]);
    world.write("other", "2");
    git(&world, &["commit", "--quiet", "-am", "second"]);
    git(&world, &["switch", "--quiet", "main"]);
    world.write("other", "3");
    git(&world, &["commit", "--quiet", "-am", "third"]);
    for operation in ["merge", "rebase"] {
        assert_eq!(
            try_git(&world, &[operation, "branch"]),
            None,
            "they conflict"
        );
        world.write("a", "1");
        let result = commit(&world, "a");
        assert!(
            result.stderr.contains("is going on"),
            "{operation}: {}",
            result.stderr
        );
        git(&world, &[operation, "--abort"]);
    }
    assert_eq!(commits(&world), 3);
}

#[test]
fn no_hook_of_the_repository_is_run_and_nothing_is_signed() {
    let Some(world) = repository() else { return };
    for hook in ["pre-commit", "commit-msg", "post-commit"] {
        world.script(&format!(".git/hooks/{hook}"), "#!/bin/sh\n: >ran\nexit 1\n");
        world.script(&format!("husky/{hook}"), "#!/bin/sh\n: >ran\nexit 1\n");
    }
    git(&world, &["config", "commit.gpgSign", "true"]);
    for folder in [None, Some("husky")] {
        if let Some(folder) = folder {
            git(&world, &["config", "core.hooksPath", folder]);
        }
        let name = folder.unwrap_or("a");
        world.write(&format!("{name}.txt"), "1");
        assert_eq!(commit(&world, &format!("{name}.txt")).stderr, "");
    }
    assert_eq!(commits(&world), 3);
    assert!(!world.path("ran").exists());
}

#[test]
fn a_repository_that_an_outer_git_has_named_is_left_alone() {
    let Some(world) = repository() else { return };
    let Some(outer) = repository() else { return };
    let index = outer.path(".git/index");
    let hook = hook(&world)
        .with_env("GIT_DIR", outer.path(".git").to_str().unwrap())
        .with_env("GIT_INDEX_FILE", index.to_str().unwrap());
    world.write("a", "1");
    assert_eq!(commit_with(&world, hook, "a").stderr, "");
    assert_eq!((commits(&world), commits(&outer)), (2, 1));
}
