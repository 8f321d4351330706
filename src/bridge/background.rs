//! Runs hooks in the background, for which no agent waits: in a process of its own, since this one ends with its answer.

use std::io::{self, Seek, Write};
use std::process::{Command, Stdio};

use crate::executor::chain_of_ancestors;

/// The option of `hook` for the process that runs the hooks in the background.
const OPTION: &str = "--background";

/// Starts this program once more, for the hooks with these fingerprints.
///
/// # Errors
/// If it cannot be started.
pub(super) fn start(input: &str, hooks: &[u64]) -> io::Result<()> {
    // The input is a file: a pipe would have to be written while the other program reads.
    let mut file = tempfile::tempfile()?;
    file.write_all(input.as_bytes())?;
    file.rewind()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1));
    for hook in hooks {
        command.arg(OPTION).arg(hook.to_string());
    }
    // When this process has ended, those above it are not above the other one.
    let (name, chain) = chain_of_ancestors();
    command.env(name, chain);
    command
        .stdin(file)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    detach(&mut command);
    command.spawn().map(drop)
}

/// Moves the process out of the hook's process group, which an agent kills together with the hook.
#[cfg(unix)]
fn detach(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(windows)]
fn detach(command: &mut Command) {
    use std::os::windows::process::CommandExt;
    use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, DETACHED_PROCESS};
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | DETACHED_PROCESS);
}
