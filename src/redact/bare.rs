//! Values that stand in a text without quotes: where they end, and which are no secrets. Knows no
//! names.

use super::Redactor;
use super::quotes::Quote;

/// How far such a value reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// To the end of the line.
    Line,
    /// To the next blank: `PASSWORD=a&b` in a file of settings.
    Word,
    /// To the next blank, or to what ends a word in a command, a URL or a call.
    Part,
}

/// The end of the value that begins at `start`. `around` is the quote before its name, as in
/// `'Cookie: a=b'`.
pub(super) fn end(text: &[u8], start: usize, extent: Extent, around: Option<Quote>) -> usize {
    let mut at = start;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\n' | b'\r' => break,
            b'"' | b'\'' | b'`' => match behind_quote(text, at, around) {
                Some(behind) => at = behind,
                None => break,
            },
            b'\\' if matches!(text.get(at + 1), Some(b' ' | b'\t')) => at += 2,
            byte if ends(extent, *byte) => break,
            _ => at += 1,
        }
    }
    start + trimmed(&text[start..at], extent)
}

fn ends(extent: Extent, byte: u8) -> bool {
    match extent {
        Extent::Line => false,
        Extent::Word => matches!(byte, b' ' | b'\t'),
        Extent::Part => matches!(byte, b' ' | b'\t' | b'&' | b';' | b'|' | b'<' | b'>' | b')'),
    }
}

/// Where to go on behind a quote within a value; none where it ends the value. Behind one that opens
/// a string, as in `abc"def ghi"`, that is the string's end.
fn behind_quote(text: &[u8], at: usize, around: Option<Quote>) -> Option<usize> {
    let quote = Quote::at(text, at)?;
    if let Some(around) = around {
        if around.is_closed_by(text, at) {
            return None;
        }
        if quote.has_mark_of(around) {
            return Some(at + 1);
        }
    }
    let opens = text.get(at + 1).is_some_and(|next| {
        next.is_ascii_alphanumeric() || *next >= 0x80 || b"$/+-_@#!%^*~.=&([{".contains(next)
    });
    let string = opens
        .then(|| quote.closing_mark(text, at + 1, false))
        .flatten();
    match string {
        Some(mark) => Some(mark + 1),
        None => quote.is_apostrophe().then_some(at + 1),
    }
}

/// The length without what rather belongs to the text than to the value; a bracket does when the
/// value has none that it could close.
fn trimmed(value: &[u8], extent: Extent) -> usize {
    let around = |byte: u8| match byte {
        b',' | b';' | b'\\' => true,
        b' ' | b'\t' => extent == Extent::Line,
        b'&' | b'|' => extent != Extent::Line,
        b')' => extent != Extent::Line && !value.contains(&b'('),
        b']' => extent != Extent::Line && !value.contains(&b'['),
        b'}' => extent != Extent::Line && !value.contains(&b'{'),
        _ => false,
    };
    let length = value.iter().rposition(|byte| !around(*byte));
    length.map_or(0, |last| last + 1)
}

/// Whether this is a mask, and at most closing brackets and the like behind it.
pub(super) fn is_masked(value: &str) -> bool {
    value
        .strip_prefix(Redactor::MASK)
        .is_some_and(|rest| rest.bytes().all(|byte| b")]},;\"'`\\".contains(&byte)))
}

/// Words that stand for no value, for a type, or for whether there is one.
const PLAIN: &[&str] = &[
    "null",
    "none",
    "nil",
    "undefined",
    "true",
    "false",
    "yes",
    "no",
    "on",
    "off",
    "bool",
    "boolean",
    "str",
    "&str",
    "string",
    "int",
    "integer",
    "number",
    "bytes",
    "u8",
    "u16",
    "u32",
    "u64",
    "usize",
    "i32",
    "i64",
    "isize",
    "f64",
    "any",
    "unknown",
    "void",
    "basic",
    "bearer",
    "digest",
    "required",
    "optional",
    "all",
];

pub(super) fn is_plain(value: &str) -> bool {
    value.is_empty() || PLAIN.iter().any(|plain| plain.eq_ignore_ascii_case(value))
}

/// Words that follow the name of an option in a sentence.
pub(super) fn is_function_word(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "is", "are", "was", "to", "and", "or", "for", "from", "with", "must", "may", "can",
        "cannot", "not", "in", "of", "on", "the", "a", "an", "option", "flag", "as", "if", "when",
    ];
    WORDS.contains(&value)
}

/// Longer ones are not looked at: the time of a search must grow with the text alone.
const LONGEST_REFERENCE: usize = 256;

/// How code and scripts name what they take from elsewhere.
const ELSEWHERE: &[&str] = &[
    "$(",
    "${{",
    "process.env",
    "import.meta.env",
    "os.environ",
    "os.getenv",
    "env::var",
    "std::env",
    "System.getenv",
    "ENV[",
    "ENV.fetch",
    "$env:",
];

pub(super) fn begins_elsewhere(value: &str) -> bool {
    ELSEWHERE.iter().any(|prefix| value.starts_with(prefix))
}

/// Whether this names a value instead of being one: `$TOKEN`, `${TOKEN}`, `%TOKEN%`, `!TOKEN!`,
/// `{{ token }}`, `<token>`, `$(cat token)`; or hides it already: `****`.
pub(super) fn is_reference(value: &str) -> bool {
    if value.len() > LONGEST_REFERENCE {
        return false;
    }
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let within = |open: &str, close: &str| {
        let inner = value.strip_prefix(open)?;
        inner.strip_suffix(close)
    };
    begins_elsewhere(value)
        || value.strip_prefix('$').is_some_and(is_name)
        || [("${", "}"), ("%", "%"), ("!", "!")]
            .iter()
            .any(|(open, close)| within(open, close).is_some_and(is_name))
        || within("{{", "}}").is_some()
        || within("<", ">").is_some()
        || value.bytes().all(|byte| b"*.".contains(&byte))
}

/// Whether this is an expression of a program: `next_token()`, `tokens[at]`, `Option<String>`. One
/// with a string in it may hold the secret: `Some("x")`.
pub(super) fn is_expression(rest_of_line: &str) -> bool {
    let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '&' | '!');
    let Some(path) = rest_of_line
        .find(|c| !is_path(c))
        .filter(|length| *length > 1)
    else {
        return false;
    };
    let close = match rest_of_line.as_bytes()[path] {
        b'(' => ')',
        b'[' => ']',
        b'<' => '>',
        _ => return false,
    };
    let inner = rest_of_line[path + 1..].split_once(close);
    let digits = rest_of_line[..path]
        .bytes()
        .any(|byte| byte.is_ascii_digit());
    !digits && inner.is_some_and(|(inner, _)| !inner.contains(['"', '\'', '`']))
}

/// Whether this is a type, and code goes on behind it: `Ident,`, `&Token)`. What generates tokens does
/// without such names; people who choose passwords do not.
pub(super) fn is_type(rest_of_line: &str) -> bool {
    let name = rest_of_line.trim_start_matches('&');
    let length = name.find(|c: char| !(c.is_ascii_alphabetic() || c == ':'));
    let (name, behind) = name.split_at(length.unwrap_or(name.len()));
    let goes_on = behind.starts_with([',', ')', ';']) || behind.starts_with(" =");
    goes_on
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.contains(|c: char| c.is_ascii_lowercase())
}
