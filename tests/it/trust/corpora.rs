//! The files that an approval covers, for commands that were written without a look at this crate: `hidden.txt` has
//! commands that hide a file which runs, `ordinary.txt` ordinary ones.
//!
//! A row of the first is the file that runs (with `+`, it must be executable), the command (`\n` is a line break) and, if the file is not covered, why. A row of
//! the second is a data file that may change, or `-`, the command and, if a change ends the approval, why. The project is
//! at `$HOME/thing`.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use forge_hooks::trust::Approval;
use forge_hooks::{AppProfile, HookConfig};
use serde_json::json;

use crate::support::run_alone;

const HOME: &str = "FORGE_HOOKS_TEST_HOME";

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns the files that an approval of a command covers, in a project that has this file. None is a script by its content.
fn covered(home: &Path, file: &str, command: &str) -> BTreeSet<String> {
    let root = home.join("thing");
    let _ = fs::remove_dir_all(&root);
    let usual = [
        "tools/ok.sh",
        "tools/ok.py",
        "lib/ok",
        "data.txt",
        "data.json",
        "guard.py",
        "check.mjs",
        "tools/track.js",
        "tools/track.py",
        "tools/watch.py",
    ];
    let scripts = ["guard.sh", "guard.py", "check.mjs"].map(|name| format!("tools/{name}"));
    let usual = usual.into_iter().chain(scripts.iter().map(|name| &**name));
    for name in usual.chain([file]).filter(|name| *name != "-") {
        match name.strip_prefix('+') {
            Some(name) => {
                let path = root.join(name);
                write(&path, "#!/bin/sh\n");
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
            None => write(&root.join(name), "x\n"),
        }
    }
    let entry = json!({"event": "*", "command": command.replace("\\n", "\n")});
    let text = json!({"hooks": [entry]}).to_string();
    write(&root.join(".myagent/hooks.json"), &text);
    let config = HookConfig::new(AppProfile::new("myagent")).with_config_home(home.join("config"));
    let approval = Approval::of(&root, config.load_project(&root)).unwrap();
    let files = approval.hooks.iter().flat_map(|hook| &hook.files);
    files.map(|(name, _)| name.clone()).collect()
}

/// Compares each row with what is known of it. Returns how many have a reason.
fn check(text: &str, is_exception: impl Fn(&BTreeSet<String>, &str) -> bool) -> usize {
    let home = PathBuf::from(std::env::var_os(HOME).unwrap());
    let mut wrong = Vec::new();
    let mut exceptions = 0;
    for row in text.lines() {
        let mut parts = row.splitn(3, '\t');
        let (file, command) = (parts.next().unwrap(), parts.next().unwrap());
        let is_uncovered = is_exception(&covered(&home, file, command), file);
        exceptions += usize::from(is_uncovered);
        if is_uncovered != parts.next().is_some() {
            wrong.push(format!("{is_uncovered}\t{row}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} rows:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    exceptions
}

/// In a process of its own: `~` is a directory of the test.
fn at_home(test: &str) -> bool {
    if std::env::var_os(HOME).is_some() {
        return true;
    }
    let home = tempfile::tempdir().unwrap();
    let test = format!("trust::corpora::{test}");
    run_alone(&test, |command| {
        command.env(HOME, home.path()).env("HOME", home.path())
    });
    false
}

#[test]
fn few_files_are_hidden() {
    if at_home("few_files_are_hidden") {
        let text = include_str!("hidden.txt");
        let hidden = check(text, |covered, file| {
            !covered.contains(file.trim_start_matches('+'))
        });
        assert!(hidden <= 40, "{hidden}");
    }
}

#[test]
fn few_ordinary_commands_lose_their_approval() {
    if at_home("few_ordinary_commands_lose_their_approval") {
        let text = include_str!("ordinary.txt");
        let lost = check(text, |covered, file| covered.contains(file));
        assert!(lost <= 4, "{lost}");
    }
}
