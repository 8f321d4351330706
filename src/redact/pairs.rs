//! Finds the names of secrets with their values in a text, by one grammar. `names` knows the names, `forms`
//! where a value ends and which values are not secrets. `places` has the secrets without a name.
//!
//! ```text
//! pair  = name link [scheme] value      name: letters, digits, `_-.`; in quotes or not
//! value = string | brackets (of a name in quotes) | call | bare
//! bare  = up to the quote before the name, if there is one; the whole line, in headers and if `: ` or
//!         ` = ` follows its first word; otherwise the rest of a word
//! ```

use std::ops::Range;

use super::forms::{self, Lazy, length_of, matches, near, pattern};
use super::names::Names;
use super::places;

/// Names whose value is the rest of the line if a colon follows.
static HEADER: Lazy = pattern!("(?i-u:authorization|cookie)$");
/// Names that also occur in sentences with a colon.
static WEAK: Lazy = pattern!("(?i-u:^pass|auth)$");
/// `tokens`, `PASS`: a number under such a name is a count.
pub(super) static COUNTS: Lazy = pattern!("(?i-u:s$)");

// What may be between a name and its value:
/// `key: string = "x"`
static TYPE: Lazy = pattern!("^:?[ ][A-Za-z&][A-Za-z0-9_.<>&]*[ ]=[ ][\"'`]");
/// `key=x`, `"key": x`, `[key] => x`
static OPERATOR: Lazy = pattern!(r#"^\\*["'`]?[\])]?[ \t]*(?:::|=~|://|===?|[:+]?=>?|->|:)[ \t]*"#);
/// `<key>x</key>`
static ELEMENT: Lazy = pattern!(r"^(?:[ ][^<>\r\n]*)?>\s*[^<\s][^<]*</");
/// `"name": "key", "value": x`
static MEMBER: Lazy =
    pattern!(r#"^\\*["']?[\s,{-]*\\*["']?(?i-u:value|default)\\*["']?[ \t]*[:=][ \t]*"#);
/// `--key x`, `"--key", "x"`; also `set key x` and `("key", "x")`
static OPTION: Lazy = pattern!(r#"^(?:\\*["'`],\s*|[ \t]+(?:\\\r?\n[ \t]*)?|\r?\n[ \t]*- )"#);
static SETTER: Lazy =
    pattern!(r"\b(?:ENV|ARG|setenv|setx|set(?:[ \t]+-[A-Za-z]+)?|config(?:ure)?[ \t]+set)[ \t]+$");
static CALL: Lazy = pattern!(r#"[(\[][ ]?\\*["']$"#);

static SCHEME: Lazy = pattern!("^(?i-u:bearer|basic|digest|token|apikey|bot|oauth)[ \t]+");
/// The text that may come before a name at the beginning of a line.
static LINE_HEAD: Lazy = pattern!(r#"(?:^|[\r\n]|\\n)[ \t#+>*|$"'-]*(?:(?:export|set)[ \t]+)?$"#);
static DIRECTORY: Lazy = pattern!("^(?i-u:old)?(?i-u:pwd)$");
static PATH: Lazy = pattern!("^(?:[/~.]|.:)");
/// `next()`, `env["X"]`, `Option<String>`: the value comes from another place.
static CALLED: Lazy = pattern!(
    r"^[A-Za-z_&!*.:]{2,}(?:\([^\r\n()]*(?:\([^\r\n()]*\)[^\r\n()]*)*\)|\[[^\r\n\]]*\]|<[^\r\n>]+>)"
);
/// `Some("x")`
static CALL_OF_STRING: Lazy = pattern!(r#"^[A-Za-z_:.!&]{2,}\(["']"#);
static STRING_WITHIN: Lazy = pattern!(r#"[:\[]\s*\\*["']"#);

pub(super) fn find(text: &str, names: &Names, spans: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(word) = next_word(text, at) {
        at = word.end;
        if !names.off {
            places::find(text, &word, spans);
        }
        let dashes = text[word.clone()]
            .bytes()
            .take_while(|byte| *byte == b'-')
            .count();
        if names.has_word(text, word.start + dashes..word.end)
            && let Some(pair) = Pair::with(text, word)
        {
            at = at.max(pair.mask(spans));
        }
    }
}

const IN_NAME: [bool; 256] = forms::class(b"_-.");

/// Returns the next run of letters, digits and `_-.`.
fn next_word(text: &str, from: usize) -> Option<Range<usize>> {
    let is_inner = |byte: &u8| IN_NAME[usize::from(*byte)] || !byte.is_ascii();
    let bytes = text.as_bytes();
    let start = from + bytes[from..].iter().position(is_inner)?;
    let length = bytes[start..].iter().position(|byte| !is_inner(byte));
    let end = length.map_or(bytes.len(), |length| start + length);
    // In escaped text, the first letter may belong to `\n`.
    let is_escaped = text[..start].ends_with('\\') && text[start..end].starts_with(['n', 'r', 't']);
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
    /// Returns the pair with the name of a secret.
    fn with(text: &'a str, word: Range<usize>) -> Option<Self> {
        let name = text[word.clone()].trim_start_matches('-');
        let behind = near(text, word.end);
        let first = word.end - name.len();
        let head = &text[forms::char_boundary(text, first.saturating_sub(64))..first];
        let (sign, link) = link(head, behind, name.len() < word.len())?;
        let is_quoted = !forms::quote(text, word.end).is_empty();
        // `/etc/passwd: no such file`, `auth: started`
        let is_path = head.ends_with(['/', '\\']);
        if sign == ":" && !is_quoted && (is_path || matches(&WEAK, name)) {
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
        let call = length_of(&CALLED, near(text, start));
        if call > 0 && self.sign != ">" && (self.blank || !self.sign.contains('=')) {
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
            ">" => &forms::WORD,
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
        let is_count = matches(&COUNTS, self.name) && forms::is_number(value);
        if forms::is_secret(value) && !(is_directory || is_same || is_count) {
            spans.push(span);
        }
        end
    }
}

/// The position after `Bearer` or a similar scheme, which may be shown.
fn behind_scheme(text: &str, start: usize) -> usize {
    start + length_of(&SCHEME, near(text, start))
}

/// Returns the sign between a name and its value, and everything up to the value.
fn link<'a>(head: &str, behind: &'a str, is_option: bool) -> Option<(&'a str, &'a str)> {
    let typed = length_of(&TYPE, behind);
    if typed > 0 {
        return Some(("=", &behind[..typed - 1]));
    }
    let link = &behind[..length_of(&OPERATOR, behind)];
    let sign = link.trim_matches(|c| "\\\"'`]) \t".contains(c));
    let is_string = behind[link.len()..].starts_with(['"', '\'', '\\']);
    if !["", "::", "=~", "://"].contains(&sign) && (is_string || !sign.starts_with("==")) {
        return Some((sign, link));
    }
    let tag = head.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == ':');
    if tag.ends_with('<') && matches(&ELEMENT, behind) {
        let value = behind.split_once('>')?.1.trim_start();
        return Some((">", &behind[..behind.len() - value.len()]));
    }
    let member = length_of(&MEMBER, behind);
    if member > 0 {
        return Some((":", &behind[..member]));
    }
    let option = &behind[..length_of(&OPTION, behind)];
    let is_call = option.contains(',') && matches(&CALL, head) && {
        let end = forms::string(behind, option.len(), false)?.end;
        behind[end..]
            .trim_start_matches(['\\', '"', '\'', ' '])
            .starts_with([')', ']'])
    };
    let is_set = is_option || is_call || matches(&SETTER, head);
    (is_set && !option.is_empty()).then_some(("", option))
}
