//! The requests that a confined process may make to the kernel, besides those for files, as a program for seccomp.
//!
//! <https://docs.kernel.org/userspace-api/seccomp_filter.html> Rules about arguments are compiled by a library; lists of calls,
//! which it makes twice as long, are not.

use std::collections::BTreeMap;
use std::io;
use std::sync::OnceLock;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

use crate::process::Refused;

/// The newest system call that is known here (`file_setattr`, Linux 6.17). A call with a larger number fails as in a kernel that
/// does not have it. So do those of x32, whose numbers begin at 0x4000_0000.
const NEWEST: i64 = 469;
const FILE_SETATTR: i64 = 469;
const SETXATTRAT: i64 = 463;
const GETXATTRAT: i64 = 464;
const LISTXATTRAT: i64 = 465;
const REMOVEXATTRAT: i64 = 466;
const FCHMODAT2: i64 = 452;

/// The newest command of `fcntl` that is known here (F_SET_FILE_RW_HINT). The next commands are about delegations, which are
/// leases.
const NEWEST_FCNTL: u64 = 1038;

/// Requests of `ioctl` that put text into a terminal: TIOCSTI, TIOCLINUX.
const PUT_TEXT: [u32; 2] = [0x5412, 0x541c];

/// Requests that change a file's attributes: FS_IOC_SETFLAGS (of two sizes), FS_IOC_FSSETXATTR.
const SET_ATTRIBUTES: [u32; 3] = [0x4008_6602, 0x4004_6602, 0x401c_5820];

/// The kinds of requests that are allowed, in the second byte of their numbers: requests of terminals, pipes and sockets.
const KINDS_OF_REQUESTS: [u32; 2] = [0x5400, 0x8900];

/// The requests about files that are allowed: FIGETBSZ, FS_IOC_GETFLAGS (of two sizes), FS_IOC_FSGETXATTR, FS_IOC_GETVERSION,
/// FS_IOC_FIEMAP, FICLONE, FICLONERANGE. Others change files that were only opened for reading (FS_IOC_ENABLE_VERITY, btrfs).
const REQUESTS: [u32; 8] = [
    2,
    0x8008_6601,
    0x8004_6601,
    0x801c_581f,
    0x8008_7601,
    0xc020_660b,
    0x4004_9409,
    0x4020_940d,
];

/// The answer of a program that refuses a call with the number in its low half.
pub(super) const SECCOMP_RET_ERRNO: u32 = 0x0005_0000;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The calls that every sandbox refuses.
const NEVER: &[i64] = &[
    // These reach other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // These reach what processes share by number or name.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_notify,
    libc::SYS_mq_getsetattr,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // These get around a filter, or into the kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_open_by_handle_at,
    // A mount can write where its process cannot: overlayfs empties a directory `work`.
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
];

/// Calls that change mode, owner, times and attributes, which Landlock does not check.
const ATTRIBUTES: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Calls that read the attributes of a file, which Landlock does not check. They fail as on a file system without
/// attributes, since `ls` and `cp` make them.
const READ_ATTRIBUTES: &[i64] = &[
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_fgetxattr,
    GETXATTRAT,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_flistxattr,
    LISTXATTRAT,
];

/// Calls that report the files that other processes use.
const WATCHES: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
];

/// The rights of a process, on which the program of its filter depends.
#[derive(Clone, Copy)]
pub(super) struct Rights {
    pub(super) network: bool,
    /// True if there is a place that the process may write.
    pub(super) writes: bool,
    /// True if the process may read all files that its user can read.
    pub(super) reads_all: bool,
}

impl Rights {
    /// Returns a number below 8 that differs for all combinations of rights.
    fn number(self) -> usize {
        let flags = [self.network, self.writes, self.reads_all];
        flags
            .iter()
            .fold(0, |sum, flag| sum * 2 + usize::from(*flag))
    }
}

/// Returns the program of a sandbox.
pub(super) fn program(rights: Rights) -> io::Result<&'static BpfProgram> {
    static MADE: [OnceLock<Made>; 8] = [const { OnceLock::new() }; 8];
    let made = MADE[rights.number()].get_or_init(|| made(rights));
    let refused = |why: &String| io::Error::other(Refused::Here(format!("seccomp: {why}")));
    made.as_ref().map_err(refused)
}

