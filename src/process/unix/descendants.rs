//! Descendants of a hook that have left its process group, as under `timeout`, `set -m` and
//! `setsid`: finds them in `/proc` and signals them. Linux only; needs pidfd.
//!
//! A signal must not reach another process that has got the same process id in the meantime. So a process
//! is identified by its id and its start time, and is signalled through a pidfd. Both are compared once
//! more after the pidfd was opened.

use std::collections::{HashMap, HashSet};
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::proc::Process;

/// The descendants of one hook that are outside its group, parents before their children. No descriptor is
/// kept for each: a hook could have more descendants than the host has descriptors.
#[derive(Debug, Default)]
pub(super) struct Descendants {
    outside: Vec<Process>,
}

impl Descendants {
    /// Searches for descendants of the leader of the hook's group, which must not have been reaped. Must be
    /// called before anything is signalled: when a parent has ended, its child is adopted by another process
    /// and cannot be found any more.
    pub(super) fn find(&mut self, leader: Pid) {
        let leader = leader.as_raw_nonzero().get();
        if !is_own_child(leader) {
            return;
        }
        let Ok(all) = Process::all() else { return };
        let all: Vec<_> = all.flatten().collect();
        // Checked after the search: a process that is still alive has kept its id during the search.
        let known = self.outside.iter().filter(|process| is_alive(process));
        let mut roots = vec![leader];
        roots.extend(known.map(|process| process.pid));
        let found = below(&roots, all);
        let known: HashSet<i32> = roots.into_iter().collect();
        let outside = found.into_iter().filter(|process| {
            process.group != leader && !known.contains(&process.pid) && is_as_before(process)
        });
        self.outside.extend(outside);
    }

    /// Sends the signals to each process, in this order. Forgets processes that cannot be signalled.
    pub(super) fn signal(&mut self, signals: &[Signal]) {
        self.outside
            .retain(|process| send(process, signals).is_ok());
    }

    /// Whether all processes that were found have ended.
    pub(super) fn are_gone(&mut self) -> bool {
        while let Some(last) = self.outside.last() {
            if is_alive(last) {
                return false;
            }
            self.outside.pop();
        }
        true
    }
}

/// Whether `/proc` shows the leader as a child of this process. If not, it shows another namespace, where
/// the same ids belong to other processes.
fn is_own_child(leader: i32) -> bool {
    let own = i32::try_from(std::process::id());
    let process = Process::read(leader).ok().flatten();
    process.is_some_and(|process| Ok(process.parent) == own && process.group == leader)
}

/// Returns all descendants of the roots, parents before their children.
fn below(roots: &[i32], all: impl IntoIterator<Item = Process>) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    for root in roots {
        found.extend(children.remove(root).unwrap_or_default());
    }
    let mut next = 0;
    while let Some(process) = found.get(next) {
        let more = children.remove(&process.pid);
        found.extend(more.unwrap_or_default());
        next += 1;
    }
    found
}

/// Whether the process is unchanged: reading `/proc` takes time, and its id may have been reused meanwhile.
fn is_as_before(process: &Process) -> bool {
    let now = Process::read(process.pid).ok().flatten();
    now.is_some_and(|now| now.parent == process.parent && now.start == process.start)
}

fn is_alive(process: &Process) -> bool {
    let now = Process::read(process.pid).ok().flatten();
    now.is_some_and(|now| now.start == process.start && !now.is_dead())
}

/// Signals the process. Does not compare the parent: it was signalled first, and may have ended since.
fn send(process: &Process, signals: &[Signal]) -> io::Result<()> {
    let pid = Pid::from_raw(process.pid).ok_or(io::ErrorKind::NotFound)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    if !is_alive(process) {
        return Err(io::ErrorKind::NotFound.into());
    }
    for signal in signals {
        pidfd_send_signal(&pidfd, *signal)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    fn process(pid: i32, parent: i32) -> Process {
        Process {
            pid,
            state: 'S',
            parent,
            group: 7,
            start: 1,
        }
    }

    #[test]
    fn descendants_come_parents_first() {
        // The last two are each other's parents, as two reads at different times may show them.
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
        let all = || all.into_iter().map(|(pid, parent)| process(pid, parent));
        for (roots, expected) in [
            (vec![7], vec![8, 9, 10]),
            (vec![2, 8], vec![3, 9, 10]),
            (vec![20], vec![21, 20]),
            (vec![99], vec![]),
        ] {
            let found = below(&roots, all());
            let pids: Vec<_> = found.iter().map(|process| process.pid).collect();
            assert_eq!(pids, expected, "{roots:?}");
        }
    }

    fn sleeping() -> (Child, Process) {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id().try_into().unwrap();
        (child, Process::read(pid).unwrap().unwrap())
    }

    #[test]
    fn a_recycled_number_is_not_signalled() {
        let (mut child, process) = sleeping();
        let earlier = Process {
            start: process.start - 1,
            ..process.clone()
        };
        assert!(!is_alive(&earlier) && !is_as_before(&earlier));
        assert!(send(&earlier, &[Signal::KILL]).is_err());
        assert!(child.try_wait().unwrap().is_none(), "it still runs");
        assert!(is_alive(&process) && is_as_before(&process));
        send(&process, &[Signal::TERM, Signal::CONT]).unwrap();
        child.wait().unwrap();
        assert!(!is_alive(&process));
        assert!(send(&process, &[Signal::KILL]).is_err());
    }

    #[test]
    fn a_process_that_has_ended_is_forgotten() {
        let (mut child, process) = sleeping();
        let mut descendants = Descendants {
            outside: vec![process],
        };
        assert!(!descendants.are_gone());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(descendants.are_gone() && descendants.outside.is_empty());
    }
}
