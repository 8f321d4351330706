//! The files from which a process was started, as they were then. If one has changed, a new process is needed,
//! so that no hook continues in an old form.
//!
//! Compares names, sizes and times, not content: content is checked by the approval.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::hook::{Candidates, Hook, HookCommand, expanded};
use crate::process::{Spec, program_of};

/// The most files. They are checked before each event, so with more of them no process is kept.
const MOST: usize = 1000;
/// The most directories in which the words of a command are looked up.
const MOST_DIRECTORIES: usize = 8;
/// The most directories within each other.
const DEEPEST: usize = 16;

/// The paths in the order in which the hook names them; None for what does not exist or is not a file.
#[derive(Debug, PartialEq)]
pub(super) struct Files(Vec<(PathBuf, Option<Stamp>)>);

/// Device, inode and size, and when it was modified and changed; of the working directory the first two.
type Stamp = ([u64; 3], [i64; 4]);

impl Files {
    /// Returns the stamps of the working directory, of the program, of each word of the command that could be a file,
    /// and of the hook's `inputs`; a word is looked up in the working directory and in each directory that the command
    /// names. None if the files cannot be determined, or if there are too many.
    pub(super) fn of(hook: &Hook, spec: &Spec<'_>) -> Option<Self> {
        let words = Candidates::of(hook);
        if words.is_cut || (builds_names(hook) && hook.inputs().is_empty()) {
            return None;
        }
        let words: Vec<String> = words.list.iter().map(|it| in_full(it, hook)).collect();
        let directory = spec.working_dir.metadata().ok();
        let directory = directory.map(|it| ([it.dev(), it.ino(), 0], [0; 4]));
        let mut files = Self(vec![(spec.working_dir.to_owned(), directory)]);
        let is_name = |word: &&String| !word.contains(['/', ' ']) && !word.starts_with('-');
        let names = words.iter().filter(is_name).map(OsStr::new);
        for program in std::iter::once(&*spec.program).chain(names) {
            if let Some(path) = program_of(program, spec) {
                files.add(path);
            }
        }
        let named = words.iter().map(|word| spec.working_dir.join(word));
        let named = named.filter(|path| path.is_dir()).take(MOST_DIRECTORIES);
        for directory in std::iter::once(spec.working_dir.to_owned()).chain(named) {
            for word in &words {
                files.add(directory.join(word));
            }
        }
        let base = hook.base_dir().unwrap_or(spec.working_dir);
        for input in hook.inputs() {
            files.add_input(base, input);
        }
        (files.0.len() <= MOST).then_some(files)
    }

    fn add(&mut self, path: PathBuf) {
        if self.0.len() <= MOST {
            self.0.push(stamped(path));
        }
    }

    /// Adds a file, a whole directory, or for a pattern the whole directory in which it begins.
    fn add_input(&mut self, base: &Path, input: &str) {
        let is_literal = |part: &&str| !part.contains(['*', '?', '[']);
        let literal: PathBuf = input.split('/').take_while(is_literal).collect();
        let path = match input.starts_with('/') {
            true => Path::new("/").join(literal),
            false => base.join(literal),
        };
        // A link that `inputs` names is followed. Other links are not: they may form a loop.
        self.add_all(path.canonicalize().unwrap_or(path), 0);
    }

    fn add_all(&mut self, path: PathBuf, depth: usize) {
        let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        if is_directory && depth < DEEPEST && self.0.len() <= MOST {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let mut entries: Vec<_> = entries.take(MOST + 1).map(|it| it.path()).collect();
            entries.sort_unstable();
            for entry in entries {
                self.add_all(entry, depth + 1);
            }
        }
        self.add(path);
    }
}

/// Returns a word with `~` and its variables replaced by their values.
fn in_full(word: &str, hook: &Hook) -> String {
    match word.strip_prefix("~/") {
        Some(below) => with_values(&format!("$HOME/{below}"), hook),
        None => with_values(word, hook),
    }
}

/// Whether a shell makes words of the command from what only it knows.
fn builds_names(hook: &Hook) -> bool {
    match hook.command() {
        HookCommand::Shell { text, .. } => with_values(text, hook).contains(['$', '`']),
        HookCommand::Program(_) => false,
    }
}

fn with_values(text: &str, hook: &Hook) -> String {
    expanded(text, |name| {
        let own = hook.env().get(name).cloned();
        own.or_else(|| std::env::var(name).ok())
    })
}

fn stamped(path: PathBuf) -> (PathBuf, Option<Stamp>) {
    let found = path.metadata().ok().filter(Metadata::is_file);
    let stamp = found.map(|it| {
        let times = [it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec()];
        ([it.dev(), it.ino(), it.size()], times)
    });
    (path, stamp)
}
