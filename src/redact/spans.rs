//! The places of secrets in a text, and masking them. Knows no rule.

use std::borrow::Cow;
use std::ops::Range;

/// What stands in the place of a secret.
pub(super) const MASK: &str = "[redacted]";

#[derive(Default)]
pub(super) struct Spans(Vec<Range<usize>>);

impl Spans {
    pub(super) fn push(&mut self, span: Range<usize>) {
        if !span.is_empty() {
            self.0.push(span);
        }
    }

    /// Masks each place once, however many rules have found a part of it. A mask that is in the text
    /// already is a place too: a rule that finds a part of it must not mask it again.
    pub(super) fn mask(mut self, text: &str) -> Cow<'_, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(text);
        }
        let masks = text.match_indices(MASK);
        self.0.extend(masks.map(|(at, mask)| at..at + mask.len()));
        self.0.sort_unstable_by_key(|span| span.start);
        let mut shown = String::with_capacity(text.len());
        let mut end = 0;
        for span in merged(self.0) {
            shown.push_str(&text[end..span.start]);
            shown.push_str(MASK);
            end = span.end;
        }
        shown.push_str(&text[end..]);
        if shown == text {
            return Cow::Borrowed(text);
        }
        Cow::Owned(shown)
    }
}

/// Overlapping spans as one; of those that only touch, each keeps its own mask.
fn merged(sorted: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
    for span in sorted {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}
