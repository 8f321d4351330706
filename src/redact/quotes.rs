//! Quoted strings within a text, also where the text stands within a string of another: `\"x\"`.

/// A quote and how many backslashes stand before it: as many times as their number ends in a binary
/// 1 has the string been put into another (`"`, `\"`, `\\\"`, ...).
#[derive(Clone, Copy)]
pub(super) struct Quote {
    mark: u8,
    depth: u32,
}

/// So far ahead is a string's end looked for on other lines.
const LONGEST_OF_LINES: usize = 4096;

impl Quote {
    /// The quote whose mark is at `at`.
    pub(super) fn at(text: &[u8], at: usize) -> Option<Self> {
        let mark = *text
            .get(at)
            .filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
        let backslashes = text[..at].iter().rev().take_while(|byte| **byte == b'\\');
        // Nobody goes deeper, and the run of backslashes before a quote may be as long as the text.
        let depth = backslashes.take(64).count().trailing_ones();
        Some(Self { mark, depth })
    }

    /// The quote that opens at `at`, and where its string begins.
    pub(super) fn opening(text: &[u8], at: usize) -> Option<(Self, usize)> {
        let backslashes = text[at..].iter().take_while(|byte| **byte == b'\\').count();
        let mark = at + backslashes;
        Self::at(text, mark).map(|quote| (quote, mark + 1))
    }

    /// Whether the quote at `at` ends this one's string, or one around it.
    pub(super) fn is_closed_by(self, text: &[u8], at: usize) -> bool {
        Self::at(text, at).is_some_and(|end| end.mark == self.mark && end.depth <= self.depth)
    }

    /// The mark of the quote that ends the string that begins at `start`.
    pub(super) fn closing_mark(self, text: &[u8], start: usize, many_lines: bool) -> Option<usize> {
        let far = if many_lines {
            LONGEST_OF_LINES
        } else {
            usize::MAX
        };
        let rest = text[start..].iter().take(far).enumerate();
        // The end of the line is not looked for first, or many strings on a long line would each
        // cost its whole length.
        rest.take_while(|(_, byte)| many_lines || !matches!(byte, b'\n' | b'\r'))
            .filter(|(_, byte)| **byte == self.mark)
            .map(|(offset, _)| start + offset)
            .find(|at| self.is_closed_by(text, *at))
    }

    /// Where the string that begins at `start` ends: before its closing quote, or with the line.
    pub(super) fn string_end(self, text: &[u8], start: usize, many_lines: bool) -> usize {
        self.closing_mark(text, start, many_lines).map_or_else(
            || line_end(text, start),
            |mark| before_backslashes(text, start, mark, self.depth),
        )
    }

    pub(super) fn is_apostrophe(self) -> bool {
        self.mark == b'\''
    }

    pub(super) fn is_backtick(self) -> bool {
        self.mark == b'`'
    }

    pub(super) fn has_mark_of(self, other: Self) -> bool {
        self.mark == other.mark
    }
}

/// The backslashes of a closing quote are as many as those of its opening one; what more there is
/// belongs to the string.
fn before_backslashes(text: &[u8], start: usize, mark: usize, depth: u32) -> usize {
    let own = (1_usize << depth.min(16)) - 1;
    let backslashes = text[start..mark]
        .iter()
        .rev()
        .take_while(|byte| **byte == b'\\');
    mark - backslashes.take(own).count()
}

pub(super) fn line_end(text: &[u8], start: usize) -> usize {
    let rest = text[start..].iter();
    let length = rest
        .take_while(|byte| !matches!(byte, b'\n' | b'\r'))
        .count();
    start + length
}

/// Behind the blanks that begin at `at`.
pub(super) fn skip_blanks(text: &[u8], at: usize) -> usize {
    let blanks = text[at..]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'));
    at + blanks.count()
}

/// Behind the bracket that closes the one at `open`, brackets in strings aside; the end of the text
/// where there is none.
pub(super) fn bracket_end(text: &[u8], open: usize) -> usize {
    let (mut at, mut depth) = (open, 0_usize);
    while at < text.len() {
        match text[at] {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            b'"' => at = string_end(text, at),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The closing quote of the string that opens at `at`; `at` itself where it has none.
fn string_end(text: &[u8], at: usize) -> usize {
    Quote::at(text, at)
        .and_then(|quote| quote.closing_mark(text, at + 1, false))
        .unwrap_or(at)
}
