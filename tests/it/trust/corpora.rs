//! The files that an approval covers, for commands that were written without a look at this crate: `hidden.txt` has
//! commands that hide a file which runs, `ordinary.txt` ordinary ones.
//!
//! A row of the first is the file that runs (with `+`, it must be executable), the command (`\n` is a line break) and, if the
//! file is neither covered nor the command refused, why. A row of the second is a data file, or `-`, the command and, if that
//! needs `inputs`: `covered`, since a change of the file ends the approval, or `refused`. The project is at `$HOME/thing`.
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

/// Returns the files that an approval of a command covers, in a project that has this file; none if the command is refused.
fn covered(home: &Path, file: &str, command: &str) -> Option<BTreeSet<String>> {
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
    let approval = match Approval::of(&root, config.load_project(&root)) {
        Err(error) if error.to_string().contains("no approval covers") => return None,
        approval => approval.unwrap(),
    };
    let files = approval.hooks.iter().flat_map(|hook| &hook.files);
    Some(files.map(|(name, _)| name.clone()).collect())
}

/// Compares each row with what is known of it. `says` returns whether a row must say why, and what it may say then. Returns what
/// the rows say.
fn check(
    text: &'static str,
    says: impl Fn(Option<&BTreeSet<String>>, &str) -> Option<&'static str>,
) -> Vec<&'static str> {
    let home = PathBuf::from(std::env::var_os(HOME).unwrap());
    let mut wrong = Vec::new();
    let mut reasons = Vec::new();
    for row in text.lines() {
        let mut parts = row.splitn(3, '\t');
        let (file, command) = (parts.next().unwrap(), parts.next().unwrap());
        let (said, expected) = (
            parts.next(),
            says(covered(&home, file, command).as_ref(), file),
        );
        let is_same = match (said, expected) {
            (Some(said), Some(expected)) => said.starts_with(expected),
            (said, expected) => said.is_none() && expected.is_none(),
        };
        if !is_same {
            wrong.push(format!("{expected:?}\t{row}"));
        }
        reasons.extend(said);
    }
    assert!(
        wrong.is_empty(),
        "{} rows:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    reasons
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
        let hidden = check(include_str!("hidden.txt"), |covered, file| {
            let is_covered =
                |covered: &BTreeSet<String>| covered.contains(file.trim_start_matches('+'));
            // Any reason.
            (!covered.is_none_or(is_covered)).then_some("")
        });
        assert_eq!(hidden.len(), 12, "{hidden:?}");
    }
}

#[test]
fn few_ordinary_commands_are_refused() {
    if at_home("few_ordinary_commands_are_refused") {
        let reasons = check(
            include_str!("ordinary.txt"),
            |covered, file| match covered {
                None => Some("refused"),
                Some(covered) => covered.contains(file).then_some("covered"),
            },
        );
        let refused = reasons.iter().filter(|reason| **reason == "refused");
        assert_eq!(refused.count(), 15);
    }
}
