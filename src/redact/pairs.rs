//! Finds the names of secrets with their values in a text, by one grammar. `names` knows the names, `forms`
//! where a value ends, `plain` which values are not secrets. `shapes` has pairs with more text in between.
//!
//! ```text
//! pair  = name sign [scheme] value      name: letters, digits, `_-.`; in quotes or not; then `]` or `)`
//! sign  = `:` `=` `:=` `=>` `+=` `->`, `==` before a string; after an option a blank, `,` or new line
//! value = string | block | brackets (of a name in quotes) | call | bare
//! bare  = up to the quote before the name, if there is one; the whole line, in headers and if `: ` or
//!         ` = ` follows its first word; otherwise the rest of a word
//! ```

use std::ops::Range;

use super::forms::{self, length_of, near};
use super::names::{COUNTS, Lazy, Names, matches, pattern};
use super::plain;

/// Every name of a secret matches this.
static NAME: Lazy = pattern!("(?i-u:pass|pw|secret|cred|token|auth|cookie|key|otp|psk|_pat)");
/// Names whose value is the rest of the line if a colon follows.
static HEADER: Lazy = pattern!("(?i-u:authorization|cookie)$");
/// Names that also occur in sentences with a colon.
static WEAK: Lazy = pattern!("(?i-u:^pass|auth)$");
static OPERATOR: Lazy = pattern!(r#"^\\*["'`]?[\])]?[ \t]*(?:::|=~|://|===?|[:+]?=>?|->|:)[ \t]*"#);
static OPTION: Lazy = pattern!(r#"^(?:\\*["'`],\s*|[ \t]+(?:\\\r?\n[ \t]*)?|\r?\n[ \t]*- )"#);
static SCHEME: Lazy = pattern!("^(?i-u:bearer|basic|digest|token|apikey|bot|oauth)[ \t]+");
/// The text that may come before a name at the beginning of a line.
static LINE_HEAD: Lazy = pattern!(r#"(?:^|[\r\n]|\\n)[ \t#+>*|$"'-]*(?:(?:export|set)[ \t]+)?$"#);
static DIRECTORY: Lazy = pattern!("^(?i-u:old)?(?i-u:pwd)$");
static PATH: Lazy = pattern!("^(?:[/~.]|.:)");
static CALL_OF_STRING: Lazy = pattern!(r#"^[A-Za-z_:.!&]{2,}\(["']"#);
static STRING_WITHIN: Lazy = pattern!(r#"[:\[]\s*\\*["']"#);

pub(super) fn find(text: &str, names: &Names, spans: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(name) = next_name(text, at, names) {
        at = name.end;
        if let Some(pair) = Pair::with(text, name, names) {
            at = at.max(pair.mask(spans));
        }
    }
}

/// Returns the next word that may be the name of a secret.
fn next_name(text: &str, from: usize, names: &Names) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_sign =
        |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"_-.".contains(byte);
    let inner = match &*NAME {
        Some(pattern) if names.added.is_empty() => pattern.find_at(text, from)?.start(),
        _ => from + bytes[from..].iter().position(|byte| !is_sign(byte))?,
    };
    let before = bytes[from..inner].iter().rposition(is_sign);
    let start = before.map_or(from, |before| from + before + 1);
    // In escaped text, the first letter may belong to `\n`.
    let first = text[start..inner].starts_with(['n', 'r', 't']);
    let is_escaped = first && text[..start].ends_with('\\');
    let length = bytes[inner..].iter().position(is_sign);
    let end = length.map_or(bytes.len(), |length| inner + length);
    Some(start + usize::from(is_escaped)..end)
}

struct Pair<'a> {
    text: &'a str,
    name: &'a str,
    /// A short piece of the text before the name.
    head: &'a str,
    /// `:`, `=` or similar; empty after an option.
    sign: &'a str,
    start: usize,
    blank: bool,
    is_quoted: bool,
}

impl<'a> Pair<'a> {
    /// Returns the pair with this name, if it is the name of a secret.
    fn with(text: &'a str, word: Range<usize>, names: &Names) -> Option<Self> {
        let name = text[word.clone()].trim_start_matches('-');
        let behind = near(text, word.end);
        let (sign, link) = link(behind, name.len() < word.len())?;
        let first = word.end - name.len();
        let head = &text[forms::char_boundary(text, first.saturating_sub(64))..first];
        let is_quoted = !forms::quote(text, word.end).is_empty();
        // `/etc/passwd: no such file`, `auth: started`
        let is_path = head.ends_with(['/', '\\']);
        let is_weak = sign == ":" && !is_quoted && (is_path || matches(&WEAK, name));
        if is_weak || !names.has_word(text, first..word.end) {
            return None;
        }
        let blank = link.ends_with([' ', '\t']) || sign != ":" && link.starts_with(' ');
        let value = &behind[link.len()..];
        let value = if is_quoted { value.trim_start() } else { value };
        let start = word.end + behind.len() - value.len();
        Some(Self {
            text,
            name,
            sign,
            head,
            start,
            blank,
            is_quoted,
        })
    }

    /// Masks the value. Returns the position where the search continues.
    fn mask(&self, spans: &mut Vec<Range<usize>>) -> usize {
        let text = self.text;
        let is_yaml = self.sign == ":" && !self.is_quoted;
        if is_yaml && let Some(block) = forms::block(text, self.start, self.head) {
            return self.push(block, spans);
        }
        let start = behind_scheme(text, self.start);
        // The string in `Some("x")`.
        let start = start + length_of(&CALL_OF_STRING, near(text, start)).saturating_sub(1);
        let rest = &text[start..];
        let opening = forms::quote(text, start);
        let is_command = opening == "`" && !self.blank;
        let is_end = !opening.is_empty() && opening == self.around();
        if is_command || is_end || rest.starts_with(super::Redactor::MASK) {
            return start + opening.len();
        }
        let lines = self.sign.contains('=') || opening == "`";
        if let Some(string) = forms::string(text, start, lines) {
            return self.push(behind_scheme(text, string.start)..string.end, spans);
        }
        if self.is_quoted && rest.starts_with(['{', '[']) {
            let end = forms::bracket_end(text, start);
            if matches(&COUNTS, self.name) && !matches(&STRING_WITHIN, &text[start..end]) {
                return end;
            }
            return self.push(start..end, spans);
        }
        if rest.starts_with(if self.sign.is_empty() { '-' } else { '{' }) {
            return start;
        }
        let call = length_of(&forms::CALL, near(text, start));
        if call > 0 && (self.blank || !self.sign.contains('=')) {
            return start + call;
        }
        self.push(start..self.bare_end(start), spans)
    }

    /// The quote directly before the name, if the quoted text is more than the name.
    fn around(&self) -> &'a str {
        let head = if self.is_quoted {
            ""
        } else {
            self.head.trim_end_matches('-')
        };
        let before = head.trim_end_matches(['"', '\'', '`']);
        &head[before.trim_end_matches('\\').len()..]
    }

    fn bare_end(&self, start: usize) -> usize {
        let text = self.text;
        if !self.around().is_empty() {
            return forms::string_end(text, start, self.around(), false);
        }
        let begins_line = !self.sign.is_empty() && matches(&LINE_HEAD, self.head);
        let form = match self.sign {
            _ if self.is_quoted => &forms::WORD,
            _ if self.blank && begins_line => &forms::LINE,
            ":" if matches(&HEADER, self.name) => &forms::LINE,
            ":" => &forms::WORD,
            _ if begins_line => &forms::SETTING,
            _ => &forms::WORD,
        };
        let value = &text[start..start + length_of(form, &text[start..])];
        let value = value.trim_end_matches([',', ';', '\\', ' ', '\t']);
        let opens = value.contains(['(', '[', '{']);
        start
            + value
                .trim_end_matches(|c| !opens && ")]}".contains(c))
                .len()
    }

    fn push(&self, span: Range<usize>, spans: &mut Vec<Range<usize>>) -> usize {
        let (end, value) = (span.end, &self.text[span.clone()]);
        // `PWD=/home/me` is a directory, not a password.
        let is_directory = matches(&DIRECTORY, self.name) && matches(&PATH, value);
        // `token = props.token`, `--token TOKEN`
        let last = |path: &'a str| path.rsplit('.').next().unwrap_or(path);
        let is_same = last(value).eq_ignore_ascii_case(last(self.name));
        let is_count = matches(&COUNTS, self.name) && plain::is_number(value);
        if plain::is_secret(value) && !(is_directory || is_same || is_count) {
            spans.push(span);
        }
        end
    }
}

/// The position after `Bearer` or a similar scheme, which may be shown.
pub(super) fn behind_scheme(text: &str, start: usize) -> usize {
    start + length_of(&SCHEME, near(text, start))
}

/// Returns the sign between a name and its value, and everything up to the value.
fn link(behind: &str, is_option: bool) -> Option<(&str, &str)> {
    let link = &behind[..length_of(&OPERATOR, behind)];
    let sign = link.trim_matches(|c| "\\\"'`]) \t".contains(c));
    let is_string = behind[link.len()..].starts_with(['"', '\'', '\\']);
    if !["", "::", "=~", "://"].contains(&sign) && (is_string || !sign.starts_with("==")) {
        return Some((sign, link));
    }
    let option = &behind[..length_of(&OPTION, behind)];
    (is_option && !option.is_empty()).then_some(("", option))
}
