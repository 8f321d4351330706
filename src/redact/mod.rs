//! Masks the secrets in a text or a JSON value, so that it can be shown in logs, traces and `Debug` output.
//!
//! Knows nothing of hooks and events. Each rule finds places of secrets in the unchanged text, and all places
//! are masked together, so that no rule hides a secret from another. A secret is found by its name (`names`), by
//! its shape (`shapes`), or because its value is known (`values`).

mod json;
mod names;
mod shapes;
mod values;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use crate::error::SetupError;

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use self::values::Values;

/// A pattern that is compiled when it is first used. Tests show that all patterns compile.
type Lazy = LazyLock<Option<Regex>>;

macro_rules! pattern {
    ($pattern:expr) => {
        $crate::redact::Lazy::new(|| regex::Regex::new($pattern).ok())
    };
}
use pattern;

/// The most bytes that a compiled pattern may take. The time of a search grows with its size.
const LARGEST_PATTERN: usize = 1 << 20;

/// The most times that a text is searched: a mask can make another part of the text look like a secret's place.
const MOST_PASSES: usize = 3;

/// Masks secrets in text that is shown: logs, traces, errors.
///
/// A clone shares the rules, which are compiled when they are first needed. [Redaction](crate::docs::program#redaction) has an
/// example, and shows what is masked and what is not.
#[derive(Clone, Default)]
pub struct Redactor {
    rules: Arc<Rules>,
}

#[derive(Clone, Default)]
struct Rules {
    /// True if the default rules are off.
    off: bool,
    names: Vec<Regex>,
    patterns: Vec<Regex>,
}

impl Redactor {
    /// The text that replaces a secret.
    pub const MASK: &'static str = "[redacted]";

    /// Creates a redactor with the default rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a redactor without the default rules.
    ///
    /// It masks only the values that [`with_secret_key`](Self::with_secret_key) and [`with_pattern`](Self::with_pattern)
    /// select, and ignores the values given to [`text_with`](Self::text_with).
    #[must_use]
    pub fn off() -> Self {
        let mut off = Self::default();
        Arc::make_mut(&mut off.rules).off = true;
        off
    }

    /// Adds a secret key: its values are masked too.
    ///
    /// Case, `-`, `_`, `.` and spaces do not matter: `seat number` also matches `SEAT_NUMBER` and `seatNumber`,
    /// but not the end of `old_seat_number`. A name without a letter or digit is ignored.
    #[must_use]
    pub fn with_secret_key(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        let letters = name.chars().filter(|c| c.is_alphanumeric());
        let letters: Vec<String> = letters.map(String::from).collect();
        let pattern = format!(r"(?i)(?:^|\W){}\b", letters.join("[-_. ]*"));
        let pattern = Regex::new(&pattern).ok().filter(|_| !letters.is_empty());
        Arc::make_mut(&mut self.rules).names.extend(pattern);
        self
    }

    /// Adds a regular expression, in the syntax of the crate `regex`: its matches are masked too.
    ///
    /// If a group named `secret` takes part in the match, only that group is masked. Unicode is supported for `\w`, `\d`,
    /// `\s` and letter case, but `\p{..}` is not.
    ///
    /// # Errors
    /// If it is not a regular expression, or if it takes more than 1 MiB when compiled.
    pub fn with_pattern(mut self, pattern: &str) -> Result<Self, SetupError> {
        let mut regex = RegexBuilder::new(pattern);
        let regex = regex.size_limit(LARGEST_PATTERN).build();
        let invalid = || format!("invalid redaction pattern `{pattern}`");
        let regex = regex.map_err(|cause| SetupError::because(invalid(), cause))?;
        Arc::make_mut(&mut self.rules).patterns.push(regex);
        Ok(self)
    }

