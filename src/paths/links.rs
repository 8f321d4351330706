//! The targets of a path's links, one after the other, as the system follows them.
//!
//! Looks at files, with a limit for each event. The system's own function names only the last place.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// The reason why it is not known which file a path names.
pub(crate) type Unknown = Cow<'static, str>;

pub(super) const BEHIND_A_LINK: Unknown = Cow::Borrowed("it has `..` behind a link");
const OF_A_PROCESS: Unknown = Cow::Borrowed("its file depends on the process that opens it");
const MANY_LINKS: Unknown = Cow::Borrowed("it has more than 40 links");
const UNREADABLE: Unknown = Cow::Borrowed("a directory of it cannot be read");
const TOO_MUCH: Unknown = Cow::Borrowed("the paths of the event have too many links and parts");

/// The most links of a path. Systems follow no more links.
const MOST_LINKS: usize = 40;

/// The longest name of a file, in bytes.
const LONGEST_NAME: usize = 255;

/// The most bytes of all paths that are looked up for an event: the system reads each path up to its end. This takes some 10
/// ms.
const MOST_BYTES: usize = 1024 * 1024;

/// The cost of a lookup, as the number of bytes of a path that could be read instead.
const LOOKUP: usize = 64;

/// The remaining cost that the lookups of an event may have.
#[derive(Debug)]
pub(crate) struct Lookups(Cell<usize>);

impl Default for Lookups {
    fn default() -> Self {
        Self(Cell::new(MOST_BYTES))
    }
}

impl Lookups {
    pub(super) fn is_there(&self, path: &Path) -> Result<bool, Unknown> {
        self.take(path)?;
        Ok(path.symlink_metadata().is_ok())
    }

    fn take(&self, path: &Path) -> Result<(), Unknown> {
        let left = self.0.get().checked_sub(path.as_os_str().len() + LOOKUP);
        self.0.set(left.unwrap_or_default());
        left.map(drop).ok_or(TOO_MUCH)
    }
}

/// The paths that an absolute path passes through.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// The whole path at each of its links, then without links: the place of the file, or that where it would be created.
    pub(super) paths: Vec<PathBuf>,
    /// The last part of the path that exists.
    pub(super) existing: PathBuf,
    /// True if that is a directory.
    is_directory: bool,
    /// True if that is the whole path.
    is_whole: bool,
}

/// The kind of file at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    File,
    Nothing,
    Directory,
}

impl Walk {
    pub(super) fn kind(&self) -> Kind {
        match (self.is_whole, self.is_directory) {
            (false, _) => Kind::Nothing,
            (true, true) => Kind::Directory,
            (true, false) => Kind::File,
        }
    }
}

/// Follows the links of an absolute path, and goes back at `..` as the system does. `start` is a directory in whose path no
/// part is a link.
///
/// # Errors
/// If the target of a link is not known, or if there are too many links.
pub(super) fn followed(start: &Path, path: &Path, lookups: &Lookups) -> Result<Walk, Unknown> {
    let mut walk = Walker {
        done: start.to_owned(),
        walk: Walk {
            existing: start.to_owned(),
            is_directory: true,
            ..Walk::default()
        },
        rest: Vec::new(),
        links: 0,
    };
    walk.push(path);
    while let Some(part) = walk.rest.pop() {
        if walk.depends_on_process(&part) {
            return Err(OF_A_PROCESS);
        }
        if !walk.enter(&part, lookups)? {
            // Nothing exists at this place, so there is nothing after it.
            walk.finish()?;
            break;
        }
    }
    walk.walk.is_whole = walk.done == walk.walk.existing;
    walk.walk.paths.push(long_names(walk.done));
    Ok(walk.walk)
}

struct Walker {
    /// The parts that were walked, without links.
    done: PathBuf,
    /// The parts that are left, the next part last.
    rest: Vec<OsString>,
    walk: Walk,
    links: usize,
}

impl Walker {
    fn push(&mut self, path: &Path) {
        let parts = path.components().rev();
        let parts = parts.filter(|part| *part != Component::CurDir);
        self.rest
            .extend(parts.map(|part| part.as_os_str().to_owned()));
    }

