//! Reads a JSON text as a tree of values, each with its place.
//!
//! `jsonc-parser` reads the text. This module refuses the syntax that the parser accepts beyond JSON with comments and
//! trailing commas. Knows nothing of hooks.

use std::ops::Range;

use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, ParseOptions, Scanner, ScannerOptions, parse_to_ast};

use super::fault::Fault;
use super::node::{JsonTree, Node};
use super::syntax::{self, description};
use crate::printable::grouped;

/// The most bytes of a text.
pub(crate) const LARGEST_TEXT: u64 = 1024 * 1024;

/// The deepest nesting of a text. Its values are also written into other files, whose readers have such a limit.
pub(crate) const DEEPEST: usize = 100;

/// The most values and keys of a text: a tree takes a hundred times the memory of its text.
pub(crate) const MOST_VALUES: usize = 100_000;

/// The fault of a text that is not an object.
pub(crate) const NOT_AN_OBJECT: &str = "expected an object with a list `hooks`";

/// Returns the message that a text exceeds [`LARGEST_TEXT`].
pub(crate) fn too_large() -> String {
    format!("the file is larger than {} MiB", LARGEST_TEXT >> 20)
}

/// Parses a [readable](super::readable) text that must be an object.
pub(crate) fn parse_object(text: &str) -> Result<JsonTree<'_>, Fault> {
    if text.len() as u64 > LARGEST_TEXT {
        return Err(Fault::limit(too_large(), 0..0));
    }
    let start = text.len() - text.trim_start().len();
    let is_other = |first: char| first == '[' || first == '-' || first.is_alphanumeric();
    match parse(text) {
        Ok(tree) if tree.as_object().is_none() => {
            Err(not_an_object(text, Node::new(&tree).place()))
        }
        // The text is YAML, TOML or a script.
        Err(_) if text[start..].starts_with(is_other) => {
            let first = text[start..].chars().next().map_or(0, char::len_utf8);
            Err(not_an_object(text, start..start + first))
        }
        parsed => parsed,
    }
}

fn not_an_object(text: &str, place: Range<usize>) -> Fault {
    let is_list = text[place.start..].starts_with('[');
    let help = is_list.then_some("write {\"hooks\": [ ... ]} around the list");
    Fault::new(NOT_AN_OBJECT, place).with_help(help)
}

/// Returns the tree, or the first mistake.
fn parse(text: &str) -> Result<JsonTree<'_>, Fault> {
    let checked = match check(text) {
        // The parser recurses, and the tree would take too much memory.
        Err(fault) if fault.is_limit => return Err(fault),
        checked => checked,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &parse_options())
        .map_err(|error| not_json(text, &description(&error, text), syntax::range(&error)))
        .and_then(|parsed| {
            let end = text.len();
            let nothing = || not_json(text, "expected a value, found the end", end..end);
            parsed.value.ok_or_else(nothing)
        });
    match (parsed, checked) {
        (Err(parsed), Err(checked)) if parsed.place.start > checked.place.start => Err(checked),
        (Ok(_), Err(checked)) => Err(checked),
        (parsed, _) => parsed,
    }
}

fn not_json(text: &str, mistake: &str, range: Range<usize>) -> Fault {
    let help = syntax::help(text, &range);
    Fault::new(format!("the file is not valid JSON: {mistake}"), range).with_help(help)
}

