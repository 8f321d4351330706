//! The temporary directory of one process: created for it, and removed with all that it has left there.
//!
//! Removing follows no links, does not recurse, and has limits: what is there was chosen by the process.

use std::ffi::{CStr, CString};
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, fchmod, fstat, openat, unlinkat};
use rustix::io::Errno;

use crate::logging::warn;
use crate::process::Refused;

/// What is below, or beyond these, stays.
const MOST_LEVELS: usize = 64;
const MOST_ENTRIES: usize = 10_000;
/// So many are removed before the hook's result is there, which takes less than a millisecond: a program may end next.
const AT_ONCE: usize = 64;

/// A directory that is removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// Creates a directory that only this user can read.
    pub(crate) fn new() -> io::Result<Self> {
        let mut named = tempfile::Builder::new();
        named.prefix("forge-hooks-sandbox-");
        named.permissions(std::fs::Permissions::from_mode(0o700));
        // Where it really is: rules of the kernel are about real directories.
        let made = named.tempdir();
        let path = made.and_then(|it| it.keep().canonicalize());
        let path = path.map_err(|error| {
            let words = format!("its temporary directory cannot be created: {error}");
            io::Error::other(Refused::Here(words))
        })?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    /// Where much is left, on a thread of its own: the host waits for a hook, not for what it has left.
    fn drop(&mut self) {
        // Most hooks leave nothing.
        let is_removed = std::fs::remove_dir(&self.path).is_ok();
        if is_removed || remove(&self.path, AT_ONCE).is_ok_and(|all| all) {
            return;
        }
        let path = std::mem::take(&mut self.path);
        let thread = std::thread::Builder::new().name("forge-hooks-tidy".into());
        // If no thread can be started, the directory stays.
        let _ = thread.spawn(move || {
            let why = match remove(&path, MOST_ENTRIES) {
                Ok(true) => return,
                Ok(false) => "too many levels or files".to_owned(),
                Err(error) => error.to_string(),
            };
            let path = path.display();
            warn!("a hook's temporary directory stays: {path}: {why}");
        });
    }
}

/// A directory that is being emptied.
struct Level {
    directory: OwnedFd,
    entries: Dir,
    /// Its name in the level above.
    name: CString,
}

impl Level {
    fn open(above: impl AsFd, name: CString) -> rustix::io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let directory = match openat(&above, &name, flags, Mode::empty()) {
            Err(Errno::ACCESS) => {
                unlock(&above, &name)?;
                openat(&above, &name, flags, Mode::empty())?
            }
            opened => opened?,
        };
        // Else its entries could not be removed.
        if fstat(&directory)?.st_mode & 0o700 != 0o700 {
            fchmod(&directory, Mode::RWXU)?;
        }
        let entries = Dir::read_from(&directory)?;
        Ok(Self {
            directory,
            entries,
            name,
        })
    }

    fn next(&mut self) -> Option<rustix::io::Result<CString>> {
        loop {
            match self.entries.next()? {
                Ok(entry) if [c".", c".."].contains(&entry.file_name()) => {}
                Ok(entry) => return Some(Ok(entry.file_name().to_owned())),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Lets this user read a directory. Linux changes the mode of what is open, and so of no link that has taken its place.
fn unlock(above: impl AsFd, name: &CStr) -> rustix::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let locked = openat(above, name, flags, Mode::empty())?;
        let opened = format!("/proc/self/fd/{}", locked.as_raw_fd());
        rustix::fs::chmod(opened, Mode::RWXU)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (above, name);
        Err(Errno::ACCESS)
    }
}

/// Removes a directory and what is below it. Returns whether all of it is gone: there are limits.
///
/// # Errors
/// The first one ends it.
fn remove(path: &Path, most: usize) -> io::Result<bool> {
    let name = CString::new(path.as_os_str().as_encoded_bytes())?;
    let mut levels = vec![Level::open(CWD, name)?];
    let mut removed = 0;
    while let Some(level) = levels.last_mut() {
        let Some(name) = level.next().transpose()? else {
            let done = levels.pop();
            if let (Some(above), Some(done)) = (levels.last(), done) {
                unlinkat(&above.directory, &done.name, AtFlags::REMOVEDIR)?;
            }
            continue;
        };
        removed += 1;
        match unlinkat(&level.directory, &name, AtFlags::empty()) {
            _ if removed > most => return Ok(false),
            // Linux says the first of a directory, POSIX the second.
            Err(Errno::ISDIR | Errno::PERM) => {
                let below = Level::open(&level.directory, name)?;
                if levels.len() == MOST_LEVELS {
                    return Ok(false);
                }
                levels.push(below);
            }
            Err(Errno::NOENT) => {}
            removed => removed?,
        }
    }
    std::fs::remove_dir(path)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a thread without privileges, since root reads all.
    #[cfg(target_os = "linux")]
    #[test]
    fn directories_that_it_may_not_read_are_removed() {
        use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
        std::thread::spawn(|| {
            let none = CapabilitySet::empty();
            let sets = CapabilitySets {
                effective: none,
                permitted: none,
                inheritable: none,
            };
            set_capabilities(None, sets).unwrap();
            let place = tempfile::tempdir().unwrap().keep();
            for (name, mode) in [
                ("none", 0),
                ("write", 0o300),
                ("read", 0o500),
                ("list", 0o400),
            ] {
                let at = place.join(name);
                std::fs::create_dir_all(at.join("below")).unwrap();
                std::fs::set_permissions(at, PermissionsExt::from_mode(mode)).unwrap();
            }
            std::fs::set_permissions(&place, PermissionsExt::from_mode(0o0)).unwrap();
            assert!(remove(&place, MOST_ENTRIES).unwrap());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn all_is_removed_within_the_limits_and_no_link_is_followed() {
        let outside = tempfile::tempdir().unwrap();
        let kept = outside.path().join("kept");
        std::fs::write(&kept, "").unwrap();
        for (levels, files, expected) in [(60, 10, true), (80, 1, false), (1, 101, false)] {
            let place = tempfile::tempdir().unwrap().keep();
            let mut at = place.clone();
            for _ in 1..levels {
                at.push("d");
            }
            std::fs::create_dir_all(&at).unwrap();
            for file in 0..files {
                std::fs::write(at.join(file.to_string()), "").unwrap();
            }
            std::os::unix::fs::symlink(outside.path(), place.join("link")).unwrap();
            std::os::unix::fs::symlink(&kept, place.join("d-link")).unwrap();
            assert_eq!(remove(&place, 100).unwrap(), expected, "{levels} {files}");
            assert_eq!(place.exists(), !expected);
            assert!(kept.exists());
            let _ = std::fs::remove_dir_all(place);
        }
    }
}
