//! The SHA-256 of the content of a file, of a directory, or of all files that match a pattern.

use std::io::{self, Read};
use std::path::Path;

use glob::{MatchOptions, Pattern};
use sha2::{Digest, Sha256};

use super::findings::Kind;
use crate::files;

/// The most bytes that are hashed for one hook. Scripts are smaller; more would delay the host.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
const MOST_ENTRIES: usize = 10_000;
/// The most directories within each other. Each level takes stack, and a stack overflow would end the host.
const MOST_LEVELS: usize = 100;

/// Returns the digest of the file or directory with this name below the root; None if there is none.
///
/// # Errors
/// If it cannot be read, is too large, or is neither a file nor a directory; also if a pattern is malformed.
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

/// How much may still be read for one hook.
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
        self.files = left.ok_or_else(|| io::Error::other("it has more than 10,000 files"))?;
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

/// Returns the digest of all files below the root whose names match. Searches everything below the fixed
/// part of the pattern, as deep as the pattern goes.
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

/// `*` does not match `/`.
const STRICT: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// The names of files below the root. A name that is not Unicode matches no pattern, and is left out.
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

    /// Adds a file or directory. Follows links, because a run would follow them too.
    fn add(&mut self, path: &Path) -> io::Result<()> {
        self.budget.take_files(1)?;
        // The type is checked before the file is opened: opening a pipe can block forever.
        let metadata = match path.metadata() {
            // The target of a link does not exist, or the entry was removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.sha.update(b"nothing");
                return Ok(());
            }
            metadata => metadata?,
        };
        if metadata.is_dir() {
            self.levels += 1;
            if self.levels > MOST_LEVELS {
                return Err(io::Error::other("it has more than 100 nested directories"));
            }
            self.add_directory(path)?;
            self.levels -= 1;
            Ok(())
        } else if metadata.is_file() {
            self.add_file(path)
        } else {
            Err(io::Error::other("it is neither a file nor a directory"))
        }
    }

    /// Adds each name and content with its length in front, so that different directories cannot have the same digest.
    fn add_directory(&mut self, path: &Path) -> io::Result<()> {
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
            return Err(io::Error::other("it has more than 64 MiB"));
        }
        self.budget.bytes -= length;
        self.sha.update(b"file");
        self.sha.update(length.to_le_bytes());
        self.sha.update(&content);
        Ok(())
    }
}
