//! `status`: which hooks of a project are approved, and what has changed since.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::cli::args::Status;
use crate::cli::changes::{Change, Changes, Compared, keys_that_differ};
use crate::cli::context::Context;
use crate::cli::ended::Ended;
use crate::cli::error::Failure;
use crate::cli::terminal::{Style, Terminal};
use crate::cli::validate::counted;
use crate::{
    Approval, Approved, Hook, HookConfig, HookRegistry, LoadReport, Problem, TrustError,
    TrustPolicy, TrustStore, printable,
};

pub(crate) const APPROVES: &str =
    "only the project's own files are approved; one of `--config` needs no approval";

/// A project's hooks, now and as approved.
pub(crate) struct Project {
    store: TrustStore,
    config: HookConfig,
    pub(crate) before: Vec<Approved>,
    pub(crate) now: Approval,
    /// The approved hooks of other tools, whose files were not read.
    unread: Vec<Approved>,
    hooks: Vec<Hook>,
    /// The problems of its files.
    pub(crate) report: LoadReport,
}

impl Project {
    pub(crate) fn load(context: &Context<'_>) -> Result<Self, Failure> {
        context.needs_the_usual_files(APPROVES)?;
        let (store, root) = (context.trust_store()?, context.needed_root()?);
        let config = context.hooks.config();
        // Reads the hooks, and runs nothing.
        let policy = TrustPolicy::Everything;
        let mut report = config.load_into(&HookRegistry::new(), &root, policy);
        let is_own = |problem: &Problem| problem.path.starts_with(&root);
        report.problems.retain(is_own);
        let hooks: Vec<Hook> = config.load_project(&root);
        let is_read = |approved: &Approved| config.reads(approved);
        let (before, unread) = store.approved(&root)?.into_iter().partition(is_read);
        Ok(Self {
            before,
            unread,
            now: Approval::of(&root, &hooks)?,
            hooks,
            store,
            config: config.clone(),
            report,
        })
    }

    /// Approves the hooks as they are now. Approvals of hooks that were not read stay.
    pub(crate) fn approve(&self) -> Result<(), TrustError> {
        let config = &self.config;
        let is_kept = |approved: &Approved| !config.reads(approved);
        self.store.approve_beside(&self.now, is_kept)
    }

    pub(crate) fn changes(&self) -> Result<Changes<'_>, TrustError> {
        Changes::between(&self.before, &self.now, &self.hooks)
    }
}

pub(crate) fn run(
    args: &Status,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let project = Project::load(context)?;
    let changes = project.changes()?;
    if args.json {
        terminal.json(&to_json(&project, &changes))?;
    } else {
        terminal.problems(&project.report)?;
        show(&project.now, &changes, terminal)?;
        sum_up(&project, &changes, context, terminal)?;
    }
    Ok(if changes.is_none() && project.report.is_ok() {
        Ended::Fine
    } else {
        Ended::Problems
    })
}

fn sum_up(
    project: &Project,
    changes: &Changes<'_>,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    let root = printable(&project.now.root.to_string_lossy());
    let hooks = counted(changes.hooks.len(), "hook");
    let trust = context.command("trust");
    let (style, words) = if !project.report.is_ok() {
        let words = "a hooks file has errors; fix them first".to_owned();
        (Style::Bad, words)
    } else if !changes.is_none() && project.before.is_empty() {
        let words = format!("{hooks} not approved; approve with `{trust}`");
        (Style::Warning, words)
    } else if !changes.is_none() {
        let words = format!("changed since the approval; approve the changes with `{trust}`");
        (Style::Warning, words)
    } else if changes.hooks.is_empty() {
        (Style::Dim, "no hooks".to_owned())
    } else {
        (Style::Good, format!("{hooks} approved"))
    };
    writeln!(terminal, "{root}: {}", terminal.styled(style, words))?;
    match project.unread.len() {
        0 => {}
        1 => writeln!(terminal, "1 approved hook of another tool is not shown")?,
        count => writeln!(
            terminal,
            "{count} approved hooks of other tools are not shown"
        )?,
    }
    Ok(())
}

