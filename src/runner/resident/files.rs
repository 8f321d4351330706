//! The files that a process was started from, as they were then: one that has changed since means
//! another process, so that no hook goes on in an old form.
//!
//! Looks at names and times, not at contents: that is for an approval to do.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::hook::{Hook, HookCommand, Token, words};
use crate::process::{Spec, program_of};

/// Of more files than this, no process is kept.
const MOST: usize = 1000;

/// In the order in which the hook names them; None for one that is not there, or is no file.
#[derive(Debug, PartialEq)]
pub(super) struct Files(Vec<(PathBuf, Option<Stamp>)>);

#[derive(Debug, PartialEq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Files {
    /// The program, each word of the command that could be a file, and the hook's `inputs`. None when
    /// they are too many to be compared before each event.
    pub(super) fn of(hook: &Hook, spec: &Spec<'_>) -> Option<Self> {
        let mut files = Self(Vec::new());
        files.0.extend(program_of(spec).map(stamped));
        let dir = &spec.working_dir;
        match hook.command() {
            HookCommand::Program(args) => args.iter().for_each(|word| files.add(dir.join(word))),
            HookCommand::Shell { text, .. } => {
                for token in words(text).tokens {
                    if let Token::Word(word) = token {
                        files.add(dir.join(&*word.text));
                    }
                }
            }
        }
        let base = hook.base_dir().unwrap_or(dir);
        for input in hook.inputs() {
            files.add_input(&base.join(input));
        }
        (files.0.len() <= MOST).then_some(files)
    }

    fn add(&mut self, path: PathBuf) {
        if self.0.len() <= MOST {
            self.0.push(stamped(path));
        }
    }

    /// A file, all of a directory, or what a pattern matches.
    fn add_input(&mut self, path: &Path) {
        let text = path.to_string_lossy();
        if text.contains(['*', '?', '[']) {
            let found = glob::glob(&text).into_iter().flatten().flatten();
            for path in found.take(MOST + 1) {
                self.add(path);
            }
        } else {
            self.add_all(path);
        }
    }

    fn add_all(&mut self, path: &Path) {
        let mut left = vec![path.to_owned()];
        while let Some(path) = left.pop() {
            if self.0.len() > MOST {
                return;
            }
            // A link to a directory is not followed: it may lead back.
            if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
                let entries = entries.take(MOST + 1).map(|entry| entry.path());
                let from = left.len();
                left.extend(entries);
                left[from..].sort();
            }
            self.add(path);
        }
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
