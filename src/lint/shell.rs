//! Finds mistakes in the text of a shell command: variables in single quotes, and tests that decide the exit code. Also finds
//! an `exit` that decides.
//!
//! Checks the command alone, not the text in `$(..)`. The rest is what shellcheck does.

use crate::command::{Join, Outline, Step};

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
        let when = match (SEARCHES.contains(&self.program), self.is_negated) {
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
}

const SEARCHES: [&str; 4] = ["grep", "egrep", "fgrep", "rg"];
const TESTS: [&str; 3] = ["[", "[[", "test"];

/// Returns the search that ends a command or its last pipeline, or the search or test before its last `&&`.
pub(crate) fn last_test<'a>(text: &'a str) -> Option<LastTest<'a>> {
    let steps = Outline::read(text).steps;
    if steps.iter().any(|step| program(step) == "trap") {
        return None;
    }
    let test_of = |step: &Step<'a>, always_fails| LastTest {
        program: program(step),
        is_negated: step.place.is_negated,
        always_fails,
    };
    let is_outermost = |step: &Step<'_>| step.place.depth == 0;
    let at = steps.iter().rposition(is_outermost)?;
    let last = &steps[at];
    if SEARCHES.contains(&program(last)) {
        return Some(test_of(last, false));
    }
    let before = steps[..at].iter().rfind(|step| is_outermost(step))?;
    if last.place.join != Join::And || !is_test(before) {
        return None;
    }
    let end = steps.last()?;
    let (place, in_list) = (&end.place, last.place.is_list);
    let is_reached =
        place.depth == 0 || in_list && place.depth == 1 && place.join == Join::Sequence;
    let is_failure = |code: &str| code.parse().is_ok_and(|code: u8| code > 0);
    let fails = matches!(sources(end)[..], ["exit", code] if is_failure(code));
    Some(test_of(before, is_reached && fails))
}

/// Returns the code in the first `exit` with a code other than 0, unless it only passes on an error, as in `cd x || exit 1`.
/// Behind a search or a test, `||` decides, and so does not pass on an error.
pub(super) fn exit_code(text: &str) -> Option<u8> {
    let steps = Outline::read(text).steps;
    // Each group that is open: true if its commands run only after an error, its own or that of a group around it.
    let mut groups: Vec<bool> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        groups.truncate(step.place.depth);
        let passes_on = step.place.join == Join::Or && !steps[..index].last().is_some_and(is_test);
        let is_after_error = passes_on || groups.last() == Some(&true);
        groups.push(is_after_error);
        let code = match sources(step)[..] {
            ["exit", code, ..] | ["command", "exit", code, ..] => code.parse().unwrap_or(0),
            _ => 0,
        };
        if code > 0 && !is_after_error {
            return Some(code);
        }
    }
    None
}

/// Returns whether a command is a search or a test.
fn is_test(step: &Step<'_>) -> bool {
    SEARCHES.contains(&program(step)) || TESTS.contains(&program(step))
}

fn program<'a>(step: &Step<'a>) -> &'a str {
    step.words.first().map_or("", |word| word.source)
}

fn sources<'a>(step: &Step<'a>) -> Vec<&'a str> {
    step.words.iter().map(|word| word.source).collect()
}

/// Returns the first variable in a word in single quotes that `is_wanted`. A word after an option, as in `sh -c`, and
/// one of `eval` may be code.
pub(super) fn quoted_variable(text: &str, is_wanted: impl Fn(&str) -> bool) -> Option<&str> {
    const READ_CODE: [&str; 2] = ["eval", "trap"];
    let words = Outline::read(text).words;
    let before = [""].into_iter().chain(words.iter().copied());
    let mut data = words.iter().zip(before).filter(|(word, before)| {
        let is_code = before.starts_with('-') || READ_CODE.contains(before);
        // In double quotes, a single quote is text.
        !is_code && !word.contains(|c: char| c.is_whitespace() || c == '"')
    });
    if text.contains("envsubst") {
        return None;
    }
    data.find_map(|(word, _)| {
        let quoted = word.split('\'').skip(1).step_by(2);
        let mut names = quoted.flat_map(|text| text.split('$').skip(1).map(name_at));
        names.find(|name| is_wanted(name))
    })
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
            ("grep -q x &", None),
            ("grep -q x && if a; then exit 1; fi", Some(("grep", false))),
            ("grep -q x && { a || exit 1; }", Some(("grep", false))),
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
            ("{ cd x; [ -f y ]; } || exit 1", Some(1)),
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
}
