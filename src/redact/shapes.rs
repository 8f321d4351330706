//! Secrets that are recognized by their shape or by the text around them.
//!
//! The prefixes of tokens come from their vendors and from the configuration of gitleaks 8; lengths are minimums.

use std::ops::Range;

use regex::{Match, Regex};

use super::forms::{SETTING, char_boundary, length_of};
use super::names::{Lazy, Names};
use super::pairs::behind_scheme;
use super::plain::is_secret;

/// Tokens whose shape practically never occurs by chance. No pattern requires a word boundary before it: in
/// escaped text a letter may come before it, as in `\nghp_…`.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    // GitHub, Atlassian, Linear, Sonar, npm, RubyGems, Amazon, Alibaba, models, hosts, payment, age: letters and digits
    r"(?x:(?:
        gh[oprsu]_|ATBB|lin_(?:api|oauth)_|(?:sgp|sqa|sqp|squ|bkua)_|npm_|rubygems_|CLOJARS_|A(?:KIA|SIA|BIA|CCA)|LTAI|hf_|gsk_|pplx-|r8_|csk-|rpa_|apify_api_|pul-|
        pnu_|nfp_|vercel_|sbp_|dapi|dd[pw]_|ph[cx]_|ntn_|(?:sk|rk|ak|key)_(?:live|test|prod)_|shp(?:at|ca|pa|ss|tka)_|shippo_(?:live|test)_|EZ[AT]K|AGE-SECRET-KEY-1)[A-Za-z0-9]{16,})",
    // GitHub, GitLab, Slack, Telegram, Google, Azure, PyPI, Docker, models, Vault, Terraform, hosts, observers, payment: signs too
    r"(?x:(?:
        github_pat_|gl(?:pat|dt|rt|rtr|cbt|ptt|ft|oas|soat|imt|agent|ffct|wt)-|GR1348941|AT[AC]TT3|BBDC-|xox[a-z](?:[.]xox[a-z])?-|xapp-[0-9]-|:AA|ABSK|
        amzn[.]mws[.]|AIza|ya29[.]|GOCSPX-|1//0|[0-9]Q~|AQVN|pypi-Ag|dckr_[po]at_|xai-|nvapi-|lsv2_[ps][tk]_|jina_|tvly-|hv[bsr][.]|[.]atlasv1[.]|
        dp[.](?:ct|pt|st|sa|scim|audit)[.]|ops_eyJ|tk-us-|do[opr]_v1_|fm[12][ar]?_|fo1_|HRKU-|vc[apkir]_|sb_secret_|pscale_[a-z]+_|tskey-[a-z]+-|
        v1[.]0-[a-f0-9]{24}-|AVNS_|sha256~|gl(?:c|sa)_|NR(?:AK|II|JS|RA|SP)-|sntry[su]_|dt0[a-z][0-9]{2}[.]|CCI(?:PAT|PRJ)_|PMAK-|fig[dou]r?_|rdme_|p8e-|tfp_|CFPAT-|
        sl[.]u[.]|whsec_|SG[.]|x(?:key|smtp)sib-|sq0[a-z]{3}-|EAAA|FLWSECK_TEST-|fio-u-|duffel_(?:test|live)_|access-(?:sandbox|development|production)-|FlyV1\ )[A-Za-z0-9_=+/~.-]{16,})",
    // Private keys, up to the end of the text if it is cut off; keys of PuTTY
    "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,60}-----|\\z)", "Private-Lines: [0-9]+(?:\r?\n[A-Za-z0-9+/=]+)+",
    // JSON in base64, as in JSON Web Tokens
    "eyJ[A-Za-z0-9_-]{8,}(?:[.][A-Za-z0-9_-]*){0,4}",
];

/// Tokens with a prefix that also begins ordinary words: they must not be within a word, and need a digit.
#[rustfmt::skip]
const SHORT: &[&str] = &[
    // OpenAI, Anthropic, OpenRouter and others; Firecrawl, Context7, Resend, Wakatime, Mailgun, Zuplo, Dependency-Track, Twilio, crates.io, NuGet, Octopus, old Vault, Intercom, hCaptcha, ClickHouse, Notion, Lob, ClickUp
    "sk-[A-Za-z0-9_-]{20,}", "fc-[a-f0-9]{32}", "ctx7sk-[a-f0-9-]{36}", "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", "waka_[a-f0-9-]{36}",
    "key-[a-f0-9]{32}", "zpka_[a-z0-9_]{40,}", "odt_[A-Za-z0-9]{32,}",
    "SK[a-f0-9]{32}", "cio[A-Za-z0-9]{32}", "oy2[a-z0-9]{43}", "API-[A-Z0-9]{26}", "[sbr][.][A-Za-z0-9]{24}", "ico-[A-Za-z0-9]{32}",
    "ES_[a-f0-9]{32}", "4b1d[A-Za-z0-9]{38}", "secret_[A-Za-z0-9]{43}", "(?:live|test)_[a-f0-9]{35}", "pk_[0-9]{7,9}_[A-Z0-9]{32}",
    // Mailchimp, Airtable, Azure; Discord: the bot's number in base64, a time, a signature
    "[a-f0-9]{32}-us[0-9]{1,2}", "pat[A-Za-z0-9]{14}[.][a-f0-9]{40,}", "[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", "[A-Za-z0-9+/]{42}[+]ACR[A-Za-z0-9]{6}",
    "[MNO][A-Za-z0-9_-]{23,27}[.][A-Za-z0-9_-]{6}[.][A-Za-z0-9_-]{27,}",
];

