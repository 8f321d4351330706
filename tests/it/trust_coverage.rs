//! What an approval covers: a hook runs only approved files, under whichever name its command uses
//! them.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::trust::{PROJECT, Project};

/// A project with this one hook, for all that tools do.
fn with_hook(hook: serde_json::Value) -> Project {
    let project = Project::new();
    let mut hook = hook;
    hook["event"] = json!("tool:*");
    let text = json!({"hooks": [hook]}).to_string();
    project.world.write(PROJECT, &text);
    project
}

/// Approved, the hook runs this file; changed, it does not run any more.
#[track_caller]
fn covers(project: &Project, file: &str) {
    project.world.write(&format!("project/{file}"), "exit 0");
    project.approve();
    assert!(project.load().is_ok());
    assert!(project.guard().allowed());
    project
        .world
        .write(&format!("project/{file}"), "echo ran >ran; exit 0");
    assert!(!project.guard().allowed(), "{file}");
    assert!(!project.world.path("project/ran").exists(), "{file}");
}

#[test]
fn a_dangling_link_is_not_a_directory() {
    let project = with_hook(json!({"command": "sh \"$PWD\"/lib/a.sh", "inputs": ["lib"]}));
    project.world.write("project/lib/a.sh", "exit 0");
    symlink("nowhere", project.world.path("project/lib/link")).unwrap();
    covers(&project, "lib/a.sh");
}

#[test]
fn a_name_with_an_equals_sign_is_a_name() {
    covers(
        &with_hook(json!({"command": "sh ./run=guard.sh"})),
        "run=guard.sh",
    );
}

#[test]
fn code_that_names_a_file_is_still_code() {
    let project = with_hook(json!({"args": ["sh", "-c", "exec sh ./guard.sh"]}));
    project.world.write("project/exec sh ./guard.sh", "");
    covers(&project, "guard.sh");
}

#[test]
fn a_file_named_by_a_variable_counts() {
    let hook = json!({"command": "sh \"$SCRIPT\"", "env": {"SCRIPT": "guard.sh"}});
    covers(&with_hook(hook), "guard.sh");
}

#[test]
fn a_redirected_link_is_another_project() {
    let project = Project::new();
    project.approve();
    let link = project.world.path("link");
    symlink(project.root(), &link).unwrap();
    let policy = forge_hooks::config::TrustPolicy::Approved(project.store());
    let _ = project
        .config()
        .load_into(project.world.registry(), &link, policy);
    assert!(project.guard().allowed());
    project.world.write("other/guard.sh", "echo ran >ran");
    std::fs::remove_file(&link).unwrap();
    symlink(project.world.path("other"), &link).unwrap();
    assert!(!project.guard().allowed());
    assert!(!project.world.path("other/ran").exists());
}

#[test]
fn a_very_deep_directory_does_not_crash() {
    let project = with_hook(json!({"command": "exit 0", "inputs": ["lib"]}));
    project.world.write("project/lib/a", "");
    project.approve();
    let _ = project.load();
    let made = std::process::Command::new("sh")
        .args(["-c", "mkdir -p $(yes d | head -n 1900 | tr '\\n' /)"])
        .current_dir(project.world.path("project/lib"))
        .status();
    assert!(made.unwrap().success());
    let small = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    let allowed = small
        .spawn(move || project.guard().allowed())
        .unwrap()
        .join();
    assert!(!allowed.unwrap());
}

#[test]
fn concurrent_approvals_are_both_kept() {
    let project = Project::new();
    let store = project.store();
    let roots: Vec<_> = (0..16)
        .map(|number| {
            let name = format!("p{number}");
            project.world.write(&format!("{name}/x"), "");
            project.world.path(&name)
        })
        .collect();
    std::thread::scope(|scope| {
        for root in &roots {
            let (store, hooks) = (&store, project.config().load_project(project.root()));
            scope.spawn(move || {
                let approval = forge_hooks::trust::Approval::of(root, hooks).unwrap();
                store.approve(&approval).unwrap();
            });
        }
    });
    for root in &roots {
        assert_eq!(store.approved(root).unwrap().len(), 2, "{}", root.display());
    }
}

#[test]
fn a_removed_hook_is_reported_printable() {
    let project = with_hook(json!({"command": "exit 0", "description": "\u{1b}[2Jgone\u{202e}"}));
    project.approve();
    project.world.write(PROJECT, r#"{"hooks": []}"#);
    let report = project.load();
    let reported = report.problems[0].to_string() + &report.to_string();
    assert!(
        reported.contains("gone") && !reported.contains(['\u{1b}', '\u{202e}']),
        "{reported:?}"
    );
}
