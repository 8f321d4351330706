//! The expressions of all conditions of an event, as one automaton that reads a text once: what a text costs depends on its
//! length, and not on the number of guards.
//!
//! The automaton is made while it reads, as far as the texts need it. It gives up where the text makes it grow without end;
//! then it is unknown what the text has. Knows no conditions and no events.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use regex::{Regex, RegexBuilder};
use regex_automata::hybrid::dfa::{Builder, Cache, Config, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::{Input, MatchKind, PatternSet};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

use crate::paths::Unknown;

/// The most bytes of an expression.
const LONGEST: usize = 64 * 1024;

/// The most bytes that a compiled expression may take.
const LARGEST: usize = 256 * 1024;

/// The most bytes that all compiled expressions of an event may take.
const LARGEST_TOGETHER: usize = 16 * 1024 * 1024;

/// The bytes for the automaton's states. Texts that need more states make it forget and compute them again.
const STATES: usize = 4 * 1024 * 1024;

/// The automaton gives up at the next reset if it has been reset this often and has read fewer than ten bytes for a state.
const MOST_RESETS: usize = 3;

/// The longest text, in bytes, that is tested.
const LONGEST_TEXT: usize = 1024 * 1024;

/// The longest text, in bytes, that is tested by one expression alone.
const LONGEST_ALONE: usize = 4096;

/// The most bytes of texts that are read again for one expression alone, together for an event.
const MOST_ALONE: usize = 16 * 1024 * 1024;

pub(super) const NOT_COMPILED: Unknown = Cow::Borrowed("its expressions are not compiled");
const TOO_LONG: Unknown = Cow::Borrowed("its value has more than 1 MiB");
const GAVE_UP: Unknown = Cow::Borrowed("the text takes the expressions of all hooks too long");
const TOO_LARGE_TOGETHER: Unknown =
    Cow::Borrowed("the expressions of all hooks on the event take more than 16 MiB when compiled");

const TOO_LARGE: &str = "takes more than 256 KiB when compiled: repeat less, match only ASCII letters, as in \
                         `(?-u:\\w)`, or test the value in the hook";

/// An expression of a condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Expression {
    pub(super) text: String,
    /// True for globs: `.` matches line ends too, and letter case may make no difference.
    pub(super) is_of_paths: bool,
}

impl Expression {
    fn parsed(&self, ignores_case: bool) -> Result<Hir, String> {
        if self.text.len() > LONGEST {
            return Err(TOO_LARGE.to_owned());
        }
        let mut builder = ParserBuilder::new();
        builder.dot_matches_new_line(self.is_of_paths);
        builder.case_insensitive(self.is_of_paths && ignores_case);
        let parsed = builder.build().parse(&self.text);
        parsed.map_err(|error| no_expression(&error))
    }

    fn compiled_alone(&self, ignores_case: bool) -> Option<Regex> {
        let mut builder = RegexBuilder::new(&self.text);
        builder
            .dot_matches_new_line(self.is_of_paths)
            .case_insensitive(self.is_of_paths && ignores_case)
            .size_limit(4 * LARGEST);
        builder.build().ok()
    }

    /// Checks the form of the expression. That of a glob is always right.
    ///
    /// # Errors
    /// A fragment with the reason.
    pub(super) fn check_form(&self) -> Result<(), String> {
        if self.is_of_paths && self.text.len() <= LONGEST {
            return Ok(());
        }
        self.parsed(false).map(drop)
    }

    /// Checks that the expression can be used.
    ///
    /// # Errors
    /// A fragment with the reason.
    pub(super) fn check(&self) -> Result<(), String> {
        let parsed = self.parsed(false)?;
        match compiled(&[&parsed], LARGEST) {
            Some(_) => Ok(()),
            None => Err(TOO_LARGE.to_owned()),
        }
    }
}

/// Says why a text is not a regular expression.
pub(crate) fn no_expression(error: &regex_syntax::Error) -> String {
    // The last of several lines contains the reason; the others show the position.
    let message = error.to_string();
    let last = message.lines().last().unwrap_or_default();
    let why = last.strip_prefix("error: ").unwrap_or(last);
    format!("is not a regular expression: {why}")
}

/// Compiles expressions; none if they take more than this number of bytes.
fn compiled(expressions: &[&Hir], most: usize) -> Option<NFA> {
    let config = thompson::Config::new()
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(most));
    let mut compiler = thompson::Compiler::new();
    compiler
        .configure(config)
        .build_many_from_hir(expressions)
        .ok()
}