    /// Continues at the target of the link that was walked last.
    fn follow(&mut self, lookups: &Lookups) -> Result<(), Unknown> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(MANY_LINKS);
        }
        let mut at_link = self.done.clone();
        // What is behind a `..` of a target is not below this link.
        let rest = self.rest.iter().rev();
        at_link.extend(rest.take_while(|part| *part != ".."));
        lookups.take(&at_link)?;
        self.walk.paths.push(at_link);
        let target = fs::read_link(&self.done).map_err(|_| UNREADABLE)?;
        lookups.take(&target)?;
        self.done.pop();
        self.push(&target);
        Ok(())
    }

    /// Walks one part. Returns false if there is no such file.
    fn enter(&mut self, part: &OsStr, lookups: &Lookups) -> Result<bool, Unknown> {
        match Path::new(part).components().next() {
            Some(Component::ParentDir) => {
                self.done.pop();
                self.enter_directory();
                return Ok(true);
            }
            Some(Component::Normal(_)) => self.done.push(part),
            _ => {
                self.done.push(part);
                self.enter_directory();
                return Ok(true);
            }
        }
        lookups.take(&self.done)?;
        match fs::symlink_metadata(&self.done) {
            Ok(metadata) if metadata.is_symlink() => self.follow(lookups).map(|()| true),
            Ok(metadata) => {
                self.walk.existing.clone_from(&self.done);
                self.walk.is_directory = metadata.is_dir();
                Ok(true)
            }
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(false),
                // The name cannot be that of a file. But a path can become too long only through a link in it.
                ErrorKind::InvalidFilename if cfg!(windows) || part.len() > LONGEST_NAME => {
                    Ok(false)
                }
                ErrorKind::InvalidFilename => Err(TOO_MUCH),
                _ => Err(UNREADABLE),
            },
        }
    }

    /// Notes that what was walked is a directory.
    fn enter_directory(&mut self) {
        self.walk.existing.clone_from(&self.done);
        self.walk.is_directory = true;
    }

    /// Adds the rest after a part that does not exist.
    ///
    /// # Errors
    /// If the rest goes back: a program that creates the part would be led elsewhere.
    fn finish(&mut self) -> Result<(), Unknown> {
        while let Some(part) = self.rest.pop() {
            if part == ".." {
                return Err(BEHIND_A_LINK);
            }
            self.done.push(part);
        }
        Ok(())
    }

    /// Returns whether the next part is the directory of a process in `/proc`, or that of the open files in `/dev`: its links
    /// depend on the process that asks, and on the time.
    fn depends_on_process(&self, part: &OsStr) -> bool {
        let name = part.to_str().unwrap_or_default();
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let is_process = is_number || name == "self" || name == "thread-self";
        cfg!(unix)
            && (is_process && self.done == Path::new("/proc")
                || name == "fd" && self.done == Path::new("/dev"))
    }
}

/// Returns whether an absolute path, or a link in it, leads to what only the process that opens it has.
#[cfg(feature = "cli")]
pub(crate) fn is_of_process(path: &Path) -> bool {
    cfg!(unix)
        && followed(Path::new("/"), path, &Lookups::default()).is_err_and(|why| why == OF_A_PROCESS)
}

/// Resolves each `..` of an absolute path by name, as some programs do before they open a file.
///
/// # Errors
/// If one stands behind a link: the system would go to another place.
pub(super) fn without_parents(path: &Path, lookups: &Lookups) -> Result<PathBuf, Unknown> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part != Component::ParentDir {
            plain.push(part);
            continue;
        }
        lookups.take(&plain)?;
        match fs::symlink_metadata(&plain) {
            Ok(metadata) if metadata.is_symlink() => return Err(BEHIND_A_LINK),
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename
                ) => {}
            Err(_) => return Err(UNREADABLE),
        }
        plain.pop();
    }
    Ok(plain)
}

/// Returns whether letter case makes no difference where this file lies: whether it, or the nearest directory above it with a
/// letter in its name, is also found with its case swapped. None if no name has a letter.
#[cfg(unix)]
pub(super) fn ignores_case(existing: &Path) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;

    let (path, swapped) = existing.ancestors().find_map(|path| {
        let name = path.file_name()?.to_str()?;
        let swapped = swapped_case(name);
        (swapped != name).then(|| (path, path.with_file_name(swapped)))
    })?;
    let identity = |path: &Path| {
        let metadata = fs::symlink_metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    let other = identity(&swapped);
    Some(other.is_some() && other == identity(path))
}

/// Windows tells the identity of a file only for an opened one.
#[cfg(not(unix))]
pub(super) fn ignores_case(_existing: &Path) -> Option<bool> {
    None
}

#[cfg(unix)]
fn swapped_case(name: &str) -> String {
    let swapped = |c: char| {
        if c.is_ascii_lowercase() {
            c.to_ascii_uppercase()
        } else {
            c.to_ascii_lowercase()
        }
    };
    name.chars().map(swapped).collect()
}

/// Returns a path of Windows with the long names of its files: `PROGRA~1` is `Program Files`.
fn long_names(path: PathBuf) -> PathBuf {
    if !cfg!(windows) {
        return path;
    }
    for existing in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (fs::canonicalize(existing), path.strip_prefix(existing)) {
            // An empty rest would add a separator.
            return real.components().chain(rest.components()).collect();
        }
    }
    path
}
