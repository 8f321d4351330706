//! A trace as a page for a browser: one file, which loads nothing else, and runs no code from the
//! trace.

use super::traced::Traced;
use crate::printable::printable_json;

/// The page, with a placeholder for the trace.
const PAGE: &str = include_str!("page.html");
const PLACE: &str = "{\"entries\":[]}";

pub(super) fn render(traced: &Traced) -> String {
    // Numbers and strings can always be written as JSON.
    let json = serde_json::to_string(traced).unwrap_or_else(|_| PLACE.to_owned());
    // It cannot end its HTML element or begin another: such characters occur only in its strings.
    let json = printable_json(&json)
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026");
    PAGE.replacen(PLACE, &json, 1)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::traced::{Entry, Traced};
    use super::*;

    #[test]
    fn a_trace_cannot_inject_into_the_page() {
        let hook = "</script><!--<script>&amp;\u{2028}\"'{\"entries\":[]}";
        let mut entry = Entry::default();
        entry.fields.insert("hook".to_owned(), hook.into());
        let traced = Traced {
            entries: [entry].into(),
            ..Traced::default()
        };
        let page = render(&traced);
        let count = |what: &str| page.matches(what).count();
        assert_eq!((count("<script"), count("</script>")), (2, 2));
        let (_, rest) = page.split_once("type=\"application/json\">").unwrap();
        let json: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
        assert_eq!(json["entries"][0]["hook"], hook);
    }

    #[test]
    fn the_page_loads_nothing() {
        assert_eq!(PAGE.matches(PLACE).count(), 1);
        for form in [
            "http:",
            "https:",
            "src=",
            "@import",
            "url(",
            "innerHTML",
            "eval(",
        ] {
            assert!(!PAGE.contains(form), "{form}");
        }
        assert!(PAGE.contains("default-src 'none'"));
    }
}
