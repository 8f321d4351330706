//! The files that a hook's entry names anywhere on the system: those that determine the hook's behavior, wherever they are.
//!
//! The rule is that of approvals, which look only within a project. Does not know the purpose of the lookup.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::look::{Lookup, Named, has_ending, is_data};
use crate::hook::{Hook, Pieces, is_glob};

/// The directories of the system's own programs, which belong to no hook.
const SYSTEM_PROGRAMS: [&str; 6] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/nix/store/",
    "/run/current-system/",
];

/// The most scripts of a command whose changes are noticed without an approval.
const MOST_SCRIPTS: usize = 8;

/// The files that a hook's entry names.
#[derive(Debug, Default)]
pub(crate) struct NamedAnywhere {
    /// The files that exist, and the links that lead to them: scripts, files that interpreters run, `inputs`.
    pub(crate) existing: Vec<PathBuf>,
    /// Paths that have the name of a script, and that a tool may create.
    pub(crate) possible: Vec<PathBuf>,
}

/// A function that returns the value of a variable that hooks inherit.
pub(crate) type GetVariable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Returns the files that a hook names now. A hook of no project begins in `host_dir`, a path without links. Programs that
/// are found through `PATH`, and those of the system, do not count.
pub(crate) fn named_anywhere(
    hook: &Hook,
    host_dir: &Path,
    inherited: GetVariable<'_>,
) -> NamedAnywhere {
    if hook.answers() {
        return NamedAnywhere::default();
    }
    let places = Places::of(hook, host_dir);
    let pieces = pieces_of(hook, &places, inherited);
    let possible = possible(&pieces, [&places.working_dir, &places.base]);
    let named = places.look_up(&pieces, hook);
    let names = named.files.keys().filter(|name| !name.contains('\0'));
    NamedAnywhere {
        existing: names.map(|name| places.root().join(name)).collect(),
        possible,
    }
}

/// Returns the first scripts that a hook's command names now, and the links that lead to them. `host_dir` has no links.
pub(super) fn named_by_command(hook: &Hook, host_dir: &Path) -> Vec<PathBuf> {
    if hook.answers() {
        return Vec::new();
    }
    let places = Places::of(hook, host_dir);
    let pieces = pieces_of(hook, &places, &|name| std::env::var_os(name));
    let hook = hook.clone().with_inputs([""; 0]);
    let named = places.look_up(&pieces, &hook);
    let names = named.files.keys().filter(|name| !name.contains('\0'));
    let paths = names.map(|name| places.root().join(name));
    paths
        .filter(|path| !is_data(path))
        .take(MOST_SCRIPTS)
        .collect()
}

/// The directories at which the names of a hook begin.
struct Places {
    /// The base directory without links, as a lookup needs it.
    base: PathBuf,
    working_dir: PathBuf,
}

impl Places {
    fn of(hook: &Hook, host_dir: &Path) -> Self {
        let base = match hook.base_dir() {
            Some(base) => without_links(base),
            None => host_dir.to_owned(),
        };
        let working_dir = base.join(hook.working_dir().unwrap_or(Path::new("")));
        Self { base, working_dir }
    }

    fn root(&self) -> &Path {
        self.base.ancestors().last().unwrap_or(&self.base)
    }

    fn look_up(&self, pieces: &Pieces, hook: &Hook) -> Named {
        let root = self.root();
        let lookup = Lookup {
            root,
            base: self.base.strip_prefix(root).unwrap_or(Path::new("")),
            working_dir: &self.working_dir,
            pieces,
            places: Vec::new(),
            directories: Vec::new(),
            notices_new: true,
            is_skipped: &|_| false,
            digest: None,
        };
        lookup.files_of(hook)
    }
}

/// Returns a directory's path without links, as lookups need it.
pub(crate) fn without_links(directory: &Path) -> PathBuf {
    directory
        .canonicalize()
        .unwrap_or_else(|_| directory.to_owned())
}

/// Reads the pieces of a hook, without the system's programs.
fn pieces_of(hook: &Hook, places: &Places, inherited: GetVariable<'_>) -> Pieces {
    let mut pieces = Pieces::of(hook, &|name| value_of(name, hook, places, inherited));
    pieces.names.retain(|name| !is_of_system(name));
    pieces
}

/// Returns the value of a variable that names a directory, or that the hook inherits.
fn value_of(
    name: &str,
    hook: &Hook,
    places: &Places,
    inherited: GetVariable<'_>,
) -> Option<String> {
    let text = |path: PathBuf| path.into_os_string().into_string().ok();
    if let Some(own) = hook.env().get(name) {
        return Some(own.clone());
    }
    match name {
        // `.` is resolved against each directory in which the word is looked up.
        "PWD" => Some(".".to_owned()),
        "HOME" => text(home::home_dir()?),
        name if name.ends_with("_WORKING_DIR") && hook.protocol().is_none() => {
            text(places.working_dir.clone())
        }
        name => {
            let mut directories = hook.directories(&places.base).into_iter();
            let of_protocol = directories.find(|(known, _)| known == name);
            match of_protocol {
                Some((_, path)) => text(path),
                None => inherited(name)?.into_string().ok(),
            }
        }
    }
}

/// Returns the targets of those pieces that are names of scripts, in these directories.
fn possible(pieces: &Pieces, starts: [&PathBuf; 2]) -> Vec<PathBuf> {
    let is_script =
        |name: &&String| has_ending(Path::new(name)) && !name.contains(char::is_whitespace);
    let scripts = pieces.names.iter();
    let scripts = scripts.filter(|name| is_script(name) && !is_glob(name));
    let mut paths: Vec<PathBuf> = scripts
        .flat_map(|name| starts.map(|start| start.join(name)))
        .collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

fn is_of_system(name: &str) -> bool {
    let mut directories = SYSTEM_PROGRAMS.iter();
    directories.any(|directory| name.starts_with(directory))
        || cfg!(windows) && is_below_variable(name, "SystemRoot")
        || cfg!(windows) && is_below_variable(name, "ProgramFiles")
}

fn is_below_variable(name: &str, variable: &str) -> bool {
    let directory = std::env::var_os(variable);
    directory.is_some_and(|directory| Path::new(name).starts_with(directory))
}