type Made = Result<BpfProgram, String>;

/// Joins programs into one, and encodes lists of calls in as few instructions as possible, since the kernel takes longer to
/// prepare the program than for all the rest of a start. If one part allows a call, the next part checks it.
fn made(rights: Rights) -> Made {
    let mut all = newest_calls();
    let rules = refused(rights.network).map_err(|error| error.to_string())?;
    all.extend(compiled(rules)?);
    all.push(step(LOAD, NUMBER));
    if !rights.writes {
        all.extend(calls(ATTRIBUTES, error(0)));
    }
    if !rights.reads_all {
        all.extend(calls(READ_ATTRIBUTES, error(libc::ENOTSUP)));
        all.extend(calls(WATCHES, error(libc::EPERM)));
    }
    all.extend(calls(NEVER, error(libc::EPERM)));
    all.extend(requests(rights.writes));
    Ok(all)
}

/// Returns the instructions that give this answer to the calls, once a call's number is loaded.
fn calls(calls: &[i64], answer: u32) -> impl Iterator<Item = sock_filter> + '_ {
    let number = |call: &i64| u32::try_from(*call).unwrap_or(u32::MAX);
    calls
        .iter()
        .flat_map(move |call| answer_if(EQUALS, number(call), answer))
}

/// Compiles a program that refuses calls with these arguments, and continues with the next part for the others. Kills a
/// program of another architecture.
fn compiled(rules: Rules) -> Made {
    let program = || {
        let architecture = std::env::consts::ARCH.try_into()?;
        let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let others = SeccompAction::Allow;
        BpfProgram::try_from(SeccompFilter::new(rules, others, refused, architecture)?)
    };
    let program = program().map_err(|error: seccompiler::BackendError| error.to_string());
    let mut program = program?;
    let last = program.pop().map(|last| (last.code, last.k));
    if last == Some((RETURN, SECCOMP_RET_ALLOW)) {
        Ok(program)
    } else {
        Err("a program ends otherwise than expected".to_owned())
    }
}

// Instructions, as in `linux/bpf_common.h`: BPF_LD | BPF_W | BPF_ABS, BPF_ALU | BPF_AND, BPF_JMP | BPF_JEQ, BPF_JMP | BPF_JGT,
// BPF_RET.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const EQUALS: u16 = 0x15;
const IS_ABOVE: u16 = 0x25;
const RETURN: u16 = 0x06;

/// The places of a call's number and of its second argument's low half in `struct seccomp_data`.
const NUMBER: u32 = 0;
const SECOND: u32 = 24;

const SECCOMP_RET_ALLOW: u32 = 0x7fff_0000;

fn step(code: u16, k: u32) -> sock_filter {
    sock_filter {
        code,
        jt: 0,
        jf: 0,
        k,
    }
}

/// Returns the instructions that end the program with an answer if the test is met.
fn answer_if(test: u16, value: u32, answer: u32) -> [sock_filter; 2] {
    let skips = sock_filter {
        jf: 1,
        ..step(test, value)
    };
    [skips, step(RETURN, answer)]
}

fn error(number: i32) -> u32 {
    SECCOMP_RET_ERRNO | number.unsigned_abs()
}

/// Fails a call that is newer than this list as a kernel without the call does. The same applies to `clone3`, whose flags cannot
/// be read here: programs then use `clone`.
fn newest_calls() -> BpfProgram {
    let [newest, clone] =
        [NEWEST, libc::SYS_clone3].map(|call| u32::try_from(call).unwrap_or(u32::MAX));
    let mut program = vec![step(LOAD, NUMBER)];
    program.extend(answer_if(IS_ABOVE, newest, error(libc::ENOSYS)));
    program.extend(answer_if(EQUALS, clone, error(libc::ENOSYS)));
    program
}

