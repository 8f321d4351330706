//! The content of files, which is read again only when a file's stamp has changed.
//!
//! Knows no hook. Opens regular files only, and reads a limited part of each.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use hmac_sha256::Hash;

use crate::files;

/// The most files with a known content. With more, all are read again.
const MOST_KNOWN: usize = 20_000;
/// A file that has changed within this time may change again without another stamp: some file systems keep
/// times in steps of two seconds. (Git has the same rule for its index.)
const RACY: i64 = 2;

/// What tells that a file has not changed. None where the system has no time of the last change (`ctime`), which
/// no program can set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    /// The same, but of directories the place alone: others change what is in them.
    pub(super) fn of_place(metadata: &Metadata) -> Option<Self> {
        let stamp = Self::of(metadata)?;
        if !metadata.is_dir() {
            return Some(stamp);
        }
        Some(Self {
            size: 0,
            modified: (0, 0),
            changed: (0, 0),
            ..stamp
        })
    }

    /// Whether something has this stamp still.
    fn is_of(&self, metadata: &Metadata) -> bool {
        let now = match self.changed {
            (0, 0) => Self::of_place(metadata),
            _ => Self::of(metadata),
        };
        now.as_ref() == Some(self)
    }

    #[cfg(not(unix))]
    pub(super) fn of(_metadata: &Metadata) -> Option<Self> {
        None
    }

    /// The time of the last change.
    fn newest(&self) -> Time {
        self.modified.max(self.changed)
    }
}

/// Seconds and nanoseconds since 1970.
type Time = (i64, i64);

/// Whether a change now gets another time than this one.
fn is_past((seconds, nanos): Time, now: SystemTime) -> bool {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = (since.as_secs() as i64, i64::from(since.subsec_nanos()));
    (seconds.saturating_add(RACY), nanos) <= now
}

/// What was looked at, with stamps; None where there was nothing.
#[derive(Debug)]
pub(crate) struct Stamps(Vec<(PathBuf, Option<Stamp>)>);

impl Stamps {
    pub(super) fn of(stamps: BTreeMap<PathBuf, Option<Stamp>>) -> Self {
        Self(stamps.into_iter().collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether all has the stamps that it had.
    pub(crate) fn are_same(&self) -> bool {
        let is_same =
            |(path, then): &(PathBuf, Option<Stamp>)| match (path.symlink_metadata(), then) {
                (Ok(now), Some(then)) => then.is_of(&now),
                (now, then) => now.is_err() && then.is_none(),
            };
        self.0.iter().all(is_same)
    }

    /// Returns None if a file may have changed after it was looked at, without getting another stamp.
    pub(crate) fn settled(self, begun: SystemTime) -> Option<Settled> {
        let stamps = self.0.iter().filter_map(|(_, stamp)| stamp.as_ref());
        let newest = stamps.map(Stamp::newest).max()?;
        is_past(newest, begun).then_some(Settled {
            stamps: self,
            newest,
        })
    }
}

/// Stamps that no change leaves as they are.
#[derive(Debug)]
pub(crate) struct Settled {
    stamps: Stamps,
    newest: Time,
}

impl Settled {
    /// Whether all is as it was. If the clock was set back, no one knows.
    pub(crate) fn is_unchanged(&self) -> bool {
        is_past(self.newest, SystemTime::now()) && self.stamps.are_same()
    }
}

/// Returns the SHA-256 of a file. Gets the metadata of the path itself, which is no link.
pub(crate) fn digest(path: &Path, metadata: &Metadata) -> io::Result<Arc<str>> {
    static CONTENTS: LazyLock<Contents> = LazyLock::new(Contents::default);
    CONTENTS.digest(path, metadata)
}

/// The contents of files, by their paths. (A `Path` is hashed part by part, which takes longer.)
#[derive(Debug, Default)]
struct Contents(Mutex<HashMap<OsString, (Stamp, Arc<str>)>>);

impl Contents {
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
        let stamp = Stamp::of(metadata).filter(|it| is_past(it.newest(), SystemTime::now()))?;
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
        let settled = Stamp::of(&before).filter(|it| is_past(it.newest(), begun));
        let Some(stamp) = settled.filter(|it| Stamp::of(&after).as_ref() == Some(it)) else {
            return;
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(path.into(), (stamp, Arc::clone(digest)));
    }
}

/// Reads no more than one byte beyond the length that the file had: it may be growing.
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

/// Whether a file starts with `#!`.
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
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs::{self, FileTimes};
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_old_stamps_are_settled() {
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        let stamp = |modified, changed| Stamp {
            device: 1,
            inode: 1,
            size: 1,
            modified: (modified, 5),
            changed: (changed, 5),
        };
        for (modified, changed, now, expected) in [
            (100, 100, 103, true),
            (100, 100, 102, false),
            (100, 102, 103, false),
            (102, 100, 103, false),
            // In the future: the clock was set back.
            (200, 100, 150, false),
            (100, 200, 150, false),
            (i64::MAX, 1, 150, false),
        ] {
            let newest = stamp(modified, changed).newest();
            assert_eq!(is_past(newest, at(now)), expected, "{newest:?} at {now}");
        }
    }

    /// A file whose content was kept as if its stamp were settled.
    fn kept(contents: &Contents, path: &Path) {
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
        let contents = Contents::default();
        fs::write(&path, "one").unwrap();
        let digest = || contents.digest(&path, &path.metadata().unwrap()).unwrap();
        let before = digest();
        fs::write(&path, "two").unwrap();
        assert_ne!(digest(), before);
        // Also if something was kept for its stamp, and if its time is in the past.
        kept(&contents, &path);
        assert_ne!(&*digest(), "kept");
        let past = SystemTime::now() - Duration::from_secs(1000);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_times(FileTimes::new().set_modified(past)).unwrap();
        assert_ne!(&*digest(), "kept", "its ctime is not in the past");
    }

    #[test]
    fn what_changes_while_it_is_read_is_not_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        fs::write(&path, "one").unwrap();
        let before = path.metadata().unwrap();
        fs::write(&path, "longer").unwrap();
        let after = path.metadata().unwrap();
        let contents = Contents::default();
        let later = SystemTime::now() + Duration::from_secs(10);
        contents.keep(&path, later, [before, after], &"kept".into());
        assert!(contents.0.lock().unwrap().is_empty());
    }

    #[test]
    fn a_clock_that_was_set_back_makes_all_unknown() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        fs::write(&path, "one").unwrap();
        let stamp = Stamp::of(&path.symlink_metadata().unwrap());
        let missing = (directory.path().join("y"), None);
        let seen = || BTreeMap::from([(path.clone(), stamp.clone()), missing.clone()]);
        assert!(Stamps::of(seen()).settled(SystemTime::now()).is_none());
        let later = SystemTime::now() + Duration::from_secs(10);
        let mut seen = Stamps::of(seen()).settled(later).unwrap();
        assert!(!seen.is_unchanged(), "now is before");
        seen.newest.0 -= 100;
        assert!(seen.is_unchanged());
        fs::write(&missing.0, "").unwrap();
        assert!(!seen.is_unchanged());
    }
}
