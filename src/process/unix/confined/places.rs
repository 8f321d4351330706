//! Opens the places of a sandbox without following a link that a process of the user could have put there.
//!
//! Directories that the user cannot write may be links (`/home` is one on some systems). From the first directory that the
//! user can write, the kernel resolves the rest of the path in one step, without links, so that nothing can change between a
//! check and the opening. Root can write each directory, so for root no whole path has a link.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    Access, AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, accessat, fstat, openat,
    openat2, readlinkat, stat,
};
use rustix::io::Errno;

use crate::process::{Place, Refused};

/// The most links that are followed, as many as the kernel follows.
const MOST_LINKS: usize = 40;

/// Returns the device and the number of a place; none if they cannot be read now because descriptors are exhausted.
///
/// # Errors
/// If the place cannot be opened by the rule.
pub(crate) fn identity_of(place: &Place) -> Result<Option<(u64, u64)>, Refused> {
    match located(place) {
        Ok(opened) => Ok(fstat(&opened).ok().map(|status| identity(&status))),
        // The start of the process reports the shortage.
        Err(Stopped { error, .. }) if is_shortage(error) => Ok(None),
        Err(stopped) => Err(stopped.explained(place)),
    }
}

/// Opens a place, as the object of a rule.
pub(super) fn open(place: &Place) -> io::Result<OwnedFd> {
    located(place).map_err(|stopped| {
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

fn identity(status: &Stat) -> (u64, u64) {
    (status.st_dev, status.st_ino)
}

/// Error opening a path: the directory up to which it was followed, and the rest, which could not be opened.
struct Stopped {
    at: PathBuf,
    rest: PathBuf,
    error: Errno,
}

fn located(place: &Place) -> Result<OwnedFd, Stopped> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let links = ResolveFlags::NO_SYMLINKS;
    let base = openat2(CWD, &place.base, flags, Mode::empty(), links);
    let directory = base.map_err(|error| Stopped {
        at: "/".into(),
        rest: place.base.strip_prefix("/").unwrap_or(&place.base).into(),
        error,
    })?;
    let mut walk = Walk {
        directory,
        at: place.base.clone(),
        rest: VecDeque::new(),
        project: None,
        links: 0,
    };
    if place.base != Path::new("/") {
        return walk.without_links(&place.below);
    }
    walk.rest = names(&place.below).collect();
    // A project at `/` would forbid the links of the system.
    let root = place
        .project
        .as_deref()
        .filter(|root| *root != Path::new("/"));
    let root = root.and_then(|root| stat(root).ok());
    walk.project = root.map(|status| identity(&status));
    walk.opened()
}

/// Returns the names in a path.
fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + '_ {
    let names = path
        .components()
        .filter(|component| matches!(component, Component::Normal(_) | Component::ParentDir));
    names.map(|component| component.as_os_str().to_owned())
}

/// A path from `/`, of which a part is opened.
struct Walk {
    directory: OwnedFd,
    at: PathBuf,
    rest: VecDeque<OsString>,
    project: Option<(u64, u64)>,
    links: usize,
}

impl Walk {
    /// Follows the links in directories that the user cannot write, up to the first directory that the user can write.
    fn opened(mut self) -> Result<OwnedFd, Stopped> {
        while !self.rest.is_empty() {
            if self.is_of_user().map_err(|error| self.stopped(error))? {
                let rest: PathBuf = self.rest.iter().collect();
                return self.without_links(&rest);
            }
            if let Some(name) = self.rest.pop_front()
                && let Err(error) = self.enter(&name)
            {
                self.rest.push_front(name);
                return Err(self.stopped(error));
            }
        }
        Ok(self.directory)
    }

    fn stopped(&self, error: Errno) -> Stopped {
        Stopped {
            at: self.at.clone(),
            rest: self.rest.iter().collect(),
            error,
        }
    }

    /// Returns whether the user decides the content of the directory, by writing it or by changing its mode, or other people
    /// do, since it is the project's root.
    fn is_of_user(&self) -> rustix::io::Result<bool> {
        let status = fstat(&self.directory)?;
        if Some(identity(&status)) == self.project
            || status.st_uid == rustix::process::geteuid().as_raw()
        {
            return Ok(true);
        }
        // `faccessat` does not accept a descriptor of this kind itself, but accepts `.` in it.
        let access = accessat(&self.directory, c".", Access::WRITE_OK, AtFlags::EACCESS);
        Ok(access.is_ok())
    }

    /// Follows one name, which may be that of a link.
    fn enter(&mut self, name: &OsStr) -> rustix::io::Result<()> {
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let next = openat(&self.directory, name, flags, Mode::empty())?;
        if !FileType::from_raw_mode(fstat(&next)?.st_mode).is_symlink() {
            self.directory = next;
            if name == ".." {
                self.at.pop();
            } else {
                self.at.push(name);
            }
            return Ok(());
        }
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Errno::LOOP);
        }
        let target = readlinkat(&next, c"", Vec::new())?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            self.directory = openat(CWD, "/", flags, Mode::empty())?;
            self.at = "/".into();
        }
        for name in names(&target).rev() {
            self.rest.push_front(name);
        }
        Ok(())
    }

    fn without_links(&self, rest: &Path) -> Result<OwnedFd, Stopped> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
        let rest = if rest.as_os_str().is_empty() {
            Path::new(".")
        } else {
            rest
        };
        let opened = openat2(&self.directory, rest, flags, Mode::empty(), links);
        opened.map_err(|error| Stopped {
            at: self.at.clone(),
            rest: rest.to_owned(),
            error,
        })
    }
}

impl Stopped {
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
        let mut at = self.at.clone();
        self.rest.components().find_map(|component| {
            at.push(component);
            let target = at.read_link().ok()?;
            Some((at.components().collect(), target))
        })
    }
}
