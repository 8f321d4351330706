//! `check`: shows all problems of hooks files, of their approval, and of the registration under each agent.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::cli::add::EDITED;
use crate::cli::args::Check;
use crate::cli::draw::{Texts, drawn};
use crate::cli::files::{self, named};
use crate::cli::registration::{Checkup, checkups};
use crate::cli::{CommandError, Context, Done, Exit, Style, Terminal, counted};
use crate::config::{Problem, Severity, TrustPolicy};
use crate::packs::{Content, Pack, Standing, summary};
use crate::{Hooks, LoadReport, printable};

/// The output of `forge-hooks check`.
#[derive(Serialize, Default)]
#[serde(transparent)]
struct CheckOutput {
    all: LoadReport,
    /// The text that was read from standard input.
    #[serde(skip)]
    texts: Texts,
    /// A line for each agent without a problem.
    #[serde(skip)]
    agents: Vec<String>,
    /// True if hooks are not approved, which is no error of a file.
    #[serde(skip)]
    is_unapproved: bool,
    /// True if the user's and the project's files were read.
    #[serde(skip)]
    is_of_all: bool,
}

/// The name of standard input in problems.
const STANDARD_INPUT: &str = "standard input";

pub(crate) fn run(args: &Check, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    let mut report = CheckOutput::default();
    if args.files.is_empty() {
        report.add_all(args, context)?;
    }
    for file in &args.files {
        report.add(file, context, terminal)?;
    }
    report.compare_packs(context);
    terminal.show(args.json, &report)?;
    let is_bad = report.is_unapproved || args.strict && !report.all.problems.is_empty();
    Ok(Exit::fine_if(report.all.is_ok() && !is_bad))
}

fn no_file(context: &Context<'_>, hooks: &Hooks) -> CommandError {
    let names = context.not_found(hooks).join("`, `");
    let mut message = format!("found no hooks file, such as `{names}`");
    let report = hooks.report();
    let problems = report.problems.iter().map(ToString::to_string);
    for hint in problems.chain(context.others(hooks)) {
        message += &format!("\n  {hint}");
    }
    let init = context.command("init --global");
    let misnamed = context.misnamed(hooks).into_iter().next();
    CommandError::new(message).with_fix(match misnamed {
        Some((_, _, fix)) => fix,
        None => format!("name one, or write one with `{init}`"),
    })
}

impl CheckOutput {
    /// Adds the hooks and problems of the usual files, of their approval, and of the agents.
    fn add_all(&mut self, args: &Check, context: &Context<'_>) -> Result<(), CommandError> {
        let hooks = context.load_to_check()?;
        self.all = LoadReport::clone(&hooks.report());
        self.is_of_all = true;
        let agents = checkups(&args.agent, context)?;
        let is_guarding = agents.iter().any(Checkup::is_registered);
        // Approvals are looked at only if all files can be read.
        let has_approvals = self.all.is_ok() && self.add_approvals(context)?;
        for checkup in &agents {
            self.all.problems.extend_from_slice(&checkup.problems);
            self.agents.extend(checkup.state(context));
        }
        for (path, message, fix) in context.misnamed(&hooks) {
            self.all.warn(&path, message, fix);
        }
        let all = &self.all;
        if all.files.is_empty() && all.is_ok() && !has_approvals && !is_guarding {
            return Err(no_file(context, &hooks));
        }
        self.find_no_hook(is_guarding, &hooks, context);
        Ok(())
    }

    /// Adds what keeps hooks from running that are right. Returns whether there is a problem with approvals.
    fn add_approvals(&mut self, context: &Context<'_>) -> Result<bool, CommandError> {
        let hooks = match context.trust_store() {
            Ok(store) if context.common.config.is_empty() => {
                context.load_under(TrustPolicy::Approved(store))?
            }
            _ => context.load()?,
        };
        let report = hooks.report();
        self.all.in_use = report.in_use;
        for problem in &report.problems {
            if !self.all.problems.contains(problem) {
                self.is_unapproved |= problem.is_of_approval;
                self.all.problems.push(problem.clone());
            }
        }
        Ok(self.is_unapproved)
    }

