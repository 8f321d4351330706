//! Approvals in a repository that is made to mislead them: links, other names of a directory, too much of everything.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use forge_hooks::trust::Approval;

use super::{PROJECT, Project};

fn with_hook(keys: &str) -> Project {
    let project = Project::new();
    let text = format!(r#"{{"hooks": [{{"event": "tool:*", {keys}}}]}}"#);
    project.world.write(PROJECT, &text);
    project
}

#[test]
fn a_working_directory_does_not_become_another_one() {
    let command = r#""command": "test -f x.sh && sh ./x.sh; exit 0", "working_dir": "sub""#;
    for was_link in [false, true] {
        let project = with_hook(command);
        let path = |name: &str| project.world.path(name);
        project.world.write("other/x.sh", "echo ran >ran");
        fs::create_dir(path("empty")).unwrap();
        if was_link {
            symlink(path("empty"), path("project/sub")).unwrap();
        } else {
            fs::create_dir(path("project/sub")).unwrap();
        }
        project.approve();
        assert!(project.load().is_ok() && project.guard().allowed());
        let removed = fs::remove_file(path("project/sub"));
        removed
            .or_else(|_| fs::remove_dir(path("project/sub")))
            .unwrap();
        symlink(path("other"), path("project/sub")).unwrap();
        project.blocks("`sub` has");
        assert!(!path("other/ran").exists());
    }
}

#[test]
fn a_link_does_not_take_files_out_of_inputs() {
    for pattern in [
        "rules/k*/*.json",
        "rules/z*/*.json",
        "rules/**/keep/*.json",
        "rules/**/zzz/*.json",
    ] {
        let project = with_hook(&format!(r#""command": "exit 0", "inputs": ["{pattern}"]"#));
        project.world.write("project/rules/keep/x.json", "1");
        symlink("keep", project.world.path("project/rules/zzz")).unwrap();
        // Leads back to itself.
        symlink("..", project.world.path("project/rules/keep/up")).unwrap();
        project.approve();
        assert!(
            project.load().is_ok() && project.guard().allowed(),
            "{pattern}"
        );
        project.world.write("project/rules/keep/x.json", "22");
        project.blocks("`rules/keep/x.json` has changed");
    }
}

#[test]
fn a_directory_that_is_run_is_covered() {
    let project = with_hook(r#""args": ["python3", "tools/guard"]"#);
    project.world.write("project/tools/guard/__main__.py", "");
    let covered = &project.look().hooks[0].files;
    assert_eq!(covered[0].0, "tools/guard/__main__.py");
}

#[test]
fn nobody_is_asked_about_too_many_files() {
    let entry = r#"{"event": "tool:*", "command": "exit 0"}"#;
    let project = Project::new();
    for number in 0..90 {
        let name = format!("project/.src/forge/hooks/{number}.sh");
        project.world.write(&name, "");
    }
    for (hooks, is_too_much) in [(300, true), (200, false)] {
        let text = format!(r#"{{"hooks": [{}]}}"#, vec![entry; hooks].join(","));
        project.world.write(PROJECT, &text);
        let loaded = project.config().load_project(project.root());
        let approval = Approval::of(project.root(), loaded);
        assert_eq!(
            approval.is_err_and(|error| error.to_string().contains("more than 20,000 files")),
            is_too_much,
            "{hooks}"
        );
    }
}

#[test]
fn a_withdrawal_in_a_worktree_counts() {
    let project = Project::new();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let mut command = Command::new("git");
        command
            .args(identity)
            .args(args)
            .current_dir(project.root());
        assert!(command.output().unwrap().status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "x"]);
    git(&["worktree", "add", "-q", "../tree"]);
    project.approve();
    let (store, tree) = (project.store(), project.world.path("tree"));
    let counts = || [&tree, &project.root()].map(|root| store.approved(root).unwrap().len());
    assert_eq!(counts(), [2, 2]);
    assert!(store.revoke(&tree).unwrap());
    assert_eq!(counts(), [0, 2], "only those of this worktree");
    assert!(!store.revoke(&tree).unwrap());
    assert_eq!(counts(), [0, 2]);
    project.approve();
    assert_eq!(counts(), [0, 2]);
}

#[test]
fn a_changed_script_says_what_to_do() {
    let project = Project::new();
    project.approve();
    project.world.write("project/guard.sh", "exit 0");
    let report = project.load();
    let help = report.problems[0].help.as_deref().unwrap_or_default();
    assert!(
        help.starts_with("review the changes; to approve them: `forge-hooks trust"),
        "{report}"
    );
}

#[test]
fn a_file_that_becomes_too_large_has_changed() {
    let project = with_hook(r#""command": "exit 0", "inputs": ["a"]"#);
    project.world.write("project/a", "1");
    project.approve();
    assert!(project.load().is_ok() && project.guard().allowed());
    let file = fs::File::options()
        .write(true)
        .open(project.world.path("project/a"));
    file.unwrap().set_len(257 << 20).unwrap();
    project.blocks("`a` is beyond the 256 MiB of an entry");
}
