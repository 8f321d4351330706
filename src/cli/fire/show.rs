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
use crate::cli::verdict::changed_by;
use crate::{
    Decision, EventType, FailureKind, Hook, HookEvent, HookOutput, HookResult, Outcome, Residency,
    SkipReason, printable, printable_lines,
};

/// Shows messages as they arrive; with `--json`, nothing before the end.
pub(super) struct Show {
    is_json: bool,
    event: Arc<HookEvent>,
    can_block: bool,
    hooks: usize,
    /// Why no hook ran, if there is none to run.
    pub(super) none: Option<String>,
    /// Whether the event is the changed call.
    pub(super) is_again: bool,
    /// The number of hooks that will have a result, if nothing stops them.
    awaited: usize,
    lacks_approval: bool,
    spinner: Option<Spinner>,
    /// The command that approves hooks.
    trust: String,
}

impl Show {
    pub(super) fn new(
        event: &Arc<HookEvent>,
        hooks: &[Arc<Hook>],
        is_json: bool,
        context: &Context<'_>,
    ) -> Self {
        let awaited = hooks.iter().filter(|hook| !hook.background());
        Self {
            is_json,
            event: Arc::clone(event),
            can_block: context.hooks.vocabulary().can_block(&event.event_type),
            hooks: hooks.len(),
            none: None,
            is_again: false,
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
        let error = result.error.as_deref();
        let because = error.map_or_else(String::new, |error| format!(", {}", printable(error)));
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
        for words in result.diagnostics().iter().chain(&self.remarks(result)) {
            let words = terminal.styled(Style::Warning, printable(words));
            writeln!(terminal, "  {words}")?;
        }
        Ok(())
    }

    /// Describes what the author of the hook probably did not intend.
    fn remarks(&self, result: &HookResult) -> Vec<String> {
        let mut remarks = Vec::new();
        if result.started() {
            for pointer in result.hook.untested_conditions(&self.event) {
                remarks.push(format!(
                    "the condition of `{pointer}` was not tested: the event has no text there, or a very long one"
                ));
            }
        }
        if result.output_held_open {
            remarks.push("a process that it started still holds its output open".to_owned());
        }
        let output = result.output();
        if output.is_some_and(|output| output.updated_output.is_some())
            && self.event.event_type != EventType::ToolPostExecute
        {
            remarks.push("`updatedOutput` has an effect only on `tool:post_execute`".to_owned());
        }
        remarks
    }

    pub(super) fn finish(
        &mut self,
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
        let name = &self.event.event_type;
        writeln!(terminal, "{name}: {}", terminal.styled(style, words))?;
        if let Some(why) = &self.none {
            writeln!(terminal, "{why}")?;
        }
        if self.lacks_approval {
            writeln!(
                terminal,
                "  fix: review the project's hooks, and approve them with `{}`",
                self.trust
            )?;
        }
        if outcome.stops_turn() {
            writeln!(terminal, "  and it would end its turn")?;
        }
        if let Some(input) = outcome.updated_input() {
            let input = printable(&Value::from(input).to_string());
            if !self.is_again {
                writeln!(terminal, "  if the host applies changes: {input}")?;
            } else if changed_by(&self.event, outcome).is_some() {
                writeln!(terminal, "  a second change is ignored: {input}")?;
            }
        }
        if let Some(output) = outcome.updated_output() {
            let output = printable(&output.to_string());
            writeln!(terminal, "  the output is replaced by: {output}")?;
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
        if self.none.is_some() {
            let words = "no hook ran; the host would continue";
            (Style::Warning, words.to_owned())
        } else if self.hooks == 0 {
            let words = "no hook is for this event; the host would continue";
            (Style::Good, words.to_owned())
        } else if failed > 0 {
            let failed = counted(failed, "hook");
            let words = format!(
                "{failed} failed or decided to block; the host would continue, since this event cannot be blocked"
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
                format!("{by} asks the user: {reason} (a host that cannot ask blocks){rest}"),
            ),
            _ => (Style::Bad, format!("blocked by {by}: {reason}{rest}")),
        }
    }

    fn not_reached(&self, outcome: &Outcome) -> String {
        match self.awaited.saturating_sub(outcome.results().len()) {
            0 => String::new(),
            left => format!(" ({} after it did not run)", counted(left, "hook")),
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
        ("reason", &output.reason),
        ("why it ends the turn", &output.stop_reason),
        ("for the user", &output.system_message),
        ("for the model", &output.additional_context),
        ("feedback", &output.feedback),
        ("changes", &input),
        ("new output", &replaced),
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
        (Style::Bad, "decides to block")
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
        _ => ", resident, one-shot",
    }
}

pub(super) fn shown(duration: Duration) -> String {
    if duration < Duration::from_millis(10) {
        format!("{:.2} ms", duration.as_secs_f64() * 1e3)
    } else if duration < Duration::from_secs(1) {
        format!("{} ms", duration.as_millis())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}