/// Secrets that are recognized by the text around them; only the group is masked. `<sep>` is what may
/// separate two arguments, `<args>` are up to 12 further arguments, `<word>` is the argument itself.
#[rustfmt::skip]
const PLACES: &[&str] = &[
    r"(?i-u:\bbearer)[ \t]+([A-Za-z0-9._~+/-]*[0-9][A-Za-z0-9._~+/=-]*|[A-Za-z0-9._~+/-]{20,}=*)", r#"(?i-u:\bauthorization[ \t]+["']?basic)[ \t]+([A-Za-z0-9+/]{8,}=*)"#,
    // URLs: a password, or only a token, before the host; the address of a webhook
    r#"://[^ \t\r\n/?#@:"'<>]*:([^ \t\r\n/"'<>]+)@"#, "://([A-Za-z0-9_-]{20,})@", r"jdbc:oracle:[a-z]+:[^ /]+/([^ @]+)@",
    "hooks[.]slack[.]com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{8,})", "discord(?:app)?[.]com/api/(?:v[0-9]+/)?webhooks/[0-9]+/([A-Za-z0-9_-]{16,})",
    "webhook[.]office[.]com/[!-~]+?/IncomingWebhook/([A-Za-z0-9/-]{32,})", r#"(?:[?&;]|u0026)[A-Za-z0-9_-]*(?i-u:sig|signature)=([^\s&"'<>]+)"#,
    // Options of one letter
    r#"(?:^|[ \t\r\n"'])(?:-[A-Za-z]{0,4}[uU]|--user|--proxy-user)(?:[ \t]+|=|["'],[ ]*["'])["']?[^ \t\r\n:"'/]+:([^ \t\r\n"'/][^ \t\r\n"']*)"#, r#"-U[ \t]*[^ \t\r\n%"']+%(<word>)"#,
    r#"(?-u:\b)(?:curl|mysql[a-z]*|mariadb[a-z-]*|7za?|rar)<args><sep>(?:-[A-Za-z]{0,4}?[uU]["']?[^ \t\r\n:"'/]+:([^ \t\r\n"'/][^ \t\r\n"']*)|-p["']?(<word>)|-b<sep>(<word>))"#,
    r#"(?-u:\b)(?:sshpass|(?:docker|podman|helm|az|oc|oras|registry)<sep>login|(?:redis|valkey)-cli|sqlcmd|bcp|unzip|zip|ldap[a-z]+)<args><sep>-[pPaw](?:<sep>)?(<word>)"#,
    r#"(?-u:\b)(?:cargo|vault)<sep>login<sep>([^ \t\r\n"'-][^ \t\r\n"']{7,})"#, "-(?:store|key)?pass(?:in|out)?[ \t]+[\"']?(?:pass:)?(<word>)",
    // SQL; Redis, netrc
    r#"(?i-u:\b(?:password|identified(?: with [a-z0-9_]+)? by))(?:[ \t]+|[ \t]*[(])["']([^"'\r\n]+)["']"#, r#"(?i-u:\bidentified by)[ \t]+([^ \t\r\n;"']+)"#,
    r"(?:^|[\r\n])(?:requirepass|masterauth)[ \t]+([^ \t\r\n]+)", r"(?-u:\b)(?:login|account|machine)[ \t\r\n]+[^ \t\r\n]+[ \t\r\n]+password[ \t]+([^ \t\r\n]+)",
    // With two groups, the second is masked if the first is the name of a secret. Dockerfiles, shells
    r#"(?-u:\b)(?:ENV|ARG|setenv|setx|set(?:[ \t]+-[A-Za-z]+)?|config(?:ure)?[ \t]+set)[ \t]+(<name>)[ \t]+["']?(<word>)"#,
    // Name and value as two members, attributes, arguments or elements
    r#"(?-u:\b)(?:(?i-u:name|key)<q>?[ \t]*[:=]|variable)[ \t]*<q>?(<name>)<q>?[\s,{-]*<q>?(?i-u:value|default)<q>?[ \t]*[:=][ \t]*<q>?([^"'\r\n]*[^"'\r\n\\])"#,
    r"[(\[][ ]?<q>(<name>)<q>,[ \t]*<q>([^'\r\n\x22]*[^'\r\n\\\x22])<q>[ ]?[)\]]", r"<key>(<name>)</key>\s*<string>([^<]+)</",
    r"<(?:[A-Za-z0-9_:-]+[ \t][^<>\r\n]*?name=[\x22'])?(?:[A-Za-z0-9_-]+:)?(<name>)[\x22']?(?:[ \t][^<>\r\n]*)?>\s*(?:<!\[CDATA\[)?([^<\s][^<]*)</",
    // `name: type = "x"`, `name type = "x"`
    r#"(<name>):?[ ][A-Za-z&][A-Za-z0-9_.<>&]*[ ]=[ ]["'`]([^"'`\r\n]+)"#,
];

