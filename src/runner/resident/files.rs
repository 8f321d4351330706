//! The files that a process was started from, as they were then: one that has changed since means
//! another process, so that no hook goes on in an old form.
//!
//! Looks at names and times, not at contents: that is for an approval to do.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::hook::{Hook, literal_words};
use crate::process::{Spec, program_of};

/// Of more files than this, no process is kept: they are looked at before each event.
const MOST: usize = 1000;
/// Directories within each other.
const DEEPEST: usize = 16;

/// In the order in which the hook names them; None for one that is not there, or is no file.
#[derive(Debug, PartialEq)]
pub(super) struct Files {
    /// The device and the inode of the working directory.
    directory: Option<(u64, u64)>,
    files: Vec<(PathBuf, Option<Stamp>)>,
}

#[derive(Debug, PartialEq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Files {
    /// The program, each word of the command that could be a file, and the hook's `inputs`. None where
    /// they are not known, or too many.
    pub(super) fn of(hook: &Hook, spec: &Spec<'_>) -> Option<Self> {
        let dir = &spec.working_dir;
        let found = dir.metadata().ok();
        let mut files = Self {
            directory: found.map(|found| (found.dev(), found.ino())),
            files: program_of(&spec.program, spec)
                .map(stamped)
                .into_iter()
                .collect(),
        };
        let words = literal_words(hook.command());
        if words.is_none() && hook.inputs().is_empty() {
            return None;
        }
        for word in words.unwrap_or_default() {
            if !word.contains('/') && !word.starts_with('-') {
                let program = program_of(word.as_ref(), spec);
                files.files.extend(program.map(stamped));
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

    /// A file, all of a directory, or of a pattern all of the directory that it begins in.
    fn add_input(&mut self, base: &Path, input: &str) {
        let is_literal = |part: &&str| !part.contains(['*', '?', '[']);
        let literal: PathBuf = input.split('/').take_while(is_literal).collect();
        let path = if input.starts_with('/') {
            Path::new("/").join(literal)
        } else {
            base.join(literal)
        };
        // A link that is named is followed, others are not: they may lead back.
        self.add_all(path.canonicalize().unwrap_or(path), 0);
    }

    fn add_all(&mut self, path: PathBuf, depth: usize) {
        let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        if is_directory && depth < DEEPEST && self.files.len() <= MOST {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let mut entries: Vec<_> = entries.take(MOST + 1).map(|it| it.path()).collect();
            entries.sort();
            for entry in entries {
                self.add_all(entry, depth + 1);
            }
        }
        self.add(path);
    }
}

fn stamped(path: PathBuf) -> (PathBuf, Option<Stamp>) {
    let found = path.metadata().ok().filter(Metadata::is_file);
    let stamp = found.map(|found| Stamp {
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
    });
    (path, stamp)
}
