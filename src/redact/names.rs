//! Which names are those of secrets. Knows no values, and not where a name stands.
//!
//! A name is words: `dbPassword2`, `DB_PASSWORD` and `db-password` are all `db_password`. It is that of a
//! secret when one of its words ends with a noun, or is `key` behind a kind of key, and no word behind
//! that says that it is only about the secret. Behind a dot begins another name (`token.rs`).

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A pattern, compiled when it is first needed; that it can be is what the tests show.
pub(super) type Lazy = LazyLock<Option<Regex>>;

macro_rules! pattern {
    ($($pattern:expr),+) => { $crate::redact::names::Lazy::new(|| regex::Regex::new(concat!($($pattern),+)).ok()) };
}
pub(super) use pattern;

pub(super) fn matches(pattern: &Lazy, text: &str) -> bool {
    let pattern = pattern.as_ref();
    pattern.is_some_and(|pattern| pattern.is_match(text))
}

#[rustfmt::skip]
static NOUN: Lazy = pattern!("(?-u)(?:[a-z]*(?:password|passwd|passphrase|passcode|secret|credential|token|authorization|cookie|pwd)|\\b_?(?:[a-z_]*_)?(?:(?:api|\
    access|private|secret|signing|signature|encryption|decryption|account|master|shared|auth|ssh|session|storage|subscription|license|admin|consumer|deploy|service|\
    app|application|webhook|hmac|jwt|gpg|pgp|tls|ssl|client|server|functions?|integration|ingest|recovery|security|cipher|crypto|aes|rsa|openai|anthropic|gemini|\
    stripe|azure|aws|google|twilio|sendgrid|mailgun|algolia|datadog|sentry|heroku|cloudflare|shared_?access)[_.]?key|auth|bearer|otp|psk|pw|mnemonic|(?:db|my|key|\
    store|ssh|ftp|smtp|user|root|admin|sudo|require)?pass))s?(?:_|$)");
/// Words that make a name one for something about the secret.
#[rustfmt::skip]
static ABOUT: Lazy = pattern!("^(?:.*_)?(?:files?|filename|paths?|dir|folder|names?|ids?|counts?|counter|length|len|size|min|max|limits?|types?|kind|ur[li]|endpoint|\
    host|fields?|policy|hint|prompt|expires|expiry|expiration|expired|ttl|age|at|usage|used|budget|refs?|manager|store|providers?|method|mode|enabled|required|\
    changed|updated|version|format|strategy|domain|index|status|state|stdin|env|fd|label|title|placeholder|errors?|message|regex|pattern|attempts|strength|rotation|\
    scopes?|source|class|helpers?|algorithm|reset|command|cmd|agent|cache|osxkeychain|less|per|bucket|pool)(?:_|$)");
/// A variable such as `STRIPE_KEY` is a secret whatever kind of key it is, but for these.
static VARIABLE: Lazy = pattern!("^[A-Z0-9_]+_(?:KEY|PAT)$");
static PUBLIC: Lazy = pattern!("(?:PUBLIC|PRIMARY|FOREIGN|CACHE|PARTITION|SORT|PUBLISHABLE)_KEY$");

/// The names whose values are masked.
#[derive(Clone, Default)]
pub(super) struct Names {
    /// Without the default ones.
    pub(super) off: bool,
    /// In lower case, nothing but letters and digits.
    pub(super) added: Vec<Box<str>>,
}

/// What is known of a name's values.
#[derive(Clone, Copy, Default)]
pub(super) struct Key {
    /// `tokens`, `PASS`: a number counts them.
    pub(super) counts: bool,
    /// `Authorization`, `Cookie`: behind a colon, the value is the rest of the line.
    pub(super) header: bool,
    /// `auth`, `pass`: stands before a colon in sentences too, and is nothing within a longer name.
    pub(super) weak: bool,
}

impl Names {
    pub(super) fn add(&mut self, name: &str) {
        let name = name.chars().filter(|c| c.is_alphanumeric());
        let name: String = name.flat_map(char::to_lowercase).collect();
        if !name.is_empty() {
            self.added.push(name.into());
        }
    }

    /// What is known of this name, if it is that of a secret.
    pub(super) fn find(&self, name: &str) -> Option<Key> {
        self.find_in(name, 0..name.len())
    }

    /// The same for a word of a text, before which there may be more of the name: `api key`.
    pub(super) fn find_in(&self, text: &str, word: Range<usize>) -> Option<Key> {
        let is_added = |name: &Box<str>| ends_with(&text[..word.end], name);
        if self.added.iter().any(is_added) {
            return Some(Key::default());
        }
        let is_key = matches!(&text[word.clone()], "key" | "Key" | "KEY" | "keys");
        let before = text[..word.start].strip_suffix(' ').filter(|_| is_key);
        let before = before.unwrap_or_default().bytes().rev().take(16);
        let letters = before.take_while(u8::is_ascii_alphabetic).count();
        let start = word.start - if letters > 0 { letters + 1 } else { 0 };
        let name = Some(&text[start..word.end]).filter(|_| !self.off);
        name.and_then(classify)
    }
}

/// Whether a text ends with this name, whatever separates its words, and not within a word.
fn ends_with(text: &str, name: &str) -> bool {
    let mut rest = text;
    for c in name.chars().rev() {
        rest = rest.trim_end_matches(['-', '_', '.', ' ']);
        let last = rest.chars().next_back();
        if !last.is_some_and(|last| last.to_lowercase().eq([c])) {
            return false;
        }
        rest = &rest[..rest.len() - last.map_or(0, char::len_utf8)];
    }
    let rest = rest.trim_end_matches('-');
    !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn classify(name: &str) -> Option<Key> {
    let words = words(name);
    let noun = NOUN.as_ref()?.find_iter(&words).last();
    let noun = noun.filter(|noun| !matches(&ABOUT, &words[noun.end()..]));
    let Some(noun) = noun else {
        let is_variable = matches(&VARIABLE, name) && !matches(&PUBLIC, name);
        return is_variable.then(Key::default);
    };
    let found = noun.as_str().trim_end_matches('_');
    let weak = found.ends_with("auth") || found == "pass";
    let header = found.ends_with("authorization") || found.ends_with("cookie");
    let key = Key {
        counts: found.ends_with('s'),
        header,
        weak,
    };
    // `auth_service`
    (!weak || noun.end() == words.len()).then_some(key)
}

/// The name in small letters, with `_` between its words and instead of all but letters and dots.
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
