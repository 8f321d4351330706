//! The line with the error in what a hook has written to standard error before it ended.
//!
//! Knows where a stack trace has its error, and no interpreter.

/// The most lines of a message that a person has written, and that stays as it is.
const LONGEST_MESSAGE: usize = 2;

/// The most characters of a line that a reason quotes.
const LONGEST_QUOTE: usize = 200;

/// Returns whether a text has more lines than a message.
pub(super) fn is_long(stderr: &str) -> bool {
    filled(stderr).nth(LONGEST_MESSAGE).is_some()
}

/// Returns the last line that is not empty, or the one above a stack trace whose lines follow the error, as those of JavaScript and Java
/// do; its beginning, if it is long. Reads the text once, from its end.
pub(crate) fn error_line(stderr: &str) -> Option<&str> {
    let mut lines = filled(stderr).rev().peekable();
    let last = *lines.peek()?;
    let mut above = lines
        .skip_while(|line| !is_frame(line))
        .skip_while(|line| is_frame(line));
    let line = above.next().unwrap_or(last).trim();
    let end = line.char_indices().nth(LONGEST_QUOTE);
    Some(end.map_or(line, |(end, _)| &line[..end]))
}

fn filled(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}

fn is_frame(line: &str) -> bool {
    let rest = line.trim_start();
    rest.len() < line.len() && rest.starts_with("at ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_read_in_linear_time() {
        crate::growth::assert_reads_in_linear_time("standard error", |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let _ = (error_line(&text), is_long(&text));
        });
    }

    #[test]
    fn the_error_among_other_lines_is_found() {
        for (stderr, expected) in [
            ("", None),
            ("\n \n", None),
            ("stop\n", Some("stop")),
            ("step 1: done\nstep 2\nstopped  \n\n", Some("stopped")),
            (
                "Traceback (most recent call last):\n  File \"g.py\", line 1\n    x = {\"a\": 1}\nAssertionError\n",
                Some("AssertionError"),
            ),
            (
                "Traceback (most recent call last):\n  File \"g.py\", line 1\nKeyError: 'a'\n",
                Some("KeyError: 'a'"),
            ),
            (
                "x.js:1\nError: no\n    at x.js:1:7\n    at y.js:2:1 {\n  code: 1\n}\n\nNode.js v20.1.0\n",
                Some("Error: no"),
            ),
            (
                "Exception in thread \"main\" E: no\n\tat Main.main(Main.java:3)\n",
                Some("Exception in thread \"main\" E: no"),
            ),
            ("    at x.js:1:7\n", Some("at x.js:1:7")),
        ] {
            assert_eq!(error_line(stderr), expected, "{stderr}");
        }
        let long = "\u{e4}".repeat(1_000);
        assert_eq!(error_line(&long), Some(&*"\u{e4}".repeat(200)));
    }
}
