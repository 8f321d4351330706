//! Secrets that are recognized by their shape alone: tokens that begin as their vendor decided, and private keys.
//!
//! The prefixes come from the vendors and from the configuration of gitleaks 8.

use std::ops::Range;
use std::sync::LazyLock;

use super::forms::{ByFirstByte, class};

/// What follows the prefix of a token.
#[derive(Clone, Copy, PartialEq)]
enum Follows {
    /// 16 letters and digits, or more.
    Word,
    /// The same, with `_=+/~.-`.
    Signed,
    /// 20 of these, with a digit or with letters of both cases: the prefix also begins ordinary words.
    Random,
}
use Follows::{Random, Signed, Word};

/// What follows, whose token it is, and how it begins.
#[rustfmt::skip]
const TOKENS: &[(Follows, &str, &str)] = &[
    (Word, "GitHub", "ghp_ gho_ ghu_ ghs_ ghr_"),
    (Word, "Amazon, Alibaba", "AKIA ASIA ABIA ACCA LTAI"),
    (Word, "Hugging Face, Groq, Replicate, Perplexity, Cerebras, RunPod", "hf_ gsk_ r8_ pplx- csk- rpa_"),
    (Word, "npm, RubyGems, Clojars", "npm_ rubygems_ CLOJARS_"),
    (Word, "Atlassian, Linear", "ATBB lin_api_ lin_oauth_"),
    (Word, "Databricks, Notion, Pulumi, Apify", "dapi ntn_ pul- apify_api_"),
    (Word, "Stripe and others", "sk_live_ sk_test_ rk_live_ rk_test_ key_live_ shippo_live_ shippo_test_"),
    (Word, "Shopify, EasyPost", "shpat_ shpca_ shppa_ shpss_ EZAK EZTK"),
    (Word, "Netlify, Vercel, Supabase, PostHog", "nfp_ vercel_ sbp_ phc_ phx_"),
    (Word, "Sonar, Sourcegraph, Buildkite, Datadog", "squ_ sqp_ sqa_ sgp_ bkua_ pnu_ ddp_ ddw_"),
    (Word, "age", "AGE-SECRET-KEY-1"),
    (Signed, "GitHub", "github_pat_"),
    (Signed, "GitLab", "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glffct- glsoat- glagent- GR1348941"),
    (Signed, "Slack", "xoxa- xoxb- xoxe- xoxe.xoxp- xoxo- xoxp- xoxr- xoxs- xapp-"),
    (Signed, "Google", "AIza ya29. GOCSPX- 1//0"),
    (Signed, "Amazon, Yandex", "ABSK amzn.mws. AQVN"),
    (Signed, "Telegram", ":AA"),
    (Signed, "PyPI, Docker, OpenShift", "pypi-Ag dckr_pat_ dckr_oat_ sha256~"),
    (Signed, "xAI, NVIDIA, LangSmith, Jina, Tavily", "xai- nvapi- lsv2_ jina_ tvly-"),
    (Signed, "Vault, Terraform, Doppler, 1Password", "hvs. hvb. hvr. .atlasv1. dp.pt. dp.st. ops_eyJ"),
    (Signed, "Grafana, New Relic, Sentry, Dynatrace", "glsa_ glc_ NRAK- NRII- NRJS- sntrys_ sntryu_ dt0c01."),
    (Signed, "Atlassian, Postman, Figma, ReadMe, CircleCI", "ATATT3 ATCTT3 BBDC- PMAK- figd_ figu_ rdme_ CCIPAT_ CCIPRJ_"),
    (Signed, "SendGrid, Brevo, Typeform, Dropbox", "SG. xkeysib- xsmtpsib- tfp_ sl.u."),
    (Signed, "DigitalOcean, Fly, Heroku, Vercel", "dop_v1_ doo_v1_ dor_v1_ fm2_ fo1_ HRKU- vcp_"),
    (Signed, "Supabase, PlanetScale, Tailscale, Aiven", "sb_secret_ pscale_ tskey- AVNS_"),
    (Signed, "Stripe, Square, Meta, Flutterwave", "whsec_ sq0atp- sq0csp- EAAA FLWSECK_TEST-"),
    (Signed, "Duffel, Frame.io, Privacy", "duffel_test_ duffel_live_ fio-u- p8e-"),
    (Signed, "a JSON Web Token", "eyJ"),
    (Random, "OpenAI, Anthropic, OpenRouter", "sk-"),
    (Random, "Firecrawl, Context7, Wakatime, Zuplo", "fc- ctx7sk- waka_ zpka_"),
    (Random, "crates.io, NuGet, Intercom", "cio oy2 ico-"),
    (Random, "Plaid", "access-production- access-sandbox-"),
];
static PREFIXES: LazyLock<ByFirstByte<Follows>> = LazyLock::new(|| {
    let rows = TOKENS
        .iter()
        .map(|(follows, _, prefixes)| (*prefixes, *follows));
    ByFirstByte::new(rows)
});

