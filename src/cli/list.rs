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
use crate::{EventType, Hook, HookEvent, LoadReport, TrustPolicy, printable};

pub(crate) fn run(
    args: &List,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let wanted = Wanted::of(args, context)?;
    let found = context.load()?;
    let problems = context.load_under(TrustPolicy::Everything)?.report();
    let mut hooks = listed(&found, context);
    hooks.retain(|listed| wanted.takes(&listed.hook));
    if args.json {
        terminal.json(&to_json(&hooks, &problems))?;
        return Ok(Ended::Fine);
    }
    if let Some(variable) = context.disabled_by() {
        terminal.note(format_args!("no hook runs: `{variable}` is set"))?;
    }
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
    event: Option<EventType>,
    tool: Option<String>,
}

impl Wanted {
    fn of(args: &List, context: &Context<'_>) -> Result<Self, Failure> {
        let event = args.event.as_deref();
        Ok(Self {
            event: event
                .map(|name| names::event_type(name, Asker::List, context))
                .transpose()?,
            tool: args.tool.clone(),
        })
    }

    fn takes(&self, hook: &Hook) -> bool {
        let Some(tool) = &self.tool else {
            let event = self.event.as_ref();
            return event.is_none_or(|event| hook.pattern().matches_type(event));
        };
        let tools_events = EventType::BUILTIN
            .into_iter()
            .filter(|event| matches!(event.category(), "tool" | "permission"));
        let events = match &self.event {
            Some(event) => vec![event.clone()],
            None => tools_events.collect(),
        };
        events.into_iter().any(|event| {
            hook.pattern()
                .matches(&HookEvent::new(event).with_tool_name(tool))
        })
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
    if hook.name().is_some() && !hook.description().is_empty() {
        writeln!(terminal, "  about    {}", printable(hook.description()))?;
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

fn to_json(hooks: &[Listed], report: &LoadReport) -> Value {
    let hooks: Vec<_> = hooks.iter().map(Listed::to_json).collect();
    let of_files = report.to_json();
    json!({
        "files": of_files["files"],
        "hooks": hooks,
        "problems": of_files["problems"],
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
