//! What may be shown: a text or a JSON value with its secrets masked, for logs, traces and `Debug`.
//!
//! Knows nothing of hooks and events. Each rule names the places of the secrets that it finds in the
//! text as it stands, and all of them are masked at once (`spans`), so that no rule hides a secret from
//! another. A secret is found by the name before it (`pairs`, and `keys` for which names), by what it
//! looks like (`shapes`), or because it is known (`values`). What is masked already is left alone, so
//! that masking twice changes nothing.

mod bare;
mod json;
mod keys;
mod pairs;
mod quotes;
mod shapes;
mod spans;
mod values;
mod words;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use keys::KeyNames;
use spans::Spans;

/// So many bytes may a compiled pattern take; the time of a search grows with it.
const LARGEST_PATTERN: usize = 1 << 20;

/// A mask can make another place look like that of a secret, so that a text in which something was
/// masked is looked at again; so often at most.
const MOST_PASSES: usize = 4;

/// Masks secrets in what is shown: logs, traces, errors.
///
/// The default rules mask values by the name before them (`password: x`, `"api_key": "x"`,
/// `GITHUB_TOKEN=x`, `--token x`, `Authorization: Bearer x`), passwords in URLs, private keys, and
/// tokens that are known by their shape (`ghp_…`, `sk-…`, `AKIA…`, JSON Web Tokens and others). They
/// leave alone what is no secret: references (`$TOKEN`, `${TOKEN}`, `%TOKEN%`), empty values, `null` and
/// `true`, counts (`"max_tokens": 4096`), names of files (`password_file=/run/secrets/db`), and the
/// working directory (`PWD=/home/me`).
///
/// They are a net, not a proof: a secret that neither has a name nor a known shape is not found. A
/// program that knows its secrets names them, see [`text_with`](Self::text_with).
///
/// A clone shares the rules. They are compiled when they are first needed.
///
/// ```
/// use forge_hooks::Redactor;
///
/// let redactor = Redactor::new().with_secret_key("seat number");
/// assert_eq!(
///     redactor.text("deploy --token s3cr3t --region eu"),
///     "deploy --token [redacted] --region eu",
/// );
/// assert_eq!(redactor.text("SEAT_NUMBER=14c"), "SEAT_NUMBER=[redacted]");
/// assert_eq!(redactor.text("deploy --token $TOKEN"), "deploy --token $TOKEN");
/// ```
#[derive(Clone)]
pub struct Redactor {
    rules: Arc<Rules>,
}

#[derive(Clone, Default)]
struct Rules {
    names: KeyNames,
    patterns: Vec<Regex>,
    off: bool,
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
    pub const MASK: &'static str = spans::MASK;

    /// The default rules.
    #[must_use]
    pub fn new() -> Self {
        Self {
            rules: Arc::default(),
        }
    }

    /// Masks nothing but what is added by [`with_secret_key`](Self::with_secret_key) and
    /// [`with_pattern`](Self::with_pattern); not even what [`text_with`](Self::text_with) is given.
    #[must_use]
    pub fn off() -> Self {
        let names = KeyNames::none();
        let rules = Rules {
            names,
            off: true,
            ..Rules::default()
        };
        Self {
            rules: Arc::new(rules),
        }
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
    /// ```
    /// use forge_hooks::Redactor;
    ///
    /// let redactor = Redactor::new().with_pattern(r"card (?<secret>\d{4}-\d{4})")?;
    /// assert_eq!(redactor.text("card 1234-5678"), "card [redacted]");
    /// # Ok::<(), forge_hooks::RedactError>(())
    /// ```
    ///
    /// # Errors
    /// When it is no regular expression, or one that takes more than a mebibyte when compiled.
    pub fn with_pattern(mut self, pattern: &str) -> Result<Self, RedactError> {
        let regex = RegexBuilder::new(pattern)
            .size_limit(LARGEST_PATTERN)
            .build()
            .map_err(|cause| RedactError {
                pattern: pattern.to_owned(),
                cause,
            })?;
        Arc::make_mut(&mut self.rules).patterns.push(regex);
        Ok(self)
    }

    /// The text with its secrets masked; borrowed when there are none. Takes a time that grows with
    /// the length of the text.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text_with(text, [])
    }

    /// The text with its secrets masked, and each of these values wherever it occurs: the values of
    /// a hook's own `env`, say. A value of several lines is masked by the line too, since output is
    /// often logged so.
    ///
    /// Values that would mask half of a text are ignored: those shorter than 4 bytes, numbers shorter
    /// than 6 digits, and words such as `true`, `production` and `debug`.
    ///
    /// ```
    /// use forge_hooks::Redactor;
    ///
    /// let shown = Redactor::new().text_with("hunter2 is wrong", ["hunter2", "true"]);
    /// assert_eq!(shown, "[redacted] is wrong");
    /// ```
    #[must_use]
    pub fn text_with<'a, 's>(
        &self,
        text: &'a str,
        secrets: impl IntoIterator<Item = &'s str>,
    ) -> Cow<'a, str> {
        let secrets: Vec<&str> = secrets.into_iter().collect();
        let mut shown = self.masked_once(text, &secrets);
        for _ in 1..MOST_PASSES {
            let Cow::Owned(masked) = &shown else { break };
            let Cow::Owned(again) = self.masked_once(masked, &secrets) else {
                break;
            };
            shown = Cow::Owned(again);
        }
        shown
    }

    fn masked_once<'a>(&self, text: &'a str, secrets: &[&str]) -> Cow<'a, str> {
        let mut spans = Spans::default();
        self.find(text, &mut spans);
        if !self.rules.off {
            for secret in secrets {
                values::find(text, secret, &mut spans);
            }
        }
        spans.mask(text)
    }

    /// The value with its secrets masked: all that stands under a secret key but `null`, `true`,
    /// `false` and counts, and what [`text`](Self::text) masks in any other string. What is nested
    /// deeper than 128 levels is masked as a whole.
    ///
    /// ```
    /// use forge_hooks::Redactor;
    /// use serde_json::json;
    ///
    /// let args = json!({"url": "https://me:s3cr3t@host/", "auth": {"user": "me"}, "max_tokens": 10});
    /// assert_eq!(
    ///     Redactor::new().value(&args),
    ///     json!({"url": "https://me:[redacted]@host/", "auth": "[redacted]", "max_tokens": 10}),
    /// );
    /// ```
    #[must_use]
    pub fn value(&self, value: &Value) -> Value {
        json::masked(self, value, 0)
    }

    fn find(&self, text: &str, spans: &mut Spans) {
        if !self.rules.names.is_empty() {
            pairs::find(text, &self.rules.names, spans);
        }
        if !self.rules.off {
            shapes::find(text, spans);
        }
        for pattern in &self.rules.patterns {
            shapes::find_pattern(pattern, text, spans);
        }
    }
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

/// How many rules there are; a pattern may be a secret itself.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("default_rules", &!self.rules.off)
            .field("keys", &self.rules.names.added())
            .field("patterns", &self.rules.patterns.len())
            .finish()
    }
}
