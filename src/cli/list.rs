//! `list`: all hooks, where they are defined, their state, their events.

use std::io::Write;

use serde_json::{Value, json};

use crate::cli::args::List;
use crate::cli::context::Context;
use crate::cli::ended::Ended;
use crate::cli::error::Failure;
use crate::cli::names::{self, Asker};
use crate::cli::sources::{Listed, State, listed, place, title};
use crate::cli::terminal::{Style, Terminal};
use crate::{Approval, Approved, EventType, Hook, HookEvent, printable};

pub(crate) fn run(
    args: &List,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let wanted = Wanted::from_args(args, context)?;
    let found = context.load()?;
    let problems = found.report();
    let mut hooks = listed(&found, context);
    hooks.retain(|listed| wanted.takes(&listed.hook));
    if args.json {
        let hooks: Vec<_> = hooks.iter().map(Listed::to_json).collect();
        let report = problems.to_json();
        let (files, problems) = (&report["files"], &report["problems"]);
        terminal.json(&json!({"files": files, "hooks": hooks, "problems": problems}))?;
        return Ok(Ended::Fine);
    }
    terminal.note_disabled(context.disabled_by(), &found)?;
    for (number, listed) in hooks.iter().enumerate() {
        if number > 0 {
            writeln!(terminal)?;
        }
        show(listed, terminal)?;
    }
    terminal.problems(&problems)?;
    if hooks.is_empty() {
        let usable = if problems.is_ok() { "" } else { "usable " };
        terminal.note(format_args!("no {usable}hooks"))?;
    }
    Ok(Ended::Fine)
}

/// The hooks to list.
struct Wanted {
    /// None means all.
    events: Vec<EventType>,
    tool: Option<String>,
}

impl Wanted {
    fn from_args(args: &List, context: &Context<'_>) -> Result<Self, Failure> {
        let events = match &args.event {
            Some(name) => vec![names::event_type(name, Asker::List, context)?],
            None if args.tool.is_none() => Vec::new(),
            None => {
                let events = context.hooks.vocabulary().events().iter();
                let with_tool = events.filter(|event| event.may_have_tool());
                with_tool.map(|event| event.event_type().clone()).collect()
            }
        };
        let tool = args.tool.clone();
        Ok(Self { events, tool })
    }

    fn takes(&self, hook: &Hook) -> bool {
        let is_for = |event: &EventType| match &self.tool {
            None => hook.pattern().matches_type(event),
            Some(tool) => {
                let event = HookEvent::new(event.clone()).with_tool_name(tool);
                hook.pattern().matches(&event)
            }
        };
        self.events.is_empty() || self.events.iter().any(is_for)
    }
}

fn show(listed: &Listed, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let hook = &listed.hook;
    let style = match listed.state {
        State::Enabled => Style::Good,
        State::Disabled | State::DisabledByName => Style::Dim,
        State::NotApproved => Style::Warning,
        State::ApprovalLost(_) | State::Unusable(_) => Style::Bad,
    };
    let name = terminal.styled(Style::Strong, printable(title(hook)));
    writeln!(terminal, "{name}")?;
    let place = printable(&place(hook));
    writeln!(
        terminal,
        "  where    {}",
        terminal.styled(Style::Dim, place)
    )?;
    let state = terminal.styled(style, printable(&listed.words));
    writeln!(terminal, "  state    {state}")?;
    writeln!(terminal, "  event    {}", printable(hook.event_pattern()))?;
    for (pointer, condition) in hook.when() {
        let condition = printable(&format!("{pointer} matches {condition}"));
        writeln!(terminal, "  when     {condition}")?;
    }
    if hook.refusal().is_none() {
        let command = hook.command().to_string();
        let mut lines = command.lines();
        let first = printable(lines.next().unwrap_or_default());
        let more = if lines.next().is_some() { " ..." } else { "" };
        writeln!(terminal, "  command  {first}{more}")?;
    }
    if let Some(inherited) = inherited(hook) {
        writeln!(terminal, "  inherits {inherited}")?;
    }
    if hook.resident() {
        writeln!(terminal, "  resident its process is kept for many events")?;
    }
    show_cover(hook, terminal)?;
    if hook.name().is_some() && !hook.description().is_empty() {
        writeln!(terminal, "  about    {}", printable(hook.description()))?;
    }
    Ok(())
}

/// Shows what an approval of the hook covers, if it needs one.
fn show_cover(hook: &Hook, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    if let (Some(root), Some(_)) = (hook.base_dir(), hook.gate()) {
        for line in Approval::of(root, [hook])?
            .hooks
            .iter()
            .flat_map(Approved::covers)
        {
            writeln!(terminal, "  {line}")?;
        }
    }
    Ok(())
}

/// Returns the variables of the program's environment that the hook inherits, if it names them.
pub(crate) fn inherited(hook: &Hook) -> Option<String> {
    let names = hook.inherit()?;
    Some(if names.is_empty() {
        "no variables".to_owned()
    } else {
        printable(&names.join(", "))
    })
}

impl Listed {
    /// Returns the hook as in hooks.json, with its position and its state.
    pub(crate) fn to_json(&self) -> Value {
        let source = self.hook.source();
        let why = (self.state != State::Enabled).then_some(&self.words);
        // An entry that cannot be used has a placeholder hook, whose command is not part of the
        // file.
        let hook = self.hook.refusal().is_none().then(|| self.hook.to_json());
        json!({
            "hook": hook,
            "event": self.hook.event_pattern(),
            "name": self.hook.name(),
            "file": source.map(|source| source.path.to_string_lossy()),
            "line": source.and_then(|source| source.line),
            "index": source.and_then(|source| source.index),
            "state": self.state.name(),
            "why": why,
        })
    }
}