    /// Returns the text with its secrets masked; borrowed if there are none. Takes linear time.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text_with(text, [])
    }

    /// Returns the text with its secrets masked, and also every occurrence of these values.
    ///
    /// Pass, for example, the values of a hook's own `env`. Each is masked as a whole and line by line. Values that
    /// would mask too much ordinary text are ignored: shorter than 4 bytes, numbers shorter than 6 digits, words
    /// such as `true` and `production`.
    #[must_use]
    pub fn text_with<'a, 's>(
        &self,
        text: &'a str,
        secrets: impl IntoIterator<Item = &'s str>,
    ) -> Cow<'a, str> {
        self.masked_text(text, &Values::new(secrets, text.len()))
    }

    fn masked_text<'a>(&self, text: &'a str, values: &Values) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        for _ in 0..MOST_PASSES {
            match self.masked_once(&masked, values) {
                Cow::Owned(again) => masked = Cow::Owned(again),
                Cow::Borrowed(_) => break,
            }
        }
        masked
    }

    /// Returns the patterns of the names that this text may have.
    fn names(&self, text: &str) -> impl Iterator<Item = &Regex> {
        let has_default = !self.rules.off && names::may_have_secret(text);
        let default = has_default.then(|| names::SECRET.as_ref()).flatten();
        default.into_iter().chain(&self.rules.names)
    }

    fn masked_once<'a>(&self, text: &'a str, values: &Values) -> Cow<'a, str> {
        let mut spans = Vec::new();
        if !self.rules.off {
            shapes::find(text, &mut spans);
            values.find(text, &mut spans);
        }
        let patterns = self.rules.patterns.iter();
        patterns.for_each(|pattern| find_pattern(pattern, text, &mut spans));
        let names = self.names(text);
        names.for_each(|names| names::find(names, text, &mut spans));
        mask(text, spans)
    }

    /// Returns the JSON value with its secrets masked.
    ///
    /// Masks everything under a secret key except `null`, `true` and `false`, and in all other strings the places that
    /// [`text`](Self::text) masks. A part that is nested deeper than 128 levels is masked as a whole.
    #[must_use]
    pub fn value(&self, value: &Value) -> Value {
        self.value_with(value, &[])
    }

    /// Returns the JSON value with its secrets masked, and these values in its texts.
    pub(crate) fn value_with(&self, value: &Value, secrets: &[&str]) -> Value {
        let masks = json::Masks {
            redactor: self,
            values: &Values::new(secrets.iter().copied(), usize::MAX),
        };
        json::masked(masks, value, 0)
    }
}

/// Shows only the number of rules: a pattern may itself be a secret.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("default_rules", &!self.rules.off)
            .field("keys", &self.rules.names.len())
            .field("patterns", &self.rules.patterns.len())
            .finish()
    }
}

fn find_pattern(pattern: &Regex, text: &str, spans: &mut Vec<Range<usize>>) {
    // Most texts have no secret, and finding groups allocates memory.
    if !pattern.is_match(text) {
        return;
    }
    for groups in pattern.captures_iter(text) {
        let secret = groups.name("secret").or_else(|| groups.get(0));
        spans.extend(secret.map(|secret| secret.range()));
    }
}

/// Masks each place once, even if several rules have found parts of it. A mask that is already in the text is also a place,
/// so that a rule which finds a part of it does not mask it again.
fn mask(text: &str, mut spans: Vec<Range<usize>>) -> Cow<'_, str> {
    let masks = text.match_indices(Redactor::MASK);
    spans.extend(masks.map(|(at, mask)| at..at + mask.len()));
    spans.retain(|span| !span.is_empty());
    spans.sort_unstable_by_key(|span| span.start);
    let (mut masked, mut end) = (String::new(), 0);
    for span in spans {
        if span.start >= end {
            masked.push_str(&text[end..span.start]);
            masked.push_str(Redactor::MASK);
        }
        end = end.max(span.end);
    }
    masked.push_str(&text[end..]);
    let changed = Some(masked).filter(|masked| masked != text);
    changed.map_or(Cow::Borrowed(text), Cow::Owned)
}
