//! Positions in a text: lines and columns for people, bytes for editors.
//!
//! Knows nothing of JSON.

use std::ops::Range;

/// A position in a hooks file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Position {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1. A byte order mark is not counted.
    pub column: usize,
    /// The number of bytes before it in the file, including a byte order mark.
    pub offset: usize,
}

/// The positions of a text. A lookup reads at most one block, however long a line is.
pub(crate) struct Positions<'a> {
    text: &'a str,
    /// The number of bytes of the file before the text.
    skipped: usize,
    /// The beginning of each block, and the end: the number of lines before it, and of characters before it in its line.
    blocks: Vec<(usize, usize)>,
}

const BLOCK: usize = 256;

impl<'a> Positions<'a> {
    pub(crate) fn new(text: &'a str, skipped: usize) -> Self {
        let mut at = (0, 0);
        let mut blocks = vec![at];
        for block in text.as_bytes().chunks(BLOCK) {
            at = advance(at, block);
            blocks.push(at);
        }
        Self {
            text,
            skipped,
            blocks,
        }
    }

    pub(crate) fn range(&self, range: &Range<usize>) -> Range<Position> {
        self.position(range.start)..self.position(range.end)
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        let block = offset / BLOCK;
        let rest = &self.text.as_bytes()[block * BLOCK..offset];
        let (line, column) = advance(self.blocks[block], rest);
        Position {
            line: line + 1,
            column: column + 1,
            offset: offset + self.skipped,
        }
    }
}

/// Returns the number of lines, and of characters in the last line, after these bytes.
fn advance((line, column): (usize, usize), bytes: &[u8]) -> (usize, usize) {
    let is_end = |byte: &&u8| **byte == b'\n';
    let lines = bytes.iter().filter(is_end).count();
    let (before, last) = match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => (0, &bytes[end + 1..]),
        None => (column, bytes),
    };
    // Only the first byte of a character counts.
    let is_first = |byte: &&u8| !matches!(byte, 0x80..=0xBF);
    (line + lines, before + last.iter().filter(is_first).count())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn positions_count_from_one() {
        let text = "ab\nä→x\r\n\n";
        let positions = Positions::new(text, 3);
        let at = |offset| {
            let position = positions.position(offset);
            (position.line, position.column, position.offset)
        };
        let expected = [
            (1, 1, 3),
            (1, 3, 5),
            (2, 1, 6),
            (2, 2, 8),
            (2, 3, 11),
            (3, 1, 14),
        ];
        assert_eq!([0, 2, 3, 5, 8, 11].map(at), expected);
        assert_eq!(at(text.len()), (4, 1, 15));
        let empty = Positions::new("", 0).position(0);
        assert_eq!((empty.line, empty.column, empty.offset), (1, 1, 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn blocks_change_nothing(lines in proptest::collection::vec("[aä→]{0,700}", 0..5)) {
            let text = lines.join("\n");
            let positions = Positions::new(&text, 0);
            for offset in text.char_indices().map(|(at, _)| at).chain([text.len()]) {
                let before = &text[..offset];
                let line_start = before.rfind('\n').map_or(0, |at| at + 1);
                let position = positions.position(offset);
                prop_assert_eq!(position.line, before.matches('\n').count() + 1);
                prop_assert_eq!(position.column, before[line_start..].chars().count() + 1);
            }
        }
    }
}
