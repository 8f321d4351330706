//! Which files an approval covers for which commands: what the command itself runs counts, or the
//! approval says that it is partial.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;

use forge_hooks::{Approval, Approved, Hook};
use serde_json::{Value, json};

use crate::support::World;

/// Files that are there when the hook is approved; those that end in `!` can be executed.
const FILES: &[&str] = &[
    "guard.sh!",
    "my guard.sh!",
    "hooks/x.sh",
    "x.py",
    "sub/own.sh!",
    "x.awk",
    "x.jq",
    "check.js",
    "hooks.mk",
    "package.json",
    "bin/tool!",
    "notes.txt",
    "run!",
];

fn project() -> World {
    let world = World::new();
    for file in FILES {
        let path = world.write(&format!("project/{}", file.trim_end_matches('!')), "true\n");
        if file.ends_with('!') {
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        }
    }
    world
}

fn look(world: &World, entry: &Value) -> Approved {
    let hook = Hook::from_json(entry).unwrap();
    let approval = Approval::of(world.path("project"), [hook]).unwrap();
    approval.hooks.into_iter().next().unwrap()
}

fn shell(command: &str) -> Value {
    json!({"event": "*", "command": command})
}

/// Whole, and covers these; `-` is before one that does not exist.
#[track_caller]
fn whole(entry: Value, files: &[&str]) {
    let approved = look(&project(), &entry);
    let shown = |(name, digest): &(String, Option<String>)| match digest {
        Some(_) => name.clone(),
        None => format!("-{name}"),
    };
    let found: Vec<String> = approved.files.iter().map(shown).collect();
    assert_eq!(found, files, "{entry}");
    assert_eq!(approved.partial, [""; 0], "{entry}");
}

#[track_caller]
fn partial(entry: Value, reason: &str) {
    let approved = look(&project(), &entry);
    assert!(
        approved.partial.iter().any(|it| it.contains(reason)),
        "{entry}: {approved:?}"
    );
}

#[test]
fn an_approval_is_whole_where_all_is_known() {
    whole(shell("./guard.sh"), &["guard.sh"]);
    whole(shell("sh hooks/x.sh"), &["hooks/x.sh"]);
    whole(shell("python3 -I x.py"), &["x.py"]);
    whole(shell("./gu\\\nard.sh"), &["guard.sh"]);
    whole(shell("\"./my guard.sh\""), &["my guard.sh"]);
    whole(shell("sh -c './gu\"ar\"d.sh'"), &["guard.sh"]);
    whole(shell("sh -c '\"./my guard.sh\"'"), &["my guard.sh"]);
    whole(shell("bash -e guard"), &["-guard"]);
    whole(shell("env -C sub ./own.sh"), &["sub/own.sh"]);
    whole(shell("awk -fx.awk"), &["x.awk"]);
    whole(shell("FOO=1 ./guard.sh"), &["guard.sh"]);
    whole(shell("jq -e .x"), &[]);
    whole(shell("grep -q x"), &[]);
    whole(
        shell("node check"),
        &["-check", "check.js", "-check.json", "-check.node"],
    );
    whole(shell("exec ./run --fast"), &["run"]);
    whole(shell("\"A=./run\" true"), &["-A=./run"]);
    whole(shell(". ./later.sh"), &["-later.sh"]);
    whole(shell("sh < hooks/x.sh"), &["hooks/x.sh"]);
    whole(shell("echo \"$(./guard.sh)\""), &["guard.sh"]);
    whole(
        shell("test -e y || exit 0; if ./run; then true; fi"),
        &["run"],
    );
    whole(
        shell("case $X in a) ./run ;; *) sh hooks/x.sh ;; esac"),
        &["hooks/x.sh", "run"],
    );
    whole(shell("/usr/bin/env -S python3 -I x.py"), &["x.py"]);
    whole(shell("PATH=/usr/bin:/bin jq ."), &[]);
    whole(shell("jq -rf x.jq >> hooks.log"), &["x.jq"]);
    whole(
        json!({"event": "*", "args": ["sh", "-c", "exec ./guard.sh --x"]}),
        &["guard.sh"],
    );
    whole(
        json!({"event": "*", "args": ["./own.sh", "$x"], "working_dir": "sub"}),
        &["sub/own.sh"],
    );
    // What is not run does not count, and can change.
    whole(
        shell("echo '{\"updatedInput\": {\"path\": \"out.txt\"}}'"),
        &[],
    );
    whole(shell("cat notes.txt > out.txt"), &[]);
    whole(shell("git add package.json"), &[]);
}

