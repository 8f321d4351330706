//! The operations on files that a confined process may perform, as rules of Landlock.
//!
//! <https://docs.kernel.org/userspace-api/landlock.html> Three system calls and one table of rights: a crate for them would
//! bring five.

use std::ffi::c_long;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::LazyLock;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;

use super::{places, refused_by_a_filter};
use crate::process::{Place, Reach, Refused};

/// The version without which there is no sandbox (Linux 6.2): it is the first that can restrict truncation.
const NEEDED: c_long = 3;

// Rights, as in `linux/landlock.h`.
const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const TRUNCATE: u64 = 1 << 14;
/// All rights up to that of truncation.
const ALL: u64 = (1 << 15) - 1;
const READ: u64 = EXECUTE | READ_FILE | READ_DIR;
/// All rights except the one to create devices, which would let a process write to them.
const WRITE: u64 = ALL & !READ & !MAKE_CHAR & !MAKE_BLOCK;
/// The right to make requests of devices, which exists since version 5 (Linux 6.10).
const IOCTL_DEV: u64 = 1 << 15;
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

/// Abstract sockets and signals of other processes, since version 6 (Linux 6.12).
const SCOPES: u64 = 3;

const VERSION: c_long = 1;
const PATH_BENEATH: c_long = 1;

/// The places that programs need to run, in a sandbox whose `read` lists the readable places.
const SYSTEM: [&str; 18] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/proc",
    "/sys",
    "/run/systemd/resolve",
    "/run/current-system",
    "/var/lib/ca-certificates",
    "/dev/fd",
];

/// The devices that programs write without an effect.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// `struct landlock_ruleset_attr`. An older kernel accepts fields that it does not know if they are zero.
#[repr(C)]
struct Attributes {
    files: u64,
    network: u64,
    scopes: u64,
}

/// `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct Beneath {
    rights: u64,
    place: i32,
}

/// The variable that caps the version that is used, to test older kernels. A release build does not read it. A version that
/// is too old is refused, so the cap cannot remove a restriction that every sandbox has.
const CAP: &str = "FORGE_HOOKS_TEST_LANDLOCK";

/// Returns the kernel's version of Landlock, or the reason why it is not sufficient.
pub(super) fn version() -> Result<c_long, String> {
    static VERSION_USED: LazyLock<Result<c_long, String>> = LazyLock::new(|| {
        let call = libc::SYS_landlock_create_ruleset;
        // SAFETY: with this flag the call reads no memory, and returns a number.
        let kernel = unsafe { libc::syscall(call, 0, 0, VERSION) };
        if kernel < 0 {
            return Err(why_there_is_none(&io::Error::last_os_error()));
        }
        let cap = std::env::var(CAP).ok().filter(|_| cfg!(debug_assertions));
        let cap = cap.and_then(|cap| cap.parse().ok());
        let version = cap.map_or(kernel, |cap: c_long| kernel.min(cap));
        if version < NEEDED {
            return Err(format!(
                "the kernel's Landlock has version {version}, and {NEEDED} is needed (Linux 6.2 or later)"
            ));
        }
        Ok(version)
    });
    VERSION_USED.clone()
}

fn why_there_is_none(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOSYS) => "the kernel has no Landlock (Linux 6.2 or later has it)".to_owned(),
        Some(libc::EOPNOTSUPP) => {
            "Landlock is not enabled: boot with `lsm=landlock` (before the other names that `lsm=` has)".to_owned()
        }
        Some(libc::EPERM) => refused_by_a_filter("Landlock"),
        _ => format!("the kernel refuses Landlock: {error}"),
    }
}

/// Returns the rules of a layer, as the descriptor that the kernel gives for them.
pub(super) fn ruleset(layer: &Reach, temporary: &OwnedFd) -> io::Result<OwnedFd> {
    let version = version().map_err(|why| io::Error::other(Refused::Here(why)))?;
    let ioctl = if version >= 5 { IOCTL_DEV } else { 0 };
    let attributes = Attributes {
        files: ALL | ioctl,
        network: 0,
        scopes: if version >= 6 { SCOPES } else { 0 },
    };
    let size = size_of::<Attributes>();
    let call = libc::SYS_landlock_create_ruleset;
    // SAFETY: the kernel reads the structure, which has the size that is passed.
    let created = unsafe { libc::syscall(call, &raw const attributes, size, 0) };
    let created = i32::try_from(created)
        .ok()
        .filter(|descriptor| *descriptor >= 0);
    let created = created.ok_or_else(|| refused("its rules"))?;
    // SAFETY: the kernel has just created the descriptor, and nothing else has it.
    let rules = unsafe { OwnedFd::from_raw_fd(created) };

    let usual = |place: &str, rights| match open_as_usual(place)? {
        Some(opened) => allow(&rules, &opened, rights),
        None => Ok(()),
    };
    for device in DEVICES {
        usual(device, READ_FILE | WRITE_FILE | TRUNCATE | ioctl)?;
    }
    let chosen = |place: &Place, rights| allow(&rules, &places::open(place)?, rights);
    match &layer.read {
        None => usual("/", READ)?,
        Some(places) => {
            SYSTEM.iter().try_for_each(|place| usual(place, READ))?;
            places.iter().try_for_each(|place| chosen(place, READ))?;
        }
    }
    let write = READ | WRITE;
    layer
        .write
        .iter()
        .try_for_each(|place| chosen(place, write))?;
    allow(&rules, temporary, write)?;
    Ok(rules)
}

/// Opens a place of the system, which may be a link. Returns None if it does not exist or the user may not access it.
fn open_as_usual(place: &str) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    match openat2(CWD, place, flags, Mode::empty(), ResolveFlags::empty()) {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::NOENT | Errno::ACCESS) => Ok(None),
        Err(error) => Err(unless_short(error, format!("`{place}` cannot be opened"))),
    }
}

/// Returns an error that names the failed step. A lack of resources that any start needs is not an error of the sandbox.
fn unless_short(error: Errno, what: String) -> io::Error {
    if places::is_shortage(error) {
        return error.into();
    }
    io::Error::other(Refused::Here(format!("{what}: {}", io::Error::from(error))))
}

/// Adds the rights on a place and its content.
fn allow(rules: &OwnedFd, opened: &OwnedFd, rights: u64) -> io::Result<()> {
    let is_of_files = rights & !OF_FILES == 0;
    let is_whole = is_of_files || FileType::from_raw_mode(fstat(opened)?.st_mode).is_dir();
    let beneath = Beneath {
        rights: if is_whole { rights } else { rights & OF_FILES },
        place: opened.as_raw_fd(),
    };
    let call = libc::SYS_landlock_add_rule;
    // SAFETY: the kernel reads the structure, whose form belongs to this kind of rule, and the descriptor in it is open.
    let added =
        unsafe { libc::syscall(call, rules.as_raw_fd(), PATH_BENEATH, &raw const beneath, 0) };
    match added {
        0 => Ok(()),
        _ => Err(refused("a rule")),
    }
}

/// Returns the error of the last call of Landlock.
fn refused(what: &str) -> io::Error {
    let error = io::Error::last_os_error();
    let error = Errno::from_io_error(&error).unwrap_or(Errno::IO);
    unless_short(error, format!("Landlock refused {what}"))
}
