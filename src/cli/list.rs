//! `list`: all hooks, where they are defined, whether they run, whether they are approved, and where the program looked.

use std::io::Write;

use serde::Serialize;

use crate::cli::approval::{Approvals, Project};
use crate::cli::args::List;
use crate::cli::context::Context;
use crate::cli::entries::{Entry, inherited, place, title};
use crate::cli::error::{Done, Ended, Failure};
use crate::cli::events;
use crate::cli::files::shown;
use crate::cli::terminal::{Style, Terminal};
use crate::config::{Problem, Severity};
use crate::trust::{Approval, Approved};
use crate::{Hook, HookEvent, LoadReport, printable, printable_lines};

/// What `forge-hooks list --json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "list"))]
pub(crate) struct Report<'a> {
    /// The files that were read.
    files: Vec<String>,
    /// The usual files that do not exist.
    not_found: Vec<String>,
    /// The hooks, in the order in which they would run.
    hooks: Vec<Entry>,
    /// The approval of the project's hooks; null without a project, and with `--config`.
    approvals: Option<Approvals<'a>>,
    #[cfg_attr(test, schemars(with = "Vec<crate::cli::shape_tests::Problem>"))]
    problems: &'a [Problem],
}

pub(crate) fn run(args: &List, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    let wanted = wanted(args, context)?;
    let found = context.load()?;
    let project = match context.root()? {
        Some(root) if context.common.config.is_empty() && root.is_dir() => {
            Project::load(context, root).map(Some)
        }
        _ => Ok(None),
    };
    // Without approvals, the hooks are listed all the same.
    let is_known = project.is_ok();
    if let Err(failure) = &project {
        terminal.note(printable_lines(&failure.to_string()))?;
    }
    let project = project.ok().flatten();
    let problems = found.report();
    let mut hooks = Entry::all(&found);
    if let Some(events) = wanted {
        hooks.retain(|entry| events.iter().any(|event| is_for(&entry.source, event)));
    }
    let files = problems.files.iter();
    let report = Report {
        files: files.map(|path| path.to_string_lossy().into()).collect(),
        not_found: context.not_found(&found),
        hooks,
        approvals: project.as_ref().map(Project::for_programs),
        problems: &problems.problems,
    };
    if args.json {
        terminal.json(&report)?;
    } else {
        let mut others = LoadReport::clone(&problems);
        if project.is_some() {
            // What is to be approved is summed up below.
            let trust = context.command("trust");
            let is_other = |help: &String| !help.contains(&trust);
            let problems = &mut others.problems;
            problems.retain(|problem| problem.help.as_ref().is_none_or(is_other));
        }
        context.warn(&found, &others, terminal)?;
        report.show(&problems, terminal)?;
        for hint in context.misplaced(&found) {
            let hint = terminal.styled(Style::WARNING, printable(&hint));
            writeln!(terminal, "{hint}")?;
        }
        if let Some(project) = project.as_ref().filter(|it| it.has_hooks()) {
            project.sum_up(context, terminal)?;
        }
    }
    let is_approved = project.is_none_or(|project| project.is_approved());
    Ok(Ended::fine_if(is_known && problems.is_ok() && is_approved))
}

impl Report<'_> {
    fn show(&self, problems: &LoadReport, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
        for entry in &self.hooks {
            show(entry, terminal)?;
        }
        if self.hooks.is_empty() {
            let is_error = |problem: &Problem| problem.severity == Severity::Error;
            let usable = match self.problems.iter().any(is_error) {
                true => "usable ",
                false => "",
            };
            writeln!(terminal, "no {usable}hooks\n")?;
        }
        for file in &problems.files {
            writeln!(terminal, "read       {}", printable(&shown(file)))?;
        }
        for file in &self.not_found {
            writeln!(terminal, "not found  {}", printable(file))?;
        }
        Ok(())
    }
}

/// Returns the events that the options select, or None for all.
fn wanted(args: &List, context: &Context<'_>) -> Result<Option<Vec<HookEvent>>, Failure> {
    let vocabulary = context.hooks.vocabulary().events().iter();
    let types = match (&args.event, &args.tool) {
        (None, None) => return Ok(None),
        (Some(name), _) => vec![events::event_type(name, None, context)?],
        (None, Some(_)) => vocabulary
            .filter(|event| event.may_have_tool())
            .map(|event| event.event_type().clone())
            .collect(),
    };
    let event = |event_type| {
        let mut event = HookEvent::new(event_type);
        event.tool_name.clone_from(&args.tool);
        event
    };
    Ok(Some(types.into_iter().map(event).collect()))
}

/// Whether a hook is for an event; for any tool if the event has none.
fn is_for(hook: &Hook, event: &HookEvent) -> bool {
    match event.tool_name {
        Some(_) => hook.pattern().matches(event),
        None => hook.pattern().matches_type(&event.event_type),
    }
}

fn show(entry: &Entry, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let hook = &entry.source;
    let name = terminal.styled(Style::STRONG, printable(&title(hook)));
    writeln!(terminal, "{name}")?;
    let state = entry.why.as_deref().unwrap_or("enabled");
    let rows = [
        (Style::DIM, "where", place(hook)),
        (entry.state.style(), "state", state.to_owned()),
    ];
    let details = details(hook).into_iter();
    let details = details.map(|(what, text)| (Style::PLAIN, what, text));
    for (style, what, text) in rows.into_iter().chain(details) {
        let text = terminal.styled(style, printable(&text));
        writeln!(terminal, "  {what:<8} {text}")?;
    }
    if let (Some(root), Some(_)) = (hook.base_dir(), hook.gate()) {
        let approval = Approval::of(root, [&**hook])?;
        for line in approval.hooks.iter().flat_map(Approved::covers) {
            writeln!(terminal, "  {line}")?;
        }
    }
    writeln!(terminal)?;
    Ok(())
}

/// Returns the settings of a hook, each with its name.
fn details(hook: &Hook) -> Vec<(&'static str, String)> {
    let mut all = vec![("event", hook.event_pattern().to_owned())];
    for (pointer, condition) in hook.when() {
        all.push(("when", format!("{pointer} matches {condition}")));
    }
    if hook.refusal().is_none() {
        let command = hook.command().to_string();
        let (first, more) = match command.split_once('\n') {
            Some((first, _)) => (first, " ..."),
            None => (&*command, ""),
        };
        all.push(("command", format!("{first}{more}")));
    }
    if let Some(inherited) = inherited(hook) {
        all.push(("inherits", inherited));
    }
    if hook.resident() {
        all.push(("resident", "its process is kept for many events".to_owned()));
    }
    if hook.background() {
        all.push(("runs", "in the background".to_owned()));
    }
    if hook.name().is_some() && !hook.description().is_empty() {
        all.push(("about", hook.description().to_owned()));
    }
    all
}
