//! The process group of a hook: signalling it, and looking at what is left of it.

use std::time::Duration;

use rustix::process::{Pid, Signal};

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
    let is_dead = |state: &char| matches!(state, 'Z' | 'X');
    states(leader).is_some_and(|states| states.iter().all(is_dead))
}

/// Whether one of the group is seen to be stopped, as by a read from the terminal.
#[cfg(target_os = "linux")]
pub(super) fn is_stopped(leader: Pid) -> bool {
    states(leader).is_some_and(|states| states.contains(&'T'))
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

/// The states of the group's processes. None where `/proc` does not show them all: it cannot be
/// read, or is not this namespace's, for then the leader, which is not reaped yet, is not there.
#[cfg(target_os = "linux")]
fn states(leader: Pid) -> Option<Vec<char>> {
    let leader = leader.as_raw_nonzero().get().to_string();
    let (mut states, mut leader_seen) = (Vec::new(), false);
    for process in std::fs::read_dir("/proc").ok()? {
        let process = process.ok()?;
        let number = process.file_name();
        if !number.as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            continue;
        }
        match std::fs::read(process.path().join("stat")) {
            Ok(stat) => states.extend(state_in_group(&String::from_utf8_lossy(&stat), &leader)),
            Err(error) if is_gone_meanwhile(&error) => {}
            Err(_) => return None,
        }
        leader_seen |= number == *leader;
    }
    leader_seen.then_some(states)
}

#[cfg(target_os = "linux")]
fn is_gone_meanwhile(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH))
}

/// Reads `/proc/PID/stat` (proc_pid_stat(5)): behind the name in parentheses, which may hold
/// anything, stand the state, the parent and the group.
#[cfg(target_os = "linux")]
fn state_in_group(stat: &str, group: &str) -> Option<char> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    (fields.nth(1)? == group).then_some(state)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_by_its_group_whatever_its_name() {
        for (stat, expected) in [
            ("7 (sh) S 1 7 7 0 -1", Some('S')),
            ("7 (a) Z 1 9 (b) R 1 7 7 0", Some('R')),
            ("7 (sh) Z 1 7 7 0 -1", Some('Z')),
            ("8 (sh) S 7 8 7 0 -1", None),
            ("", None),
        ] {
            assert_eq!(state_in_group(stat, "7"), expected, "{stat}");
        }
    }
}
