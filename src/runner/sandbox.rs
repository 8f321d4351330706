//! The confinement of a hook, with the places of the paths that its sandboxes name.
//!
//! Knows paths as texts. Does not know how they are opened, or how a process is confined.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::entry::{Failure, FailureKind, Sandbox};
use crate::hook::Hook;
use crate::process::{Confinement, Place, Reach, check_place, directory_problem};

/// The directories, not chosen by a hook, at which paths of sandboxes begin, and the confinement of all hooks.
#[derive(Debug)]
pub(crate) struct Bases {
    /// The real paths of the directories, as of the first look: a hook may replace one with a link.
    known: Mutex<BTreeMap<PathBuf, Arc<Path>>>,
    /// The sandbox that confines each hook, besides its own.
    of_all: Option<Sandbox>,
}

/// The sandbox of all hooks of a test, with all rights: in builds with this flag, each test shows what a sandbox changes.
fn of_tests() -> Option<Sandbox> {
    if cfg!(forge_hooks_confined) && std::env::var_os("FORGE_HOOKS_TEST_CONFINED").is_some() {
        return Some(Sandbox::new().writing(["/"]).with_network());
    }
    None
}

impl Bases {
    pub(crate) fn new(of_all: Option<Sandbox>) -> Self {
        Self {
            known: Mutex::default(),
            of_all: of_all.or_else(of_tests),
        }
    }

    /// Returns the real path of a directory, as of the first look at the directory.
    pub(crate) fn real(&self, directory: &Path) -> Arc<Path> {
        let directory = &std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(real) = known().get(directory) {
            return Arc::clone(real);
        }
        // The lock is not held here: a file system may take long to answer. If the directory does not exist, the part of its
        // path that exists is resolved: a part that is created later has no link.
        let mut ancestors = directory.ancestors();
        let real = ancestors.find_map(|above| {
            let rest = directory.strip_prefix(above).ok()?;
            Some(above.canonicalize().ok()?.join(rest))
        });
        let real = real.unwrap_or_else(|| directory.clone());
        let mut known = known();
        let first = known.entry(directory.to_owned());
        Arc::clone(first.or_insert_with(|| Arc::from(real)))
    }

    /// Returns the access of the hook; none if it is in no sandbox. The hook's own `working_dir` begins at `base`.
    ///
    /// # Errors
    /// If no sandbox is possible, and for a path that does not exist, has a link, or leads elsewhere.
    pub(super) fn confinement(
        &self,
        hook: &Hook,
        base: &Path,
        working_dir: &Path,
    ) -> Result<Option<Confinement>, Failure> {
        let of_all = self.of_all.as_ref();
        if hook.sandboxes().chain(of_all).next().is_none() {
            return Ok(None);
        }
        let failure = |why: String| Failure::new(FailureKind::NoSandbox, why);
        Sandbox::support().map_err(|error| failure(error.to_string()))?;
        if let Some(why) = directory_problem(working_dir) {
            return Err(Failure::new(FailureKind::NoWorkingDir, why));
        }
        let paths = Paths {
            bases: self,
            project: (base, self.real(base)),
            limit: hook.base_dir().unwrap_or(working_dir),
        };
        let own_dir = hook
            .working_dir()
            .filter(|_| hook.sandboxes().next().is_some());
        let own_dir = own_dir.map(|own| {
            let name = format!("`working_dir`: `{}`", own.display());
            opened(paths.below(working_dir, name))
        });
        let own_dir = own_dir.transpose().map_err(failure)?;
        let (mut layers, mut network) = (Vec::new(), true);
        // A project must not choose the meaning of a path of the host.
        let of_host = hook.host_sandbox().map(|sandbox| (sandbox, paths.limit));
        let own = hook.sandbox().map(|sandbox| (sandbox, working_dir));
        let of_all = of_all.map(|sandbox| (sandbox, working_dir));
        for (sandbox, start) in of_host.into_iter().chain(own).chain(of_all) {
            layers.push(paths.reach(sandbox, start).map_err(failure)?);
            network &= sandbox.network();
        }
        Ok(Some(Confinement {
            layers,
            network,
            working_dir: own_dir,
        }))
    }
}

