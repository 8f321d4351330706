//! Starts a confined process: it confines itself between its creation and `execve`, by Landlock and seccomp.
//!
//! No thread of this program is ever confined: through such a thread, the process could read this program's memory, since
//! both would be in the same domain of Landlock. The program is not copied (`fork`) either, which takes long if it has much
//! memory. So the process begins in this program's memory, on a stack of its own (`CLONE_VM`), while the calling thread
//! waits (`CLONE_VFORK`). It makes system calls with values that were prepared before, and does nothing else: no allocation,
//! no lock, no panic.

mod filter;
mod places;
mod ruleset;

pub(crate) use places::check_place;

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_long, c_void};
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, waitpid};

use self::filter::Rights;
use super::child::{Leader, Started};
use crate::process::start::Unprepared;
use crate::process::temporary::Temporary;
use crate::process::{Confinement, Refused};

/// The size of the new process's stack, in bytes: enough for a few calls.
const STACK: usize = 64 * 1024;

/// The exit code of a process that could not be started. The process is reaped, but its code is not read.
const FAILED: c_int = 127;

/// The kernel's own numbers, for which `libc` has no names on each system.
const SECCOMP_SET_MODE_FILTER: c_long = 1;
const SECCOMP_GET_ACTION_AVAIL: c_long = 2;
const CLOSE_RANGE_CLOEXEC: c_long = 4;
const SIGNALS: c_int = 64;
/// The size of a set of signals, in bytes.
const SIGNAL_SET: c_long = 8;

/// The privileges that root keeps: those on files (CAP_CHOWN to CAP_FSETID).
const KEPT_CAPABILITIES: u32 = 0x1f;
const CAPABILITY_VERSION_3: u32 = 0x2008_0522;

/// Fails if no process can be confined here; see [`Sandbox::support`](crate::Sandbox::support).
pub(crate) fn support() -> Result<(), Refused> {
    static SUPPORT: LazyLock<Result<(), String>> = LazyLock::new(|| {
        ruleset::version()?;
        let (call, answer) = (libc::SYS_seccomp, filter::SECCOMP_RET_ERRNO);
        // SAFETY: the kernel reads the four bytes of the number.
        let known = unsafe { libc::syscall(call, SECCOMP_GET_ACTION_AVAIL, 0, &raw const answer) };
        if known != 0 {
            let error = io::Error::last_os_error();
            return Err(match error.raw_os_error() {
                Some(libc::EPERM) => refused_by_a_filter("seccomp"),
                _ => format!("the kernel has no filters for system calls (seccomp): {error}"),
            });
        }
        let program = filter::program(Rights {
            network: false,
            writes: false,
            reads_all: true,
        });
        program.map(drop).map_err(|error| error.to_string())
    });
    SUPPORT.clone().map_err(Refused::Here)
}

fn refused_by_a_filter(what: &str) -> String {
    format!("a filter of system calls refuses {what}, as that of a container may")
}

/// A process that is to be started, perhaps more than once.
pub(super) struct Start {
    program: CString,
    args: Vec<CString>,
    environment: Vec<CString>,
    working_dir: CString,
    /// The opened working directory, if its path may lead elsewhere by the time of the start.
    directory: Option<OwnedFd>,
    rulesets: Vec<OwnedFd>,
    filter: Option<libc::sock_fprog>,
    /// A path at which no process may create a device, even if its user could.
    forbidden: Option<CString>,
    capabilities: Option<Capabilities>,
}

/// The data that the new process reads, and the place where it writes the step that failed.
struct Plan<'a> {
    start: &'a Start,
    args: *const *const c_char,
    environment: *const *const c_char,
    descriptors: [c_int; 3],
    failed: Option<(Step, c_int)>,
}

