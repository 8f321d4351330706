//! The place of the approvals, and the project that each belongs to. The files that they cover are in `cases`.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use forge_hooks::trust::Approval;

use super::{PROJECT, Project};

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
    let project = Project::new();
    let text = format!(r#"{{"hooks": [{{"event": "tool:*", {hook}}}]}}"#);
    project.world.write(PROJECT, &text);
    project.approve();
    project.world.write(PROJECT, r#"{"hooks": []}"#);
    let report = project.load();
    let reported = report.problems[0].to_string() + &report.to_string();
    assert!(reported.contains("gone"), "{reported:?}");
    assert!(!reported.contains(['\u{1b}', '\u{202e}']), "{reported:?}");
}
