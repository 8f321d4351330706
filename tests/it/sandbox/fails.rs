//! Where a sandbox is not possible, the hook fails without running, and says why.

use std::collections::BTreeMap;
use std::time::Duration;

use forge_hooks::{FailureKind, FailurePolicy, Hook, HookEvent, Sandbox};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use super::{confined, is_possible};
use crate::support::{World, alone, run_alone};

/// As [`is_possible`](super::is_possible), without asking the kernel: this process would remember the answer.
fn is_wanted() -> bool {
    std::env::var_os("FORGE_HOOKS_NO_SANDBOX").is_none()
}

/// Refuses these system calls to this process.
fn without(calls: &[i64], error: i32) {
    let rules: BTreeMap<_, _> = calls.iter().map(|call| (*call, Vec::new())).collect();
    let answer = SeccompAction::Errno(error.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, architecture).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    seccompiler::apply_filter_all_threads(&program).unwrap();
}

/// Fires at a guard in a sandbox that would leave a file.
#[track_caller]
fn fails_with(words: &str) {
    let world = World::new();
    let sandbox = Sandbox::new().writing(["."]);
    let hook = confined(": >ran", sandbox);
    let result = world.one(hook.clone());
    assert_eq!(result.failure(), Some(FailureKind::NoSandbox), "{result:?}");
    assert!(!result.should_continue() && result.pid().is_none());
    let error = result.error().unwrap();
    assert!(error.contains(words), "{error}");
    let result = world.one(hook.clone().with_on_failure(FailurePolicy::Continue));
    assert!(result.should_continue() && !result.success());
    let result = world.run(hook.with_resident(), &HookEvent::session_start("s"));
    assert_eq!(result.failure(), Some(FailureKind::NoSandbox), "{result:?}");
    assert!(!world.path("ran").exists(), "nothing runs");
    // A hook without a sandbox is not concerned.
    let result = world.one(Hook::new("*", "true").unwrap());
    assert!(result.success());
}

#[test]
fn a_kernel_without_landlock() {
    if !is_wanted() || !alone("sandbox::fails::a_kernel_without_landlock") {
        return;
    }
    without(&[libc::SYS_landlock_create_ruleset], libc::ENOSYS);
    let error = Sandbox::support().unwrap_err();
    assert!(error.to_string().contains("no Landlock"), "{error}");
    fails_with("no Landlock");
    #[cfg(feature = "cli")]
    {
        let nowhere = tempfile::tempdir().unwrap();
        let hooks = forge_hooks::Hooks::builder(forge_hooks::AppProfile::default())
            .config_home(nowhere.path())
            .load();
        hooks
            .executor()
            .registry()
            .register(confined("true", Sandbox::new()));
        let foretold = crate::support::foretold(&hooks);
        assert!(foretold[0].contains("no Landlock"), "{foretold:?}");
    }
}

#[test]
fn a_kernel_without_seccomp() {
    if !is_wanted() || !alone("sandbox::fails::a_kernel_without_seccomp") {
        return;
    }
    without(&[libc::SYS_seccomp], libc::EINVAL);
    assert!(Sandbox::support().is_err());
    fails_with("seccomp");
}

/// The kernel refuses this only in the new process.
#[test]
fn a_kernel_that_refuses_the_rules() {
    if !is_wanted() || !alone("sandbox::fails::a_kernel_that_refuses_the_rules") {
        return;
    }
    without(&[libc::SYS_landlock_restrict_self], libc::EPERM);
    Sandbox::support().unwrap();
    fails_with("the kernel refused Landlock");
}

/// The call that a kernel, or a filter of a container, refuses to a host; its error; what a hook that may read `.` says, and
/// how it fails; and what must not be said.
const REFUSED: &[(libc::c_long, i32, &str, FailureKind, &str)] = &[
    (
        libc::SYS_landlock_create_ruleset,
        libc::ENOSYS,
        "the kernel has no Landlock (Linux 6.2 or later has it)",
        FailureKind::NoSandbox,
        "boot",
    ),
    (
        libc::SYS_landlock_create_ruleset,
        libc::EOPNOTSUPP,
        "Landlock is not enabled: boot with `lsm=landlock` (before the other names that `lsm=` has)",
        FailureKind::NoSandbox,
        "no Landlock",
    ),
    (
        libc::SYS_landlock_create_ruleset,
        libc::EPERM,
        "a filter of system calls refuses Landlock, as that of a container may",
        FailureKind::NoSandbox,
        "no Landlock",
    ),
    (
        libc::SYS_seccomp,
        libc::EPERM,
        "a filter of system calls refuses seccomp, as that of a container may",
        FailureKind::NoSandbox,
        "the kernel has no",
    ),
    (
        libc::SYS_openat2,
        libc::EPERM,
        "`sandbox.read`: `.` cannot be opened",
        FailureKind::NoSandbox,
        "add its directory",
    ),
    (
        libc::SYS_clone,
        libc::EPERM,
        "cannot start `",
        FailureKind::NotStarted,
        "add its directory",
    ),
    (
        libc::SYS_setpgid,
        libc::EACCES,
        "cannot start `",
        FailureKind::NotStarted,
        "add its directory",
    ),
    (
        libc::SYS_chdir,
        libc::EACCES,
        "cannot be entered: Permission denied",
        FailureKind::NoWorkingDir,
        "add its directory",
    ),
    (
        libc::SYS_execve,
        libc::EACCES,
        "the sandbox does not let it read and execute `",
        FailureKind::NotExecutable,
        "cannot be entered",
    ),
];

