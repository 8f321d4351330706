//! Checks which users could have written a file: its content runs with the user's permissions.
//!
//! Only available on Unix. Windows has no mode bits to check: the access rights of the directory apply.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const WORLD_WRITABLE: u32 = 0o002;
const GROUP_WRITABLE: u32 = 0o020;
/// In a sticky directory, users can remove and rename only their own files.
const STICKY: u32 = 0o1000;

/// A warning about a file that may be used.
pub(crate) type Warning = Option<String>;

/// Checks that only the user and root could have written the file, or replaced it. An error says how to fix
/// that. A file that its group can write is only a warning: an umask of 002 is common.
pub(crate) fn check(path: &Path, metadata: &Metadata) -> Result<Warning, String> {
    let me = rustix::process::geteuid().as_raw();
    let owner = metadata.uid();
    if owner != me && owner != 0 {
        return Err(format!(
            "belongs to user {owner}, who could change what runs as you; if the file is yours, run `{}`",
            command("chown", &me.to_string(), path)
        ));
    }
    if metadata.mode() & WORLD_WRITABLE != 0 {
        let fix = command("chmod", "o-w", path);
        return Err(format!("is world-writable; run `{fix}`"));
    }
    // A link could be changed to point elsewhere, and its target could be replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let link = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for directory in [link.parent(), target.parent()].into_iter().flatten() {
        check_directory(directory)?;
    }
    Ok((metadata.mode() & GROUP_WRITABLE != 0).then(|| {
        let fix = command("chmod", "g-w", path);
        format!("is writable by its group; run `{fix}` if that is not intended")
    }))
}

/// The most links that are followed.
const MOST_LINKS: usize = 40;

/// Checks that only root could have written the administrator's file, or replaced it; or the user too, if `or_user`.
/// Access control lists are not checked.
pub(crate) fn check_system(path: &Path, or_user: bool) -> Result<(), String> {
    let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..MOST_LINKS {
        let directory = path.parent().unwrap_or(&path);
        let directory = directory.canonicalize().map_err(unreadable)?;
        for above in directory.ancestors() {
            check_owner(above, STICKY, or_user)?;
        }
        match path.read_link() {
            Ok(target) => path = directory.join(target),
            Err(_) => return check_owner(&path, 0, or_user),
        }
    }
    Err("is behind too many links".to_owned())
}

/// Fails if other users own `path` or can write it. A directory that others can write is safe if it has one of the mode bits in
/// `safe` (the sticky bit).
fn check_owner(path: &Path, safe: u32, or_user: bool) -> Result<(), String> {
    let metadata = path.metadata().map_err(unreadable)?;
    let display = path.display();
    let owner = metadata.uid();
    let is_user = or_user && owner == rustix::process::geteuid().as_raw();
    if owner != 0 && !is_user {
        let fix = command("chown", "root", path);
        return Err(format!(
            "is not only the administrator's: `{display}` belongs to user {owner}; run `{fix}`"
        ));
    }
    let mode = metadata.mode();
    if mode & (WORLD_WRITABLE | GROUP_WRITABLE) != 0 && mode & safe == 0 {
        let fix = command("chmod", "go-w", path);
        return Err(format!(
            "is not only the administrator's: other users can write `{display}`; run `{fix}`"
        ));
    }
    Ok(())
}

fn unreadable(error: std::io::Error) -> String {
    format!("cannot be checked: {error}")
}

fn check_directory(directory: &Path) -> Result<(), String> {
    // A directory without readable metadata is treated as not world-writable.
    let mode = directory.metadata().map_or(0, |metadata| metadata.mode());
    if mode & WORLD_WRITABLE != 0 && mode & STICKY == 0 {
        let fix = command("chmod", "o-w", directory);
        return Err(format!("is in a world-writable directory; run `{fix}`"));
    }
    Ok(())
}

/// Builds a command line for the user to copy: the path is one word, whatever it contains.
fn command(program: &str, argument: &str, path: &Path) -> String {
    format!("{program} {argument} {}", super::quoted_path(path))
}
