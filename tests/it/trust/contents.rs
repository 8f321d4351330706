//! A covered file whose content changes, and none of its stamps: size, times and number.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

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

#[test]
fn a_change_through_a_mapping_is_seen() {
    let world = World::new();
    let entry = r#"{"event": "tool:*", "command": "sh guard; ./run"}"#;
    let text = format!(r#"{{"hooks": [{entry}]}}"#);
    world.write("project/.myagent/hooks.json", &text);
    world.write("project/guard", "exit 0\n");
    world.script("project/run", "#!/bin/sh\n");
    let file = world.path("project/guard");
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
    let why = lost(&hooks).expect("the content has changed");
    assert!(why.contains("`guard` has changed"), "{why}");
    // Loaded anew in the same process, which has read it before.
    let why = lost(&host(&world)).expect("the content has changed");
    assert!(why.contains("`guard` has changed"), "{why}");
    drop(input);
    assert!(python.wait().unwrap().success());
}
