//! Secrets whose value is known. Knows no names and no shapes.

use super::spans::Spans;

const SHORTEST: usize = 4;
const SHORTEST_NUMBER: usize = 6;
/// A line of a longer secret tells nothing when it is as short as `}` or `EOF`.
const SHORTEST_LINE: usize = 8;

/// Values of settings that are words of every other line of a log.
const WORDS: &[&str] = &[
    "true",
    "false",
    "null",
    "none",
    "default",
    "auto",
    "always",
    "never",
    "enabled",
    "disabled",
    "production",
    "development",
    "staging",
    "test",
    "testing",
    "local",
    "localhost",
    "trace",
    "debug",
    "info",
    "warn",
    "warning",
    "error",
    "utf-8",
    "utf8",
];

pub(super) fn find(text: &str, secret: &str, spans: &mut Spans) {
    let secret = secret.trim();
    if !is_secret(secret) {
        return;
    }
    find_exact(text, secret, spans);
    let escaped = serde_json::Value::from(secret).to_string();
    let escaped = &escaped[1..escaped.len() - 1];
    if escaped != secret {
        find_exact(text, escaped, spans);
    }
    for line in secret.lines().map(str::trim) {
        if line.len() >= SHORTEST_LINE && line.len() < secret.len() {
            find_exact(text, line, spans);
        }
    }
}

fn is_secret(value: &str) -> bool {
    let number = value.bytes().all(|byte| byte.is_ascii_digit());
    let shortest = if number { SHORTEST_NUMBER } else { SHORTEST };
    value.len() >= shortest && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(value))
}

fn find_exact(text: &str, secret: &str, spans: &mut Spans) {
    for (at, found) in text.match_indices(secret) {
        spans.push(at..at + found.len());
    }
}
