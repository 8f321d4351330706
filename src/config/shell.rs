//! Finds mistakes in the text of a shell command: variables in single quotes, and tests that decide the exit code.
//!
//! Knows no grammar: where it is not sure, it finds nothing.

/// A command at the end of which a search or a test decides the exit code.
pub(crate) struct LastTest<'a> {
    /// `grep`, `[`, ...
    program: &'a str,
    /// What follows if it is true fails too, so that the command never ends with 0.
    pub(super) always_fails: bool,
}

impl LastTest<'_> {
    /// Says what its exit code means.
    pub(crate) fn why(&self) -> String {
        let when = match self.is_search() {
            true => "finds nothing",
            false => "is not true",
        };
        format!("`{}` exits with 1 if it {when}", self.program)
    }

    /// Says what to write.
    pub(crate) fn help(&self) -> String {
        let test = match self.program {
            "[" | "[[" => "[ ... ]".to_owned(),
            program => format!("{program} ..."),
        };
        let help = format!("write `if {test}; then ...; exit 1; fi`");
        match self.always_fails {
            true => help,
            false => help + ", or set `\"on_failure\": \"continue\"`",
        }
    }

    fn is_search(&self) -> bool {
        SEARCHES.contains(&self.program)
    }
}

const SEARCHES: [&str; 4] = ["grep", "egrep", "fgrep", "rg"];
const TESTS: [&str; 3] = ["[", "[[", "test"];

/// Returns the search that ends a command or its last pipeline, or the search or test before its last `&&`.
pub(crate) fn last_test(text: &str) -> Option<LastTest<'_>> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == ';');
    let parts = parts(text)?;
    let (last, before) = parts.split_last()?;
    let found = |program, always_fails| LastTest {
        program,
        always_fails,
    };
    let first = first_word(last.text);
    if SEARCHES.contains(&first) {
        return Some(found(first, false));
    }
    // A group in braces has several parts.
    let is_group = last.text == "}" || last.text.ends_with(')');
    let at = parts.iter().rposition(|part| part.joined == "&&")?;
    let after = &parts[at..];
    let begins_group = after[0].text.starts_with(['{', '(']);
    let is_whole = match after {
        [_] => true,
        _ => is_group && begins_group && after[1..].iter().all(|part| part.joined == ";"),
    };
    let program = first_word(parts[..at].last()?.text);
    let is_test = SEARCHES.contains(&program) || TESTS.contains(&program);
    let exit = match last.text {
        "}" => before.last()?.text,
        text => text.trim_end_matches([')', ' ']),
    };
    let exit = exit.trim_start_matches(['{', '(', ' ']);
    let code = exit.strip_prefix("exit ").map(str::trim);
    let always_fails = code.is_some_and(|code| code.parse().is_ok_and(|code: u8| code > 0));
    (is_whole && is_test).then(|| found(program, always_fails))
}

/// One command of a text, and the operator before it.
struct Part<'a> {
    joined: &'static str,
    text: &'a str,
}

/// Returns the commands of a text, split at operators outside of quotes; None if the text has a comment or a document.
fn parts(text: &str) -> Option<Vec<Part<'_>>> {
    const OPERATORS: [&str; 6] = ["&&", "||", "|", ";", "\n", "&"];
    if text.contains(['#', '`', '\\']) || text.contains("<<") || text.contains("$(") {
        return None;
    }
    let mut parts = Vec::new();
    let mut quote = None;
    let mut joined = ";";
    let (mut start, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        let operator = OPERATORS.iter().find(|it| text[at..].starts_with(**it));
        match operator.filter(|_| quote.is_none()) {
            Some(operator) => {
                parts.push(Part {
                    joined,
                    text: text[start..at].trim(),
                });
                joined = if *operator == "\n" { ";" } else { operator };
                at += operator.len();
                start = at;
            }
            None => {
                quote = quote_after(quote, c);
                at += c.len_utf8();
            }
        }
    }
    parts.push(Part {
        joined,
        text: text[start..].trim(),
    });
    Some(parts)
}

/// The quote that is open behind a character.
fn quote_after(quote: Option<char>, c: char) -> Option<char> {
    match (quote, c) {
        (None, '"' | '\'') => Some(c),
        (Some(open), c) if open == c => None,
        _ => quote,
    }
}

/// The program of a command, behind a negation.
fn first_word(command: &str) -> &str {
    let mut words = command.split_whitespace();
    words.find(|word| *word != "!").unwrap_or_default()
}

/// Returns the first variable in a word in single quotes that `is_wanted`. A word behind an option, as in `sh -c`, and
/// one of `eval` may be code.
pub(super) fn quoted_variable(text: &str, is_wanted: impl Fn(&str) -> bool) -> Option<&str> {
    const READ_CODE: [&str; 3] = ["eval", "trap", "envsubst"];
    if text.contains(['#', '`', '\\']) || text.contains("<<") {
        return None;
    }
    let mut quote = None;
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let after = quote_after(quote, c);
        if quote.is_none() && after == Some('\'') {
            start = at;
        }
        if quote == Some('\'') && after.is_none() {
            let word = text[..start].split_whitespace().next_back();
            let word = word.unwrap_or_default();
            let is_code = word.starts_with('-') || READ_CODE.contains(&word);
            let quoted = &text[start + 1..at];
            let is_word = !is_code && !quoted.contains(char::is_whitespace);
            let mut names = quoted.split('$').skip(1).map(name_at);
            if let Some(name) = names.find(|name| is_word && is_wanted(name)) {
                return Some(name);
            }
        }
        quote = after;
    }
    None
}

/// The name at the beginning of what follows a `$`.
fn name_at(text: &str) -> &str {
    let text = text.strip_prefix('{').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_decides_is_found() {
        for (text, expected) in [
            ("grep -q x", Some(("grep", false))),
            ("echo \"$A\" | grep -q 'a|b'", Some(("grep", false))),
            ("true && rg x;", Some(("rg", false))),
            ("grep -q 'a && b' && exit 1", Some(("grep", true))),
            (
                "x | ! grep -q y && { echo no; exit 2; }",
                Some(("grep", true)),
            ),
            ("[ \"$A\" = x ] && (echo no; exit 1)", Some(("[", true))),
            ("test -f x && echo no", Some(("test", false))),
            ("grep -q x && exit 0", Some(("grep", false))),
            ("if grep -q x; then echo no; exit 1; fi", None),
            ("if a && grep -q x; then exit 1; fi", None),
            ("grep -q x && exit 1; exit 0", None),
            ("grep -q x && exit 1 || exit 0", None),
            ("grep -q x && exit 1\ntrue", None),
            ("a && exit 1", None),
            ("for i in a b; do grep -q $i && exit 1; done", None),
            ("grep x || exit 1", None),
            ("x=$(grep a && exit 1)", None),
            ("echo grep", None),
            ("", None),
        ] {
            let found = last_test(text).map(|it| (it.program, it.always_fails));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_variable_in_single_quotes_is_found() {
        for (text, expected) in [
            ("echo '$A'", Some("A")),
            ("grep x <<<'${A}' # y", None),
            ("case '${A}' in x) ;; esac", Some("A")),
            ("[ 'x$A.y' = y ]", Some("A")),
            ("sh -c 'echo $A'", None),
            ("sh -c '$A'", None),
            ("eval '$A'", None),
            ("echo \"'$A'\"", None),
            ("echo 'x $A'", None),
            ("echo '$B'", None),
            ("echo 'it' \"$A\" 's'", None),
        ] {
            assert_eq!(quoted_variable(text, |it| it == "A"), expected, "{text}");
        }
    }
}
