//! Collects what was found for a hook: the files that an approval covers, and the reasons why it is partial.
//!
//! Knows names of files and variables; `coverage` knows the meaning of each word of a command.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::place::{Project, is_script};
use super::programs::decides;
use crate::hook::{Hook, Word};

/// What an approval of a hook covers, and what it does not cover.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// The names of the covered files below the root, with `/` between directories.
    pub(super) files: BTreeMap<String, Kind>,
    /// The reasons why the approval is partial: short lines for a person.
    pub(super) partial: Vec<String>,
}

/// Why a file is covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The command runs it.
    Runs,
    /// A script or an executable among the arguments, or a file or directory of `inputs`.
    Named,
    /// A pattern of `inputs`.
    Glob,
}

/// The most reasons that are listed. More do not help a person to decide.
const MOST_REASONS: usize = 50;
const MOST_FILES: usize = 1000;
/// The most bytes of a reason. A word may be as long as a file, but a reason is one line.
const LONGEST_REASON: usize = 160;
/// The longest name of a file, in bytes (Linux, `PATH_MAX`).
const LONGEST_NAME: usize = 4096;

pub(super) struct Findings<'a> {
    pub(super) project: &'a Project,
    /// The directory to which relative names are relative: below the root, or absolute.
    pub(super) working_dir: PathBuf,
    /// The hook runs in the directory of the session, which may be another one of the project.
    follows_session: bool,
    /// The files and directories of `inputs`, which are covered in any case.
    inputs: Vec<String>,
    /// The real paths of the files that the command may write.
    written: HashSet<PathBuf>,
    /// The command may write files that cannot be determined.
    writes_anything: bool,
    coverage: Coverage,
}

impl<'a> Findings<'a> {
    /// Begins with the files that the hook itself lists.
    pub(super) fn of(project: &'a Project, hook: &Hook) -> Self {
        let mut findings = Self {
            project,
            working_dir: hook.working_dir().unwrap_or(Path::new("")).to_owned(),
            follows_session: hook.protocol().is_some(),
            inputs: Vec::new(),
            written: HashSet::new(),
            writes_anything: false,
            coverage: Coverage::default(),
        };
        for input in hook.inputs() {
            findings.input(input);
        }
        for (name, value) in hook.env() {
            findings.assignment(name, value, false);
            findings.argument(value);
            for path in std::env::split_paths(value) {
                findings.argument(&path.to_string_lossy());
            }
        }
        findings
    }

    fn input(&mut self, input: &str) {
        let Some(name) = self.project.below(Path::new(""), input) else {
            return self.partial(format!("`{input}` of `inputs` is not within the project"));
        };
        if input.contains(['*', '?', '[']) {
            self.add(name, Kind::Glob);
        } else {
            self.inputs.push(name.clone());
            self.add(name, Kind::Named);
        }
    }

    fn is_input(&self, name: &str) -> bool {
        let mut inputs = self.inputs.iter();
        inputs.any(|input| is_within(name, input))
    }

    pub(super) fn partial(&mut self, mut reason: String) {
        if let Some((end, _)) = reason.char_indices().nth(LONGEST_REASON) {
            reason.truncate(end);
            reason.push('…');
        }
        let reasons = &mut self.coverage.partial;
        if reasons.len() < MOST_REASONS && !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }

    /// Adds a reason about a file or directory, unless `inputs` covers it.
    pub(super) fn partial_without(&mut self, name: Option<&str>, reason: String) {
        if !name.is_some_and(|name| self.is_input(name)) {
            self.partial(reason);
        }
    }

    fn add(&mut self, name: String, kind: Kind) {
        let files = &mut self.coverage.files;
        match files.get(&name) {
            Some(Kind::Runs | Kind::Glob) => {}
            None if files.len() >= MOST_FILES => {
                self.partial(format!("the command names more than {MOST_FILES} files"));
            }
            Some(Kind::Named) | None => drop(files.insert(name, kind)),
        }
    }

