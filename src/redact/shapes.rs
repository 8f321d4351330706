//! Secrets that are recognized by their shape: passwords in URLs, private keys, tokens with a vendor's prefix.
//!
//! The prefixes come from the vendors and from the configuration of gitleaks 8.

use std::ops::Range;

use super::{Lazy, find_pattern, names, pattern};

/// The beginnings of tokens that have only letters and digits behind them.
const PREFIXES: &str = "AGE-SECRET-KEY-1 ABIA ACCA AKIA ASIA EAAA cio dapi gho_ ghp_ ghr_ ghs_ ghu_ gsk_ hf_ lin_api_ \
     lin_oauth_ npm_ ntn_ oy2 pplx- pul- r8_ rk_live_ rk_test_ rubygems_ sbp_ shpat_ shpca_ shppa_ shpss_ sk- sk_live_ sk_test_";

/// The beginnings of tokens that also have other characters behind them.
const LONG_PREFIXES: &str = "AIza ATATT3 ATCTT3 GOCSPX- PMAK- SG. dckr_oat_ dckr_pat_ doo_v1_ dop_v1_ dor_v1_ eyJ figd_ \
     fm2_ fo1_ github_pat_ glagent- glc_ glcbt- gldt- glffct- glimt- glpat- glptt- glrt- glrtr- glsa_ glsoat- hvb. hvs. nvapi- \
     pypi- sb_secret_ sk-ant- sk-or- sk-proj- sk-svcacct- sntrys_ sntryu_ tskey- whsec_ xai- xapp- xoxa- xoxa. xoxb- xoxb. \
     xoxe- xoxe. xoxo- xoxo. xoxp- xoxp. xoxr- xoxr. xoxs- xoxs. ya29.";

/// The least bytes of a token behind its beginning.
const TOKEN: usize = 16;

/// The shapes: texts of which one is in each secret of a shape, and its pattern. If the pattern has a group `secret`, only this
/// group is masked.
#[rustfmt::skip]
static SHAPES: [(&str, Lazy); 6] = [
    // `postgres://me:[hunter2]@host`
    ("://", pattern!(r#"://[^\s/?#@:"'<>]*:(?<secret>[^\s/"'<>]+)@"#)),
    // `<password>[hunter2]</password>`
    ("</", pattern!(
        r"<[A-Za-z0-9_:.-]*(?i-u:passw(?:or)?d|passphrase|secret|token|credential|cookie|authorization|(?:api|access|private)[_-]?key)(?: [^<>]*)?>\s*(?<secret>[^<\s][^<]*)</"
    )),
    ("hooks.slack.com/services/", pattern!(r"hooks\.slack\.com/services/(?<secret>[A-Za-z0-9_/+-]{8,})")),
    ("webhooks/", pattern!(r"webhooks/[0-9]+/(?<secret>[A-Za-z0-9_-]{16,})")),
    ("Bearer bearer", pattern!(r"(?-u)\b[Bb]earer[ \t]+(?<secret>[A-Za-z._~+/-]*[0-9][\w.~+/=-]*)")),
    // The match ends with the text, if the end of the key is missing.
    ("-----BEGIN", pattern!(
        r"(?s)(?<secret>-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z ]*-----|\z))"
    )),
];

/// The shapes of tokens, in the same form: each is a word of more than [`TOKEN`] bytes.
#[rustfmt::skip]
static TOKENS: [(&str, Lazy); 3] = [
    (PREFIXES, pattern!(&behind(&alternatives(PREFIXES), "[A-Za-z0-9]"))),
    (LONG_PREFIXES, pattern!(&behind(&alternatives(LONG_PREFIXES), r"[\w=+/~.-]"))),
    // A token of Telegram.
    (":AA", pattern!(&behind("(?:bot)?[0-9]{8,10}:AA", r"[\w=+/~.-]"))),
];

/// Returns the pattern of a token with at least 16 of these characters behind this beginning. It may follow an escaped line
/// break: `\n`.
fn behind(begin: &str, character: &str) -> String {
    format!(r"(?-u)(?:\b|\\[nrt])(?<secret>(?:{begin}){character}{{{TOKEN},}})")
}

fn alternatives(prefixes: &str) -> String {
    let prefixes: Vec<_> = prefixes.split(' ').map(regex::escape).collect();
    prefixes.join("|")
}

/// Finds the secrets of all shapes. A pattern is compiled only for a text that has one of its texts.
pub(super) fn find(text: &str, spans: &mut Vec<Range<usize>>) {
    let mut words = text.split(|c: char| c.is_ascii_whitespace());
    let has_token = words.any(|word| word.len() > TOKEN);
    let tokens = has_token.then_some(&TOKENS).into_iter().flatten();
    for (hints, pattern) in SHAPES.iter().chain(tokens) {
        if hints.split(' ').any(|hint| text.contains(hint))
            && let Some(pattern) = pattern.as_ref()
        {
            find_pattern(pattern, text, spans);
        }
    }
    spans.retain(|span| names::is_secret(&text[span.clone()]));
}
