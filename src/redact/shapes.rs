//! Secrets that are known by what they look like, or by the command in which they stand. Knows no
//! names of keys.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::bare::{is_masked, is_reference};
use super::spans::Spans;

/// Tokens that are as good as impossible by chance. None asks for a boundary before it, since in
/// escaped text a letter may stand there: `\nghp_…`.
const TOKENS: &[&str] = &[
    // GitHub, GitLab
    "gh[opsur]_[A-Za-z0-9]{20,}",
    "github_pat_[A-Za-z0-9_]{20,}",
    "gl(?:pat|dt|rt|cbt|ptt|ft|oas|soat)-[A-Za-z0-9_.-]{16,}",
    // Slack, Telegram
    "xox[a-z](?:[.][a-z]+)?-[A-Za-z0-9-]{8,}",
    "xapp-[0-9]-[A-Za-z0-9-]{8,}",
    "[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",
    // Amazon, Google
    "A[KS]IA[A-Z0-9]{16}",
    "AIza[A-Za-z0-9_-]{30,}",
    "ya29[.][A-Za-z0-9_-]{20,}",
    "GOCSPX-[A-Za-z0-9_-]{20,}",
    // Registries of packages and models
    "npm_[A-Za-z0-9]{30,}",
    "pypi-Ag[A-Za-z0-9_-]{16,}",
    "hf_[A-Za-z0-9]{20,}",
    // Stripe, SendGrid, DigitalOcean, Shopify
    "[rs]k_(?:live|test)_[A-Za-z0-9]{10,}",
    "whsec_[A-Za-z0-9+/=]{16,}",
    "SG[.][A-Za-z0-9_-]{16,}[.][A-Za-z0-9_-]{16,}",
    "do[opr]_v1_[a-f0-9]{40,}",
    "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    // age
    "AGE-SECRET-KEY-1[A-Z0-9]{30,}",
    // JSON Web Tokens, also without their signature
    "eyJ[A-Za-z0-9_-]{8,}[.][A-Za-z0-9_-]+(?:[.][A-Za-z0-9_-]*){1,3}",
    "eyJ[A-Za-z0-9_-]{8,}[.]eyJ[A-Za-z0-9_-]+",
];

/// Secrets that are known by what stands around them; the group is what is masked.
const PLACES: &[&str] = &[
    // OpenAI, Anthropic and others; not within a word such as `task-list`.
    r"(?:^|[^A-Za-z0-9]|\\[nrt])(sk-[A-Za-z0-9_-]{20,})",
    r"(?i-u:\bbearer)[ \t]+([A-Za-z0-9._~+/-]*[0-9][A-Za-z0-9._~+/=-]*|[A-Za-z0-9._~+/-]{20,}=*)",
    // URLs: a password, or nothing but a token, before the host
    "://[^ \t\r\n/?#@:\"'<>]*:([^ \t\r\n/\"'<>]+)@",
    "://([A-Za-z0-9_-]{20,})@",
    "hooks[.]slack[.]com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{8,})",
    "discord(?:app)?[.]com/api/(?:v[0-9]+/)?webhooks/[0-9]+/([A-Za-z0-9_-]{16,})",
    // Options of one letter; behind at most 16 other words, or each `mysql` would be followed to the
    // end of its line
    "(?:^|[ \t\r\n\"'])(?:-[uU]|--user|--proxy-user)(?:[ \t]+|=)[\"']?[^ \t\r\n:\"'/]+:([^ \t\r\n\"'/][^ \t\r\n\"']*)",
    "(?-u:\\b)(?:mysql[a-z]*|mariadb[a-z-]*)(?:[ \t]+[^ \t\r\n|;&]+){0,16}?[ \t]+-p[\"']?([^ \t\r\n\"']+)",
    "(?-u:\\b)(?:sshpass|(?:docker|podman)[ \t]+login)(?:[ \t]+[^ \t\r\n|;&]+){0,16}?[ \t]+-p[ \t]*[\"']?([^ \t\r\n\"']+)",
    "(?-u:\\b)redis-cli(?:[ \t]+[^ \t\r\n|;&]+){0,16}?[ \t]+-a[ \t]*[\"']?([^ \t\r\n\"']+)",
    "-pass(?:in|out)?[ \t]+[\"']?pass:([^ \t\r\n\"']+)",
    // SQL, settings that a command sets
    "(?i-u:\\b(?:password|identified by))[ \t]+[\"']([^\"'\r\n]+)[\"']",
    "(?-u:\\b)config(?:ure)?[ \t]+set[ \t]+[^ \t\r\n=]*(?i-u:password|secret|token|_key)[^ \t\r\n=]*[ \t]+([^ \t\r\n]+)",
    // .netrc
    "(?-u:\\b)login[ \t]+[^ \t\r\n]+[ \t\r\n]+password[ \t]+([^ \t\r\n]+)",
];

static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(TOKENS));
static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(PLACES));

/// That there is always one is what the tests show.
fn any_of(patterns: &[&str]) -> Option<Regex> {
    Regex::new(&patterns.join("|")).ok()
}

pub(super) fn find(text: &str, spans: &mut Spans) {
    find_private_keys(text, spans);
    if let Some(token) = &*TOKEN {
        for found in token.find_iter(text) {
            spans.push(found.range());
        }
    }
    let Some(place) = &*PLACE else { return };
    for groups in place.captures_iter(text) {
        if let Some(group) = groups.iter().skip(1).flatten().next()
            && is_plausible(text, group.range())
        {
            spans.push(group.range());
        }
    }
}

pub(super) fn find_pattern(pattern: &Regex, text: &str, spans: &mut Spans) {
    if pattern
        .capture_names()
        .flatten()
        .any(|name| name == "secret")
    {
        for groups in pattern.captures_iter(text) {
            if let Some(group) = groups.name("secret") {
                spans.push(group.range());
            }
        }
        return;
    }
    for found in pattern.find_iter(text) {
        spans.push(found.range());
    }
}

/// Not a reference; nor a class of a style sheet (`sk-…` without a digit); nor, but in a URL, a user
/// and a group (`-u 1000:1000`, `-u www-data:www-data`).
fn is_plausible(text: &str, span: Range<usize>) -> bool {
    let value = &text[span.clone()];
    if is_reference(value) || is_masked(value) {
        return false;
    }
    let (before, behind) = (&text[..span.start], &text[span.end..]);
    let is_digit = |byte: u8| byte.is_ascii_digit();
    if value.starts_with("sk-") {
        return value.bytes().any(is_digit);
    }
    match before.strip_suffix(':') {
        Some(user) if !behind.starts_with('@') => {
            !user.ends_with(value) && !value.bytes().all(is_digit)
        }
        _ => true,
    }
}

/// Private keys from their first line to their last; to the end of the text where it is cut off.
fn find_private_keys(text: &str, spans: &mut Spans) {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    let mut at = 0;
    while let Some(found) = text[at..].find(BEGIN) {
        let start = at + found;
        at = start + BEGIN.len();
        let Some(label) = text[at..].find("-----").filter(|label| *label < 64) else {
            continue;
        };
        if !text[at..at + label].contains("PRIVATE KEY") {
            continue;
        }
        let body = at + label;
        at = match text[body..].find(END) {
            Some(end) => closing_dashes(text, body + end + END.len()),
            None => text.len(),
        };
        spans.push(start..at);
    }
}

fn closing_dashes(text: &str, at: usize) -> usize {
    match text[at..].find("-----") {
        Some(dashes) if dashes < 64 => at + dashes + 5,
        _ => at,
    }
}