#[test]
fn an_approval_says_why_it_is_partial() {
    for (command, reason) in [
        ("sh $x.sh", "$x.sh`"),
        ("sh \"${N}.sh\"", "${N}.sh`"),
        ("sh $(echo guard).sh", "$(echo guard).sh`"),
        ("bash gu{ar,x}d.sh", "gu{ar,x}d.sh`"),
        ("$'guard\\x2esh'", "that shells read differently"),
        ("for f in *.hook; do sh \"$f\"; done", "$f`"),
        ("run-parts hooks.d", "`run-parts` may run"),
        ("find hooks.d -exec sh {} \\;", "`find` may run"),
        ("make -C tools", "`make` may run"),
        ("make -sfhooks.mk", "`make` may run"),
        ("python3 -m tools", "`python3 -m`"),
        ("python3 x.py", "without `-I`"),
        ("PATH=bin:$PATH guard", "`PATH` is set"),
        ("PATH=\":/usr/bin\" guard", "`PATH` is set"),
        ("export PATH=bin; guard", "`PATH` is set"),
        ("env PATH=bin guard", "`PATH` is set"),
        ("prettier --write package.json", "`prettier` may run"),
        ("../outside.sh", "is outside of the project"),
        ("sh /somewhere/x.sh", "is outside of the project"),
        ("cd sub && ./own.sh", "after `cd`"),
        ("cat x.sh | sh", "`sh` runs its standard input"),
        ("python3 -Ic 'import x'", "the code of `python3 -Ic`"),
        ("awk 'BEGIN {system(\"./run\")}'", "the code of `awk`"),
        ("sed -n '1e ./run'", "the code of `sed`"),
        ("curl -sK notes.txt", "`curl` reads its options"),
        ("git -c alias.x='!./run' x", "`git` may run"),
        ("sort --compress-program=./run", "`sort` may run"),
        ("cp notes.txt new.sh; sh new.sh", "`new.sh` may be written"),
        (
            "curl -sO https://example.org/new.sh; sh new.sh",
            "`new.sh` may be written",
        ),
        ("git commit -m x", "`git` may run"),
        ("git push", "`git` may run"),
        ("zsh -c 'echo x'", "`zsh` may read this code differently"),
        ("cat notes.txt >new; sh ./new", "`new` may be written"),
        ("eval \"$X\"", "`$X`"),
        ("a 'b", "that shells read differently"),
        ("env -C sub git status", "`git` in another directory"),
        ("sh -s", "`sh -s`"),
        ("jq -L lib .", "`jq -L`"),
        ("read PATH; guard", "`PATH` is set"),
    ] {
        partial(shell(command), reason);
    }
    partial(
        json!({"event": "*", "command": "guard", "env": {"PATH": "bin:/usr/bin"}}),
        "`PATH` is set",
    );
    partial(
        json!({"event": "*", "command": "./guard.sh", "shell": "bash", "env": {"BASH_ENV": "./init.sh"}}),
        "`BASH_ENV` is set",
    );
    partial(
        json!({"event": "*", "command": "python3 -I x.py", "env": {"PYTHONPATH": "lib"}}),
        "`PYTHONPATH` is set",
    );
    partial(
        json!({"event": "*", "command": "./guard.sh", "shell": "fish"}),
        "commands for `fish`",
    );
}

#[test]
fn a_shebang_is_a_command_too() {
    let world = project();
    for (line, reason) in [
        ("#!/usr/bin/env python3", "without `-I`"),
        ("#!/usr/bin/make -f", "`make` may run"),
    ] {
        world.write("project/guard.sh", line);
        let approved = look(&world, &shell("./guard.sh"));
        assert!(approved.partial[0].contains(reason), "{approved:?}");
    }
    world.write("project/guard.sh", "#!bin/tool --x\n");
    let approved = look(&world, &shell("./guard.sh"));
    let names: Vec<&str> = approved.files.iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        (names, approved.partial),
        (vec!["bin/tool", "guard.sh"], vec![])
    );
}

#[test]
fn inputs_take_reasons_away() {
    let with = |command: &str, inputs: &[&str]| json!({"event": "*", "command": command, "inputs": inputs});
    whole(
        with("python3 hooks/x.py", &["hooks"]),
        &["hooks", "-hooks/x.py"],
    );
    whole(with("cd sub && ./own.sh", &["sub"]), &["-own.sh", "sub"]);
    whole(with("sh sub", &["sub"]), &["sub"]);
    whole(with("PATH=bin:/usr/bin jq .", &["bin"]), &["bin"]);
    whole(
        with("true", &["hooks/*.sh", "none/**"]),
        &["hooks/*.sh", "-none/**"],
    );
    partial(with("sh $x.sh", &["hooks"]), "$x.sh`");
    partial(with("make", &["hooks.mk"]), "`make`");
    partial(with("true", &["../x"]), "`../x` of `inputs` is not within");
}

#[test]
fn data_that_becomes_a_script_blocks() {
    let project = crate::trust::Project::new();
    let hook = json!({"event": "tool:*", "command": "sh -c ':' notes.txt data"});
    let text = json!({"hooks": [hook]}).to_string();
    project.world.write(crate::trust::PROJECT, &text);
    project.world.write("project/notes.txt", "a");
    let data = project.world.write("project/data", "a");
    project.approve();
    let _ = project.load();
    project.world.write("project/notes.txt", "b");
    assert!(project.guard().allowed());
    std::fs::set_permissions(&data, PermissionsExt::from_mode(0o755)).unwrap();
    project.blocks("`data` has become a script");
    std::fs::set_permissions(&data, PermissionsExt::from_mode(0o644)).unwrap();
    assert!(project.guard().allowed());
    project.world.write("project/data", "#!/bin/sh\n");
    project.blocks("`data` has become a script");
}
