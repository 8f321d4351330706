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

/// Whether nothing of the group lives any more. Its leader, which has ended and is not reaped,
/// does not count.
#[cfg(target_os = "linux")]
pub(super) fn is_gone(leader: Pid) -> bool {
    !any_state(leader, |state| !matches!(state, "Z" | "X"))
}

/// Whether one of the group is stopped, as by a read from the terminal.
#[cfg(target_os = "linux")]
pub(super) fn is_stopped(leader: Pid) -> bool {
    any_state(leader, |state| state == "T")
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

/// Whether a process of the group is in such a state. Where `/proc` cannot be read, it is.
#[cfg(target_os = "linux")]
fn any_state(leader: Pid, wanted: impl Fn(&str) -> bool) -> bool {
    let group = leader.as_raw_nonzero().get().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return true;
    };
    processes.flatten().any(|process| {
        let number = process.file_name();
        number
            .as_encoded_bytes()
            .first()
            .is_some_and(u8::is_ascii_digit)
            && std::fs::read_to_string(process.path().join("stat"))
                .is_ok_and(|stat| state_in_group(&stat, &group).is_some_and(&wanted))
    })
}

/// Reads `/proc/PID/stat` (proc_pid_stat(5)): behind the name in parentheses, which may hold
/// anything, stand the state, the parent and the group.
#[cfg(target_os = "linux")]
fn state_in_group<'a>(stat: &'a str, group: &str) -> Option<&'a str> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    (fields.nth(1)? == group).then_some(state)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_by_its_group_whatever_its_name() {
        for (stat, expected) in [
            ("7 (sh) S 1 7 7 0 -1", Some("S")),
            ("7 (a) Z 1 9 (b) R 1 7 7 0", Some("R")),
            ("7 (sh) Z 1 7 7 0 -1", Some("Z")),
            ("8 (sh) S 7 8 7 0 -1", None),
            ("", None),
        ] {
            assert_eq!(state_in_group(stat, "7"), expected, "{stat}");
        }
    }
}
