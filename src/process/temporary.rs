//! The temporary directory of one process: created for it, and removed with all files that it has left there.
//!
//! Removing follows no links, does not recurse, and has limits, since the process has chosen the content.

use std::ffi::{CStr, CString};
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, fchmod, fstat, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use crate::logging::warn;
use crate::process::Refused;

/// The limits of removing: the most levels of directories, and the most entries. Everything beyond the limits stays.
const MOST_LEVELS: usize = 64;
const MOST_ENTRIES: usize = 10_000;
/// The most entries that are removed before the hook's result is returned, which takes less than a millisecond: the host may
/// exit right after it.
const AT_ONCE: usize = 64;

/// A directory that is removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Temporary(Arc<Place>);

/// The place of the directory. Another process of the user may replace it at any time, so the opened directories count, not
/// their paths.
#[derive(Debug)]
struct Place {
    parent: OwnedFd,
    directory: OwnedFd,
    /// The directory's name in the parent.
    name: CString,
    path: PathBuf,
}

impl Temporary {
    /// Creates a directory that only this user can read.
    pub(crate) fn new() -> io::Result<Self> {
        let place = Place::new().map_err(|error| {
            // Any start would fail without these resources.
            if let Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM) = error.raw_os_error() {
                return error;
            }
            let message = format!("its temporary directory cannot be created: {error}");
            io::Error::other(Refused::Here(message))
        })?;
        Ok(Self(Arc::new(place)))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    // Only a sandbox needs the directory, and only some systems have sandboxes.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) fn directory(&self) -> &OwnedFd {
        &self.0.directory
    }
}

impl Drop for Temporary {
    /// Removes many entries on a thread of its own: the host waits for a hook, not for the files that it has left.
    fn drop(&mut self) {
        // Most hooks leave nothing.
        let place = Arc::clone(&self.0);
        let is_removed = unlinkat(&place.parent, &place.name, AtFlags::REMOVEDIR).is_ok();
        if is_removed || place.remove(AT_ONCE).is_ok_and(|all| all) {
            return;
        }
        let thread = std::thread::Builder::new().name("forge-hooks-tidy".into());
        // If no thread can be started, the directory stays.
        let _ = thread.spawn(move || {
            let why = match place.remove(MOST_ENTRIES) {
                Ok(true) => return,
                Ok(false) => "too many levels or files".to_owned(),
                Err(error) => error.to_string(),
            };
            let path = place.path.display();
            warn!("a hook's temporary directory stays: {path}: {why}");
        });
    }
}

impl Place {
    fn new() -> io::Result<Self> {
        let parent = open_parent()?;
        // The error of `tempfile` has no number.
        let mut failed = None;
        let made = tempfile::Builder::new()
            .prefix("forge-hooks-sandbox-")
            .make_in(parent_path()?, |path| {
                let name = path.file_name().unwrap_or_default();
                mkdirat(&parent, name, Mode::RWXU)?;
                let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | ONLY_A_PLACE | OFlags::CLOEXEC;
                let name = CString::new(name.as_encoded_bytes())?;
                let opened = openat(&parent, &name, flags, Mode::empty());
                failed = opened.as_ref().err().copied();
                if failed.is_some() {
                    let _ = unlinkat(&parent, &name, AtFlags::REMOVEDIR);
                }
                Ok((opened?, name))
            });
        let made = made.map_err(|error| failed.map_or(error, io::Error::from))?;
        let ((directory, name), path) = made.keep().map_err(|error| error.error)?;
        Ok(Self {
            parent,
            directory,
            name,
            path,
        })
    }

    /// Removes the directory and its content. Returns whether all of it is gone, since there are limits.
    ///
    /// # Errors
    /// The first error ends the removal.
    fn remove(&self, most: usize) -> io::Result<bool> {
        let first = Level::open(&self.parent, self.name.clone())?;
        let [opened, own] = [&first.directory, &self.directory].map(fstat);
        let (opened, own) = (opened?, own?);
        if (opened.st_dev, opened.st_ino) != (own.st_dev, own.st_ino) {
            return Err(io::Error::other("something else is in its place"));
        }
        if !empty(first, most)? {
            return Ok(false);
        }
        unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR)?;
        Ok(true)
    }
}

/// Opens the directory without the permission to read it, if the system supports that.
#[cfg(any(target_os = "linux", target_os = "android"))]
const ONLY_A_PLACE: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const ONLY_A_PLACE: OFlags = OFlags::RDONLY;

/// Returns the real path of the system's directory for temporary files, as it was before the first hook was confined: a
/// confined hook may have the permission to replace it.
fn parent_path() -> io::Result<&'static Path> {
    static PARENT: OnceLock<PathBuf> = OnceLock::new();
    if let Some(parent) = PARENT.get() {
        return Ok(parent);
    }
    let parent = tempfile::env::temp_dir().canonicalize()?;
    Ok(PARENT.get_or_init(|| parent))
}

/// Opens the directory of [`parent_path`], unless a link has taken its place.
fn open_parent() -> io::Result<OwnedFd> {
    let (path, flags) = (parent_path()?, OFlags::DIRECTORY | OFlags::CLOEXEC);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let opened = rustix::fs::openat2(
        CWD,
        path,
        flags | ONLY_A_PLACE,
        Mode::empty(),
        rustix::fs::ResolveFlags::NO_SYMLINKS,
    );
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let opened = openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty());
    Ok(opened?)
}

/// A directory that is being emptied.
struct Level {
    directory: OwnedFd,
    entries: Dir,
    /// The directory's name in the level above.
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
        // Without this mode, its entries could not be removed.
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

/// Gives this user the permission to read a directory. Linux changes the mode of the opened directory, so it never changes
/// the mode of a link that has taken its place.
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

/// Removes the content of a directory. Returns whether all of it is gone, since there are limits.
///
/// # Errors
/// The first error ends the removal.
fn empty(first: Level, most: usize) -> io::Result<bool> {
    let mut levels = vec![first];
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
            // For a directory, Linux returns the first error, and POSIX specifies the second.
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
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn remove(path: &Path, most: usize) -> io::Result<bool> {
        let name = CString::new(path.as_os_str().as_encoded_bytes())?;
        empty(Level::open(CWD, name)?, most)
    }

    #[test]
    fn what_has_taken_its_place_stays() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("kept"), "").unwrap();
        for is_link in [true, false] {
            let temporary = Temporary::new().unwrap();
            let path = temporary.path().to_owned();
            let moved = path.with_extension("moved");
            std::fs::rename(&path, &moved).unwrap();
            if is_link {
                std::os::unix::fs::symlink(outside.path(), &path).unwrap();
            } else {
                std::fs::create_dir(&path).unwrap();
                std::fs::write(path.join("kept"), "").unwrap();
            }
            assert!(temporary.0.remove(MOST_ENTRIES).is_err());
            assert!(path.join("kept").exists());
            drop(temporary);
            assert!(path.join("kept").exists());
            let _ = std::fs::remove_file(&path);
            let _ = std::fs::remove_dir_all(&path);
            std::fs::remove_dir(moved).unwrap();
        }
    }

    /// The test runs in a thread without privileges, since root can read every directory.
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
            std::fs::remove_dir(&place).unwrap();
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
            assert_eq!(std::fs::remove_dir(&place).is_ok(), expected);
            assert!(kept.exists());
            let _ = std::fs::remove_dir_all(place);
        }
    }
}