/// Allows only some requests of `ioctl`, and all other calls. It must be the last part of a program.
fn requests(writes: bool) -> BpfProgram {
    let ioctl = u32::try_from(libc::SYS_ioctl).unwrap_or(u32::MAX);
    let set = if writes { SECCOMP_RET_ALLOW } else { error(0) };
    let answers = PUT_TEXT
        .map(|request| (request, error(libc::EPERM)))
        .into_iter()
        .chain(SET_ATTRIBUTES.map(|request| (request, set)))
        .chain(REQUESTS.map(|request| (request, SECCOMP_RET_ALLOW)));
    let is_ioctl = sock_filter {
        jt: 1,
        ..step(EQUALS, ioctl)
    };
    let mut program = vec![
        step(LOAD, NUMBER),
        is_ioctl,
        step(RETURN, SECCOMP_RET_ALLOW),
    ];
    program.push(step(LOAD, SECOND));
    program.extend(answers.flat_map(|(request, answer)| answer_if(EQUALS, request, answer)));
    program.push(step(AND, 0xff00));
    let kinds = KINDS_OF_REQUESTS.into_iter();
    program.extend(kinds.flat_map(|kind| answer_if(EQUALS, kind, SECCOMP_RET_ALLOW)));
    program.push(step(RETURN, error(libc::EPERM)));
    program
}

fn refused(network: bool) -> Result<Rules, seccompiler::BackendError> {
    use SeccompCmpOp::{Eq, Gt, Ne};
    let mut rules = Rules::new();
    let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let sockets = if network {
        // The rule refuses a socket of every other family.
        vec![rule(
            families.map(|family| (0, Ne, family.unsigned_abs().into())),
        )?]
    } else {
        Vec::new()
    };
    rules.insert(libc::SYS_socket, sockets);
    // Only pairs of connected streams are allowed, with any flags: they reach no other process.
    let (on_exec, at_once) = (libc::SOCK_CLOEXEC, libc::SOCK_NONBLOCK);
    let flags = [0, on_exec, at_once, on_exec | at_once];
    let streams = flags.map(|flags| (libc::SOCK_STREAM | flags).unsigned_abs().into());
    let unix = libc::AF_UNIX.unsigned_abs().into();
    let pairs = vec![
        rule([(0, Ne, unix)])?,
        rule(streams.map(|kind| (1, Ne, kind)))?,
    ];
    rules.insert(libc::SYS_socketpair, pairs);
    rules.insert(libc::SYS_prlimit64, vec![rule([(0, Ne, 0)])?]);
    // The settings of other processes are refused: by their number, their user, or their group, which the caller may have joined.
    for call in [
        libc::SYS_sched_setattr,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setaffinity,
    ] {
        rules.insert(call, vec![rule([(0, Ne, 0)])?]);
    }
    let of_process = [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)];
    for (call, which) in of_process {
        rules.insert(call, vec![rule([(1, Ne, 0)])?, rule([(0, Ne, which)])?]);
    }
    // While a process has a lease on a file, such as a hooks file, other programs cannot open it.
    let lease = libc::F_SETLEASE.unsigned_abs().into();
    let commands = vec![rule([(1, Eq, lease)])?, rule([(1, Gt, NEWEST_FCNTL)])?];
    rules.insert(libc::SYS_fcntl, commands);
    // A user namespace would give a process all privileges in it, and so mounts. `CLONE_PARENT` would make a child of the host,
    // which would not reap it.
    let [user, parent] = [libc::CLONE_NEWUSER, libc::CLONE_PARENT];
    rules.insert(libc::SYS_unshare, vec![rule([has(user)])?]);
    rules.insert(
        libc::SYS_clone,
        vec![rule([has(user)])?, rule([has(parent)])?],
    );
    Ok(rules)
}

/// Returns the condition that the first argument has a flag.
fn has(flag: i32) -> (u8, SeccompCmpOp, u64) {
    let flag = u64::from(flag.unsigned_abs());
    (0, SeccompCmpOp::MaskedEq(flag), flag)
}

/// Returns a rule that is met if all its conditions are. A condition compares an argument of the call, of which the kernel reads
/// 32 bits here, with a value.
fn rule<const N: usize>(
    conditions: [(u8, SeccompCmpOp, u64); N],
) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions = conditions.into_iter().map(|(argument, compared, value)| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compared, value)
    });
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}