static TOKEN: Lazy = Lazy::new(|| any_of(TOKENS));
static SHORT_TOKEN: Lazy = Lazy::new(|| any_of(SHORT));
static PLACE: Lazy = Lazy::new(|| any_of(PLACES));

fn any_of(patterns: &[&str]) -> Option<Regex> {
    let args = r#"(?:[ \t\\"',]+[!#-%(-+\-.-:<-{}~]+){0,12}?"#;
    let pattern = patterns.join("|").replace("<args>", args);
    let pattern = pattern.replace("<q>", r"\\*[\x22']");
    let pattern = pattern.replace("<word>", r"[^ \t\r\n\x22']+");
    let pattern = pattern.replace("<name>", "[A-Za-z0-9_./:@-]+");
    Regex::new(&pattern.replace("<sep>", r"[\x22',]*[ \t\\]+[\x22']?")).ok()
}

pub(super) fn find(text: &str, names: &Names, spans: &mut Vec<Range<usize>>) {
    let tokens = TOKEN.iter().flat_map(|token| token.find_iter(text));
    spans.extend(tokens.map(|found| found.range()));
    let short = SHORT_TOKEN.iter().flat_map(|token| token.find_iter(text));
    let random = short.filter(|found| is_random(text, *found));
    spans.extend(random.map(|found| found.range()));
    let mut end = 0;
    while end < text.len() {
        let start = char_boundary(text, end.saturating_sub(OVERLAP));
        end = char_boundary(text, start + WINDOW);
        find_places(text, start..end, names, spans);
    }
}

/// The text is searched in windows: otherwise a place that does not end would be followed to the end of the
/// text, again from each position in it. A match at the end of a window may continue after it.
const WINDOW: usize = 1024;
const OVERLAP: usize = 512;

fn find_places(text: &str, place: Range<usize>, names: &Names, spans: &mut Vec<Range<usize>>) {
    let behind = &text[place.end..char_boundary(text, place.end + 4 * WINDOW)];
    let (at, window) = (place.start, &text[place]);
    for groups in PLACE.iter().flat_map(|place| place.captures_iter(window)) {
        let groups: Vec<Match<'_>> = groups.iter().skip(1).flatten().collect();
        let (is_named, value) = match groups[..] {
            [name, value] => (names.has(name.as_str()), value),
            [value] => (!is_account(window, value), value),
            _ => continue,
        };
        let start = behind_scheme(window, value.start());
        if is_named && start < value.end() && is_secret(&window[start..value.end()]) {
            let is_cut = value.end() == window.len();
            let behind = if is_cut { behind } else { "" };
            let rest = length_of(&SETTING, behind);
            spans.push(at + start..at + value.end() + rest);
        }
    }
}

/// Whether a token looks random: not within a word (except after the letter of `\n`), and with a digit or mixed case.
fn is_random(text: &str, found: Match<'_>) -> bool {
    let before = &text[..found.start()];
    let is_inner = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let escapes = ["\\n", "\\r", "\\t"];
    let is_escaped = escapes.iter().any(|escape| before.ends_with(escape));
    let has = |is: fn(&u8) -> bool| found.as_str().as_bytes()[3..].iter().any(is);
    let letters = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    (is_escaped || !is_inner) && (has(u8::is_ascii_digit) || letters)
}

/// A user and a group are not a user and a password, except in a URL: `-u 1000:1000`, `-u www-data:www-data`.
fn is_account(text: &str, value: Match<'_>) -> bool {
    let user = text[..value.start()].strip_suffix(':');
    let number = value.as_str().bytes().all(|byte| byte.is_ascii_digit());
    let user = user.filter(|_| !text[value.end()..].starts_with('@'));
    user.is_some_and(|user| number || user.ends_with(value.as_str()))
}

pub(super) fn find_pattern(pattern: &Regex, text: &str, spans: &mut Vec<Range<usize>>) {
    let mut names = pattern.capture_names().flatten();
    let is_whole = names.all(|name| name != "secret");
    for groups in pattern.captures_iter(text) {
        let whole = groups.get(0).filter(|_| is_whole);
        let found = groups.name("secret").or(whole);
        spans.extend(found.map(|found| found.range()));
    }
}