/// The rules by which the paths of a hook's sandboxes are resolved.
struct Paths<'a> {
    bases: &'a Bases,
    /// The project's root, or the working directory of a hook without one: the path as it is configured, and its real path.
    project: (&'a Path, Arc<Path>),
    /// The directory that relative paths must not lead out of.
    limit: &'a Path,
}

impl Paths<'_> {
    /// Returns the access that a sandbox allows whose relative paths begin at `start`.
    fn reach(&self, sandbox: &Sandbox, start: &Path) -> Result<Reach, String> {
        let all = |key: &str, paths: &[String]| {
            let places = paths.iter().map(|path| {
                let name = format!("`sandbox.{key}`: `{path}`");
                opened(self.place(path, start, name)?)
            });
            places.collect::<Result<Vec<_>, _>>()
        };
        let read = sandbox.read().map(|paths| all("read", paths));
        Ok(Reach {
            read: read.transpose()?,
            write: all("write", sandbox.write())?,
        })
    }

    fn place(&self, path: &str, start: &Path, name: String) -> Result<Place, String> {
        if let Some(below) = path.strip_prefix('~') {
            if !below.is_empty() && !below.starts_with('/') {
                return Err(format!("{name} is not a path: after `~` comes `/`"));
            }
            let home = home::home_dir()
                .ok_or_else(|| format!("{name} needs a home directory, and there is none"))?;
            let home = self.bases.real(&home);
            let whole = without_dots(&home.join(below.trim_start_matches('/')));
            return Ok(match whole.strip_prefix(&home) {
                Ok(below) => self.at(&home, below, name),
                Err(_) => self.below(&whole, name),
            });
        }
        let whole = start.join(path);
        let place = self.below(&whole, name);
        // A relative path of a project must not choose a place outside of it.
        let is_outside = || {
            let limit = self.below(self.limit, String::new());
            let [limit, whole] = [&limit, &place].map(|place| place.base.join(&place.below));
            !whole.starts_with(limit)
        };
        if Path::new(path).is_relative() && is_outside() {
            return Err(format!(
                "{} leads out of `{}`, to `{}`: write that path in full",
                place.name,
                self.limit.display(),
                without_dots(&whole).display()
            ));
        }
        Ok(place)
    }

    /// Returns the place of a whole path: below the project's root, else below `/`.
    fn below(&self, whole: &Path, name: String) -> Place {
        let whole = without_dots(whole);
        let (configured, real) = &self.project;
        let below = whole.strip_prefix(without_dots(configured));
        match below.or_else(|_| whole.strip_prefix(real)) {
            Ok(below) => self.at(real, below, name),
            Err(_) => {
                let root: PathBuf = whole.components().take_while(is_root).collect();
                let below = whole.strip_prefix(&root).unwrap_or(&whole);
                self.at(&root, below, name)
            }
        }
    }

    fn at(&self, base: &Path, below: &Path, name: String) -> Place {
        Place {
            name,
            base: base.to_owned(),
            below: below.to_owned(),
        }
    }
}

fn is_root(component: &Component<'_>) -> bool {
    matches!(component, Component::RootDir | Component::Prefix(_))
}

/// Checks that the place can be opened.
fn opened(place: Place) -> Result<Place, String> {
    check_place(&place).map_err(|refused| refused.to_string())?;
    Ok(place)
}

/// Returns a whole path in which `..` is resolved by its text, which is right for a path without links.
fn without_dots(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut whole = PathBuf::new();
    for component in path.components() {
        match component {
            // The parent of `/` is `/`.
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            other => whole.push(other),
        }
    }
    whole
}
