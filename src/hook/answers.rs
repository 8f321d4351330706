//! The answers of a condition to an event: yes, no or unknown, for each name of a file and each item of a list.
//!
//! **A guard runs unless the answer is no; what widens needs yes.**

use crate::paths::Unknown;

/// The answers of one condition to the names and items of one value.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) yes: bool,
    pub(super) no: bool,
    /// The first reason why an answer is not known.
    pub(super) unknown: Option<Unknown>,
    /// True if what the value stands for may have other answers, as files below a directory.
    pub(super) is_partial: bool,
    /// The part of a command that met a pattern.
    pub(super) met: Option<String>,
}

impl Answers {
    pub(super) fn unknown(why: impl Into<Unknown>) -> Self {
        Self {
            unknown: Some(why.into()),
            ..Self::default()
        }
    }

    pub(super) fn is(yes: bool) -> Self {
        Self {
            yes,
            no: !yes,
            ..Self::default()
        }
    }

    /// Returns the answers of a condition that cannot be used: the hook runs, and fails with the reason.
    pub(super) fn unusable() -> Self {
        Self {
            is_partial: true,
            ..Self::is(true)
        }
    }

    /// Returns these answers and those to another name or item.
    pub(super) fn joined(self, other: Self) -> Self {
        Self {
            yes: self.yes || other.yes,
            no: self.no || other.no,
            unknown: self.unknown.or(other.unknown),
            is_partial: self.is_partial || other.is_partial,
            met: self.met.or(other.met),
        }
    }

    /// Returns the answers to "does any of these match?": one certain yes is enough, and those that say no do not count beside
    /// others.
    pub(super) fn any(each: impl IntoIterator<Item = Self>) -> Self {
        let mut open: Option<Self> = None;
        for answers in each {
            if answers.is_certain() {
                return answers;
            }
            if answers.yes || answers.unknown.is_some() {
                open = Some(match open {
                    Some(others) => others.joined(answers),
                    None => answers,
                });
            }
        }
        open.unwrap_or_else(|| Self::is(false))
    }

    /// Returns the answers of `not`.
    pub(super) fn inverted(self) -> Self {
        Self {
            yes: self.no,
            no: self.yes,
            met: None,
            ..self
        }
    }

    /// Returns whether a hook runs.
    pub(super) fn is_met(&self, guards: bool) -> bool {
        self.yes || guards && self.unknown.is_some()
    }

    /// Returns the reason why the condition is unknown, if it runs a guard only because of that.
    pub(super) fn untested(&self) -> Option<&Unknown> {
        self.unknown.as_ref().filter(|_| !self.yes)
    }

    /// Returns whether the answer of a hook may do more than stop something.
    pub(super) fn is_certain(&self) -> bool {
        self.yes && !self.no && self.unknown.is_none() && !self.is_partial
    }
}