    /// Finds that no hook runs, although agents start this program or hooks are written.
    fn find_no_hook(&mut self, is_guarding: bool, hooks: &Hooks, context: &Context<'_>) {
        let path = context.hooks.config().path_to_edit(None);
        let path = path.unwrap_or_default();
        if let Some(message) = context.disabled(hooks) {
            let variable = context.disabled_by().unwrap_or_default();
            let fix = format!("run `unset {variable}`");
            self.find(Path::new("the environment"), message, fix);
        } else if is_guarding && self.all.in_use == 0 && self.all.problems.is_empty() {
            let add = context.command("add git rm secrets");
            let message = match self.all.loaded {
                0 => "there are no hooks, so nothing is guarded",
                _ => "all hooks are switched off, so nothing is guarded",
            };
            self.find(&path, message, format!("add some, as with `{add}`"));
        }
    }

    fn find(&mut self, path: &Path, message: impl Into<String>, fix: impl Into<String>) {
        let problem = Problem::in_file(Severity::Error, path, message).with_help(fix);
        self.all.problems.push(problem.made_printable());
    }

    /// Adds the hooks and problems of a file; `-` is standard input.
    fn add(
        &mut self,
        file: &Path,
        context: &Context<'_>,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let config = context.checker();
        let report = if file == Path::new("-") {
            let text = terminal.read_text(file).map_err(|error| {
                CommandError::new(format!("cannot read {STANDARD_INPUT}: {error}"))
            })?;
            let report = config.check_text(STANDARD_INPUT, &text);
            self.texts.insert(STANDARD_INPUT.into(), Some(text));
            report
        } else {
            config.check(file)
        };
        self.all.files.extend(report.files);
        self.all.loaded += report.loaded;
        self.all.read_as.extend(report.read_as);
        self.all.problems.extend(report.problems);
        Ok(())
    }
}

impl CheckOutput {
    /// Adds how the files of packs differ from the packs of this program.
    fn compare_packs(&mut self, context: &Context<'_>) {
        for path in self.all.files.clone() {
            let text = files::open(&path).and_then(files::text_of).ok();
            if let Some((message, help)) = text.and_then(|text| compare_pack(&text, context)) {
                self.all.warn(&path, message, help);
            }
        }
    }
}

/// Returns how a file differs from the pack that it says to be, and the fix.
fn compare_pack(text: &str, context: &Context<'_>) -> Option<(String, String)> {
    let content = Content::read(text).ok()?;
    let name = content.name()?;
    let update = context.command(&format!("add --update {name}"));
    match Pack::named(name).and_then(|pack| pack.compare(text).ok()) {
        None => {
            let message = format!("this program has no pack `{name}`");
            let help = "remove the key `pack`, or use a newer program".to_owned();
            Some((message, help))
        }
        Some(Standing::Other {
            version,
            differences,
        }) => {
            let differences = summary(&differences);
            let message = format!(
                "version {version} of the pack `{name}` is not that of this program: {differences}"
            );
            Some((message, format!("`{update}` shows what would change")))
        }
        Some(Standing::Edited(differences)) => {
            let message = format!("the pack `{name}` was edited: {}", summary(&differences));
            Some((message, format!("{EDITED}; `{update}` shows them")))
        }
        Some(Standing::Current | Standing::Own) => None,
    }
}

impl fmt::Display for CheckOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = &self.all;
        if !all.problems.is_empty() {
            writeln!(f, "{}", drawn(all, self.texts.clone()))?;
        }
        for (path, tool) in &all.read_as {
            writeln!(f, "note: {} was read as settings of {tool}", named(path))?;
        }
        let errors = all
            .problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error)
            .count();
        let warnings = all.problems.len() - errors;
        let style = match (errors, warnings) {
            (0, 0) => Style::GOOD,
            (0, _) => Style::WARNING,
            _ => Style::BAD,
        };
        let files = counted(all.files.len(), "file");
        let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
        let usable = counted(all.loaded, "hook");
        let mut verdict = format!("{files}: {errors}, {warnings}, {usable} usable");
        if self.is_of_all && all.in_use != all.loaded {
            verdict += &format!(", {} in use", all.in_use);
        }
        for agent in &self.agents {
            writeln!(f, "{}", printable(agent))?;
        }
        writeln!(f, "{}", style.paint(verdict))
    }
}
