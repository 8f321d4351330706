//! The processes of a hook, as Linux's `/proc` shows them: its process group, and the descendants that have left
//! the group, as under `timeout`, `set -m` and `setsid`.
//!
//! A signal must not reach another process that has got the same process id in the meantime. So a process
//! outside the group is identified by its id and its start time, and is signalled through a pidfd. Both are
//! compared once more after the pidfd was opened.

use std::collections::HashSet;
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal, getpgid, pidfd_open, pidfd_send_signal};

#[cfg(feature = "cli")]
use crate::process::Lived;

/// A process at the time when `/proc` was read. The process id alone does not identify it: after its end
/// another process may get the same id, but with another start time.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Process {
    pid: i32,
    state: char,
    parent: i32,
    group: i32,
    /// The start time, in clock ticks since the system started.
    start: u64,
}

/// The descendants of one hook that are outside its group, parents before their children. No descriptor is
/// kept for each: a hook could have more descendants than the host has descriptors.
#[derive(Debug, Default)]
pub(super) struct Outside(Vec<Process>);

impl Outside {
    /// Searches for descendants of the leader of the hook's group, which must not have been reaped. Must be
    /// called before anything is signalled: when a parent has ended, its child is adopted by another process
    /// and cannot be found any more.
    pub(super) fn find(&mut self, leader: Pid) {
        if cfg!(forge_hooks_no_pidfd) || !is_own_child(leader) {
            return;
        }
        let leader = leader.as_raw_nonzero().get();
        let Some((all, _)) = Process::all() else {
            return;
        };
        // The processes are checked after `/proc` was read: one that is still alive has kept its id meanwhile.
        let known = self.0.iter().filter(|process| process.is_alive());
        let mut roots: HashSet<i32> = known.map(|process| process.pid).collect();
        roots.insert(leader);
        let descendants = below(roots, &all).into_iter();
        self.0.extend(
            descendants
                .filter(|process| process.group != leader && process.is_as_before())
                .cloned(),
        );
    }

    /// Sends the signals to each process, in this order. Forgets processes that cannot be signalled.
    pub(super) fn signal(&mut self, signals: &[Signal]) {
        self.0.retain(|process| process.send(signals).is_ok());
    }

    /// Returns whether all processes that were found have ended.
    pub(super) fn is_gone(&self) -> bool {
        !self.0.iter().any(Process::is_alive)
    }
}

/// The most ancestors that are looked at.
#[cfg(feature = "cli")]
const MOST_ANCESTORS: usize = 1000;

/// Returns this process and those above it, without the first process of the system. None if `/proc` shows another namespace, or
/// cannot be read.
#[cfg(feature = "cli")]
pub(crate) fn lineage() -> Option<Vec<Lived>> {
    let own = i32::try_from(std::process::id()).ok()?;
    let shown = std::fs::read_link("/proc/self").ok()?;
    let mut next = (shown.to_str()? == own.to_string()).then_some(own)?;
    let mut lineage = Vec::new();
    while next > 1 && lineage.len() < MOST_ANCESTORS {
        let Some(process) = Process::read(next).ok().flatten() else {
            break;
        };
        lineage.push(Lived {
            id: process.pid,
            start: process.start,
        });
        next = process.parent;
    }
    Some(lineage)
}

/// Returns the name of a process: the first 15 bytes of the name of its program.
#[cfg(feature = "cli")]
pub(crate) fn name_of(process: Lived) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{}/comm", process.id)).ok()?;
    Some(name.trim_end().to_owned())
}

/// Returns whether certainly no process of the group is alive. The leader, which has ended and is not reaped yet, does not
/// count.
pub(super) fn group_is_gone(leader: Pid) -> bool {
    members(leader).is_some_and(|members| members.iter().all(Process::is_dead))
}

/// Returns whether a process of the group is stopped, for example by a read from the terminal.
pub(super) fn group_is_stopped(leader: Pid) -> bool {
    members(leader).is_some_and(|members| members.iter().any(|member| member.state == 'T'))
}

/// Returns the processes of the group. None if `/proc` does not show all of them: either it cannot be read, or it
/// shows another namespace, in which the leader, which is not reaped yet, is missing.
fn members(leader: Pid) -> Option<Vec<Process>> {
    let leader = leader.as_raw_nonzero().get();
    let (mut members, is_complete) = Process::all()?;
    members.retain(|process| process.group == leader);
    let leader_seen = members.iter().any(|member| member.pid == leader);
    (is_complete && leader_seen).then_some(members)
}

/// Returns whether `/proc` shows the leader as a child of this process. If it does not, it shows another namespace, where
/// the same ids belong to other processes.
fn is_own_child(leader: Pid) -> bool {
    let own = i32::try_from(std::process::id());
    let process = Process::read(leader.as_raw_nonzero().get()).ok().flatten();
    // A hook may have joined another group.
    let group = getpgid(Some(leader)).map(|group| group.as_raw_nonzero().get());
    process.is_some_and(|process| Ok(process.parent) == own && Ok(process.group) == group)
}

