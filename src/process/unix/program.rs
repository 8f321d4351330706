//! Which file a program's name means. On Windows the name is left to the operating system's own rules (which
//! know of `.exe`), as `Command` applies them: there the working directory is not searched.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::process::Spec;
use crate::process::start::{StartError, StartErrorKind, is_executable};

/// The file that the program's name means: a name with a slash counts from the working directory,
/// any other is looked for on the `PATH` that the program will have.
pub(super) fn find_program(spec: &Spec<'_>) -> Result<OsString, StartError> {
    let name = &spec.program;
    program_of(name, spec)
        .map(PathBuf::into_os_string)
        .ok_or_else(|| StartError {
            kind: StartErrorKind::NotFound,
            message: format!("program `{}` not found", name.to_string_lossy()),
        })
}

/// The same for any name, where there is such a file.
pub(crate) fn program_of(name: &OsStr, spec: &Spec<'_>) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        // Without `./`, for people to see.
        return Some(spec.working_dir.join(name).components().collect());
    }
    // The name alone is never handed on: the system would search in its own way.
    find_on_path(name, &spec.environment.path())
}

fn find_on_path(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    // An empty entry means the current directory to a shell. It is passed over: what lies in a
    // project must not take the place of a program.
    let candidates: Vec<PathBuf> = std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .filter(|file| file.is_file())
        .collect();
    // As execvp: the first that may be executed; else the first, whose error then says why not.
    let chosen = candidates
        .iter()
        .find(|file| is_executable(file))
        .or(candidates.first());
    chosen.cloned()
}
