//! What every command is given besides its own options: the host's names, and the common options.
//!
//! Prints nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cli::args::Common;
use crate::cli::error::Failure;
use crate::{
    AppProfile, Hook, HookConfig, HookExecutor, HookExecutorBuilder, TrustStore, templates,
};

pub(crate) struct Context<'a> {
    /// Of the host's files.
    pub(crate) config: &'a HookConfig,
    pub(crate) common: &'a Common,
    /// The words that call the program, as in `mygame hooks`.
    pub(crate) program: &'a str,
    pub(crate) version: &'a str,
}

impl Context<'_> {
    pub(crate) fn profile(&self) -> &AppProfile {
        self.config.profile()
    }

    /// The hooks of the project alone.
    pub(crate) fn project_config(&self) -> HookConfig {
        HookConfig::new(self.profile().clone().with_global_files([""; 0]))
    }

    /// Where the user keeps approvals, whatever files are read for hooks.
    pub(crate) fn trust_store(&self) -> Result<TrustStore, Failure> {
        self.config.trust_store().ok_or_else(|| {
            Failure::new("cannot find a home directory, where approvals are kept")
                .with_fix("set `XDG_CONFIG_HOME`, or name a hooks file with `--config FILE`")
        })
    }

    /// The project's root, absolute.
    pub(crate) fn root(&self) -> Result<PathBuf, Failure> {
        let given = self.common.project.as_deref().unwrap_or(Path::new("."));
        let root = std::path::absolute(given)
            .map_err(|error| Failure::new(format!("could not find the project: {error}")))?;
        if !root.is_dir() {
            let words = format!("the project `{}` is no directory", given.display());
            return Err(Failure::new(words).with_fix("name one that exists with `--project DIR`"));
        }
        // `.` at its end would stand in every path that is shown.
        Ok(root.components().collect())
    }

    /// For a command that has to do with the usual files alone: with others in their place it would
    /// not do what was asked for.
    pub(crate) fn needs_the_usual_files(&self, does: &str) -> Result<(), Failure> {
        if self.common.config.is_empty() {
            return Ok(());
        }
        Err(Failure::new(does).with_fix("leave `--config` out"))
    }

    /// An executor as the host has it.
    pub(crate) fn executor(&self) -> HookExecutorBuilder {
        HookExecutor::builder().profile(self.profile().clone())
    }

    /// The variable that switches all hooks off, where it is set.
    pub(crate) fn disabled_by(&self) -> Option<String> {
        let executor = self.executor().build();
        executor.disabled_by().map(ToString::to_string)
    }

    /// Ready-made hooks, by their names.
    pub(crate) fn templates(&self) -> BTreeMap<&'static str, Hook> {
        templates::for_profile(self.profile())
    }

    /// A command of this program for the user to type.
    pub(crate) fn command(&self, rest: &str) -> String {
        format!("{} {rest}", self.program)
    }
}
