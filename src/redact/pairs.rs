//! Names of secrets with their values in a text: JSON, YAML, headers, shell commands, options, query
//! parameters, code. What a name is `keys` says; this says where the value is.

use std::ops::Range;

use super::bare::{self, Extent};
use super::keys::{KeyName, KeyNames, Noun};
use super::quotes::{Quote, bracket_end, line_end, skip_blanks};
use super::spans::Spans;

pub(super) fn find(text: &str, names: &KeyNames, spans: &mut Spans) {
    let mut at = 0;
    while let Some(word) = next_word(text.as_bytes(), at) {
        at = word.end;
        let Some(pair) = Pair::behind(text, word) else {
            continue;
        };
        let Some(key) = pair.key(names) else { continue };
        let Some(value) = pair.value(key) else {
            continue;
        };
        if is_secret(&text[value.clone()]) {
            at = value.end;
            spans.push(value);
        }
    }
}

fn is_secret(value: &str) -> bool {
    !(bare::is_plain(value) || bare::is_masked(value) || bare::is_reference(value))
}

/// A word, and what leads from it to a value.
struct Pair<'a> {
    text: &'a str,
    /// Without the dashes of an option.
    name: Range<usize>,
    link: Link,
    /// Where the value begins.
    start: usize,
    /// The quote directly before the word.
    quote: Option<Quote>,
    /// That quote is closed behind the word.
    is_quoted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Colon { blank: bool },
    Equals { blank: bool },
    Option { dashes: usize },
    Tag,
}

fn next_word(text: &[u8], from: usize) -> Option<Range<usize>> {
    let is_word = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || *byte >= 0x80
    };
    let start = from + text[from..].iter().position(is_word)?;
    let length = text[start..].iter().position(|byte| !is_word(byte));
    Some(start..length.map_or(text.len(), |length| start + length))
}

impl<'a> Pair<'a> {
    /// The pair that begins with this word, if there is one.
    fn behind(text: &'a str, word: Range<usize>) -> Option<Self> {
        let bytes = text.as_bytes();
        let before = word.start.checked_sub(1);
        let quote = quote_before(bytes, &word);
        let closing = quote.and_then(|quote| closing(bytes, word.end, quote));
        let end = closing.unwrap_or(word.end);
        let dashes = bytes[word.clone()]
            .iter()
            .take_while(|byte| **byte == b'-')
            .count();
        let is_tag = before.is_some_and(|before| bytes[before] == b'<');
        let (link, start) = if is_tag && bytes.get(end) == Some(&b'>') {
            (Link::Tag, end + 1)
        } else {
            assignment(bytes, end).or_else(|| option(bytes, end, dashes, closing.is_some()))?
        };
        // JSON may go on in the next line.
        let start = if closing.is_some() {
            skip_space(bytes, start)
        } else {
            start
        };
        Some(Self {
            text,
            name: word.start + dashes..word.end,
            link,
            start,
            quote,
            is_quoted: closing.is_some(),
        })
    }

    fn key(&self, names: &KeyNames) -> Option<KeyName> {
        let (bytes, start) = (self.text.as_bytes(), self.name.start);
        let escapes = start > 0 && bytes[start - 1] == b'\\';
        let is_letter = matches!(bytes.get(start), Some(b'n' | b'r' | b't'));
        let key = names.find_in(self.text, self.name.clone());
        // In escaped text the first letter may be that of `\n`.
        let escaped = || names.find(&self.text[start + 1..self.name.end]);
        let key = key
            .or_else(|| (escapes && is_letter).then(escaped).flatten())
            .or_else(|| names.find_parameter(self.parameter()?))?;
        (!self.is_something_else(key, escapes && !is_letter)).then_some(key)
    }

    /// The name, if it is that of a parameter of a URL; JSON may have an `&` as `\u0026`.
    fn parameter(&self) -> Option<&str> {
        let name = &self.text[self.name.clone()];
        let before = self.text[..self.name.start].chars().next_back()?;
        let name = match before {
            '?' | '&' | ';' => name,
            '\\' => name.strip_prefix("u0026")?,
            _ => return None,
        };
        (self.link == (Link::Equals { blank: false })).then_some(name)
    }

    /// A path (`/etc/passwd: no such file`), an event (`auth:login`), a lexer's or a log's words
    /// (`unexpected token: x`, `auth: started`), a number of things.
    fn is_something_else(&self, key: KeyName, is_path: bool) -> bool {
        let before = &self.text[..self.name.start];
        let value = &self.text[self.start..];
        let counts = key.plural || key.noun == Noun::Pass;
        let is_table = key.noun == Noun::Token && value.starts_with('{');
        if counts && (is_table || value.starts_with(|c: char| c.is_ascii_digit())) {
            return true;
        }
        // HTML: the key to press.
        let name = &self.text[self.name.clone()];
        if name == "accesskey" && value.as_bytes().get(2) == Some(&b'"') {
            return true;
        }
        match self.link {
            _ if self.is_quoted => false,
            Link::Colon { .. } if is_path || before.ends_with('/') => true,
            Link::Colon { blank } if key.noun == Noun::Auth => !blank || self.is_sentence(),
            Link::Colon { blank: true } => {
                key.noun == Noun::Token && before.trim_end().ends_with("nexpected")
            }
            Link::Colon { blank: false } => key.noun == Noun::Token && is_action(value),
            Link::Option { dashes } => dashes == 1 && key.noun != Noun::Secret,
            Link::Equals { .. } | Link::Tag => false,
        }
    }

