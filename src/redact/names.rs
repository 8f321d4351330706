//! Decides which names belong to secrets. Knows nothing of values, nor where a name is found.
//!
//! A name is split into words: `dbPassword2` and `DB_PASSWORD` become `db_password`. It is the name of a
//! secret if one of the words names a secret and no word after it says that it is only about the secret.

use std::ops::Range;

use regex::Regex;

use super::forms::{Lazy, is_one_of, matches, pattern};

/// A word that ends with one of these names a secret.
const NOUNS: &str =
    "password passwd passphrase passcode secret credential token authorization cookie pwd";
/// These name a secret as a whole word.
const WORDS: &str = "bearer otp psk pw mnemonic pass dbpass mypass keypass storepass sshpass ftppass smtppass \
    userpass rootpass adminpass sudopass requirepass";
/// A key is a secret after one of these: `api_key`, `apikey`.
const KEYS: &str = "api access private secret signing signature encryption decryption account master shared auth \
    ssh session storage subscription license admin consumer deploy service app application \
    webhook hmac jwt gpg pgp tls ssl client server function functions integration ingest \
    recovery security cipher crypto aes rsa openai anthropic gemini stripe azure aws google \
    twilio sendgrid mailgun algolia datadog sentry heroku cloudflare";
/// After such a word, the value is not the secret, but something about it: `password_file`.
const ABOUT: &str = "file filename path dir folder name id count counter length len size min max limit type kind \
    url uri endpoint host field policy hint prompt expires expiry expiration expired ttl age at \
    usage used budget ref manager store provider method mode enabled required changed updated \
    version format strategy domain index status state stdin env fd label title placeholder error \
    message regex pattern attempts strength rotation scope source class helper algorithm reset \
    command cmd agent cache osxkeychain less per bucket pool";
/// A variable such as `STRIPE_KEY` is a secret whatever kind of key it is, except for these.
static VARIABLE: Lazy = pattern!("^[A-Z0-9_]+_(?:KEY|PAT)$");
static PUBLIC: Lazy = pattern!("(?:PUBLIC|PRIMARY|FOREIGN|CACHE|PARTITION|SORT|PUBLISHABLE)_KEY$");

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
        if !self.added.is_empty() {
            let before = text[..word.start].char_indices().rev().nth(32);
            let near = &text[before.map_or(0, |(at, _)| at)..word.end];
            if self.added.iter().any(|name| name.is_match(near)) {
                return true;
            }
        }
        if self.off || !may_be_secret(&text.as_bytes()[word.clone()]) {
            return false;
        }
        let is_key = matches!(&text[word.clone()], "key" | "Key" | "KEY" | "keys");
        let before = text[..word.start].strip_suffix(' ').filter(|_| is_key);
        let before = before.unwrap_or_default().bytes().rev().take(16);
        let letters = before.take_while(u8::is_ascii_alphabetic).count();
        let start = word.start - if letters > 0 { letters + 1 } else { 0 };
        is_secret(&text[start..word.end])
    }
}

/// A name of a secret has one of these parts, or ends with `pw` or `_PAT`.
#[rustfmt::skip]
const PARTS: [[u8; 3]; 12] = [
    *b"pas", *b"sec", *b"cre", *b"tok", *b"aut", *b"coo", *b"key", *b"otp", *b"psk", *b"pwd", *b"bea", *b"mne",
];

/// Rejects most words of a text at once.
fn may_be_secret(word: &[u8]) -> bool {
    let is_part = |part: &[u8]| PARTS.contains(&[part[0] | 0x20, part[1] | 0x20, part[2] | 0x20]);
    let ends = [&b"pw"[..], b"PW", b"_PAT"];
    word.windows(3).any(is_part) || ends.iter().any(|end| word.ends_with(end))
}

fn is_secret(name: &str) -> bool {
    let words = words(name);
    let (mut is_secret, mut before) = (false, "");
    for part in words.split('_') {
        let word = part.trim_start_matches('.');
        let one = word.strip_suffix('s').unwrap_or(word);
        // `token.kind` is about the last of its names.
        let is_about = || is_one_of(ABOUT, word) || is_one_of(ABOUT, one);
        let is_secret_still = is_secret && !part.starts_with('.') && !is_about();
        is_secret = is_secret_still || names_secret(before, word) || names_secret(before, one);
        before = word;
    }
    is_secret || before == "auth" || matches(&VARIABLE, name) && !matches(&PUBLIC, name)
}

fn names_secret(before: &str, word: &str) -> bool {
    let kind = word.strip_suffix("key");
    let kind = kind.map(|kind| if kind.is_empty() { before } else { kind });
    let is_key = kind.is_some_and(|kind| is_one_of(KEYS, kind));
    is_key || is_one_of(WORDS, word) || NOUNS.split(' ').any(|noun| word.ends_with(noun))
}

/// Splits a name: lower-case letters, `_` between words and in place of all other characters; `_.` for a dot.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    for (at, c) in name.char_indices() {
        let small = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase());
        let beside = small(name[..at].chars().next_back()) || small(name[at..].chars().nth(1));
        let begins = !c.is_ascii_alphabetic() || at > 0 && c.is_ascii_uppercase() && beside;
        if begins && !words.ends_with(['_', '.']) {
            words.push('_');
        }
        words.extend((c.is_ascii_alphabetic() || c == '.').then(|| c.to_ascii_lowercase()));
    }
    words
}
