//! `list`: all hooks, where they are defined, whether they run, whether they are approved, and where the program looked.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::cli::approval::{Approvals, review};
use crate::cli::args::List;
use crate::cli::entries::{Entry, meant_tool, place, style_of, title, traits};
use crate::cli::files::display_path;
use crate::cli::fire::list;
use crate::cli::{Context, Done, Exit, Style, Terminal};
use crate::config::{Problem, Review, Severity};
use crate::entry::{Off, Standing};
use crate::hook::Condition;
use crate::{Hook, HookEvent, LoadReport, printable};

/// The output of `forge-hooks list --json`.
#[derive(Serialize)]
struct ListOutput<'a> {
    /// The files that were read.
    files: Vec<String>,
    /// The usual files that do not exist.
    not_found: Vec<String>,
    /// The hooks, in the order in which they would run.
    hooks: Vec<Entry>,
    /// The approval of the project's hooks; null without a project, and with `--config`.
    approvals: Option<Approvals<'a>>,
    problems: &'a [Problem],
    /// Files that were probably meant to be read.
    #[serde(skip)]
    hints: Vec<String>,
    /// The next step for an approval.
    #[serde(skip)]
    summary: String,
}

pub(crate) fn run(args: &List, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    if args.given.is_event() {
        return list(args, context, terminal);
    }
    let selected = args
        .given
        .tool
        .as_deref()
        .map(|tool| events_of(tool, context));
    let hooks = context.load()?;
    let root = context.root()?;
    let root = root.filter(|root| context.common.config.is_empty() && root.is_dir());
    // The hooks are listed even if their approvals cannot be read.
    let (project, unknown) = match root.map(|root| review(context, &root)).transpose() {
        Ok(project) => (project, None),
        Err(error) => (None, Some(error)),
    };
    let loaded = hooks.full_report();
    let mut entries = Entry::all(&hooks);
    let mut hints = Vec::new();
    if let (Some(events), Some(tool)) = (selected, &args.given.tool) {
        hints.extend(other_tool(tool, &entries, &events));
        entries.retain(|entry| {
            events
                .iter()
                .any(|event| entry.source.pattern().matches(event))
        });
    }
    // The places are listed in any case.
    match &*context.nothing_found(&hooks) {
        [] => hints.extend(context.others(&hooks)),
        [_, rest @ ..] => hints.extend_from_slice(rest),
    }
    let with_hooks = project.as_ref().filter(|project| project.has_hooks());
    let report = ListOutput {
        files: loaded
            .files
            .iter()
            .map(|path| path.to_string_lossy().into())
            .collect(),
        not_found: context.not_found(&hooks),
        hooks: entries,
        approvals: project.as_ref().map(Review::for_programs),
        problems: &loaded.problems,
        hints,
        summary: with_hooks
            .map(|project| project.summary(context))
            .unwrap_or_default(),
    };
    if let Some(error) = &unknown {
        terminal.note(error)?;
    }
    if !args.json {
        let mut others = LoadReport::clone(&loaded);
        if project.is_some() {
            // The summary names the hooks to approve.
            others.problems.retain(|problem| !problem.is_of_approval);
        }
        context.warn(&hooks, &others, terminal)?;
    }
    terminal.show(args.json, &report)?;
    let is_approved = project.is_none_or(|project| project.is_approved());
    Ok(Exit::fine_if(
        unknown.is_none() && loaded.is_ok() && is_approved,
    ))
}

impl fmt::Display for ListOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.hooks {
            self.show(entry, f)?;
        }
        if self.hooks.is_empty() {
            let is_error = |problem: &Problem| problem.severity == Severity::Error;
            let has_errors = self.problems.iter().any(is_error);
            let usable = if has_errors { "usable " } else { "" };
            writeln!(f, "no {usable}hooks\n")?;
        }
        for file in &self.files {
            writeln!(f, "read       {}", display_path(Path::new(file)))?;
        }
        for file in &self.not_found {
            writeln!(f, "not found  {}", printable(file))?;
        }
        for hint in &self.hints {
            writeln!(f, "{}", Style::WARNING.of(hint))?;
        }
        f.write_str(&self.summary)
    }
}

impl ListOutput<'_> {
    fn show(&self, entry: &Entry, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hook = &entry.source;
        writeln!(f, "{}", Style::STRONG.of(&title(hook)))?;
        let state = entry.why.as_deref().unwrap_or("enabled");
        writeln!(f, "  where    {}", Style::DIM.paint(place(hook)))?;
        writeln!(f, "  state    {}", style_of(&entry.standing).of(state))?;
        for (what, text) in details(hook) {
            writeln!(f, "  {what:<8} {}", printable(&text))?;
        }
        let mut approved = self.approvals.iter().flat_map(|approval| approval.hooks);
        let approved = approved.find(|approved| Some(&approved.definition) == entry.hook.as_ref());
        if let Some(approved) = approved.filter(|_| needs_approval(entry)) {
            for line in approved.covers() {
                writeln!(f, "  {line}")?;
            }
        }
        writeln!(f)
    }
}

/// Returns whether the hook needs an approval. It then runs only while it is unchanged since a person approved it.
fn needs_approval(entry: &Entry) -> bool {
    let is_off_by_name = matches!(entry.standing, Standing::Off(Off::Name { .. }));
    let is_left_out = matches!(
        entry.standing,
        Standing::NotApproved | Standing::Off(Off::Entry)
    );
    !is_off_by_name && (entry.source.approval().is_some() || is_left_out)
}

/// Returns the events that may have this tool.
fn events_of(tool: &str, context: &Context<'_>) -> Vec<HookEvent> {
    let all = context.hooks.vocabulary().events().iter();
    let of_tools = all.filter(|event| event.may_have_tool());
    let events = of_tools.map(|event| HookEvent::new(event.event_type().clone()));
    events.map(|event| event.with_tool_name(tool)).collect()
}

/// Says that no hook is for this tool alone, if one is for a tool with a similar name.
fn other_tool(tool: &str, entries: &[Entry], events: &[HookEvent]) -> Option<String> {
    let patterns = entries.iter().map(|entry| entry.source.pattern());
    let names = patterns.flat_map(|pattern| {
        let events = events.iter().map(|event| &event.event_type);
        events.flat_map(|event| pattern.other_tools(event))
    });
    let names: Vec<_> = names.collect();
    let suggestion = meant_tool(tool, names.iter().copied()).filter(|_| !names.contains(&tool));
    Some(format!("no hook is for the tool `{tool}`; {}", suggestion?))
}

/// Returns the settings of a hook, each with its name.
fn details(hook: &Hook) -> Vec<(&'static str, String)> {
    let mut all = vec![("event", hook.event_pattern().to_owned())];
    for (pointer, condition) in hook.when() {
        let verb = match condition {
            // Their texts begin with a verb.
            Condition::Runs { .. } | Condition::Writes(_) | Condition::RunsOnly(_) => "",
            _ => "matches ",
        };
        all.push(("when", format!("{pointer} {verb}{condition}")));
    }
    if hook.refusal().is_none() {
        let command = hook.command();
        let first = command
            .split_once('\n')
            .map(|(first, _)| format!("{first} ..."));
        let what = if hook.answers() { "answer" } else { "command" };
        all.push((what, first.unwrap_or(command)));
    }
    if let Some([matches, passes]) = hook.count_of_cases() {
        all.push(("cases", format!("{matches} that match, {passes} that pass")));
    }
    all.extend(traits(hook));
    if hook.name().is_some() && !hook.description().is_empty() {
        all.push(("about", hook.description().to_owned()));
    }
    all
}
