//! Finds a condition that looks for a program's name in the text of a command, and proposes the condition `runs`.
//!
//! Only what can mean nothing else is translated: the name of a program that is no other word, or a program with a subcommand or
//! options.

use crate::entry::{Decision, HookCommand, May};
use crate::hook::{Condition, Hook};
use crate::printable::shortened;

/// The condition of a shell command's text.
const COMMAND: &str = "/tool_args/command";

/// Programs whose name is hardly a part of another word of a command.
const BY_NAME: [&str; 9] = [
    "sudo", "doas", "pkexec", "rm", "rmdir", "curl", "wget", "shutdown", "reboot",
];

/// Programs that are meant if a subcommand is behind the name.
const WITH_SUBCOMMANDS: [&str; 20] = [
    "git",
    "gh",
    "hg",
    "svn",
    "npm",
    "yarn",
    "pnpm",
    "pip",
    "pip3",
    "cargo",
    "docker",
    "podman",
    "kubectl",
    "helm",
    "terraform",
    "brew",
    "apt",
    "apt-get",
    "dnf",
    "systemctl",
];

/// Anything between two words.
const GAP: &str = " .. ";

/// The most words of a pattern that is proposed.
const MOST_WORDS: usize = 5;

/// Finds a glob or an expression for which `runs` is meant.
/// Returns its key, the message, and the fix.
pub(super) fn finding(hook: &Hook) -> Option<(String, String, String)> {
    let (_, condition) = hook.when().find(|(pointer, _)| *pointer == COMMAND)?;
    let patterns = patterns(hook, condition)?;
    let quoted: Vec<_> = patterns
        .iter()
        .map(|pattern| format!("\"{pattern}\""))
        .collect();
    let proposed = match &quoted[..] {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    let text = condition.to_string();
    Some((
        format!("when.{COMMAND}"),
        format!(
            "`{}` is compared with the text of a command, messages and names too, and not with what it runs",
            shortened(&text)
        ),
        format!("for a command, write {{\"runs\": {proposed}}}"),
    ))
}

/// Returns whether a condition gets this warning, so that others about it are left out.
pub(super) fn has_finding(hook: &Hook, pointer: &str, condition: &Condition) -> bool {
    pointer == COMMAND && patterns(hook, condition).is_some()
}

fn patterns(hook: &Hook, condition: &Condition) -> Option<Vec<String>> {
    // `runs` must not stand beside an answer that allows.
    let allows = match hook.command() {
        HookCommand::Answer(answer) => answer.decision == Some(Decision::Allow),
        _ => hook.may().contains(&May::Grant),
    };
    if allows {
        return None;
    }
    match condition {
        Condition::Glob(glob) => Some(vec![of_glob(glob)?]),
        Condition::OneOf(globs) => globs.iter().map(|glob| of_glob(glob)).collect(),
        Condition::Regex(text) => Some(vec![of_regex(text)?]),
        _ => None,
    }
}

/// Translates `*git push*`.
fn of_glob(glob: &str) -> Option<String> {
    let words = glob.replace('*', GAP);
    let is_plain = |word: &str| {
        word == GAP.trim()
            || word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    };
    let words: Vec<_> = words.split_whitespace().collect();
    words
        .iter()
        .all(|word| is_plain(word))
        .then(|| of_words(&words))?
}

/// Translates `\bgit\s+push\b.*(-f|--force)`.
fn of_regex(text: &str) -> Option<String> {
    let mut text = text
        .trim_start_matches('^')
        .trim_end_matches('$')
        .to_owned();
    for around in [r"(^|\s)", r"(?:^|\s)", r"(\s|$)", r"(?:\s|$)"] {
        text = text.replace(around, " ");
    }
    // The longest come first.
    for between in [r"\s+", r"\s*", " +", r"\s", r"\b"] {
        text = text.replace(between, " ");
    }
    text = text.replace(".*", GAP).replace(".+", GAP);
    let words: Vec<_> = text.split_whitespace().collect();
    let is_alone = words.len() == 1;
    let words: Option<Vec<_>> = words
        .into_iter()
        .map(|word| without_group(word, is_alone))
        .collect();
    of_words(&words?)
}

/// Returns the alternatives of a group, or the word. A bar outside of a group separates whole expressions.
fn without_group(word: &str, is_alone: bool) -> Option<&str> {
    let group = word.strip_prefix("(?:").or_else(|| word.strip_prefix('('));
    let group = group.and_then(|group| group.strip_suffix(')'));
    let plain = group.unwrap_or(word);
    let has_choice = group.is_some() || is_alone;
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || "-_".contains(c) || c == '|' && has_choice;
    (word == GAP.trim() || plain.chars().all(is_plain)).then_some(plain)
}

/// Returns the words as a pattern, if they can only be a command.
fn of_words(words: &[&str]) -> Option<String> {
    let gap = GAP.trim();
    // Whatever stands around the words.
    let start = words.iter().position(|word| *word != gap)?;
    let end = words.iter().rposition(|word| *word != gap)?;
    let (program, rest) = words[start..=end].split_first()?;
    let is_one_of = |names: &[&str]| program.split('|').all(|name| names.contains(&name));
    let by_name = is_one_of(&BY_NAME);
    // A word behind a gap may be a part of another one, or of the next command.
    let places = rest.iter().enumerate();
    let mut bare = places.filter(|(_, word)| **word != gap && !is_option(word));
    let are_bare = bare.all(|(at, word)| {
        let is_near = rest[..at]
            .iter()
            .all(|word| *word != gap && !is_option(word));
        !by_name && is_near && is_bare(word)
    });
    let is_meant =
        by_name || is_one_of(&WITH_SUBCOMMANDS) && rest.first().is_some_and(|word| is_bare(word));
    let words: Vec<_> = std::iter::once(program)
        .chain(rest)
        .copied()
        .filter(|word| *word != gap)
        .collect();
    (are_bare && is_meant && words.len() <= MOST_WORDS).then(|| words.join(" "))
}

fn is_option(word: &str) -> bool {
    let is_one = |word: &str| word.starts_with('-') && !word.trim_start_matches('-').is_empty();
    word.split('|').all(is_one)
}

fn is_bare(word: &str) -> bool {
    let is_one = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic());
    word.split('|').all(is_one) && !word.split('|').any(|word| BY_NAME.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_means_a_command_is_translated() {
        for (text, expected) in [
            ("*sudo*", Some("sudo")),
            ("sudo *", Some("sudo")),
            ("sudo", Some("sudo")),
            ("git push*", Some("git push")),
            ("*git push*--force*", Some("git push --force")),
            ("*rm -rf*", Some("rm -rf")),
            ("npm publish", Some("npm publish")),
            ("git *", None),
            ("*git*", None),
            ("git", None),
            ("*", None),
            ("", None),
            ("*secret*", None),
            ("*drop table*", None),
            ("sud?", None),
            ("*rm -rf /*", None),
            ("*sudo rm*", None),
            ("*.env*", None),
            ("git push origin main now please", None),
        ] {
            assert_eq!(of_glob(text).as_deref(), expected, "{text}");
        }
        for (text, expected) in [
            (r"\bsudo\b", Some("sudo")),
            (r"sudo", Some("sudo")),
            (r"^sudo\s", Some("sudo")),
            (r"(^|\s)sudo(\s|$)", Some("sudo")),
            (r"\b(sudo|doas)\b", Some("sudo|doas")),
            (r"sudo|doas", Some("sudo|doas")),
            (r"git\s+push", Some("git push")),
            (r"git\s+push.*(-f|--force)\b", Some("git push -f|--force")),
            (r"\bgit push (?:--force|-f)", Some("git push --force|-f")),
            (r"rm\s+-rf", Some("rm -rf")),
            (r"\bgit\b", None),
            (r"git push|svn commit", None),
            (r"rm\s+-[rf]+", None),
            (r"rm\s+-rf\s+/", None),
            (r"(?i)sudo", None),
            (r"sudo.*\.env", None),
            (r"DROP TABLE", None),
            (r"curl.*sh", None),
            (r"curl.*\|.*sh", None),
            (r"git commit.*wip", None),
            (r"gh pr merge", Some("gh pr merge")),
            (r"git\s.*push", None),
            (r"git -C x push", None),
            (r"rm node_modules", None),
            (r"(sudo", None),
            (r"rm -", None),
        ] {
            assert_eq!(of_regex(text).as_deref(), expected, "{text}");
        }
        // Each of them is a pattern.
        for pattern in ["sudo|doas", "git push --force|-f", "rm -rf", "npm publish"] {
            let runs = Condition::Runs {
                patterns: vec![pattern.to_owned()],
                with: None,
                paths: None,
            };
            assert!(Hook::new("*", "x").unwrap().with_when("/x", runs).is_ok());
        }
    }
}
