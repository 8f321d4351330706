//! What a process finds in its environment: what it inherits, and what is set for it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::process::Command;

/// The environment of one process. What is set later wins.
#[derive(Debug)]
pub(crate) struct Environment<'a> {
    /// Variables that are not inherited.
    without: &'a [String],
    set: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Environment<'a> {
    /// All that this program has in its own, but for these variables.
    pub(crate) fn without(names: &'a [String]) -> Self {
        /// Most hooks have so many variables at the most.
        const USUAL: usize = 32;
        Self {
            without: names,
            set: Vec::with_capacity(USUAL),
        }
    }

    pub(crate) fn set(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) {
        self.set.push((name.into(), value.into()));
    }

    pub(super) fn apply_to(&self, command: &mut Command) {
        for name in self.without {
            command.env_remove(name);
        }
        for (name, value) in &self.set {
            command.env(&**name, &**value);
        }
    }

    /// Where the process will look for programs.
    pub(super) fn path(&self) -> Option<OsString> {
        let own = self.set.iter().rev().find(|(name, _)| name == "PATH");
        match own {
            Some((_, path)) => Some((**path).into()),
            None => std::env::var_os("PATH"),
        }
    }

    /// The variables, each with its length as `NAME=value`.
    pub(super) fn lengths(&self) -> Vec<(String, usize)> {
        let inherited = std::env::vars_os().map(|(name, value)| {
            let length = name.len() + value.len() + 1;
            (name.to_string_lossy().into_owned(), length)
        });
        let own = self.set.iter();
        let own = own.map(|(name, value)| (name.to_string(), name.len() + value.len() + 1));
        inherited.chain(own).collect()
    }
}
