//! Output for the user: each hook as it ends, and the reaction of a host.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::spinner::Spinner;
use super::would;
use crate::cli::entries::{headline, title};
use crate::cli::remarks::Remarks;
use crate::cli::{Context, Style, Terminal, counted};
use crate::executor::{Explanation, Observation, Omission};
use crate::outcome::{for_model, texts};
use crate::{
    Decision, FailureKind, Hook, HookEvent, HookResult, Hooks, Outcome, printable, printable_lines,
};

/// Shows the run of an event, unless it is silent.
pub(super) struct Show<'a, 'io> {
    terminal: &'a mut Terminal<'io>,
    is_silent: bool,
    /// True once hooks run again, on the changed input.
    is_again: bool,
    event: Arc<HookEvent>,
    can_block: bool,
    /// The number of hooks for the event that have not ended.
    left: usize,
    has_hooks: bool,
    /// The reasons why no hook ran, if there is none to run.
    none: Vec<String>,
    spinner: Spinner,
    /// The exit status of the signal that was received.
    pub(super) interrupted: Option<u8>,
    pub(super) outcome: Option<Box<Outcome>>,
    /// The results of the hooks in the background, which are shown after the outcome.
    pub(super) background: Vec<HookResult>,
    is_concluded: bool,
    remarks: Remarks,
}

