//! Formats problems for people, as the Rust compiler does.

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

use super::report::{Excerpt, LoadReport, Problem, Severity};
use crate::printable::printable;

impl LoadReport {
    /// Formats all problems as the Rust compiler does, with or without colours for a terminal. Empty if there
    /// are none.
    #[must_use]
    pub fn render(&self, colours: bool) -> String {
        let drawn = self.problems.iter().map(|problem| problem.render(colours));
        drawn.collect::<Vec<_>>().join("\n")
    }
}

impl Problem {
    /// Formats the problem as the Rust compiler does, with or without colours for a terminal.
    #[must_use]
    pub fn render(&self, colours: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = match &self.key {
            Some(key) => format!("{key}: {}", self.message),
            None => self.message.clone(),
        };
        let path = printable(&self.path.to_string_lossy());
        let mut place = Origin::path(path.clone());
        let start = self.range.map(|range| range.start);
        if let Some(start) = start {
            place = place.line(start.line).char_column(start.column);
        }
        let group = level.primary_title(title);
        let excerpt = self.excerpt.as_ref().map(shown);
        let mut group = match (&excerpt, start) {
            (Some(excerpt), Some(start)) => {
                let expected = self.expected.as_ref();
                let label = expected.map(|expected| format!("expected {expected}"));
                let mark = AnnotationKind::Primary.span(excerpt.start..excerpt.end);
                let snippet = Snippet::source(&excerpt.text)
                    .line_start(start.line)
                    .annotation(mark.label(label));
                if excerpt.begins_the_line {
                    group.element(snippet.path(path))
                } else {
                    group.element(place).element(snippet)
                }
            }
            _ => group.element(place),
        };
        if let Some(name) = &self.suggestion {
            group = group.element(Level::HELP.message(format!("did you mean `{name}`?")));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.clone()));
        }
        let renderer = match colours {
            true => Renderer::styled(),
            false => Renderer::plain(),
        };
        renderer.render(&[group]) + "\n"
    }
}

/// Returns the excerpt with hidden characters made visible. Its columns then differ from those of the line.
fn shown(excerpt: &Excerpt) -> Excerpt {
    let (before, rest) = excerpt.text.split_at(excerpt.start);
    let (marked, after) = rest.split_at(excerpt.end - excerpt.start);
    let before = printable(before);
    let marked = printable(marked);
    let text = format!("{before}{marked}{}", printable(after));
    Excerpt {
        start: before.len(),
        end: before.len() + marked.len(),
        begins_the_line: excerpt.begins_the_line && text == excerpt.text,
        text,
    }
}
