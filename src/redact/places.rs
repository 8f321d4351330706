//! Secrets that are recognized by the word before them, where no name of a secret is.

use std::ops::Range;
use std::sync::LazyLock;

use super::forms::{self, ByFirstByte, Lazy, near, pattern};

/// Words, and what may follow each; the group is masked.
#[rustfmt::skip]
static PLACES: [(&str, Lazy); 15] = [
    // `postgres://me:[hunter2]@host`, `https://[0123456789abcdefghij]@host`
    ("://", pattern!(r#"^://[^\s/?#@:"'<>]*:([^\s/"'<>]+)@"#)),
    ("://", pattern!(r"^://([A-Za-z0-9_-]{20,})@")),
    // `curl -u me:[hunter2]`, `"--user", "me:[hunter2]"`
    ("-u -U --user --proxy-user", pattern!(r#"^(?:[ \t]+|=|["'], *["'])["']?[^\s:"'/]+:([^\s"'/][^\s"']*)"#)),
    // `curl -ume:[hunter2]`, `curl -b [id=1]`
    ("curl", pattern!(r#"^ (?:[^\r\n]*? )?-[A-Za-z]{0,4}[uU]["' ]?[^\s:"'/]+:([^\s"'/][^\s"']*)"#)),
    ("curl", pattern!(r#"^ (?:[^\r\n]*? )?-b ["']?([^\s"']*=[^\s"']*)"#)),
    // `mysql -p[hunter2]`, `docker login -u me -p [hunter2]`, `redis-cli -a [hunter2]`
    ("mysql mysqladmin mysqldump mariadb mariadb-dump", pattern!(r#"^ (?:[^\r\n]*? )?-p["']?([^\s"'-][^\s"']*)"#)),
    ("sshpass login", pattern!(r#"^ (?:[^\r\n]*? )?-p ?["']?([^\s"']+)"#)),
    ("redis-cli", pattern!(r#"^ (?:[^\r\n]*? )?-a ["']?([^\s"']+)"#)),
    // `openssl rsa -passin pass:[hunter2]`
    ("-passin -passout", pattern!(r#"^[ \t]+["']?pass:([^\s"']+)"#)),
    // `machine host login me password [hunter2]`
    ("login account", pattern!(r"^\s+\S+\s+password[ \t]+(\S+)")),
    // `sent bearer [abc123]`
    ("bearer Bearer", pattern!(r"^[ \t]+([A-Za-z0-9._~+/-]*[0-9][A-Za-z0-9._~+/=-]*|[A-Za-z0-9._~+/-]{20,}=*)")),
    // `IDENTIFIED BY '[hunter2]'`, `PASSWORD '[hunter2]'`
    ("BY PASSWORD", pattern!(r"^ ?[(]?'([^'\r\n]+)'")),
    // `hooks.slack.com/services/[T0/B0/x]`, `discord.com/api/webhooks/1/[x]`
    ("hooks.slack.com", pattern!(r"^/[a-z]+/([A-Za-z0-9/_+-]{8,})")),
    ("webhooks", pattern!(r"^/[0-9]+/([A-Za-z0-9_-]{16,})")),
    // `https://host/?sv=1&sig=[abc]`
    ("sig signature Signature X-Amz-Signature X-Goog-Signature", pattern!(r#"^=([^\s&"'<>]+)"#)),
];
static WORDS: LazyLock<ByFirstByte<&Lazy>> =
    LazyLock::new(|| ByFirstByte::new(PLACES.iter().map(|(words, pattern)| (*words, pattern))));

/// Finds the secrets after this word.
pub(super) fn find(text: &str, word: &Range<usize>, spans: &mut Vec<Range<usize>>) {
    let name = if text[word.end..].starts_with("://") {
        "://"
    } else {
        &text[word.clone()]
    };
    // Options of one letter may be written together: `-su`.
    let is_user = name.len() <= 6 && name.starts_with('-') && name.ends_with(['u', 'U']);
    let name = if is_user { "-u" } else { name };
    let first = name.bytes().next().unwrap_or_default();
    for (_, pattern) in WORDS.get(first).iter().filter(|(word, _)| *word == name) {
        let behind = near(text, word.end);
        let groups = pattern
            .as_ref()
            .and_then(|pattern| pattern.captures(behind));
        let Some(value) = groups.and_then(|groups| groups.get(1)) else {
            continue;
        };
        let (start, mut end) = (word.end + value.start(), word.end + value.end());
        if value.end() == behind.len() {
            end += forms::length_of(&forms::SETTING, &text[end..]);
        }
        if forms::is_secret(value.as_str()) && !is_account(behind, value.range()) {
            spans.push(start..end);
        }
    }
}

/// A user and a group are not a user and a password, except in a URL: `-u 1000:1000`, `-u www-data:www-data`.
fn is_account(text: &str, value: Range<usize>) -> bool {
    let number = text[value.clone()]
        .bytes()
        .all(|byte| byte.is_ascii_digit());
    let user = text[..value.start].strip_suffix(':');
    let user = user.filter(|_| !text[value.end..].starts_with('@'));
    user.is_some_and(|user| number || user.ends_with(&text[value]))
}
