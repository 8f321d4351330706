//! What a process finds in its environment: what it inherits, and what is set for it.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::process::Command;

/// Where there is none: bash would take its own, which ends with the working directory, and so with what
/// lies in a project.
#[cfg(unix)]
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The environment of one process. What is set later wins.
#[derive(Debug)]
pub(crate) struct Environment<'a> {
    inherited: Inherited<'a>,
    set: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// Of the variables that this program has itself.
#[derive(Debug)]
pub(crate) enum Inherited<'a> {
    AllBut(&'a [String]),
    Only(Vec<(OsString, OsString)>),
}

impl<'a> Environment<'a> {
    pub(crate) fn new(inherited: Inherited<'a>) -> Self {
        /// Most hooks have no more. They take less than a kibibyte: for each larger piece of memory glibc
        /// goes through all that is free, which costs as much as the rest of this.
        const USUAL: usize = 20;
        Self {
            inherited,
            set: Vec::with_capacity(USUAL),
        }
    }

    pub(crate) fn set(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) {
        self.set.push((name.into(), value.into()));
    }

    pub(crate) fn sets(&self, name: &str) -> bool {
        self.set.iter().any(|(set, _)| set == name)
    }

    /// The variable comes before those that are set, which win.
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

    /// Where the process will look for programs.
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

    /// The variables, each with its length as `NAME=value`.
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
