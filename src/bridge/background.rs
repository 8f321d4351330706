//! Hooks in the background, for which no agent waits: a process of its own runs them, since this one ends with its answer.

use std::io::{self, Seek, Write};
use std::process::{Command, Stdio};

/// The option of `hook` for the process that runs the hooks in the background.
const OPTION: &str = "--background";

/// Starts this program once more, for the hooks in the background.
///
/// # Errors
/// If it cannot be started.
pub(super) fn start(input: &str) -> io::Result<()> {
    // A file, since a pipe would have to be written while the other program reads.
    let mut file = tempfile::tempfile()?;
    file.write_all(input.as_bytes())?;
    file.rewind()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1)).arg(OPTION);
    command
        .stdin(file)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    detach(&mut command);
    command.spawn().map(drop)
}

/// Agents end the group of a hook that they end.
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
