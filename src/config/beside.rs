//! The files of `hooks.d`, beside a hooks file: each is read as if it followed that file, in the order of their names. So programs
//! that add hooks need not edit a file that other programs edit too.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files;
use crate::hook::HOOKS_D;

/// The most files of a directory, and the most entries that are read to find them.
const MOST: usize = 100;
const MOST_ENTRIES: usize = 10_000;

/// Returns a hooks file, and those beside it, if their directory has not been seen yet. If the directory cannot be read or has
/// too many files, it is returned in their place, with its problem.
pub(super) fn with_files(
    path: PathBuf,
    seen: &mut HashSet<PathBuf>,
) -> Vec<(PathBuf, Option<String>)> {
    let directory = path.with_file_name(HOOKS_D);
    let is_new = seen.insert(directory.clone()) && files::is_there(&directory);
    let mut all = vec![(path, None)];
    if !is_new {
        return all;
    }
    let message = match names(&directory) {
        Ok(names) if names.len() <= MOST => {
            all.extend(names.iter().map(|name| (directory.join(name), None)));
            return all;
        }
        Ok(_) => format!("the directory has more than {MOST} files `*.json`: join some of them"),
        Err(error) => format!("the directory cannot be read: {error}"),
    };
    all.push((directory, Some(message)));
    all
}

/// Returns the names of the files, in order. Skips names that begin with a dot: those are files of editors.
fn names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for (index, entry) in fs::read_dir(directory)?.enumerate() {
        if index >= MOST_ENTRIES {
            let message = format!("it has more than {MOST_ENTRIES} entries");
            return Err(io::Error::other(message));
        }
        let name = entry?.file_name();
        let text = name.to_string_lossy();
        if !text.ends_with(".json") || text.starts_with('.') {
            continue;
        }
        match name.to_str() {
            Some(name) => names.push(name.to_owned()),
            None => return Err(io::Error::other(format!("the name {text:?} is not UTF-8"))),
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Returns the number of levels below the root, if the file is this hooks file or one beside it; none if it is neither.
pub(super) fn levels_below_root(path: &Path, file: &Path) -> Option<usize> {
    let levels = file.components().count();
    if path.ends_with(file) {
        return Some(levels);
    }
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    let directory = path.parent().filter(|_| is_json)?;
    let is_beside = directory.ends_with(file.with_file_name(HOOKS_D));
    is_beside.then_some(levels + 1)
}
