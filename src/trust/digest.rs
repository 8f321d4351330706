//! The content of a file, of a directory, or of all files that a pattern finds, as a SHA-256.

use std::io::{self, Read};
use std::path::Path;

use glob::{MatchOptions, Pattern};
use sha2::{Digest, Sha256};

use super::findings::Kind;
use crate::files;

/// A script is not larger, nor a folder of them; what is would keep the host waiting.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
const MOST_ENTRIES: usize = 10_000;
/// Each level takes a part of the stack, and a thread that runs out of it ends the host.
const MOST_LEVELS: usize = 100;

/// The digest of what lies below the root under this name; none where there is nothing.
///
/// # Errors
/// When it cannot be read, or is too large, or is neither a file nor a directory; for a pattern also
/// when it is malformed.
pub(super) fn of(
    root: &Path,
    name: &str,
    kind: Kind,
    budget: &mut Budget,
) -> io::Result<Option<String>> {
    match kind {
        Kind::Glob => of_glob(root, name, budget),
        Kind::Runs | Kind::Named => of_path(root, name, budget),
    }
}

/// What may still be read for one hook.
pub(super) struct Budget {
    bytes: u64,
    files: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            bytes: MOST_BYTES,
            files: MOST_ENTRIES,
        }
    }

    fn take_files(&mut self, files: usize) -> io::Result<()> {
        let left = self.files.checked_sub(files);
        self.files = left.ok_or_else(|| io::Error::other("more than 10,000 files"))?;
        Ok(())
    }
}

fn of_path(root: &Path, name: &str, budget: &mut Budget) -> io::Result<Option<String>> {
    let path = root.join(name);
    if let Some(error) = path.metadata().err() {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        return if is_missing { Ok(None) } else { Err(error) };
    }
    let mut hasher = Hasher::new(budget);
    hasher.add(&path)?;
    Ok(Some(in_hex(hasher.sha)))
}

/// Of all files below the root whose names match. What is looked at is all that lies below the
/// pattern's fixed part, as deep as the pattern goes.
fn of_glob(root: &Path, pattern: &str, budget: &mut Budget) -> io::Result<Option<String>> {
    let parsed = Pattern::new(pattern).map_err(io::Error::other)?;
    let is_fixed = |part: &&str| !part.contains(['*', '?', '[']);
    let fixed: Vec<&str> = pattern.split('/').take_while(is_fixed).collect();
    let levels = if pattern.contains("**") {
        MOST_LEVELS
    } else {
        pattern.split('/').count() - fixed.len()
    };
    let mut found = Vec::new();
    let mut waiting = vec![(fixed.join("/"), levels)];
    while let Some((name, levels)) = waiting.pop() {
        if root.join(&name).is_dir() {
            if levels > 0 {
                let names = names_in(root, &name)?;
                budget.take_files(names.len())?;
                waiting.extend(names.into_iter().map(|name| (name, levels - 1)));
            }
        } else if parsed.matches_with(&name, STRICT) {
            found.push(name);
        }
    }
    found.sort();
    let mut hasher = Hasher::new(budget);
    for name in &found {
        hasher.sha.update((name.len() as u64).to_le_bytes());
        hasher.sha.update(name);
        hasher.add(&root.join(name))?;
    }
    Ok((!found.is_empty()).then(|| in_hex(hasher.sha)))
}

/// `*` stays within a directory.
const STRICT: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// Names below the root; those that are not Unicode match no pattern.
fn names_in(root: &Path, directory: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root.join(directory))?.take(MOST_ENTRIES + 1) {
        if let Ok(name) = entry?.file_name().into_string() {
            names.push(match directory {
                "" => name,
                _ => format!("{directory}/{name}"),
            });
        }
    }
    Ok(names)
}

pub(super) fn of_text(text: &str) -> String {
    in_hex(Sha256::new_with_prefix(text))
}

fn in_hex(sha: Sha256) -> String {
    let mut text = String::with_capacity(64);
    for byte in sha.finalize() {
        for digit in [byte >> 4, byte & 0xF] {
            text.extend(char::from_digit(digit.into(), 16));
        }
    }
    text
}

struct Hasher<'a> {
    sha: Sha256,
    budget: &'a mut Budget,
    levels: usize,
}

impl<'a> Hasher<'a> {
    fn new(budget: &'a mut Budget) -> Self {
        Self {
            sha: Sha256::new(),
            budget,
            levels: 0,
        }
    }

    /// Follows links: what counts is what would be run.
    fn add(&mut self, path: &Path) -> io::Result<()> {
        self.budget.take_files(1)?;
        // Asked before it is opened: to open a pipe may take for ever.
        let metadata = match path.metadata() {
            // A link that leads nowhere, in a folder that is there all the same.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.sha.update(b"nothing");
                return Ok(());
            }
            metadata => metadata?,
        };
        if metadata.is_dir() {
            self.levels += 1;
            if self.levels > MOST_LEVELS {
                return Err(io::Error::other("more than 100 folders within each other"));
            }
            self.add_folder(path)?;
            self.levels -= 1;
            Ok(())
        } else if metadata.is_file() {
            self.add_file(path)
        } else {
            Err(io::Error::other("neither a file nor a folder"))
        }
    }

    /// Each name and content with its length before it, so that no two folders look alike.
    fn add_folder(&mut self, path: &Path) -> io::Result<()> {
        let mut names = std::fs::read_dir(path)?
            .take(MOST_ENTRIES + 1)
            .map(|entry| Ok(entry?.file_name()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        self.sha.update(b"folder");
        self.sha.update((names.len() as u64).to_le_bytes());
        for name in names {
            let bytes = name.as_encoded_bytes();
            self.sha.update((bytes.len() as u64).to_le_bytes());
            self.sha.update(bytes);
            self.add(&path.join(&name))?;
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path) -> io::Result<()> {
        let mut content = Vec::new();
        let left = self.budget.bytes;
        let length = files::open(path)?
            .take(left + 1)
            .read_to_end(&mut content)? as u64;
        if length > left {
            return Err(io::Error::other("larger than 64 MiB"));
        }
        self.budget.bytes -= length;
        self.sha.update(b"file");
        self.sha.update(length.to_le_bytes());
        self.sha.update(&content);
        Ok(())
    }
}
