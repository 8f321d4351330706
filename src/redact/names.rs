//! Decides which names belong to secrets. Knows nothing of values, nor where a name is found.
//!
//! A name is split into words: `dbPassword2` and `DB_PASSWORD` become `db_password`. It is the name of a
//! secret if a word ends with a noun of the list and no word after it says that it is only about the secret.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A pattern that is compiled when it is first used. Tests show that all compile.
pub(super) type Lazy = LazyLock<Option<Regex>>;

macro_rules! pattern {
    ($($pattern:expr),+) => { $crate::redact::names::Lazy::new(|| regex::Regex::new(concat!($($pattern),+)).ok()) };
}
pub(super) use pattern;

pub(super) fn matches(pattern: &Lazy, text: &str) -> bool {
    pattern.as_ref().is_some_and(|regex| regex.is_match(text))
}

#[rustfmt::skip]
static NOUN: Lazy = pattern!("(?-u)(?:[a-z]*(?:password|passwd|passphrase|passcode|secret|credential|token|authorization|cookie|pwd)|\\b_?(?:[a-z_]*_)?(?:(?:api|\
    access|private|secret|signing|signature|encryption|decryption|account|master|shared|auth|ssh|session|storage|subscription|license|admin|consumer|deploy|service|\
    app|application|webhook|hmac|jwt|gpg|pgp|tls|ssl|client|server|functions?|integration|ingest|recovery|security|cipher|crypto|aes|rsa|openai|anthropic|gemini|\
    stripe|azure|aws|google|twilio|sendgrid|mailgun|algolia|datadog|sentry|heroku|cloudflare|shared_?access)[_.]?key|auth$|bearer|otp|psk|pw|mnemonic|(?:db|my|key|\
    store|ssh|ftp|smtp|user|root|admin|sudo|require)?pass))s?(?:_|$)");
/// Words that turn a name into the name of a property of the secret.
#[rustfmt::skip]
static ABOUT: Lazy = pattern!("^(?:.*_)?(?:files?|filename|paths?|dir|folder|names?|ids?|counts?|counter|length|len|size|min|max|limits?|types?|kind|ur[li]|endpoint|\
    host|fields?|policy|hint|prompt|expires|expiry|expiration|expired|ttl|age|at|usage|used|budget|refs?|manager|store|providers?|method|mode|enabled|required|\
    changed|updated|version|format|strategy|domain|index|status|state|stdin|env|fd|label|title|placeholder|errors?|message|regex|pattern|attempts|strength|rotation|\
    scopes?|source|class|helpers?|algorithm|reset|command|cmd|agent|cache|osxkeychain|less|per|bucket|pool)(?:_|$)");
/// A variable such as `STRIPE_KEY` is a secret whatever kind of key it is, except for `PUBLIC`.
static VARIABLE: Lazy = pattern!("^[A-Z0-9_]+_(?:KEY|PAT)$");
static PUBLIC: Lazy = pattern!("(?:PUBLIC|PRIMARY|FOREIGN|CACHE|PARTITION|SORT|PUBLISHABLE)_KEY$");

/// `tokens`, `PASS`: a number under such a name is a count.
pub(super) static COUNTS: Lazy = pattern!("(?i-u:s$)");

/// The names whose values are masked. `off` has none of the default ones.
#[derive(Clone, Default)]
pub(super) struct Names {
    pub(super) off: bool,
    pub(super) added: Vec<Regex>,
}

impl Names {
    /// Adds a name. It matches with any separators between its letters, but not within a word.
    pub(super) fn add(&mut self, name: &str) {
        let letters = name.chars().filter(|c| c.is_alphanumeric());
        let letters: Vec<String> = letters.map(String::from).collect();
        let pattern = format!(r"(?i)(?:^|[^\w]){}$", letters.join("[-_. ]*"));
        let pattern = Regex::new(&pattern).ok().filter(|_| !letters.is_empty());
        self.added.extend(pattern);
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.has_word(name, 0..name.len())
    }

    /// Whether a word of a text is the name of a secret. The name may begin before the word: `api key`.
    pub(super) fn has_word(&self, text: &str, word: Range<usize>) -> bool {
        let before = text[..word.start].char_indices().rev().nth(32);
        let near = &text[before.map_or(0, |(at, _)| at)..word.end];
        if self.added.iter().any(|name| name.is_match(near)) {
            return true;
        }
        let is_key = matches!(&text[word.clone()], "key" | "Key" | "KEY" | "keys");
        let before = text[..word.start].strip_suffix(' ').filter(|_| is_key);
        let before = before.unwrap_or_default().bytes().rev().take(16);
        let letters = before.take_while(u8::is_ascii_alphabetic).count();
        let start = word.start - if letters > 0 { letters + 1 } else { 0 };
        !self.off && is_secret(&text[start..word.end])
    }
}

fn is_secret(name: &str) -> bool {
    let words = words(name);
    let nouns = NOUN.iter().flat_map(|noun| noun.find_iter(&words));
    let behind = nouns.last().map(|noun| &words[noun.end()..]);
    let is_noun = behind.is_some_and(|behind| !matches(&ABOUT, behind));
    is_noun || matches(&VARIABLE, name) && !matches(&PUBLIC, name)
}

/// Splits a name: lower-case letters, `_` between words and in place of all other characters except dots.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    for (at, c) in name.char_indices() {
        let small = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase());
        let beside = small(name[..at].chars().next_back()) || small(name[at..].chars().nth(1));
        let is_letter = c.is_ascii_alphabetic() || c == '.';
        if !words.ends_with('_') && (!is_letter || at > 0 && c.is_ascii_uppercase() && beside) {
            words.push('_');
        }
        words.extend(is_letter.then(|| c.to_ascii_lowercase()));
    }
    words
}
