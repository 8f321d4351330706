//! Output for the user: each hook as it ends, and what the host would do.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::message::Message;
use super::spinner::Spinner;
use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::sources::{place, title};
use crate::cli::terminal::{Style, Terminal};
use crate::cli::validate::counted;
use crate::{
    Decision, FailureKind, Hook, HookEvent, HookOutput, HookResult, Outcome, Residency, SkipReason,
    printable, printable_lines,
};

/// Shows messages as they arrive; with `--json`, nothing before the end.
pub(super) struct Show {
    is_json: bool,
    can_block: bool,
    hooks: usize,
    /// The number of hooks that will have a result, if nothing stops them.
    awaited: usize,
    lacks_approval: bool,
    spinner: Option<Spinner>,
    /// The command that approves hooks.
    trust: String,
}

impl Show {
    pub(super) fn new(
        event: &HookEvent,
        hooks: &[Arc<Hook>],
        is_json: bool,
        context: &Context<'_>,
    ) -> Self {
        let awaited = hooks.iter().filter(|hook| !hook.background());
        Self {
            is_json,
            can_block: context.hooks.vocabulary().can_block(&event.event_type),
            hooks: hooks.len(),
            awaited: awaited.count(),
            lacks_approval: false,
            spinner: None,
            trust: context.command("trust"),
        }
    }

    fn spinner(&mut self, terminal: &Terminal<'_>) -> &mut Spinner {
        let is_on = !self.is_json && terminal.can_move();
        self.spinner.get_or_insert_with(|| Spinner::new(is_on))
    }

    pub(super) fn take(&mut self, message: Message, terminal: &mut Terminal<'_>) -> io::Result<()> {
        match message {
            Message::Started(hook) => {
                self.spinner(terminal).add(hook);
                return self.tick(terminal);
            }
            Message::Result(result) => self.result(&result, "", terminal)?,
            Message::InBackground(result) => {
                self.result(&result, "in the background, ", terminal)?
            }
            Message::Dropped(hook, reason) if !self.is_json => {
                self.spinner(terminal).clear(terminal)?;
                let name = printable(title(&hook));
                writeln!(terminal, "{name}: did not run: {reason}")?;
            }
            Message::Dropped(..) | Message::Done(_) | Message::Idle => {}
        }
        terminal.flush()
    }

    /// Updates the spinner.
    pub(super) fn tick(&mut self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        self.spinner(terminal).draw(terminal)
    }

    pub(super) fn clear(&mut self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        self.spinner(terminal).clear(terminal)
    }

    pub(super) fn interrupted(&mut self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        self.spinner(terminal).clear(terminal)?;
        terminal.note("interrupted: ending the hooks; once more ends this program at once")
    }

    fn result(
        &mut self,
        result: &HookResult,
        how: &str,
        terminal: &mut Terminal<'_>,
    ) -> io::Result<()> {
        let spinner = self.spinner(terminal);
        spinner.remove(&result.hook);
        spinner.clear(terminal)?;
        self.lacks_approval |= result.skipped == Some(SkipReason::NotApproved)
            || result.failure == Some(FailureKind::ApprovalLost);
        if self.is_json {
            return Ok(());
        }
        let (style, verdict) = verdict(result, self.can_block);
        let name = terminal.styled(Style::Strong, printable(title(&result.hook)));
        let place = printable(&place(&result.hook));
        let place = terminal.styled(Style::Dim, format!("({place})"));
        let verdict = terminal.styled(style, verdict);
        let took = if result.started() {
            format!(", {}", shown(result.duration))
        } else {
            String::new()
        };
        let because = because(result);
        let reached = result.residency.filter(|_| result.started());
        let resident = reached.map_or("", residency);
        writeln!(
            terminal,
            "{name} {place}: {how}{verdict}{because}{resident}{took}"
        )?;
        lines(terminal, "out", &result.stdout)?;
        lines(terminal, "err", &result.stderr)?;
        if let Some(output) = result.output() {
            answer(terminal, output)?;
        }
        for words in result.diagnostics() {
            let words = terminal.styled(Style::Warning, printable(words));
            writeln!(terminal, "  {words}")?;
        }
        Ok(())
    }

    pub(super) fn finish(
        &mut self,
        event: &HookEvent,
        outcome: &Outcome,
        interrupted: Option<u8>,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), Failure> {
        self.spinner(terminal).clear(terminal)?;
        if self.is_json {
            return Ok(());
        }
        if self.hooks > 0 {
            writeln!(terminal)?;
        }
        let (style, words) = match interrupted {
            Some(_) => (Style::Warning, interrupted_words(outcome)),
            None => self.conclusion(outcome),
        };
        let name = &event.event_type;
        writeln!(terminal, "{name}: {}", terminal.styled(style, words))?;
        if self.lacks_approval {
            writeln!(
                terminal,
                "  fix: look at it and approve it with `{}`",
                self.trust
            )?;
        }
        if outcome.stops_turn() {
            writeln!(terminal, "  and it would end its turn")?;
        }
        if let Some(input) = outcome.updated_input() {
            let input = printable(&Value::from(input).to_string());
            writeln!(
                terminal,
                "  with these changes, where it applies them: {input}"
            )?;
        }
        if let Some(output) = outcome.updated_output() {
            let output = printable(&output.to_string());
            writeln!(terminal, "  with this in the place of the output: {output}")?;
        }
        Ok(())
    }

