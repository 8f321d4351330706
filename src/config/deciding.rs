//! Finds out whether a path is one of the files that decide which hooks run or how, for a host that refuses or asks before a
//! tool writes there.
//!
//! Knows which files there are, and not how a path is followed.

#[cfg(unix)]
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::HookConfig;
use super::places::absolute;
use crate::hook::{HOOKS_D, Hook};
use crate::named::{GetVariable, named_anywhere, without_links};
use crate::paths::{Names, is_too_long};

/// The directories beside a hooks file that belong to it.
const BESIDE: [&str; 2] = ["hooks", HOOKS_D];

/// The most files of directories that are compared with a path that is a hard link: a plugin may have a `node_modules`.
#[cfg(unix)]
const MOST_LINKED: usize = 10_000;

/// Files and directories that decide, besides a host's own files and those of agents.
#[derive(Debug, Default)]
pub(crate) struct AlsoDeciding {
    pub(crate) files: Vec<PathBuf>,
    /// Each file in these directories counts.
    pub(crate) directories: Vec<PathBuf>,
    /// Parts of a path that decide wherever they stand.
    #[cfg(feature = "cli")]
    pub(crate) anywhere: Vec<PathBuf>,
    /// True if the caller judges skills, commands and subagents by their text.
    pub(crate) reads_texts: bool,
    /// True if a directory above one of the places does not count.
    pub(crate) leaves_out_above: bool,
}

impl AlsoDeciding {
    #[cfg(feature = "cli")]
    fn has(&self, names: &Names) -> bool {
        let ends = |parts: &Path| names.ends_with_parts(parts);
        self.anywhere.iter().any(|parts| {
            // A directory above such a file may be moved with it.
            let mut above = parts.ancestors().skip(1);
            names.has_parts(parts)
                || above.any(|above| !above.as_os_str().is_empty() && ends(above))
        })
    }

    #[cfg(not(feature = "cli"))]
    fn has(&self, _names: &Names) -> bool {
        false
    }
}

/// Returns the directories that belong to a hooks file, or to settings that may have hooks.
pub(crate) fn directories_of(file: &Path) -> [PathBuf; 2] {
    BESIDE.map(|name| file.with_file_name(name))
}

/// The parts of a host that decide besides the files of its configuration.
pub(crate) struct Deciders<'a> {
    pub(crate) root: Option<&'a Path>,
    /// The directory in which hooks outside of projects begin.
    pub(crate) host_dir: &'a Path,
    /// The stores of approvals.
    pub(crate) stores: Vec<PathBuf>,
    /// Files of agents, whether their hooks are loaded or not.
    pub(crate) files: Vec<PathBuf>,
    /// Directories of plugins: each file in one counts.
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) also: &'a AlsoDeciding,
    pub(crate) hooks: Vec<Arc<Hook>>,
    pub(crate) inherited: GetVariable<'a>,
}

/// A file that decides, or a directory in which everything does.
struct Place {
    path: PathBuf,
    is_directory: bool,
}

impl Place {
    fn file(path: PathBuf) -> Self {
        Self {
            path: absolute(&path),
            is_directory: false,
        }
    }

    fn directory(path: PathBuf) -> Self {
        Self {
            path: absolute(&path),
            is_directory: true,
        }
    }

    /// Returns whether a write to one of these files, or a move of a part of its path, changes this place.
    fn is_on(&self, files: &[Names], leaves_out_above: bool) -> bool {
        let place = Names::of_file(&self.path).or_else(|_| Names::as_written(&self.path));
        // A tool cannot write to a place that has no name.
        let Ok(place) = place else { return false };
        files.iter().any(|names| {
            let is_within = place.leads_to(names);
            names.leads_to(&place) && (is_within || !leaves_out_above)
                || self.is_directory && is_within
        })
    }
}

impl HookConfig {
    /// See [`Hooks::decides`](crate::Hooks::decides).
    pub(crate) fn decides(&self, path: &Path, deciders: &Deciders<'_>) -> bool {
        // Some programs read a path up to a NUL.
        let has_nul = path.as_os_str().as_encoded_bytes().contains(&0);
        if has_nul || is_too_long(path) || is_elsewhere(path, deciders.root) {
            return true;
        }
        let paths = possible_paths(path, deciders.root);
        let mut all = Vec::new();
        for path in &paths {
            match Names::of_file(path) {
                Ok(names) => all.push(names),
                Err(_) => return true,
            }
        }
        if all.iter().any(|names| deciders.also.has(names)) {
            return true;
        }
        let is_any = |places: &[Place]| {
            let is_reached = |place: &Place| place.is_on(&all, deciders.also.leaves_out_above);
            places.iter().any(is_reached) || is_linked(&paths, places)
        };
        is_any(&self.places(deciders)) || is_any(&named_by(deciders))
    }

