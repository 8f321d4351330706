//! The display of texts: secrets are masked, and everything else stays as it was.

mod corpus;
mod page;

use std::borrow::Cow;
use std::error::Error;

use forge_hooks::Redactor;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::growth::{assert_linear, assert_reads_in_linear_time};
use crate::thorough::{all_cases, random_cases};

#[test]
fn only_what_looks_secret_is_masked() {
    let redactor = Redactor::new();
    let mut wrong = Vec::new();
    for row in corpus::secrets() {
        let (text, secret) = (&row[0], &row[1]);
        assert!(text.contains(secret), "{text} does not hold {secret}");
        let masked = redactor.text(text);
        let hidden = !masked.contains(secret) && masked.contains(Redactor::MASK);
        let rest_is_left = row.get(2).is_none_or(|rest| masked.contains(rest));
        if !hidden || !rest_is_left || redactor.text(&masked) != masked {
            wrong.push((text.clone(), masked.into_owned()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn ordinary_text_is_unchanged() {
    let redactor = Redactor::new();
    for row in corpus::ordinary() {
        let masked = redactor.text(&row[0]);
        assert_eq!(masked, row[0]);
        assert!(matches!(masked, Cow::Borrowed(_)), "{masked}");
    }
}

#[test]
fn a_token_is_found_by_its_shape() {
    let redactor = Redactor::new();
    for token in corpus::tokens().concat() {
        for (before, behind) in [("got ", " here"), ("{\"a\":\"x\\n", "\\n\"}"), ("", "")] {
            let text = format!("{before}{token}{behind}");
            let masked = redactor.text(&text);
            assert!(!masked.contains(&token[token.len() - 12..]), "{masked}");
            let rest_is_left = masked.starts_with(before) && masked.ends_with(behind);
            assert!(rest_is_left, "{masked}");
        }
    }
}

/// The secrets that are not found are listed, and are at most one secret in three.
#[test]
fn few_secrets_are_not_found() {
    let redactor = Redactor::new();
    let leaks = corpus::leaks();
    for row in &leaks {
        let end = &row[0][row[0].len() - 12..];
        let secret = row.get(1).map_or(end, |secret| secret);
        let is_left = redactor.text(&row[0]).contains(secret);
        assert!(is_left, "now found: {row:?}");
    }
    let count = corpus::secrets().len() + corpus::tokens().len();
    let few = leaks.len() * 3 <= count + leaks.len();
    assert!(few, "{} of {count}", leaks.len());
}

/// No rule knows prose or code; nothing more of it changes unnoticed.
#[test]
fn a_word_too_many_is_masked() {
    let redactor = Redactor::new();
    let changed = corpus::changed();
    for row in &changed {
        assert_eq!(redactor.text(&row[0]), row[1]);
    }
    assert!(changed.len() * 20 < corpus::ordinary().len());
}

/// At most one in five of the secrets leaks, and at most one in fifty of the ordinary lines changes.
#[test]
fn of_lines_that_the_rules_did_not_know_few_leak_and_few_change() {
    let redactor = Redactor::new();
    let (secrets, ordinary) = (corpus::held_out(), corpus::held_out_ordinary());
    let leaks = |row: &&Vec<String>| redactor.text(&row[0]).contains(&row[1]);
    let leaks: Vec<_> = secrets.iter().filter(leaks).collect();
    assert!(leaks.len() * 5 <= secrets.len(), "{leaks:#?}");
    let changes = |row: &&Vec<String>| redactor.text(&row[0]) != row[0];
    let changed: Vec<_> = ordinary.iter().filter(changes).collect();
    assert!(changed.len() * 50 <= ordinary.len(), "{changed:#?}");
}

#[test]
fn a_redactor_is_shared_and_cloned() {
    fn shared<T: Send + Sync + Clone + 'static>(_: &T) {}
    let redactor = Redactor::default().with_secret_key("seat");
    shared(&redactor);
    let more = redactor.clone().with_secret_key("row");
    assert_eq!(more.text("seat=1 row=2"), "seat=[redacted] row=[redacted]");
    assert_eq!(redactor.text("seat=1 row=2"), "seat=[redacted] row=2");
}

/// A search goes by parts of a long text.
#[test]
fn a_long_secret_is_masked_anywhere() {
    let redactor = Redactor::new();
    for (place, length) in [
        ("curl --password {}", 3000),
        ("sent bearer {} to it", 3000),
        ("https://me:{}@h/x", 400),
    ] {
        let secret = "Ab3+".repeat(length / 4);
        let text = place.replace("{}", &secret);
        for before in (0..1200).step_by(if all_cases() { 7 } else { 41 }) {
            let text = format!("{} {text} end", ". ".repeat(before / 2));
            let masked = redactor.text(&text);
            let is_masked = !masked.contains("Ab3+") && masked.ends_with(" end");
            assert!(is_masked, "{place} {before}");
        }
    }
}

/// Each of these once took the square of its length.
#[test]
fn a_text_is_masked_in_linear_time() {
    let redactor = Redactor::new();
    for part in corpus::slow() {
        let text = |length: usize| part.repeat(length / part.len());
        assert_linear(&part, 32 << 10, text, |text| {
            let _ = redactor.text(text);
        });
    }
}

#[test]
fn each_run_is_masked_in_linear_time() {
    let redactor = Redactor::new();
    assert_reads_in_linear_time("a text", |text| {
        let _ = redactor.text(&String::from_utf8_lossy(text));
    });
}

/// The lines of the values that are masked in a text are searched in one pass.
#[test]
fn many_values_are_masked_in_linear_time() {
    let redactor = Redactor::new();
    for (what, line) in [
        ("lines", "line {} of it\n"),
        ("the same lines", "aaaaaaaa\n"),
        ("runs", "a"),
    ] {
        let input = |size: usize| {
            let lines = (0..size / 8).map(|number| line.replace("{}", &number.to_string()));
            let value: String = lines.collect();
            let text = value.repeat(4);
            (value, text)
        };
        assert_linear(what, 16 << 10, input, |(value, text)| {
            let _ = redactor.text_with(text, [&**value, "other", "aaaaaaaa"]);
        });
    }
}

#[test]
fn values_that_overlap_are_masked_as_one() {
    let redactor = Redactor::new();
    for (values, text, expected) in [
        (
            &["hunter22", "22secret"][..],
            "a hunter22secret b",
            "a [redacted] b",
        ),
        (
            &["hunter22", "unter"],
            "a hunter2 hunter22 unterb",
            "a h[redacted]2 [redacted] [redacted]b",
        ),
        (&["aaaa"], "aaaaaaaaa b", "[redacted] b"),
        (
            &["line one of it\nline two of it"],
            "x line two of it y",
            "x [redacted] y",
        ),
        (
            &["quo\"ted value"],
            r#"{"a": "quo\"ted value"}"#,
            r#"{"a": "[redacted]"}"#,
        ),
        (
            &["größe99", "ößen"],
            "die größe99 größen",
            "die [redacted] gr[redacted]",
        ),
    ] {
        let masked = redactor.text_with(text, values.iter().copied());
        assert_eq!(masked, expected, "{values:?}");
    }
}

#[test]
fn an_empty_redactor_masks_only_additions() -> Result<(), Box<dyn Error>> {
    let off = Redactor::off();
    for row in corpus::secrets() {
        let text = &row[0];
        assert_eq!(off.text_with(text, ["hunter2"]), *text);
        let value = json!({"password": text});
        assert_eq!(off.value(&value), value);
    }
    let off = off.with_secret_key("seat").with_pattern("x[0-9]+")?;
    let masked = off.text("seat=14c x12 token=t-1");
    assert_eq!(masked, "seat=[redacted] [redacted] token=t-1");
    Ok(())
}

#[test]
fn an_added_key_matches_any_spelling() {
    let redactor = Redactor::new()
        .with_secret_key("Seat-Number")
        .with_secret_key(" - ");
    for name in "seat number,SEAT_NUMBER,seatNumber,Seat.Number,x.seat-number".split(',') {
        let quoted = ("the \"", "\": \"14c\", x");
        for (before, behind) in [("", "=14c x"), ("", ": 14c x\ny"), quoted] {
            let text = format!("{before}{name}{behind}");
            let masked = redactor.text(&text);
            let is_masked = !masked.contains("14c") && masked.contains(name);
            assert!(is_masked, "{text}: {masked}");
        }
    }
    let option = redactor.text("run --seat-number 14c x");
    assert_eq!(option, "run --seat-number [redacted] x");
    let value = redactor.value(&json!({"seat_number": 14, "seat": 15}));
    assert_eq!(value, json!({"seat_number": "[redacted]", "seat": 15}));
    for text in [
        "myseat number: 14c",
        "my_seat_number=14c",
        "seat numbers: 14c",
    ] {
        assert_eq!(redactor.text(text), text);
    }
}

/// A name that says no secret by default does where a host adds it.
#[test]
fn an_added_key_may_be_any_name() {
    for (name, text) in [("cache key", "CACHE_KEY=14c"), ("auth", "auth: 14c")] {
        let redactor = Redactor::new().with_secret_key(name);
        let restored = redactor.text(text).replace(Redactor::MASK, "14c");
        assert!(restored == text && redactor.text(text) != text, "{text}");
    }
    let cache = Redactor::new().with_secret_key("cache key");
    let value = cache.value(&json!({"CACHE_KEY": "14c", "SORT_KEY": "14c"}));
    assert_eq!(value, json!({"CACHE_KEY": "[redacted]", "SORT_KEY": "14c"}));
}

#[test]
fn an_added_pattern_masks_its_group() -> Result<(), Box<dyn Error>> {
    let redactor = Redactor::new()
        .with_pattern(r"(?i)ticket-\d+")?
        .with_pattern(r"seat (?<secret>\w+)( or \w+)?")?
        .with_pattern("y*")?;
    let masked = redactor.text("TICKET-12 in seat 14c or 15c: by");
    assert_eq!(masked, "[redacted] in seat [redacted] or 15c: b[redacted]");
    Ok(())
}

#[test]
fn an_invalid_pattern_is_an_error() {
    for pattern in ["(", "(?:a{1000}){1000}", r"\pL{1000}"] {
        let error = Redactor::new().with_pattern(pattern).unwrap_err();
        let expected = format!("invalid redaction pattern `{pattern}`");
        assert_eq!(error.to_string(), expected);
        assert!(error.source().is_some());
    }
}

#[test]
fn known_values_are_masked_everywhere() {
    let redactor = Redactor::new();
    for row in corpus::known() {
        let [text, expected, secrets @ ..] = &row[..] else {
            panic!("{row:?}")
        };
        let masked = redactor.text_with(text, secrets.iter().map(String::as_str));
        assert_eq!(masked, *expected, "{text}");
    }
}

#[test]
fn keys_and_texts_are_both_masked() {
    let value = json!({
        "password": "hunter2",
        "pin": {"Api-Key": 12, "apiKey": ["a", {"b": "c"}], "auth": {"user": "me"}},
        "args": ["--token", "t-123", "--all", "--token=t-123", "--token", "$TOKEN", "--token", 5],
        "command": "export TOKEN=t-123; run",
        "nested": "{\"password\":\"hunter2\"}",
        "tokens": 12, "max_tokens": 4096, "token": null, "secret": true, "cookie": "",
        "usage": {"tokens": {"input": 5}}, "token_type": "bearer", "author": "Jane",
        "api_key": "${API_KEY}", "env": [{"name": "API_KEY", "value": "k-1"}, {"name": "CI", "value": "1"}],
    });
    let expected = json!({
        "password": "[redacted]",
        "pin": {"Api-Key": "[redacted]", "apiKey": "[redacted]", "auth": "[redacted]"},
        "args": ["--token", "[redacted]", "--all", "--token=[redacted]", "--token", "$TOKEN", "--token", "[redacted]"],
        "command": "export TOKEN=[redacted]; run",
        "nested": "{\"password\":\"[redacted]\"}",
        "tokens": 12, "max_tokens": 4096, "token": null, "secret": true, "cookie": "",
        "usage": {"tokens": {"input": 5}}, "token_type": "bearer", "author": "Jane",
        "api_key": "${API_KEY}", "env": [{"name": "API_KEY", "value": "[redacted]"}, {"name": "CI", "value": "1"}],
    });
    let redactor = Redactor::new();
    assert_eq!(redactor.value(&value), expected);
    assert_eq!(redactor.value(&expected), expected);
}

#[test]
fn a_very_deep_value_is_masked() {
    let mut value = Value::from("hunter2");
    for _ in 0..10_000 {
        value = Value::Array(vec![value]);
    }
    let mut inner = &Redactor::new().value(&value);
    let mut depth = 0;
    while let Some(item) = inner.get(0) {
        (inner, depth) = (item, depth + 1);
    }
    assert_eq!((inner, depth), (&json!("[redacted]"), 128));
    // To drop it takes the stack that to mask it must not.
    while let Value::Array(items) = &mut value {
        value = items.pop().unwrap();
    }
}

#[test]
fn debug_shows_no_rule_of_the_hosts() -> Result<(), Box<dyn Error>> {
    let redactor = Redactor::new().with_secret_key("seat");
    let debug = format!("{:?}", redactor.with_pattern("hunter2")?);
    let expected = "Redactor { default_rules: true, keys: 1, patterns: 1 }";
    assert_eq!(debug, expected);
    Ok(())
}

const KEYS: &str = "password PASSWORD db_password passwd passphrase token GITHUB_TOKEN authToken \
    access_token api_key apiKey X-Api-Key secret client_secret AWS_SECRET_ACCESS_KEY private_key \
    credential cookie set-cookie authorization proxy-authorization npm_auth_token";

/// Text in which rules meet each other.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = select(corpus::fragments());
    proptest::collection::vec(fragment, 0..24).prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(random_cases(500)))]

    #[test]
    fn masking_twice_changes_nothing(text in fragments()) {
        let redactor = Redactor::new();
        let once = redactor.text(&text).into_owned();
        prop_assert_eq!(redactor.text(&once), once.as_str());
    }

    #[test]
    fn any_text_can_be_masked(text in ".*", secret in ".{0,6}") {
        let masked = Redactor::new().text_with(&text, [secret.as_str()]).into_owned();
        prop_assert_eq!(Redactor::new().text_with(&masked, [secret.as_str()]), masked.as_str());
    }

    #[test]
    fn a_secret_key_masks_every_form(
        form in select(corpus::forms()),
        key in select(KEYS.split(' ').collect::<Vec<_>>()),
        secret in "[a-zA-Z0-9][a-zA-Z0-9+/_.!@#%^*~-]{6,30}[a-zA-Z0-9=]",
        around in "[a-z ]{0,10}\n?",
    ) {
        let text = form.replace("KEY", key).replace("{}", &secret);
        let text = format!("{around}\n{text}\n{around}");
        let masked = Redactor::new().text(&text).into_owned();
        prop_assert!(!masked.contains(&secret), "{} in {}", secret, masked);
        prop_assert!(masked.contains(key), "{} has lost its key", masked);
        prop_assert!(masked.ends_with(&around), "{} has lost its end", masked);
    }
}
