//! A covered file whose content changes, and none of its stamps: size, times and number.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::json;

use super::await_age;
use super::changes::{host, lost};
use crate::support::World;

/// Writes through a mapping of a file that it has had since before the approval.
const MAPPED: &str = "import mmap, sys
with open(sys.argv[1], 'r+b') as file:
    mapped = mmap.mmap(file.fileno(), 0)
mapped[5:6] = b'0'
print('ready', flush=True)
sys.stdin.readline()
mapped[5:6] = b'2'
print('done', flush=True)
sys.stdin.readline()
";

/// Changes one byte of a covered file of a hook with this command.
fn changes_through_a_mapping(command: &str, name: &str) {
    let world = World::new();
    let entry = json!({"event": "tool:*", "command": command});
    let text = json!({"hooks": [entry]}).to_string();
    world.write("project/.myagent/hooks.json", &text);
    let padding = format!("exit 0\n#{}\n", "x".repeat(69_000));
    world.write("project/guard", &padding);
    world.script("project/run", "#!/bin/sh\n");
    world.write("project/.myagent/hooks/lib.sh", "exit 0\n");
    let file = world.path("project").join(name);
    let mut python = Command::new("python3")
        .args(["-c", MAPPED])
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(python.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let hooks = host(&world);
    assert!(hooks.approve_with(|_| true).unwrap());
    // Until then, no stamp counts.
    await_age(&file);
    assert_eq!(lost(&hooks), None);
    assert_eq!(lost(&hooks), None);
    let mut input = python.stdin.take().unwrap();
    input.write_all(b"\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "done");
    let expected = format!("`{name}` has changed");
    let why = lost(&hooks).expect("the content has changed");
    assert!(why.contains(&expected), "{why}");
    // Loaded anew in the same process, which has read it before.
    let why = lost(&host(&world)).expect("the content has changed");
    assert!(why.contains(&expected), "{why}");
    drop(input);
    assert!(python.wait().unwrap().success());
}

#[test]
fn a_change_through_a_mapping_is_seen() {
    std::thread::scope(|scope| {
        for (command, name) in [
            ("sh guard; ./run", "guard"),
            ("./run", ".myagent/hooks/lib.sh"),
        ] {
            scope.spawn(move || changes_through_a_mapping(command, name));
        }
    });
}
