//! Draws problems of hooks files for people, as the Rust compiler does.
//!
//! Reads the files again to show the lines; does not know how they are read as hooks.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::cli::files;
use crate::config::{Problem, Severity, TextRange};
use crate::{LoadReport, printable};

/// The most bytes of a line that are shown: a whole file may be one line.
const LONGEST: usize = 160;

/// The texts of files, as far as they have been read.
#[derive(Default)]
pub(crate) struct Texts(HashMap<PathBuf, Option<String>>);

impl Texts {
    /// Adds a text that is in no file.
    pub(crate) fn add(&mut self, name: &Path, text: String) {
        self.0.insert(name.to_owned(), Some(text));
    }

    fn of(&mut self, path: &Path) -> Option<&str> {
        let read = || files::open(path).and_then(files::text_of).ok();
        self.0
            .entry(path.to_owned())
            .or_insert_with(read)
            .as_deref()
    }
}

/// Draws all problems, with short paths, with or without colours for a terminal. Empty if there are none.
pub(crate) fn drawn(report: &LoadReport, texts: &mut Texts, colours: bool) -> String {
    let mut all = Vec::new();
    for (number, problem) in report.problems.iter().enumerate() {
        let mut later = report.problems[number + 1..].iter();
        let is_repeated = problem.help.is_some() && later.any(|it| it.help == problem.help);
        let excerpt = problem.range.and_then(|range| {
            let text = texts.of(&problem.path)?;
            excerpt(text, range)
        });
        let help = problem.help.as_ref().filter(|_| !is_repeated);
        all.push(drawn_with(problem, help, excerpt, colours));
    }
    all.join("\n")
}

fn drawn_with(
    problem: &Problem,
    help: Option<&String>,
    excerpt: Option<Excerpt>,
    colours: bool,
) -> String {
    let level = match problem.severity {
        Severity::Warning => Level::WARNING,
        _ => Level::ERROR,
    };
    let title = match &problem.key {
        Some(key) => format!("{key}: {}", problem.message),
        None => problem.message.clone(),
    };
    let mut group = with_place(level.primary_title(title), problem, excerpt.as_ref());
    if let Some(name) = &problem.suggestion {
        group = group.element(Level::HELP.message(format!("did you mean `{name}`?")));
    }
    if let Some(help) = help {
        group = group.element(Level::HELP.message(help.clone()));
    }
    let renderer = match colours {
        true => Renderer::styled(),
        false => Renderer::plain(),
    };
    // Without a line of the file, the renderer leaves the space out.
    let drawn = renderer.render(&[group]).replace("\n-->", "\n -->");
    drawn + "\n"
}

fn with_place<'a>(
    group: annotate_snippets::Title<'a>,
    problem: &Problem,
    excerpt: Option<&'a Excerpt>,
) -> Group<'a> {
    let path = printable(&files::shown(&problem.path));
    let mut place = Origin::path(path.clone());
    let start = problem.range.map(|range| range.start);
    if let Some(start) = start {
        place = place.line(start.line).char_column(start.column);
    }
    let (Some(excerpt), Some(start)) = (excerpt, start) else {
        return group.element(place);
    };
    let mark = AnnotationKind::Primary.span(excerpt.start..excerpt.end);
    let snippet = Snippet::source(&excerpt.text)
        .line_start(start.line)
        .annotation(mark);
    match excerpt.begins_the_line {
        true => group.element(snippet.path(path)),
        false => group.element(place).element(snippet),
    }
}

/// A part of the line with a problem, with hidden characters made visible, and the range of the problem in it.
struct Excerpt {
    text: String,
    start: usize,
    end: usize,
    /// Its columns are those of the line.
    begins_the_line: bool,
}

