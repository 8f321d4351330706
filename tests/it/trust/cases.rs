//! Changes of a project that end an approval, and attempts of an attacker to have a hook run unapproved code, or to
//! make its host wait: the cases of `cases.txt`, and the examples of docs/approval.md.
//!
//! A case begins with `== NAME`, in a project of its own; its lines are done in order. `hook KEYS` puts one entry into
//! the hooks file, `claude COMMAND` one into that of Claude Code. `$ COMMAND` is run by a shell, in the project.
//! `approve` approves everything, `shows TEXT` is a part of what a person sees of it, and `reload` loads again. `refused` cannot be
//! approved. Then an event that can be
//! blocked `runs` the hook, or it `blocks` since an approval was lost, with a reason that has this text. A case with
//! lines `each A | B` is done for each of them, with `A` in place of `@1`, and so on;
//! where there are many, one in three is done by default.
#![cfg(unix)]

use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::thread;

use forge_hooks::Hooks;
use serde_json::{Value, json};

use super::changes::{host, lost};
use crate::cases::{cases, each_at_once};
use crate::support::{World, one_in};

struct CaseProject {
    world: World,
    hooks: Option<Hooks>,
    /// The text that was shown for an approval.
    shown: String,
}

impl CaseProject {
    fn step(&mut self, step: &str) {
        let (what, rest) = step.split_once(' ').unwrap_or((step, ""));
        match what {
            "#" => {}
            "hook" => {
                let text = format!(r#"{{"hooks": [{{"event": "tool:*", {rest}}}]}}"#);
                self.world.write("project/.myagent/hooks.json", &text);
            }
            "claude" => {
                let handler = json!({"type": "command", "command": rest});
                let file: Value = json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}});
                let name = "project/.claude/settings.json";
                self.world.write(name, &file.to_string());
            }
            "$" => {
                let mut shell = Command::new("sh");
                shell.args(["-c", rest]).stderr(Stdio::null());
                let ended = shell.current_dir(self.world.path("project")).status();
                assert!(ended.unwrap().success());
            }
            "socket" => drop(UnixListener::bind(self.world.path("project").join(rest)).unwrap()),
            "approve" => self.approve(),
            "refused" => self.refused(),
            "reload" => drop(self.hooks.as_ref().unwrap().reload()),
            "shows" => assert!(self.shown.contains(rest), "{}", self.shown),
            "runs" => assert_eq!(self.lost(), None),
            "blocks" => {
                let why = self.lost().expect("a lost approval");
                assert!(why.contains(&rest.replace('⏎', "\n")), "{why}");
            }
            _ => panic!("there is no such step"),
        }
    }

    fn approve(&mut self) {
        let hooks = host(&self.world);
        let asked = |approval: &forge_hooks::trust::Approval| {
            self.shown = approval.to_string();
            true
        };
        assert!(hooks.approve_with(asked).unwrap());
        assert_eq!(lost(&hooks), None);
        self.hooks = Some(hooks);
    }

    fn refused(&self) {
        let error = host(&self.world).approve_with(|_| true).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("it may run files that no approval covers"),
            "{error}"
        );
    }

    fn lost(&self) -> Option<String> {
        lost(self.hooks.as_ref().unwrap())
    }
}

/// Returns the steps of a case, for each of its rows.
fn rows(text: &str) -> Vec<String> {
    let (rows, steps): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("each "));
    let steps = steps.join("\n");
    if rows.is_empty() {
        return vec![steps];
    }
    let with = |row: &&str| {
        let cells = row["each ".len()..].split(" | ").enumerate();
        cells.fold(steps.clone(), |steps, (index, cell)| {
            steps.replace(&format!("@{}", index + 1), cell)
        })
    };
    let alike = if rows.len() > 10 { 7 } else { 2 };
    one_in(alike, rows.iter().map(with)).collect()
}

/// With a small stack, which no directory may use up.
#[test]
fn approvals_end_where_they_must() {
    let plays: Vec<_> = cases(include_str!("cases.txt"))
        .into_iter()
        .flat_map(|case| {
            rows(case.text)
                .into_iter()
                .map(move |steps| (case.name, steps))
        })
        .collect();
    each_at_once(&plays, |(name, steps)| {
        let play = || {
            let mut project = CaseProject {
                world: World::new(),
                hooks: None,
                shown: String::new(),
            };
            for step in steps.lines() {
                project.step(step);
            }
        };
        thread::scope(|scope| {
            let small = thread::Builder::new().stack_size(1024 * 1024);
            let ended = small.spawn_scoped(scope, play).unwrap().join();
            assert!(ended.is_ok(), "{name}\n{steps}");
        });
    });
}
