//! A JSON text as a tree of values, each with its place.
//!
//! `jsonc-parser` reads the text. What it accepts beyond JSON with comments and trailing commas is refused here.
//! Knows nothing of hooks.

use std::ops::Range;

use jsonc_parser::ast::{self, ObjectProp};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, ParseOptions, Scanner, ScannerOptions, parse_to_ast};
use serde_json::{Number, Value, json};

use super::file::{FileError, LARGEST_FILE};
use super::report::{Problem, Severity};
use super::syntax::{self, words};
use crate::printable::grouped;

/// The deepest nesting of a text: what is in it is also written into other files, whose readers have such a limit.
pub(super) const DEEPEST: usize = 100;

/// The most values and keys of a text: a tree takes a hundred times the memory of its text.
pub(super) const MOST_VALUES: usize = 100_000;

/// The problem of a text that is no object.
pub(crate) const NO_OBJECT: &str = "expected an object with a list `hooks`";

pub(crate) type Tree<'a> = ast::Value<'a>;

/// Parses a text, without a byte order mark, that must be an object.
///
/// # Errors
/// The problem has no file yet.
pub(crate) fn parse_object(text: &str) -> Result<Tree<'_>, Problem> {
    if text.len() as u64 > LARGEST_FILE {
        return Err(Problem::limit(FileError::TooLarge.to_string()));
    }
    let start = text.len() - text.trim_start().len();
    let is_other = |first: char| first == '[' || first == '-' || first.is_alphanumeric();
    match parse(text) {
        Ok(tree) if tree.as_object().is_none() => Err(no_object(text, Node::new(&tree).place())),
        // YAML, TOML, a script.
        Err(_) if text[start..].starts_with(is_other) => {
            let first = text[start..].chars().next().map_or(0, char::len_utf8);
            Err(no_object(text, start..start + first))
        }
        parsed => parsed,
    }
}

fn no_object(text: &str, place: Range<usize>) -> Problem {
    let is_list = text[place.start..].starts_with('[');
    let problem = Problem::error("", NO_OBJECT).at(place);
    match is_list {
        true => problem.with_help("write {\"hooks\": [ ... ]} around the list"),
        false => problem,
    }
}

/// Returns the tree, or the first mistake.
fn parse(text: &str) -> Result<Tree<'_>, Problem> {
    let checked = match check(text) {
        // The parser recurses, and the tree would take too much memory.
        Err(problem) if problem.is_limit => return Err(problem),
        checked => checked,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &parse_options())
        .map_err(|error| not_json(text, &words(&error, text), syntax::range(&error)))
        .and_then(|parsed| {
            let end = text.len();
            let nothing = || not_json(text, "expected a value, found the end", end..end);
            parsed.value.ok_or_else(nothing)
        });
    match (parsed, checked) {
        (Err(parsed), Err(checked)) if parsed.start() > checked.start() => Err(checked),
        (Ok(_), Err(checked)) => Err(checked),
        (parsed, _) => parsed,
    }
}

