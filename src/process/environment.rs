//! The environment of a process: the variables that it inherits, and those that are set for it.

use std::borrow::Cow;
#[cfg(unix)]
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

/// The `PATH` of a process that inherits none, or none with an absolute directory. Without a `PATH` bash would use its
/// own default, which ends with the working directory, and so would find files of the project.
#[cfg(unix)]
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The environment of one process. Of two values for one name, the later one wins.
#[derive(Debug)]
pub(crate) struct Environment<'a> {
    inherited: Inherited<'a>,
    /// The `PATH` that replaces the inherited one, if that cannot be inherited as it is.
    #[cfg(unix)]
    safe_path: Option<OsString>,
    set: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// The variables that the process inherits: all of the host's except some, or only these.
#[derive(Debug)]
pub(crate) enum Inherited<'a> {
    AllBut(&'a [String]),
    Only(Vec<(OsString, OsString)>),
}

#[cfg(unix)]
impl Inherited<'_> {
    fn value(&self, name: &str) -> Option<OsString> {
        match self {
            Self::AllBut(_) => std::env::var_os(name),
            Self::Only(variables) => last_value(variables, name),
        }
    }
}

/// Returns the value of a variable: the last one, as the process sees it.
pub(crate) fn last_value(variables: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    let mut variables = variables.iter().rev();
    let set = variables.find(|(set, _)| set == name);
    set.map(|(_, value)| value.clone())
}

impl<'a> Environment<'a> {
    pub(crate) fn new(inherited: Inherited<'a>, set: Vec<(Cow<'a, str>, Cow<'a, str>)>) -> Self {
        Self {
            #[cfg(unix)]
            safe_path: replacement(inherited.value("PATH").as_deref()),
            inherited,
            set,
        }
    }

    pub(crate) fn set(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) {
        self.set.push((name.into(), value.into()));
    }

    pub(crate) fn sets(&self, name: &str) -> bool {
        self.set.iter().any(|(set, _)| set == name)
    }

    /// Adds the variables to the command. `variable` is added first, so that the variables that were set have priority.
    pub(super) fn apply_to(&self, command: &mut Command, variable: (&str, &OsStr)) {
        match &self.inherited {
            Inherited::AllBut(names) => {
                for name in *names {
                    command.env_remove(name);
                }
            }
            Inherited::Only(variables) => {
                let variables = variables.iter().map(|(name, value)| (name, value));
                command.env_clear();
                command.envs(variables);
            }
        }
        #[cfg(unix)]
        if let Some(path) = &self.safe_path {
            command.env("PATH", path);
        }
        command.env(variable.0, variable.1);
        for (name, value) in &self.set {
            command.env(&**name, &**value);
        }
    }

    /// Returns all variables of the process, as [`apply_to`](Self::apply_to) makes them.
    #[cfg(unix)]
    pub(super) fn entries(&self, variable: (&str, &OsStr)) -> BTreeMap<OsString, OsString> {
        let mut entries: BTreeMap<OsString, OsString> = match &self.inherited {
            Inherited::AllBut(_) => std::env::vars_os().collect(),
            Inherited::Only(variables) => variables.iter().cloned().collect(),
        };
        if let Inherited::AllBut(names) = &self.inherited {
            for name in *names {
                entries.remove(OsStr::new(name));
            }
        }
        if let Some(path) = &self.safe_path {
            entries.insert("PATH".into(), path.clone());
        }
        entries.insert(variable.0.into(), variable.1.into());
        let set = self.set.iter();
        entries.extend(set.map(|(name, value)| ((&**name).into(), (&**value).into())));
        entries
    }

    /// Returns the `PATH` on which the process will look for programs.
    #[cfg(unix)]
    pub(super) fn path(&self) -> OsString {
        if let Some((_, path)) = self.set.iter().rev().find(|(name, _)| name == "PATH") {
            return (**path).into();
        }
        let path = self
            .safe_path
            .clone()
            .or_else(|| self.inherited.value("PATH"));
        path.unwrap_or_default()
    }

    /// Returns the value that the process inherits.
    #[cfg(unix)]
    pub(crate) fn inherited(&self, name: &str) -> Option<OsString> {
        self.inherited.value(name)
    }

    /// Returns the variables, each with its length as `NAME=value`.
    pub(super) fn lengths(&self) -> Vec<(String, usize)> {
        let of = |name: &str, length: usize| (name.to_owned(), name.len() + 1 + length);
        let inherited = match &self.inherited {
            Inherited::AllBut(_) => std::env::vars_os().collect(),
            Inherited::Only(variables) => variables.clone(),
        };
        let inherited = inherited.iter();
        inherited
            .map(|(name, value)| of(&name.to_string_lossy(), value.len()))
            .chain(self.set.iter().map(|(name, value)| of(name, value.len())))
            .collect()
    }
}

/// Returns the directories of a `PATH` in which programs are looked up. An empty entry means the working directory, and a
/// relative one is below it: they are skipped, since a file of the project must not replace a program.
pub(crate) fn program_directories(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path).filter(|directory| directory.is_absolute())
}

/// Returns the `PATH` that a process gets instead of this one; none if all entries of this one are absolute. It is called
/// for each process, since the host may change its environment at any time.
#[cfg(unix)]
fn replacement(path: Option<&OsStr>) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt;

    let path = path.unwrap_or_default();
    let mut entries = path.as_bytes().split(|byte| *byte == b':');
    if entries.all(|entry| entry.starts_with(b"/")) {
        return None;
    }
    // The directories come from such a list, so they can be joined to one.
    let absolute = std::env::join_paths(program_directories(path)).unwrap_or_default();
    Some(if absolute.is_empty() {
        DEFAULT_PATH.into()
    } else {
        absolute
    })
}
