//! The approval of a project's hooks: the files that it covers, and the changes since; `trust`.

use std::path::Path;

use serde::Serialize;

use crate::cli::args::Trust;
use crate::cli::confirm::is_confirmed;
use crate::cli::files::named;
use crate::cli::{CommandError, Context, Done, Exit, Style, Terminal, counted};
use crate::config::Review;
use crate::printable;
use crate::trust::Approved;

/// The approval for programs.
#[derive(Serialize)]
pub(crate) struct Approvals<'a> {
    /// The file with the user's approvals.
    store: String,
    /// The SHA-256 of everything that would be approved, for `trust --digest`.
    digest: String,
    /// True if all hooks are approved as they are, and no file of the project has errors.
    approved: bool,
    /// The changes since the approval.
    changes: &'a [String],
    /// The project's hooks, with the files that an approval covers.
    pub(crate) hooks: &'a [Approved],
}

/// Compares a project's hooks with their approval, whatever its host trusts.
pub(crate) fn review(context: &Context<'_>, root: &Path) -> Result<Review, CommandError> {
    let store = context.trust_store()?;
    Ok(context.hooks.config().review(store, root)?)
}

impl Review {
    pub(crate) fn has_hooks(&self) -> bool {
        self.has_approval || !self.approval.hooks.is_empty()
    }

    pub(crate) fn for_programs(&self) -> Approvals<'_> {
        Approvals {
            store: self.store.path().to_string_lossy().into_owned(),
            digest: self.approval.digest(),
            approved: self.is_approved(),
            changes: &self.approval.changes,
            hooks: &self.approval.hooks,
        }
    }

    /// Describes the approval: whether the hooks are approved, the changes, and the next step.
    pub(crate) fn summary(&self, context: &Context<'_>) -> String {
        let hooks = counted(self.approval.hooks.len(), "hook");
        let trust = context.command("trust");
        let changed = "changed since the approval; review it with";
        let state = if !self.report.is_ok() {
            Style::BAD.of("a hooks file has errors; fix them first")
        } else if self.is_approved() {
            Style::GOOD.paint(format!("{hooks} approved"))
        } else if self.has_approval {
            Style::BAD.of(&format!("{changed} `{trust}`"))
        } else {
            Style::WARNING.of(&format!(
                "{hooks} not approved; review and approve with `{trust}`"
            ))
        };
        let mut lines = vec![format!("{}: {state}", named(&self.approval.root))];
        let changes = self.approval.changes.iter();
        lines.extend(changes.map(|change| format!("  {}", printable(change))));
        if lines.len() > 1 {
            lines.push(format!("Digest: {}", self.approval.digest()));
        }
        if self.unread > 0 {
            let hooks = counted(self.unread, "approved hook");
            lines.push(format!("not shown: {hooks} of other agents"));
        }
        lines.join("\n") + "\n"
    }
}

pub(crate) fn trust(args: &Trust, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    if args.revoke {
        return revoke(args.yes, context, terminal);
    }
    let review = review(context, &context.needed_root()?)?;
    terminal.problems(&review.report)?;
    if !review.report.is_ok() {
        let message = "cannot approve the project's hooks: their file has errors";
        return Err(CommandError::new(message).with_fix(context.fix_errors()));
    }
    let approval = &review.approval;
    let root = named(&approval.root);
    if !review.has_hooks() {
        let message = format!("found no hooks to approve in `{root}`");
        let fix = format!("write some with `{}`", context.command("init"));
        return Err(CommandError::new(message).with_fix(fix));
    }
    let digest = approval.digest();
    let expected = args.digest.as_ref();
    if expected.is_some_and(|expected| !expected.eq_ignore_ascii_case(&digest)) {
        let message = "nothing was approved: `--digest` is not the digest of these hooks";
        let fix = format!(
            "review them with `{}`, which shows it",
            context.command("trust")
        );
        return Err(CommandError::new(message).with_fix(fix));
    }
    if review.is_approved() {
        return terminal.end(Exit::FINE, format_args!("{root}: already approved"));
    }
    write!(terminal, "{approval}")?;
    let hooks = counted(approval.hooks.len(), "hook");
    let question = format!("let {hooks} of {root} run as shown?");
    if expected.is_none() && !is_confirmed(args.yes, &question, terminal)? {
        return terminal.end(Exit::PROBLEMS, "nothing was approved");
    }
    review.approve(context.hooks.config())?;
    terminal.end(Exit::FINE, format_args!("{root}: {hooks} approved"))
}

fn revoke(yes: bool, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    let (store, root) = (context.trust_store()?, context.needed_root()?);
    let display = named(&root);
    if store.approved_hooks(&root)?.is_empty() {
        return terminal.end(Exit::FINE, format_args!("{display}: nothing was approved"));
    }
    let question = format!("withdraw the approval of {display}?");
    if !is_confirmed(yes, &question, terminal)? {
        return terminal.end(Exit::PROBLEMS, "no approval was withdrawn");
    }
    store.remove_approvals(&root)?;
    terminal.end(
        Exit::FINE,
        format_args!("{display}: the approval was withdrawn"),
    )
}
