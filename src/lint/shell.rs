//! Finds an exit code that decides in the text of a shell command: that of a search or a test at its end, or of an `exit`.
//!
//! Checks the command alone, not the text in `$(..)`.

use crate::command::{Join, Outline, Step};

/// A search at the end of a command, or a search or a test before its last `&&`.
pub(crate) struct LastTest<'a> {
    /// `grep`, `[`, ...
    pub(super) program: &'a str,
    /// True if the command that runs after a success fails too, so that the whole never ends with 0.
    pub(super) always_fails: bool,
}

impl LastTest<'_> {
    /// Explains the exit code.
    pub(crate) fn why(&self) -> String {
        let when = if SEARCHES.contains(&self.program) {
            "finds nothing"
        } else {
            "is not true"
        };
        format!("`{}` exits with 1 if it {when}", self.program)
    }

    /// Returns the fix.
    pub(crate) fn help(&self) -> String {
        format!("write `if {} ...; then ...; exit 1; fi`", self.program)
    }
}

const SEARCHES: [&str; 4] = ["grep", "egrep", "fgrep", "rg"];
const TESTS: [&str; 3] = ["[", "[[", "test"];

/// Returns the search or the test that decides the exit code of a command.
pub(crate) fn last_test<'a>(text: &'a str) -> Option<LastTest<'a>> {
    let steps = Outline::read(text).steps;
    let is_outermost = |step: &Step<'_>| step.place.depth == 0;
    let at = steps.iter().rposition(is_outermost)?;
    let last = &steps[at];
    if last.place.is_negated {
        return None;
    }
    if SEARCHES.contains(&program(last)) {
        return Some(LastTest {
            program: program(last),
            always_fails: false,
        });
    }
    let before = steps[..at].iter().rfind(|step| is_outermost(step))?;
    if last.place.join != Join::And || !is_test(before) || before.place.is_negated {
        return None;
    }
    let end = steps.last()?;
    let is_reached =
        at + 1 == steps.len() || last.place.is_list && end.place.join == Join::Sequence;
    let has_trap = steps.iter().any(|step| program(step) == "trap");
    Some(LastTest {
        program: program(before),
        always_fails: is_reached && end.place.depth <= 1 && failure(end).is_some() && !has_trap,
    })
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
        if let Some(code) = failure(step)
            && !is_after_error
        {
            return Some(code);
        }
    }
    None
}

/// Returns the code of an `exit` with a code other than 0.
fn failure(step: &Step<'_>) -> Option<u8> {
    let words: Vec<_> = step.words.iter().map(|word| word.source).collect();
    let (["exit", code, ..] | ["command", "exit", code, ..]) = words[..] else {
        return None;
    };
    code.parse().ok().filter(|code| *code > 0)
}

fn is_test(step: &Step<'_>) -> bool {
    SEARCHES.contains(&program(step)) || TESTS.contains(&program(step))
}

fn program<'a>(step: &Step<'a>) -> &'a str {
    step.words.first().map_or("", |word| word.source)
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
                "x | grep -q y && { echo no; exit 2; }",
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
            (
                "trap 'exit 0' EXIT; grep -q x && exit 1",
                Some(("grep", false)),
            ),
            ("for i in a b; do grep -q $i && exit 1; done", None),
            ("grep x || exit 1", None),
            ("grep -q x &", None),
            ("grep -q x && if a; then exit 1; fi", Some(("grep", false))),
            ("grep -q x && { a || exit 1; }", Some(("grep", false))),
            ("x=$(grep a && exit 1)", None),
            ("echo grep", None),
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
}
