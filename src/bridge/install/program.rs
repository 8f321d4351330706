//! The path by which agents start this program: the one by which its user does, if it lasts; else that of a copy.
//!
//! A package manager changes what its link leads to, and removes the old file, so a link stays a link. What a project, a
//! temporary directory or a cache has may be replaced by a model or vanish, and then each call is blocked, or none.

use std::path::{Component, Path, PathBuf};
use std::{env, fs, io};

use crate::agents::{PROGRAM, is_called_so};
use crate::files::{self, is_executable};

/// The most links that are followed, as in the system.
const MOST_LINKS: usize = 40;

/// Directories of caches, whose files are removed at any time: of npx, of XDG and of macOS.
const CACHES: [&str; 3] = ["_npx", ".cache", "Caches"];

/// Files that `pipx` and `uv tool` write into the environment of a program for all projects.
const OF_TOOLS: [&str; 2] = ["pipx_metadata.json", "uv-receipt.toml"];

/// This program, where agents start a copy of it.
#[derive(Debug, Clone)]
pub(crate) struct Original {
    path: PathBuf,
    /// The reason why its place does not do.
    pub(crate) why: String,
}

impl Original {
    /// Returns whether a file has the content of this program.
    pub(super) fn is_copied_to(&self, copy: &Path) -> bool {
        let content = fs::read(&self.path).ok();
        content.is_some() && fs::read(copy).ok() == content
    }

    pub(super) fn copy_to(&self, copy: &Path) -> io::Result<()> {
        files::replace_program(copy, &self.path)
    }
}

/// Returns where the copy is.
pub(super) fn place_of_copy(home: &Path) -> PathBuf {
    let named = env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let named = named.filter(|directory| directory.is_absolute());
    let data = named.unwrap_or_else(|| home.join(".local/share"));
    data.join("forge-hooks/registered").join(PROGRAM)
}

/// Returns the path by which agents start this program, and the program itself if this is a copy.
///
/// # Errors
/// If the system does not tell the program's file.
pub(super) fn to_register(home: &Path) -> Result<(PathBuf, Option<Original>), String> {
    let path = called_as()?;
    let Some(why) = fault_of_version(&path).or_else(|| fault_of_place(&path, home)) else {
        return Ok((path, None));
    };
    Ok((place_of_copy(home), Some(Original { path, why })))
}

/// Returns the absolute path by which this program was called, links included, if it leads to this program; else that of its file.
///
/// # Errors
/// If the system does not tell the file.
fn called_as() -> Result<PathBuf, String> {
    let own = env::current_exe()
        .map_err(|error| format!("cannot find the path of this program: {error}"))?;
    let called = env::args_os().next().map(PathBuf::from);
    let called = called.and_then(|name| found(&name));
    let leads_here = |path: &PathBuf| {
        let real = path.canonicalize();
        is_called_so(path) && real.is_ok_and(|real| own.canonicalize().is_ok_and(|own| own == real))
    };
    Ok(called.filter(leads_here).unwrap_or(own))
}

/// Returns where a shell finds a program.
fn found(name: &Path) -> Option<PathBuf> {
    let has_slash = name.components().nth(1).is_some();
    let path = if has_slash {
        name.to_owned()
    } else {
        let directories = env::var_os("PATH")?;
        let mut files = env::split_paths(&directories).map(|directory| directory.join(name));
        files.find(|file| file.metadata().is_ok_and(|found| is_executable(&found)))?
    };
    absolute(&path)
}

/// Returns the absolute path. What is before a `..` is followed, since a link may be there; a link behind it stays.
fn absolute(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let parts: Vec<_> = path.components().collect();
    let last = parts.iter().rposition(|part| *part == Component::ParentDir);
    let Some(last) = last else {
        return Some(path);
    };
    let before: PathBuf = parts[..=last].iter().collect();
    let behind: PathBuf = parts[last + 1..].iter().collect();
    Some(before.canonicalize().ok()?.join(behind))
}

/// Returns the directory above the program that has another name in each version.
fn fault_of_version(program: &Path) -> Option<String> {
    let version = env!("CARGO_PKG_VERSION");
    let mut above = program.ancestors().skip(1);
    let named = above.find(|directory| {
        let name = directory.file_name().unwrap_or_default();
        name.to_string_lossy().contains(version)
    })?;
    let named = named.display();
    Some(format!("`{named}` has another name in each version"))
}

/// Returns the directory above the program, or above a link that leads to it, that a model may write or that may vanish.
pub(super) fn fault_of_place(program: &Path, home: &Path) -> Option<String> {
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    let temporary = temporary_directories();
    let places = places(program);
    // The directories above the home are no project, as in a container whose home is in a temporary directory.
    let directories = places.iter().flat_map(|place| place.ancestors().skip(1));
    let mut directories = directories.filter(|directory| !home.starts_with(directory));
    directories.find_map(|directory| {
        let what = fault_of(directory, &temporary)?;
        Some(format!("`{}` is {what}", directory.display()))
    })
}

/// Returns what is wrong with a directory above the program.
fn fault_of(directory: &Path, temporary: &[PathBuf]) -> Option<&'static str> {
    let has = |name: &str| directory.join(name).symlink_metadata().is_ok();
    let name = directory.file_name().unwrap_or_default();
    if temporary.iter().any(|other| other == directory) {
        Some("a temporary directory")
    } else if CACHES.iter().any(|cache| name == *cache) {
        Some("a cache of a package manager")
    } else if name == "node_modules" {
        Some("a directory of Node packages")
    } else if has("pyvenv.cfg") && !OF_TOOLS.iter().any(|file| has(file)) {
        Some("a virtual environment of Python")
    } else if has(".git") {
        Some("a project")
    } else {
        None
    }
}

fn temporary_directories() -> Vec<PathBuf> {
    let usual = ["/tmp", "/var/tmp"].map(PathBuf::from);
    let all = usual.into_iter().chain([env::temp_dir()]);
    all.flat_map(|directory| [directory.canonicalize().ok(), Some(directory)])
        .flatten()
        .collect()
}

/// Returns the path, and each one that a link on the way makes of it.
fn places(program: &Path) -> Vec<PathBuf> {
    let mut all = vec![program.to_owned()];
    while all.len() <= MOST_LINKS {
        let Some(next) = all.last().and_then(|path| one_link_followed(path)) else {
            break;
        };
        all.push(next);
    }
    all
}

/// Returns the path after its first link; none if it has none.
fn one_link_followed(path: &Path) -> Option<PathBuf> {
    let mut above: Vec<_> = path.ancestors().collect();
    above.reverse();
    let link = above.into_iter().find(|above| above.is_symlink())?;
    let rest = path.strip_prefix(link).ok()?;
    let target = link.parent()?.join(link.read_link().ok()?);
    let next = if rest.as_os_str().is_empty() {
        target
    } else {
        target.join(rest)
    };
    // The directories before a `..` have no more links: those were followed first.
    absolute(&next)
}
