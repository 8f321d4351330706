//! The outline of a hooks file: its keys, and the range of each entry of `hooks`.
//!
//! The crate `jsonc-parser` creates the tokens, and the tree of an entry. Only one entry at a time has a
//! tree, so that a large file does not need much memory. Knows nothing of hooks.

use std::borrow::Cow;
use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, ParseOptions, Scanner, ScannerOptions, parse_to_ast};

use super::file::{FileError, LARGEST_FILE};
use super::syntax::words;

/// The most entries of a file.
pub(crate) const MOST_ENTRIES: usize = 1000;

/// A problem of a file, and its place.
pub(crate) type Failure = (FileError, Range<usize>);

/// A key of the file and the range of its value, which is not read yet.
pub(crate) struct Member<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) key_range: Range<usize>,
    pub(crate) value: Range<usize>,
}

pub(super) struct Outline<'a> {
    /// All keys except `hooks`.
    pub(super) others: Vec<Member<'a>>,
    /// The range of each entry of `hooks`; none if the file has no such key.
    pub(super) entries: Option<Vec<Range<usize>>>,
}

impl<'a> Outline<'a> {
    /// Reads the outline. [`parse`] checks the content of entries and values.
    pub(super) fn of(text: &'a str) -> Result<Self, Failure> {
        let mut entries = None;
        let others = other_members(text, |tokens, key_range| {
            if entries.is_some() {
                return Err((FileError::TwoLists, key_range));
            }
            let first = tokens.next()?;
            entries = Some(tokens.entries(first)?);
            Ok(())
        })?;
        Ok(Self { others, entries })
    }

