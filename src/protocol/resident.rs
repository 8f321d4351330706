//! The protocol of resident hooks: the event and the answer are one line each, with an id.
//!
//! Knows lines, but not processes. The id distinguishes the answer to this event from other text on the same output, for
//! example from a program that the hook has started.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

use super::invalid::explain;
use super::members::Members;
use crate::json;

/// The most bytes of an event's line.
pub(crate) const LONGEST_EVENT: usize = 16 * 1024 * 1024;

/// Returns a random id, which a program that has not read the event cannot guess.
pub(crate) fn new_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // The keys are random, and the hash does not reveal them.
    format!("{:016x}", RandomState::new().hash_one(count))
}

/// Returns the event's JSON with the id as a line. U+2028 and U+2029 are escaped, which occur only in strings of JSON: Node's
/// `readline` treats them as line ends.
pub(crate) fn event_line(json: &str, id: &str) -> String {
    let json = json.trim_ascii_end();
    let members = json.strip_suffix('}').unwrap_or(json);
    let line = format!("{members},\"id\":\"{id}\"}}\n");
    line.replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Checks that this is the answer to the event with this id: one JSON object on one line. The error describes the problem.
pub(crate) fn check_answer(output: &[u8], id: &str) -> Result<(), String> {
    let line = str::from_utf8(output).map_err(|_| "its answer is not UTF-8".to_owned())?;
    let line = json::readable(line);
    let line = line.trim_ascii_end();
    if line.is_empty() {
        return Err("it ended without an answer".to_owned());
    }
    if line.contains('\n') {
        return Err("it answered with more than one line".to_owned());
    }
    if !line.trim_ascii_start().starts_with('{') {
        return Err("its answer is not a JSON object".to_owned());
    }
    let Members(members) = json::parse(line).map_err(|error| {
        let why = explain(&error);
        format!("its answer is not one JSON object with the `id` of the event: {why}")
    })?;
    let mut ids = members.iter().filter(|(name, _)| name == "id");
    match (ids.next(), ids.next()) {
        (None, _) => Err("its answer has no `id`".to_owned()),
        (_, Some(_)) => Err("its answer has two `id`s".to_owned()),
        (Some((_, answered)), None) if answered.get() == format!("\"{id}\"") => Ok(()),
        _ => Err("its answer has the `id` of another event".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_read_in_linear_time() {
        crate::growth::assert_reads_in_linear_time("a line of a kept process", |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let _ = check_answer(text.as_bytes(), "a1");
            let _ = event_line(&text, "a1");
        });
    }

    #[test]
    fn an_event_is_a_line_with_an_id() {
        let line = event_line("{\"type\":\"x:y\"}\n", "a1");
        assert_eq!(line, "{\"type\":\"x:y\",\"id\":\"a1\"}\n");
    }

    #[test]
    fn an_event_is_one_line_for_every_reader() {
        let json = "{\"a\u{2028}\":\"\u{2029}\u{2029}\u{2027}\"}";
        let line = event_line(json, "a1");
        let expected = "{\"a\\u2028\":\"\\u2029\\u2029\u{2027}\",\"id\":\"a1\"}\n";
        assert_eq!(line, expected);
    }

    #[test]
    fn no_id_comes_twice() {
        let mut ids: Vec<_> = (0..1000).map(|_| new_id()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 1000);
    }

    #[test]
    fn an_answer_is_one_object_with_the_id() {
        for answer in [
            "{\"id\":\"a1\"}",
            "{\"id\":\"a1\"}\n",
            " {\"decision\": \"block\", \"id\": \"a1\"} \r\n",
        ] {
            assert_eq!(check_answer(answer.as_bytes(), "a1"), Ok(()), "{answer}");
        }
        for (answer, why) in [
            ("", "without an answer"),
            ("\n\n", "without an answer"),
            ("{}", "has no `id`"),
            ("{\"id\":\"a2\"}", "another event"),
            ("{\"id\":\"a11\"}", "another event"),
            ("{\"id\":{\"id\":\"a1\"}}", "another event"),
            ("{\"id\":\"a2\",\"id\":\"a1\"}", "two `id`s"),
            ("{\"id\":1}", "another event"),
            ("{\"id\":\"a1\"}{\"id\":\"a1\"}", "text after the object"),
            ("{\"id\":\"a1\"}\n{\"id\":\"a1\"}", "more than one line"),
            ("ok {\"id\":\"a1\"}", "JSON object"),
            ("[\"a1\"]", "JSON object"),
            ("\"a1\"", "JSON object"),
            ("{\"id\":\"a1\"", "`}` is missing"),
        ] {
            let error = check_answer(answer.as_bytes(), "a1").unwrap_err();
            assert!(error.contains(why), "{answer}: {error}");
        }
    }
}