const LEAST: usize = 16;
/// The bytes of a token that show whether it is random.
const TELLING: usize = 64;
const IN_WORD: [bool; 256] = class(b"");
const IN_SIGNED: [bool; 256] = class(b"_=+/~.-");
/// The bytes of tokens and of their prefixes.
const IN_RUN: [bool; 256] = class(b"_=+/~.-:");

pub(super) fn find(text: &str, spans: &mut Vec<Range<usize>>) {
    find_keys(text, spans);
    let mut start = 0;
    for run in text.as_bytes().split(|byte| !IN_RUN[usize::from(*byte)]) {
        let end = start + run.len();
        let mut at = start;
        while at + LEAST < end {
            let token = token_end(text, at);
            spans.extend(token.map(|end| at..end));
            at = token.unwrap_or(at + 1);
        }
        start = end + 1;
    }
}

/// The end of the token that begins here. It begins no later than its word, or after `\n`.
fn token_end(text: &str, at: usize) -> Option<usize> {
    let (before, first) = (&text[..at], text.as_bytes()[at]);
    let is_inner = before.ends_with(|c: char| c.is_ascii_alphanumeric());
    let is_escaped = || {
        ["\\n", "\\r", "\\t"]
            .iter()
            .any(|escape| before.ends_with(escape))
    };
    if is_inner && first.is_ascii_alphanumeric() && !is_escaped() {
        return None;
    }
    PREFIXES.get(first).iter().find_map(|(prefix, follows)| {
        let rest = text[at..].strip_prefix(prefix)?;
        let class = if *follows == Word {
            &IN_WORD
        } else {
            &IN_SIGNED
        };
        let run = || rest.bytes().take_while(|byte| class[usize::from(*byte)]);
        // A token that is found is passed over. What is none is looked at again from its next byte, so only its beginning
        // is read.
        let head = &rest[..run().take(TELLING).count()];
        let is_random = || head.len() >= 20 && !before.ends_with(['_', '-']) && is_random(head);
        if head.len() < LEAST || *follows == Random && !is_random() {
            return None;
        }
        let token = rest[..run().count()].trim_end_matches('.');
        (token.len() >= LEAST).then_some(at + prefix.len() + token.len())
    })
}

fn is_random(token: &str) -> bool {
    let has = |is: fn(&u8) -> bool| token.as_bytes().iter().any(is);
    has(u8::is_ascii_digit) || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
}

/// Finds private keys, up to the end of the text if one is cut off.
fn find_keys(text: &str, spans: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(found) = text[at..].find(BEGIN) {
        let start = at + found;
        let (head, key) = text[start + BEGIN.len()..]
            .split_once("-----")
            .unwrap_or_default();
        at = start + BEGIN.len();
        if head.len() < 60 && head.contains("PRIVATE KEY") {
            let end = key
                .split_once("-----END ")
                .and_then(|(_, behind)| behind.split_once("-----"));
            at = text.len() - end.map_or(0, |(_, behind)| behind.len());
            spans.push(start..at);
        }
    }
}

const BEGIN: &str = "-----BEGIN ";