/// The expressions of a list of conditions.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    all: Vec<Expression>,
    /// The numbers of all, made when the automaton of all is needed.
    numbers: OnceLock<HashMap<Expression, usize>>,
    /// The automata without letter case, then with it.
    exact: [OnceLock<Set>; 2],
    /// The same automata without Unicode's word boundaries, which an automaton can test between ASCII characters alone.
    loose: [OnceLock<Set>; 2],
    /// The expressions that were compiled one by one, by letter case.
    alone: [Mutex<HashMap<Expression, Option<Regex>>>; 2],
}

/// The expressions that a text has.
#[derive(Debug, Clone)]
pub(super) enum Matches {
    These(PatternSet),
    /// The expressions that the text would have if word boundaries did not count.
    AtMost(PatternSet),
    Unknown(Unknown),
}

impl Expressions {
    pub(super) fn new<'e>(expressions: impl Iterator<Item = &'e Expression>) -> Self {
        Self {
            all: expressions.cloned().collect(),
            ..Self::default()
        }
    }

    fn numbers(&self) -> &HashMap<Expression, usize> {
        self.numbers.get_or_init(|| {
            let mut numbers = HashMap::new();
            for expression in &self.all {
                let next = numbers.len();
                numbers.entry(expression.clone()).or_insert(next);
            }
            numbers
        })
    }

    /// Returns the expressions that a text has. Reads the text once.
    pub(super) fn find(&self, text: &str, ignores_case: bool) -> Matches {
        if text.len() > LONGEST_TEXT {
            return Matches::Unknown(TOO_LONG);
        }
        let place = usize::from(ignores_case);
        let exact = self.exact[place].get_or_init(|| self.set(ignores_case, Hir::clone));
        match exact.read(text) {
            Ok(patterns) => Matches::These(patterns),
            Err(why) if text.is_ascii() => Matches::Unknown(why),
            Err(_) => {
                let loose = self.loose[place].get_or_init(|| self.set(ignores_case, without_words));
                loose
                    .read(text)
                    .map_or_else(Matches::Unknown, Matches::AtMost)
            }
        }
    }

    /// Returns whether a text has an expression, from its matches. `budget` is the number of bytes that may still be read for
    /// one expression.
    pub(super) fn has(
        &self,
        expression: &Expression,
        matches: &Matches,
        (text, ignores_case): (&str, bool),
        budget: &Budget,
    ) -> Result<bool, Unknown> {
        let number = *self.numbers().get(expression).ok_or(NOT_COMPILED)?;
        let is_in = |set: &PatternSet| set.contains(pattern(number));
        match matches {
            Matches::Unknown(why) => Err(why.clone()),
            Matches::These(set) => Ok(is_in(set)),
            Matches::AtMost(set) if !is_in(set) => Ok(false),
            Matches::AtMost(_) => {
                budget.take(text)?;
                let regex = self.alone(expression, ignores_case);
                regex.map(|regex| regex.is_match(text)).ok_or(GAVE_UP)
            }
        }
    }

    /// Returns whether a short text has an expression, tested by that alone: to make the automaton of all would take longer. None
    /// for other texts, if the automaton is made already, and if the expression is too large.
    pub(super) fn has_alone(
        &self,
        expression: &Expression,
        text: &str,
        budget: &Budget,
    ) -> Option<Result<bool, Unknown>> {
        if text.len() > LONGEST_ALONE || self.exact[0].get().is_some() {
            return None;
        }
        let regex = self.alone(expression, false)?;
        Some(budget.take(text).map(|()| regex.is_match(text)))
    }

    fn alone(&self, expression: &Expression, ignores_case: bool) -> Option<Regex> {
        let compiled = &self.alone[usize::from(ignores_case)];
        let mut compiled = compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(regex) = compiled.get(expression) {
            return regex.clone();
        }
        let regex = expression.compiled_alone(ignores_case);
        compiled.insert(expression.clone(), regex.clone());
        regex
    }

    /// Returns the reason why an expression cannot be used, if a search has shown it.
    pub(super) fn fault(&self, expression: &Expression) -> Option<&str> {
        let number = self.numbers().get(expression)?;
        let mut sets = self.exact.iter().filter_map(OnceLock::get);
        sets.find_map(|set| set.faults.get(number))
            .map(String::as_str)
    }

    fn set(&self, ignores_case: bool, changed: fn(&Hir) -> Hir) -> Set {
        let mut faults = HashMap::new();
        let mut parsed = vec![Hir::fail(); self.numbers().len()];
        for (expression, number) in self.numbers() {
            match expression.parsed(ignores_case) {
                Ok(hir) => parsed[*number] = changed(&hir),
                Err(why) => drop(faults.insert(*number, why)),
            }
        }
        // What is small together has no part that is too large.
        let mut nfa = compiled(&refs(&parsed), LARGEST);
        if nfa.is_none() {
            for (number, hir) in parsed.iter_mut().enumerate() {
                if compiled(&[hir], LARGEST).is_none() {
                    *hir = Hir::fail();
                    faults.insert(number, TOO_LARGE.to_owned());
                }
            }
            nfa = compiled(&refs(&parsed), LARGEST_TOGETHER);
        }
        Set {
            automaton: nfa.and_then(automaton),
            caches: Mutex::default(),
            faults,
        }
    }
}

