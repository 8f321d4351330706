//! The process group of a hook: sends signals to it, and checks which of its processes are left.

use std::time::Duration;

use rustix::process::{Pid, Signal};

#[cfg(target_os = "linux")]
use super::proc::Process;

/// How often a group that was asked to end is checked.
pub(super) const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// Sends a signal to the whole group. An error means that the group is gone, or that all its processes
/// now belong to another user; nothing can be done in either case.
pub(super) fn signal(leader: Pid, signal: Signal) {
    let _ = rustix::process::kill_process_group(leader, signal);
}

/// Whether certainly no process of the group is alive. The leader, which has ended and is not reaped yet,
/// does not count.
#[cfg(target_os = "linux")]
pub(super) fn is_gone(leader: Pid) -> bool {
    members(leader).is_some_and(|members| members.iter().all(Process::is_dead))
}

/// Whether a process of the group is stopped, for example by a read from the terminal.
#[cfg(target_os = "linux")]
pub(super) fn is_stopped(leader: Pid) -> bool {
    let is_stopped = |member: &Process| member.state == 'T';
    members(leader).is_some_and(|members| members.iter().any(is_stopped))
}

/// Other systems cannot report this quickly, so the whole grace period is waited for.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_gone(_leader: Pid) -> bool {
    false
}

/// On other systems only the leader can be checked.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_stopped(leader: Pid) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(leader), look), Ok(Some(_)))
}

/// The processes of the group. None if `/proc` does not show them all: either it cannot be read, or it
/// shows another namespace. In another namespace the leader, which is not reaped yet, is missing.
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
