//! The context of every command: the host's hooks and names, the common options, and where files are looked for.
//!
//! Prints nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cli::args::{self, Common};
use crate::cli::error::Failure;
use crate::cli::files;
use crate::compat::{TOOLS, Tool};
use crate::config::{Problem, TrustPolicy};
use crate::trust::TrustStore;
use crate::{
    AppProfile, Hook, HookConfig, HookExecutor, HookExecutorBuilder, HookRegistry, Hooks,
    HooksBuilder, LoadReport, templates,
};

pub(crate) struct Context<'a> {
    pub(crate) hooks: &'a Hooks,
    pub(crate) common: &'a Common,
    /// The command that starts the program, for example `mygame hooks`.
    pub(crate) program: &'a str,
    /// The options that a suggested command needs to mean the same host, as in ` --profile mygame`.
    pub(crate) names: &'a str,
    /// All its commands and options.
    pub(crate) command_line: &'a clap::Command,
}

impl Context<'_> {
    /// Loads the hooks that the common options select: the host's own, or another set with the same
    /// names.
    pub(crate) fn load(&self) -> Result<Hooks, Failure> {
        let common = self.common;
        if common.config.is_empty() && common.project.is_none() && !common.no_global {
            return Ok(self.hooks.clone());
        }
        // Naming a file on the command line approves it; no other file is read then.
        let policy = if common.config.is_empty() {
            TrustPolicy::Approved(self.trust_store()?)
        } else {
            TrustPolicy::Everything
        };
        self.load_under(policy)
    }

    /// Loads a separate set from the files that the common options select.
    pub(crate) fn load_under(&self, policy: TrustPolicy) -> Result<Hooks, Failure> {
        let profile = self.profile().clone();
        let builder = if !self.common.config.is_empty() {
            let profile = profile.with_global_files(absolute("--config", &self.common.config)?);
            self.builder(profile.with_project_files([""; 0]))
        } else if self.common.no_global {
            let builder = self.builder(profile.with_global_files([""; 0]));
            builder.other_tools(self.hooks.config().other_tools())
        } else {
            self.hooks.to_builder()
        };
        let command = self.command("trust");
        let mut builder = builder.trust(policy).approve_command(command);
        if let Some(root) = self.root()? {
            builder = builder.project(root);
        }
        Ok(builder.load())
    }

    /// Loads the hooks that another tool would run: those of its own files, and of these files and plugins.
    pub(crate) fn load_as(&self, tool: &'static Tool, named: &[PathBuf]) -> Result<Hooks, Failure> {
        let mut profile = self.profile().clone();
        if self.common.no_global {
            profile = profile.with_global_files([""; 0]);
        }
        let builder = self.builder(profile);
        let mut tools = self.hooks.config().other_tools().with_tools([tool]);
        for path in named {
            tools = tools.with_settings(tool, path);
        }
        let mut builder = builder.other_tools(tools);
        builder = builder.approve_command(self.command("trust"));
        // Without a place for approvals, what is named runs all the same.
        if let Ok(store) = self.trust_store() {
            builder = builder.trust(TrustPolicy::Approved(store));
        }
        let root = match self.root()? {
            Some(root) => root,
            None => directory(Path::new("."))?,
        };
        let hooks = builder.project(root).load();
        let registered = hooks.registry().hooks().into_iter();
        let own: Vec<_> = registered
            .filter(|it| it.protocol_name() == tool.name())
            .collect();
        hooks.registry().clear();
        hooks.registry().load_hooks(own);
        Ok(hooks)
    }

    /// Returns a builder with the host's vocabulary, its directory for the user's files, and its administrator's file.
    fn builder(&self, profile: AppProfile) -> HooksBuilder {
        self.hooks.to_builder().profile(profile).other_tools([])
    }

    /// Builds an executor with the host's names and events, and the working directory of `found`.
    pub(crate) fn executor(&self, found: &Hooks, executor: HookExecutorBuilder) -> HookExecutor {
        let no_files = [""; 0];
        let profile = self.profile().clone();
        let profile = profile.with_global_files(no_files);
        let builder = self.builder(profile.with_project_files(no_files));
        let executor = match found.project() {
            Some(root) => executor.working_dir(root),
            None => executor,
        };
        // If the host does not let a variable disable hooks, neither do the commands.
        let executor = executor.allow_disable(self.disabled_by().is_some());
        // Its registry has the hooks already.
        let builder = builder.without_system_file();
        builder.executor(executor).load().executor().clone()
    }

    /// Whether there is no host, so that options say which one is meant.
    pub(crate) fn is_standalone(&self) -> bool {
        let mut options = self.command_line.get_arguments();
        options.any(|option| option.get_id() == args::PROFILE)
    }

    pub(crate) fn profile(&self) -> &AppProfile {
        self.hooks.profile()
    }

    /// Returns the configuration of the project's hooks only.
    pub(crate) fn project_config(&self) -> HookConfig {
        let config = HookConfig::new(self.profile().clone().with_global_files([""; 0]));
        config.with_other_tools(self.hooks.config().other_tools())
    }

    /// Returns the user's store of approvals, whatever hooks files are read.
    pub(crate) fn trust_store(&self) -> Result<TrustStore, Failure> {
        let own = || self.hooks.config().trust_store();
        self.hooks.trust().or_else(own).ok_or_else(|| {
            Failure::new("cannot find a home directory, where approvals are kept")
                .with_fix("set `XDG_CONFIG_HOME`, or name a hooks file with `--config FILE`")
        })
    }

    /// Returns the absolute path of the project's root; none if the host has no projects.
    pub(crate) fn root(&self) -> Result<Option<PathBuf>, Failure> {
        match &self.common.project {
            Some(given) => directory(given).map(Some),
            None => Ok(self.hooks.project().map(PathBuf::from)),
        }
    }

    /// Returns the project's root, for a command that needs one.
    pub(crate) fn needed_root(&self) -> Result<PathBuf, Failure> {
        self.root()?.ok_or_else(|| {
            Failure::new("there is no project").with_fix("name one with `--project DIR`")
        })
    }

    /// Returns the project's root, for a command that also has `--global`.
    pub(crate) fn root_unless_global(&self) -> Result<PathBuf, Failure> {
        let fix = "name one with `--project DIR`, or say `--global` for the user's file";
        self.needed_root().map_err(|failure| failure.with_fix(fix))
    }

    /// Refuses `--config` for a command that works only with the standard files.
    pub(crate) fn needs_the_usual_files(&self, does: &str) -> Result<(), Failure> {
        if self.common.config.is_empty() {
            return Ok(());
        }
        Err(Failure::new(does).with_fix("leave `--config` out"))
    }

    /// The variable that disables all hooks, if it is set.
    pub(crate) fn disabled_by(&self) -> Option<&str> {
        self.hooks.executor().disabled_by()
    }

    /// Returns the hook templates by name.
    pub(crate) fn templates(&self) -> BTreeMap<&'static str, Hook> {
        templates::for_profile(self.profile())
    }

    /// Returns the problems of the project's own files.
    pub(crate) fn project_report(&self, root: &Path) -> LoadReport {
        let config = self.hooks.config();
        let mut report = config.load_into(&HookRegistry::new(), root, TrustPolicy::Everything);
        report
            .problems
            .retain(|problem| problem.path.starts_with(root));
        report
    }

    /// Whether the fix of a problem is to approve the project's hooks.
    pub(crate) fn is_approved_by_trust(&self, problem: &Problem) -> bool {
        let trust = self.command("trust");
        problem
            .help
            .as_ref()
            .is_some_and(|help| help.contains(&trust))
    }

    /// Returns the usual files of these hooks that do not exist.
    pub(crate) fn not_found(&self, found: &Hooks) -> Vec<String> {
        let config = found.config();
        let project = found.project().and_then(|root| config.project_path(root));
        let usual = config.global_path().into_iter().chain(project);
        let missing = usual.filter(|path| !path.exists());
        missing
            .map(|path| files::short(&path).to_string_lossy().into_owned())
            .collect()
    }

    /// Returns a hint for each file in the project that looks like a hooks file in a wrong place.
    pub(crate) fn misplaced(&self, found: &Hooks) -> Vec<String> {
        let Some(root) = found.project() else {
            return Vec::new();
        };
        let Some(right) = found
            .config()
            .project_path(root)
            .filter(|path| !path.exists())
        else {
            return Vec::new();
        };
        let default = AppProfile::default();
        let others = default.project_files().iter().map(|file| root.join(file));
        let beside =
            ["hook.json", "Hooks.json", "hooks.jsonc"].map(|name| right.with_file_name(name));
        let named = format!(".{}", self.profile().name());
        let near = [
            root.join("hooks.json"),
            root.join(&named).join("hooks.json"),
            root.join(&named).join("hook.json"),
            root.join(named).join("hooks/hooks.json"),
        ];
        let mut wrong: Vec<_> = others
            .chain(beside)
            .chain(near)
            .filter(|path| path.is_file() && *path != right)
            .collect();
        wrong.sort();
        wrong.dedup();
        let right = files::short(&right).display().to_string();
        let hint = |path: PathBuf| {
            let path = files::short(&path).display().to_string();
            format!("hint: `{path}` is not read: move it to `{right}`")
        };
        let mut hints: Vec<_> = wrong.into_iter().map(hint).collect();
        if hints.is_empty() && self.is_standalone() {
            hints = self.of_others(root);
        }
        hints
    }

    /// Returns a hint for each file in the project that is for a host with another name, or for another tool.
    fn of_others(&self, root: &Path) -> Vec<String> {
        let mut hints = Vec::new();
        for name in hidden_directories(root) {
            let file = root.join(format!(".{name}")).join("hooks.json");
            if file.is_file() && HookConfig::default().check(&file).loaded > 0 {
                let path = files::short(&file).display().to_string();
                hints.push(format!(
                    "hint: `{path}` is for hosts called `{name}`: add `--profile {name}`"
                ));
            }
        }
        let no_files = || self.profile().clone().with_global_files([""; 0]);
        for tool in TOOLS {
            let config = HookConfig::new(no_files().with_project_files([""; 0]));
            let config = config.without_system_file().with_other_tools([tool]);
            let report = config.load_into(&HookRegistry::new(), root, TrustPolicy::Everything);
            let found = report.files.iter().find(|path| path.starts_with(root));
            if let Some(path) = found.filter(|_| report.loaded > 0) {
                let (path, tool, title) = (files::short(path).display(), tool.name(), tool.title());
                hints.push(format!(
                    "hint: `{path}` has hooks of {title}: add `--other-tools {tool}`"
                ));
            }
        }
        hints
    }

    /// A command of this program for the user to type, for the same host and project.
    pub(crate) fn command(&self, rest: &str) -> String {
        let mut command = format!("{}{} {rest}", self.program, self.names);
        if let Some(root) = &self.common.project {
            command += &format!(" --project {}", quoted(&root.to_string_lossy()));
        }
        command
    }
}