/// A part of the start that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A step of starting any process.
    Usual,
    WorkingDir,
    Confining(&'static str),
    /// A call that must fail once the process is confined.
    Trying(&'static str),
    Execution,
}

/// The number of `/dev/null`.
const NULL_DEVICE: c_int = 0x103;

/// The argument of `capset`.
#[repr(C)]
struct Capabilities {
    header: [u32; 2],
    /// The effective, permitted and inheritable capabilities. The second half has those with larger numbers.
    sets: [u32; 6],
}

impl Start {
    pub(super) fn new(
        command: &Command,
        environment: &BTreeMap<OsString, OsString>,
        working_dir: &Path,
    ) -> io::Result<Self> {
        support().map_err(io::Error::other)?;
        let program = command.get_program();
        let args = [program].into_iter().chain(command.get_args());
        let variables = environment.iter().map(|(name, value)| {
            let mut variable = name.clone();
            variable.push("=");
            variable.push(value);
            c_string(&variable)
        });
        Ok(Self {
            program: c_string(program)?,
            args: args.map(c_string).collect::<io::Result<_>>()?,
            environment: variables.collect::<io::Result<_>>()?,
            working_dir: c_string(working_dir.as_os_str())?,
            directory: None,
            rulesets: Vec::new(),
            filter: None,
            forbidden: None,
            capabilities: Capabilities::to_drop(),
        })
    }

    /// Sets the access of the process.
    pub(super) fn within(
        mut self,
        confinement: &Confinement,
        temporary: &Temporary,
    ) -> io::Result<Self> {
        if let Some(place) = &confinement.working_dir {
            self.directory = Some(above_standard(places::open(place)?)?);
        }
        for layer in &confinement.layers {
            let rules = ruleset::ruleset(layer, temporary.directory())?;
            self.rulesets.push(above_standard(rules)?);
        }
        // A filter has no layers: it refuses a call that any layer refuses.
        let mut layers = confinement.layers.iter();
        let program = filter::program(Rights {
            network: confinement.network,
            writes: layers.all(|layer| !layer.write.is_empty()),
            reads_all: !confinement.lists_what_is_read(),
        })?;
        self.filter = Some(libc::sock_fprog {
            len: u16::try_from(program.len()).unwrap_or(u16::MAX),
            // The kernel only reads the program.
            filter: program.as_ptr().cast_mut().cast(),
        });
        let forbidden = temporary.path().join("device");
        self.forbidden = Some(c_string(forbidden.as_os_str())?);
        Ok(self)
    }

    /// Starts the process, with this standard input or with none.
    pub(super) fn spawn(&self, stdin: Option<&PipeReader>) -> io::Result<Started> {
        let begun = self.begin(stdin);
        let begun = begun.map_err(|error| Step::Usual.error(error))?;
        if let Some((step, number)) = begun.failed {
            // The process has ended: `clone_of` returns no earlier.
            while let Err(Errno::INTR) = waitpid(Some(begun.pid), WaitOptions::empty()) {}
            return Err(step.error(io::Error::from_raw_os_error(number)));
        }
        Ok(Started {
            leader: Leader::new(begun.pid),
            stdout: begun.stdout.into(),
            stderr: begun.stderr.into(),
            temporary: None,
        })
    }

    fn begin(&self, stdin: Option<&PipeReader>) -> io::Result<Begun> {
        let stdin = match stdin {
            Some(pipe) => above_standard(pipe)?,
            None => above_standard(std::fs::File::open("/dev/null")?)?,
        };
        let ((stdout, to_stdout), (stderr, to_stderr)) = (io::pipe()?, io::pipe()?);
        let (to_stdout, to_stderr) = (above_standard(to_stdout)?, above_standard(to_stderr)?);
        let (args, environment) = (pointers(&self.args), pointers(&self.environment));
        let mut plan = Plan {
            start: self,
            args: args.as_ptr(),
            environment: environment.as_ptr(),
            descriptors: [&stdin, &to_stdout, &to_stderr].map(AsRawFd::as_raw_fd),
            failed: None,
        };
        Ok(Begun {
            pid: clone_of(&mut plan)?,
            stdout,
            stderr,
            failed: plan.failed,
        })
    }
}

/// A process that was created, with its output, and the step at which it has ended, if there is one.
struct Begun {
    pid: Pid,
    stdout: PipeReader,
    stderr: PipeReader,
    failed: Option<(Step, c_int)>,
}

impl Step {
    fn error(self, error: io::Error) -> io::Error {
        match self {
            Self::Usual => io::Error::other(Unprepared::Process(error)),
            Self::WorkingDir => io::Error::other(Unprepared::WorkingDir(error)),
            Self::Trying(what) => {
                let ended = match error.raw_os_error() {
                    Some(0) => "succeeded".to_owned(),
                    _ => format!("failed otherwise: {error}"),
                };
                io::Error::other(Refused::Here(format!(
                    "{what} has no effect: a call that it must refuse {ended}"
                )))
            }
            Self::Execution => error,
            Self::Confining(what) => {
                io::Error::other(Refused::Here(format!("the kernel refused {what}: {error}")))
            }
        }
    }
}

impl Capabilities {
    /// Returns the capabilities of this thread that are left, if it has more than a process may keep.
    fn to_drop() -> Option<Self> {
        let mut capabilities = Self {
            header: [CAPABILITY_VERSION_3, 0],
            sets: [0; 6],
        };
        let (header, sets) = (
            capabilities.header.as_mut_ptr(),
            capabilities.sets.as_mut_ptr(),
        );
        // SAFETY: the kernel reads the header, in which it may write the version that it knows, and writes three numbers twice,
        // for which there is room.
        let returned = unsafe { libc::syscall(libc::SYS_capget, header, sets) };
        let [_, permitted, _, _, permitted_high, _] = capabilities.sets;
        if returned == 0 && permitted & !KEPT_CAPABILITIES == 0 && permitted_high == 0 {
            return None;
        }
        let kept = permitted & KEPT_CAPABILITIES;
        capabilities.sets = [kept, kept, 0, 0, 0, 0];
        Some(capabilities)
    }
}

/// Creates the process. Returns once the process has executed its program or has ended.
fn clone_of(plan: &mut Plan<'_>) -> io::Result<Pid> {
    let mut stack = vec![0_u8; STACK];
    // The first free byte above the stack, at a multiple of 16.
    let end = stack.as_mut_ptr_range().end;
    let top = end.wrapping_sub(end.addr() % 16).cast::<c_void>();
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let argument = std::ptr::from_mut(plan).cast::<c_void>();
    let mut mask = 0_u64;
    let (call, all, before) = (libc::SYS_rt_sigprocmask, u64::MAX, &raw mut mask);
    // SAFETY: the plan and the stack live until `clone` has returned. By then the process has executed its program or has
    // ended (`CLONE_VFORK`), and uses this memory no longer. The stack does not overflow: what `confine` calls does not recurse
    // and has no large values, and a debug build, which needs the most, checks below that half of the stack is unused. The
    // process runs no handler of this program on it, since all signals are blocked, or else it is not created. The pointers to
    // masks are to 8 bytes, the size of the kernel's set of signals on the architectures of this file.
    let pid = unsafe {
        if libc::syscall(call, libc::SIG_SETMASK, &raw const all, before, SIGNAL_SET) == -1 {
            return Err(io::Error::last_os_error());
        }
        let pid = libc::clone(confine, top, flags, argument);
        let error = io::Error::last_os_error();
        libc::syscall(call, libc::SIG_SETMASK, before, 0, SIGNAL_SET);
        if pid == -1 { Err(error) } else { Ok(pid) }
    };
    debug_assert!(stack[..STACK / 2] == [0; STACK / 2], "the stack is small");
    Pid::from_raw(pid?).ok_or_else(|| io::ErrorKind::Other.into())
}

/// Runs in the new process. Returns only if it failed.
extern "C" fn confine(argument: *mut c_void) -> c_int {
    // SAFETY: `clone_of` passes a `Plan`, which nothing else uses while its thread waits.
    let plan = unsafe { &mut *argument.cast::<Plan<'_>>() };
    // SAFETY: as for `try_to_confine`, which gets what `Start::spawn` has made.
    plan.failed = unsafe { try_to_confine(plan) }.err();
    // SAFETY: ends this process alone, and runs no handlers of its parent.
    unsafe { libc::_exit(FAILED) }
}

/// # Safety
/// The pointers of the plan are lists of C strings that end with a null pointer. Must run in a process of its own.
unsafe fn try_to_confine(plan: &Plan<'_>) -> Result<(), (Step, c_int)> {
    use Step::{Confining, Execution, Trying, Usual, WorkingDir};
    let start = plan.start;
    let default_action = [0_u64; 4];
    let none = 0_u64;
    // SAFETY: each call gets numbers, descriptors that this process has, or pointers to values that live until it has
    // returned and have the form that it expects: a `sigaction` of the kernel is at most 32 bytes, of which zeros are the
    // default action; a set of signals has 8 bytes.
    unsafe {
        check(Usual, libc::syscall(libc::SYS_setpgid, 0, 0))?;
        for (target, source) in (0..).zip(plan.descriptors) {
            check(
                Usual,
                libc::syscall(libc::SYS_dup3, source, target as c_int, 0),
            )?;
        }
        let changed = match &start.directory {
            Some(opened) => libc::syscall(libc::SYS_fchdir, opened.as_raw_fd()),
            None => libc::syscall(libc::SYS_chdir, start.working_dir.as_ptr()),
        };
        check(WorkingDir, changed)?;
        for signal in 1..=SIGNALS {
            // The actions of two signals cannot be changed, which is no error.
            let action = &raw const default_action;
            libc::syscall(libc::SYS_rt_sigaction, signal, action, 0, SIGNAL_SET);
        }
        let (call, set) = (libc::SYS_rt_sigprocmask, &raw const none);
        check(
            Usual,
            libc::syscall(call, libc::SIG_SETMASK, set, 0, SIGNAL_SET),
        )?;
        if let Some(capabilities) = &start.capabilities {
            let (header, sets) = (capabilities.header.as_ptr(), capabilities.sets.as_ptr());
            let step = Confining("to drop privileges");
            check(step, libc::syscall(libc::SYS_capset, header, sets))?;
        }
        let flag = libc::PR_SET_NO_NEW_PRIVS;
        let step = Confining("`no_new_privs`");
        check(step, libc::syscall(libc::SYS_prctl, flag, 1, 0, 0, 0))?;
        let (first, last) = (3, c_long::from(u32::MAX));
        let step = Confining("to close descriptors");
        let call = libc::SYS_close_range;
        check(step, libc::syscall(call, first, last, CLOSE_RANGE_CLOEXEC))?;
        for ruleset in &start.rulesets {
            let (call, rules) = (libc::SYS_landlock_restrict_self, ruleset.as_raw_fd());
            check(Confining("Landlock"), libc::syscall(call, rules, 0))?;
        }
        if let Some(program) = &start.filter {
            let (call, mode) = (libc::SYS_seccomp, SECCOMP_SET_MODE_FILTER);
            let program = std::ptr::from_ref(program);
            check(Confining("seccomp"), libc::syscall(call, mode, 0, program))?;
            // Without the filter, the call would fail with another error: the number is invalid.
            let tried = libc::syscall(libc::SYS_semop, -1, 0, 0);
            refuses(Trying("seccomp"), tried, libc::EPERM)?;
        }
        if let Some(path) = &start.forbidden {
            // Landlock checks the call before the privilege is checked. Without Landlock, this would be another error, or
            // another `/dev/null`. (A device with the number 0, which needs no privilege, is one that some kernels always
            // allow: seen in 6.12.117.)
            let (call, mode) = (libc::SYS_mknodat, libc::S_IFCHR | 0o600);
            let tried = libc::syscall(call, libc::AT_FDCWD, path.as_ptr(), mode, NULL_DEVICE);
            refuses(Trying("Landlock"), tried, libc::EACCES)?;
        }
        let program = start.program.as_ptr();
        let call = libc::SYS_execve;
        check(
            Execution,
            libc::syscall(call, program, plan.args, plan.environment),
        )
    }
}

/// Returns the number of the error if the call has failed.
fn check(step: Step, returned: c_long) -> Result<(), (Step, c_int)> {
    if returned != -1 {
        return Ok(());
    }
    // SAFETY: the pointer is valid for as long as this thread lives, whose memory this process shares.
    Err((step, unsafe { *libc::__errno_location() }))
}

/// Checks that a call has failed with this error.
fn refuses(step: Step, returned: c_long, expected: c_int) -> Result<(), (Step, c_int)> {
    match check(step, returned) {
        Err((_, number)) if number == expected => Ok(()),
        Err(other) => Err(other),
        Ok(()) => Err((step, 0)),
    }
}

/// Returns a copy of the descriptor with a number that is not that of a standard one, which the process replaces.
fn above_standard(descriptor: impl AsFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(descriptor, 3)?)
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    let texts = texts.iter().map(|text| CStr::as_ptr(text));
    texts.chain([std::ptr::null()]).collect()
}