fn refs(all: &[Hir]) -> Vec<&Hir> {
    all.iter().collect()
}

fn pattern(number: usize) -> regex_automata::PatternID {
    regex_automata::PatternID::must(number)
}

fn automaton(nfa: NFA) -> Option<DFA> {
    let config = Config::new()
        .match_kind(MatchKind::All)
        .unicode_word_boundary(true)
        .cache_capacity(STATES)
        .skip_cache_capacity_check(true)
        .minimum_cache_clear_count(Some(MOST_RESETS))
        .minimum_bytes_per_state(Some(10));
    Builder::new().configure(config).build_from_nfa(nfa).ok()
}

/// One automaton for many expressions.
#[derive(Debug)]
struct Set {
    /// None if the expressions are too large together.
    automaton: Option<DFA>,
    /// The states that earlier searches have made.
    caches: Mutex<Vec<Cache>>,
    faults: HashMap<usize, String>,
}

impl Set {
    fn read(&self, text: &str) -> Result<PatternSet, Unknown> {
        let automaton = self.automaton.as_ref().ok_or(TOO_LARGE_TOGETHER)?;
        let caches = || self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = caches().pop();
        let mut cache = kept.unwrap_or_else(|| automaton.create_cache());
        let mut patterns = PatternSet::new(automaton.pattern_len());
        let read =
            automaton.try_which_overlapping_matches(&mut cache, &Input::new(text), &mut patterns);
        // A cache that was reset before would give up sooner than another one.
        if read.is_ok() && cache.clear_count() == 0 {
            caches().push(cache);
        }
        read.map(|()| patterns).map_err(|_| GAVE_UP)
    }
}

/// The bytes that may be read for one expression alone, for an event.
#[derive(Debug)]
pub(super) struct Budget(Cell<usize>);

impl Default for Budget {
    fn default() -> Self {
        Self(Cell::new(MOST_ALONE))
    }
}

impl Budget {
    /// The cost of a search besides that of its text, in bytes.
    const SEARCH: usize = 64;

    fn take(&self, text: &str) -> Result<(), Unknown> {
        let left = self.0.get().checked_sub(text.len() + Self::SEARCH);
        self.0.set(left.unwrap_or_default());
        left.map(drop).ok_or(GAVE_UP)
    }
}

