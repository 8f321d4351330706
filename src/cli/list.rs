//! `list`: all hooks, where they are defined, whether they run, whether they are approved, and where the program looked.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::cli::approval::{Approvals, Project};
use crate::cli::args::List;
use crate::cli::context::Context;
use crate::cli::entries::{Entry, State, place, title};
use crate::cli::error::{Ended, Failure};
use crate::cli::files::short;
use crate::cli::names::{self, Asker};
use crate::cli::terminal::{Style, Terminal};
use crate::config::{Problem, Severity};
use crate::trust::{Approval, Approved};
use crate::{Hook, HookEvent, LoadReport, printable, printable_lines};

/// What `forge-hooks list --json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "list"))]
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

pub(crate) fn run(
    args: &List,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
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
    let project = project.or_else(|failure| {
        let words = printable_lines(&failure.to_string());
        terminal.note(words).map(|()| None)
    })?;
    let problems = found.report();
    let mut hooks = Entry::all(&found);
    if let Some(events) = wanted {
        hooks.retain(|entry| events.iter().any(|event| is_for(&entry.source, event)));
    }
    let report = Report {
        files: problems
            .files
            .iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect(),
        not_found: context.not_found(&found),
        hooks,
        approvals: project.as_ref().map(Project::for_programs),
        problems: &problems.problems,
    };
    if args.json {
        terminal.json(&report)?;
    } else {
        terminal.note_disabled(context.disabled_by(), &found)?;
        // What is to be approved is summed up below.
        let mut others = LoadReport::clone(&problems);
        others
            .problems
            .retain(|problem| project.is_none() || !context.is_approved_by_trust(problem));
        terminal.problems(&others)?;
        report.show(terminal)?;
        for hint in context.misplaced(&found) {
            writeln!(
                terminal,
                "{}",
                terminal.styled(Style::Warning, printable(&hint))
            )?;
        }
        if let Some(project) = project.as_ref().filter(|it| it.has_hooks()) {
            project.sum_up(context, terminal)?;
        }
    }
    let is_fine =
        is_known && problems.is_ok() && project.is_none_or(|project| project.is_approved());
    Ok(if is_fine {
        Ended::Fine
    } else {
        Ended::Problems
    })
}

impl Report<'_> {
    fn show(&self, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
        for entry in &self.hooks {
            show(entry, terminal)?;
        }
        if self.hooks.is_empty() {
            let is_error = |problem: &Problem| problem.severity == Severity::Error;
            let usable = if self.problems.iter().any(is_error) {
                "usable "
            } else {
                ""
            };
            writeln!(terminal, "no {usable}hooks\n")?;
        }
        for file in &self.files {
            let file = short(Path::new(file)).to_string_lossy();
            writeln!(terminal, "read       {}", printable(&file))?;
        }
        for file in &self.not_found {
            writeln!(terminal, "not found  {}", printable(file))?;
        }
        Ok(())
    }
}

/// Returns the events that the options select, or None for all.
fn wanted(args: &List, context: &Context<'_>) -> Result<Option<Vec<HookEvent>>, Failure> {
    let events = match (&args.event, &args.tool) {
        (None, None) => return Ok(None),
        (Some(name), _) => vec![names::event_type(name, Asker::List, context)?],
        (None, Some(_)) => {
            let events = context.hooks.vocabulary().events().iter();
            let with_tool = events.filter(|event| event.may_have_tool());
            with_tool.map(|event| event.event_type().clone()).collect()
        }
    };
    let events = events.into_iter().map(HookEvent::new);
    Ok(Some(match &args.tool {
        Some(tool) => events.map(|event| event.with_tool_name(tool)).collect(),
        None => events.collect(),
    }))
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
    let style = match entry.state {
        State::Enabled => Style::Good,
        State::Disabled | State::DisabledByName => Style::Dim,
        State::NotApproved => Style::Warning,
        State::ApprovalLost | State::Unusable => Style::Bad,
    };
    let name = terminal.styled(Style::Strong, printable(&title(hook)));
    writeln!(terminal, "{name}")?;
    let place = terminal.styled(Style::Dim, printable(&place(hook)));
    writeln!(terminal, "  where    {place}")?;
    let state = entry.why.as_deref().unwrap_or("enabled");
    let state = terminal.styled(style, printable(state));
    writeln!(terminal, "  state    {state}")?;
    for (what, text) in details(hook) {
        writeln!(terminal, "  {what:<8} {}", printable(&text))?;
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
        let mut lines = command.lines();
        let first = lines.next().unwrap_or_default();
        let more = if lines.next().is_some() { " ..." } else { "" };
        all.push(("command", format!("{first}{more}")));
    }
    if let Some(inherited) = inherited(hook) {
        all.push(("inherits", inherited));
    }
    for (is_set, what, about) in [
        (
            hook.resident(),
            "resident",
            "its process is kept for many events",
        ),
        (hook.background(), "runs", "in the background"),
    ] {
        if is_set {
            all.push((what, about.to_owned()));
        }
    }
    if hook.name().is_some() && !hook.description().is_empty() {
        all.push(("about", hook.description().to_owned()));
    }
    all
}

/// Returns the variables of the program's environment that the hook inherits, if it names them.
pub(crate) fn inherited(hook: &Hook) -> Option<String> {
    let names = hook.inherit()?;
    Some(if names.is_empty() {
        "no variables".to_owned()
    } else {
        names.join(", ")
    })
}
