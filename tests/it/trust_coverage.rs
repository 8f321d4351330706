//! What an approval covers: a hook runs only approved files. Under which names its command may use them is in
//! `trust_changes`.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use forge_hooks::trust::Approval;

use crate::trust::{PROJECT, Project};

fn with_hook(keys: &str) -> Project {
    let project = Project::new();
    let text = format!(r#"{{"hooks": [{{"event": "tool:*", {keys}}}]}}"#);
    project.world.write(PROJECT, &text);
    project
}

#[test]
fn a_dangling_link_is_not_a_directory() {
    let project = with_hook(r#""command": "sh \"$PWD\"/lib/a.sh", "inputs": ["lib"]"#);
    project.world.write("project/lib/a.sh", "exit 0");
    symlink("nowhere", project.world.path("project/lib/link")).unwrap();
    project.approve();
    assert!(project.load().is_ok() && project.guard().allowed());
    let evil = "echo ran >ran; exit 0";
    project.world.write("project/lib/a.sh", evil);
    assert!(!project.guard().allowed() && !project.world.path("project/ran").exists());
}

#[test]
fn a_redirected_link_is_another_project() {
    let project = Project::new();
    project.approve();
    let link = project.world.path("link");
    symlink(project.root(), &link).unwrap();
    let _ = project.load_at(&link);
    assert!(project.guard().allowed());
    project.world.write("other/guard.sh", "echo ran >ran");
    std::fs::remove_file(&link).unwrap();
    symlink(project.world.path("other"), &link).unwrap();
    assert!(!project.guard().allowed());
    assert!(!project.world.path("other/ran").exists());
}

#[test]
fn a_very_deep_directory_does_not_crash() {
    let project = with_hook(r#""command": "exit 0", "inputs": ["lib"]"#);
    project.world.write("project/lib/a", "");
    project.approve();
    let _ = project.load();
    let made = std::process::Command::new("mkdir")
        .args(["-p", &"d/".repeat(1000)])
        .current_dir(project.world.path("project/lib"))
        .status();
    assert!(made.unwrap().success());
    let small = std::thread::Builder::new().stack_size(1024 * 1024);
    let allowed = small.spawn(move || project.guard().allowed()).unwrap();
    assert!(!allowed.join().unwrap());
}

#[test]
fn concurrent_approvals_are_both_kept() {
    let project = Project::new();
    let store = project.store();
    let roots = [(); 8].map(|()| tempfile::tempdir().unwrap());
    std::thread::scope(|scope| {
        for root in &roots {
            let (store, hooks) = (&store, project.config().load_project(project.root()));
            scope.spawn(move || store.approve(&Approval::of(root, hooks).unwrap()).unwrap());
        }
    });
    for root in &roots {
        assert_eq!(store.approved(root).unwrap().len(), 2, "{root:?}");
    }
}

#[test]
fn a_removed_hook_is_reported_printable() {
    let hook = "\"command\": \"exit 0\", \"description\": \"\\u001b[2Jgone\u{202e}\"";
    let project = with_hook(hook);
    project.approve();
    project.world.write(PROJECT, r#"{"hooks": []}"#);
    let report = project.load();
    let reported = report.problems[0].to_string() + &report.to_string();
    assert!(reported.contains("gone"), "{reported:?}");
    assert!(!reported.contains(['\u{1b}', '\u{202e}']), "{reported:?}");
}
