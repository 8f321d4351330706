//! Values that are not secrets: empty values, words that only say whether there is one, references, masks.

use super::names::{Lazy, matches, pattern};

#[rustfmt::skip]
static PLAIN: Lazy = pattern!(
    // `$TOKEN`, `${TOKEN}`, `%TOKEN%`, `!TOKEN!`, `{{ token }}`, `<token>`, `$(cat token)`; `****`, a mask
    r"^(?:\$[A-Za-z0-9_]+|\$\{[A-Za-z0-9_.:-]+\}|%[A-Za-z0-9_]+%|![A-Za-z0-9_]+!|\{\{.*\}\}|<.*>|[*.]*|\s*|[!-/:-@\[-`{-~]{1,3}|",
    r#"\s*\[redacted\][)\]},;"'`\\]*\s*|"#,
    "(?i-u:null|none|nil|undefined|true|false|yes|no|on|off|enabled|disabled|required|optional|all|any|basic|bearer|digest|",
    "&?str|string|bool|boolean|int|integer|number|bytes|[iu](?:8|16|32|64|size)|void|unknown))$|",
    r"^(?:\$\(|\$\{\{|process\.env|import\.meta\.env|\$env:)");
static NUMBER: Lazy = pattern!("^[0-9][0-9.,_/]*[kKM%]?$");

pub(super) fn is_secret(value: &str) -> bool {
    !matches(&PLAIN, value)
}

/// `12`, `1,234`, `45.2%`: a count.
pub(super) fn is_number(value: &str) -> bool {
    matches(&NUMBER, value)
}
