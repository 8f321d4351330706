//! Finds a condition of a hook that cannot be tested, or that tests something else than its author intended.

use std::collections::BTreeSet;

use super::arguments;
use super::host::{Finding, Host};
use crate::entry::{Decision, HookCommand, May};
use crate::events::{EventSpec, LIKE_AN_EVENT, OF_ANY_EVENT, nearest, never_text};
use crate::hook::{Condition, Hook};
use crate::printable::shortened;

/// Programs whose name is hardly a part of another word of a command.
const BY_NAME: &str = "curl doas rm rmdir sudo wget";

/// Programs that are meant if a subcommand is behind the name.
const WITH_SUBCOMMANDS: &str =
    "apt brew cargo docker dnf gh git helm kubectl npm pip pnpm podman systemctl terraform yarn";

/// Finds the first condition with a mistake.
pub(super) fn finding(hook: &Hook, host: &Host) -> Option<Finding> {
    let events = events_of(hook, host);
    hook.when().find_map(|(pointer, condition)| {
        let pointed = pointer.strip_prefix('/');
        let (message, help) = pointed
            .and_then(|pointer| about_pointer(pointer, &events))
            .or_else(|| of_command(hook, pointer, condition))
            .or_else(|| globs_of(condition).find_map(about_glob))
            .or_else(|| arguments::finding(pointer, hook, host))?;
        Some((format!("when.{pointer}"), message, help))
    })
}

fn globs_of(condition: &Condition) -> impl Iterator<Item = &str> {
    let condition = match condition {
        Condition::Not(inner) => inner,
        condition => condition,
    };
    let globs = match condition {
        Condition::Glob(glob) => std::slice::from_ref(glob),
        Condition::OneOf(globs) => globs,
        _ => &[],
    };
    globs.iter().map(String::as_str)
}

/// Finds a glob or an expression on the text of a command: it also matches messages and names, and a command has many spellings.
fn of_command(hook: &Hook, pointer: &str, condition: &Condition) -> Option<(String, String)> {
    if !pointer.ends_with("/command") {
        return None;
    }
    let globs: Vec<_> = globs_of(condition).collect();
    let text = match condition {
        Condition::Regex(text) if begins_with_program(text) => text,
        _ => *globs
            .first()
            .filter(|glob| is_meant(hook, condition, glob))?,
    };
    let allows = match hook.action() {
        HookCommand::Answer(answer) => answer.decision == Some(Decision::Allow),
        _ => hook.may().contains(&May::Grant),
    };
    let pattern = text.trim_matches(['*', ' ']);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_".contains(c);
    let pattern = match condition {
        Condition::Glob(_) if pattern.chars().all(is_plain) => shortened(pattern),
        _ => "...".into(),
    };
    let condition = if allows {
        "\"runs_only\": [\"...\"]".to_owned()
    } else {
        format!("\"runs\": \"{pattern}\"")
    };
    Some((
        format!(
            "`{}` is compared with the text of a command, messages and names too, and not with what it runs",
            shortened(text)
        ),
        format!("for a command, write {{{condition}}}"),
    ))
}

/// Returns whether a glob of a condition is meant for what a command runs. An answer has no other test of the command.
fn is_meant(hook: &Hook, condition: &Condition, glob: &str) -> bool {
    if glob.is_empty() || is_expression(glob) || glob.starts_with('!') {
        return false;
    }
    let is_answer = matches!(hook.action(), HookCommand::Answer(_));
    match condition {
        Condition::Glob(_) => {
            is_answer || !glob.contains(['*', '?', '[']) || begins_with_program(glob)
        }
        Condition::OneOf(_) => is_answer || globs_of(condition).all(begins_with_program),
        // A command that is excepted may be written whole.
        _ => is_answer,
    }
}

/// Returns whether a glob or an expression begins with a program that is meant, as in `*sudo*` and `git\s+push`.
fn begins_with_program(text: &str) -> bool {
    let text = text.replace("\\b", " ").replace("\\s", " ");
    let is_separator = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_';
    let mut words = text.split(is_separator).filter(|word| !word.is_empty());
    let program = words.next().unwrap_or_default();
    let has = |programs: &str| programs.split(' ').any(|known| known == program);
    has(BY_NAME) || has(WITH_SUBCOMMANDS) && words.next().is_some()
}

fn is_expression(glob: &str) -> bool {
    glob.starts_with('^') || glob.contains("\\b")
}

/// Returns the mistake in a glob that never matches what was intended, and the fix.
fn about_glob(glob: &str) -> Option<(String, String)> {
    let (mistake, help) = if is_expression(glob) {
        (
            "is a glob, and looks like a regular expression",
            "a regular expression is {\"regex\": \"...\"}",
        )
    } else if glob.starts_with('!') {
        (
            "begins with `!`, which means nothing in a glob",
            "for all others, write {\"not\": \"...\"}",
        )
    } else {
        return None;
    };
    Some((format!("`{}` {mistake}", shortened(glob)), help.to_owned()))
}

/// Returns the events of a hook, if the data of all is declared. A host may add data that it has not declared.
fn events_of<'a>(hook: &Hook, host: &'a Host) -> Vec<&'a EventSpec> {
    let events = host.vocabulary.events().iter();
    let events: Vec<_> = events
        .filter(|event| hook.pattern().matches_type(event.event_type()))
        .collect();
    let mut known = events.iter();
    if known.all(|event| event.data_keys().next().is_some()) {
        events
    } else {
        Vec::new()
    }
}

/// The keys of an event's JSON, none of which is a typo of a key in its data.
const BESIDE_THE_DATA: [&str; 5] = ["type", "timestamp", "data", "tool_name", "session_id"];

/// Returns the reason why no text can be found in these events, and the fix: each event then counts as matched by a guard.
/// The pointer has no slash at its beginning.
fn about_pointer(pointer: &str, events: &[&EventSpec]) -> Option<(String, String)> {
    let key = pointer.split('/').next()?;
    let untested = |why: String| format!("{why}, so the condition cannot be tested");
    let has_key = |event: &EventSpec| {
        let is_of_tool = key == "tool_args" && event.may_have_tool();
        is_of_tool || event.data_keys().any(|(name, _)| name == key)
    };
    if events.iter().any(|event| has_key(event)) {
        let are_ours = events.iter().all(|event| event.event_type().is_known());
        let kind = never_text(key).filter(|_| key == pointer && are_ours)?;
        return Some((
            untested(format!("`{key}` is {kind}, and not text")),
            "remove the condition, and test the value in the hook's command".to_owned(),
        ));
    }
    if events.is_empty() || OF_ANY_EVENT.contains(&key) || key.contains('~') {
        return None;
    }
    let keys = events.iter().flat_map(|event| event.data_keys());
    let keys: BTreeSet<_> = keys.map(|(name, _)| name).collect();
    let similar = nearest(key, keys.iter().copied(), LIKE_AN_EVENT);
    let help = match similar.filter(|_| !BESIDE_THE_DATA.contains(&key)) {
        Some(key) => format!("did you mean `/{key}`?"),
        None => {
            let pointers: Vec<_> = keys.iter().map(|key| format!("`/{key}`")).collect();
            let pointers = pointers.join(", ");
            format!("a pointer begins within the event's data, which has {pointers}")
        }
    };
    let key = shortened(key);
    Some((
        untested(format!("no event of this hook has `{key}` in its data")),
        help,
    ))
}
