//! `trust` and `untrust`: a person's approval, given and taken back.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use forge_hooks::printable;

use crate::Ended;
use crate::args::{Common, Trust, Untrust};
use crate::error::Failure;
use crate::sources::{needs_the_usual_files, root_of, trust_store};
use crate::status::{self, Project};
use crate::terminal::Terminal;
use crate::validate::counted;

pub(crate) fn trust(
    args: &Trust,
    common: &Common,
    terminal: &mut Terminal,
) -> Result<Ended, Failure> {
    let project = Project::of(common)?;
    terminal.problems(&project.report)?;
    if !project.report.is_ok() {
        let words = "the project's hooks cannot be approved while there are errors in their file";
        return Err(Failure::new(words).with_fix("correct them; `forge-hooks validate` shows them"));
    }
    let root = printable(&project.now.root.to_string_lossy());
    if project.now.hooks.is_empty() && project.before.is_empty() {
        let words = format!("there is nothing to approve: no hooks in `{root}`");
        return Err(Failure::new(words).with_fix("write some with `forge-hooks init`"));
    }
    let changes = project.changes();
    status::show(&changes, terminal)?;
    if changes.is_none() {
        writeln!(terminal, "{root}: approved already")?;
        return Ok(Ended::Fine);
    }
    let hooks = counted(project.now.hooks.len(), "hook");
    let question = format!("let {hooks} of {root} run as shown?");
    if !args.yes && !asked(&question, terminal)? {
        writeln!(terminal, "nothing was approved")?;
        return Ok(Ended::Problems);
    }
    project.store.approve(&project.now)?;
    writeln!(terminal, "{root}: {hooks} approved")?;
    Ok(Ended::Fine)
}

pub(crate) fn untrust(
    args: &Untrust,
    common: &Common,
    terminal: &mut Terminal,
) -> Result<Ended, Failure> {
    needs_the_usual_files(common, status::APPROVES)?;
    let (store, root) = (trust_store()?, root_of(common)?);
    let shown = printable(&root.to_string_lossy());
    if store.approved(&root)?.is_empty() {
        writeln!(terminal, "{shown}: nothing was approved")?;
        return Ok(Ended::Fine);
    }
    let question = format!("forget what was approved of {shown}?");
    if !args.yes && !asked(&question, terminal)? {
        writeln!(terminal, "nothing was forgotten")?;
        return Ok(Ended::Problems);
    }
    store.revoke(&root)?;
    writeln!(terminal, "{shown}: nothing is approved any more")?;
    Ok(Ended::Fine)
}

/// So long an answer is somebody's cat.
const LONGEST_ANSWER: u64 = 1000;

/// Whether a person says yes.
fn asked(question: &str, terminal: &mut Terminal) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        let words = "there is nobody to ask: standard input is no terminal";
        return Err(Failure::new(words).with_fix("say `--yes` when you have looked at it"));
    }
    write!(terminal, "{question} [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    let mut input = io::stdin().lock().take(LONGEST_ANSWER);
    input
        .read_line(&mut answer)
        .map_err(|error| Failure::new(format!("could not read the answer: {error}")))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
