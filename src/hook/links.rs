//! The targets of a path's links, one after the other: a guard of `secrets/**` must recognize a path that passes through it.
//!
//! Looks at files, with a limit for each event. Knows no globs. The system's own function names only the last place.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// The most links of a path. Systems follow no more links.
const MOST_LINKS: usize = 40;

/// The longest name of a file, in bytes.
const LONGEST_NAME: usize = 255;

/// The most bytes of all paths that are looked up for an event: the system reads each path up to its end. This takes some 10
/// ms.
const MOST_BYTES: usize = 1024 * 1024;

/// The remaining cost that the lookups of an event may have.
#[derive(Debug)]
pub(super) struct Steps(Cell<usize>);

impl Default for Steps {
    fn default() -> Self {
        Self(Cell::new(MOST_BYTES))
    }
}

/// The cost of a lookup, as the number of bytes of a path that could be read instead.
const LOOKUP: usize = 64;

impl Steps {
    fn take(&self, path: &Path) -> Option<()> {
        let left = self.0.get().checked_sub(path.as_os_str().len() + LOOKUP);
        self.0.set(left.unwrap_or_default());
        left.map(drop)
    }

    pub(super) fn are_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// Follows the links of an absolute path. Returns the whole path as it is before and after each of them; the last path is
/// the place of the file, or the place where it would be created. None if the target of a link is not known, or if there are
/// too many links.
pub(super) fn followed(path: &Path, steps: &Steps) -> Option<Vec<PathBuf>> {
    let mut walk = Walk {
        done: PathBuf::new(),
        rest: Vec::new(),
        stages: Vec::new(),
        links: 0,
    };
    walk.push(path);
    while let Some(part) = walk.rest.pop() {
        if walk.is_process(&part) {
            return None;
        }
        if !walk.enter(&part, steps)? {
            // Nothing exists at this place, so there is nothing after it.
            walk.finish()?;
            break;
        }
        if walk.links > MOST_LINKS {
            return None;
        }
    }
    walk.stages.push(long_names(walk.done));
    Some(walk.stages)
}

struct Walk {
    /// The parts that were walked, without links.
    done: PathBuf,
    /// The parts that are left, the next part last.
    rest: Vec<OsString>,
    stages: Vec<PathBuf>,
    links: usize,
}

impl Walk {
    fn push(&mut self, path: &Path) {
        let parts = path.components().rev();
        let parts = parts.filter(|part| *part != Component::CurDir);
        self.rest
            .extend(parts.map(|part| part.as_os_str().to_owned()));
    }

    /// Continues at the target of the link that was walked last.
    fn follow(&mut self, steps: &Steps) -> Option<()> {
        let target = fs::read_link(&self.done).ok()?;
        steps.take(&target)?;
        // A `..` that led here hides the link from the stage before. The path passes through it nevertheless.
        let rest = self.rest.iter().rev();
        self.add_stage(
            rest.take_while(|part| *part != "..").cloned().collect(),
            steps,
        )?;
        self.done.pop();
        self.push(&target);
        self.links += 1;
        self.add_stage(self.rest.iter().rev().cloned().collect(), steps)
    }

    fn add_stage(&mut self, rest: Vec<OsString>, steps: &Steps) -> Option<()> {
        let mut stage = self.done.clone();
        stage.extend(rest);
        steps.take(&stage)?;
        self.stages.push(stage);
        Some(())
    }

    /// Walks one part. Returns false if there is no such file.
    fn enter(&mut self, part: &OsStr, steps: &Steps) -> Option<bool> {
        match Path::new(part).components().next()? {
            Component::ParentDir => {
                self.done.pop();
                return Some(true);
            }
            Component::Normal(_) => self.done.push(part),
            _ => {
                self.done.push(part);
                return Some(true);
            }
        }
        steps.take(&self.done)?;
        match fs::symlink_metadata(&self.done) {
            Ok(metadata) if metadata.is_symlink() => self.follow(steps).map(|()| true),
            Ok(_) => Some(true),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Some(false),
                // The name cannot be that of a file. But a path can become too long only through a link in it.
                ErrorKind::InvalidFilename => {
                    let is_impossible = cfg!(windows) || part.len() > LONGEST_NAME;
                    is_impossible.then_some(false)
                }
                _ => None,
            },
        }
    }

    /// Adds the rest after a part that does not exist. Returns None if the rest goes back: a program that creates the part
    /// would be led elsewhere.
    fn finish(&mut self) -> Option<()> {
        while let Some(part) = self.rest.pop() {
            if part == ".." {
                return None;
            }
            self.done.push(part);
        }
        Some(())
    }

    /// Returns whether the next part is the directory of a process in `/proc`: the targets of its links depend on the
    /// process that asks, and on the time.
    fn is_process(&self, part: &OsStr) -> bool {
        let name = part.to_str().unwrap_or_default();
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = is_number || name == "self" || name == "thread-self";
        cfg!(unix) && is_name && self.done == Path::new("/proc")
    }
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
