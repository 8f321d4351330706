//! The operations on files that a confined process may perform, as rules of Landlock.
//!
//! <https://docs.kernel.org/userspace-api/landlock.html> Each right is required: where the kernel does not know one, there is no sandbox.

use std::error::Error;
use std::ffi::c_long;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::LazyLock;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;

use super::{places, refused_by_a_filter};
use crate::process::{Place, Reach, Refused};

/// The version without which there is no sandbox (Linux 6.2): it is the first that can restrict truncation.
const NEEDED: c_long = 3;

/// The flag of the call that returns the version.
const VERSION: c_long = 1;

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

/// Returns the rights that a version can restrict: since version 5 (Linux 6.10) requests of devices, since version 6 (Linux 6.12) abstract
/// sockets and signals of other processes.
fn abi(version: c_long) -> ABI {
    match version {
        ..=3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        6.. => ABI::V6,
    }
}

/// A place that was opened, with the rights on it. None if the place is missing.
type Allowed = io::Result<Option<(OwnedFd, BitFlags<AccessFs>)>>;

/// Returns the rules of a layer, as the descriptor that the kernel gives for them.
pub(super) fn ruleset(layer: &Reach, temporary: &OwnedFd) -> io::Result<OwnedFd> {
    let version = version().map_err(|why| io::Error::other(Refused::Here(why)))?;
    let abi = abi(version);
    let read = AccessFs::from_read(abi);
    // Who can create a device can write to it, and requests are for devices.
    let write = read | AccessFs::from_write(ABI::V3) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let device = AccessFs::from_file(abi) & !AccessFs::Execute;

    let usual = |place: &str, rights| -> Allowed {
        Ok(open_as_usual(place)?.map(|opened| (opened, rights)))
    };
    let chosen = |place: &Place, rights| -> Allowed { Ok(Some((places::open(place)?, rights))) };
    let system: &[&str] = if layer.read.is_some() {
        &SYSTEM
    } else {
        &["/"]
    };
    let devices = DEVICES.iter().map(|place| usual(place, device));
    let system = system.iter().map(|place| usual(place, read));
    let to_read = layer.read.iter().flatten().map(|place| chosen(place, read));
    let to_write = layer.write.iter().map(|place| chosen(place, write));
    let all = devices.chain(system).chain(to_read).chain(to_write);
    let mut rules = empty(abi).map_err(refused)?;
    for allowed in all {
        if let Some((opened, rights)) = allowed? {
            rules = allow(rules, &opened, rights)?;
        }
    }
    let made = Option::<OwnedFd>::from(allow(rules, temporary, write)?);
    made.ok_or_else(|| io::Error::other(Refused::Here("the kernel has no Landlock".to_owned())))
}

/// Creates rules that allow nothing.
fn empty(abi: ABI) -> Result<RulesetCreated, RulesetError> {
    let required = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let mut rules = required.handle_access(AccessFs::from_all(abi))?;
    let scopes = Scope::from_all(abi);
    if !scopes.is_empty() {
        rules = rules.scope(scopes)?;
    }
    rules.create()
}

/// Adds the rights on a place and its content. A file has only some of them.
fn allow(
    rules: RulesetCreated,
    opened: &OwnedFd,
    rights: BitFlags<AccessFs>,
) -> io::Result<RulesetCreated> {
    let is_directory = FileType::from_raw_mode(fstat(opened)?.st_mode).is_dir();
    let of_files = AccessFs::from_file(ABI::V6);
    let rights = if is_directory {
        rights
    } else {
        rights & of_files
    };
    rules
        .add_rule(PathBeneath::new(opened, rights))
        .map_err(refused)
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

/// Returns the error of a call of Landlock that failed.
fn refused(error: RulesetError) -> io::Error {
    let mut cause: &dyn Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let number = cause.downcast_ref().and_then(Errno::from_io_error);
    match number {
        Some(number) if places::is_shortage(number) => number.into(),
        _ => io::Error::other(Refused::Here(format!(
            "Landlock refused its rules: {error}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_that_the_kernel_does_not_know_is_refused() {
        let Ok(version) = version() else { return };
        assert!(empty(abi(version)).is_ok());
        let newer = [(4, ABI::V5), (5, ABI::V6), (8, ABI::V9), (9, ABI::V10)];
        for (_, newer) in newer.into_iter().filter(|(before, _)| version <= *before) {
            let error = refused(empty(newer).unwrap_err()).to_string();
            assert!(error.contains("no sandbox is possible here"), "{error}");
        }
    }
}