/// Returns all descendants of the roots, parents before their children.
fn below(mut known: HashSet<i32>, all: &[Process]) -> Vec<&Process> {
    let mut descendants = Vec::new();
    loop {
        let before = descendants.len();
        for process in all {
            if known.contains(&process.parent) && known.insert(process.pid) {
                descendants.push(process);
            }
        }
        if descendants.len() == before {
            return descendants;
        }
    }
}

impl Process {
    /// Reads one process. Returns None if no process has this id.
    fn read(pid: i32) -> io::Result<Option<Self>> {
        match std::fs::read(format!("/proc/{pid}/stat")) {
            Ok(stat) => Ok(Self::parse(pid, &String::from_utf8_lossy(&stat))),
            Err(error) => match error.raw_os_error() {
                Some(libc::ENOENT | libc::ESRCH) => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// Returns the processes that can be read, and whether these are all.
    fn all() -> Option<(Vec<Self>, bool)> {
        let (mut all, mut is_complete) = (Vec::new(), true);
        for entry in std::fs::read_dir("/proc").ok()? {
            let Ok(entry) = entry else {
                is_complete = false;
                continue;
            };
            if let Some(Ok(pid)) = entry.file_name().to_str().map(str::parse) {
                match Self::read(pid) {
                    Ok(process) => all.extend(process),
                    Err(_) => is_complete = false,
                }
            }
        }
        Some((all, is_complete))
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

    /// Returns whether the process has ended and is waiting to be reaped.
    fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    /// Returns the process as it is now, unless another one has its id.
    fn now(&self) -> Option<Self> {
        let now = Self::read(self.pid).ok().flatten();
        now.filter(|now| now.start == self.start)
    }

    fn is_alive(&self) -> bool {
        self.now().is_some_and(|now| !now.is_dead())
    }

    /// Returns whether the process still has its parent: reading `/proc` takes time, and its id may have been reused
    /// meanwhile.
    fn is_as_before(&self) -> bool {
        self.now().is_some_and(|now| now.parent == self.parent)
    }

    /// Signals the process. Does not compare the parent, which was signalled first and may have ended since.
    fn send(&self, signals: &[Signal]) -> io::Result<()> {
        let pid = Pid::from_raw(self.pid).ok_or(io::ErrorKind::NotFound)?;
        let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
        if !self.is_alive() {
            return Err(io::ErrorKind::NotFound.into());
        }
        for signal in signals {
            pidfd_send_signal(&pidfd, *signal)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    #[test]
    fn descendants_come_parents_first() {
        // The last two are each other's parents, which two reads at different times may show.
        let all = [
            (9, 8),
            (3, 2),
            (8, 7),
            (7, 1),
            (10, 8),
            (2, 1),
            (20, 21),
            (21, 20),
        ];
        let all = all.map(|(pid, parent)| Process {
            pid,
            state: 'S',
            parent,
            group: 7,
            start: 1,
        });
        for (roots, expected) in [
            (vec![7], vec![8, 10, 9]),
            (vec![2, 8], vec![9, 3, 10]),
            (vec![20], vec![21]),
            (vec![99], vec![]),
        ] {
            let descendants = below(roots.iter().copied().collect(), &all);
            let pids: Vec<_> = descendants.iter().map(|process| process.pid).collect();
            assert_eq!(pids, expected, "{roots:?}");
        }
    }

    fn sleeping() -> (Child, Process) {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id().try_into().unwrap();
        (child, Process::read(pid).unwrap().unwrap())
    }

    #[test]
    fn a_reused_process_id_is_not_signalled() {
        let (mut child, process) = sleeping();
        let earlier = Process {
            start: process.start - 1,
            ..process.clone()
        };
        assert!(!earlier.is_alive() && !earlier.is_as_before());
        assert!(earlier.send(&[Signal::KILL]).is_err());
        assert!(child.try_wait().unwrap().is_none(), "it still runs");
        assert!(process.is_alive() && process.is_as_before());
        process.send(&[Signal::TERM, Signal::CONT]).unwrap();
        child.wait().unwrap();
        assert!(!process.is_alive());
        assert!(process.send(&[Signal::KILL]).is_err());
    }

    #[test]
    fn fields_are_read_after_any_name() {
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
    fn all_processes_include_this_one() {
        let own = i32::try_from(std::process::id()).unwrap();
        let read = Process::read(own).unwrap().unwrap();
        let (all, _) = Process::all().unwrap();
        assert!(
            all.iter()
                .any(|process| process.pid == own && process.start == read.start)
        );
        assert_eq!(Process::read(i32::MAX).unwrap(), None);
    }
}
