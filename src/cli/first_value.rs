//! Reads a stream up to the end of the JSON object that it begins with: an agent may leave it open.
//!
//! Finds only where the object ends. The reader of the text says whether it is JSON.

use std::io::{self, Read};

/// The most bytes that are read at once. Most events are shorter.
const PIECE: usize = 8 * 1024;

/// Reads at most `limit` bytes up to the end of an object, and what has come with its end. Reads to the end of the stream if it
/// begins with something else.
pub(crate) fn read(stream: &mut dyn Read, limit: usize) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut piece = vec![0; PIECE];
    let mut end = End::default();
    while bytes.len() < limit {
        let most = PIECE.min(limit - bytes.len());
        let count = match stream.read(&mut piece[..most]) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes.extend_from_slice(&piece[..count]);
        if piece[..count].iter().any(|byte| end.is_reached_at(*byte)) {
            break;
        }
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// Where the bytes so far have led.
#[derive(Default)]
struct End {
    /// The number of brackets that are open.
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
    /// True if the stream does not begin with an object.
    is_other: bool,
}

impl End {
    /// Returns whether the object ends with this byte.
    fn is_reached_at(&mut self, byte: u8) -> bool {
        if self.is_in_text {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_text = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'{' | b'[' if !self.is_other => self.depth += 1,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                return self.depth == 0;
            }
            b'"' if self.depth > 0 => self.is_in_text = true,
            // A byte order mark may come first.
            b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf => {}
            _ if self.depth == 0 => self.is_other = true,
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its pieces one by one, and then fails: nothing may read on.
    struct Open<'a>(Vec<&'a [u8]>);

    impl Read for Open<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::Error::other("read on"));
            }
            let piece = self.0.remove(0);
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn nothing_is_read_after_the_end() {
        for (text, expected) in [
            ("{}", Some("{}")),
            ("{} \n", Some("{}")),
            (
                "\u{feff} {\"a\": [1, {}]}x",
                Some("\u{feff} {\"a\": [1, {}]}"),
            ),
            (
                r#"{"a": "}\"}\\", "b": "é"}{"#,
                Some(r#"{"a": "}\"}\\", "b": "é"}"#),
            ),
            // This is no JSON, which the reader of the text says.
            ("{]}", Some("{]")),
            ("{", None),
            (r#"{"a": "}"#, None),
            ("x {}", None),
            ("\"{}\"", None),
        ] {
            let bytes = text.as_bytes();
            let by_one = read(&mut Open(bytes.chunks(1).collect()), 1_000).ok();
            assert_eq!(by_one.as_deref(), expected, "{text}");
            // Bytes that have come with the end are not dropped.
            let at_once = read(&mut Open(vec![bytes]), 1_000).ok();
            let whole = expected.map(|_| text);
            assert_eq!(at_once.as_deref(), whole, "{text}");
            assert_eq!(read(&mut &*bytes, 1_000).unwrap(), text);
        }
        let limited = read(&mut &b"{\"a\": 1}"[..], 3).unwrap();
        assert_eq!(limited, "{\"a");
    }
}
