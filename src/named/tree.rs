//! The targets of paths, resolved link by link as the system does. Files outside of the root are never opened; only links
//! there are read. A link of a clone may lead out of it. Nothing below `/proc` is looked at.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::stamp::{Stamp, Stamps};

/// The most files, links and directories that one check looks at, which takes about 100 ms.
const MOST_LOOKS: usize = 100_000;
/// The most links that Linux follows (ELOOP).
const MOST_LINKS: usize = 40;

/// Follows a path from a project's root.
pub(crate) fn follow_within(root: &Path, path: &Path) -> End {
    PathTree::at(root).find(Path::new(""), path).end
}

/// The end of a path, and the way to it.
#[derive(Debug)]
pub(super) struct Resolved {
    /// The links on the way, by their paths below the root, with their texts. A link outside of the project has its
    /// whole path, and is one only if it leads into the project.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    pub(super) end: End,
}

impl Resolved {
    pub(super) fn is_linked_directory(&self) -> bool {
        !self.links.is_empty() && matches!(&self.end, End::At(_, metadata) if metadata.is_dir())
    }
}

#[derive(Debug, Clone)]
pub(crate) enum End {
    Missing,
    /// The place is outside of the project. It may not exist.
    Outside(PathBuf),
    /// The file exists: its path below the root, without links.
    At(PathBuf, Metadata),
}

/// A project, and the places that were looked at on the way to its files.
pub(super) struct PathTree<'a> {
    pub(super) root: &'a Path,
    seen: RefCell<BTreeMap<PathBuf, Option<Stamp>>>,
    /// The number of looks that are left.
    left: Cell<usize>,
}

impl<'a> PathTree<'a> {
    pub(super) fn at(root: &'a Path) -> Self {
        Self {
            root,
            seen: RefCell::default(),
            left: Cell::new(MOST_LOOKS),
        }
    }

    /// Returns the stamps of the places that were looked at.
    pub(super) fn into_stamps(self) -> Stamps {
        Stamps::of(self.seen.into_inner())
    }

    /// Follows a path from a directory, whose path has no links and begins at the root if it is relative.
    pub(super) fn find(&self, start: &Path, path: &Path) -> Resolved {
        let mut links = Vec::new();
        let end = self.follow(start, path, &mut links);
        if !matches!(end, End::At(..)) {
            links.retain(|(link, _)| self.is_within(link));
        }
        for (link, _) in &mut links {
            if let Some(below) = below(link, self.root) {
                *link = below.to_owned();
            }
        }
        Resolved { links, end }
    }

    /// Returns the number of looks.
    pub(super) fn looks(&self) -> usize {
        MOST_LOOKS - self.left.get()
    }

    /// Returns whether nothing more can be found.
    pub(super) fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    fn look(&self, path: &Path) -> Option<Metadata> {
        self.left.set(self.left.get().checked_sub(1)?);
        let metadata = path.symlink_metadata().ok();
        let stamp = metadata.as_ref().and_then(Stamp::of_place);
        let mut seen = self.seen.borrow_mut();
        // The stamp of a directory that was read stays.
        seen.entry(path.to_owned()).or_insert(stamp);
        metadata
    }

    /// Returns the names in a directory, sorted, at most `most`. The directory is unchanged as long as no name is added.
    pub(super) fn names_in(&self, directory: &Path, most: usize) -> io::Result<Vec<OsString>> {
        let path = self.root.join(directory);
        let stamp = Stamp::of(&path.symlink_metadata()?);
        let names = self.names_now(directory, most)?;
        self.seen.borrow_mut().insert(path, stamp);
        Ok(names)
    }

    /// Returns the same names. A name that is added is no change.
    pub(super) fn names_now(&self, directory: &Path, most: usize) -> io::Result<Vec<OsString>> {
        let names = self.root.join(directory).read_dir()?.take(most);
        let names = names.map(|entry| Ok(entry?.file_name()));
        let mut names: Vec<OsString> = names.collect::<io::Result<_>>()?;
        self.left.set(self.left.get().saturating_sub(names.len()));
        // If the names are sorted, those beyond a limit are the same each time.
        names.sort_unstable();
        Ok(names)
    }

    fn follow(&self, start: &Path, path: &Path, links: &mut Vec<(PathBuf, PathBuf)>) -> End {
        let mut real: PathBuf = self.root.join(start).components().collect();
        let mut todo = Vec::new();
        let mut last_metadata = None;
        self.enter(path, &mut real, &mut todo);
        while let Some(part) = todo.pop() {
            last_metadata = None;
            if part == ".." {
                real.pop();
                continue;
            }
            real.push(part);
            if real == Path::new("/proc") {
                // For another process, each name in `/proc/self` leads elsewhere.
                return End::Outside(real);
            }
            let Some(metadata) = self.look(&real) else {
                return self.missing(real);
            };
            if !metadata.is_symlink() {
                last_metadata = Some(metadata);
                continue;
            }
            let Ok(text) = real.read_link() else {
                return self.missing(real);
            };
            links.push((real.clone(), text.clone()));
            real.pop();
            if links.len() > MOST_LINKS {
                return self.missing(real);
            }
            self.enter(&text, &mut real, &mut todo);
        }
        let Some(below) = below(&real, self.root) else {
            return End::Outside(real);
        };
        match last_metadata.or_else(|| self.look(&real)) {
            Some(metadata) => End::At(below.to_owned(), metadata),
            None => End::Missing,
        }
    }

    fn missing(&self, real: PathBuf) -> End {
        if self.is_within(&real) {
            End::Missing
        } else {
            End::Outside(real)
        }
    }

    fn is_within(&self, path: &Path) -> bool {
        below(path, self.root).is_some()
    }

    /// Adds the parts of a path, the first one last. The root's own path has no links.
    fn enter(&self, path: &Path, real: &mut PathBuf, todo: &mut Vec<OsString>) {
        let mut path = path;
        if path.has_root() {
            *real = path.ancestors().last().unwrap_or(path).to_owned();
            if let Some(below) = below(path, self.root) {
                path = below;
                *real = self.root.to_owned();
            }
        }
        for part in path.components().rev() {
            if matches!(part, Component::Normal(_) | Component::ParentDir) {
                todo.push(part.as_os_str().to_owned());
            }
        }
    }
}

/// Returns the rest of a path within a directory.
#[cfg(unix)]
fn below<'p>(path: &'p Path, directory: &Path) -> Option<&'p Path> {
    path.strip_prefix(directory).ok()
}

/// Returns the rest of a path within a directory. On Windows, a path can be written in several ways: in other letter case,
/// and with `\\?\` before it, as `canonicalize` returns it.
#[cfg(windows)]
fn below<'p>(path: &'p Path, directory: &Path) -> Option<&'p Path> {
    let plain = |part: Component<'_>| {
        let text = part.as_os_str().to_string_lossy().to_lowercase();
        match text.strip_prefix(r"\\?\unc\") {
            Some(share) => format!(r"\\{share}"),
            None => text.trim_start_matches(r"\\?\").to_owned(),
        }
    };
    let mut parts = path.components();
    for part in directory.components() {
        if plain(parts.next()?) != plain(part) {
            return None;
        }
    }
    Some(parts.as_path())
}

/// Returns a path below the root, or a whole one, as text, with `/` between its parts. Different paths have different texts: a
/// byte that is not UTF-8 becomes a NUL, which no name contains, and its two digits.
pub(crate) fn name_of(path: &Path) -> String {
    let mut name = String::new();
    for part in path {
        if !name.is_empty() && !name.ends_with('/') {
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
