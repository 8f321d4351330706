//! Draws problems of hooks files for people, as the Rust compiler does.
//!
//! Reads the files again to show the lines. Does not know how they are read as hooks.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet, Title};

use crate::cli::files;
use crate::config::{Position, Problem, Severity};
use crate::{LoadReport, printable};

/// The most bytes of a line that are shown: a whole file may be one line.
const LONGEST: usize = 160;

/// Texts by the names of their files. A text that is in no file is added before the problems are drawn.
pub(crate) type Texts = HashMap<PathBuf, Option<String>>;

/// Draws all problems in colours, with short paths. The text is empty if there are none.
pub(crate) fn drawn(report: &LoadReport, mut texts: Texts) -> String {
    let mut all = Vec::new();
    let mut problems = report.problems.iter();
    while let Some(problem) = problems.next() {
        let excerpt = problem.range.as_ref().and_then(|range| {
            let path = &problem.path;
            let read = || files::open(path).and_then(files::text_of).ok();
            let text = texts.entry(path.clone()).or_insert_with(read);
            excerpt(text.as_deref()?, range)
        });
        // A help that several problems share is shown with the last one.
        let help = problem.help.as_ref();
        let help = help.filter(|help| {
            problems
                .clone()
                .all(|problem| problem.help.as_ref() != Some(*help))
        });
        all.push(drawn_with(problem, help, excerpt.as_ref()));
    }
    all.join("\n")
}

fn drawn_with(problem: &Problem, help: Option<&String>, excerpt: Option<&Excerpt>) -> String {
    let level = match problem.severity {
        Severity::Warning => Level::WARNING,
        _ => Level::ERROR,
    };
    let key = problem.key.iter().map(|key| format!("{key}: "));
    let title = key.collect::<String>() + &problem.message;
    let mut group = with_place(level.primary_title(title), problem, excerpt);
    let hint = problem
        .suggestion
        .as_ref()
        .map(|name| format!("did you mean `{name}`?"));
    for message in hint.into_iter().chain(help.cloned()) {
        group = group.element(Level::HELP.message(message));
    }
    // The renderer leaves out the space before the arrow if no line of the file is shown.
    let arrow = "\x1b[1m\x1b[94m-->";
    let drawn = Renderer::styled().render(&[group]);
    drawn.replace(&format!("\n{arrow}"), &format!("\n {arrow}")) + "\n"
}

fn with_place<'a>(title: Title<'a>, problem: &Problem, excerpt: Option<&'a Excerpt>) -> Group<'a> {
    let path = files::display_path(&problem.path);
    let mut place = Origin::path(path.clone());
    let Some(start) = problem.range.as_ref().map(|range| range.start) else {
        return title.element(place);
    };
    place = place.line(start.line).char_column(start.column);
    let Some(excerpt) = excerpt else {
        return title.element(place);
    };
    let mark = AnnotationKind::Primary.span(excerpt.start..excerpt.end);
    let snippet = Snippet::source(&excerpt.text)
        .line_start(start.line)
        .annotation(mark);
    if excerpt.begins_the_line {
        title.element(snippet.path(path))
    } else {
        title.element(place).element(snippet)
    }
}

/// A part of the line with a problem, with hidden characters made visible, and the range of the problem in it.
struct Excerpt {
    text: String,
    start: usize,
    end: usize,
    /// True if the columns of the part are those of the line.
    begins_the_line: bool,
}

/// Returns the line in which a range begins, or a part of it; none if the text has changed since it was read.
fn excerpt(text: &str, range: &Range<Position>) -> Option<Excerpt> {
    let start = range.start.offset;
    let (before, after) = text.split_at_checked(start)?;
    let mark = text.len() - text.trim_start_matches('\u{FEFF}').len();
    let line_start = before.rfind('\n').map_or(mark, |at| at + 1);
    let line_end = start + after.find('\n').unwrap_or(after.len());
    let from = if line_end - line_start <= LONGEST {
        line_start
    } else {
        floor(text, start.saturating_sub(LONGEST / 4)).max(line_start)
    };
    let to = floor(text, (from + LONGEST).min(line_end)).max(start);
    let marked = floor(text, range.end.offset.clamp(start, to));
    let display = |from, to| Some(printable(text.get(from..to)?.trim_end_matches('\r')));
    let (before, within) = (printable(text.get(from..start)?), display(start, marked)?);
    let whole = format!("{before}{within}{}", display(marked, to)?);
    Some(Excerpt {
        start: before.len(),
        end: before.len() + within.len(),
        begins_the_line: from == line_start && whole == text[from..to].trim_end_matches('\r'),
        text: whole,
    })
}

/// Returns the end of the last whole character before this index.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HookConfig;

    fn check(text: &str) -> (tempfile::TempDir, LoadReport) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hooks.json");
        std::fs::write(&path, text).unwrap();
        (directory, HookConfig::default().check(path))
    }

    fn draw(report: &LoadReport) -> String {
        let drawn = drawn(report, Texts::default());
        crate::cli::terminal::without_styles(&drawn)
    }

    #[test]
    fn of_a_line_without_end_a_part_is_drawn() {
        let entry = r#"{"event":"*","command":"x","timeout":"5"}"#;
        let good = r#"{"event":"*","command":"ä"}"#;
        let text = format!("{{\"hooks\":[{}{entry}]}}", format!("{good},").repeat(400));
        let (_world, report) = check(&text);
        let drawn = draw(&report);
        assert!(drawn.len() < 1000, "{drawn}");
        assert!(drawn.contains("\"timeout\":\"5\""), "{drawn}");
        let column = report.problems[0].range.clone().unwrap().start.column;
        assert_eq!(column, 10 + 28 * 400 + 38);
    }

    #[test]
    fn what_is_hidden_in_a_line_is_shown_in_it() {
        let (_world, report) = check(
            "{\"hooks\": [{\"event\": \"a\u{200b}:b\", \"command\": \"x\", \"timeout\": \"\u{e0041}\u{fe0f}\"}]}",
        );
        let drawn = draw(&report);
        assert!(drawn.contains(r"a\u{200b}:b"), "{drawn}");
        // The mark is as long as the marked text, and the column is that of the file.
        let with = |part: &str| drawn.lines().find(|line| line.contains(part)).unwrap();
        let at = with(r"\u{e0041}\u{fe0f}").find(r#""\u{e0041}"#).unwrap();
        let mark = with("^");
        assert_eq!(mark.find('^'), Some(at), "{drawn}");
        let marked = mark.matches('^').count();
        assert_eq!(marked, r#""\u{e0041}\u{fe0f}""#.len(), "{drawn}");
        let column = report.problems[0].range.clone().unwrap().start.column;
        assert!(drawn.contains(&format!(":1:{column}\n")), "{drawn}");
        let hides = drawn.contains(['\u{200b}', '\u{e0041}', '\u{fe0f}']);
        assert!(!hides, "{drawn}");
    }

    #[test]
    fn a_text_that_has_changed_is_not_shown() {
        let (directory, report) = check("{\"hooks\": [7]}");
        std::fs::write(directory.path().join("hooks.json"), "{}").unwrap();
        assert!(!draw(&report).contains("{}"));
        let path = report.problems[0].path.clone();
        let texts = Texts::from([(path, Some("{\"hooks\": [8]}".to_owned()))]);
        assert!(drawn(&report, texts).contains("[8]"));
    }
}