    /// Whether there is more than a word behind the name.
    fn is_sentence(&self) -> bool {
        let rest = &self.text.as_bytes()[self.start..];
        let word = rest.iter().take_while(|byte| !byte.is_ascii_whitespace());
        let behind = skip_blanks(rest, word.count());
        !matches!(rest.get(behind), None | Some(b'\n' | b'\r'))
    }

    /// The value, whether it is a secret or not; none where there is nothing to mask in any case.
    fn value(&self, key: KeyName) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        if self.link == Link::Tag {
            let rest = bytes[self.start..].iter();
            let end = self.start
                + rest
                    .take_while(|byte| !matches!(byte, b'<' | b'\n'))
                    .count();
            return bytes[end..].starts_with(b"</").then_some(self.start..end);
        }
        if self.quote.is_some_and(|quote| self.ends_with(quote)) {
            return None;
        }
        let start = self.behind_scheme(self.start);
        if bare::begins_elsewhere(&self.text[start..]) {
            return None;
        }
        let (open, string) = (bytes.get(start), self.string(start));
        let value = match open {
            _ if string.is_some() => return string.flatten(),
            Some(b'{' | b'[') if self.is_quoted => self.bracketed(key, start)?,
            _ => start..self.bare_end(key, start)?,
        };
        (!self.is_directory(key, &self.text[value.clone()])).then_some(value)
    }

    /// Whether the quote before the name is closed where the value would begin.
    fn ends_with(&self, quote: Quote) -> bool {
        let bytes = self.text.as_bytes();
        let closing = Quote::opening(bytes, self.start);
        !self.is_quoted && closing.is_some_and(|(_, behind)| quote.is_closed_by(bytes, behind - 1))
    }

    /// The string that opens here, if one does; none within where it is a command to be run.
    fn string(&self, start: usize) -> Option<Option<Range<usize>>> {
        let bytes = self.text.as_bytes();
        let is_ansi = bytes[start..].starts_with(b"$'") || bytes[start..].starts_with(b"$\"");
        let (quote, start) = Quote::opening(bytes, start + usize::from(is_ansi))?;
        if quote.is_backtick() && self.link == (Link::Equals { blank: false }) {
            return Some(None);
        }
        let many_lines = matches!(self.link, Link::Equals { .. });
        let start = if bytes[start..].starts_with(b"\"\"") {
            start + 2
        } else {
            start
        };
        let start = self.behind_scheme(start);
        Some(Some(start..quote.string_end(bytes, start, many_lines)))
    }

    fn bracketed(&self, key: KeyName, start: usize) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let first = bytes.get(start + 1).filter(|_| key.plural);
        let counts = first.is_some_and(u8::is_ascii_digit);
        let is_masked = self.text[start..].starts_with(super::Redactor::MASK);
        (!counts && !is_masked).then(|| start..bracket_end(bytes, start))
    }

    fn bare_end(&self, key: KeyName, start: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        // Asked before its end is looked for, which may be far: what is no value is passed by at once.
        match self.link {
            Link::Option { .. } if bytes.get(start) == Some(&b'-') => return None,
            Link::Colon { .. } | Link::Equals { blank: true } if self.is_code(key, start) => {
                return None;
            }
            _ => {}
        }
        let around = self.quote.filter(|_| !self.is_quoted);
        let end = bare::end(bytes, start, self.extent(key), around);
        let is_option = matches!(self.link, Link::Option { .. });
        let is_word = is_option && bare::is_function_word(&self.text[start..end]);
        (!is_word).then_some(end)
    }

    fn is_code(&self, key: KeyName, start: usize) -> bool {
        const FAR: usize = 200;
        let line = line_end(
            &self.text.as_bytes()[..self.text.len().min(start + FAR)],
            start,
        );
        let Some(line) = self.text.get(start..line) else {
            return false;
        };
        bare::is_expression(line) || key.noun == Noun::Token && bare::is_type(line)
    }

    fn extent(&self, key: KeyName) -> Extent {
        let is_around = self.quote.is_some();
        match self.link {
            Link::Option { .. } => Extent::Part,
            _ if self.is_quoted => Extent::Part,
            _ if is_around => Extent::Line,
            Link::Colon { .. } if key.noun == Noun::Header => Extent::Line,
            Link::Colon { blank: true } | Link::Equals { blank: true } if self.begins_line() => {
                Extent::Line
            }
            Link::Equals { blank: false } if self.begins_line() => Extent::Word,
            _ => Extent::Part,
        }
    }

    /// Whether nothing but an indentation, a list's mark, a diff's or `export` stands before the name.
    fn begins_line(&self) -> bool {
        const FAR: usize = 32;
        let before = &self.text.as_bytes()[..self.name.start];
        let near = &before[before.len().saturating_sub(FAR)..];
        let line = near.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
        if line.is_none() && before.len() > FAR {
            return false;
        }
        let head = &near[line.map_or(0, |line| line + 1)..];
        let is_mark = |byte: &u8| b" \t-#+>*|".contains(byte);
        let length = head.len() - head.iter().rev().take_while(|byte| is_mark(byte)).count();
        let head = &head[..length];
        head.is_empty()
            || head.ends_with(b"export")
            || head.ends_with(b"set")
            || head.ends_with(b"\\n")
    }

    /// Behind `Bearer` and the like, which may be shown.
    fn behind_scheme(&self, start: usize) -> usize {
        const SCHEMES: &[&str] = &[
            "bearer",
            "basic",
            "digest",
            "token",
            "negotiate",
            "ntlm",
            "apikey",
            "aws4-hmac-sha256",
            "bot",
            "oauth",
        ];
        let bytes = self.text.as_bytes();
        let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        let length = bytes[start..]
            .iter()
            .take(20)
            .take_while(|byte| is_scheme(byte))
            .count();
        let end = start + length;
        let behind = skip_blanks(bytes, end);
        let scheme = &self.text[start..end];
        if behind > end
            && SCHEMES
                .iter()
                .any(|known| known.eq_ignore_ascii_case(scheme))
        {
            behind
        } else {
            start
        }
    }

    /// `PWD=/home/me` is where a program runs.
    fn is_directory(&self, key: KeyName, value: &str) -> bool {
        let drive = value.as_bytes().get(1) == Some(&b':');
        let name = &self.text[self.name.clone()];
        let is_variable = ["pwd", "oldpwd"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name));
        // Longer ones are no paths on any system, and would be looked at again and again.
        let is_path = value.len() < 4096;
        is_path
            && key.noun == Noun::Pwd
            && is_variable
            && (value.starts_with(['/', '~', '.']) || drive)
    }
}