/// Returns an expression without Unicode's word boundaries. It matches wherever the expression does.
fn without_words(expression: &Hir) -> Hir {
    let each = |parts: &[Hir]| parts.iter().map(without_words).collect();
    match expression.kind() {
        HirKind::Look(
            Look::WordUnicode
            | Look::WordUnicodeNegate
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode,
        ) => Hir::empty(),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(without_words(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(capture) => without_words(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(each(parts)),
        HirKind::Alternation(parts) => Hir::alternation(each(parts)),
        _ => expression.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;
    use crate::growth::assert_linear;

    fn of_text(text: &str) -> Expression {
        Expression {
            text: text.to_owned(),
            is_of_paths: false,
        }
    }

    /// Returns which of these expressions a text has.
    fn has(texts: &[String], text: &str) -> Vec<Result<bool, Unknown>> {
        let list: Vec<_> = texts.iter().map(|text| of_text(text)).collect();
        let all = Expressions::new(list.iter());
        let matches = all.find(text, false);
        let budget = Budget::default();
        let each = list
            .iter()
            .map(|expression| all.has(expression, &matches, (text, false), &budget));
        each.collect()
    }

    /// Thirty patterns of destructive commands, as people write them.
    fn ordinary() -> Vec<String> {
        let all = [
            r"\brm\s+(-\w+\s+)*-\w*r\w*f",
            r"\bgit\s+push\b.*(--force|-f)\b",
            r"\bgit\s+reset\s+--hard",
            r"\bsudo\b",
            r"(?i)\bdrop\s+table\b",
            r"(?i)\bdelete\s+from\b",
            r"\bdd\s+if=.*of=/dev",
            r"\bmkfs\.\w+",
            r":\(\)\s*\{",
            r"\bchmod\s+-R\s+777",
            r"\bcurl\b.*\|\s*(ba)?sh",
            r"\bwget\b.*\|\s*(ba)?sh",
            r">\s*/dev/sd[a-z]",
            r"\bshutdown\b",
            r"\breboot\b",
            r"\bkill\s+-9\s+-1",
            r"\bnpm\s+publish",
            r"\bcargo\s+publish",
            r"\bdocker\s+system\s+prune",
            r"\bkubectl\s+delete",
            r"\bterraform\s+(destroy|apply)",
            r"\bgit\s+clean\s+-\w*f",
            r"\bgit\s+checkout\s+--\s+\.",
            r"\bgit\s+branch\s+-D",
            r"\btruncate\b",
            r"\bchown\s+-R",
            r"\bmv\s+.*\s+/dev/null",
            r"\bgit\s+commit\b.*--no-verify",
            r"\bhistory\s+-c",
            r"password\s*=\s*\S+",
        ];
        all.map(str::to_owned).to_vec()
    }

    #[test]
    fn ordinary_expressions_read_a_long_text() {
        let page = include_str!("../../docs/protocol.md");
        for text in [
            page.to_owned(),
            page.replace('e', "é"),
            page.replace('e', "ё"),
        ] {
            let long = text.repeat(LONGEST_TEXT / text.len());
            let found = has(&ordinary(), &long);
            for (expression, found) in ordinary().iter().zip(found) {
                let expected = Regex::new(expression).unwrap().is_match(&long);
                assert_eq!(found, Ok(expected), "{expression}");
            }
        }
        assert_eq!(has(&ordinary(), &"a".repeat(LONGEST_TEXT)).len(), 30);
        let longer = "a".repeat(LONGEST_TEXT + 1);
        assert_eq!(has(&ordinary(), &longer), vec![Err(TOO_LONG); 30]);
    }

    #[test]
    fn a_text_costs_by_its_length() {
        let list: Vec<_> = ordinary().iter().map(|text| of_text(text)).collect();
        let all = Expressions::new(list.iter());
        for unit in ["git push ", "rm é ", "a"] {
            let input = |size: usize| unit.repeat(size / unit.len());
            assert_linear(unit, 100_000, input, |text| drop(all.find(text, false)));
        }
    }

    #[test]
    fn what_the_automaton_cannot_hold_is_unknown() {
        // Each position may begin a match that ends 400 characters later.
        let hard = "[ab]*a[ab]{400}c".to_owned();
        let mut state = 1_u64;
        let mut text = String::new();
        while text.len() < 100_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            text.push(if state >> 63 == 0 { 'a' } else { 'b' });
        }
        let list = [of_text(&hard), of_text("x")];
        let all = Expressions::new(list.iter());
        assert!(matches!(all.find(&text, false), Matches::Unknown(why) if why == GAVE_UP));
        // The next text is read all the same.
        assert!(matches!(all.find("ab", false), Matches::These(_)));
    }

    #[test]
    fn one_that_cannot_be_used_does_not_spoil_the_others() {
        let list = [of_text("a("), of_text(r"\w{2000}"), of_text("b")];
        let all = Expressions::new(list.iter());
        let matches = all.find("b", false);
        let budget = Budget::default();
        assert_eq!(all.has(&list[2], &matches, ("b", false), &budget), Ok(true));
        assert!(all.fault(&list[0]).unwrap().contains("unclosed group"));
        assert_eq!(all.fault(&list[1]), Some(TOO_LARGE));
        assert_eq!(all.fault(&list[2]), None);
        // So large that they do not fit together: each is unknown.
        let many = (0..200).map(|number| format!(r"{number}\w{{7}}"));
        assert_eq!(has(&Vec::from_iter(many), "b")[0], Err(TOO_LARGE_TOGETHER));
    }

    #[test]
    fn only_some_bytes_are_read_for_one_expression() {
        let text = "é sudoku ".repeat(LONGEST_TEXT / 20);
        let many: Vec<_> = (0..40)
            .map(|number| format!(r"\bsu(do|{number})\b"))
            .collect();
        let found = has(&many, &text);
        assert_eq!(found[0], Ok(false));
        assert_eq!(found[39], Err(GAVE_UP));
    }

    proptest! {
        #[test]
        fn each_is_found_as_if_it_were_alone(
            expressions in prop::collection::vec(
                r"(\(\?i\))?(\^)?([a-cäß\- ][*+?]?|\[\^?[a-c]-[x-ÿ]\]|\\[wdsbBW]|\.\{[0-3]\}|\(\|?[ab|]{0,5}\)){0,8}(\$)?",
                1..6,
            ),
            text in r"[a-cäß \n\-A-C1Я_]{0,12}",
        ) {
            for (expression, found) in expressions.iter().zip(has(&expressions, &text)) {
                let Ok(regex) = Regex::new(expression) else {
                    continue;
                };
                prop_assert_eq!(found, Ok(regex.is_match(&text)), "{}", expression);
            }
        }
    }
}
