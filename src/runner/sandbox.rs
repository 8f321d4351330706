//! What confines a hook, with the real places of the paths that its sandboxes name.
//!
//! Knows paths, not how a process is confined.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::entry::{Failure, FailureKind, Sandbox};
use crate::hook::Hook;
use crate::process::{Confinement, Reach, directory_problem};

/// Confines all hooks, where tests are built so: what a sandbox with all rights changes, each test then sees.
static IN_TESTS: LazyLock<Option<Sandbox>> = LazyLock::new(|| {
    let all = || Sandbox::new().writing(["/"]).with_network();
    cfg!(forge_hooks_confined).then(all)
});

/// Returns what the hook may reach; none if it is in no sandbox.
///
/// # Errors
/// Where no sandbox is possible, and for a path that is not there or leads elsewhere.
pub(super) fn confinement(hook: &Hook, working_dir: &Path) -> Result<Option<Confinement>, Failure> {
    let failure = |why: String| Failure::new(FailureKind::NoSandbox, why);
    let project = hook.base_dir().unwrap_or(working_dir);
    let (mut layers, mut network) = (Vec::new(), true);
    // A project must not choose what a path of the host means.
    let of_host = hook.host_sandbox().map(|sandbox| (sandbox, project));
    let own = hook.sandbox().map(|sandbox| (sandbox, working_dir));
    let of_tests = IN_TESTS.as_ref().map(|sandbox| (sandbox, working_dir));
    for (sandbox, base) in of_host.into_iter().chain(own).chain(of_tests) {
        Sandbox::support().map_err(|error| failure(error.to_string()))?;
        if let Some(why) = directory_problem(working_dir) {
            return Err(Failure::new(FailureKind::NoWorkingDir, why));
        }
        let places = Places { base, project };
        layers.push(places.reach(sandbox).map_err(failure)?);
        network &= sandbox.network();
    }
    Ok((!layers.is_empty()).then_some(Confinement { layers, network }))
}

/// What the paths of a sandbox are relative to.
struct Places<'a> {
    base: &'a Path,
    /// Relative paths must not lead out of it.
    project: &'a Path,
}

impl Places<'_> {
    fn reach(&self, sandbox: &Sandbox) -> Result<Reach, String> {
        let read = sandbox.read().map(|paths| self.all("read", paths));
        Ok(Reach {
            read: read.transpose()?,
            write: self.all("write", sandbox.write())?,
        })
    }

    fn all(&self, key: &str, paths: &[String]) -> Result<Vec<PathBuf>, String> {
        let places = paths.iter().map(|path| {
            self.place(path)
                .map_err(|why| format!("`sandbox.{key}`: `{path}` {why}"))
        });
        places.collect()
    }

    /// Returns the place where a path leads.
    fn place(&self, path: &str) -> Result<PathBuf, String> {
        let home = match path.strip_prefix('~') {
            Some(below) if below.is_empty() || below.starts_with('/') => {
                let home = home::home_dir().ok_or("needs a home directory, and there is none")?;
                Some(home.join(below.trim_start_matches('/')))
            }
            Some(_) => return Err("is not a path: after `~` comes `/`".to_owned()),
            None => None,
        };
        let is_relative = home.is_none() && Path::new(path).is_relative();
        let whole = home.unwrap_or_else(|| self.base.join(path));
        let place = real(&whole)?;
        // What a project has put there must not choose another place, however the path comes into the project.
        let project = real(self.project)?;
        let is_in_project = |above: &Path| real(above).is_ok_and(|it| it.starts_with(&project));
        let passes = is_relative || whole.ancestors().any(is_in_project);
        if passes && !place.starts_with(&project) {
            return Err(format!(
                "leads out of `{}`, to `{}`: write that path in full",
                self.project.display(),
                place.display()
            ));
        }
        Ok(place)
    }
}

fn real(path: &Path) -> Result<PathBuf, String> {
    path.canonicalize()
        .map_err(|error| format!("is not there (`{}`): {error}", path.display()))
}
