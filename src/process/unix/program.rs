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
    if name.as_encoded_bytes().contains(&b'/') {
        // Without `./`, for people to see.
        let path: PathBuf = spec.working_dir.join(name).components().collect();
        return Ok(path.into_os_string());
    }
    let path = spec.environment.path();
    // The name alone is never handed on: the system would search in its own way.
    find_on_path(
        name,
        &path.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into()),
    )
    .ok_or_else(|| StartError {
        kind: StartErrorKind::NotFound,
        message: format!("program `{}` not found", name.to_string_lossy()),
    })
}

/// The file of the program, where it is found.
pub(crate) fn program_of(spec: &Spec<'_>) -> Option<PathBuf> {
    find_program(spec).ok().map(PathBuf::from)
}

fn find_on_path(name: &OsStr, path: &OsStr) -> Option<OsString> {
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
    chosen.map(|file| file.clone().into_os_string())
}
