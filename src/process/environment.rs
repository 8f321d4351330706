//! The environment of a process: the variables that it inherits, and those that are set for it.

use std::borrow::Cow;
#[cfg(unix)]
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::process::Command;

/// The `PATH` of a hook that inherits none. Without a `PATH` bash would use its own default, which ends with
/// the working directory, and so would find files of the project.
#[cfg(unix)]
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The environment of one process. Of two values for one name, the later one wins.
#[derive(Debug)]
pub(crate) struct Environment<'a> {
    inherited: Inherited<'a>,
    set: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// Which of the host's own variables the process inherits.
#[derive(Debug)]
pub(crate) enum Inherited<'a> {
    AllBut(&'a [String]),
    Only(Vec<(OsString, OsString)>),
}

impl<'a> Environment<'a> {
    pub(crate) fn new(inherited: Inherited<'a>, set: Vec<(Cow<'a, str>, Cow<'a, str>)>) -> Self {
        Self { inherited, set }
    }

    pub(crate) fn set(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) {
        self.set.push((name.into(), value.into()));
    }

    pub(crate) fn sets(&self, name: &str) -> bool {
        self.set.iter().any(|(set, _)| set == name)
    }

    /// Adds the variables to the command. `variable` is added before those that were set, which win.
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
                #[cfg(unix)]
                command.env("PATH", DEFAULT_PATH);
                command.envs(variables);
            }
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
            Inherited::AllBut(names) => {
                let is_kept = |name: &OsString| !names.iter().any(|it| name == it.as_str());
                std::env::vars_os()
                    .filter(|(name, _)| is_kept(name))
                    .collect()
            }
            Inherited::Only(variables) => {
                let path = (OsString::from("PATH"), OsString::from(DEFAULT_PATH));
                [path]
                    .into_iter()
                    .chain(variables.iter().cloned())
                    .collect()
            }
        };
        entries.insert(variable.0.into(), variable.1.into());
        let set = self.set.iter();
        entries.extend(set.map(|(name, value)| ((&**name).into(), (&**value).into())));
        entries
    }

    /// The `PATH` on which the process will look for programs.
    #[cfg(unix)]
    pub(super) fn path(&self) -> OsString {
        if let Some((_, path)) = self.set.iter().rev().find(|(name, _)| name == "PATH") {
            return (**path).into();
        }
        let inherited = match &self.inherited {
            Inherited::AllBut(_) => std::env::var_os("PATH"),
            Inherited::Only(variables) => {
                let path = variables.iter().find(|(name, _)| name == "PATH");
                path.map(|(_, path)| path.clone())
            }
        };
        inherited.unwrap_or_else(|| DEFAULT_PATH.into())
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