fn not_json(text: &str, words: &str, range: Range<usize>) -> Problem {
    let help = syntax::help(text, &range).map(str::to_owned);
    let problem = Problem::error("", format!("the file is not valid JSON: {words}"));
    Problem {
        help,
        ..problem.at(range)
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

/// What is limited in a text.
#[derive(Default)]
struct Counted {
    levels: usize,
    /// One of a comma, a colon and an opening bracket is before each value and each key.
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
        let what = match () {
            () if self.levels > DEEPEST => format!("{DEEPEST} levels of lists and objects"),
            () if self.values > MOST_VALUES => format!("{} values and keys", grouped(MOST_VALUES)),
            () => return None,
        };
        Some(format!("the file has more than {what}"))
    }
}

/// Checks what the parser accepts and JSON does not: control characters in strings, and other white space between tokens.
/// Counts levels and values, also behind a mistake: the parser reads on. Of a text that is not JSON, the parser finds the mistake.
fn check(text: &str) -> Result<(), Problem> {
    let mut scanner = Scanner::new(text, &ScannerOptions::default());
    let mut checked = Ok(());
    let (mut counted, mut end) = (Counted::default(), 0);
    while let Ok(Some(token)) = scanner.scan() {
        let start = scanner.token_start();
        let is_other = |c: char| !matches!(c, ' ' | '\t' | '\n' | '\r');
        if let Some(at) = text[end..start].find(is_other) {
            let words = "expected only spaces, tabs and line ends between values";
            checked = checked.and_then(|()| Err(not_json(text, words, end + at..start)));
        }
        end = scanner.token_end();
        if let Token::String(_) = token {
            checked = checked.and_then(|()| check_string(text, start..end));
        }
        if let Some(words) = counted.exceeded_with(&token) {
            return Err(Problem::limit(words).at(start..end));
        }
    }
    checked
}

fn check_string(text: &str, range: Range<usize>) -> Result<(), Problem> {
    let mut bytes = text[range.clone()].bytes().zip(range.start..);
    let Some((byte, at)) = bytes.find(|(byte, _)| *byte < b' ') else {
        return Ok(());
    };
    if matches!(byte, b'\n' | b'\r') {
        let words = "the string that begins here has no closing `\"` on its line";
        return Err(not_json(text, words, range.start..at));
    }
    let words = format!("a control character in a string: write `\\u{byte:04x}`");
    Err(not_json(text, &words, at..at + 1))
}

/// A value with its key.
#[derive(Clone, Copy)]
pub(crate) struct Node<'t, 'a> {
    pub(crate) key: &'t str,
    tree: &'t Tree<'a>,
}

fn span(part: &impl Ranged) -> Range<usize> {
    let range = part.range();
    range.start..range.end
}

/// A key of an object, its place, and its value.
pub(crate) struct Member<'t, 'a> {
    pub(crate) key: &'t str,
    pub(crate) key_range: Range<usize>,
    pub(crate) value: Node<'t, 'a>,
}

impl Member<'_, '_> {
    /// Returns the key and the value as a part of an object in JSON.
    pub(crate) fn json(&self) -> String {
        format!("{}: {}", json!(self.key), self.value.json())
    }
}

impl<'t, 'a> Node<'t, 'a> {
    pub(crate) fn new(tree: &'t Tree<'a>) -> Self {
        Self { key: "", tree }
    }

    /// Returns the value as one that has no key: an item of a list.
    pub(crate) fn without_key(self) -> Self {
        Self::new(self.tree)
    }

    pub(crate) fn range(&self) -> Range<usize> {
        span(self.tree)
    }

    /// The place that a message shows: of an object or a list its first byte.
    pub(crate) fn place(&self) -> Range<usize> {
        let range = self.range();
        match self.tree {
            ast::Value::Object(_) | ast::Value::Array(_) => range.start..range.start + 1,
            _ => range,
        }
    }

    /// Returns the value of a key, which may be `null`. If the key occurs twice, the last value.
    pub(crate) fn member(&self, key: &str) -> Option<Self> {
        let mut from_behind = self.properties().iter().rev();
        let found = from_behind.find(|property| property.name.as_str() == key)?;
        Some(Self::of(found))
    }

    /// Returns the value of a key; `null` counts as missing, since other programs write it for missing values.
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        let is_null = |found: &Self| found.tree.as_null_keyword().is_some();
        self.member(key).filter(|found| !is_null(found))
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = Member<'t, 'a>> + use<'t, 'a> {
        self.properties().iter().map(|property| Member {
            key: property.name.as_str(),
            key_range: span(&property.name),
            value: Self::of(property),
        })
    }

    fn of(property: &'t ObjectProp<'a>) -> Self {
        Self {
            key: property.name.as_str(),
            tree: &property.value,
        }
    }

    fn properties(&self) -> &'t [ObjectProp<'a>] {
        let object = self.tree.as_object();
        object.map_or(&[], |object| &object.properties)
    }

    /// Returns the items of a list, with the list's key.
    pub(crate) fn items(&self) -> Option<impl ExactSizeIterator<Item = Self> + use<'t, 'a>> {
        let key = self.key;
        let items = &self.tree.as_array()?.elements;
        Some(items.iter().map(move |tree| Self { key, tree }))
    }

    pub(crate) fn is_object(&self) -> bool {
        self.tree.as_object().is_some()
    }

    pub(crate) fn text(&self) -> Option<&'t str> {
        Some(&self.tree.as_string_lit()?.value)
    }

    pub(crate) fn number(&self) -> Option<f64> {
        self.tree.as_number_lit()?.value.parse().ok()
    }

    pub(crate) fn switch(&self) -> Option<bool> {
        Some(self.tree.as_boolean_lit()?.value)
    }

    /// Returns the value without its place.
    ///
    /// # Errors
    /// Of a number beyond all limits.
    pub(crate) fn value(&self) -> Result<Value, Problem> {
        Ok(match self.tree {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
            ast::Value::StringLit(literal) => Value::String(literal.value.as_ref().to_owned()),
            ast::Value::NumberLit(literal) => match literal.value.parse::<Number>() {
                Ok(number) => Value::Number(number),
                Err(_) => {
                    let words = "the number is out of range";
                    return Err(Problem::error(self.key, words).at(self.range()));
                }
            },
            ast::Value::Array(array) => {
                // With the exact capacity, since the value is kept, and an entry may consist of brackets only.
                let mut values = Vec::with_capacity(array.elements.len());
                for item in self.items().into_iter().flatten() {
                    values.push(item.value()?);
                }
                Value::Array(values)
            }
            ast::Value::Object(_) => {
                let member = |it: Member<'_, '_>| Ok((it.key.to_owned(), it.value.value()?));
                Value::Object(self.members().map(member).collect::<Result<_, _>>()?)
            }
        })
    }

    /// Returns the value as JSON on one line, in its own order, without comments.
    pub(crate) fn json(&self) -> String {
        let listed = |parts: Vec<String>| parts.join(", ");
        match self.tree {
            ast::Value::NullKeyword(_) => "null".to_owned(),
            ast::Value::BooleanLit(literal) => literal.value.to_string(),
            ast::Value::NumberLit(literal) => literal.value.to_owned(),
            ast::Value::StringLit(literal) => json!(literal.value).to_string(),
            ast::Value::Array(_) => {
                let items = self.items().into_iter().flatten();
                format!("[{}]", listed(items.map(|item| item.json()).collect()))
            }
            ast::Value::Object(_) => {
                let members = self.members().map(|member| member.json());
                format!("{{{}}}", listed(members.collect()))
            }
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self.tree {
            ast::Value::NullKeyword(_) => "null",
            ast::Value::BooleanLit(_) => "true or false",
            ast::Value::NumberLit(_) => "a number",
            ast::Value::StringLit(_) => "a string",
            ast::Value::Array(_) => "a list",
            ast::Value::Object(_) => "an object",
        }
    }

    /// Returns a problem with this value.
    pub(crate) fn problem(&self, severity: Severity, message: impl Into<String>) -> Problem {
        Problem::new(severity, self.key, message).at(self.place())
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> Problem {
        self.problem(Severity::Error, message)
    }

    pub(crate) fn warning(&self, message: impl Into<String>) -> Problem {
        self.problem(Severity::Warning, message)
    }

    /// Returns a message about an unexpected value.
    pub(crate) fn unexpected(&self, expected: &str) -> String {
        format!("expected {expected}, found {}", self.kind())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Reads the value as the loader does.
    fn read(value: &str) -> Result<Value, String> {
        let text = format!("{{\"x\": {value}\n}}");
        let tree = parse_object(&text).map_err(|problem| problem.message)?;
        let file = Node::new(&tree);
        if file.members().count() != 1 {
            return Err("several keys".to_owned());
        }
        let value = file.member("x").unwrap().value();
        value.map_err(|problem| problem.message)
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
        let words = r#"
            , 01 -01 1. .5 -.5 +1 0x1F 1e 1e+ - NaN Infinity nul True undefined 'a' "a a 1e999
            [,] [1,,2] [1,,] {,} {"a":} {'a':1} {a:1} {1:1} {"a":1,,} [1} {"a":1] [ {
            "\x41" "\v" "\'" "\u12" "\ud800" "\udc00" "\ud800\u0041"
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
        for text in words.split_whitespace().chain(spaced) {
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
