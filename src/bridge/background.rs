//! Runs hooks in the background, for which no agent waits: in a process of its own, since this one ends with its answer.

use std::io::{self, Seek, Write};
use std::process::{Command, Stdio};

/// The option of `hook` for the process that runs the hooks in the background.
const OPTION: &str = "--background";

/// A hook in the background: the number of its project, and of the hook in it.
pub(crate) type Place = (usize, usize);

/// Reads the value of the option.
pub(crate) fn places(text: &str) -> Option<Vec<Place>> {
    let place = |text: &str| {
        let (project, hook) = text.split_once('.')?;
        Some((project.parse().ok()?, hook.parse().ok()?))
    };
    text.split(',').map(place).collect()
}

/// Starts this program once more, for these hooks.
///
/// # Errors
/// If it cannot be started.
pub(super) fn start(input: &str, places: &[Place]) -> io::Result<()> {
    // The input is a file: a pipe would have to be written while the other program reads.
    let mut file = tempfile::tempfile()?;
    file.write_all(input.as_bytes())?;
    file.rewind()?;
    let mut command = Command::new(std::env::current_exe()?);
    let places = places
        .iter()
        .map(|(project, hook)| format!("{project}.{hook}"));
    let places: Vec<_> = places.collect();
    command.args(std::env::args_os().skip(1));
    command.arg(OPTION).arg(places.join(","));
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
