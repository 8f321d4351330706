//! Why no hook ran, although there may be hooks for the event.

use super::dry_run::{Verdict, verdict_on};
use crate::cli::context::Context;
use crate::cli::files::short;
use crate::cli::sources::{listed, title};
use crate::{HookEvent, Hooks, Severity, printable};

/// The most hooks that are named.
const MOST_NAMED: usize = 5;

/// Returns lines for the user; none if there is no hook for the event, and no file with errors.
pub(super) fn why(event: &HookEvent, hooks: &Hooks, context: &Context<'_>) -> Option<String> {
    if let Some(variable) = context.disabled_by() {
        return Some(format!("  `{variable}` is set\n  fix: unset it"));
    }
    let report = hooks.report();
    let mut problems = report.problems.iter();
    if let Some(error) = problems.find(|it| it.severity == Severity::Error) {
        let path = printable(&short(&error.path).to_string_lossy());
        let trust = context.command("trust");
        return Some(format!(
            "  `{path}` has errors, so its hooks may be missing\n  \
             fix: fix the errors above; hooks of a project also need `{trust}`"
        ));
    }
    let can_block = context.hooks.vocabulary().can_block(&event.event_type);
    let mut lines = Vec::new();
    for it in listed(hooks, context) {
        if it.hook.pattern().matches(event)
            && let Verdict::DoesNotRun(why) = verdict_on(&it, &it.hook.mismatches(event, can_block))
        {
            lines.push(printable(&format!("  `{}`: {why}", title(&it.hook))));
        }
    }
    if lines.len() > MOST_NAMED {
        lines.truncate(MOST_NAMED);
        lines.push("  `--dry-run` shows all".to_owned());
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}
