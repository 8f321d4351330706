//! Paths within a project, resolved link by link, so that nothing outside of it is looked at.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use super::stamp::{Seen, Stamp};

/// The most files, links and directories that one check looks at: that takes about 100 ms.
const MOST_LOOKS: usize = 100_000;
/// Linux follows no more (ELOOP).
const MOST_LINKS: usize = 40;

/// Follows a path from a project's root.
pub(crate) fn follow_within(root: &Path, path: &Path) -> End {
    Tree::at(root).find(Path::new(""), path).end
}

/// Where a path leads.
#[derive(Debug)]
pub(super) struct Found {
    /// The links on the way, by their paths below the root, with their texts.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    pub(super) end: End,
}

#[derive(Debug, Clone)]
pub(crate) enum End {
    Missing,
    /// Outside of the project.
    Outside,
    /// The path below the root, without links.
    At(PathBuf, Metadata),
}

/// A project, and what was looked at in it.
pub(super) struct Tree<'a> {
    pub(super) root: &'a Path,
    seen: RefCell<BTreeMap<PathBuf, Option<Stamp>>>,
    /// How many more times it may be looked at.
    left: Cell<usize>,
}

impl<'a> Tree<'a> {
    pub(super) fn at(root: &'a Path) -> Self {
        Self {
            root,
            seen: RefCell::default(),
            left: Cell::new(MOST_LOOKS),
        }
    }

    /// What was looked at; None if something has changed so recently that it may change again without a sign.
    pub(super) fn into_seen(self, begun: SystemTime) -> Option<Seen> {
        Seen::of(self.seen.into_inner(), begun)
    }

    /// Follows a path from a directory below the root; the path of the directory has no links.
    pub(super) fn find(&self, start: &Path, path: &Path) -> Found {
        let mut links = Vec::new();
        let end = self.follow(start, path, &mut links);
        Found { links, end }
    }

    /// How often it was looked at.
    pub(super) fn looks(&self) -> usize {
        MOST_LOOKS - self.left.get()
    }

    /// Whether nothing more can be found.
    pub(super) fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    fn look(&self, below: &Path) -> Option<Metadata> {
        self.left.set(self.left.get().checked_sub(1)?);
        let path = self.root.join(below);
        let metadata = path.symlink_metadata().ok();
        let stamp = metadata.as_ref().and_then(Stamp::of);
        self.seen.borrow_mut().insert(path, stamp);
        metadata
    }

    fn follow(&self, start: &Path, path: &Path, links: &mut Vec<(PathBuf, PathBuf)>) -> End {
        let root = self.root;
        let mut real = start.to_owned();
        let mut todo = Vec::new();
        let mut found = None;
        if !enter(root, path, &mut real, &mut todo) {
            return End::Outside;
        }
        while let Some(part) = todo.pop() {
            found = None;
            if part == ".." {
                if !real.pop() {
                    return End::Outside;
                }
                continue;
            }
            real.push(part);
            let Some(metadata) = self.look(&real) else {
                return End::Missing;
            };
            if !metadata.is_symlink() {
                found = Some(metadata);
                continue;
            }
            let Ok(text) = root.join(&real).read_link() else {
                return End::Missing;
            };
            links.push((real.clone(), text.clone()));
            real.pop();
            if links.len() > MOST_LINKS {
                return End::Missing;
            }
            if !enter(root, &text, &mut real, &mut todo) {
                return End::Outside;
            }
        }
        match found.or_else(|| self.look(&real)) {
            Some(metadata) => End::At(real, metadata),
            None => End::Missing,
        }
    }
}

/// Adds the parts of a path, the first one last. Returns false if it leads out of the project.
fn enter(root: &Path, path: &Path, real: &mut PathBuf, todo: &mut Vec<OsString>) -> bool {
    let mut path = path;
    if path.has_root() {
        match path.strip_prefix(root) {
            Ok(below) => path = below,
            Err(_) => return false,
        }
        *real = PathBuf::new();
    }
    for part in path.components().rev() {
        if matches!(part, Component::Normal(_) | Component::ParentDir) {
            todo.push(part.as_os_str().to_owned());
        }
    }
    true
}

/// Returns a path below the root as text, with `/` between its parts. Different paths have different texts: a
/// byte that is not UTF-8 becomes a NUL, which no name contains, and its two digits.
pub(super) fn name_of(path: &Path) -> String {
    let mut name = String::new();
    for part in path {
        if !name.is_empty() {
            name.push('/');
        }
        for chunk in part.as_encoded_bytes().utf8_chunks() {
            name.push_str(chunk.valid());
            for byte in chunk.invalid() {
                name += &format!("\0{byte:02x}");
            }
        }
    }
    name
}
