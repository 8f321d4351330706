//! The escapes of `$'..'`: `$'s\x75do'` is `sudo`.

/// The text of `$'..'`.
pub(super) struct Decoded {
    pub(super) text: String,
    /// The bytes up to and with the quote that ends it.
    pub(super) length: usize,
    pub(super) is_ended: bool,
}

/// Decodes a text up to its quote.
pub(super) fn decode(source: &str) -> Decoded {
    let mut text = String::new();
    let mut rest = source;
    let mut is_ended = false;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\'' => {
                is_ended = true;
                break;
            }
            '\\' => {
                let (decoded, behind) = escape(rest);
                text.extend(decoded);
                rest = behind;
            }
            c => text.push(c),
        }
    }
    Decoded {
        text,
        length: source.len() - rest.len(),
        is_ended,
    }
}

/// Decodes what is behind a backslash. Returns what follows, too.
fn escape(text: &str) -> (Option<char>, &str) {
    let Some(c) = text.chars().next() else {
        return (None, text);
    };
    let rest = &text[c.len_utf8()..];
    let control = match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'e' | 'E' => '\u{1b}',
        'x' => return number(rest, 16, 2),
        'u' => return number(rest, 16, 4),
        'U' => return number(rest, 16, 8),
        '0'..='7' => return number(text, 8, 3),
        c => c,
    };
    (Some(control), rest)
}

fn number(text: &str, radix: u32, most: usize) -> (Option<char>, &str) {
    let digits = text.chars().take(most).take_while(|c| c.is_digit(radix));
    let (digits, rest) = text.split_at(digits.count());
    let code = u32::from_str_radix(digits, radix).ok();
    let c = code.and_then(char::from_u32);
    (Some(c.unwrap_or(char::REPLACEMENT_CHARACTER)), rest)
}
