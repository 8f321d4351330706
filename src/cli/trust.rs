//! `trust` and `untrust`: give and withdraw the user's approval.

use std::io::{BufRead, BufReader, Read, Write};

use crate::cli::args::{Trust, Untrust};
use crate::cli::context::Context;
use crate::cli::ended::Ended;
use crate::cli::error::Failure;
use crate::cli::status::{self, Project};
use crate::cli::terminal::Terminal;
use crate::cli::validate::counted;
use crate::printable;

pub(crate) fn trust(
    args: &Trust,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let project = Project::load(context)?;
    terminal.problems(&project.report)?;
    if !project.report.is_ok() {
        let words = "cannot approve the project's hooks: their file has errors";
        return Err(Failure::new(words).with_fix(format!(
            "fix them; `{}` shows them",
            context.command("validate")
        )));
    }
    let root = printable(&project.now.root.to_string_lossy());
    if project.now.hooks.is_empty() && project.before.is_empty() {
        let words = format!("found no hooks to approve in `{root}`");
        return Err(
            Failure::new(words).with_fix(format!("write some with `{}`", context.command("init")))
        );
    }
    let changes = project.changes()?;
    status::show(&project.now, &changes, terminal)?;
    check_digest(args.digest.as_deref(), &project.now.digest())?;
    if changes.is_none() {
        writeln!(terminal, "{root}: already approved")?;
        return Ok(Ended::Fine);
    }
    let hooks = counted(project.now.hooks.len(), "hook");
    let question = format!("let {hooks} of {root} run as shown?");
    let needs_answer = !args.yes && args.digest.is_none();
    if needs_answer && !asked(&question, terminal)? {
        writeln!(terminal, "nothing was approved")?;
        return Ok(Ended::Problems);
    }
    project.approve()?;
    writeln!(terminal, "{root}: {hooks} approved")?;
    Ok(Ended::Fine)
}

/// Checks the digest that the user expects, if any.
fn check_digest(expected: Option<&str>, digest: &str) -> Result<(), Failure> {
    if expected.is_none_or(|expected| expected.eq_ignore_ascii_case(digest)) {
        return Ok(());
    }
    let words = format!("nothing was approved: `--digest` is not `{digest}`");
    Err(Failure::new(words).with_fix("review the hooks, and use their digest"))
}

pub(crate) fn untrust(
    args: &Untrust,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    context.needs_the_usual_files(status::APPROVES)?;
    let (store, root) = (context.trust_store()?, context.needed_root()?);
    let shown = printable(&root.to_string_lossy());
    if store.approved(&root)?.is_empty() {
        writeln!(terminal, "{shown}: nothing was approved")?;
        return Ok(Ended::Fine);
    }
    let question = format!("withdraw the approval of {shown}?");
    if !args.yes && !asked(&question, terminal)? {
        writeln!(terminal, "no approval was withdrawn")?;
        return Ok(Ended::Problems);
    }
    store.revoke(&root)?;
    writeln!(terminal, "{shown}: the approval was withdrawn")?;
    Ok(Ended::Fine)
}

/// The most bytes of an answer that are read.
const LONGEST_ANSWER: u64 = 1000;

/// Asks the user; true means yes.
fn asked(question: &str, terminal: &mut Terminal<'_>) -> Result<bool, Failure> {
    if !terminal.can_ask() {
        let words = "cannot ask for confirmation: standard input is not a terminal";
        return Err(Failure::new(words).with_fix("review the hooks, then add `--yes`"));
    }
    write!(terminal, "{question} [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    let mut input = BufReader::new((&mut *terminal.input).take(LONGEST_ANSWER));
    input
        .read_line(&mut answer)
        .map_err(|error| Failure::new(format!("cannot read the answer: {error}")))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
