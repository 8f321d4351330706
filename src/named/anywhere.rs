//! Which files a hook's entry names anywhere on the system: what decides what the hook does, wherever it lies.
//!
//! The rule is that of approvals, which look only within a project. Does not know why it is asked.

use std::path::{Path, PathBuf};

use super::look::{Lookup, has_ending};
use crate::hook::{Hook, Words, is_glob};

/// Where the system's own programs lie, which belong to no hook.
const SYSTEM_PROGRAMS: [&str; 6] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/nix/store/",
    "/run/current-system/",
];

/// The files that a hook's entry names.
#[derive(Debug, Default)]
pub(crate) struct NamedAnywhere {
    /// Those that are there, and the links that lead to them: scripts, what interpreters run, `inputs`.
    pub(crate) existing: Vec<PathBuf>,
    /// What has the name of a script, and may be created.
    pub(crate) possible: Vec<PathBuf>,
}

/// Returns the files that a hook names now. `host_dir` is where a hook begins that is of no project. Programs that are found
/// through `PATH`, and those of the system, do not count.
pub(crate) fn named_anywhere(hook: &Hook, host_dir: &Path) -> NamedAnywhere {
    if hook.answers() {
        return NamedAnywhere::default();
    }
    let base = hook.base_dir().unwrap_or(host_dir);
    // A lookup begins at a path without links.
    let base = base.canonicalize().unwrap_or_else(|_| base.to_owned());
    let working_dir = base.join(hook.working_dir().unwrap_or(Path::new("")));
    let words = words_of(hook, &base, &working_dir);
    let possible = possible(&words, [&working_dir, &base]);
    let root = base.ancestors().last().unwrap_or(&base);
    let lookup = Lookup {
        root,
        base: base.strip_prefix(root).unwrap_or(Path::new("")),
        working_dir: &working_dir,
        words: &words,
        places: Vec::new(),
        directories: Vec::new(),
        is_skipped: &|_| false,
        digest: None,
    };
    let named = lookup.files_of(hook);
    let names = named.files.keys().filter(|name| !name.contains('\0'));
    NamedAnywhere {
        existing: names.map(|name| root.join(name)).collect(),
        possible,
    }
}

/// Reads the words of a hook, with its home directory in place of `~`, and without the system's programs.
fn words_of(hook: &Hook, base: &Path, working_dir: &Path) -> Words {
    let mut words = Words::of(hook, &|name| value_of(name, hook, base, working_dir));
    let home = home::home_dir();
    let lists = words.runs.iter_mut().flat_map(|run| &mut run.words);
    let lists = lists.map(|word| &mut word.names);
    for names in lists.chain([&mut words.names, &mut words.written]) {
        names.retain(|name| !is_of_system(name));
        for name in names {
            if let (Some(rest), Some(home)) = (name.strip_prefix("~/"), &home) {
                *name = home.join(rest).to_string_lossy().into_owned();
            }
        }
    }
    words
}

/// Returns the value of a variable that names a directory, or that the hook inherits.
fn value_of(name: &str, hook: &Hook, base: &Path, working_dir: &Path) -> Option<String> {
    let text = |path: PathBuf| path.into_os_string().into_string().ok();
    if let Some(own) = hook.env().get(name) {
        return Some(own.clone());
    }
    match name {
        // Each directory in which the word is looked up.
        "PWD" => Some(".".to_owned()),
        "HOME" => text(home::home_dir()?),
        name if name.ends_with("_WORKING_DIR") && hook.protocol().is_none() => {
            text(working_dir.to_owned())
        }
        name => {
            let mut directories = hook.directories(base).into_iter();
            let of_protocol = directories.find(|(known, _)| known == name);
            of_protocol.map_or_else(|| std::env::var(name).ok(), |(_, path)| text(path))
        }
    }
}

/// Returns where the words lead that are names of scripts, in these directories.
fn possible(words: &Words, starts: [&PathBuf; 2]) -> Vec<PathBuf> {
    let is_script = |name: &str| has_ending(Path::new(name)) && !name.contains(char::is_whitespace);
    let runs = words.runs.iter().flat_map(|run| &run.words);
    let run = runs.filter_map(|word| word.names.first());
    let names = words.names.iter().chain(run);
    let scripts = names.filter(|name| is_script(name) && !is_glob(name));
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
