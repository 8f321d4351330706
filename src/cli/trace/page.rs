//! A trace as a page for a browser: one file, which loads nothing else, and runs no code from the
//! trace.

use super::traced::Traced;

/// The page, with a placeholder for the trace.
const PAGE: &str = include_str!("page.html");
const PLACE: &str = "{\"entries\":[]}";

pub(super) fn of(traced: &Traced) -> String {
    // Numbers and strings can always be written as JSON.
    let json = serde_json::to_string(traced).unwrap_or_else(|_| PLACE.to_owned());
    PAGE.replacen(PLACE, &embedded(&json), 1)
}

/// Escapes JSON so that it cannot end its HTML element or begin another. Such characters occur only
/// in its strings.
fn embedded(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}') {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::traced::{Entry, Traced};
    use super::*;

    #[test]
    fn nothing_in_a_trace_becomes_a_part_of_the_page() {
        let hook = "</script><!--<script>&amp;\u{2028}\"'{\"entries\":[]}";
        let entry = Entry {
            hook: hook.to_owned(),
            ..Entry::default()
        };
        let traced = Traced {
            entries: [entry].into(),
            ..Traced::default()
        };
        let page = of(&traced);
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
