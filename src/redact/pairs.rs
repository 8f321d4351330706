//! Names of secrets with their values in a text, by one grammar. What a name is `names` says, where a
//! value ends `forms`, which values are none `plain`; pairs with more between them are in `shapes`.
//!
//! ```text
//! pair  = name link [scheme] value
//! name  = a run of letters, digits, `_`, `-`, `.`; in quotes or not; then perhaps `]` or `)`
//! link  = `:` `=` `:=` `=>` `+=` `->`, `==` before a string           password = "x"
//!       | a blank, `,` or new line, where the name is an option       --token x
//! value = string | block | brackets (of a name in quotes) | call | bare
//! bare  = up to the quote, where one stands before the name           "TOKEN=a b"
//!       | the line, in headers and where `: ` or ` = ` follows its first word
//!       | the rest of a word
//! ```

use std::ops::Range;

use super::forms::{self, length_of, near};
use super::names::{Key, Lazy, Names, matches, pattern};
use super::plain;
use super::spans::{MASK, Spans};

/// What does not match this is in no name of a secret.
static IN_NAMES: Lazy = pattern!(
    "(?i-u:pass|pwd|secret|credential|token|auth|cookie|key|bearer|otp|psk|pw|mnemonic|_pat)"
);
static OPERATOR: Lazy = pattern!(r#"^\\*["'`]?[\])]?[ \t]*(?:::|=~|://|===?|[:+]?=>?|->|:)[ \t]*"#);
static OPTION: Lazy = pattern!(r#"^(?:\\*["'`],\s*|[ \t]+(?:\\\r?\n[ \t]*)?|\r?\n[ \t]*- )"#);
static SCHEME: Lazy = pattern!(
    "^(?i-u:bearer|basic|digest|token|negotiate|ntlm|apikey|aws4-hmac-sha256|bot|oauth|sharedkey)[ \t]+"
);
/// What `begins_line` a name may have before it.
static LINE_HEAD: Lazy = pattern!(r#"(?:^|[\r\n]|\\n)[ \t#+>*|$"'-]*(?:(?:export|set)[ \t]+)?$"#);
static DIRECTORY: Lazy = pattern!("^(?i-u:old)?(?i-u:pwd)$");
static PATH: Lazy = pattern!("^(?:[/~.]|.:)");
static CALL_STRING: Lazy = pattern!(r#"["'][^"'\r\n]+["']"#);
static STRING_WITHIN: Lazy = pattern!(r#"[:\[]\s*\\*["']"#);

pub(super) fn find(text: &str, names: &Names, spans: &mut Spans) {
    let mut at = 0;
    while let Some(name) = next_name(text, at, names) {
        at = name.end;
        if let Some(pair) = Pair::with(text, name, names) {
            at = at.max(pair.mask(spans));
        }
    }
}

/// The next word that may be the name of a secret.
fn next_name(text: &str, from: usize, names: &Names) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_word =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte) || !byte.is_ascii();
    let inner = match &*IN_NAMES {
        Some(pattern) if names.added.is_empty() => pattern.find_at(text, from)?.start(),
        _ => from + bytes[from..].iter().position(is_word)?,
    };
    let before = bytes[from..inner].iter().rev();
    let start = inner - before.take_while(|byte| is_word(byte)).count();
    let length = bytes[start..].iter().position(|byte| !is_word(byte));
    Some(start..length.map_or(bytes.len(), |length| start + length))
}

struct Pair<'a> {
    text: &'a str,
    names: &'a Names,
    key: Key,
    name: &'a str,
    /// `:`, `=` or the like; nothing behind an option.
    sign: &'a str,
    /// The text before the name, but not much of it.
    head: &'a str,
    /// Where the value begins.
    start: usize,
    /// Whether a blank stands before the value.
    blank: bool,
    is_quoted: bool,
}

impl<'a> Pair<'a> {
    /// The pair with this name, if it is that of a secret.
    fn with(text: &'a str, word: Range<usize>, names: &'a Names) -> Option<Self> {
        let name = text[word.clone()].trim_start_matches('-');
        let behind = near(text, word.end);
        let (sign, link) = link(behind, name.len() < word.len())?;
        let first = word.end - name.len();
        let head = (first.saturating_sub(64)..=first).find(|at| text.is_char_boundary(*at))?;
        let head = &text[head..first];
        // In escaped text the first letter may be that of `\n`.
        let is_escaped = head.ends_with('\\') && name.starts_with(['n', 'r', 't']);
        let key = match names.find_in(text, first..word.end) {
            None if is_escaped => names.find(&name[1..])?,
            key => key?,
        };
        let is_quoted = !forms::quote(text, word.end).is_empty();
        // `/etc/passwd: no such file`, `auth: started`
        let is_path = head.ends_with('/') || head.ends_with('\\') && !is_escaped;
        if sign == ":" && !is_quoted && (is_path || key.weak) {
            return None;
        }
        let blank = link.ends_with([' ', '\t']) || sign != ":" && link.starts_with(' ');
        // JSON may go on in the next line.
        let space = behind[link.len()..].trim_start();
        let space = if is_quoted {
            behind.len() - link.len() - space.len()
        } else {
            0
        };
        let start = word.end + link.len() + space;
        Some(Self {
            text,
            names,
            key,
            name,
            sign,
            head,
            start,
            blank,
            is_quoted,
        })
    }

    /// Masks the value; where to go on.
    fn mask(&self, spans: &mut Spans) -> usize {
        let text = self.text;
        if self.sign == ":"
            && !self.is_quoted
            && let Some(block) = forms::block(text, self.start, self.head)
        {
            return self.push(block, spans);
        }
        let start = behind_scheme(text, self.start);
        let rest = &text[start..];
        let opening = forms::quote(text, start);
        let is_command = opening == "`" && !self.blank;
        if !opening.is_empty() && (opening == self.around() || is_command) {
            return start + opening.len();
        }
        let lines = self.sign.contains('=') || opening == "`";
        if let Some(string) = forms::string(text, start, lines) {
            return self.push(behind_scheme(text, string.start)..string.end, spans);
        }
        if self.is_quoted && rest.starts_with(['{', '[']) && !rest.starts_with(MASK) {
            let end = forms::bracket_end(text, start);
            let counts = self.key.counts && !matches(&STRING_WITHIN, &text[start..end]);
            return if counts {
                end
            } else {
                self.push(start..end, spans)
            };
        }
        if rest.starts_with(if self.sign.is_empty() { "-" } else { "{" }) || rest.starts_with(MASK)
        {
            return start;
        }
        let call = length_of(&forms::CALL, near(text, start));
        if call > 0 && (self.blank || !self.sign.contains('=')) {
            return self.mask_strings(start..start + call, spans);
        }
        self.push(start..self.bare_end(start), spans)
    }

    /// The quote directly before the name, where the name is not all there is in it.
    fn around(&self) -> &'a str {
        let before = self.head.trim_end_matches('-');
        let quoted = before
            .trim_end_matches(['"', '\'', '`'])
            .trim_end_matches('\\');
        if self.is_quoted {
            ""
        } else {
            &before[quoted.len()..]
        }
    }

    /// The strings of a call, but for those that are names: `Some("x")`, `environ["PASSWORD"]`.
    fn mask_strings(&self, call: Range<usize>, spans: &mut Spans) -> usize {
        let inner = &self.text[call.clone()];
        for string in CALL_STRING
            .iter()
            .flat_map(|string| string.find_iter(inner))
        {
            let start = call.start + string.start() + 1;
            let end = call.start + string.end() - 1;
            if self.names.find(&self.text[start..end]).is_none() {
                self.push(start..end, spans);
            }
        }
        call.end
    }

    fn bare_end(&self, start: usize) -> usize {
        let text = self.text;
        if !self.around().is_empty() {
            return forms::string_end(text, start, self.around(), false);
        }
        let begins_line = !self.sign.is_empty() && matches(&LINE_HEAD, self.head);
        let is_header = self.sign == ":" && self.key.header;
        let form = match self.blank {
            _ if self.is_quoted => &forms::WORD,
            true if begins_line => &forms::LINE,
            _ if is_header => &forms::LINE,
            false if begins_line && self.sign != ":" => &forms::SETTING,
            _ => &forms::WORD,
        };
        let value = &text[start..start + length_of(form, &text[start..])];
        let value = value.trim_end_matches([',', ';', '\\', ' ', '\t']);
        if value.contains(['(', '[', '{']) {
            return start + value.len();
        }
        start + value.trim_end_matches([')', ']', '}']).len()
    }

    fn push(&self, span: Range<usize>, spans: &mut Spans) -> usize {
        let (end, value) = (span.end, &self.text[span.clone()]);
        // `PWD=/home/me` is where a program runs.
        let is_directory = matches(&DIRECTORY, self.name) && matches(&PATH, value);
        // `token = props.token`, `--token TOKEN`
        let last = |path: &'a str| path.rsplit('.').next().unwrap_or(path);
        let is_same = last(value).eq_ignore_ascii_case(last(self.name));
        let is_count = self.key.counts && plain::is_number(value);
        if plain::is_secret(value) && !(is_directory || is_same || is_count) {
            spans.push(span);
        }
        end
    }
}

/// Behind `Bearer` and the like, which may be shown.
pub(super) fn behind_scheme(text: &str, start: usize) -> usize {
    start + length_of(&SCHEME, near(text, start))
}

/// The sign between a name and its value, and all that leads there.
fn link(behind: &str, is_option: bool) -> Option<(&str, &str)> {
    let link = &behind[..length_of(&OPERATOR, behind)];
    let sign = link.trim_matches(|c| "\\\"'`]) \t".contains(c));
    let is_string = behind[link.len()..].starts_with(['"', '\'', '\\']);
    let compares = sign.starts_with("==") && !is_string;
    if !compares && !["", "::", "=~", "://"].contains(&sign) {
        return Some((sign, link));
    }
    let option = &behind[..length_of(&OPTION, behind)];
    (is_option && !option.is_empty()).then_some(("", option))
}
