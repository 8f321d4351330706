//! Any command of a project's hook: what an approval covers lies within the project, and is the same when
//! it is computed again.
#![no_main]

use std::path::{Component, Path};
use std::sync::OnceLock;

use forge_hooks::trust::Approval;
use forge_hooks::Hook;
use libfuzzer_sys::fuzz_target;

/// A project with scripts that a command can name.
fn project() -> &'static Path {
    static PROJECT: OnceLock<tempfile::TempDir> = OnceLock::new();
    let project = PROJECT.get_or_init(|| {
        let project = tempfile::tempdir().unwrap();
        for file in ["guard.sh", "x.py", "check.js", "notes.txt"] {
            std::fs::write(project.path().join(file), "true\n").unwrap();
        }
        project
    });
    project.path()
}

fuzz_target!(|command: &str| {
    let Ok(hook) = Hook::new("tool:pre_execute", command) else {
        return;
    };
    // Without `inputs`, many commands cannot be approved.
    let hook = hook.with_inputs(["guard.sh"]);
    let approve = || Approval::of(project(), [&hook]).unwrap().hooks;
    let approved = approve();
    assert_eq!(approve(), approved);
    for (file, _) in &approved[0].files {
        let mut parts = Path::new(file).components();
        assert!(matches!(parts.next(), Some(Component::Normal(_))), "{file}");
    }
});
