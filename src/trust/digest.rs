//! The content of a file or a folder as a SHA-256.

use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::files;

/// A script is not larger, nor a folder of them; what is would keep the host waiting.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
const MOST_ENTRIES: usize = 10_000;
/// Each level takes a part of the stack, and a thread that runs out of it ends the host.
const MOST_LEVELS: usize = 100;

/// The digest of what lies below the root under this name; none where there is nothing.
///
/// # Errors
/// When it cannot be read, or is too large, or is neither a file nor a folder.
pub(super) fn of(root: &Path, name: &str) -> io::Result<Option<String>> {
    let path = root.join(name);
    if let Some(error) = path.metadata().err() {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        return if is_missing { Ok(None) } else { Err(error) };
    }
    let mut hasher = Hasher {
        sha: Sha256::new(),
        bytes: 0,
        entries: 0,
        levels: 0,
    };
    hasher.add(&path)?;
    Ok(Some(in_hex(hasher.sha)))
}

pub(super) fn of_text(text: &str) -> String {
    in_hex(Sha256::new_with_prefix(text))
}

fn in_hex(sha: Sha256) -> String {
    let digest = sha.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Hasher {
    sha: Sha256,
    bytes: u64,
    entries: usize,
    levels: usize,
}

impl Hasher {
    /// Follows links: what counts is what would be run.
    fn add(&mut self, path: &Path) -> io::Result<()> {
        self.entries += 1;
        if self.entries > MOST_ENTRIES {
            return Err(io::Error::other("more than 10,000 files"));
        }
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
        let left = MOST_BYTES - self.bytes;
        let length = files::open(path)?
            .take(left + 1)
            .read_to_end(&mut content)? as u64;
        if length > left {
            return Err(io::Error::other("larger than 64 MiB"));
        }
        self.bytes += length;
        self.sha.update(b"file");
        self.sha.update(length.to_le_bytes());
        self.sha.update(&content);
        Ok(())
    }
}
