//! Finds values by their names. A name is secret if its last word says so: `db_password`, `apiKey`.
//!
//! ```text
//! name=value  name: value  "name": "value"  ['name'] => 'value'  --name value  <name>value</name>
//! ```

use std::ops::Range;

use regex::Regex;

use super::{Lazy, pattern};

/// The words at the end of a secret name. Plurals are absent: `tokens` and `cookies` are mostly counted.
pub(super) static SECRET: Lazy = pattern!(
    r#"(?ix-u)(?:(?:api|access|private|secret|signing|encryption|account|master|shared|auth|ssh|session|subscription
    |license|admin|service|functions|app|client)[-_.\ ]?key|(?-i:[A-Z0-9]_(?:KEY|PAT))
    |password|passwd|passphrase|passcode|secret|token|credentials?|authorization|cookie|[_;"']pwd
    |(?:\b|_)(?:pass|auth|otp|psk)|[?&](?:key|sig)|[?&][a-z-]*signature)(?:[-_.]?(?:data|base|prod|test|[0-9]+))?\b"#
);

/// Each secret name has one of these.
const HINTS: &str = "key pass secret token credential auth cookie pwd otp psk _pat sig";

/// Returns whether a text may have a secret name. Most have none, and to compile the pattern takes longer than this.
pub(super) fn may_have_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    HINTS.split(' ').any(|hint| text.contains(hint))
}

static PUBLIC: Lazy = pattern!("(?:PUBLIC|PRIMARY|FOREIGN|CACHE|SORT)_KEY$");
/// Names that are also ordinary words in messages: `auth: started`.
static MESSAGE: Lazy = pattern!("^(?i-u:pass|auth)$");

