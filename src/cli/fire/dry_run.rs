//! `fire --dry-run`: shows which hooks would run, in order, and for each other hook why not; and why no hook ran.

use std::io::Write;
use std::sync::Arc;

use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::entries::{Entry, place, title};
use crate::cli::error::{Ended, Failure};
use crate::cli::list::inherited;
use crate::cli::terminal::{Style, Terminal, counted};
use crate::{
    Explanation, Fate, FireOptions, HookEvent, Hooks, Mismatch, PatternPart, Severity, printable,
};

/// What `forge-hooks fire --dry-run --json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "dry-run"))]
pub(crate) struct Report<'a> {
    #[cfg_attr(test, schemars(with = "crate::cli::schema_tests::Event"))]
    event: &'a HookEvent,
    /// The variable that disables all hooks, if it is set.
    disabled_by: Option<&'a str>,
    /// The hooks of the event in the order in which they would run, then the others.
    hooks: Vec<Line>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Line {
    #[serde(flatten)]
    entry: Entry,
    verdict: Verdict,
    /// Its position among the hooks that would run or fail, counted from 1.
    order: Option<usize>,
    /// For each alternative of its pattern, and each condition, why it does not match.
    mismatches: Vec<Part>,
    #[serde(skip)]
    words: String,
}

#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum Verdict {
    Runs,
    /// It would fail, because it cannot run.
    Fails,
    DoesNotRun,
}

/// A part of a pattern, or a condition, that does not match.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Part {
    /// The alternative; for a condition, its JSON Pointer.
    alternative: String,
    /// `event`, `category`, `action`, `tool` or `condition`.
    part: String,
    expected: String,
    found: Option<String>,
}

pub(super) fn run(
    is_json: bool,
    options: FireOptions,
    event: &HookEvent,
    context: &Context<'_>,
    found: &Hooks,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let report = Report {
        event,
        disabled_by: context.disabled_by(),
        hooks: lines(event, options, context, found),
    };
    if is_json {
        terminal.json(&report)?;
    } else {
        terminal.problems(&found.report())?;
        report.show(terminal)?;
        for line in nothing_found(context, found) {
            writeln!(terminal, "{}", printable(&line))?;
        }
    }
    let fails = report.hooks.iter().any(|it| it.verdict == Verdict::Fails);
    Ok(Ended::fine_if(!fails))
}

fn lines(
    event: &HookEvent,
    options: FireOptions,
    context: &Context<'_>,
    found: &Hooks,
) -> Vec<Line> {
    let explained = found.executor().explain(event, options);
    let mut lines: Vec<_> = explained.iter().map(|it| Line::new(it, event)).collect();
    let can_block = context.hooks.vocabulary().can_block(&event.event_type);
    for entry in Entry::all_disabled_by_name(found) {
        let mismatches = entry.source.mismatches(event, can_block);
        let mut line = Line::not_run(entry);
        if !mismatches.is_empty() {
            line.words = Fate::Mismatch(mismatches).to_string();
        }
        lines.push(line);
    }
    lines
}

impl Line {
    fn new(explained: &Explanation, event: &HookEvent) -> Self {
        let Explanation { hook, fate, .. } = explained;
        let mut line = Self::not_run(Entry::new(Arc::clone(hook), fate));
        line.order = explained.order;
        line.words = fate.to_string();
        line.verdict = match fate {
            Fate::Runs => Verdict::Runs,
            Fate::Fails { .. } => Verdict::Fails,
            _ => Verdict::DoesNotRun,
        };
        if *fate == Fate::Runs {
            line.words += &settings(explained, event);
        } else {
            line.entry.why = Some(line.words.clone());
        }
        if let Fate::Mismatch(mismatches) = fate {
            line.mismatches = mismatches.iter().map(Part::new).collect();
        }
        line
    }

    fn not_run(entry: Entry) -> Self {
        Self {
            verdict: Verdict::DoesNotRun,
            order: None,
            mismatches: Vec::new(),
            words: entry.why.clone().unwrap_or_default(),
            entry,
        }
    }
}

impl Part {
    fn new(mismatch: &Mismatch) -> Self {
        Self {
            alternative: mismatch.alternative.clone(),
            part: mismatch.part.to_string(),
            expected: mismatch.expected.clone(),
            found: mismatch.found.clone(),
        }
    }
}