    /// Adds a file that the command runs, even if it does not exist yet.
    pub(super) fn runs(&mut self, name: &str) {
        if self.follows_session && Path::new(name).is_relative() {
            let reason = format!("`{name}` is looked for in the directory of the session");
            self.partial(reason);
        }
        let Some(file) = self.project.below(&self.working_dir, name) else {
            return self.partial(format!("`{name}` is outside of the project"));
        };
        if self.project.path(&self.working_dir, name).is_dir() {
            self.partial_without(Some(&file), format!("`{name}` is a directory"));
        } else {
            self.add(file, Kind::Runs);
        }
    }

    /// Adds the files that the host's PATH finds within the project, now or later.
    pub(super) fn runs_by_path(&mut self, name: &str) {
        for directory in &self.project.programs_within {
            let search_dir = self.working_dir.join(directory);
            if let Some(file) = self.project.below(&search_dir, name) {
                self.add(file, Kind::Runs);
            }
        }
    }

    pub(super) fn arguments(&mut self, args: &[Word]) {
        for word in args.iter().filter(|word| !word.expands) {
            self.argument(&word.text);
        }
    }

    /// Adds a word that is the name of a script or an executable, whatever reads it. Also checks the value of an
    /// option or a variable.
    pub(super) fn argument(&mut self, text: &str) {
        let value = text.split_once('=').map(|(_, value)| value);
        for name in [Some(text), value].into_iter().flatten() {
            let is_name = !name.is_empty() && name.len() <= LONGEST_NAME;
            if is_name && is_script(&self.project.path(&self.working_dir, name)) {
                let file = self.project.below(&self.working_dir, name);
                file.into_iter()
                    .for_each(|file| self.add(file, Kind::Named));
            }
        }
    }

    /// Records a variable that is set for the command.
    pub(super) fn assignment(&mut self, name: &str, value: &str, expands: bool) {
        let is_path = name.ends_with("PATH");
        if !decides(name) || value.is_empty() && !expands && !is_path {
            return;
        }
        let is_known = |entry: &str| match self.project.below(&self.working_dir, entry) {
            Some(inside) => self.is_input(&inside),
            None => name == "PATH" && self.is_outside(entry),
        };
        if expands || !value.split(':').all(is_known) {
            self.partial(format!("`{name}` is set, which decides what runs"));
        }
    }

    fn is_outside(&self, entry: &str) -> bool {
        let path = Path::new(entry);
        let is_alias = path.starts_with("/proc") || path.starts_with("/dev");
        path.is_absolute() && path != self.project.root && !is_alias
    }

    /// Records a file that the command may write.
    pub(super) fn writes(&mut self, word: &Word) {
        let path = self.project.path(&self.working_dir, &word.text);
        let real = match (path.canonicalize(), path.parent(), path.file_name()) {
            (Ok(real), ..) => Some(real),
            (Err(_), Some(parent), Some(name)) => {
                parent.canonicalize().ok().map(|it| it.join(name))
            }
            _ => None,
        };
        match real {
            Some(real) if !word.expands && !real.is_dir() => drop(self.written.insert(real)),
            _ => self.writes_anything = true,
        }
    }

    /// Records that the command may write files that cannot be determined.
    pub(super) fn writes_anything(&mut self) {
        self.writes_anything = true;
    }

    /// Returns everything that was found.
    pub(super) fn end(mut self) -> Coverage {
        let mut written = Vec::new();
        let files = &self.coverage.files;
        for (file, _) in files.iter().filter(|(_, kind)| **kind == Kind::Runs) {
            let real = self.project.root.join(file).canonicalize();
            let is_written = match real {
                Ok(real) => self.written.contains(&real),
                // It may be created under another name.
                Err(_) => !self.written.is_empty(),
            };
            if is_written || self.writes_anything {
                written.push(format!(
                    "`{file}` may be written by the command that runs it"
                ));
            }
        }
        for reason in written {
            self.partial(reason);
        }
        self.coverage
    }
}

fn is_within(name: &str, directory: &str) -> bool {
    let rest = name.strip_prefix(directory);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