    /// Checks that a file without a list `hooks` has no unknown key: the key may be `hooks` with a typo, and
    /// the list must not count as missing.
    pub(super) fn check_list(&self) -> Result<(), Failure> {
        let is_unknown = |member: &&Member<'_>| !is_known(&member.key);
        match self.others.iter().find(is_unknown) {
            Some(member) if self.entries.is_none() => {
                let error = FileError::OtherKey(member.key.to_string());
                Err((error, member.key_range.clone()))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the keys of a file except `hooks`; `read_hooks` reads the value of that key.
pub(crate) fn other_members<'a>(
    text: &'a str,
    mut read_hooks: impl FnMut(&mut Tokens<'a>, Range<usize>) -> Result<(), Failure>,
) -> Result<Vec<Member<'a>>, Failure> {
    if text.len() as u64 > LARGEST_FILE {
        return Err((FileError::TooLarge, 0..0));
    }
    let mut tokens = Tokens::new(text);
    let mut others = Vec::new();
    tokens.open()?;
    tokens.members(|tokens, key, key_range| {
        if key == "hooks" {
            return read_hooks(tokens, key_range);
        }
        let value = tokens.value()?;
        others.push(Member {
            key,
            key_range,
            value,
        });
        Ok(())
    })?;
    tokens.end()?;
    Ok(others)
}

/// Returns whether a file may have this key besides `hooks`.
pub(super) fn is_known(key: &str) -> bool {
    matches!(key, "disable" | "$schema") || is_note(key)
}

/// Returns whether the key is a note for people.
pub(super) fn is_note(key: &str) -> bool {
    key == "comment" || key.starts_with('_') || key.starts_with("//")
}

/// Parses the value in a range of the outline.
pub(crate) fn parse<'a>(text: &'a str, range: &Range<usize>) -> Result<ast::Value<'a>, Failure> {
    let failure = |words, start, end| {
        let error = FileError::NotJson(words);
        Err((error, range.start + start..range.start + end))
    };
    match parse_to_ast(
        &text[range.clone()],
        &CollectOptions::default(),
        &parse_options(),
    ) {
        Ok(parsed) => match parsed.value {
            Some(value) => Ok(value),
            None => failure("expected a value".to_owned(), 0, 0),
        },
        Err(error) => failure(words(&error), error.range().start, error.range().end),
    }
}

/// Allows JSON with comments and trailing commas, and nothing else.
pub(super) fn parse_options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The tokens of a text without comments. Rejects what the scanner accepts and JSON does not.
pub(crate) struct Tokens<'a> {
    text: &'a str,
    scanner: Scanner<'a>,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let options = ScannerOptions {
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        Self {
            text,
            scanner: Scanner::new(text, &options),
        }
    }

    pub(crate) fn next(&mut self) -> Result<Option<Token<'a>>, Failure> {
        loop {
            let before = self.scanner.token_end();
            let scanned = self.scanner.scan();
            let token = scanned.map_err(|error| {
                let range = error.range();
                (FileError::NotJson(words(&error)), range.start..range.end)
            })?;
            self.check_space(before..self.scanner.token_start())?;
            match &token {
                Some(Token::CommentLine(_) | Token::CommentBlock(_)) => {}
                Some(Token::String(_)) => {
                    self.check_string()?;
                    return Ok(token);
                }
                _ => return Ok(token),
            }
        }
    }

    /// Checks white space. The scanner accepts any white space of Unicode.
    fn check_space(&self, space: Range<usize>) -> Result<(), Failure> {
        let is_json = |c| matches!(c, ' ' | '\t' | '\n' | '\r');
        let other = self.text[space.clone()].find(|c| !is_json(c));
        other.map_or(Ok(()), |at| {
            let words = "expected only spaces, tabs and line ends between values";
            Err(self.failure(words, space.start + at))
        })
    }

    fn check_string(&self) -> Result<(), Failure> {
        let range = self.range();
        let control = self.text[range.clone()]
            .bytes()
            .position(|byte| byte < 0x20);
        control.map_or(Ok(()), |at| {
            let words = match self.text.as_bytes()[range.start + at] {
                b'\n' | b'\r' => "a line break in a string: write `\\n`".to_owned(),
                code => format!("a control character in a string: write `\\u{code:04x}`"),
            };
            Err(self.failure(&words, range.start + at))
        })
    }

    fn failure(&self, words: &str, at: usize) -> Failure {
        let length = self.text[at..].chars().next().map_or(0, char::len_utf8);
        (FileError::NotJson(words.to_owned()), at..at + length)
    }

    /// Returns the range of the last token.
    fn range(&self) -> Range<usize> {
        self.scanner.token_start()..self.scanner.token_end()
    }

    fn unexpected(&self, expected: &str) -> Failure {
        let mut words = format!("expected {expected}");
        if self.range().is_empty() {
            words += ", found the end";
        }
        (FileError::NotJson(words), self.range())
    }

    /// Reads the beginning of the file's object.
    pub(crate) fn open(&mut self) -> Result<(), Failure> {
        match self.next()? {
            Some(Token::OpenBrace) => Ok(()),
            Some(_) => Err((FileError::NoObject, self.range())),
            None => Err(self.unexpected("a value")),
        }
    }

    pub(super) fn end(&mut self) -> Result<(), Failure> {
        match self.next()? {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end of the file")),
        }
    }

    /// Reads the members of an object whose `{` has been read; `member` reads the value of each.
    pub(crate) fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, Cow<'a, str>, Range<usize>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        loop {
            let key = match self.next()? {
                Some(Token::CloseBrace) => return Ok(()),
                Some(Token::String(key)) => key,
                _ => return Err(self.unexpected("a key in double quotes, or `}`")),
            };
            let key_range = self.range();
            if !matches!(self.next()?, Some(Token::Colon)) {
                return Err(self.unexpected("`:`"));
            }
            member(self, key, key_range)?;
            match self.next()? {
                Some(Token::Comma) => {}
                Some(Token::CloseBrace) => return Ok(()),
                _ => return Err(self.unexpected("`,` or `}`")),
            }
        }
    }

    /// Reads the next value and returns its range.
    pub(crate) fn value(&mut self) -> Result<Range<usize>, Failure> {
        let first = self.next()?;
        self.value_from(first)
    }

    /// Reads a value without checking which bracket closes which: [`parse`] checks it.
    pub(crate) fn value_from(&mut self, first: Option<Token<'a>>) -> Result<Range<usize>, Failure> {
        let start = self.range().start;
        match first {
            Some(Token::String(_) | Token::Number(_) | Token::Boolean(_) | Token::Null) => {
                return Ok(self.range());
            }
            Some(Token::OpenBrace | Token::OpenBracket) => {}
            _ => return Err(self.unexpected("a value")),
        }
        let mut depth = 1;
        while depth > 0 {
            match self.next()? {
                Some(Token::OpenBrace | Token::OpenBracket) => depth += 1,
                Some(Token::CloseBrace | Token::CloseBracket) => depth -= 1,
                Some(_) => {}
                None => return Err(self.unexpected("`}` or `]`")),
            }
        }
        Ok(start..self.range().end)
    }

    /// Returns the range of each item of the list that begins with this token.
    pub(crate) fn entries(
        &mut self,
        first: Option<Token<'a>>,
    ) -> Result<Vec<Range<usize>>, Failure> {
        if !matches!(first, Some(Token::OpenBracket)) {
            let value = self.value_from(first)?;
            return Err((FileError::NoList, value));
        }
        let mut entries = Vec::new();
        loop {
            let first = self.next()?;
            if matches!(first, Some(Token::CloseBracket)) {
                break;
            }
            let entry = self.value_from(first)?;
            if entries.len() == MOST_ENTRIES {
                return Err((FileError::TooManyEntries, entry));
            }
            entries.push(entry);
            match self.next()? {
                Some(Token::Comma) => {}
                Some(Token::CloseBracket) => break,
                _ => return Err(self.unexpected("`,` or `]`")),
            }
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::entry::to_value;
    use super::*;

    /// Reads the value as the loader does.
    fn read(value: &str) -> Result<Value, String> {
        let text = format!("{{\"x\": {value}\n}}");
        let words = |(error, _): Failure| error.to_string();
        let outline = Outline::of(&text).map_err(words)?;
        let [member] = &outline.others[..] else {
            return Err("several keys".to_owned());
        };
        let tree = parse(&text, &member.value).map_err(words)?;
        to_value(&tree, 0).map_err(|(words, _)| words)
    }

    #[test]
    fn comments_and_trailing_commas_are_allowed() {
        for text in [
            "[1, /* two */ 2, // three\n 3]",
            "[1, 2, 3,]",
            "// before\n[1,2,3 /**/ , ] // behind",
        ] {
            assert_eq!(read(text).unwrap(), serde_json::json!([1, 2, 3]), "{text}");
        }
        let object = read("{\"a\": {\"b\": 1,},\n}").unwrap();
        assert_eq!(object, serde_json::json!({"a": {"b": 1}}));
    }

    #[test]
    fn other_deviations_from_json_are_errors() {
        let deep = "[".repeat(600) + &"]".repeat(600);
        for text in [
            "",
            ",",
            "01",
            "-01",
            "1.",
            ".5",
            "-.5",
            "+1",
            "0x1F",
            "1e",
            "1e+",
            "-",
            "NaN",
            "Infinity",
            "nul",
            "True",
            "undefined",
            "'a'",
            "\"a",
            "a",
            "[1 2]",
            "[,]",
            "[1,,2]",
            "[1,,]",
            "{,}",
            "{\"a\" 1}",
            "{\"a\":}",
            "{\"a\":1 \"b\":2}",
            "{a: 1}",
            "{1: 1}",
            "{'a': 1}",
            "{\"a\":1,,}",
            "[1}",
            "{\"a\":1]",
            "[",
            "{",
            "\"\\x41\"",
            "\"\\v\"",
            "\"\\'\"",
            "\"a\tb\"",
            "\"a\nb\"",
            "\"\0\"",
            "\"\\u12\"",
            "\"\\ud800\"",
            "\"\\udc00\"",
            "\"\\ud800\\u0041\"",
            "\u{FEFF}1",
            "[1,\u{FEFF}2]",
            "\u{A0}1",
            "[1,\u{2028}2]",
            "\u{B}1",
            "\0",
            "/* a",
            "/ 1",
            "# a\n1",
            "1 /",
            "1 2",
            "1e999",
            &deep,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn files_beyond_a_limit_are_refused() {
        let many = |count: usize, piece: &str| vec![piece; count].join(",");
        let error = |text: &str| Outline::of(text).err().map(|(error, _)| error.to_string());
        let of = |count| format!("{{\"hooks\": [{}]}}", many(count, "1"));
        assert_eq!(error(&of(MOST_ENTRIES)), None);
        assert!(
            error(&of(MOST_ENTRIES + 1))
                .unwrap()
                .contains("1,000 hooks")
        );
        let text = " ".repeat(1024 * 1024 + 1);
        assert!(error(&text).unwrap().contains("1 MiB"));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[\"\\\\\n/*,\\]]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let object = proptest::collection::btree_map("[a-z\"\\\\ä]{0,3}", inner.clone(), 0..5);
            prop_oneof![
                proptest::collection::vec(inner, 0..5).prop_map(Value::from),
                object.prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn printed_json_reads_back_the_same(value in any_json(), pretty in any::<bool>()) {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            prop_assert_eq!(read(&text), Ok(serde_json::from_str::<Value>(&text).unwrap()));
        }

        /// Both readers accept the same language, except for trailing commas and comments.
        #[test]
        fn it_agrees_with_the_strict_reader(text in "[\\[\\]{}:,\"\\\\u0-9dDeE+.\\-ntrulfasi \n\t]{0,12}") {
            let strict = serde_json::from_str::<Value>(&text).ok();
            match read(&text) {
                Ok(found) => {
                    let bare = text.split_whitespace().collect::<String>() + "}";
                    let has_trailing = bare.contains(",]") || bare.contains(",}");
                    prop_assert!(has_trailing || strict == Some(found));
                }
                Err(words) => prop_assert!(strict.is_none(), "{}: {}", text, words),
            }
        }
    }
}
