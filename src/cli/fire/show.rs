//! Output for the user: each hook as it ends, and what the host would do.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::spinner::Spinner;
use crate::cli::cases::changed_by;
use crate::cli::context::Context;
use crate::cli::entries::{place, title};
use crate::cli::error::Failure;
use crate::cli::terminal::{Style, Terminal, counted};
use crate::executor::{DropReason, Explanation, Fate};
use crate::outcome::Residency;
use crate::{
    Decision, EventType, FailureKind, Hook, HookEvent, HookOutput, HookResult, Outcome, printable,
    printable_lines,
};

/// Shows what happens; with `--json`, nothing.
pub(super) struct Show {
    is_json: bool,
    event: Arc<HookEvent>,
    can_block: bool,
    /// The number of hooks for the event.
    pub(super) expected: usize,
    pub(super) has_background: bool,
    /// Why no hook ran, if there is none to run.
    pub(super) none: Vec<String>,
    /// The number of results that were shown.
    shown: usize,
    /// The number of background hooks that were started.
    in_background: usize,
    spinner: Spinner,
}

impl Show {
    pub(super) fn new(
        is_json: bool,
        event: &Arc<HookEvent>,
        explained: &[Explanation],
        context: &Context<'_>,
        terminal: &Terminal<'_>,
    ) -> Self {
        let is_for = |it: &&Explanation| {
            it.order.is_some() || matches!(it.fate, Fate::NotApproved(_) | Fate::Stopped(_))
        };
        let hooks: Vec<_> = explained.iter().filter(is_for).collect();
        let vocabulary = context.hooks.vocabulary();
        Self {
            is_json,
            event: Arc::clone(event),
            can_block: vocabulary.can_block(&event.event_type),
            expected: hooks.len(),
            has_background: hooks.iter().any(|it| it.hook.background()),
            none: Vec::new(),
            shown: 0,
            in_background: 0,
            spinner: Spinner::new(!is_json && terminal.can_move()),
        }
    }

    pub(super) fn started(&mut self, hook: Arc<Hook>) {
        self.in_background += usize::from(hook.background());
        self.spinner.add(hook);
    }

    /// Shows those of the results that were not shown yet.
    pub(super) fn results(
        &mut self,
        results: &[HookResult],
        terminal: &mut Terminal<'_>,
    ) -> io::Result<()> {
        for result in &results[self.shown..] {
            self.result(result, "", terminal)?;
            self.shown += 1;
        }
        Ok(())
    }

    pub(super) fn in_background(
        &mut self,
        results: &[HookResult],
        terminal: &mut Terminal<'_>,
    ) -> io::Result<()> {
        let mut results = results.iter();
        results.try_for_each(|result| self.result(result, "in the background, ", terminal))
    }

    pub(super) fn dropped(
        &mut self,
        hook: &Hook,
        reason: DropReason,
        terminal: &mut Terminal<'_>,
    ) -> io::Result<()> {
        if self.is_json {
            return Ok(());
        }
        self.spinner.clear(terminal)?;
        writeln!(
            terminal,
            "{}: did not run: {reason}",
            printable(&title(hook))
        )?;
        terminal.flush()
    }

    /// Updates the spinner.
    pub(super) fn tick(&mut self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        self.spinner.draw(terminal)
    }

    pub(super) fn interrupted(&mut self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        self.spinner.clear(terminal)?;
        terminal.note("interrupted: ending the hooks; once more ends this program at once")
    }

    fn result(
        &mut self,
        result: &HookResult,
        how: &str,
        terminal: &mut Terminal<'_>,
    ) -> io::Result<()> {
        self.spinner.remove(&result.hook);
        self.spinner.clear(terminal)?;
        if self.is_json {
            return Ok(());
        }
        let (style, verdict) = verdict(result, self.can_block);
        let name = terminal.styled(Style::Strong, printable(&title(&result.hook)));
        let place = terminal.styled(Style::Dim, format!("({})", printable(&place(&result.hook))));
        let mut details = String::new();
        if let Some(error) = result.error.as_deref() {
            let reason = without_place(error, &result.hook);
            details += &format!(", {}", printable(reason));
        }
        if result.started() {
            details += result.residency.map_or("", residency);
            details += &format!(", {}", shown(result.duration));
        }
        let verdict = terminal.styled(style, verdict);
        writeln!(terminal, "{name} {place}: {how}{verdict}{details}")?;
        lines(terminal, "out", &result.stdout)?;
        lines(terminal, "err", &result.stderr)?;
        if let Some(output) = result.output() {
            answer(terminal, output)?;
        }
        for words in result.diagnostics().iter().chain(&self.remarks(result)) {
            let words = terminal.styled(Style::Warning, printable(words));
            writeln!(terminal, "  {words}")?;
        }
        terminal.flush()
    }

