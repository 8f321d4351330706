//! Secrets that are recognized by their shape: passwords in URLs, private keys, tokens with a vendor's prefix.
//!
//! The prefixes come from the vendors and from the configuration of gitleaks 8.

use super::{Lazy, pattern};

/// The patterns of secrets. If one has a group `secret`, only this group is masked.
pub(super) static SHAPES: [Lazy; 8] = [
    // `postgres://me:[hunter2]@host`
    pattern!(r#"://[^\s/?#@:"'<>]*:(?<secret>[^\s/"'<>]+)@"#),
    // `<password>[hunter2]</password>`
    pattern!(
        r"<[A-Za-z0-9_:.-]*(?i-u:passw(?:or)?d|passphrase|secret|token|credential|cookie|authorization|(?:api|access|private)[_-]?key)(?: [^<>]*)?>\s*(?<secret>[^<\s][^<]*)</"
    ),
    pattern!(r"hooks\.slack\.com/services/(?<secret>[A-Za-z0-9_/+-]{8,})"),
    pattern!(r"webhooks/[0-9]+/(?<secret>[A-Za-z0-9_-]{16,})"),
    pattern!(r"(?-u)\b[Bb]earer[ \t]+(?<secret>[A-Za-z._~+/-]*[0-9][\w.~+/=-]*)"),
    // The match ends with the text, if the end of the key is missing.
    pattern!(
        r"(?s)(?<secret>-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z ]*-----|\z))"
    ),
    // A token may follow an escaped line break: `\n`.
    pattern!(
        r"(?x-u)(?:\b|\\[nrt])(?<secret>(?:gh[opusr]_|A(?:KIA|SIA|BIA|CCA)|[rs]k_(?:live|test)_|sk-|gsk_|hf_|r8_|pplx-
        |npm_|rubygems_|cio|oy2|EAAA|dapi|lin_(?:api|oauth)_|shp(?:at|ss|ca|pa)_|sbp_|ntn_|pul-|AGE-SECRET-KEY-1
        )[A-Za-z0-9]{16,})"
    ),
    pattern!(
        r"(?x-u)(?:\b|\\[nrt])(?<secret>(?:github_pat_|gl(?:pat|dt|rt|rtr|cbt|ptt|soat|agent|ffct|imt)-|AIza|ya29\.
        |GOCSPX-|xox[abeoprs][.-]|xapp-|whsec_|sk-(?:ant|or|proj|svcacct)-|xai-|nvapi-|pypi-|dckr_[op]at_|hv[bs]\.
        |gl(?:sa|c)_|AT[AC]TT3|PMAK-|SG\.|do[opr]_v1_|fm2_|fo1_|sntry[su]_|sb_secret_|figd_|tskey-
        |(?:bot)?[0-9]{8,10}:AA|eyJ)[\w=+/~.-]{16,})"
    ),
];
