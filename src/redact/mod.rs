//! What may be shown: a text or a JSON value with its secrets masked, for logs, traces and `Debug`.
//!
//! Knows nothing of hooks and events. Each rule names the places of the secrets in the text as it stands,
//! and all are masked at once, so that no rule hides a secret from another. A secret is found by its name
//! (`pairs`, `names`), by its look or its place (`shapes`), or because it is known (`values`).

mod forms;
mod json;
mod names;
mod pairs;
mod plain;
mod shapes;
mod values;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use names::Names;

/// So many bytes may a compiled pattern take; the time of a search grows with it.
const LARGEST_PATTERN: usize = 1 << 20;

/// So often is a text looked at, since a mask can make another place look like that of a secret.
const MOST_PASSES: usize = 3;

/// Masks secrets in what is shown: logs, traces, errors.
/// A clone shares the rules, which are compiled when they are first needed.
#[doc = include_str!("../../docs/redaction.md")]
#[derive(Clone, Default)]
pub struct Redactor {
    rules: Arc<Rules>,
}

#[derive(Clone, Default)]
struct Rules {
    names: Names,
    patterns: Vec<Regex>,
}

/// Why a text is no pattern of secrets.
#[derive(Debug, Clone, thiserror::Error)]
#[error("invalid redaction pattern `{pattern}`")]
pub struct RedactError {
    pattern: String,
    #[source]
    cause: regex::Error,
}

impl Redactor {
    /// What stands in the place of a secret.
    pub const MASK: &'static str = "[redacted]";

    /// The default rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Masks nothing but what is added by [`with_secret_key`](Self::with_secret_key) and
    /// [`with_pattern`](Self::with_pattern); not even what [`text_with`](Self::text_with) is given.
    #[must_use]
    pub fn off() -> Self {
        let mut off = Self::default();
        Arc::make_mut(&mut off.rules).names.off = true;
        off
    }

    /// Masks the values of this key too. Upper and lower case are the same, and `-`, `_`, `.` and
    /// spaces do not count: `seat number` is also `SEAT_NUMBER` and `seatNumber`, but not the end of
    /// `old_seat_number`. A name without a letter or digit is ignored.
    #[must_use]
    pub fn with_secret_key(mut self, name: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.rules).names.add(&name.into());
        self
    }

    /// Masks what this regular expression matches too, in the syntax of the crate `regex`; of a
    /// pattern with a group named `secret`, only what that group matches. Of Unicode, it knows `\w`,
    /// `\d`, `\s` and what is a capital, but no `\p{..}`.
    ///
    /// # Errors
    /// When it is no regular expression, or one that takes more than a mebibyte when compiled.
    pub fn with_pattern(mut self, pattern: &str) -> Result<Self, RedactError> {
        let mut regex = RegexBuilder::new(pattern);
        let regex = regex.size_limit(LARGEST_PATTERN).build();
        let pattern = pattern.to_owned();
        let regex = regex.map_err(|cause| RedactError { pattern, cause })?;
        Arc::make_mut(&mut self.rules).patterns.push(regex);
        Ok(self)
    }

    /// The text with its secrets masked; borrowed when there are none. Takes linear time.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text_with(text, [])
    }

    /// The text with its secrets masked, and each of these values wherever it occurs, whole or by the
    /// line: the values of a hook's own `env`, say. Ignores values that would mask half of a text:
    /// shorter than 4 bytes, numbers shorter than 6 digits, words such as `true` and `production`.
    #[must_use]
    pub fn text_with<'a, 's>(
        &self,
        text: &'a str,
        secrets: impl IntoIterator<Item = &'s str>,
    ) -> Cow<'a, str> {
        let secrets: Vec<&str> = secrets.into_iter().collect();
        let mut shown = Cow::Borrowed(text);
        for _ in 0..MOST_PASSES {
            match self.masked_once(&shown, &secrets) {
                Cow::Owned(again) => shown = Cow::Owned(again),
                Cow::Borrowed(_) => break,
            }
        }
        shown
    }

    fn masked_once<'a>(&self, text: &'a str, secrets: &[&str]) -> Cow<'a, str> {
        let Rules { names, patterns } = &*self.rules;
        let mut spans = Vec::new();
        if !names.off || !names.added.is_empty() {
            pairs::find(text, names, &mut spans);
        }
        if !names.off {
            shapes::find(text, names, &mut spans);
            values::find(text, secrets, &mut spans);
        }
        for pattern in patterns {
            shapes::find_pattern(pattern, text, &mut spans);
        }
        mask(text, spans)
    }

    /// The value with its secrets masked: all that stands under a secret key but `null`, `true`,
    /// `false` and counts, and what [`text`](Self::text) masks in any other string. What is nested
    /// deeper than 128 levels is masked as a whole.
    #[must_use]
    pub fn value(&self, value: &Value) -> Value {
        json::masked(self, value, 0)
    }
}

/// How many rules there are; a pattern may be a secret itself.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("default_rules", &!self.rules.names.off)
            .field("keys", &self.rules.names.added.len())
            .field("patterns", &self.rules.patterns.len())
            .finish()
    }
}

/// Masks each place once, however many rules have found a part of it. A mask that is in the text already
/// is a place too: a rule that finds a part of it must not mask it again.
fn mask(text: &str, mut spans: Vec<Range<usize>>) -> Cow<'_, str> {
    let masks = text.match_indices(Redactor::MASK);
    spans.extend(masks.map(|(at, mask)| at..at + mask.len()));
    spans.retain(|span| !span.is_empty());
    spans.sort_unstable_by_key(|span| span.start);
    let (mut shown, mut end) = (String::new(), 0);
    for span in spans {
        if span.start >= end {
            shown.push_str(&text[end..span.start]);
            shown.push_str(Redactor::MASK);
        }
        end = end.max(span.end);
    }
    shown.push_str(&text[end..]);
    match shown == text {
        true => Cow::Borrowed(text),
        false => Cow::Owned(shown),
    }
}
