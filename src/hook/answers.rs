//! What a condition says of an event: yes, no or unknown, for each name of a file and each item of a list.
//!
//! **A guard runs unless the answer is no; what widens needs yes.**

use crate::paths::Unknown;

/// The answers of one condition to the names and items of one value.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) yes: bool,
    pub(super) no: bool,
    /// The first reason why an answer is not known.
    pub(super) unknown: Option<Unknown>,
    /// True if a directory stands for files below it that may have other answers.
    pub(super) is_broad: bool,
}

impl Answers {
    pub(super) fn unknown(why: Unknown) -> Self {
        Self {
            unknown: Some(why),
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

    /// Adds the answers to another name or item.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            yes: self.yes || other.yes,
            no: self.no || other.no,
            unknown: self.unknown.or(other.unknown),
            is_broad: self.is_broad || other.is_broad,
        }
    }

    /// Returns the answers of `not`.
    pub(super) fn inverted(self) -> Self {
        Self {
            yes: self.no,
            no: self.yes,
            ..self
        }
    }

    /// Returns whether a hook runs.
    pub(super) fn is_met(self, guards: bool) -> bool {
        self.yes || guards && self.unknown.is_some()
    }

    /// Returns whether the answer of a hook may do more than stop something.
    pub(super) fn is_certain(self) -> bool {
        self.yes && !self.no && self.unknown.is_none() && !self.is_broad
    }
}
