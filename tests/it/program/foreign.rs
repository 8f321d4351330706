//! The commands in a directory that someone else has made.

use super::User;

#[test]
fn few_files_of_other_hosts_are_read_for_hints() {
    let user = User::new();
    for number in 0..20 {
        let hook = r#"{"hooks": [{"event": "*", "command": "true"}]}"#;
        user.write(&format!("project/.host{number:02}/hooks.json"), hook);
    }
    let printed = user.run(&["list"]);
    let hints = printed.out.matches("is for hosts called").count();
    assert_eq!(hints, 8, "{printed:?}");
}

#[test]
#[cfg(unix)]
fn init_follows_no_link_out_of_the_project() {
    let user = User::new();
    std::fs::create_dir(user.path("outside")).unwrap();
    let link = user.path("project/.forge-hooks");
    std::os::unix::fs::symlink(user.path("outside"), link).unwrap();
    let printed = user.run(&["init"]);
    assert_eq!(printed.status, 2, "{printed:?}");
    assert!(
        printed.err.contains("leads out of the project"),
        "{printed:?}"
    );
    assert_eq!(std::fs::read_dir(user.path("outside")).unwrap().count(), 0);
}
