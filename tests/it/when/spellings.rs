//! Random spellings of paths into and out of directories, compared with what the system says: a guard never misses a file,
//! and a grant is never wide.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use forge_hooks::{Hook, HookEvent, HostContext};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::World;
use crate::thorough::random_cases;

/// What a segment of a spelling may be.
const SEGMENTS: [&str; 24] = [
    ".",
    ".",
    "..",
    "..",
    "",
    "secrets",
    "secrets",
    "docs",
    "docs",
    "deep",
    "src",
    "key",
    "new",
    "into",
    "out",
    "loop",
    "up",
    "chain",
    "shared",
    "vault",
    "SECRETS",
    "...",
    "project",
    "..secrets",
];

struct Site {
    world: World,
    root: PathBuf,
}

impl Site {
    /// A project with directories, and links in, out and around.
    fn new() -> Self {
        let world = World::new();
        let root = world.path("project");
        for directory in [
            "project/secrets/deep",
            "project/docs/deep",
            "project/src",
            "vault/deep",
        ] {
            fs::create_dir_all(world.path(directory)).unwrap();
        }
        for file in [
            "project/secrets/key",
            "project/docs/key",
            "project/src/key",
            "vault/key",
        ] {
            world.write(file, "x");
        }
        let top = world.directory().canonicalize().unwrap();
        for (link, target) in [
            ("project/into", "secrets"),
            ("project/docs/into", "../secrets"),
            ("project/docs/key2", "../secrets/key"),
            ("project/out", "../vault"),
            ("project/loop", "."),
            ("project/src/up", ".."),
            ("project/chain", "docs/into/deep"),
            ("project/src/loop", "../docs"),
            ("project/shared", "@/vault"),
            ("vault/project", "@/project"),
            ("vault/docs", "@/project/docs/deep"),
            ("docs", "project/docs"),
        ] {
            symlink(target.replace('@', top.to_str().unwrap()), world.path(link)).unwrap();
        }
        let entry = |tool: &str, name: &str, when: Value| {
            let event = format!("tool:pre_execute:{tool}");
            let answer = json!({"additionalContext": name});
            let entry = json!({"event": event, "name": name, "when": {"/tool_args/path": when}, "answer": answer});
            Hook::from_json(&entry).unwrap()
        };
        let vault = format!("{}/vault", world.directory().display());
        world.registry().load_hooks([
            entry("read", "docs", json!(["project/docs/**", "project/docs"])),
            entry(
                "read",
                "no secret",
                json!({"not": ["project/secrets/**", "project/secrets"]}),
            ),
            entry(
                "write",
                "secrets",
                json!(["project/secrets/**", "project/secrets"]),
            ),
            entry("write", "vault", json!([vault, format!("{vault}/**")])),
        ]);
        Self { root, world }
    }

    /// Returns the files that programs may open by this spelling: one resolves `..` as the system does, the other by name.
    fn targets(&self, spelling: &str) -> Vec<PathBuf> {
        let path = self.root.join(spelling);
        let mut by_name = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => drop(by_name.pop()),
                part => by_name.push(part),
            }
        }
        [path, by_name]
            .iter()
            .filter_map(|path| real(path))
            .collect()
    }
}

/// Returns the place of a file, which need not exist in its directory.
fn real(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1, ..ProptestConfig::default() })]

    #[test]
    fn a_guard_never_misses_and_a_grant_is_never_wide(
        spellings in prop::collection::vec((0..4_usize, prop::collection::vec(0..SEGMENTS.len(), 0..7)), random_cases(20_000) as usize),
    ) {
        let site = Site::new();
        let top = site.world.directory().canonicalize().unwrap();
        let [secrets, docs, vault] =
            ["project/secrets", "project/docs", "vault"].map(|path| top.join(path));
        let (mut found, mut granted) = (0, 0);
        for (start, segments) in spellings {
            let start = match start {
                0 => format!("{}/", site.root.display()),
                1 => format!("{}/", site.world.directory().display()),
                _ => String::new(),
            };
            let segments: Vec<_> = segments.into_iter().map(|index| SEGMENTS[index]).collect();
            let spelling = start + &segments.join("/");
            let targets = site.targets(&spelling);
            let args = json!({"path": spelling});
            let context = Arc::new(HostContext::new().with_cwd(&site.root));
            let event = |tool: &str| HookEvent::tool_pre_execute(tool, args.clone()).with_context(Arc::clone(&context));
            let guards = site.world.executor.hooks_for(&event("write"));
            for (directory, name) in [(&secrets, "secrets"), (&vault, "vault")] {
                if targets.iter().any(|target| target.starts_with(directory)) {
                    prop_assert!(guards.iter().any(|hook| hook.name() == Some(name)), "{} {:?}", spelling, targets);
                    found += 1;
                }
            }
            let contexts = site.world.outcome(&event("read")).additional_context().unwrap_or_default().to_owned();
            for (name, directory, is_in) in [("docs", &docs, true), ("no secret", &secrets, false)] {
                if contexts.lines().any(|line| line == name) {
                    granted += 1;
                    let mut targets = targets.iter();
                    let is_right = targets.all(|target| target.starts_with(directory) == is_in);
                    prop_assert!(is_right, "{} {} {:?}", spelling, name, targets);
                }
            }
        }
        prop_assert!(found > 100 && granted > 100, "{found} {granted}");
    }
}
