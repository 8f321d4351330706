//! Secrets whose values are known. Knows nothing of names and shapes.

use std::ops::Range;

/// A line of a longer secret is masked only if it has at least this many bytes: `}` or `EOF` reveals nothing.
const SHORTEST_LINE: usize = 8;

/// Values of settings that are common words in logs.
#[rustfmt::skip]
const WORDS: &str = "true false null none default auto always never enabled disabled production development staging test \
    testing local localhost trace debug info warn warning error utf-8 utf8";

pub(super) fn find(text: &str, secrets: &[&str], spans: &mut Vec<Range<usize>>) {
    for secret in secrets.iter().map(|secret| secret.trim()) {
        if !is_secret(secret) {
            continue;
        }
        let escaped = serde_json::Value::from(secret).to_string();
        let lines = secret.lines().map(str::trim);
        let lines = lines.filter(|line| line.len() >= SHORTEST_LINE);
        for part in lines.chain([secret, &escaped[1..escaped.len() - 1]]) {
            for (at, occurrence) in text.match_indices(part) {
                spans.push(at..at + occurrence.len());
            }
        }
    }
}

fn is_secret(value: &str) -> bool {
    let number = value.bytes().all(|byte| byte.is_ascii_digit());
    let shortest = if number { 6 } else { 4 };
    let mut words = WORDS.split(' ');
    value.len() >= shortest && !words.any(|word| word.eq_ignore_ascii_case(value))
}