/// The quote directly before the word, or before the words that end with it where another quote
/// follows: `"api key"`.
fn quote_before(text: &[u8], word: &Range<usize>) -> Option<Quote> {
    const FAR: usize = 64;
    let (_, behind) = match Quote::opening(text, word.end) {
        Some(closing) => closing,
        None => return Quote::at(text, word.start.checked_sub(1)?),
    };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.".contains(byte);
    let before = text[..word.start].iter().rev().take(FAR);
    let length = before.take_while(|byte| is_name(byte)).count();
    let at = (word.start - length).checked_sub(1)?;
    Quote::at(text, at).filter(|_| text[at] == text[behind - 1])
}

/// Behind the quote that closes the one before the word.
fn closing(text: &[u8], at: usize, quote: Quote) -> Option<usize> {
    let (end, behind) = Quote::opening(text, at)?;
    end.has_mark_of(quote).then_some(behind)
}

fn assignment(text: &[u8], end: usize) -> Option<(Link, usize)> {
    let end = end + usize::from(text.get(end) == Some(&b']'));
    let at = skip_blanks(text, end);
    let rest = text.get(at..)?;
    let length = match rest {
        [b':', b':', ..] | [b'=', b'=' | b'~', ..] | [b':', b'/', b'/', ..] => return None,
        [b':', b'=', ..] | [b'=', b'>', ..] | [b'+', b'=', ..] => 2,
        [b':' | b'=', ..] => 1,
        _ => return None,
    };
    let start = skip_blanks(text, at + length);
    let blank = start > at + length;
    if rest[0] == b':' && length == 1 {
        return Some((Link::Colon { blank }, start));
    }
    let blank = blank || at > end;
    Some((Link::Equals { blank }, start))
}

/// `--token x`, and `"--token", "x"` in a list of arguments.
fn option(text: &[u8], end: usize, dashes: usize, is_quoted: bool) -> Option<(Link, usize)> {
    if dashes == 0 {
        return None;
    }
    let at = skip_blanks(text, end);
    let link = Link::Option { dashes };
    if is_quoted && text.get(at) == Some(&b',') {
        return Some((link, at + 1));
    }
    (at > end && at < text.len()).then_some((link, at))
}

fn skip_space(text: &[u8], at: usize) -> usize {
    let space = text[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace());
    at + space.count()
}

/// `refresh`, `login_failed`, `*`: what stands behind the colon in the name of an event.
fn is_action(value: &str) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'*' | b':');
    let length = value
        .bytes()
        .take(64)
        .take_while(|byte| is_name(byte))
        .count();
    let next = value.as_bytes().get(length);
    length > 0 && next.is_none_or(|next| next.is_ascii_whitespace() || b"\"'`,;)]".contains(next))
}
