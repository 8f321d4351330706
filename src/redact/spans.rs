//! The places of secrets in a text, and masking them. Knows no rule.

use std::borrow::Cow;
use std::ops::Range;

/// What stands in the place of a secret.
pub(super) const MASK: &str = "[redacted]";

pub(super) type Spans = Vec<Range<usize>>;

/// Masks each place once, however many rules have found a part of it; of places that only touch, each
/// keeps its own mask. A mask that is in the text already is a place too: a rule that finds a part of
/// it must not mask it again.
pub(super) fn mask(text: &str, mut spans: Spans) -> Cow<'_, str> {
    spans.extend(
        text.match_indices(MASK)
            .map(|(at, mask)| at..at + mask.len()),
    );
    spans.retain(|span| !span.is_empty());
    spans.sort_unstable_by_key(|span| span.start);
    let (mut shown, mut end) = (String::new(), 0);
    for span in spans {
        if span.start >= end {
            shown.push_str(&text[end..span.start]);
            shown.push_str(MASK);
        }
        end = end.max(span.end);
    }
    shown.push_str(&text[end..]);
    if shown == text {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(shown)
    }
}
