//! Explains why a process could not be started: the operating system reports "no such file" for a missing
//! directory, a missing program and a missing interpreter alike.

use std::io::{self, Read};
use std::path::Path;

use super::{Args, Confinement, LARGEST_VARIABLE, Refused, Spec};
use crate::files;

/// Error starting a command. The message names the file or setting that caused it.
#[derive(Debug)]
pub(crate) struct StartError {
    pub(crate) kind: StartErrorKind,
    pub(crate) message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartErrorKind {
    NotFound,
    NotExecutable,
    NoWorkingDir,
    /// The process had to be confined, which is not possible on this system.
    NoSandbox,
    Other,
}

#[cfg(unix)]
pub(super) fn is_executable(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(windows)]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// Returns whether a process can have this working directory. For a directory, the execute permission is the permission to
/// enter it.
#[cfg(unix)]
fn can_be_entered(directory: &Path) -> bool {
    is_executable(directory)
}

#[cfg(windows)]
fn can_be_entered(_directory: &Path) -> bool {
    true
}

/// Error of a confined process that ended before the step that executes its program. All other errors of a start come from
/// that step.
#[derive(Debug, thiserror::Error)]
// This type is not used on systems where no process can be confined.
#[allow(dead_code)]
pub(crate) enum Unprepared {
    #[error("{0}")]
    WorkingDir(io::Error),
    #[error("{0}")]
    Process(io::Error),
}

/// The part of a script that makes it executable.
const INTERPRETER: &str = if cfg!(windows) {
    "an interpreter before it"
} else {
    "a first line like `#!/bin/sh`"
};

/// Describes the error of a failed start.
pub(super) fn explain(error: io::Error, program: &Path, spec: &Spec<'_>) -> StartError {
    use StartErrorKind::{NoSandbox, NoWorkingDir, NotExecutable, NotFound, Other};
    let dir = spec.working_dir.display();
    let display = program.display();
    let refused = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Refused>());
    if let Some(refused) = refused {
        return StartError {
            kind: NoSandbox,
            message: refused.to_string(),
        };
    }
    if let Some(message) = directory_problem(spec.working_dir) {
        return StartError {
            kind: NoWorkingDir,
            message,
        };
    }
    let unprepared = error.get_ref().and_then(|inner| inner.downcast_ref());
    match unprepared {
        Some(Unprepared::WorkingDir(error)) => {
            return StartError {
                kind: NoWorkingDir,
                message: format!("working directory `{dir}` cannot be entered: {error}"),
            };
        }
        Some(Unprepared::Process(error)) => {
            return StartError {
                kind: Other,
                message: format!("cannot start `{display}`: {error}"),
            };
        }
        None => {}
    }
    let (kind, message) = match error.kind() {
        io::ErrorKind::NotFound if !program.exists() => {
            (NotFound, format!("program `{display}` not found"))
        }
        io::ErrorKind::NotFound => {
            let of_loader = || format!("program `{display}` needs a loader that was not found");
            let message = interpreter_problem(program, spec.working_dir).unwrap_or_else(of_loader);
            (NotFound, message)
        }
        io::ErrorKind::PermissionDenied => {
            let otherwise = || {
                if spec
                    .confinement
                    .as_ref()
                    .is_some_and(Confinement::lists_what_is_read)
                {
                    outside_of_what_is_read(program)
                } else {
                    format!("no permission to run `{display}` in `{dir}`")
                }
            };
            let problem = permission_problem(program, spec.working_dir);
            (NotExecutable, problem.unwrap_or_else(otherwise))
        }
        io::ErrorKind::ArgumentListTooLong => (Other, too_long(spec)),
        _ if is_no_format(&error) => (NotExecutable, format_problem(program)),
        _ => (Other, format!("cannot start `{display}`: {error}")),
    };
    StartError { kind, message }
}

/// Describes a program that the sandbox does not let the process execute, or whose interpreter the sandbox does not let it execute.
fn outside_of_what_is_read(program: &Path) -> String {
    let interpreter = match interpreter(program) {
        Some(interpreter) => format!(", or its interpreter `{interpreter}`"),
        None => String::new(),
    };
    format!(
        "the sandbox does not let it read and execute `{}`{interpreter}: add its directory to `read`",
        program.display()
    )
}

/// Returns the reason why no process can have this working directory; none if one can.
pub(crate) fn directory_problem(directory: &Path) -> Option<String> {
    let what = match directory.metadata() {
        Err(error) => not_found(directory, &error),
        Ok(metadata) if !metadata.is_dir() => "is not a directory".to_owned(),
        Ok(_) if can_be_entered(directory) => return None,
        Ok(_) => "cannot be entered: it needs the permission `x`, see `chmod`".to_owned(),
    };
    Some(format!(
        "working directory `{}` {what}",
        directory.display()
    ))
}

