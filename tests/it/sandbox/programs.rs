//! Programs that hooks use, in a sandbox: the rows of docs/sandbox.md, "What works in it".

use forge_hooks::Sandbox;

use super::{confined, is_possible};
use crate::support::{World, is_missing, one_in};

/// A program; its command; whether it succeeds with `true`; and with `"write": ["."]`.
const ROWS: &[(&str, &str, bool, bool)] = &[
    (
        "bash",
        "bash -c 'x=$(mktemp); cat <<<hi >$x; diff <(echo a) <(echo a)'",
        true,
        true,
    ),
    ("sh", "awk 'BEGIN { print 1 }'", true, true),
    ("jq", "jq -e .type", true, true),
    (
        "git",
        "git status --short && git log -1 && git diff --stat",
        true,
        true,
    ),
    (
        "git",
        "git commit --quiet --allow-empty --message x",
        false,
        true,
    ),
    (
        "python3",
        "python3 -c 'import asyncio, subprocess, tempfile; tempfile.mkdtemp(); subprocess.run([\"true\"]); asyncio.run(asyncio.sleep(0))'",
        true,
        true,
    ),
    (
        "node",
        "node -e 'new (require(\"worker_threads\").Worker)(\"0\", {eval: true}); require(\"child_process\").execSync(\"true\")'",
        true,
        true,
    ),
    ("npm", "npm test", false, true),
    ("sed", "sed -i s/a/b/ file", false, true),
    (
        "sh",
        "cp -p file \"$TMPDIR/copy\" && touch \"$TMPDIR/copy\" && sh \"$TMPDIR/copy\"",
        true,
        true,
    ),
];

#[test]
fn programs_run_as_the_page_says() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    world.write("package.json", r#"{"scripts": {"test": "node --test"}}"#);
    world.write("x.test.js", "require('fs').writeFileSync('out', '')");
    world.write("file", "true");
    world.git(&["init", "--quiet"]);
    for setting in ["user.name", "user.email"] {
        world.git(&["config", setting, "a@b"]);
    }
    world.git(&["add", "."]);
    world.git(&["commit", "--quiet", "--message", "first"]);
    for (program, command, plain, writing) in one_in(2, ROWS) {
        if is_missing(program) {
            continue;
        }
        let ways = [
            (Sandbox::new(), plain),
            (Sandbox::new().writing(["."]), writing),
        ];
        for (sandbox, succeeds) in ways {
            let result = world.one(world.with_git(confined(command, sandbox)));
            assert_eq!(
                result.exit_code() == 0,
                *succeeds,
                "{command}: {result:?}: {}",
                result.stderr()
            );
        }
    }
}
