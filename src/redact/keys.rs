//! Which names are those of secrets. Pure: knows no values, and not where a name stands.

use std::ops::Range;

use super::words::{Word, Words};

/// The names whose values are masked.
#[derive(Clone)]
pub(super) struct KeyNames {
    defaults: bool,
    /// In lower case, nothing but letters and digits.
    added: Vec<Box<str>>,
}

/// What kind of secret stands under a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct KeyName {
    pub(super) noun: Noun,
    /// `tokens`, `secrets`: a number under it counts them.
    pub(super) plural: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Noun {
    /// A password, a secret, a key: never anything else.
    Secret,
    /// Also a word of a lexer.
    Token,
    /// `Authorization`, `Cookie`: with a colon, its value is the rest of the line.
    Header,
    /// Also a word of every other program, such as `auth: started`.
    Auth,
    /// Also the working directory.
    Pwd,
    /// `DB_PASS`; by itself it counts tests.
    Pass,
}

/// A name is that of a secret when one of its words ends so.
const NOUNS: &[(&str, Noun)] = &[
    ("password", Noun::Secret),
    ("passwd", Noun::Secret),
    ("passphrase", Noun::Secret),
    ("passcode", Noun::Secret),
    ("secret", Noun::Secret),
    ("credential", Noun::Secret),
    ("token", Noun::Token),
    ("authorization", Noun::Header),
    ("cookie", Noun::Header),
    ("sshpass", Noun::Secret),
    ("pwd", Noun::Pwd),
];

/// The words of two that together are such a noun: `api_key`, `apiKey`, `API KEY`, `apikey`.
const KEY_KINDS: &[&str] = &[
    "api",
    "access",
    "private",
    "secret",
    "signing",
    "signature",
    "encryption",
    "account",
    "master",
    "shared",
    "auth",
    "ssh",
    "session",
    "storage",
    "subscription",
    "license",
    "admin",
    "consumer",
    "deploy",
    "service",
    "app",
    "webhook",
    "decryption",
    "hmac",
    "jwt",
    "gpg",
    "openai",
    "anthropic",
    "gemini",
    "stripe",
    "azure",
    "aws",
    "google",
];

/// Behind a noun, these make a name for something about the secret.
const ABOUT: &[&str] = &[
    "file",
    "files",
    "filename",
    "path",
    "paths",
    "dir",
    "folder",
    "name",
    "names",
    "id",
    "ids",
    "count",
    "counts",
    "counter",
    "length",
    "len",
    "size",
    "min",
    "max",
    "limit",
    "limits",
    "type",
    "types",
    "kind",
    "url",
    "uri",
    "endpoint",
    "host",
    "field",
    "fields",
    "policy",
    "hint",
    "prompt",
    "expires",
    "expiry",
    "expiration",
    "expired",
    "ttl",
    "age",
    "at",
    "usage",
    "used",
    "budget",
    "ref",
    "refs",
    "manager",
    "store",
    "provider",
    "providers",
    "method",
    "mode",
    "enabled",
    "required",
    "changed",
    "updated",
    "version",
    "format",
    "strategy",
    "domain",
    "index",
    "status",
    "state",
    "stdin",
    "env",
    "fd",
    "label",
    "title",
    "placeholder",
    "error",
    "errors",
    "message",
    "regex",
    "pattern",
    "attempts",
    "strength",
    "rotation",
    "scope",
    "scopes",
    "source",
    "class",
    "helper",
    "helpers",
    "algorithm",
    "reset",
    "command",
    "cmd",
    "agent",
    "cache",
    "osxkeychain",
    "cache",
    "osxkeychain",
    "less",
];

/// Behind a noun that is also an ordinary word, only these leave it one of a secret.
const STILL: &[&str] = &[
    "value",
    "prod",
    "production",
    "dev",
    "staging",
    "test",
    "live",
    "old",
    "new",
    "current",
    "previous",
    "main",
    "backup",
    "base64",
    "b64",
    "hash",
    "string",
    "header",
    "ro",
    "rw",
];

impl Default for KeyNames {
    fn default() -> Self {
        Self {
            defaults: true,
            added: Vec::new(),
        }
    }
}

