//! The context of every command: the host's hooks and names, and the hooks that the common options select.

use std::io;
use std::path::{Path, PathBuf, absolute};

use crate::agents::{Agent, BRIDGED};
use crate::cli::CommandError;
use crate::cli::args::{self, Common, Recording};
use crate::config::TrustPolicy;
use crate::files::quoted_path;
use crate::trust::{TrustError, TrustStore};
use crate::{AppProfile, HookConfig, HookExecutorBuilder, Hooks, HooksBuilder, Trace};

pub(crate) struct Context<'a> {
    pub(crate) hooks: &'a Hooks,
    pub(crate) common: &'a Common,
    pub(crate) checks_scripts: bool,
    /// The command that starts the program, for example `mygame hooks`.
    pub(crate) program: &'a str,
    /// The agent whose hooks run in place of those of hooks.json.
    pub(crate) agent: Option<&'static Agent>,
    /// The options that a suggested command needs to mean the same host, as in ` --profile mygame`.
    pub(crate) names: &'a str,
    /// All commands and options of the program.
    pub(crate) command_line: &'a clap::Command,
}

impl Context<'_> {
    /// Loads the hooks that the common options select: the host's own, or another set with the same
    /// names.
    pub(crate) fn load(&self) -> Result<Hooks, CommandError> {
        if !self.common.selects_files() {
            return Ok(self.hooks.clone());
        }
        self.load_under(if self.common.config.is_empty() {
            TrustPolicy::Approved(self.trust_store()?)
        } else {
            // A file that the command line names is approved by that; no other file is read.
            TrustPolicy::Everything
        })
    }

    /// Loads a separate set from the files that the common options select.
    pub(crate) fn load_under(&self, policy: TrustPolicy) -> Result<Hooks, CommandError> {
        Ok(self.selected()?.trust(policy).load())
    }

    /// Loads the hooks of the selected files, whether they are approved or not, and tests their cases.
    pub(crate) fn load_to_check(&self) -> Result<Hooks, CommandError> {
        let builder = self.selected()?.configured(HookConfig::testing_cases);
        Ok(builder.trust(TrustPolicy::Everything).load())
    }

    /// Loads the hooks that another agent would run: those of its own files, and of these files and plugins.
    pub(crate) fn load_as(
        &self,
        agent: &'static Agent,
        named: &[PathBuf],
    ) -> Result<Hooks, CommandError> {
        let mut tools = self.hooks.config().other_agents().of_agent(agent);
        for path in named {
            tools = tools.with_settings(agent, path);
        }
        let mut builder = self.selected()?.other_agents(tools);
        if self.root()?.is_none() {
            builder = builder.project(directory(Path::new("."))?);
        }
        // The files that the command line names run even if there is no place for approvals.
        if let Ok(store) = self.trust_store() {
            builder = builder.trust(TrustPolicy::Approved(store));
        }
        let hooks = builder.load();
        let mut own = hooks.executor().registry().hooks();
        own.retain(|hook| hook.protocol_name() == agent.name());
        hooks.executor().registry().clear();
        hooks.executor().registry().load_hooks(own);
        Ok(hooks)
    }

    /// Returns the configuration that checks files, which also recognizes files of other agents.
    pub(crate) fn checker(&self) -> HookConfig {
        let config = self.hooks.config();
        config.clone().with_other_agents(config.other_agents())
    }

    /// Returns a builder with the host's names, events and tools, and the files that the common options select.
    fn selected(&self) -> Result<HooksBuilder, CommandError> {
        let (common, profile) = (self.common, self.profile().clone());
        let mut builder = self.hooks.to_builder();
        if self.checks_scripts {
            builder = builder.configured(HookConfig::checking_scripts);
        }
        if !common.config.is_empty() {
            let files = existing("--config", &common.config)?;
            let profile = profile.with_global_files(files).with_project_files([""; 0]);
            builder = builder
                .configured(|config| config.with_profile(profile))
                .other_agents([]);
        } else if common.no_global {
            let profile = profile.with_global_files([""; 0]);
            builder = builder.configured(|config| config.with_profile(profile));
        }
        if let Some(root) = self.root()? {
            builder = builder.project(root);
        }
        Ok(builder.approve_command(self.command("trust")))
    }

    /// Builds an executor with the host's names and events, and the working directory of `hooks`. Dropping the result
    /// writes the last lines of the user's trace.
    pub(crate) fn engine(&self, hooks: &Hooks, mut executor: HookExecutorBuilder) -> Hooks {
        if let Some(root) = hooks.project() {
            executor = executor.working_dir(root);
        }
        // If the host does not let a variable disable hooks, neither do the commands.
        let executor = executor.allow_disable(self.disabled_by().is_some());
        // The executor's registry has the hooks already, so none are loaded.
        let profile = self.profile().clone().with_global_files([""; 0]);
        let builder = self
            .hooks
            .to_builder()
            .without_system_file()
            .other_agents([]);
        let profile = profile.with_project_files([""; 0]);
        let builder = builder.configured(|config| config.with_profile(profile));
        builder.executor(executor).load()
    }

    /// Builds the trace of the events that are fired at these hooks, if the command line names a file for it.
    pub(crate) fn trace_events(
        &self,
        recording: &Recording,
        hooks: &Hooks,
    ) -> Result<Option<Trace>, CommandError> {
        let Some(file) = &recording.trace_events else {
            return Ok(None);
        };
        if file.starts_with("~") {
            let message = format!(
                "`--trace-events {}`: the shell has not replaced `~`",
                file.display()
            );
            return Err(CommandError::new(message).with_fix("write the absolute path"));
        }
        let mut builder = Trace::recording(file);
        if let Some(root) = hooks.project() {
            builder = builder.outside_of(root);
        }
        let trace = builder.build().map_err(|error| {
            CommandError::new(format!("`--trace-events`: {}", error.with_cause()))
        })?;
        Ok(Some(trace))
    }

    /// Returns whether there is no host, so that options name one.
    pub(crate) fn is_standalone(&self) -> bool {
        let mut options = self.command_line.get_arguments();
        options.any(|option| option.get_id() == args::PROFILE)
    }

    /// Returns the name of the profile, if it is not the default.
    pub(crate) fn own_profile(&self) -> Option<String> {
        let profile = Some(self.profile()).filter(|profile| **profile != AppProfile::default());
        profile.map(|profile| profile.name().to_owned())
    }

    pub(crate) fn profile(&self) -> &AppProfile {
        self.hooks.config().profile()
    }

    /// Returns the user's store of approvals, whatever hooks files are read.
    pub(crate) fn trust_store(&self) -> Result<TrustStore, CommandError> {
        let own = || self.hooks.config().trust_store();
        self.hooks.trust().or_else(own).ok_or_else(|| {
            CommandError::new("cannot find a home directory, where approvals are kept")
                .with_fix("set `XDG_CONFIG_HOME`, or name a hooks file with `--config FILE`")
        })
    }

    /// Returns the absolute path of the project's root; none if the host has no projects.
    pub(crate) fn root(&self) -> Result<Option<PathBuf>, CommandError> {
        match &self.common.project {
            Some(path) => directory(path).map(Some),
            None => Ok(self.hooks.project().map(PathBuf::from)),
        }
    }

    /// Returns the project's root, for a command that needs one.
    pub(crate) fn needed_root(&self) -> Result<PathBuf, CommandError> {
        self.root()?.ok_or_else(|| {
            let here = std::env::current_dir().ok();
            let message = if here.is_some_and(|here| home::home_dir() == Some(here)) {
                "there is no project: the home directory is one only if it is named"
            } else {
                "there is no project"
            };
            CommandError::new(message).with_fix("name one with `--project DIR`")
        })
    }

    /// Returns the project's root, for a command that edits its file; none with `--global`.
    pub(crate) fn root_unless(&self, global: bool) -> Result<Option<PathBuf>, CommandError> {
        if global {
            return Ok(None);
        }
        let fix = "name one with `--project DIR`, or say `--global` for the user's file";
        let root = self.needed_root().map_err(|error| error.with_fix(fix))?;
        let approved = self.hooks.trust().map(|store| store.approved_hooks(&root));
        match approved {
            // A file whose hooks cannot be approved is not worth writing.
            Some(Err(error @ TrustError::Root { .. })) => Err(error.into()),
            _ => Ok(Some(root)),
        }
    }

    /// Returns the variable that disables all hooks, if it is set.
    pub(crate) fn disabled_by(&self) -> Option<&str> {
        self.hooks.executor().disabled_by()
    }

    /// Returns the step that fixes a hooks file with errors.
    pub(crate) fn fix_errors(&self) -> String {
        format!("fix them; `{}` shows them", self.command("check"))
    }

    /// Returns the command that guards an agent, with the names of the others.
    pub(crate) fn install(&self) -> String {
        let [agent, others @ ..] = BRIDGED.map(Agent::name);
        let install = self.command(&format!("install {agent}"));
        format!("`{install}` (or {})", others.join(", "))
    }

    /// Returns a command of this program for the user to type, for the same host and project.
    pub(crate) fn command(&self, rest: &str) -> String {
        let mut command = format!("{}{} {rest}", self.program, self.names);
        if let Some(root) = &self.common.project {
            command += &format!(" --project {}", quoted_path(root));
        }
        command
    }
}

/// Converts a project's root to the form that is shown and compared.
pub(crate) fn directory(path: &Path) -> Result<PathBuf, CommandError> {
    let root = absolute(path).map_err(|error| {
        let message = if error.kind() == io::ErrorKind::NotFound {
            "the current directory was removed".to_owned()
        } else {
            format!("cannot read the current directory: {error}")
        };
        CommandError::new(message).with_fix("change to a directory that exists, with `cd`")
    })?;
    if !root.is_dir() {
        let message = format!("the project `{}` is not a directory", path.display());
        return Err(
            CommandError::new(message).with_fix("name one that exists with `--project DIR`")
        );
    }
    // A `.` at its end would appear in every path that is shown.
    Ok(root.components().collect())
}

/// Returns the absolute paths of an option's files, so that they do not depend on a directory.
pub(crate) fn existing(option: &str, files: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let path = |file: &PathBuf| {
        file.metadata()
            .and_then(|_| absolute(file))
            .map_err(|error| {
                let message = format!("cannot read `{option} {}`: {error}", file.display());
                CommandError::new(message).with_fix("name a file that exists")
            })
    };
    files.iter().map(path).collect()
}
