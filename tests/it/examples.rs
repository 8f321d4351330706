//! The examples, run as a newcomer would.

use std::path::PathBuf;
use std::process::Command;

/// The program of an example. `cargo test` builds them; where only this test was built, it is built
/// now.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(|deps| deps.parent()).unwrap();
    let program = folder
        .join("examples")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["build", "--quiet", "--example", name, "--target-dir"])
            .arg(folder.parent().unwrap())
            .status();
        assert!(status.unwrap().success());
    }
    program
}

fn output_of(name: &str, args: &[&str]) -> String {
    let output = Command::new(example(name)).args(args).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .unwrap()
        .replace("\r\n", "\n")
}

/// Section 10 of the specification's wireframes.
const COMPLETE: &str = "\
============================================================
Test 1: Normal bash command
Pre-execute results: 2 hooks
  tool:pre_execute: exit=0
    stdout: >>> Executing: bash
  tool:pre_execute:bash: exit=0
<<< Completed: bash

============================================================
Test 2: Blocked sudo command
Pre-execute results: 2 hooks
  tool:pre_execute: exit=0
    stdout: >>> Executing: bash
  tool:pre_execute:bash: exit=1, continue=False
    stdout: BLOCKED: sudo not allowed

Operation blocked by 1 hook(s)!

============================================================
Test 3: Read operation (no blocking hooks)
Pre-execute results: 1 hooks
  tool:pre_execute: exit=0
    stdout: >>> Executing: read

============================================================
Registered hooks:
  [enabled] tool:pre_execute: Announce tool execution
  [enabled] tool:pre_execute:bash: Block sudo commands
  [enabled] tool:post_execute: Announce tool completion
";

#[test]
fn complete_prints_what_the_specification_says() {
    assert_eq!(output_of("complete", &[]), COMPLETE);
}

#[test]
fn game_loop_plays_with_and_without_hooks_and_accounts_for_every_event() {
    let output = output_of("game_loop", &["0.5"]);
    let numbers = |name: &str| -> [u64; 2] {
        let line = output
            .lines()
            .find(|line| line.trim_start().starts_with(name));
        let line = line.unwrap_or_else(|| panic!("no line {name}: {output}"));
        let words: Vec<_> = line.split_whitespace().rev().take(2).collect();
        [words[1], words[0]].map(|word| word.parse().unwrap())
    };
    let fired = numbers("events fired");
    let [finished, refused, dropped] = ["finished", "refused", "dropped"].map(numbers);
    for pass in 0..2 {
        assert!(fired[pass] > 0);
        let accounted = finished[pass] + refused[pass] + dropped[pass];
        // What ended between the last look and the end is in none of the three.
        assert!(
            (accounted..=accounted + 4).contains(&fired[pass]),
            "{output}"
        );
    }
    assert_eq!(
        finished[0], fired[0],
        "without hooks each is finished at once: {output}"
    );
    assert!(dropped[1] > 0, "slow hooks do not keep up: {output}");
    assert!(output.contains("longest frame"), "{output}");
}

const TOOL_EXECUTOR: &str = r#"> write {"path":"notes.txt","text":"buy milk"}
  changed to {"path":"out/notes.txt","text":"buy milk"}
  for the user: written below out/
  written
> read {"path":"out/notes.txt"}
  buy milk
  for the model: notes are drafts
> bash {"command":"echo hello"}
  hello
> bash {"command":"sudo reboot"}
  blocked by hook `Block sudo`: sudo is not allowed
> bash {"command":"rm -r out"}
  may it? it deletes files
  the user says no
  blocked by hook `Ask before rm`: it deletes files
> read {"path":"missing.txt"}
  failed: entity not found

audit.log:
tool:post_execute write
tool:post_execute read
tool:post_execute bash
tool:error read
"#;

#[test]
fn tool_executor_blocks_changes_questions_and_audits() {
    assert_eq!(output_of("tool_executor", &[]), TOOL_EXECUTOR);
}
