//! Hints about the hooks files: their problems, and the places to look for missing files.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::agents::AGENTS;
use crate::cli::args;
use crate::cli::files::{below_here, display_path};
use crate::cli::{Context, Terminal};
use crate::files::quoted_path;
use crate::{Hooks, LoadReport, printable};

/// The most files of other hosts that are read for a hint.
const MOST_OF_OTHERS: usize = 8;

/// Names of a hooks file that are not read.
const SIMILAR: [&str; 2] = ["hook.json", "hooks.jsonc"];

impl Context<'_> {
    /// Writes the problems of hooks files to standard error, and a note if a variable disables all hooks but the
    /// administrator's.
    pub(crate) fn warn(
        &self,
        hooks: &Hooks,
        report: &LoadReport,
        terminal: &mut Terminal<'_>,
    ) -> io::Result<()> {
        terminal.problems(report)?;
        self.disabled(hooks)
            .map_or(Ok(()), |message| terminal.note(message))
    }

    /// Returns a note if a variable disables hooks.
    pub(crate) fn disabled(&self, hooks: &Hooks) -> Option<String> {
        let variable = self.disabled_by()?;
        let has_system = hooks
            .executor()
            .registry()
            .hooks()
            .iter()
            .any(|hook| hook.is_system());
        let what = if has_system {
            "only the administrator's hooks run"
        } else {
            "no hook runs"
        };
        Some(format!("{what}: `{variable}` is set"))
    }

    /// Returns the notes on these hooks for a user before any event, in lines.
    pub(crate) fn messages(&self, hooks: &Hooks) -> Vec<String> {
        let report = hooks.full_report();
        let problems = report.problems.iter().map(ToString::to_string);
        let missing = self.nothing_found(hooks).into_iter();
        problems
            .chain(missing)
            .chain(self.disabled(hooks))
            .collect()
    }

    /// Returns the same as a function for another thread.
    pub(crate) fn messenger(&self) -> impl Fn(&Hooks) -> Vec<String> + Send + use<> {
        let (host_hooks, common) = (self.hooks.clone(), self.common.clone());
        let (program, names) = (self.program.to_owned(), self.names.to_owned());
        let command_line = self.command_line.clone();
        move |hooks| {
            let context = Context {
                hooks: &host_hooks,
                common: &common,
                checks_scripts: true,
                program: &program,
                agent: None,
                names: &names,
                command_line: &command_line,
            };
            context.messages(hooks)
        }
    }

    /// Lists the places of hooks files, if there is no such file and no other hook.
    pub(crate) fn nothing_found(&self, hooks: &Hooks) -> Vec<String> {
        if !hooks.report().files.is_empty() || !hooks.executor().registry().is_empty() {
            return Vec::new();
        }
        if let Some(agent) = self.agent {
            let files = agent.settings_files().join("` and `");
            let message = format!(
                "there are no hooks of {}: looked for `{files}`",
                agent.title()
            );
            let fix =
                "fix: name another file with `--settings FILE`, or a plugin with `--plugin DIR`";
            return vec![message, fix.to_owned()];
        }
        let looked = printable(&self.not_found(hooks).join("`, `"));
        let mut lines = vec![format!("there is no hooks file: looked for `{looked}`")];
        lines.extend(self.others(hooks));
        if lines.len() == 1 && hooks.report().problems.is_empty() {
            lines.push(format!(
                "fix: write one with `{}`",
                self.command("init --global")
            ));
        }
        lines
    }

    /// Returns the paths of the user's and the project's hooks files that were checked, unless a file exists there.
    pub(crate) fn not_found(&self, hooks: &Hooks) -> Vec<String> {
        let missing = hooks.config().not_found(hooks.project());
        missing.iter().map(|path| below_here(path)).collect()
    }

    /// Finds files that are probably meant as the user's or the project's hooks file, but have another name. Each has a message
    /// and the fix.
    pub(crate) fn misnamed(&self, hooks: &Hooks) -> Vec<(PathBuf, String, String)> {
        if !self.common.config.is_empty() {
            return Vec::new();
        }
        let mut all = Vec::new();
        for root in [None, hooks.project()] {
            let usual = hooks.config().path_to_edit(root);
            let Some(usual) = usual.filter(|usual| !usual.exists()) else {
                continue;
            };
            let mut places = Vec::from(SIMILAR.map(|name| usual.with_file_name(name)));
            if let Some(root) = root {
                let of_host = root.join(format!(".{}", self.profile().name()));
                places.extend(SIMILAR.map(|name| of_host.join(name)));
                places.push(root.join("hooks.json"));
            }
            let is_one =
                |path: &PathBuf| path.is_file() && self.checker().checked(path, false).loaded > 0;
            all.extend(places.into_iter().find(is_one).map(|path| {
                let quoted = |path: &Path| quoted_path(below_here(path).as_ref());
                let message = format!(
                    "this file is not read: the hooks file is `{}`",
                    below_here(&usual)
                );
                let directory = usual.parent().filter(|directory| !directory.exists());
                let create =
                    directory.map(|directory| format!("mkdir -p {} && ", quoted(directory)));
                let (from, to) = (quoted(&path), quoted(&usual));
                let fix = format!("run `{}mv {from} {to}`", create.unwrap_or_default());
                (path, message, fix)
            }));
        }
        all
    }

    /// Returns a hint for each file of the project that is not read: one with another name, and those of other hosts and agents,
    /// if the project has no file of its own and no problem.
    pub(crate) fn others(&self, hooks: &Hooks) -> Vec<String> {
        let misnamed = self.misnamed(hooks).into_iter();
        let misnamed = misnamed.map(|(path, message, fix)| {
            format!("hint: `{}`: {message}; {fix}", display_path(&path))
        });
        misnamed.chain(self.of_other_programs(hooks)).collect()
    }

    fn of_other_programs(&self, hooks: &Hooks) -> Vec<String> {
        let Some(root) = hooks.project().filter(|_| self.is_standalone()) else {
            return Vec::new();
        };
        let own = hooks.config().project_path(root);
        let is_missing = own.is_some_and(|own| !own.exists());
        let report = hooks.report();
        let mut problems = report.problems.iter();
        if is_missing && !problems.any(|problem| problem.path.starts_with(root)) {
            self.of_others(root)
        } else {
            Vec::new()
        }
    }

    /// Returns a hint for each file in a hidden directory of the project that has hooks of another host or agent.
    fn of_others(&self, root: &Path) -> Vec<String> {
        let entries = root.read_dir().into_iter().flatten().flatten();
        let hidden = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            args::profile_name(name.strip_prefix('.')?).ok()
        });
        let config = self.checker();
        let hint = |(name, path): (&str, PathBuf)| {
            let report = config.checked(&path, false);
            let title = report.read_as.first().map(|(_, title)| *title);
            let agent = AGENTS
                .into_iter()
                .find(|agent| Some(agent.title()) == title);
            let is_for = match agent {
                Some(agent) => format!(
                    "has hooks of {}: add `--other-agents {agent}`",
                    agent.title()
                ),
                None => format!("is for hosts called `{name}`: add `--profile {name}`"),
            };
            (report.loaded > 0).then(|| format!("hint: `{}` {is_for}", display_path(&path)))
        };
        let names: BTreeSet<String> = hidden.collect();
        let paths = names.iter().flat_map(|name| {
            let directory = root.join(format!(".{name}"));
            ["hooks.json", "settings.json"].map(|file| (name.as_str(), directory.join(file)))
        });
        let there = paths.filter(|(_, path)| path.is_file());
        there.take(MOST_OF_OTHERS).filter_map(hint).collect()
    }
}
