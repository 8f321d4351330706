//! The process group of a hook: signalling it, and looking at what is left of it.

use std::time::Duration;

use rustix::process::{Pid, Signal};

#[cfg(target_os = "linux")]
use super::proc::Process;

/// How often a group that was asked to end is looked at.
pub(super) const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// Sends a signal to all of the group. An error is a group that is gone, or one all of whose
/// processes belong to another user by now: nothing is to be done about either.
pub(super) fn signal(leader: Pid, signal: Signal) {
    let _ = rustix::process::kill_process_group(leader, signal);
}

/// Whether it is certain that nothing of the group lives any more. Its leader, which has ended and
/// is not reaped, does not count.
#[cfg(target_os = "linux")]
pub(super) fn is_gone(leader: Pid) -> bool {
    members(leader).is_some_and(|members| members.iter().all(Process::is_dead))
}

/// Whether one of the group is seen to be stopped, as by a read from the terminal.
#[cfg(target_os = "linux")]
pub(super) fn is_stopped(leader: Pid) -> bool {
    let is_stopped = |member: &Process| member.state == 'T';
    members(leader).is_some_and(|members| members.iter().any(is_stopped))
}

/// Elsewhere nothing tells quickly, so the grace is waited for.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_gone(_leader: Pid) -> bool {
    false
}

/// Elsewhere only the leader can be asked.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_stopped(leader: Pid) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(leader), look), Ok(Some(_)))
}

/// The group's processes. None where `/proc` does not show them all: it cannot be read, or shows
/// another namespace, for then the leader, which is not reaped yet, is not there.
#[cfg(target_os = "linux")]
fn members(leader: Pid) -> Option<Vec<Process>> {
    let leader = leader.as_raw_nonzero().get();
    let mut members = Vec::new();
    for process in Process::all().ok()? {
        let process = process.ok()?;
        if process.group == leader {
            members.push(process);
        }
    }
    let leader_seen = members.iter().any(|member| member.pid == leader);
    leader_seen.then_some(members)
}