/// Allows JSON with comments and trailing commas, and nothing else.
pub(crate) fn parse_options() -> ParseOptions {
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

/// The counters for the limits of a text.
#[derive(Default)]
struct Counted {
    levels: usize,
    /// The number of commas, colons and opening brackets: one of them precedes each value and each key.
    values: usize,
}

impl Counted {
    /// Returns the limit that the text has exceeded with this token.
    fn exceeded_with(&mut self, token: &Token<'_>) -> Option<String> {
        match token {
            Token::OpenBrace | Token::OpenBracket => {
                self.levels += 1;
                self.values += 1;
            }
            Token::CloseBrace | Token::CloseBracket => self.levels = self.levels.saturating_sub(1),
            Token::Comma | Token::Colon => self.values += 1,
            _ => {}
        }
        let limit = match () {
            () if self.levels > DEEPEST => format!("{DEEPEST} levels of lists and objects"),
            () if self.values > MOST_VALUES => format!("{} values and keys", grouped(MOST_VALUES)),
            () => return None,
        };
        Some(format!("the file has more than {limit}"))
    }
}

/// Refuses text that the parser accepts but JSON does not: control characters in strings, and other white space between
/// tokens. Counts levels and values, also after a mistake, since the parser reads on. If a text is not JSON, the parser
/// finds the mistake.
fn check(text: &str) -> Result<(), Fault> {
    let mut scanner = Scanner::new(text, &ScannerOptions::default());
    let mut checked = Ok(());
    let (mut counted, mut end) = (Counted::default(), 0);
    while let Ok(Some(token)) = scanner.scan() {
        let start = scanner.token_start();
        let is_other = |c: char| !matches!(c, ' ' | '\t' | '\n' | '\r');
        if let Some(at) = text[end..start].find(is_other) {
            let mistake = "expected only spaces, tabs and line ends between values";
            checked = checked.and_then(|()| Err(not_json(text, mistake, end + at..start)));
        }
        end = scanner.token_end();
        if let Token::String(_) = token {
            checked = checked.and_then(|()| check_string(text, start..end));
        }
        if let Some(limit) = counted.exceeded_with(&token) {
            return Err(Fault::limit(limit, start..end));
        }
    }
    checked
}

fn check_string(text: &str, range: Range<usize>) -> Result<(), Fault> {
    let mut bytes = text[range.clone()].bytes().zip(range.start..);
    let Some((byte, at)) = bytes.find(|(byte, _)| *byte < b' ') else {
        return Ok(());
    };
    if matches!(byte, b'\n' | b'\r') {
        let mistake = "the string that begins here has no closing `\"` on its line";
        return Err(not_json(text, mistake, range.start..at));
    }
    let mistake = format!("a control character in a string: write `\\u{byte:04x}`");
    Err(not_json(text, &mistake, at..at + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::text::readable;
    use super::*;

    #[test]
    fn each_run_is_read_in_linear_time() {
        crate::growth::assert_reads_in_linear_time("a hooks file", |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let _ = parse_object(&text);
        });
    }

    /// Reads the value as the loader does.
    fn read(value: &str) -> Result<Value, String> {
        let text = format!("{{\"x\": {value}\n}}");
        let text = readable(&text);
        let tree = parse_object(&text).map_err(|fault| fault.message)?;
        let file = Node::new(&tree);
        if file.members().count() != 1 {
            return Err("several keys".to_owned());
        }
        let value = file.member("x").unwrap().value();
        value.map_err(|fault| fault.message)
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
        let deep = "[".repeat(100) + &"]".repeat(100);
        let texts = r#"
            , 01 -01 1. .5 -.5 +1 0x1F 1e 1e+ - NaN Infinity nul True undefined 'a' "a a 1e999
            [,] [1,,2] [1,,] {,} {"a":} {'a':1} {a:1} {1:1} {"a":1,,} [1} {"a":1] [ {
            "\x41" "\v" "\'" "\u12" 
        "#;
        let spaced = [
            "",
            "[1 2]",
            "{\"a\" 1}",
            "{\"a\":1 \"b\":2}",
            "\"a\tb\"",
            "\"a\nb\"",
            "\"\0\"",
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
            &deep,
        ];
        for text in texts.split_whitespace().chain(spaced) {
            assert!(read(text).is_err(), "{text}");
        }
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
            let strict = serde_json::from_str::<Value>(&readable(&text)).ok();
            match read(&text) {
                Ok(value) => {
                    let bare = text.split_whitespace().collect::<String>() + "}";
                    let has_trailing = bare.contains(",]") || bare.contains(",}");
                    prop_assert!(has_trailing || strict == Some(value));
                }
                Err(message) => prop_assert!(strict.is_none(), "{}: {}", text, message),
            }
        }
    }
}
