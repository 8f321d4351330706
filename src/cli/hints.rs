//! What a user should know of the hooks files: their problems, that there is none, and which were probably meant.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::args;
use crate::cli::files::{below_here, shown};
use crate::cli::{Context, Terminal};
use crate::compat::AGENTS;
use crate::{Hooks, LoadReport, printable};

/// The most files of other hosts that are read for a hint.
const MOST_OF_OTHERS: usize = 8;

impl Context<'_> {
    /// Writes to standard error what is wrong with hooks files, and that a variable disables all hooks but the
    /// administrator's, if there is one.
    pub(crate) fn warn(
        &self,
        found: &Hooks,
        report: &LoadReport,
        terminal: &mut Terminal<'_>,
    ) -> io::Result<()> {
        terminal.problems(report)?;
        self.disabled(found)
            .map_or(Ok(()), |words| terminal.note(words))
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
        let report = found.full_report();
        let problems = report.problems.iter().map(ToString::to_string);
        let missing = self.nothing_found(found).into_iter();
        problems
            .chain(missing)
            .chain(self.disabled(found))
            .collect()
    }

    /// Returns the same as a function for another thread.
    pub(crate) fn messenger(&self) -> impl Fn(&Hooks) -> Vec<String> + Send + use<> {
        let (hooks, common) = (self.hooks.clone(), self.common.clone());
        let (program, names) = (self.program.to_owned(), self.names.to_owned());
        let command_line = self.command_line.clone();
        move |found| {
            let context = Context {
                hooks: &hooks,
                common: &common,
                checks_scripts: true,
                program: &program,
                agent: None,
                names: &names,
                command_line: &command_line,
            };
            context.messages(found)
        }
    }

    /// Says which files were looked for, if there is none of them and no other hook.
    pub(crate) fn nothing_found(&self, found: &Hooks) -> Vec<String> {
        if !found.report().files.is_empty() || !found.registry().is_empty() {
            return Vec::new();
        }
        if let Some(agent) = self.agent {
            let files = agent.settings_files().join("` and `");
            let words = format!(
                "there are no hooks of {}: looked for `{files}`",
                agent.title()
            );
            let fix =
                "fix: name another file with `--settings FILE`, or a plugin with `--plugin DIR`";
            return vec![words, fix.to_owned()];
        }
        let looked = printable(&self.not_found(found).join("`, `"));
        let mut lines = vec![format!("there is no hooks file: looked for `{looked}`")];
        lines.extend(self.others(found));
        if lines.len() == 1 && found.report().problems.is_empty() {
            lines.push(format!("fix: write one with `{}`", self.command("init")));
        }
        lines
    }

    /// Returns the paths where these hooks were looked for, of the user and of the project, unless a file was there.
    pub(crate) fn not_found(&self, found: &Hooks) -> Vec<String> {
        let missing = found.config().not_found(found.project());
        missing.iter().map(|path| below_here(path)).collect()
    }

    /// Returns a hint for each file of another host or agent in the project, if it has no file of its own and none that is
    /// misplaced, which the report says.
    pub(crate) fn others(&self, found: &Hooks) -> Vec<String> {
        let Some(root) = found.project().filter(|_| self.is_standalone()) else {
            return Vec::new();
        };
        let own = found.config().project_path(root);
        let is_missing = own.is_some_and(|own| !own.exists());
        let report = found.report();
        let mut problems = report.problems.iter();
        match is_missing && !problems.any(|problem| problem.path.starts_with(root)) {
            true => self.of_others(root),
            false => Vec::new(),
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
            (report.loaded > 0).then(|| format!("hint: `{}` {is_for}", shown(&path)))
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
