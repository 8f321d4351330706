//! The content of files, which is read again only when a file's stamp has changed.
//!
//! Knows no hook. Opens regular files only, and reads a limited part of each.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use hmac_sha256::Hash;

use super::stamp::{Stamp, is_past};
use crate::files;

/// The most files whose content is known. Beyond that, all are read again.
const MOST_KNOWN: usize = 20_000;

/// Returns the SHA-256 of a file. `metadata` is that of the path itself, which is not a link.
pub(crate) fn digest(path: &Path, metadata: &Metadata) -> io::Result<Arc<str>> {
    static KNOWN: LazyLock<Digests> = LazyLock::new(Digests::default);
    KNOWN.digest(path, metadata)
}

/// The digests of files, by their paths. (A `Path` is hashed part by part, which takes longer.)
#[derive(Debug, Default)]
struct Digests(Mutex<HashMap<OsString, (Stamp, Arc<str>)>>);

impl Digests {
    fn digest(&self, path: &Path, metadata: &Metadata) -> io::Result<Arc<str>> {
        if let Some(digest) = self.known(path, metadata) {
            return Ok(digest);
        }
        let begun = SystemTime::now();
        let file = files::open(path)?;
        let before = file.metadata()?;
        let digest = read(&file, metadata.len())?;
        self.keep(path, begun, [before, file.metadata()?], &digest);
        Ok(digest)
    }

    fn known(&self, path: &Path, metadata: &Metadata) -> Option<Arc<str>> {
        let stamp =
            Stamp::of(metadata).filter(|stamp| is_past(stamp.newest(), SystemTime::now()))?;
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (then, digest) = known.get(path.as_os_str())?;
        (*then == stamp).then(|| Arc::clone(digest))
    }

    /// Keeps a digest if the file was the same before and after reading it.
    fn keep(
        &self,
        path: &Path,
        begun: SystemTime,
        [before, after]: [Metadata; 2],
        digest: &Arc<str>,
    ) {
        let settled = Stamp::of(&before).filter(|stamp| is_past(stamp.newest(), begun));
        let Some(stamp) = settled.filter(|stamp| Stamp::of(&after).as_ref() == Some(stamp)) else {
            return;
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(path.into(), (stamp, Arc::clone(digest)));
    }
}

/// Reads at most one byte beyond the length that the file had, since it may be growing.
fn read(file: &File, length: u64) -> io::Result<Arc<str>> {
    let mut hash = Hash::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut left = file.take(length + 1);
    loop {
        match left.read(&mut buffer)? {
            0 => return Ok(in_hex(hash).into()),
            length => hash.update(&buffer[..length]),
        }
    }
}

/// The most bytes of the files of one hook whose content is compared before each run.
pub(super) const MOST_COMPARED: u64 = 1024 * 1024;

/// A file as it was when it was read.
#[derive(Debug)]
struct Copy {
    digest: String,
    bytes: Vec<u8>,
}

/// Copies of the files of a project, which its hooks share: comparing a file with its copy takes a tenth of the time of a digest.
#[derive(Debug, Default)]
pub(crate) struct Copies(Mutex<HashMap<PathBuf, Weak<Copy>>>);

impl Copies {
    /// Returns a copy with this digest; if there is none, one of the file as it is now.
    fn of(&self, path: &Path, digest: &str) -> io::Result<Arc<Copy>> {
        let copies = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = copies().get(path).and_then(Weak::upgrade);
        if let Some(known) = known.filter(|copy| copy.digest == digest) {
            return Ok(known);
        }
        let bytes = bytes_of(path)?;
        let copy = Arc::new(Copy {
            digest: of_text(&bytes),
            bytes,
        });
        let mut copies = copies();
        copies.retain(|_, copy| copy.strong_count() > 0);
        copies.insert(path.to_owned(), Arc::downgrade(&copy));
        Ok(copy)
    }
}

/// Files whose content is compared before each run: a change through a writable mapping (`mmap`) may leave all stamps as they are.
#[derive(Debug)]
pub(crate) struct Contents(Vec<(PathBuf, Arc<str>, Option<Arc<Copy>>)>);

impl Contents {
    /// Takes these files, with the digests that they must have.
    pub(crate) fn of(files: Vec<(PathBuf, Arc<str>)>, copies: &Copies) -> Self {
        let files = files.into_iter().map(|(path, digest)| {
            let copy = copies.of(&path, &digest).ok();
            (path, digest, copy)
        });
        Self(files.collect())
    }

