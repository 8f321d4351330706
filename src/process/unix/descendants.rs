//! Descendants of a hook that have left its process group, as under `timeout`, `set -m` and
//! `setsid`: finding them in `/proc`, and signalling them. Linux only; needs pidfd.
//!
//! A signal must not reach another process that was given the same number meanwhile. So a process
//! is known by its number and its start time, and is signalled by a pidfd that was opened before
//! both were compared once more.

use std::collections::{HashMap, HashSet};
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::proc::Process;

/// Those of one hook that are outside its group, parents before their children. A descriptor is
/// not kept for each: a hook could have more of them than its host has descriptors.
#[derive(Debug, Default)]
pub(super) struct Descendants {
    outside: Vec<Process>,
}

impl Descendants {
    /// Looks for them below the leader of the hook's group, which must not have been reaped. Called
    /// before anything is signalled: once its parent has ended, a process is adopted by another and
    /// out of reach.
    pub(super) fn find(&mut self, leader: Pid) {
        let leader = leader.as_raw_nonzero().get();
        if !is_own_child(leader) {
            return;
        }
        let Ok(all) = Process::all() else { return };
        let all: Vec<_> = all.flatten().collect();
        // Looked at behind that: what lives on has had its number all the time.
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

    /// Sends the signals to each, in this order; forgets those that cannot be signalled.
    pub(super) fn signal(&mut self, signals: &[Signal]) {
        self.outside
            .retain(|process| send(process, signals).is_ok());
    }

    /// Whether all that were found have ended.
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

/// Whether `/proc` shows the leader as this process's child. If not, it shows another namespace,
/// where the same numbers mean other processes.
fn is_own_child(leader: i32) -> bool {
    let own = i32::try_from(std::process::id());
    let process = Process::read(leader).ok().flatten();
    process.is_some_and(|process| Ok(process.parent) == own && process.group == leader)
}

/// All descendants of the roots, parents before their children.
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

/// `/proc` is not read in one moment: its number may have become another's in between.
fn is_as_before(process: &Process) -> bool {
    let now = Process::read(process.pid).ok().flatten();
    now.is_some_and(|now| now.parent == process.parent && now.start == process.start)
}

fn is_alive(process: &Process) -> bool {
    let now = Process::read(process.pid).ok().flatten();
    now.is_some_and(|now| now.start == process.start && !now.is_dead())
}

/// The parent is not compared here: it may have ended meanwhile, having been signalled first.
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
        // The last two are each other's parents, as seen by two reads at different times.
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