impl<'a, 'io> Show<'a, 'io> {
    pub(super) fn new(
        is_silent: bool,
        (context, hooks): (&Context<'_>, &Hooks),
        event: &Arc<HookEvent>,
        explained: &[Explanation],
        terminal: &'a mut Terminal<'io>,
    ) -> Self {
        let is_for = |explanation: &&Explanation| {
            explanation.order.is_some()
                || matches!(explanation.omission, Some(Omission::Stopped(_)))
        };
        let left = explained.iter().filter(is_for).count();
        let none = match left {
            0 if !is_silent => would::why_none(event, explained, context, hooks),
            _ => Vec::new(),
        };
        let can_block = context.hooks.vocabulary().can_block(&event.event_type);
        let mut spinner = Spinner::default();
        spinner.is_on = !is_silent && terminal.can_move();
        Self {
            terminal,
            is_silent,
            is_again: false,
            event: Arc::clone(event),
            can_block,
            left,
            has_hooks: left > 0,
            none,
            spinner,
            interrupted: None,
            outcome: None,
            background: Vec::new(),
            is_concluded: false,
            remarks: Remarks::new(can_block),
        }
    }

    pub(super) fn observe(&mut self, observation: Observation) -> io::Result<()> {
        match observation {
            Observation::Started(run) => self.spinner.add(run.hook),
            Observation::Ended(run, result) => self.ended(*result, run.is_second_run)?,
            _ => {}
        }
        Ok(())
    }

    /// Shows the outcome, unless hooks did not run: these are known only after the end of all hooks.
    pub(super) fn decided(&mut self, outcome: Outcome) -> io::Result<()> {
        let mut results = outcome.results().iter();
        let is_stopped = results.any(|result| !result.should_continue());
        self.outcome = Some(Box::new(outcome));
        if !is_stopped && self.interrupted.is_none() {
            self.conclude()?;
            if self.left > 0 && !self.is_silent {
                self.terminal.note("waiting for hooks in the background")?;
            }
        }
        Ok(())
    }

    /// Notes a signal, and turns the spinner.
    pub(super) fn tick(&mut self) -> io::Result<()> {
        if self.interrupted.is_none() {
            self.interrupted = self.terminal.interrupted();
            if self.interrupted.is_some() {
                self.spinner.clear(self.terminal)?;
                let message = "interrupted: ending the hooks; once more ends this program at once";
                self.terminal.note(message)?;
            }
        }
        self.spinner.draw(self.terminal)
    }

    fn ended(&mut self, result: HookResult, is_again: bool) -> io::Result<()> {
        if is_again && !self.is_again {
            self.print(|_| "\nonce more, on the changed input:\n".to_owned())?;
        }
        self.is_again |= is_again;
        if !is_again {
            self.left = self.left.saturating_sub(1);
        }
        self.spinner.remove(result.hook());
        if !result.hook().background() || self.is_concluded {
            self.print(|show| show.result(&result))?;
        }
        if result.hook().background() {
            self.background.push(result);
        }
        Ok(())
    }

    /// Shows the outcome, and then the hooks in the background that have ended before, once.
    pub(super) fn conclude(&mut self) -> io::Result<()> {
        let is_concluded = std::mem::replace(&mut self.is_concluded, true);
        if is_concluded || self.outcome.is_none() {
            return Ok(());
        }
        self.print(|show| {
            let outcome = show.outcome.as_deref();
            let conclusion = outcome.map(|outcome| show.conclusion(outcome));
            let background = show.background.iter().map(|result| show.result(result));
            conclusion.into_iter().chain(background).collect()
        })
    }

    /// Prints a text, unless the output is silent: then the text is not made, since masking secrets in it takes longer than
    /// a hook.
    fn print(&mut self, text: impl FnOnce(&Self) -> String) -> io::Result<()> {
        self.spinner.clear(self.terminal)?;
        if !self.is_silent {
            let text = text(self);
            write!(self.terminal, "{text}")?;
        }
        self.terminal.flush()
    }

    fn result(&self, result: &HookResult) -> String {
        let hook = &result.hook();
        let (style, verdict) = verdict(result, self.can_block);
        let mut summary = style.paint(verdict);
        if hook.background() {
            summary.insert_str(0, "in the background, ");
        }
        if let Some(error) = &result.error() {
            summary += &format!(", {}", printable(without_place(error, hook)));
        }
        if result.failure().is_none() && result.should_continue() && result.exit_code() != 0 {
            summary += &format!(", exit code {}", result.exit_code());
        }
        if result.started() && hook.sandboxes().next().is_some() {
            summary += ", in a sandbox";
        }
        if result.started() {
            summary += result.residency().map_or("", residency);
            summary += &format!(", {}", display(result.duration()));
        }
        let mut text = headline(hook, summary);
        let output = result.output().cloned().unwrap_or_default();
        let set = result
            .env_file()
            .map(|(_, content)| String::from_utf8_lossy(content).into());
        for (what, lines) in [
            ("out", Some(result.stdout().to_owned())),
            ("err", Some(result.stderr().to_owned())),
            ("reason", output.reason),
            ("why it ends the turn", output.stop_reason),
            ("for the user", output.system_message),
            (
                "for the model",
                output
                    .additional_context
                    .map(|text| for_model(&text).into()),
            ),
            (
                "feedback",
                output.feedback.map(|text| for_model(&text).into()),
            ),
            (
                "changes",
                output
                    .updated_input
                    .map(|input| Value::from(input).to_string()),
            ),
            (
                "new output",
                output.updated_output.map(|output| output.to_string()),
            ),
            ("sets", set),
        ] {
            for line in lines.unwrap_or_default().lines() {
                text += &format!("  {}  {}\n", Style::DIM.paint(what), printable(line));
            }
        }
        let remarks = self.remarks.of(&self.event, result);
        for note in result.diagnostics().iter().chain(&remarks) {
            text += &format!("  {}\n", Style::WARNING.of(note));
        }
        text
    }

    /// Shows the reaction of a host, and the reason.
    fn conclusion(&self, outcome: &Outcome) -> String {
        let (style, decision) = match self.interrupted {
            Some(_) => (Style::WARNING, interruption(outcome)),
            None => self.decision(outcome),
        };
        let name = &self.event.event_type;
        let mut lines = vec![format!("{name}: {}", style.paint(decision))];
        lines.extend(self.none.iter().map(|line| printable(line)));
        if outcome.stops_turn() {
            lines.push("and it would end its turn".to_owned());
        }
        let input = outcome.updated_input().cloned();
        for (what, value) in [
            ("if the host applies changes", input.map(Value::from)),
            ("the output is replaced by", outcome.updated_output()),
        ] {
            lines.extend(value.map(|value| format!("{what}: {}", printable(&value.to_string()))));
        }
        lines.extend(cut_for_model(outcome));
        let before = if self.has_hooks { "\n" } else { "" };
        format!("{before}{}\n", lines.join("\n  "))
    }

    fn decision(&self, outcome: &Outcome) -> (Style, String) {
        let rest = match self.left {
            0 => String::new(),
            left => format!(" ({} after it did not run)", counted(left, "hook")),
        };
        if let Some(result) = outcome.blocked() {
            let reason = outcome.reason().unwrap_or("no reason given");
            return objection(result, reason, &rest);
        }
        let goes_on = "the host would continue";
        let results = outcome.results().iter();
        match results.filter(|result| !result.should_continue()).count() {
            _ if !self.none.is_empty() => (Style::WARNING, format!("no hook ran; {goes_on}")),
            _ if self.event.event_type.is_agent_stop() && outcome.stops_turn() => {
                (Style::WARNING, "the agent would stop".to_owned())
            }
            _ if !self.has_hooks => (
                Style::GOOD,
                format!("no hook matches this event; {goes_on}"),
            ),
            0 => (Style::GOOD, goes_on.to_owned()),
            failed => {
                let failed = counted(failed, "hook");
                let since = "since this event cannot be blocked";
                let decision =
                    format!("{failed} failed or decided to block; {goes_on}, {since}{rest}");
                (Style::WARNING, decision)
            }
        }
    }
}

/// Notes the combined texts of all hooks that are too long for the model.
fn cut_for_model(outcome: &Outcome) -> Vec<String> {
    let context = texts([outcome], |output| output.additional_context.as_deref());
    let feedback = texts([outcome], |output| output.feedback.as_deref());
    let all = [
        ("context", context, outcome.additional_context()),
        ("feedback", feedback, outcome.feedback()),
    ];
    let cut = all.into_iter().filter_map(|(what, texts, gets)| {
        let whole = texts.join("\n");
        (whole != gets?).then(|| {
            let length = whole.chars().count();
            format!("the model does not get all of the {what}, which has {length} characters")
        })
    });
    cut.collect()
}

fn objection(result: &HookResult, reason: &str, rest: &str) -> (Style, String) {
    let by = printable(&title(result.hook()));
    let reason = printable_lines(reason.trim()).replace('\n', "\n  ");
    match result.decision() {
        Decision::Ask => {
            let cannot = "(a host that cannot ask blocks)";
            let decision = format!("{by} asks the user: {reason} {cannot}{rest}");
            (Style::WARNING, decision)
        }
        _ => (Style::BAD, format!("blocked by {by}: {reason}{rest}")),
    }
}

/// Returns the reason of a hook without the path of its file, which is shown beside it.
fn without_place<'a>(reason: &'a str, hook: &Hook) -> &'a str {
    let path = hook.source().map(|source| source.path.to_string_lossy());
    let rest = path.and_then(|path| reason.strip_prefix(&format!("{}:", printable(&path))));
    // The line and the column follow the path.
    let rest = rest.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':'));
    rest.map_or(reason, str::trim_start)
}

