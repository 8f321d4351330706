//! The files from which a process was started, as they were then. If one has changed, a new process is needed,
//! so that no hook continues in an old form.
//!
//! Compares names, sizes and times, not content: content is checked by the approval.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::hook::{Candidates, Hook, HookCommand, expanded, runs};
use crate::process::{Spec, program_of};

/// The most files. They are checked before each event, so with more of them no process is kept.
const MOST: usize = 1000;
/// The most directories in which the words of a command are looked up.
const MOST_DIRECTORIES: usize = 8;
/// The most directories within each other.
const DEEPEST: usize = 16;

/// The files in the order in which the hook names them; None for a file that does not exist or is not a file.
#[derive(Debug, PartialEq)]
pub(super) struct Files {
    /// The device and the inode of the working directory.
    directory: Option<(u64, u64)>,
    files: Vec<(PathBuf, Option<Stamp>)>,
}

/// Device, inode and size, and when it was modified and changed.
type Stamp = ([u64; 3], [i64; 4]);

impl Files {
    /// Returns the stamps of the program, of each word of the command that could be a file, and of the hook's
    /// `inputs`; a word is looked up in the working directory and in each directory that the command names. None if the
    /// files cannot be determined, or if there are too many.
    pub(super) fn of(hook: &Hook, spec: &Spec<'_>) -> Option<Self> {
        let dir = spec.working_dir;
        let found = dir.metadata().ok();
        let mut files = Self {
            directory: found.map(|found| (found.dev(), found.ino())),
            files: program_of(&spec.program, spec)
                .map(stamped)
                .into_iter()
                .collect(),
        };
        let words = Candidates::of(hook);
        if words.is_cut || (builds_names(hook) && hook.inputs().is_empty()) {
            return None;
        }
        let words: Vec<String> = words.list.iter().map(|it| in_full(it, hook)).collect();
        let named = words.iter().map(|word| dir.join(word));
        let mut directories: Vec<PathBuf> = named.filter(|path| path.is_dir()).collect();
        directories.truncate(MOST_DIRECTORIES);
        for name in run_names(hook) {
            for directory in directories.iter().map(PathBuf::as_path).chain([dir]) {
                files.add(directory.join(&name));
            }
        }
        for word in words {
            if !word.contains(['/', ' ']) && !word.starts_with('-') {
                let program = program_of(word.as_ref(), spec);
                files.files.extend(program.map(stamped));
            }
            for directory in &directories {
                files.add(directory.join(&word));
            }
            files.add(dir.join(word));
        }
        let base = hook.base_dir().unwrap_or(dir);
        for input in hook.inputs() {
            files.add_input(base, input);
        }
        (files.files.len() <= MOST).then_some(files)
    }

    fn add(&mut self, path: PathBuf) {
        if self.files.len() <= MOST {
            self.files.push(stamped(path));
        }
    }

    /// Adds a file, a whole directory, or for a pattern the whole directory in which it begins.
    fn add_input(&mut self, base: &Path, input: &str) {
        let is_literal = |part: &&str| !part.contains(['*', '?', '[']);
        let literal: PathBuf = input.split('/').take_while(is_literal).collect();
        let path = if input.starts_with('/') {
            Path::new("/").join(literal)
        } else {
            base.join(literal)
        };
        // A link that `inputs` names is followed. Other links are not: they may form a loop.
        self.add_all(path.canonicalize().unwrap_or(path), 0);
    }

    fn add_all(&mut self, path: PathBuf, depth: usize) {
        let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        if is_directory && depth < DEEPEST && self.files.len() <= MOST {
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
    let value = |name: &str| value(name, hook);
    match word.strip_prefix("~/") {
        Some(below) => expanded(&format!("$HOME/{below}"), value),
        None => expanded(word, value),
    }
}

/// Returns the names of the files that an interpreter may run for a word of the command.
fn run_names(hook: &Hook) -> Vec<String> {
    let words = runs(hook.command()).list.into_iter().flatten();
    words
        .flat_map(|word| word.names(&in_full(&word.text, hook)))
        .collect()
}

fn value(name: &str, hook: &Hook) -> Option<String> {
    let own = hook.env().get(name).cloned();
    own.or_else(|| std::env::var(name).ok())
}

/// Whether a shell makes words of the command from what only it knows.
fn builds_names(hook: &Hook) -> bool {
    match hook.command() {
        HookCommand::Shell { text, .. } => {
            expanded(text, |name| value(name, hook)).contains(['$', '`'])
        }
        HookCommand::Program(_) => false,
    }
}

fn stamped(path: PathBuf) -> (PathBuf, Option<Stamp>) {
    let found = path.metadata().ok().filter(Metadata::is_file);
    let stamp = found.map(|found| {
        let times = [
            found.mtime(),
            found.mtime_nsec(),
            found.ctime(),
            found.ctime_nsec(),
        ];
        ([found.dev(), found.ino(), found.size()], times)
    });
    (path, stamp)
}
