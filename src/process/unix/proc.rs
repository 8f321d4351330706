//! Reads the processes of the system from `/proc` (Linux).
//!
//! Knows the format of `/proc`; does not know which process belongs to which hook.

use std::io;
use std::path::Path;

/// A process at the time when `/proc` was read. The process id alone does not identify it: after its end
/// another process may get the same id, but with another start time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) state: char,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// In clock ticks since the system started.
    pub(super) start: u64,
}

impl Process {
    /// Reads one process. None if no process has this id.
    pub(super) fn read(pid: i32) -> io::Result<Option<Self>> {
        match std::fs::read(Path::new("/proc").join(pid.to_string()).join("stat")) {
            Ok(stat) => Ok(Self::parse(pid, &String::from_utf8_lossy(&stat))),
            Err(error) => match error.raw_os_error() {
                Some(libc::ENOENT | libc::ESRCH) => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// Reads all visible processes; yields an error for one that cannot be read.
    pub(super) fn all() -> io::Result<impl Iterator<Item = io::Result<Self>>> {
        let entries = std::fs::read_dir("/proc")?;
        Ok(entries.filter_map(|entry| match entry {
            Ok(entry) => {
                let pid = entry.file_name().to_str()?.parse().ok()?;
                Self::read(pid).transpose()
            }
            Err(error) => Some(Err(error)),
        }))
    }

    /// Whether it has ended and is waiting to be reaped.
    pub(super) fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    /// Parses `/proc/PID/stat` (proc_pid_stat(5)): the name in parentheses, which may contain anything,
    /// then the fields from the third on.
    fn parse(pid: i32, stat: &str) -> Option<Self> {
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<_> = fields.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3);
        Some(Self {
            pid,
            state: field(3)?.chars().next()?,
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            start: field(22)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_behind_any_name() {
        let behind = "S 1 9 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 1000 20";
        let expected = Process {
            pid: 7,
            state: 'S',
            parent: 1,
            group: 9,
            start: 12345,
        };
        for name in ["sh", "a b", "a) Z 2 3 (b", ""] {
            let stat = format!("7 ({name}) {behind}");
            assert_eq!(Process::parse(7, &stat).as_ref(), Some(&expected), "{name}");
        }
        for stat in ["", "7 (sh)", "7 (sh) S 1 9", "7 (sh) S one 9 7 0"] {
            assert_eq!(Process::parse(7, stat), None, "{stat}");
        }
    }

    #[test]
    fn this_process_is_among_all() {
        let own = i32::try_from(std::process::id()).unwrap();
        let read = Process::read(own).unwrap().unwrap();
        let mut all = Process::all().unwrap().flatten();
        assert!(all.any(|process| process.pid == own && process.start == read.start));
        assert_eq!(Process::read(i32::MAX).unwrap(), None);
    }
}