    /// Shows what the host would do, and why.
    fn conclusion(&self, outcome: &Outcome) -> (Style, String) {
        if let Some(result) = outcome.blocked() {
            return self.objection(outcome, result);
        }
        let failed = outcome
            .results()
            .iter()
            .filter(|it| !it.should_continue())
            .count();
        if self.hooks == 0 {
            (
                Style::Good,
                "no hook is for this event; the host would continue".to_owned(),
            )
        } else if failed > 0 {
            let failed = counted(failed, "hook");
            let words = format!(
                "{failed} failed or objected; the host would continue, for this event cannot be blocked"
            );
            (Style::Warning, words + &self.not_reached(outcome))
        } else {
            (Style::Good, "the host would continue".to_owned())
        }
    }

    fn objection(&self, outcome: &Outcome, result: &HookResult) -> (Style, String) {
        let by = printable(title(&result.hook));
        let reason = result.reason().unwrap_or("no reason given").trim();
        let reason = printable_lines(reason).replace('\n', "\n  ");
        let rest = self.not_reached(outcome);
        match result.decision() {
            Decision::Ask => (
                Style::Warning,
                format!("{by} wants the user asked: {reason}{rest}; a host that cannot ask blocks"),
            ),
            _ => (Style::Bad, format!("blocked by {by}: {reason}{rest}")),
        }
    }

    fn not_reached(&self, outcome: &Outcome) -> String {
        match self.awaited.saturating_sub(outcome.results().len()) {
            0 => String::new(),
            left => format!(" ({} behind it did not run)", counted(left, "hook")),
        }
    }
}

/// Shows a text, each line with a label.
fn lines(terminal: &mut Terminal<'_>, what: &str, text: &str) -> io::Result<()> {
    for line in text.lines() {
        let what = terminal.styled(Style::Dim, what);
        writeln!(terminal, "  {what}  {}", printable(line))?;
    }
    Ok(())
}

/// Shows how the host reads the hook's answer.
fn answer(terminal: &mut Terminal<'_>, output: &HookOutput) -> io::Result<()> {
    let input = output.updated_input.clone();
    let input = input.map(|input| Value::from(input).to_string());
    let replaced = output.updated_output.as_ref().map(Value::to_string);
    let parts = [
        ("reason for it", &output.reason),
        ("why it ends the turn", &output.stop_reason),
        ("for the user", &output.system_message),
        ("for the model", &output.additional_context),
        ("feedback", &output.feedback),
        ("changes", &input),
        ("for the output", &replaced),
    ];
    for (what, text) in parts {
        lines(terminal, what, text.as_deref().unwrap_or_default())?;
    }
    Ok(())
}

fn interrupted_words(outcome: &Outcome) -> String {
    let ended = outcome
        .results()
        .iter()
        .filter(|result| result.started() && result.failure == Some(FailureKind::Cancelled));
    let names: Vec<_> = ended.map(|result| printable(title(&result.hook))).collect();
    if names.is_empty() {
        "interrupted".to_owned()
    } else {
        format!(
            "interrupted; {} was ended, with all it had started",
            names.join(", ")
        )
    }
}

/// Returns the meaning of the hook's end in one word.
fn verdict(result: &HookResult, can_block: bool) -> (Style, &'static str) {
    if result.skipped.is_some() {
        (Style::Warning, "skipped")
    } else if result.decision() == Decision::Ask {
        (Style::Warning, "asks")
    } else if result.success() && result.should_continue() {
        (Style::Good, "ok")
    } else if result.should_continue() {
        (Style::Warning, "failed, and lets the host continue")
    } else if can_block && !result.hook.background() {
        (Style::Bad, "blocks")
    } else if result.success() {
        (Style::Bad, "objects")
    } else {
        (Style::Bad, "failed")
    }
}

/// Describes how a resident hook received the event.
fn residency(how: Residency) -> &'static str {
    match how {
        Residency::Kept => ", resident: its process was there",
        Residency::Started => ", resident: its process was started for this event",
        Residency::Replaced => ", resident: its process was replaced",
        _ => ", resident: it ran for this event alone",
    }
}

fn because(result: &HookResult) -> String {
    let error = result.error.as_deref();
    error.map_or_else(String::new, |error| format!(", {}", printable(error)))
}

fn shown(duration: Duration) -> String {
    if duration < Duration::from_millis(10) {
        format!("{:.1} ms", duration.as_secs_f64() * 1e3)
    } else if duration < Duration::from_secs(1) {
        format!("{} ms", duration.as_millis())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}
