//! Finds mistakes in the text of a shell command: variables in single quotes or outside of quotes, and tests that decide the
//! exit code. Also finds an `exit` that decides.
//!
//! Checks the command alone, not the text in `$(..)`.

use crate::hook::{Piece, Token, lex};

/// A search or a test at the end of a command, which decides the exit code.
pub(crate) struct LastTest<'a> {
    /// `grep`, `[`, ...
    program: &'a str,
    /// True if the command follows `!`.
    is_negated: bool,
    /// True if the command that runs after a success fails too, so that the whole never ends with 0.
    pub(super) always_fails: bool,
}

impl LastTest<'_> {
    /// Explains the exit code.
    pub(crate) fn why(&self) -> String {
        let when = match (self.is_search(), self.is_negated) {
            (true, false) => "finds nothing",
            (true, true) => "finds something",
            (false, false) => "is not true",
            (false, true) => "is true",
        };
        let not = if self.is_negated { "! " } else { "" };
        format!("`{not}{}` exits with 1 if it {when}", self.program)
    }

    /// Returns the fix.
    pub(crate) fn help(&self) -> String {
        let test = match self.program {
            "[" | "[[" => "[ ... ]".to_owned(),
            program => format!("{program} ..."),
        };
        let not = if self.is_negated { "! " } else { "" };
        let help = format!("write `if {not}{test}; then ...; exit 1; fi`");
        if self.always_fails {
            help
        } else {
            help + ", or set `\"on_failure\": \"continue\"`"
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
    let lexed = lex(text);
    let parts = parts(lexed.commands.last()?);
    if parts.contains(&"trap") {
        return None;
    }
    let test_of = |(program, is_negated), always_fails| LastTest {
        program,
        is_negated,
        always_fails,
    };
    let last = program_of(&parts);
    if SEARCHES.contains(&last.0) {
        return Some(test_of(last, false));
    }
    let and = parts.iter().rposition(|part| *part == "&&")?;
    let (before, after) = (&parts[..and], &parts[and + 1..]);
    let program = program_of(before);
    let (group, is_whole): (&[&str], _) = match after {
        ["{", group @ .., "}"] | ["(", group @ .., ")"] => (group, true),
        command => (command, !command.iter().any(|part| is_operator(part))),
    };
    let joins = |part: &&str| is_operator(part) && !is_end(part);
    let is_test = SEARCHES.contains(&program.0) || TESTS.contains(&program.0);
    let always_fails = match last_command(group) {
        ["exit", code] => code.parse().is_ok_and(|code: u8| code > 0),
        _ => false,
    };
    (is_whole && is_test && !group.iter().any(joins)).then(|| test_of(program, always_fails))
}

/// Returns the code in the first `exit` with a code other than 0, unless it only passes on an error, as in `cd x || exit 1`.
/// Behind a search or a test, `||` decides, and so does not pass on an error.
pub(super) fn exit_code(text: &str) -> Option<u8> {
    let lexed = lex(text);
    let parts = parts(lexed.commands.last()?);
    // Each `{` that is still open has an item: true if its commands run only after an error, its own or that of a group around it.
    let mut groups = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let is_in_group = groups.last() == Some(&true);
        let is_after_error =
            || is_in_group || matches!(&parts[..index], [before @ .., "||"] if !is_test(before));
        match *part {
            "{" => groups.push(is_after_error()),
            "}" => drop(groups.pop()),
            "exit" if begins_command(&parts[..index]) => {
                let code = parts.get(index + 1).and_then(|code| code.parse().ok());
                if let Some(code) = code.filter(|code| *code > 0 && !is_after_error()) {
                    return Some(code);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns whether the next word after these parts is a program, and not an argument.
fn begins_command(before: &[&str]) -> bool {
    const KEYWORDS: [&str; 6] = ["then", "else", "do", "{", "!", "command"];
    let last = before.last();
    last.is_none_or(|part| is_operator(part) || KEYWORDS.contains(part))
}

/// Returns whether the last command is a search or a test.
fn is_test(parts: &[&str]) -> bool {
    let (program, _) = program_of(parts);
    let is_closed = matches!(parts.last(), Some(&"]" | &"]]"));
    is_closed || SEARCHES.contains(&program) || TESTS.contains(&program)
}

/// Returns the words and operators of a command, as they are written.
fn parts<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let part = |token: &Token<'a>| match token {
        Token::Word(word) => Some(word.source),
        Token::Operator(operator) => Some(*operator),
        Token::Read(_) | Token::Write(_) => None,
    };
    tokens.iter().filter_map(part).collect()
}

fn is_operator(part: &str) -> bool {
    part.starts_with([';', '&', '|', '(', ')', '\n'])
}

fn is_end(part: &str) -> bool {
    matches!(part, ";" | "\n")
}

/// Returns the words of the last command.
fn last_command<'p, 'a>(parts: &'p [&'a str]) -> &'p [&'a str] {
    let end = parts.iter().rposition(|part| !is_end(part));
    let parts = &parts[..end.map_or(0, |end| end + 1)];
    let start = parts.iter().rposition(|part| is_operator(part));
    &parts[start.map_or(0, |start| start + 1)..]
}

/// Returns the program of the last command, and whether it follows a negation.
fn program_of<'a>(parts: &[&'a str]) -> (&'a str, bool) {
    match last_command(parts) {
        ["!", program, ..] => (program, true),
        [program, ..] => (program, false),
        [] => ("", false),
    }
}