fn interruption(outcome: &Outcome) -> String {
    let is_ended =
        |result: &&HookResult| result.started() && result.failure() == Some(FailureKind::Cancelled);
    let ended = outcome.results().iter().filter(is_ended);
    let names: Vec<_> = ended
        .map(|result| printable(&title(result.hook())))
        .collect();
    match names.join(", ") {
        none if none.is_empty() => "interrupted".to_owned(),
        names => format!("interrupted; {names} was ended, with all it had started"),
    }
}

/// Returns the meaning of the hook's end in one word.
fn verdict(result: &HookResult, can_block: bool) -> (Style, &'static str) {
    if let Some(would) = result.would() {
        return match would {
            Decision::Block if can_block => (Style::WARNING, "would block, is not enforced"),
            Decision::Block => (Style::WARNING, "would decide to block, is not enforced"),
            Decision::Ask => (Style::WARNING, "would ask, is not enforced"),
            Decision::Allow => (Style::GOOD, "ok, is not enforced"),
        };
    }
    match (result.failure().is_none(), result.should_continue()) {
        _ if result.decision() == Decision::Ask => (Style::WARNING, "asks"),
        (true, true) => (Style::GOOD, "ok"),
        (false, true) if result.hook().background() => (Style::BAD, "failed"),
        (false, true) => (Style::WARNING, "failed, and lets the host continue"),
        (_, false) if can_block => (Style::BAD, "blocks"),
        (true, false) => (Style::BAD, "decides to block"),
        (false, false) => (Style::BAD, "failed"),
    }
}

/// Describes how a resident hook received the event.
fn residency(how: &str) -> &'static str {
    match how {
        "kept" => ", resident: its process was there",
        "started" => ", resident: its process was started for this event",
        "replaced" => ", resident: its process was replaced",
        _ => ", resident, one-shot",
    }
}

fn display(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match duration.as_millis() {
        0..10 => format!("{:.2} ms", seconds * 1e3),
        millis @ 10..1000 => format!("{millis} ms"),
        _ => format!("{seconds:.1} s"),
    }
}
