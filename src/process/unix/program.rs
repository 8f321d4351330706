//! Finds the file of a program's name. On Windows `Command` applies the operating system's own rules (which
//! know `.exe`); the working directory is not searched there.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::process::start::{StartError, StartErrorKind, is_executable};
use crate::process::{Spec, program_directories};

/// Returns the file of the program. A name with a slash is relative to the working directory; any other
/// name is searched for on the `PATH` that the program will have.
pub(super) fn find_program(spec: &Spec<'_>) -> Result<OsString, StartError> {
    let name = &spec.program;
    program_of(name, spec)
        .map(PathBuf::into_os_string)
        .ok_or_else(|| StartError {
            kind: StartErrorKind::NotFound,
            message: format!("program `{}` not found", name.to_string_lossy()),
        })
}

/// Returns the file of any program name; none if there is no such file.
pub(crate) fn program_of(name: &OsStr, spec: &Spec<'_>) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(match Path::new(name) {
            path if path.is_absolute() => path.to_owned(),
            // The path has no `./`, because people read it.
            path => spec.working_dir.join(path).components().collect(),
        });
    }
    // The bare name is never passed on: the system would search by its own rules.
    find_on_path(name, &spec.environment.path())
}

fn find_on_path(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let candidates: Vec<PathBuf> = program_directories(path)
        .map(|directory| directory.join(name))
        .filter(|file| file.is_file())
        .collect();
    // The first executable file counts, as in execvp. If none is executable, the first file is chosen, so that its error
    // explains why.
    let chosen = candidates
        .iter()
        .find(|file| is_executable(file))
        .or(candidates.first());
    chosen.cloned()
}
