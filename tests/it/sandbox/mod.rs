//! Hooks in a sandbox: what they can reach, that the host keeps all its rights, and what happens where there is none.
//!
//! Where the kernel cannot confine a process, these tests fail, unless `FORGE_HOOKS_NO_SANDBOX` is set.

mod fails;
mod paths;
mod programs;
mod reach;
mod shown;
mod starts;

use forge_hooks::{Hook, Sandbox};

/// Returns true if the tests of this module can run.
fn is_possible() -> bool {
    match Sandbox::support() {
        Ok(()) => true,
        Err(error) if std::env::var_os("FORGE_HOOKS_NO_SANDBOX").is_some() => {
            eprintln!("skipped: {error}");
            false
        }
        Err(error) => panic!("{error}; to skip these tests, set FORGE_HOOKS_NO_SANDBOX=1"),
    }
}

/// A hook for all events, in a sandbox.
fn confined(command: &str, sandbox: Sandbox) -> Hook {
    Hook::new("*", command).unwrap().with_sandbox(sandbox)
}