/// Returns what a user should know of a hook that runs.
fn settings(explained: &Explanation, event: &HookEvent) -> String {
    let hook = &explained.hook;
    let mut words = String::new();
    if hook.background() {
        words += " in the background";
    }
    if let Some(names) = inherited(hook) {
        words += &format!(", inherits {names}");
    }
    if hook.resident() {
        words += ", resident";
    }
    let untested = hook.untested_conditions(event);
    if !untested.is_empty() {
        words += &format!(", and cannot test `{}`", untested.join("`, `"));
    }
    words
}

impl Report<'_> {
    fn show(&self, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
        for line in &self.hooks {
            let hook = &line.entry.source;
            let style = match line.verdict {
                Verdict::Runs => Style::Good,
                Verdict::Fails => Style::Bad,
                Verdict::DoesNotRun => Style::Dim,
            };
            let order = line
                .order
                .map_or_else(String::new, |order| format!("{order}. "));
            let words = terminal.styled(style, format!("{order}{}", printable(&line.words)));
            let name = terminal.styled(Style::Strong, printable(&title(hook)));
            let place = terminal.styled(Style::Dim, format!("({})", printable(&place(hook))));
            writeln!(terminal, "{name} {place}: {words}")?;
        }
        if !self.hooks.is_empty() {
            writeln!(terminal)?;
        }
        let running = self
            .hooks
            .iter()
            .filter(|it| it.verdict == Verdict::Runs)
            .count();
        let (name, all) = (&self.event.event_type, counted(self.hooks.len(), "hook"));
        writeln!(terminal, "{name}: {running} of {all} would run")?;
        Ok(())
    }
}

/// The most hooks that are named.
const MOST_NAMED: usize = 5;

/// Says why no hook ran, in lines. Empty if no hook is for the event, and none nearly is.
pub(super) fn why_none(
    event: &HookEvent,
    options: FireOptions,
    context: &Context<'_>,
    found: &Hooks,
) -> Vec<String> {
    if let Some(variable) = context.disabled_by() {
        return vec![format!("`{variable}` is set"), "fix: unset it".to_owned()];
    }
    let report = found.report();
    let mut problems = report.problems.iter();
    if let Some(error) = problems.find(|it| it.severity == Severity::Error) {
        let path = crate::cli::files::short(&error.path).display();
        return vec![
            format!("`{path}` has errors, so its hooks may be missing"),
            "fix: fix the errors above".to_owned(),
        ];
    }
    let nearly = |line: &&Line| {
        let entry = &line.entry;
        entry.source.pattern().matches(event) || line.mismatches.iter().any(|it| it.is_near(event))
    };
    let lines = lines(event, options, context, found);
    let mut named: Vec<_> = lines.iter().filter(nearly).map(Line::named).collect();
    if named.len() > MOST_NAMED {
        named.truncate(MOST_NAMED);
        named.push("`--dry-run` shows all".to_owned());
    }
    named.extend(nothing_found(context, found));
    named
}

impl Line {
    fn named(&self) -> String {
        let words = self.words.trim_start_matches("does not run: ");
        let is_tool = |part: &&Part| part.part == PatternPart::Tool.to_string();
        let hint = match self.mismatches.iter().find(is_tool) {
            Some(_) => "; names of tools must match exactly",
            None => "",
        };
        format!("`{}`: {words}{hint}", title(&self.entry.source))
    }
}

impl Part {
    /// Whether the tool of the pattern is nearly that of the event, for example `Bash` and `bash`.
    fn is_near(&self, event: &HookEvent) -> bool {
        let Some(tool) = event.tool_name.as_deref() else {
            return self.part == PatternPart::Tool.to_string();
        };
        let tool = tool.to_lowercase();
        let is_near = |name: &str| strsim::jaro_winkler(&name.to_lowercase(), &tool) > 0.88;
        self.part == PatternPart::Tool.to_string() && self.expected.split('|').any(is_near)
    }
}

/// Says where hooks files were looked for if there are none, and which files are in a wrong place.
fn nothing_found(context: &Context<'_>, found: &Hooks) -> Vec<String> {
    let mut lines = Vec::new();
    if found.report().files.is_empty() && found.registry().hooks().is_empty() {
        let looked: Vec<_> = context
            .not_found(found)
            .iter()
            .map(|path| format!("`{path}`"))
            .collect();
        if !looked.is_empty() {
            lines.push(format!(
                "there is no hooks file: looked for {}",
                looked.join(" and ")
            ));
        }
        let hints = context.misplaced(found);
        if hints.is_empty() {
            lines.push(format!("fix: write one with `{}`", context.command("init")));
        }
        lines.extend(hints);
    }
    lines
}
