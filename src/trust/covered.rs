//! The files that an approval covers: those that an entry names, those in the hooks directory, and the entry's `inputs`.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::hook::{Hook, OF_EVENT, Pieces};
use crate::named::{self, Copies, Lookup, Named, hooks_directories};
use crate::protocol::is_of_every_event;

/// The version of the rules by which files are covered, which changes with them: 0 before it was stored. Because of it,
/// messages say that a file "is newly covered", not that it "has appeared".
pub(super) const RULES: u32 = 2;

/// A project, and the known facts about its files.
#[derive(Debug)]
pub(super) struct Project {
    /// The project's root, without links in its path.
    pub(super) root: PathBuf,
    /// The digests of files that were read, if the project is looked at only once: then no content is read twice.
    read: Option<Mutex<HashMap<PathBuf, Arc<str>>>>,
    /// Copies of files that are compared before each run.
    pub(super) copies: Copies,
}

impl Project {
    pub(super) fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            read: None,
            copies: Copies::default(),
        }
    }

    /// Creates a project that is looked at once, although for many hooks.
    pub(super) fn once(root: &Path) -> Self {
        Self {
            read: Some(Mutex::default()),
            ..Self::at(root)
        }
    }

    fn digest(&self, path: &Path, metadata: &Metadata) -> io::Result<Arc<str>> {
        let Some(read) = &self.read else {
            return named::digest(path, metadata);
        };
        let read = || read.lock().unwrap_or_else(PoisonError::into_inner);
        let known = read().get(path).cloned();
        if let Some(digest) = known {
            return Ok(digest);
        }
        let digest = named::digest(path, metadata)?;
        read().insert(path.to_owned(), Arc::clone(&digest));
        Ok(digest)
    }
}

/// Returns the files that an approval of the hook covers now. Directories for which `is_skipped` is true are not
/// looked at.
pub(super) fn covered(project: &Project, hook: &Hook, is_skipped: &dyn Fn(&str) -> bool) -> Named {
    if hook.answers() {
        return Named::default();
    }
    let root = &*project.root;
    let working_dir = working_dir_of(hook, root);
    let pieces = pieces_of(hook, root);
    let lookup = Lookup {
        root,
        base: Path::new(""),
        working_dir: &working_dir,
        pieces: &pieces,
        places: Vec::new(),
        directories: hooks_directories(hook, root),
        notices_new: true,
        is_skipped,
        digest: Some(&|path, metadata| project.digest(path, metadata)),
    };
    let mut named = lookup.files_of(hook);
    named.unknown = pieces.unknown.or(named.unknown);
    if let Some(part) = &named.unknown {
        let note = format!("may run files that this approval does not cover: `{part}`");
        named.notes.push(note);
    }
    named
}

/// Returns the part for which a hook cannot be approved: its files are known only when it runs, and the entry has no `inputs`. A
/// hook of another agent has no place for such a list.
pub(super) fn refused_part<'a>(hook: &Hook, covered: &'a Named) -> Option<&'a str> {
    let has_list = !hook.inputs().is_empty() || hook.protocol().is_some();
    covered.unknown.as_deref().filter(|_| !has_list)
}

fn working_dir_of(hook: &Hook, root: &Path) -> PathBuf {
    root.join(hook.working_dir().unwrap_or(Path::new("")))
}

fn pieces_of(hook: &Hook, root: &Path) -> Pieces {
    let working_dir = working_dir_of(hook, root);
    Pieces::of(hook, &|name| {
        value_of_variable(name, hook, root, &working_dir)
    })
}

/// Returns the value of a variable that is set for the hook: a directory, or `OF_EVENT`.
fn value_of_variable(name: &str, hook: &Hook, root: &Path, working_dir: &Path) -> Option<String> {
    if name == "PWD" {
        // `.` is resolved against each directory in which the word is looked up.
        return Some(".".to_owned());
    }
    if name == "HOME" && !hook.env().contains_key(name) {
        let home = home::home_dir()?;
        // The home directory has no links in its path, like the root.
        let home = home.canonicalize().unwrap_or(home);
        return home.into_os_string().into_string().ok();
    }
    if name.ends_with("_WORKING_DIR") && hook.protocol().is_none() {
        return working_dir.to_str().map(str::to_owned);
    }
    if is_of_every_event(name) && hook.protocol().is_none() {
        return Some(OF_EVENT.into());
    }
    let mut named = hook.directories(root).into_iter();
    let (_, path) = named.find(|(known, _)| known == name)?;
    path.into_os_string().into_string().ok()
}