    /// Returns the hooks files of all scopes, with the directories that belong to them, and the stores.
    fn places(&self, deciders: &Deciders<'_>) -> Vec<Place> {
        let root = deciders.root.map(absolute);
        let own = self.files(root.as_deref()).into_iter();
        let mut files: Vec<PathBuf> = own.map(|file| file.path).collect();
        files.extend(deciders.also.files.iter().cloned());
        let also = deciders.also.directories.iter();
        let mut directories: Vec<_> = deciders.directories.iter().chain(also).cloned().collect();
        // A directory `hooks` of the project itself has nothing to do with an agent's file beside it.
        let is_in_root = |file: &&PathBuf| root.is_some() && file.parent() == root.as_deref();
        let of_agents = deciders.files.iter().filter(|file| !is_in_root(file));
        for file in files.iter().chain(of_agents) {
            directories.extend(directories_of(file));
        }
        files.extend(deciders.files.iter().cloned());
        let own = self.trust_store().map(|store| store.path().to_owned());
        for store in own.iter().chain(&deciders.stores) {
            files.push(store.clone());
            files.push(lock_of(store));
        }
        directories.sort_unstable();
        directories.dedup();
        let files = files.into_iter().map(Place::file);
        files
            .chain(directories.into_iter().map(Place::directory))
            .collect()
    }
}

/// Returns the files that the commands of hooks name.
fn named_by(deciders: &Deciders<'_>) -> Vec<Place> {
    let host_dir = without_links(deciders.host_dir);
    let hooks = deciders.hooks.iter();
    let named = hooks.flat_map(|hook| {
        let named = named_anywhere(hook, &host_dir, deciders.inherited);
        named.existing.into_iter().chain(named.possible)
    });
    let mut paths: Vec<PathBuf> = named.collect();
    paths.sort_unstable();
    paths.dedup();
    paths.into_iter().map(Place::file).collect()
}

fn lock_of(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Returns the absolute paths that a path may mean: it begins in the current directory or in the project, and a tool may
/// replace `~`.
fn possible_paths(path: &Path, root: Option<&Path>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let root = root.map(absolute);
    let starts = std::env::current_dir().ok().into_iter().chain(root);
    paths.extend(starts.map(|start| start.join(path)));
    if let Ok(rest) = path.strip_prefix("~")
        && let Some(home) = home::home_dir()
    {
        paths.push(home.join(rest));
    }
    paths.dedup();
    paths
}

/// Returns whether a path of Windows is on another computer, or on this one by another name. Reading it may take long, and reveals
/// the user to the other computer.
fn is_elsewhere(path: &Path, root: Option<&Path>) -> bool {
    let is_of_server = cfg!(windows) && path.to_string_lossy().replace('\\', "/").starts_with("//");
    let here = std::env::current_dir().ok();
    let mut known = here.iter().map(PathBuf::as_path).chain(root);
    is_of_server && !known.any(|directory| path.starts_with(directory))
}

/// Returns whether one of these paths is another name of a file that decides: a hard link.
#[cfg(unix)]
fn is_linked(paths: &[PathBuf], places: &[Place]) -> bool {
    use std::os::unix::fs::MetadataExt;

    let identity = |metadata: &Metadata| (metadata.dev(), metadata.ino());
    let is_linked = |metadata: &Metadata| metadata.is_file() && metadata.nlink() > 1;
    let existing = paths.iter().filter_map(|path| path.metadata().ok());
    let linked = existing.filter(is_linked);
    let linked: Vec<_> = linked.map(|metadata| identity(&metadata)).collect();
    if linked.is_empty() {
        return false;
    }
    let mut waiting: Vec<PathBuf> = places.iter().map(|place| place.path.clone()).collect();
    let mut left = MOST_LINKED;
    while let Some(path) = waiting.pop() {
        let Ok(metadata) = path.metadata() else {
            continue;
        };
        if linked.contains(&identity(&metadata)) {
            return true;
        }
        if metadata.is_dir() {
            let entries = path.read_dir().into_iter().flatten().flatten();
            waiting.extend(entries.take(left + 1).map(|entry| entry.path()));
        }
        let Some(fewer) = left.checked_sub(1) else {
            break;
        };
        left = fewer;
    }
    false
}

/// The standard library does not identify the file at the end of a path on this system.
#[cfg(not(unix))]
fn is_linked(_paths: &[PathBuf], _places: &[Place]) -> bool {
    false
}
