//! Opens the places of a sandbox without following a link: another hook, or a repository, could choose by a link what a path means.
//!
//! A place begins at a real directory, and the kernel resolves the rest in one step, so that nothing can change between a check and the
//! opening.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use crate::process::{Place, Refused};

/// Checks that a place can be opened. It can not be checked while descriptors are exhausted: the start of the process reports that.
///
/// # Errors
/// If the place is missing, or has a link.
pub(crate) fn check_place(place: &Place) -> Result<(), Refused> {
    match opened(place) {
        Err(stopped) if !is_shortage(stopped.error) => Err(stopped.explained(place)),
        _ => Ok(()),
    }
}

/// Opens a place, as the object of a rule.
pub(super) fn open(place: &Place) -> io::Result<OwnedFd> {
    opened(place).map_err(|stopped| {
        if is_shortage(stopped.error) {
            return stopped.error.into();
        }
        io::Error::other(stopped.explained(place))
    })
}

/// Returns whether any start of a process would fail with this error.
pub(super) fn is_shortage(error: Errno) -> bool {
    matches!(error, Errno::MFILE | Errno::NFILE | Errno::NOMEM)
}

/// Error opening a path: the directory up to which it was opened, and the rest.
struct Stopped<'a> {
    at: &'a Path,
    rest: &'a Path,
    error: Errno,
}

fn opened(place: &Place) -> Result<OwnedFd, Stopped<'_>> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let links = ResolveFlags::NO_SYMLINKS;
    let base = openat2(CWD, &place.base, flags, Mode::empty(), links);
    let base = base.map_err(|error| Stopped {
        at: Path::new("/"),
        rest: place.base.strip_prefix("/").unwrap_or(&place.base),
        error,
    })?;
    if place.below.as_os_str().is_empty() {
        return Ok(base);
    }
    let links = links | ResolveFlags::BENEATH;
    let below = openat2(&base, &place.below, flags, Mode::empty(), links);
    below.map_err(|error| Stopped {
        at: &place.base,
        rest: &place.below,
        error,
    })
}

impl Stopped<'_> {
    /// Describes the error. If a link is the reason, names the link and the path to write instead.
    fn explained(&self, place: &Place) -> Refused {
        let name = &place.name;
        let whole = place.base.join(&place.below);
        let display = whole.display();
        let Some((link, target)) = self.link() else {
            let error = io::Error::from(self.error);
            return Refused::Place(match self.error {
                Errno::NOENT | Errno::NOTDIR => {
                    format!("{name} is not there (`{display}`): {error}")
                }
                Errno::LOOP => {
                    format!("{name} cannot be opened without following a link (`{display}`)")
                }
                _ => format!("{name} cannot be opened (`{display}`): {error}"),
            });
        };
        let (at, target) = (link.display(), target.display());
        let leads = if link == whole {
            format!("{name} is a link to `{target}` (`{at}`)")
        } else {
            format!("{name} leads through a link to `{target}` (`{at}`)")
        };
        Refused::Place(match whole.canonicalize() {
            Ok(real) => format!(
                "{leads}, and a link can be replaced: if that place is meant, write `{}`",
                real.display()
            ),
            Err(_) => format!("{leads}, and there is nothing at `{display}`"),
        })
    }

    /// Returns the first link in the part that had to be opened without links, and its target.
    fn link(&self) -> Option<(PathBuf, PathBuf)> {
        let mut at = self.at.to_owned();
        self.rest.components().find_map(|component| {
            at.push(component);
            let target = at.read_link().ok()?;
            Some((at.components().collect(), target))
        })
    }
}