/// The text between a name and its value, including `"name": "API_KEY", "value": `.
static LINK: Lazy = pattern!(
    r#"(?x-u)^(?::\ [A-Za-z&][\w.<>]*\ =\ |\\*["']?\]?[\ \t]*(?::=|=>|[:=])[\ \t]*
    |\\*["']?[\s,]*\\*["']?(?i:value)\\*["']?[\ \t]*[:=][\ \t]*)"#
);
static OPTION_LINK: Lazy = pattern!(r#"^(?:\\*["'],[ \t]*|[ \t]+|\r?\n[ \t]*- )"#);
static SCHEME: Lazy = pattern!(r"^(?i-u:bearer|basic|digest|token|apikey|bot)[ \t]+");
static OPENING: Lazy = pattern!(r#"^(?:[a-zA-Z@$\[]|(?:Some|String::from)\()?\\*["']"#);
static HEADER: Lazy = pattern!(r"(?i-u:authorization|cookie)$");
static LINE: Lazy = pattern!(r#"^(?:="[^"\r\n]*"|[^\r\n\\"'`])*"#);
static WORD: Lazy = pattern!(r#"^[^\s"'`\\&;|<>]+"#);

/// A text that is not a secret: a value from another place, no value, or code.
static NO_SECRET: Lazy = pattern!(
    r#"(?xs)^(?:\$[A-Za-z_]\w*|\$[\{(].*|%\w+%|\{.*|<.*>?|\W{0,3}|[*.]*|\[redacted\].*|(?:process\.env|var|secrets)\..*
    |(?i:null|none|nil|undefined|true|false|yes|no|on|off|enabled|disabled|required|optional|all|is|any|basic|bearer
    |&?str|string|bool|boolean|int|integer|number|bytes|void|unknown|await|new|inherit))$"#
);
static CODE: Lazy = pattern!(r"^(?:[=:~>-]|[&!*]?\w+(?:(?:::|\.)\w+)*[!?]*(?:[(\[]|<[A-Z&]))");

/// Finds the values of the names that end with a match of this pattern.
pub(super) fn find(names: &Regex, text: &str, spans: &mut Vec<Range<usize>>) {
    let mut end = 0;
    for name in names.find_iter(text) {
        // A value is read once, so that a long line of names takes linear time.
        if name.start() >= end
            && let Some(value) = value(names, text, name.end())
        {
            end = value.end;
            let value_text = &text[value.clone()];
            spans.extend(
                (is_secret(value_text) && !is_same(name.as_str(), value_text)).then_some(value),
            );
        }
    }
}

/// Returns whether the whole name matches one of these.
pub(super) fn is_name(names: &Regex, name: &str) -> bool {
    let quoted = format!("\"{name}\"");
    let mut occurrences = names.find_iter(&quoted);
    occurrences.any(|name| name.end() == quoted.len() - 1)
        && !(is_default(names) && matches(&PUBLIC, name))
}

/// Returns whether these are the default names. The names that a host has added have no exceptions.
fn is_default(names: &Regex) -> bool {
    SECRET
        .as_ref()
        .is_some_and(|default| std::ptr::eq(default, names))
}

/// Returns the place of the value of the name that ends here.
fn value(names: &Regex, text: &str, name_end: usize) -> Option<Range<usize>> {
    let behind = &text[name_end..];
    let (link, option) = (length_of(&LINK, behind), length_of(&OPTION_LINK, behind));
    if link + option == 0 {
        return None;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let head = text[..name_end].trim_end_matches(is_part);
    let name = &text[head.len()..name_end];
    let is_field = behind.starts_with(':');
    let link = match link {
        0 if takes_option(head, name, &behind[option..]) => option,
        0 => return None,
        _ if is_field && head.ends_with('/') => return None,
        _ if is_default(names)
            && (matches(&PUBLIC, name) || is_field && matches(&MESSAGE, name)) =>
        {
            return None;
        }
        link => link,
    };
    let start = behind_scheme(text, name_end + link);
    let rest = &text[start..];
    let around = quote_at_end(head).filter(|_| !behind.starts_with(['\\', '"', '\'']));
    let opening = &rest[..length_of(&OPENING, rest)];
    let opened = quote_at_end(opening).filter(|quote| Some(*quote) != around);
    if let Some(quote) = opened {
        let start = behind_scheme(text, start + opening.len());
        return Some(start..start + string_len(&text[start..], quote));
    }
    let length = match around {
        Some(quote) => string_len(rest, quote),
        None if is_field && matches(&HEADER, name) => length_of(&LINE, rest),
        None if matches(&CODE, rest) => 0,
        None => length_of(&WORD, rest),
    };
    let value = rest[..length].trim_end_matches([',', ')', ']', '}']);
    Some(start..start + value.len())
}

/// Returns whether the value is the argument of an option: `--token x`, `("Authorization", "x")`, `PASSWORD 'x'`.
fn takes_option(head: &str, name: &str, value: &str) -> bool {
    let is_call = head.ends_with("(\"") || head.ends_with("('");
    let is_upper = !name.contains(|c: char| c.is_ascii_lowercase());
    name.starts_with('-') || (is_call || is_upper) && value.starts_with(['"', '\''])
}

/// Returns whether the value repeats the name: `token = props.token`, `--api-key API_KEY`.
fn is_same(name: &str, value: &str) -> bool {
    let (name, value) = (name.to_ascii_lowercase(), value.to_ascii_lowercase());
    name.rsplit(['_', '-']).next() == value.rsplit(['.', '_']).next()
}

fn behind_scheme(text: &str, start: usize) -> usize {
    start + length_of(&SCHEME, &text[start..])
}

/// Returns the quote that ends this text, with the backslashes that escape it within another string: `"`, `\"`.
fn quote_at_end(text: &str) -> Option<&str> {
    let before = text.strip_suffix(['"', '\''])?.trim_end_matches('\\');
    Some(&text[before.len()..])
}

/// Returns the length of the string that this quote closes, or of the rest of the line.
fn string_len(text: &str, quote: &str) -> usize {
    let (escapes, mut before) = (quote.len() - 1, 0);
    for (at, byte) in text.bytes().enumerate() {
        let is_closing = byte == quote.as_bytes()[escapes]
            && (before == escapes || escapes == 0 && before % 2 == 0);
        if is_closing || byte == b'\n' || byte == b'\r' {
            return at - if is_closing { escapes } else { 0 };
        }
        before = if byte == b'\\' { before + 1 } else { 0 };
    }
    text.len()
}

pub(super) fn is_secret(value: &str) -> bool {
    !matches(&NO_SECRET, value)
}

fn matches(pattern: &Lazy, text: &str) -> bool {
    pattern.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// Returns the length of the match at the beginning of this text.
fn length_of(pattern: &Lazy, text: &str) -> usize {
    let secret = pattern.as_ref().and_then(|regex| regex.find(text));
    secret.map_or(0, |secret| secret.len())
}