/// Returns the first variable in a word in single quotes that `is_wanted`. A word after an option, as in `sh -c`, and
/// one of `eval` may be code.
pub(super) fn quoted_variable(text: &str, is_wanted: impl Fn(&str) -> bool) -> Option<&str> {
    const READ_CODE: [&str; 2] = ["eval", "trap"];
    let lexed = lex(text);
    let replaces_later = text.contains("envsubst");
    let mut before = "";
    for token in lexed.commands.last()? {
        let (Token::Word(word) | Token::Read(word) | Token::Write(word)) = token else {
            continue;
        };
        let is_code = replaces_later || before.starts_with('-') || READ_CODE.contains(&before);
        before = word.source;
        let is_quoted =
            |piece: &Piece<'_>| matches!(piece, Piece::Text(text) if text.contains('$'));
        let is_word =
            !is_code && word.source.contains('\'') && !word.source.contains(char::is_whitespace);
        if is_word && word.pieces.iter().any(is_quoted) {
            let mut names = word.source.split('$').skip(1).map(name_at);
            if let Some(name) = names.find(|name| is_wanted(name)) {
                return Some(name);
            }
        }
    }
    None
}

/// Returns the words that are one variable, outside of quotes: a shell splits their values into words.
pub(super) fn split_variables(text: &str) -> Vec<&str> {
    let lexed = lex(text);
    let tokens = lexed.commands.last().map_or(&[][..], |tokens| tokens);
    // The shell splits nothing in `[[ .. ]]` and `(( .. ))`.
    let is_simple = !text.contains("[[") && !text.contains("((");
    let mut names = Vec::new();
    for pair in tokens.windows(2).filter(|_| is_simple) {
        // A variable that is a command, a pattern or an element of a list is split on purpose, or is not split.
        let [Token::Word(before), Token::Word(word)] = pair else {
            continue;
        };
        let is_split = !matches!(before.source, "case" | "in" | "set" | "--");
        if let ([Piece::Variable(name)], true) = (&word.pieces[..], is_split)
            && is_bare(word.source, name)
        {
            names.push(*name);
        }
    }
    names
}

/// Returns true for `$NAME` and `${NAME}`.
fn is_bare(word: &str, name: &str) -> bool {
    let variable = word.strip_prefix('$').unwrap_or_default();
    let braced = variable
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    braced.unwrap_or(variable) == name
}

