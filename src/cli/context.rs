//! The context of every command: the host's hooks and names, the common options, and where files are looked for.
//!
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::args::{self, Common};
use crate::cli::error::Failure;
use crate::cli::files::shown;
use crate::cli::terminal::Terminal;
use crate::compat::{TOOLS, Tool};
use crate::config::TrustPolicy;
use crate::trust::TrustStore;
use crate::{AppProfile, Hook, HookExecutorBuilder, Hooks, HooksBuilder, LoadReport, templates};

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
        Ok(self.selected()?.trust(policy).load())
    }

    /// Loads the hooks that another tool would run: those of its own files, and of these files and plugins.
    pub(crate) fn load_as(&self, tool: &'static Tool, named: &[PathBuf]) -> Result<Hooks, Failure> {
        let mut tools = self.hooks.config().other_tools().with_tools([tool]);
        for path in named {
            tools = tools.with_settings(tool, path);
        }
        let mut builder = self.selected()?.other_tools(tools);
        if self.root()?.is_none() {
            builder = builder.project(directory(Path::new("."))?);
        }
        // Without a place for approvals, what is named runs all the same.
        if let Ok(store) = self.trust_store() {
            builder = builder.trust(TrustPolicy::Approved(store));
        }
        let hooks = builder.load();
        let mut own = hooks.registry().hooks();
        own.retain(|hook| hook.protocol_name() == tool.name());
        hooks.registry().clear();
        hooks.registry().load_hooks(own);
        Ok(hooks)
    }

    /// Returns a builder with the host's names, events and tools, and the files that the common options select.
    fn selected(&self) -> Result<HooksBuilder, Failure> {
        let (common, profile) = (self.common, self.profile().clone());
        let builder = self.hooks.to_builder();
        let builder = if !common.config.is_empty() {
            let files = absolute("--config", &common.config)?;
            let profile = profile.with_global_files(files);
            let profile = profile.with_project_files([""; 0]);
            builder.profile(profile).other_tools([])
        } else if common.no_global {
            builder.profile(profile.with_global_files([""; 0]))
        } else {
            builder
        };
        let builder = builder.approve_command(self.command("trust"));
        Ok(match self.root()? {
            Some(root) => builder.project(root),
            None => builder,
        })
    }

    /// Builds an executor with the host's names and events, and the working directory of `found`. Dropping the result
    /// writes the last lines of the user's trace.
    pub(crate) fn engine(&self, found: &Hooks, executor: HookExecutorBuilder) -> Hooks {
        let profile = self.profile().clone().with_global_files([""; 0]);
        let builder = self.hooks.to_builder().other_tools([]);
        let builder = builder.profile(profile.with_project_files([""; 0]));
        let executor = match found.project() {
            Some(root) => executor.working_dir(root),
            None => executor,
        };
        // If the host does not let a variable disable hooks, neither do the commands.
        let executor = executor.allow_disable(self.disabled_by().is_some());
        // Its registry has the hooks already.
        let builder = builder.without_system_file();
        builder.executor(executor).load()
    }

    /// Whether there is no host, so that options say which one is meant.
    pub(crate) fn is_standalone(&self) -> bool {
        let mut options = self.command_line.get_arguments();
        options.any(|option| option.get_id() == args::PROFILE)
    }

    pub(crate) fn profile(&self) -> &AppProfile {
        self.hooks.profile()
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

    /// Writes to standard error what is wrong with hooks files, and that a variable disables all hooks but the
    /// administrator's, if there is one.
    pub(crate) fn warn(
        &self,
        found: &Hooks,
        report: &LoadReport,
        terminal: &mut Terminal<'_>,
    ) -> io::Result<()> {
        terminal.problems(report)?;
        match self.disabled(found) {
            Some(words) => terminal.note(words),
            None => Ok(()),
        }
    }

    /// Says that a variable disables hooks, if there is one.
    fn disabled(&self, found: &Hooks) -> Option<String> {
        let variable = self.disabled_by()?;
        let has_system = found.registry().hooks().iter().any(|it| it.is_system());
        let what = match has_system {
            true => "only the administrator's hooks run",
            false => "no hook runs",
        };
        Some(format!("{what}: `{variable}` is set"))
    }

    /// Returns what a user should know of these hooks before any event, in lines.
    pub(crate) fn messages(&self, found: &Hooks) -> Vec<String> {
        let report = found.report();
        let problems = report.problems.iter().map(ToString::to_string);
        let missing = self.nothing_found(found).into_iter();
        problems
            .chain(missing)
            .chain(self.disabled(found))
            .collect()
    }

    /// Says which files were looked for, if there is none of them and no other hook.
    pub(crate) fn nothing_found(&self, found: &Hooks) -> Vec<String> {
        if !found.report().files.is_empty() || !found.registry().is_empty() {
            return Vec::new();
        }
        let looked = self.not_found(found).join("` and `");
        let mut lines = vec![format!("there is no hooks file: looked for `{looked}`")];
        lines.extend(self.misplaced(found));
        if lines.len() == 1 {
            lines.push(format!("fix: write one with `{}`", self.command("init")));
        }
        lines
    }

    /// Returns the usual files of these hooks that do not exist.
    pub(crate) fn not_found(&self, found: &Hooks) -> Vec<String> {
        let config = found.config();
        let project = found.project().and_then(|root| config.project_path(root));
        let usual = config.global_path().into_iter().chain(project);
        let missing = usual.filter(|path| !path.exists());
        missing.map(|path| shown(&path)).collect()
    }

    /// Returns a hint for each file in the project that looks like a hooks file, and is not read.
    pub(crate) fn misplaced(&self, found: &Hooks) -> Vec<String> {
        let right = |root| found.config().project_path(root);
        let Some((root, right)) = found.project().and_then(|root| Some((root, right(root)?)))
        else {
            return Vec::new();
        };
        if right.exists() {
            return Vec::new();
        }
        let named = format!(".{}", self.profile().name());
        let beside = right.parent().unwrap_or(root);
        let directories = [
            beside,
            root,
            &root.join(&named),
            &root.join(named).join("hooks"),
        ];
        let names = ["hooks.json", "hook.json", "Hooks.json", "hooks.jsonc"];
        let near = directories
            .into_iter()
            .flat_map(|near| names.map(|name| near.join(name)));
        let default = AppProfile::default();
        let others = default.project_files().iter().map(|file| root.join(file));
        let mut wrong: Vec<_> = others.chain(near).filter(|path| path.is_file()).collect();
        wrong.sort();
        wrong.dedup();
        if wrong.is_empty() && self.is_standalone() {
            return self.of_others(root);
        }
        let right = shown(&right);
        let hint =
            |path: &PathBuf| format!("hint: `{}` is not read: move it to `{right}`", shown(path));
        wrong.iter().map(hint).collect()
    }

    /// Returns a hint for each file in a hidden directory of the project that has hooks of another host or tool.
    fn of_others(&self, root: &Path) -> Vec<String> {
        let entries = root.read_dir().into_iter().flatten().flatten();
        let hidden = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            args::profile_name(name.strip_prefix('.')?).ok()
        });
        let hint = |name: String, file: &str| {
            let path = root.join(format!(".{name}")).join(file);
            let report = path.is_file().then(|| self.hooks.config().check(&path))?;
            let title = report.read_as.first().map(|(_, title)| *title);
            let tool = TOOLS.into_iter().find(|tool| Some(tool.title()) == title);
            let is_for = match tool {
                Some(tool) => format!("has hooks of {}: add `--other-tools {tool}`", tool.title()),
                None => format!("is for hosts called `{name}`: add `--profile {name}`"),
            };
            let shown = shown(&path);
            (report.loaded > 0).then(|| format!("hint: `{shown}` {is_for}"))
        };
        let files = ["hooks.json", "settings.json"];
        let mut hints: Vec<_> = hidden
            .flat_map(|name| files.map(|file| hint(name.clone(), file)))
            .flatten()
            .collect();
        hints.sort();
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
