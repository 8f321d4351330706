//! docs/redaction.md, a part of the documentation of `Redactor`, lists what is found and what is not. It is
//! generated from the corpus: running the tests with `FORGE_HOOKS_BLESS=1` writes it again.

use std::path::Path;

use forge_hooks::Redactor;

use crate::redaction_corpus::{FOUND, LEFT, MISSED};

const HEAD: &str = r#"# Redaction

This page shows which secrets are masked in a trace, in the log and in messages, and which are not. A host can use the
same rules. Hooks need not do anything.

```
use forge_hooks::Redactor;
use serde_json::json;

let redactor = Redactor::new().with_secret_key("seat number");
assert_eq!(
    redactor.text("deploy --token s3cr3t --region eu"),
    "deploy --token [redacted] --region eu",
);
assert_eq!(redactor.text("SEAT_NUMBER=14c"), "SEAT_NUMBER=[redacted]");
assert_eq!(redactor.text("deploy --token $TOKEN"), "deploy --token $TOKEN");
let shown = redactor.text_with("hunter2 is wrong", ["hunter2", "true"]);
assert_eq!(shown, "[redacted] is wrong");
let value = json!({"url": "https://me:s3cr3t@host/", "auth": {"user": "me"}, "max_tokens": 10});
assert_eq!(
    redactor.value(&value),
    json!({"url": "https://me:[redacted]@host/", "auth": "[redacted]", "max_tokens": 10}),
);
let redactor = redactor.with_pattern(r"card (?<secret>\d{4}-\d{4})")?;
assert_eq!(redactor.text("card 1234-5678"), "card [redacted]");
# Ok::<(), forge_hooks::redact::RedactError>(())
```

The default rules know names (`password`, `API_KEY`, `client-key-data`), the beginnings of tokens of about
80 vendors, and some commands. They do not understand sentences, programs or formats of files. In case of doubt they mask a word
that is not a secret, as in `unexpected token: [redacted]`. They cannot find every secret: a program that knows its
secrets should pass them to [`text_with`](https://docs.rs/forge-hooks/latest/forge_hooks/struct.Redactor.html#method.text_with).

"#;

fn code(text: &str) -> String {
    format!("`{}`", text.replace('\n', " \u{23ce} ").replace('|', "\\|"))
}

fn page() -> String {
    let redactor = Redactor::new();
    let mut page = HEAD.to_owned();
    page += "In the tables, `\u{23ce}` stands for a line break.\n\n";
    page += "| a secret in | before | after |\n|---|---|---|\n";
    for (place, text, _) in FOUND {
        let (before, after) = (code(text), code(&redactor.text(text)));
        page += &format!("| {place} | {before} | {after} |\n");
    }
    page += "\nNot masked, because readers of a log need it:\n\n| what | text |\n|---|---|\n";
    for (what, text) in LEFT {
        page += &format!("| {what} | {} |\n", code(text));
    }
    page += "\nSecrets that are not found:\n\n| what | text |\n|---|---|\n";
    for (what, text, _) in MISSED {
        page += &format!("| {what} | {} |\n", code(text));
    }
    page
}

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/redaction.md");
    if std::env::var_os("FORGE_HOOKS_BLESS").is_some() {
        return std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path)
        .unwrap()
        .replace("\r\n", "\n");
    assert_eq!(written, page(), "run the tests with FORGE_HOOKS_BLESS=1");
}

#[test]
fn the_page_is_true() {
    let redactor = Redactor::new();
    for (_, text, secret) in FOUND {
        let shown = redactor.text(text);
        assert!(text.contains(secret) && !shown.contains(secret), "{shown}");
    }
    for (_, text) in LEFT {
        assert_eq!(redactor.text(text), *text);
    }
    for (_, text, secret) in MISSED {
        assert!(redactor.text(text).contains(secret), "now found: {text}");
    }
}