/// Returns the name at the beginning of the text after a `$`.
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
            ("trap 'exit 0' EXIT; grep -q x && exit 1", None),
            ("for i in a b; do grep -q $i && exit 1; done", None),
            ("grep x || exit 1", None),
            ("x=$(grep a && exit 1)", None),
            ("echo grep", None),
            (
                "echo 'a && b' # x\ngrep \"$A\" <<E\nx\nE",
                Some(("grep", false)),
            ),
            ("", None),
        ] {
            let test = last_test(text).map(|test| (test.program, test.always_fails));
            assert_eq!(test, expected, "{text}");
        }
    }

    #[test]
    fn an_exit_that_decides_is_found() {
        for (text, expected) in [
            ("exit 1", Some(1)),
            ("echo no >&2; exit 2", Some(2)),
            ("if a; then exit 3; else exit 0; fi", Some(3)),
            ("case $x in rm*) exit 1;; esac", Some(1)),
            ("deny() {\n  exit 2\n}\ndeny", Some(2)),
            ("grep -q x && { echo no; exit 1; }", Some(1)),
            ("grep -q x || exit 1", Some(1)),
            ("cat | grep -q x || { echo no; exit 1; }", Some(1)),
            ("[ a = b ] || exit 1", Some(1)),
            ("[[ a || b ]] || exit 1", Some(1)),
            ("cd x || exit 1", None),
            ("cd x || exit 1\nexit 2", Some(2)),
            ("cd x || { echo none; exit 1; }", None),
            ("cd x || { { a; }; exit 1; }; b", None),
            ("exit 0; exit; exit $?; exit 256", None),
            ("echo exit 1 'exit 1' # exit 1", None),
            ("x=$(exit 1)", None),
            ("cat <<E\nexit 1\nE", None),
            ("", None),
        ] {
            assert_eq!(exit_code(text), expected, "{text}");
        }
    }

    #[test]
    fn a_variable_in_single_quotes_is_found() {
        for (text, expected) in [
            ("echo '$A'", Some("A")),
            ("grep x <<<'${A}' # y", Some("A")),
            ("grep x <<'E' # '$A'\n'$A'\nE", None),
            ("case '${A}' in x) ;; esac", Some("A")),
            ("[ 'x$A.y' = y ]", Some("A")),
            ("sh -c 'echo $A'", None),
            ("sh -c '$A'", None),
            ("eval '$A'", None),
            ("printf %s '$A' | envsubst", None),
            ("echo \"'$A'\"", None),
            ("echo 'x $A'", None),
            ("echo '$B'", None),
            ("echo 'it' \"$A\" 's'", None),
        ] {
            assert_eq!(
                quoted_variable(text, |name| name == "A"),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn only_variables_outside_of_quotes_are_split() {
        for (text, expected) in [
            ("[ $A = x ]", &["A"][..]),
            ("echo ${B} \"$C\" '$D' \"x $E\" $F; $G", &["B", "F"]),
            ("if (( $A > 1 )); then :; fi", &[]),
            ("x=($A); set -- $B; cat <<< $C", &[]),
            ("case x in a) ;; $A) ;; esac", &[]),
            ("echo \\$A", &[]),
            ("case $A in x) ;; esac", &[]),
            ("[[ $A == x ]] && echo $B", &[]),
            ("x=$A; echo \"it's $B\"", &[]),
            ("echo \"a\\\" $A\"", &[]),
            ("echo \"$(basename \"$A\")\"", &[]),
            ("echo $((1 + $A)) # $B", &[]),
            ("cat <<X\n$A\nX", &[]),
            ("echo ${A:-none}", &[]),
            ("x=/tmp/$A.log", &[]),
            ("case x$A in x) ;; esac", &[]),
            ("for f in $A; do echo; done", &[]),
        ] {
            assert_eq!(split_variables(text), expected, "{text}");
        }
    }
}
