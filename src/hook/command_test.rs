//! The test of what a shell command runs, with what and on which paths, and of what it writes.

use super::answers::Answers;
use super::compared::{MANY_PATHS, MOST_PATHS};
use super::expressions::Expression;
use super::path_test::Paths;
use crate::command::{Answer, Commands, Met, Only, Path, Pattern};
use crate::paths::Unknown;

pub(super) const NO_PATTERN: &str = "expected at least one pattern, found an empty list";

/// What a shell command must do.
#[derive(Debug, Clone)]
pub(super) enum CommandTest {
    Runs(RunsTest),
    Writes(Paths),
    RunsOnly(Only),
}

impl CommandTest {
    pub(super) fn expressions(&self) -> Vec<&Expression> {
        match self {
            Self::Runs(runs) => runs.expressions(),
            Self::Writes(paths) => paths.expressions(),
            Self::RunsOnly(_) => Vec::new(),
        }
    }
}

/// Patterns, of which one must be met by a command, whose words and paths have their own conditions.
#[derive(Debug, Clone)]
pub(super) struct RunsTest {
    patterns: Vec<Pattern>,
    with: Option<Expression>,
    paths: Option<Paths>,
}

impl RunsTest {
    /// Reads the patterns.
    ///
    /// # Errors
    /// A fragment with the mistake and the right form.
    pub(super) fn new(
        patterns: &[String],
        with: Option<Expression>,
        paths: Option<Paths>,
    ) -> Result<Self, String> {
        if patterns.is_empty() {
            return Err(NO_PATTERN.to_owned());
        }
        let patterns = patterns.iter().map(|text| Pattern::new(text));
        Ok(Self {
            patterns: patterns.collect::<Result<_, _>>()?,
            with,
            paths,
        })
    }

    fn expressions(&self) -> Vec<&Expression> {
        let of_paths = self.paths.iter().flat_map(|paths| paths.expressions());
        of_paths.chain(&self.with).collect()
    }

    /// Returns the answer to the commands of a text. `has` tells whether a text has an expression, and `names` what a path
    /// answers.
    pub(super) fn answers(
        &self,
        commands: &Commands,
        has: impl Fn(&Expression, &str) -> Result<bool, Unknown>,
        names: impl Fn(&Paths, &Path) -> Answers,
    ) -> Answers {
        let met = self
            .patterns
            .iter()
            .flat_map(|pattern| commands.met(pattern));
        let met: Vec<_> = met
            .map(|met| {
                let paths = self.paths.as_ref().map(|_| met.paths());
                (met, paths.unwrap_or_default())
            })
            .collect();
        if met.iter().map(|(_, paths)| paths.len()).sum::<usize>() > MOST_PATHS {
            return Answers::unknown(MANY_PATHS);
        }
        let each = met
            .into_iter()
            .map(|(met, paths)| self.met(&met, paths, &has, &names));
        Answers::any(each.chain([of_answer(commands.unread())]))
    }

    fn met(
        &self,
        met: &Met<'_>,
        named: Vec<Path>,
        has: &impl Fn(&Expression, &str) -> Result<bool, Unknown>,
        names: &impl Fn(&Paths, &Path) -> Answers,
    ) -> Answers {
        let mut answers = of_answer(met.answer());
        if let Some(with) = &self.with {
            let found = |text: String| has(with, &text).map_or_else(Answers::unknown, Answers::is);
            answers = both(answers, Answers::any(met.texts().map(found)));
        }
        if let Some(paths) = &self.paths {
            if matches!(paths, Paths::Outside) && met.is_elsewhere() {
                return Answers::is(false);
            }
            let each = named.iter().map(|path| names(paths, path));
            answers = both(answers, Answers::any(each));
        }
        answers
    }
}

/// Returns the answers of two conditions that must both match.
fn both(one: Answers, other: Answers) -> Answers {
    let is_open = |answers: &Answers| answers.yes || answers.unknown.is_some();
    if !is_open(&one) || !is_open(&other) {
        return Answers::is(false);
    }
    let yes = one.yes && other.yes;
    Answers {
        yes,
        no: one.no || other.no,
        unknown: one.unknown.or(other.unknown),
        is_partial: one.is_partial || other.is_partial,
        met: one.met.filter(|_| yes),
    }
}

/// Returns the answers that an answer to a command is.
pub(super) fn of_answer(answer: Answer) -> Answers {
    match answer {
        Answer::Yes { pattern, command } => Answers {
            met: Some(format!("`{pattern}` in `{command}`")),
            ..Answers::is(true)
        },
        Answer::No => Answers::is(false),
        Answer::Unknown(why) => Answers::unknown(why),
    }
}