    /// Returns a file that has another content.
    pub(crate) fn changed(&self) -> Option<&Path> {
        let mut buffer = Vec::new();
        let changed = self.0.iter().find(|(path, digest, copy)| {
            let copy = copy.as_ref().filter(|copy| copy.digest == **digest);
            !copy.is_some_and(|copy| is_same(path, &copy.bytes, &mut buffer))
        });
        changed.map(|(path, ..)| &**path)
    }
}

/// Returns whether a file has this content. The buffer is used again and again.
fn is_same(path: &Path, bytes: &[u8], buffer: &mut Vec<u8>) -> bool {
    let Ok(mut file) = files::open(path) else {
        return false;
    };
    // A file that has grown fills one byte more.
    if buffer.len() <= bytes.len() {
        buffer.resize(bytes.len() + 1, 0);
    }
    let buffer = &mut buffer[..=bytes.len()];
    let mut length = 0;
    loop {
        match file.read(&mut buffer[length..]) {
            Err(_) => return false,
            Ok(0) => break,
            Ok(more) => length += more,
        }
        if length >= bytes.len() && !bytes.is_empty() {
            break;
        }
    }
    // A read of a file that does not fill the buffer has reached the end.
    length == bytes.len() && buffer[..length] == *bytes
}

/// Reads at most one byte more than is compared.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    files::open(path)?
        .take(MOST_COMPARED + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether a file starts with `#!`.
pub(super) fn has_mark(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    files::open(path)?.take(2).read_to_end(&mut start)?;
    Ok(start == b"#!")
}

/// Returns the SHA-256 of a text.
pub(crate) fn of_text(text: impl AsRef<[u8]>) -> String {
    let mut hash = Hash::new();
    hash.update(text);
    in_hex(hash)
}

fn in_hex(hash: Hash) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let halves = hash
        .finalize()
        .into_iter()
        .flat_map(|byte| [byte >> 4, byte & 15]);
    halves
        .map(|half| char::from(DIGITS[usize::from(half)]))
        .collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs::{self, FileTimes};
    use std::time::Duration;

    use super::*;

    /// Keeps a content for a file as if the file's stamp were settled.
    fn kept(contents: &Digests, path: &Path) {
        let later = SystemTime::now() + Duration::from_secs(10);
        let metadata = path.metadata().unwrap();
        let value: Arc<str> = "kept".into();
        contents.keep(path, later, [metadata.clone(), metadata], &value);
        assert_eq!(contents.0.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_fresh_file_is_always_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        let contents = Digests::default();
        fs::write(&path, "one").unwrap();
        let digest = || contents.digest(&path, &path.metadata().unwrap()).unwrap();
        let before = digest();
        fs::write(&path, "two").unwrap();
        assert_ne!(digest(), before);
        // The file is also read if a content was kept for its stamp, and if its time is in the past.
        kept(&contents, &path);
        assert_ne!(&*digest(), "kept");
        let past = SystemTime::now() - Duration::from_secs(1000);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_times(FileTimes::new().set_modified(past)).unwrap();
        assert_ne!(&*digest(), "kept", "its ctime is not in the past");
    }

    #[test]
    fn a_content_is_compared_with_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::write(root.join("x"), "one").unwrap();
        let copies = Copies::default();
        let contents = |text: &str| {
            let digest = Arc::from(of_text(text));
            Contents::of(vec![(root.join("x"), digest)], &copies)
        };
        let one = contents("one");
        assert_eq!(one.changed(), None);
        assert!(contents("two").changed().is_some());
        fs::write(root.join("x"), "onex").unwrap();
        assert!(one.changed().is_some());
        assert!(contents("one").changed().is_some());
        assert_eq!(contents("onex").changed(), None);
        fs::remove_file(root.join("x")).unwrap();
        assert!(one.changed().is_some());
    }

    #[test]
    fn what_changes_while_it_is_read_is_not_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        fs::write(&path, "one").unwrap();
        let before = path.metadata().unwrap();
        fs::write(&path, "longer").unwrap();
        let after = path.metadata().unwrap();
        let contents = Digests::default();
        let later = SystemTime::now() + Duration::from_secs(10);
        contents.keep(&path, later, [before, after], &"kept".into());
        assert!(contents.0.lock().unwrap().is_empty());
    }
}
