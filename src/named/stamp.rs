//! The stamp of a file, which shows that the file has not changed, without its content. Knows no hook, and opens no file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A file that has changed within this time may change again without another stamp: some file systems keep
/// times in steps of two seconds. (Git has the same rule for its index.)
const RACY: i64 = 2;
/// The number of files of one directory from which on each is found faster from the open directory.
#[cfg(any(target_os = "linux", target_os = "android"))]
const MANY: usize = 8;

/// The stamp of a file, which shows that it has not changed. None on a system without a time of the last change (`ctime`),
/// which no program can set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    /// The type and the permissions.
    mode: u32,
    size: u64,
    modified: Time,
    changed: Time,
}

impl Stamp {
    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            mode: metadata.mode(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    fn of_stat(stat: &rustix::fs::Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            mode: stat.st_mode as u32,
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn of(_metadata: &Metadata) -> Option<Self> {
        None
    }

    /// Creates the stamp of a path. A directory's stamp has only its identity, since other programs change its content.
    pub(super) fn of_place(metadata: &Metadata) -> Option<Self> {
        let stamp = Self::of(metadata)?;
        Some(if metadata.is_dir() {
            stamp.place()
        } else {
            stamp
        })
    }

    fn place(self) -> Self {
        Self {
            size: 0,
            modified: NEVER,
            changed: NEVER,
            ..self
        }
    }

    /// Returns whether the file is unchanged since this stamp was taken.
    fn is_of(&self, now: Self) -> bool {
        match self.changed {
            NEVER => *self == now.place(),
            _ => *self == now,
        }
    }

    /// Returns whether the file has changed after this time, by the system's clock.
    pub(super) fn is_newer(&self, time: SystemTime) -> bool {
        self.changed > time_of(time)
    }

    /// Returns the time of the last change.
    pub(super) fn newest(&self) -> Time {
        self.modified.max(self.changed)
    }
}

/// Seconds and nanoseconds since 1970.
type Time = (i64, i64);
/// The time in the stamp of a place, which is ignored.
const NEVER: Time = (0, 0);

/// Returns whether a change that happens now gets another time than this one.
pub(super) fn is_past((seconds, nanos): Time, now: SystemTime) -> bool {
    (seconds.saturating_add(RACY), nanos) <= time_of(now)
}

fn time_of(time: SystemTime) -> Time {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs() as i64, i64::from(since.subsec_nanos()))
}

/// The places that were looked at, with stamps; None for a place without a file.
#[derive(Debug, Default)]
pub(crate) struct Stamps(Vec<Directory>);

/// The places that were looked at in one directory.
#[derive(Debug)]
struct Directory {
    path: PathBuf,
    entries: Vec<(OsString, Option<Stamp>)>,
}

impl Stamps {
    pub(super) fn of(stamps: BTreeMap<PathBuf, Option<Stamp>>) -> Self {
        let mut directories: BTreeMap<PathBuf, Vec<_>> = BTreeMap::new();
        for (path, stamp) in stamps {
            let directory = path.parent().unwrap_or(Path::new("")).to_owned();
            let name = path.file_name().unwrap_or(path.as_os_str()).to_owned();
            directories
                .entry(directory)
                .or_default()
                .push((name, stamp));
        }
        let directories = directories.into_iter();
        Self(
            directories
                .map(|(path, entries)| Directory { path, entries })
                .collect(),
        )
    }

    #[cfg(unix)]
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|directory| directory.entries.len()).sum()
    }

    /// Returns whether all places still have their stamps.
    pub(crate) fn are_same(&self) -> bool {
        cfg!(unix) && self.0.iter().all(Directory::is_same)
    }

    /// Returns None if a file may have changed after the look without a change of its stamp.
    pub(crate) fn settled(self, begun: SystemTime) -> Option<Settled> {
        let entries = self.0.iter().flat_map(|directory| &directory.entries);
        let stamps = entries.filter_map(|(_, stamp)| stamp.as_ref());
        let newest = stamps.map(Stamp::newest).max()?;
        is_past(newest, begun).then_some(Settled {
            stamps: self,
            newest,
        })
    }
}

impl Directory {
    fn is_same(&self) -> bool {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if self.entries.len() >= MANY {
            return self.is_same_within();
        }
        self.are_same(|name| Stamp::of(&self.path.join(name).symlink_metadata().ok()?))
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn is_same_within(&self) -> bool {
        use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(directory) = openat(CWD, &self.path, flags, Mode::empty()) else {
            return self.are_same(|_| None);
        };
        self.are_same(|name| {
            let stat = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some(Stamp::of_stat(&stat))
        })
    }

    fn are_same(&self, now: impl Fn(&OsStr) -> Option<Stamp>) -> bool {
        let mut entries = self.entries.iter();
        entries.all(|(name, then)| match (then, now(name)) {
            (Some(then), Some(now)) => then.is_of(now),
            (then, now) => then.is_none() && now.is_none(),
        })
    }
}

/// Stamps that any later change also changes.
#[derive(Debug)]
pub(crate) struct Settled {
    stamps: Stamps,
    newest: Time,
}

impl Settled {
    /// Returns whether nothing has changed. False if the clock was set back: the stamps then prove nothing.
    pub(crate) fn is_unchanged(&self) -> bool {
        is_past(self.newest, SystemTime::now()) && self.stamps.are_same()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_old_stamps_are_settled() {
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        let stamp = |modified, changed| Stamp {
            device: 1,
            inode: 1,
            mode: 0,
            size: 1,
            modified: (modified, 5),
            changed: (changed, 5),
        };
        for (modified, changed, now, expected) in [
            (100, 100, 103, true),
            (100, 100, 102, false),
            (100, 102, 103, false),
            (102, 100, 103, false),
            // These times are in the future: the clock was set back.
            (200, 100, 150, false),
            (100, 200, 150, false),
            (i64::MAX, 1, 150, false),
        ] {
            let newest = stamp(modified, changed).newest();
            assert_eq!(is_past(newest, at(now)), expected, "{newest:?} at {now}");
        }
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