impl KeyNames {
    pub(super) fn none() -> Self {
        Self {
            defaults: false,
            added: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.defaults && self.added.is_empty()
    }

    pub(super) fn added(&self) -> usize {
        self.added.len()
    }

    pub(super) fn add(&mut self, name: &str) {
        let name = name.chars().filter(|c| c.is_alphanumeric());
        let name: String = name.flat_map(char::to_lowercase).collect();
        if !name.is_empty() {
            self.added.push(name.into());
        }
    }

    /// What stands under this name, if it is that of a secret.
    pub(super) fn find(&self, name: &str) -> Option<KeyName> {
        self.find_in(name, 0..name.len())
    }

    /// The same for a word of a text, before which there may be more of the name: `api key`.
    pub(super) fn find_in(&self, text: &str, word: Range<usize>) -> Option<KeyName> {
        let added = self.added.iter();
        if added
            .into_iter()
            .any(|name| ends_with(&text[..word.end], name))
        {
            let noun = Noun::Secret;
            return Some(KeyName {
                noun,
                plural: false,
            });
        }
        if !self.defaults {
            return None;
        }
        classify(whole_name(text, word))
    }

    /// What stands under the name of a parameter in a URL, where a signature lets whoever has it in.
    pub(super) fn find_parameter(&self, name: &str) -> Option<KeyName> {
        let signs = ends_with_word(name, "sig") || ends_with_word(name, "signature");
        let noun = Noun::Secret;
        (self.defaults && signs).then_some(KeyName {
            noun,
            plural: false,
        })
    }
}

/// With the word before it, where the name is `key`, and nothing but a space lies between.
fn whole_name(text: &str, word: Range<usize>) -> &str {
    let name = &text[word.clone()];
    if !(name.eq_ignore_ascii_case("key") || name.eq_ignore_ascii_case("keys")) {
        return name;
    }
    let before = text[..word.start].trim_end_matches(' ');
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
    let letters = before.bytes().rev().take(16).take_while(is_letter).count();
    if before.len() + 1 < word.start {
        return name;
    }
    &text[before.len() - letters..word.end]
}

/// Whether a text ends with this name, whatever separates its words, and not within a word.
fn ends_with(text: &str, name: &str) -> bool {
    let is_separator = |c: char| matches!(c, '-' | '_' | '.' | ' ');
    let mut rest = text.chars().rev().peekable();
    for c in name.chars().rev() {
        while rest.next_if(|c| is_separator(*c)).is_some() {}
        if rest
            .next()
            .is_none_or(|found| !found.to_lowercase().eq([c]))
        {
            return false;
        }
    }
    while rest.next_if_eq(&'-').is_some() {}
    rest.next()
        .is_none_or(|c| !(c.is_alphanumeric() || c == '_'))
}

fn classify(name: &str) -> Option<KeyName> {
    let mut found: Option<KeyName> = None;
    let mut previous = "";
    for Word { text, after_dot } in Words(name) {
        // `secret.rs` is a file, and `password.length` a property.
        if after_dot {
            found = None;
        }
        found = noun(previous, text).or_else(|| found.filter(|found| remains(*found, text)));
        previous = text;
    }
    found
}

/// Whether a noun still is one with this word behind it.
fn remains(found: KeyName, word: &str) -> bool {
    if found.noun == Noun::Secret {
        !is_one_of(ABOUT, word)
    } else {
        is_one_of(STILL, word)
    }
}

fn noun(previous: &str, word: &str) -> Option<KeyName> {
    let plural = word.len() > 4 && word.ends_with(['s', 'S']) && !is_one_of(&["sshpass"], word);
    let singular = if plural {
        &word[..word.len() - 1]
    } else {
        word
    };
    let of_two = || is_pair(previous, singular).then_some(Noun::Secret);
    let noun = by_ending(singular)
        .or_else(|| by_word(previous, singular))
        .or_else(of_two)?;
    Some(KeyName { noun, plural })
}

fn by_ending(word: &str) -> Option<Noun> {
    // `NOPASSWD: ALL` stands in every other sudoers file.
    if word.len() < 3 || word.eq_ignore_ascii_case("nopasswd") {
        return None;
    }
    let mut nouns = NOUNS.iter();
    nouns
        .find(|(noun, _)| ends_with_word(word, noun))
        .map(|(_, noun)| *noun)
}

fn by_word(previous: &str, word: &str) -> Option<Noun> {
    match word {
        _ if is_one_of(&["auth"], word) => Some(Noun::Auth),
        _ if is_one_of(&["pass"], word) && !previous.is_empty() => Some(Noun::Pass),
        _ if is_one_of(&["bearer", "otp"], word) => Some(Noun::Token),
        _ if is_one_of(&["pass"], previous) && is_one_of(&["word", "phrase", "code"], word) => {
            Some(Noun::Secret)
        }
        _ => None,
    }
}

fn is_pair(previous: &str, word: &str) -> bool {
    if !ends_with_word(word, "key") {
        return false;
    }
    let kind = &word[..word.len() - 3];
    is_one_of(KEY_KINDS, if kind.is_empty() { previous } else { kind })
}

fn is_one_of(words: &[&str], word: &str) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

fn ends_with_word(word: &str, end: &str) -> bool {
    word.len()
        .checked_sub(end.len())
        .and_then(|at| word.get(at..))
        .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}