/// Describes a directory whose metadata cannot be read.
fn not_found(directory: &Path, error: &io::Error) -> String {
    match files::dangling_link(directory) {
        Some(link) => format!("cannot be entered: {}", files::to_nothing(link)),
        None if files::is_missing(error) => "does not exist".to_owned(),
        None => format!("cannot be entered: {error}"),
    }
}

/// Returns whether the error is ENOEXEC, for which the standard library has no name.
fn is_no_format(error: &io::Error) -> bool {
    #[cfg(unix)]
    let number = libc::ENOEXEC;
    #[cfg(windows)]
    let number = windows_sys::Win32::Foundation::ERROR_BAD_EXE_FORMAT.cast_signed();
    error.raw_os_error() == Some(number)
}

/// Returns the reason why a program that exists may not be executed, if its file and its interpreter show one.
fn permission_problem(program: &Path, working_dir: &Path) -> Option<String> {
    let display = program.display();
    if program.is_dir() {
        return Some(format!("program `{display}` is a directory"));
    }
    if !program.exists() {
        return None;
    }
    if is_kept_from_execution(program) {
        return Some(format!(
            "program `{display}` is on a file system that is mounted with `noexec`: move it, or name its interpreter \
             before it"
        ));
    }
    if !is_executable(program) {
        return Some(format!(
            "program `{display}` is not executable: run `chmod +x` on it"
        ));
    }
    let name = interpreter(program)?;
    let interpreter = working_dir.join(&name);
    let is_fine = interpreter.is_file() && is_executable(&interpreter);
    (interpreter.exists() && !is_fine)
        .then(|| format!("interpreter `{name}` of `{display}` is not executable"))
}

/// Returns whether a file has execute permission, but its file system is mounted with `noexec`.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_kept_from_execution(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    use rustix::fs::StatVfsMountFlags;

    let is_noexec = rustix::fs::statvfs(file)
        .is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NOEXEC));
    is_noexec && std::fs::metadata(file).is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_kept_from_execution(_file: &Path) -> bool {
    false
}

/// Describes a file whose format the system does not execute.
fn format_problem(program: &Path) -> String {
    let display = program.display();
    if beginning(program).is_some_and(|bytes| bytes.contains(&0)) {
        return format!("program `{display}` is for another system or processor, or damaged");
    }
    format!("program `{display}` is not in an executable format: a script needs {INTERPRETER}")
}

/// Returns the first bytes of a regular file.
fn beginning(file: &Path) -> Option<Vec<u8>> {
    let mut start = vec![0; 256];
    let file = file.is_file().then(|| std::fs::File::open(file));
    let length = file?.ok()?.read(&mut start).ok()?;
    start.truncate(length);
    Some(start)
}

/// Returns the interpreter that a script names after `#!` in its first line. As for the system, only spaces and tabs separate words:
/// a carriage return is a part of the name.
fn interpreter(script: &Path) -> Option<String> {
    let start = beginning(script)?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
    words.next().map(str::to_owned)
}

/// Describes the problem with the interpreter that a script names after `#!` in its first line.
fn interpreter_problem(script: &Path, working_dir: &Path) -> Option<String> {
    let name = interpreter(script)?;
    let is_missing = !working_dir.join(&name).exists();
    is_missing.then(|| format!("interpreter `{name}` of `{}` not found", script.display()))
}

/// Describes the variable or argument that is too large by itself. If none is, describes the total size.
fn too_long(spec: &Spec<'_>) -> String {
    let variables = spec.environment.lengths();
    if let Some((name, length)) = variables.iter().max_by_key(|(_, length)| *length)
        && *length > LARGEST_VARIABLE
    {
        return format!(
            "environment variable `{name}` is too large: {length} bytes, at most {LARGEST_VARIABLE} are allowed"
        );
    }
    let arguments = argument_lengths(spec);
    if let Some(length) = arguments
        .iter()
        .max()
        .filter(|length| **length > LARGEST_VARIABLE)
    {
        return format!(
            "an argument of the command is too large: {length} bytes, at most {LARGEST_VARIABLE} are allowed"
        );
    }
    let of_variables: usize = variables.iter().map(|(_, length)| length).sum();
    let of_arguments: usize = arguments.iter().sum();
    let what = if of_arguments > of_variables {
        "arguments"
    } else {
        "variables"
    };
    format!(
        "the command and its environment ({} bytes) are larger than the system allows: use fewer or smaller {what}",
        of_variables + of_arguments
    )
}

/// Returns the length of each argument. A path that is executed instead of the program has its own arguments.
fn argument_lengths(spec: &Spec<'_>) -> Vec<usize> {
    if !spec.direct.is_empty() {
        return spec.direct.iter().map(|word| word.len()).collect();
    }
    match &spec.args {
        Args::List(args) => args.iter().map(|arg| arg.len()).collect(),
        #[cfg(windows)]
        Args::Verbatim(line) => vec![line.len()],
    }
}