#[test]
fn each_step_says_what_failed() {
    const NAME: &str = "sandbox::fails::each_step_says_what_failed";
    const ROW: &str = "FORGE_HOOKS_TEST_ROW";
    let Some(row) = std::env::var_os(ROW) else {
        let rows = if is_possible() { REFUSED.len() } else { 0 };
        for row in 0..rows {
            run_alone(NAME, |test| test.env(ROW, row.to_string()));
        }
        return;
    };
    let row: usize = row.to_str().unwrap().parse().unwrap();
    let (call, error, expected, kind, other) = REFUSED[row];
    let world = World::new();
    without(&[call], error);
    let fire = |sandbox: Sandbox| {
        let hook = Hook::program("*", ["/bin/true"]).unwrap();
        let result = world.one(hook.with_sandbox(sandbox));
        (
            result.failure(),
            result.error().unwrap_or_default().to_owned(),
        )
    };
    let (failure, said) = fire(Sandbox::new().reading(["."]));
    assert_eq!(failure, Some(kind), "{said}");
    assert!(said.contains(expected) && !said.contains(other), "{said}");
    // Where all can be read, no directory is missing.
    let (failure, said) = fire(Sandbox::new());
    assert_eq!(failure, Some(kind), "{said}");
    assert!(!said.contains("add its directory"), "{said}");
}

/// As an emulator may, or a library that replaces system calls: the call does nothing, and returns 0.
#[test]
fn a_kernel_that_only_says_that_it_confines() {
    const NAME: &str = "sandbox::fails::a_kernel_that_only_says_that_it_confines";
    const CALL: &str = "FORGE_HOOKS_TEST_CALL";
    let calls = [
        (libc::SYS_landlock_restrict_self, "Landlock"),
        (libc::SYS_seccomp, "seccomp"),
    ];
    if let Some(name) = std::env::var_os(CALL) {
        let (call, name) = calls
            .into_iter()
            .find(|(_, candidate)| name == *candidate)
            .unwrap();
        without(&[call], 0);
        fails_with(&format!("{name} has no effect"));
    } else if is_possible() {
        for (_, name) in calls {
            run_alone(NAME, |test| test.env(CALL, name));
        }
    }
}

/// It made a system call of another architecture, as a program for 32 bits does.
#[test]
fn a_program_that_the_filter_ends() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    let hint = ": in a sandbox, a program that makes system calls of another architecture, as one for 32 bits does, is ended";
    for (command, output) in [
        ("kill -SYS $$", "ended by signal 31 (SIGSYS)"),
        ("sh -c 'kill -SYS $$'; exit $?", "exited with code 159"),
    ] {
        let result = world.one(confined(command, Sandbox::new()));
        assert_eq!(
            result.error(),
            Some(&*format!("{output}{hint}")),
            "{result:?}"
        );
        let result = world.one(Hook::new("*", command).unwrap());
        assert_eq!(result.error(), Some(output), "{result:?}");
    }
}

/// The files that such a host opens next, also for its hook's sandbox, get these numbers.
#[test]
fn a_host_without_standard_streams() {
    if !is_possible() || !alone("sandbox::fails::a_host_without_standard_streams") {
        return;
    }
    let world = World::new();
    let hook = confined("exit 3", Sandbox::new());
    // SAFETY: nothing in this process uses them before they are back.
    #[allow(unsafe_code)]
    let kept = unsafe {
        let kept = [0, 1, 2].map(|fd| libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3));
        (0..3).for_each(|fd| assert_eq!(libc::close(fd), 0));
        kept
    };
    let result = world.one(hook);
    // SAFETY: as above.
    #[allow(unsafe_code)]
    unsafe {
        (0..)
            .zip(kept)
            .for_each(|(fd, kept)| assert_eq!(libc::dup2(kept, fd), fd));
    }
    assert_eq!(result.error(), Some("exited with code 3"));
}

#[test]
fn a_host_without_a_temporary_directory() {
    if !is_possible() || !alone("sandbox::fails::a_host_without_a_temporary_directory") {
        return;
    }
    let world = World::new();
    tempfile::env::override_temp_dir(&world.path("missing")).unwrap();
    for command in ["exit 3", "/bin/true"] {
        let result = world.one(confined(command, Sandbox::new()));
        assert_eq!(result.failure(), Some(FailureKind::NoSandbox), "{result:?}");
        let error = result.error().unwrap();
        let message = "its temporary directory cannot be created: No such file";
        assert!(error.contains(message), "{error}");
    }
}

/// The kernel allows 16 sandboxes within each other: this test runs itself in one until there is no other.
#[test]
fn a_sandbox_within_sandboxes() {
    if !is_possible() {
        return;
    }
    let level = std::env::var("FORGE_HOOKS_TEST_LEVEL").map_or(0, |level| level.parse().unwrap());
    let world = World::new();
    let binary = std::env::current_exe().unwrap();
    let command = format!(
        "env -u FORGE_HOOK_CHAIN FORGE_HOOKS_TEST_LEVEL={} '{}' --exact sandbox::fails::a_sandbox_within_sandboxes --nocapture",
        level + 1,
        binary.display()
    );
    let hook = confined(&command, Sandbox::new()).with_timeout(Duration::from_secs(60));
    let result = world.one(hook);
    match &result.error() {
        _ if level == 0 => assert!(
            result
                .stdout()
                .contains("level 16: no sandbox is possible here: the kernel refused Landlock"),
            "{}",
            result.stdout()
        ),
        Some(error) => println!("level {level}: {error}"),
        None => println!("{}", result.stdout()),
    }
}