    /// Describes what the author of the hook probably did not intend.
    fn remarks(&self, result: &HookResult) -> Vec<String> {
        let hook = &result.hook;
        let mut remarks = Vec::new();
        if result.started() {
            for pointer in hook.untested_conditions(&self.event) {
                remarks.push(format!(
                    "the condition of `{pointer}` was not tested: the event has no text there, or a very long one"
                ));
            }
        }
        let replaces = result
            .output()
            .is_some_and(|output| output.updated_output.is_some());
        let is_silent = result.stdout.is_empty() && result.stderr.is_empty();
        let searches = is_silent && ends_with_grep(&hook.command().to_string());
        for (is_probable, words) in [
            (
                result.output_held_open,
                "a process that it started still holds its output open",
            ),
            (
                replaces && self.event.event_type != EventType::ToolPostExecute,
                "`updatedOutput` has an effect only on `tool:post_execute`",
            ),
            (
                hook.resident() && result.timed_out,
                "hint: a resident hook must flush its output after each answer",
            ),
            (
                searches && result.exit_code == 1 && !result.should_continue(),
                "hint: `grep` exits with 1 if it finds nothing: write `if grep ...; then ...; exit 1; fi`, or set `\"on_failure\": \"continue\"`",
            ),
        ] {
            if is_probable {
                remarks.push(words.to_owned());
            }
        }
        remarks
    }

    pub(super) fn finish(
        &mut self,
        outcome: &Outcome,
        interrupted: Option<u8>,
        is_first: bool,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), Failure> {
        self.spinner.clear(terminal)?;
        if self.is_json {
            return Ok(());
        }
        if self.expected > 0 {
            writeln!(terminal)?;
        }
        let (style, words) = match interrupted {
            Some(_) => (Style::Warning, interrupted_words(outcome)),
            None => self.conclusion(outcome),
        };
        let name = &self.event.event_type;
        writeln!(terminal, "{name}: {}", terminal.styled(style, words))?;
        for line in &self.none {
            writeln!(terminal, "  {}", printable(line))?;
        }
        if outcome.stops_turn() {
            writeln!(terminal, "  and it would end its turn")?;
        }
        if let Some(input) = outcome.updated_input() {
            let input = printable(&Value::from(input).to_string());
            if is_first {
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
        let rest = self.not_reached(outcome);
        if let Some(result) = outcome.blocked() {
            return objection(result, &rest);
        }
        let results = outcome.results().iter();
        let failed = results.filter(|it| !it.should_continue()).count();
        if !self.none.is_empty() {
            let words = "no hook ran; the host would continue";
            (Style::Warning, words.to_owned())
        } else if self.expected == 0 {
            let words = "no hook matches this event; the host would continue";
            (Style::Good, words.to_owned())
        } else if failed > 0 {
            let failed = counted(failed, "hook");
            let words = format!(
                "{failed} failed or decided to block; the host would continue, since this event cannot be blocked{rest}"
            );
            (Style::Warning, words)
        } else {
            (Style::Good, "the host would continue".to_owned())
        }
    }

    fn not_reached(&self, outcome: &Outcome) -> String {
        let reached = outcome.results().len() + self.in_background;
        match self.expected.saturating_sub(reached) {
            0 => String::new(),
            left => format!(" ({} after it did not run)", counted(left, "hook")),
        }
    }
}

/// Whether the exit code of a command is that of `grep`.
fn ends_with_grep(command: &str) -> bool {
    let last = command.rsplit([';', '|', '&', '\n']).next();
    let mut words = last.unwrap_or_default().split_whitespace();
    matches!(words.next(), Some("grep" | "egrep" | "fgrep" | "rg"))
}

fn objection(result: &HookResult, rest: &str) -> (Style, String) {
    let by = printable(&title(&result.hook));
    let reason = result.reason().unwrap_or("no reason given").trim();
    let reason = printable_lines(reason).replace('\n', "\n  ");
    match result.decision() {
        Decision::Ask => {
            let words =
                format!("{by} asks the user: {reason} (a host that cannot ask blocks){rest}");
            (Style::Warning, words)
        }
        _ => (Style::Bad, format!("blocked by {by}: {reason}{rest}")),
    }
}

/// Returns the reason of a hook without the path of its file, which stands beside it.
fn without_place<'a>(reason: &'a str, hook: &Hook) -> &'a str {
    let path = hook.source().map(|source| source.path.to_string_lossy());
    let rest = path.and_then(|path| reason.strip_prefix(&format!("{}:", printable(&path))));
    // The line and the column.
    let rest = rest.map(|it| it.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':'));
    rest.map_or(reason, str::trim_start)
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
    let names: Vec<_> = ended
        .map(|result| printable(&title(&result.hook)))
        .collect();
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
