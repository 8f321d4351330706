//! The script examples/hooks/git-commit.sh: what it commits, and what it leaves alone.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use forge_hooks::{Hook, HookEvent};
use serde_json::json;

use super::{script, with_jq};
use crate::support::{World, is_missing, one_in};

fn directory() -> Option<World> {
    with_jq().filter(|_| !is_missing("git"))
}

fn identify(world: &World) {
    world.git(&["config", "user.name", "Me"]);
    world.git(&["config", "user.email", "me@here"]);
}

/// A repository with a first commit of `other`.
fn repository() -> Option<World> {
    let world = directory()?;
    world.git(&["init", "--quiet", "-b", "main"]);
    identify(&world);
    world.write("other", "1");
    world.git(&["add", "other"]);
    world.git(&["commit", "--quiet", "-m", "first"]);
    Some(world)
}

fn hook(world: &World) -> Hook {
    world.with_git(script("git-commit.sh"))
}

/// Runs the hook after a write of `file`: it prints `words`, or nothing if they are empty.
#[track_caller]
fn case_with(world: &World, hook: Hook, file: &str, words: &str) {
    let event = HookEvent::tool_post_execute("write", json!({ "file_path": file }), json!({}));
    super::case(world, hook, &event, 0, words);
}

#[track_caller]
fn case(world: &World, file: &str, words: &str) {
    case_with(world, hook(world), file, words);
}

/// The files of the last commit. Each ends with a NUL, so that git quotes none.
fn committed(world: &World) -> String {
    world.git(&["show", "--pretty=format:", "--name-only", "-z", "HEAD"])
}

fn staged(world: &World) -> String {
    world.git(&["diff", "--cached", "--name-only"])
}

#[rustfmt::skip]
const NAMES: &[&str] = &[
    "\u{e9}'\"$(touch ran)`touch ran`\\", "plain", "with space", "--all", "*", ":(top)x", "[a-z]*",
    ":!a", "!x", "ends\n", "-rf", "new\nline", "sub/-a b", "#x",
];

#[test]
fn a_file_of_any_name_is_committed() {
    let Some(world) = repository() else { return };
    world.write("other", "2");
    world.write("new", "1");
    world.git(&["add", "other", "new"]);
    for name in one_in(7, NAMES) {
        world.write(name, "1");
        world.write("other too", name);
        case(&world, name, "");
        assert_eq!(committed(&world), format!("{name}\0"));
        let subject = world.git(&["log", "-1", "--format=%B"]);
        let last = name.rsplit('/').next().unwrap().replace('\n', "?");
        assert_eq!(subject.trim_end(), format!("Auto-save: {last}"));
    }
    assert!(!world.path("ran").exists());
    let absolute = world.write("absolute", "1");
    case(&world, absolute.to_str().unwrap(), "");
    assert_eq!(committed(&world), "absolute\0");
    assert_eq!(staged(&world), "new\nother\n", "what was staged stays so");
}

#[test]
fn the_first_commit_needs_an_identity() {
    let Some(world) = directory() else { return };
    world.write("a", "1");
    case(&world, "a", "");
    assert!(!world.path(".git").exists(), "no repository is made");
    world.git(&["init", "--quiet", "-b", "main"]);
    case(&world, "a", "set user.name and user.email");
    let status = world.git(&["status", "--porcelain", "-uall", "a"]);
    assert_eq!(status, "?? a\n", "nothing is staged");
    identify(&world);
    case(&world, "a", "");
    assert_eq!(committed(&world), "a\0");
}

#[test]
fn other_paths_are_not_committed() {
    let Some(world) = repository() else { return };
    world.write(".gitignore", "ignored\n");
    world.write("ignored", "1");
    world.write("folder/a", "1");
    symlink(world.path("folder"), world.path("link")).unwrap();
    let outside = tempfile::NamedTempFile::new().unwrap();
    for (file, message) in [
        ("other", ""),
        ("ignored", ""),
        ("folder", "it is not a regular file"),
        (".", "it is not a regular file"),
        ("gone", "it is not a regular file"),
        ("", "no file is named"),
        ("a\0", "no file is named"),
        ("link/a", "not committed: "),
        (outside.path().to_str().unwrap(), "not committed: "),
    ] {
        case(&world, file, message);
    }
    assert_eq!((world.commits(), &*staged(&world)), (1, ""));
}

#[test]
fn nothing_is_committed_during_a_merge() {
    let Some(world) = repository() else { return };
    world.git(&["switch", "--quiet", "-c", "branch"]);
    world.write("other", "2");
    world.git(&["commit", "--quiet", "-am", "second"]);
    world.git(&["switch", "--quiet", "main"]);
    world.write("other", "3");
    world.git(&["commit", "--quiet", "-am", "third"]);
    for operation in ["merge", "rebase"] {
        let conflict = world.try_git(&[operation, "branch"]);
        assert_eq!(conflict, None, "{operation}");
        world.write("a", "1");
        case(&world, "a", "is in progress");
        world.git(&[operation, "--abort"]);
    }
    assert_eq!(world.commits(), 3);
}

#[test]
fn no_git_hook_runs_and_nothing_is_signed() {
    let Some(world) = repository() else { return };
    for hook in ["pre-commit", "commit-msg", "post-commit"] {
        for folder in [".git/hooks", "husky"] {
            world.script(&format!("{folder}/{hook}"), "#!/bin/sh\n: >ran\nexit 1\n");
        }
    }
    world.git(&["config", "commit.gpgSign", "true"]);
    world.write("a", "1");
    // A hook of another repository may run this test, with the variables that git sets for its hooks.
    let outer = World::new();
    outer.git(&["init", "--quiet"]);
    let hook = hook(&world)
        .with_env("GIT_DIR", outer.path(".git").to_str().unwrap())
        .with_env("GIT_INDEX_FILE", outer.path(".git/index").to_str().unwrap());
    case_with(&world, hook, "a", "");
    world.git(&["config", "core.hooksPath", "husky"]);
    world.write("b", "1");
    case(&world, "b", "");
    assert_eq!((world.commits(), outer.commits()), (3, 0));
    assert!(!world.path("ran").exists());
}
