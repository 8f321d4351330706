//! Output for the user: each hook as it ends, and what the host would do.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::dry_run;
use super::notes::Note;
use super::spinner::Spinner;
use crate::cli::cases::changed_by;
use crate::cli::context::Context;
use crate::cli::entries::{headline, title};
use crate::cli::terminal::{Style, Terminal, counted};
use crate::executor::{Explanation, Fate};
use crate::outcome::Residency;
use crate::{
    Decision, EventType, FailureKind, Hook, HookEvent, HookOutput, HookResult, Hooks, Outcome,
    printable, printable_lines,
};

/// Shows what happens, unless it is silent.
pub(super) struct Show {
    is_silent: bool,
    event: Arc<HookEvent>,
    can_block: bool,
    /// The number of hooks for the event that have not ended.
    left: usize,
    has_hooks: bool,
    /// Why no hook ran, if there is none to run.
    none: Vec<String>,
    spinner: Spinner,
    /// The exit status of the signal that was received.
    pub(super) interrupted: Option<u8>,
    pub(super) outcome: Option<Box<Outcome>>,
    /// Of the hooks in the background, which are shown after the outcome.
    pub(super) background: Vec<HookResult>,
    is_finished: bool,
}

impl Show {
    pub(super) fn new(
        is_silent: bool,
        (context, hooks): (&Context<'_>, &Hooks),
        event: &Arc<HookEvent>,
        explained: &[Explanation],
        terminal: &Terminal<'_>,
    ) -> Self {
        let is_for = |it: &&Explanation| {
            it.order.is_some() || matches!(it.fate, Fate::NotApproved(_) | Fate::Stopped(_))
        };
        let left = explained.iter().filter(is_for).count();
        let none = match left {
            0 if !is_silent => dry_run::why_none(event, explained, context, hooks),
            _ => Vec::new(),
        };
        let vocabulary = context.hooks.vocabulary();
        let mut spinner = Spinner::default();
        spinner.is_on = !is_silent && terminal.can_move();
        Self {
            is_silent,
            event: Arc::clone(event),
            can_block: vocabulary.can_block(&event.event_type),
            left,
            has_hooks: left > 0,
            none,
            spinner,
            interrupted: None,
            outcome: None,
            background: Vec::new(),
            is_finished: false,
        }
    }

    /// Shows what has happened to a hook, and whether a signal was received.
    pub(super) fn note(
        &mut self,
        note: Option<Note>,
        is_first: bool,
        terminal: &mut Terminal<'_>,
    ) -> io::Result<()> {
        match note {
            Some(Note::Started(hook)) => self.spinner.add(hook),
            Some(Note::Ended(result)) => self.ended(*result, terminal)?,
            Some(Note::Outcome(outcome)) => {
                // Which hooks did not run after one that stopped is known once all have ended.
                let is_stopped = outcome.results().iter().any(|it| !it.should_continue());
                self.outcome = Some(outcome);
                if !is_stopped && self.interrupted.is_none() {
                    self.finish(is_first, terminal)?;
                    if self.left > 0 && !self.is_silent {
                        terminal.note("waiting for hooks in the background")?;
                    }
                }
            }
            Some(Note::Over) | None => {}
        }
        if self.interrupted.is_none() {
            self.interrupted = terminal.interrupted();
            if self.interrupted.is_some() {
                self.spinner.clear(terminal)?;
                let words = "interrupted: ending the hooks; once more ends this program at once";
                terminal.note(words)?;
            }
        }
        self.spinner.draw(terminal)
    }

    fn ended(&mut self, result: HookResult, terminal: &mut Terminal<'_>) -> io::Result<()> {
        self.left = self.left.saturating_sub(1);
        self.spinner.remove(&result.hook);
        if !result.hook.background() || self.is_finished {
            self.result(&result, terminal)?;
        }
        if result.hook.background() {
            self.background.push(result);
        }
        Ok(())
    }

    fn result(&mut self, result: &HookResult, terminal: &mut Terminal<'_>) -> io::Result<()> {
        self.spinner.clear(terminal)?;
        if self.is_silent {
            return Ok(());
        }
        let (style, verdict) = verdict(result, self.can_block);
        let mut details = String::new();
        if let Some(error) = result.error.as_deref() {
            let reason = without_place(error, &result.hook);
            details += &format!(", {}", printable(reason));
        }
        if result.started() {
            details += result.residency.map_or("", residency);
            details += &format!(", {}", shown(result.duration));
        }
        let how = match result.hook.background() {
            true => "in the background, ",
            false => "",
        };
        let verdict = terminal.styled(style, verdict);
        headline(
            &result.hook,
            format_args!("{how}{verdict}{details}"),
            terminal,
        )?;
        lines(terminal, "out", &result.stdout)?;
        lines(terminal, "err", &result.stderr)?;
        if let Some(output) = result.output() {
            answer(terminal, output)?;
        }
        if let Some(file) = result.env_file() {
            let set = String::from_utf8_lossy(file.bytes());
            lines(terminal, "sets", &set)?;
        }
        for words in result.diagnostics().iter().chain(&self.remarks(result)) {
            let words = terminal.styled(Style::WARNING, printable(words));
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
        let output = result.output();
        let replaces = output.is_some_and(|output| output.updated_output.is_some());
        let is_silent = result.stdout.is_empty() && result.stderr.is_empty();
        let found_nothing = is_silent && result.exit_code == 1 && !result.should_continue();
        let probable = [
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
                found_nothing && ends_with_grep(&hook.command().to_string()),
                "hint: `grep` exits with 1 if it finds nothing: write `if grep ...; then ...; exit 1; fi`, or set `\"on_failure\": \"continue\"`",
            ),
        ];
        let words = probable.into_iter().filter(|(is_it, _)| *is_it);
        remarks.extend(words.map(|(_, words)| words.to_owned()));
        remarks
    }

    /// Shows the outcome, and then the hooks in the background that have ended before, once.
    pub(super) fn finish(&mut self, is_first: bool, terminal: &mut Terminal<'_>) -> io::Result<()> {
        if std::mem::replace(&mut self.is_finished, true) {
            return Ok(());
        }
        self.spinner.clear(terminal)?;
        if let Some(outcome) = self.outcome.take() {
            if !self.is_silent {
                self.conclude(&outcome, is_first, terminal)?;
            }
            self.outcome = Some(outcome);
        }
        for result in self.background.clone() {
            self.result(&result, terminal)?;
        }
        Ok(())
    }

    fn conclude(
        &self,
        outcome: &Outcome,
        is_first: bool,
        terminal: &mut Terminal<'_>,
    ) -> io::Result<()> {
        if self.has_hooks {
            writeln!(terminal)?;
        }
        let (style, words) = match self.interrupted {
            Some(_) => (Style::WARNING, interrupted_words(outcome)),
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
        let input = match (is_first, changed_by(&self.event, outcome).is_some()) {
            (true, _) => Some("if the host applies changes"),
            (false, true) => Some("a second change is ignored"),
            (false, false) => None,
        };
        for (what, value) in [
            (input, outcome.updated_input().map(Value::from)),
            (Some("the output is replaced by"), outcome.updated_output()),
        ] {
            if let (Some(what), Some(value)) = (what, value) {
                writeln!(terminal, "  {what}: {}", printable(&value.to_string()))?;
            }
        }
        Ok(())
    }

    /// Returns what the host would do, and why.
    fn conclusion(&self, outcome: &Outcome) -> (Style, String) {
        let rest = match self.left {
            0 => String::new(),
            left => format!(" ({} after it did not run)", counted(left, "hook")),
        };
        if let Some(result) = outcome.blocked() {
            return objection(result, &rest);
        }
        let results = outcome.results().iter();
        let failed = results.filter(|it| !it.should_continue()).count();
        if !self.none.is_empty() {
            let words = "no hook ran; the host would continue";
            (Style::WARNING, words.to_owned())
        } else if !self.has_hooks {
            let words = "no hook matches this event; the host would continue";
            (Style::GOOD, words.to_owned())
        } else if failed > 0 {
            let failed = counted(failed, "hook");
            let words = format!(
                "{failed} failed or decided to block; the host would continue, since this event cannot be blocked{rest}"
            );
            (Style::WARNING, words)
        } else {
            (Style::GOOD, "the host would continue".to_owned())
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
            (Style::WARNING, words)
        }
        _ => (Style::BAD, format!("blocked by {by}: {reason}{rest}")),
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
        let what = terminal.styled(Style::DIM, what);
        writeln!(terminal, "  {what}  {}", printable(line))?;
    }
    Ok(())
}

/// Shows how the host reads the hook's answer.
fn answer(terminal: &mut Terminal<'_>, output: &HookOutput) -> io::Result<()> {
    let input = output.updated_input.clone();
    let input = input.map(|input| Value::from(input).to_string());
    let replaced = output.updated_output.as_ref().map(Value::to_string);
    for (what, text) in [
        ("reason", &output.reason),
        ("why it ends the turn", &output.stop_reason),
        ("for the user", &output.system_message),
        ("for the model", &output.additional_context),
        ("feedback", &output.feedback),
        ("changes", &input),
        ("new output", &replaced),
    ] {
        lines(terminal, what, text.as_deref().unwrap_or_default())?;
    }
    Ok(())
}

fn interrupted_words(outcome: &Outcome) -> String {
    let mut ended: Vec<_> = outcome.results().iter().collect();
    ended.retain(|it| it.started() && it.failure == Some(FailureKind::Cancelled));
    let names: Vec<_> = ended.iter().map(|it| printable(&title(&it.hook))).collect();
    if names.is_empty() {
        return "interrupted".to_owned();
    }
    let names = names.join(", ");
    format!("interrupted; {names} was ended, with all it had started")
}

/// Returns the meaning of the hook's end in one word.
fn verdict(result: &HookResult, can_block: bool) -> (Style, &'static str) {
    let blocks = can_block && !result.hook.background();
    match (result.success(), result.should_continue()) {
        _ if result.skipped.is_some() => (Style::WARNING, "skipped"),
        _ if result.decision() == Decision::Ask => (Style::WARNING, "asks"),
        (true, true) => (Style::GOOD, "ok"),
        (false, true) => (Style::WARNING, "failed, and lets the host continue"),
        (_, false) if blocks => (Style::BAD, "blocks"),
        (true, false) => (Style::BAD, "decides to block"),
        (false, false) => (Style::BAD, "failed"),
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

fn shown(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match duration.as_millis() {
        0..10 => format!("{:.2} ms", seconds * 1e3),
        millis @ 10..1000 => format!("{millis} ms"),
        _ => format!("{seconds:.1} s"),
    }
}