/// The most entries of a directory that are looked at.
const MOST_ENTRIES: usize = 1000;

/// Returns the names, without the dot, of the hidden directories that may be those of a host.
fn hidden_directories(root: &Path) -> Vec<String> {
    let Ok(entries) = root.read_dir() else {
        return Vec::new();
    };
    let names = entries.take(MOST_ENTRIES).flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let name = name.strip_prefix('.')?.to_owned();
        args::profile_name(&name).ok()
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// As one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/\\:._-+".contains(c);
    if text.chars().all(is_plain) {
        text.to_owned()
    } else if cfg!(windows) {
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Converts a project's root to the form that is shown and compared.
pub(crate) fn directory(given: &Path) -> Result<PathBuf, Failure> {
    let root = std::path::absolute(given)
        .map_err(|error| Failure::new(format!("cannot find the project: {error}")))?;
    if !root.is_dir() {
        let words = format!("the project `{}` is not a directory", given.display());
        return Err(Failure::new(words).with_fix("name one that exists with `--project DIR`"));
    }
    // A `.` at its end would appear in every path that is shown.
    Ok(root.components().collect())
}

/// Makes paths absolute, so that they do not depend on a directory.
pub(crate) fn absolute(option: &str, files: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    for file in files {
        if let Err(error) = file.metadata() {
            let words = format!("cannot read `{option} {}`: {error}", file.display());
            return Err(Failure::new(words).with_fix("name a file that exists"));
        }
        let path = std::path::absolute(file).map_err(|error| Failure::new(error.to_string()))?;
        paths.push(path);
    }
    Ok(paths)
}