/// Returns the line in which a range begins, or a part of it. None if the text has changed since it was read.
fn excerpt(text: &str, range: TextRange) -> Option<Excerpt> {
    let (start, end) = (range.start.offset, range.end.offset);
    let (before, after) = text.split_at_checked(start)?;
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line_end = start + after.find('\n').unwrap_or(after.len());
    let mark = if line_start == 0 && text.starts_with('\u{FEFF}') {
        '\u{FEFF}'.len_utf8()
    } else {
        0
    };
    let is_short = line_end - line_start <= LONGEST;
    let near = floor(text, start.saturating_sub(LONGEST / 4));
    let from = match is_short {
        true => line_start + mark,
        false => near.max(line_start + mark),
    };
    let to = floor(text, (from + LONGEST).min(line_end)).max(start);
    let marked = floor(text, end.clamp(start, to));
    let before = printable(text.get(from..start)?);
    let within = printable(text[start..marked].trim_end_matches('\r'));
    let behind = printable(text[marked..to].trim_end_matches('\r'));
    let shown = format!("{before}{within}{behind}");
    Some(Excerpt {
        start: before.len(),
        end: before.len() + within.len(),
        begins_the_line: from == line_start + mark
            && shown == text[from..to].trim_end_matches('\r'),
        text: shown,
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

    fn draw(report: &LoadReport, colours: bool) -> String {
        drawn(report, &mut Texts::default(), colours)
    }

    #[test]
    fn problems_are_drawn_as_by_rustc() {
        let (world, report) = check(
            "{\n  \"hooks\": [\n    {\"event\": \"*\", \"command\": \"x\", \"timout\": 5},\n    \
             {\"event\": \"*\", \"command\": \"x\", \"timeout\": \"5\"}\n  ]\n}\n",
        );
        let drawn = draw(&report, false);
        let path = world.path().join("hooks.json").display().to_string();
        let expected = "\
warning: hooks[0].timout: unknown key `timout`
 --> FILE:3:36
  |
3 |     {\"event\": \"*\", \"command\": \"x\", \"timout\": 5},
  |                                    ^^^^^^^^
  |
  = help: did you mean `timeout`?

error: hooks[1].timeout: expected a number of seconds, found a string
 --> FILE:4:47
  |
4 |     {\"event\": \"*\", \"command\": \"x\", \"timeout\": \"5\"}
  |                                               ^^^
  |
  = help: write 5, without quotes: the unit is seconds
";
        assert_eq!(drawn.replace(&path, "FILE"), expected, "{drawn}");
        assert!(draw(&report, true).contains("\u{1b}["));
    }

    #[test]
    fn a_file_without_a_place_is_drawn_alike() {
        let directory = tempfile::tempdir().unwrap();
        let report = HookConfig::default().check(directory.path().join("none.json"));
        let drawn = draw(&report, false);
        assert!(drawn.contains("\n --> "), "{drawn}");
    }

    #[test]
    fn of_a_line_without_end_a_part_is_drawn() {
        let entry = r#"{"event":"*","command":"x","timeout":"5"}"#;
        let good = r#"{"event":"*","command":"ä"}"#;
        let text = format!("{{\"hooks\":[{}{entry}]}}", format!("{good},").repeat(999));
        let (_world, report) = check(&text);
        let drawn = draw(&report, false);
        assert!(drawn.len() < 1000, "{drawn}");
        assert!(drawn.contains("\"timeout\":\"5\""), "{drawn}");
        assert_eq!(
            report.problems[0].range.unwrap().start.column,
            10 + 28 * 999 + 38
        );
    }

    #[test]
    fn what_is_hidden_in_a_line_is_shown_in_it() {
        let (_world, report) = check(
            "{\"hooks\": [{\"event\": \"a\u{200b}:b\", \"command\": \"x\", \"timeout\": \"\u{e0041}\u{fe0f}\"}]}",
        );
        let drawn = draw(&report, false);
        assert!(drawn.contains(r"a\u{200b}:b"), "{drawn}");
        // The mark is as long as what it marks, and the column is that of the file.
        let line = drawn
            .lines()
            .find(|line| line.contains(r"\u{e0041}\u{fe0f}"))
            .unwrap();
        let at = line.find(r#""\u{e0041}"#).unwrap();
        let mark = drawn.lines().find(|line| line.contains('^')).unwrap();
        assert_eq!(mark.find('^'), Some(at), "{drawn}");
        assert_eq!(
            mark.matches('^').count(),
            r#""\u{e0041}\u{fe0f}""#.len(),
            "{drawn}"
        );
        let column = report.problems[0].range.unwrap().start.column;
        assert!(drawn.contains(&format!(":1:{column}\n")), "{drawn}");
        assert!(
            !drawn.contains(['\u{200b}', '\u{e0041}', '\u{fe0f}']),
            "{drawn}"
        );
    }

    #[test]
    fn a_text_that_has_changed_is_not_shown() {
        let (directory, report) = check("{\"hooks\": [7]}");
        std::fs::write(directory.path().join("hooks.json"), "{}").unwrap();
        assert!(!draw(&report, false).contains("{}"));
        let mut texts = Texts::default();
        texts.add(&report.problems[0].path, "{\"hooks\": [8]}".to_owned());
        assert!(drawn(&report, &mut texts, false).contains("[8]"));
    }
}