/// Shows each hook of a project, with its command if that is not approved.
pub(crate) fn show(
    now: &Approval,
    changes: &Changes<'_>,
    terminal: &mut Terminal<'_>,
) -> io::Result<()> {
    for hook in &changes.hooks {
        show_hook(hook, terminal)?;
    }
    for gone in &changes.gone {
        let words = match gone.definition["enabled"].as_bool() {
            Some(false) => "was approved, and its entry is gone; it was disabled",
            _ => "was approved, and its entry is gone; it blocks",
        };
        let state = terminal.styled(Style::Bad, words);
        writeln!(terminal, "{}: {state}", title_of(gone))?;
        show_definition(gone, "- ", terminal)?;
        writeln!(terminal)?;
    }
    if !changes.is_none() {
        writeln!(terminal, "{}", Approval::NEVER_COVERED)?;
        writeln!(terminal, "Digest: {}", now.digest())?;
    }
    Ok(())
}

fn show_hook(hook: &Compared<'_>, terminal: &mut Terminal<'_>) -> io::Result<()> {
    let (style, state) = match hook.change {
        Change::None => (Style::Good, "approved"),
        Change::New => (Style::Warning, "not approved; does not run"),
        Change::Outdated => (
            Style::Bad,
            "approved by an earlier version, which covered other files; it blocks",
        ),
        Change::Redefined(_) => (Style::Bad, "changed since the approval; it blocks"),
        Change::Files(_) => (
            Style::Bad,
            "its files have changed since the approval; it blocks",
        ),
    };
    let title = terminal.styled(Style::Strong, title_of(hook.now));
    writeln!(terminal, "{title}: {}", terminal.styled(style, state))?;
    match &hook.change {
        Change::None => {}
        Change::New | Change::Outdated => show_definition(hook.now, "+ ", terminal)?,
        Change::Redefined(old) => {
            show_difference(old, hook.now, terminal)?;
            show_definition(hook.now, "  ", terminal)?;
        }
        Change::Files(files) => {
            for (file, how) in files {
                writeln!(terminal, "  `{}` {how}", printable(file))?;
            }
            show_definition(hook.now, "  ", terminal)?;
        }
    }
    if matches!(hook.change, Change::None) {
        return Ok(());
    }
    show_cover(hook.now, terminal)?;
    writeln!(terminal)
}

fn show_definition(hook: &Approved, sign: &str, terminal: &mut Terminal<'_>) -> io::Result<()> {
    // The keys are in their usual order.
    let entry = Hook::from_json(&hook.definition);
    let text = match entry.map(|entry| serde_json::to_string_pretty(&entry)) {
        Ok(Ok(text)) => text,
        _ => format!("{:#}", hook.definition),
    };
    for line in text.lines() {
        writeln!(terminal, "  {sign}{}", printable(line))?;
    }
    Ok(())
}

fn show_difference(old: &Approved, now: &Approved, terminal: &mut Terminal<'_>) -> io::Result<()> {
    for (key, was, is) in keys_that_differ(&old.definition, &now.definition) {
        for (style, sign, value) in [(Style::Bad, '-', was), (Style::Good, '+', is)] {
            if let Some(value) = value {
                let line = printable(&format!("{sign} \"{key}\": {value}"));
                writeln!(terminal, "  {}", terminal.styled(style, line))?;
            }
        }
    }
    Ok(())
}

fn show_cover(hook: &Approved, terminal: &mut Terminal<'_>) -> io::Result<()> {
    for line in hook.covers() {
        writeln!(terminal, "  {line}")?;
    }
    Ok(())
}

/// Returns the title of an approved hook.
fn title_of(hook: &Approved) -> String {
    let text = |key: &str| hook.definition.get(key).and_then(Value::as_str);
    let keys = ["name", "description", "event"].into_iter();
    let words = keys.filter_map(text).find(|text| !text.is_empty());
    printable(words.unwrap_or_default())
}

fn to_json(project: &Project, changes: &Changes<'_>) -> Value {
    let hooks: Vec<_> = changes.hooks.iter().map(Compared::to_json).collect();
    let gone: Vec<_> = changes.gone.iter().map(|gone| &gone.definition).collect();
    json!({
        "project": project.now.root.to_string_lossy(),
        "store": project.store.path().to_string_lossy(),
        "digest": project.now.digest(),
        "approved": changes.is_none() && project.report.is_ok(),
        "hooks": hooks,
        "gone": gone,
        "problems": project.report.to_json()["problems"],
    })
}
