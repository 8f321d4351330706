//! Reads the hooks of a file, entry by entry, so that a bad entry does not affect the others. Each problem
//! has its place.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::content::{Item, Loaded, described, placeholder};
use super::entry::{Entry, EntryError, Unusable, to_value};
use super::file::{self, FileError};
use super::lint::{self, Finding, Host, SecretNames};
use super::outline::{self, Failure, Member, Outline};
use super::position::{Position, Positions, TextRange};
use super::report::{Excerpt, Problem, Severity};
use crate::hook::{Allowance, Hook, HookSource, LONGEST_NAME, NotCompiled, nearest_key};

/// The most bytes of a line that are shown around a problem: a whole file may be one line.
const LONGEST_EXCERPT: usize = 160;

/// The most values within unknown keys. A value takes a hundred times the memory of its text, and these
/// values are kept.
const MOST_NESTED: usize = 50_000;

/// The most parts of all patterns of a file.
const MOST_PARTS: usize = 1_200_000;

/// The most conditions of all hooks of a file.
const MOST_CONDITIONS: usize = 10_000;

/// The hooks whose conditions are compiled when a file is read. Compiling takes time.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Compiled {
    /// All hooks.
    All,
    /// Hooks that are switched on.
    Enabled,
    /// No hooks: it is known later which hooks may run.
    None,
}

/// Loads a file; none if it does not exist. Relative paths in it are resolved against `base_dir`.
pub(super) fn load(
    path: &Path,
    base_dir: Option<&Path>,
    host: Host<'_>,
    compiled: Compiled,
) -> Option<Loaded> {
    let mut loaded = Loaded::nothing(path);
    match file::read(path) {
        Ok(None) => return None,
        Ok(Some(file::Text { text, warning })) => {
            if let Some(words) = warning {
                let words = format!("the file {words}");
                loaded.report(Problem::new(Severity::Warning, path, words));
            }
            read(&text, base_dir, host, compiled, &mut loaded);
        }
        Err(error) => {
            let mut problem = Problem::new(Severity::Error, path, error.to_string());
            if let FileError::NotUtf8 { position, .. } = error {
                problem.range = Some(TextRange {
                    start: position,
                    end: position,
                });
            }
            loaded.give_up(problem);
        }
    }
    Some(loaded)
}

/// Loads a text with this name.
pub(super) fn load_text(path: &Path, text: &str, host: Host<'_>) -> Loaded {
    let mut loaded = Loaded::nothing(path);
    read(text, None, host, Compiled::All, &mut loaded);
    loaded
}

/// Reads a text, after its byte order mark if it has one, into a loaded file.
fn read(
    text: &str,
    base_dir: Option<&Path>,
    host: Host<'_>,
    compiled: Compiled,
    loaded: &mut Loaded,
) {
    let (text, mark) = file::without_mark(text);
    let mut reader = Reader {
        text,
        positions: Positions::new(text, mark),
        base_dir: base_dir.map(Arc::from),
        host,
        secret_names: SecretNames::new(),
        compiled,
        allowance: Allowance::default(),
        loaded,
    };
    if let Err(failure) = reader.try_read() {
        reader.give_up(failure);
    }
}

struct Reader<'a> {
    text: &'a str,
    positions: Positions<'a>,
    base_dir: Option<Arc<Path>>,
    host: Host<'a>,
    secret_names: SecretNames,
    compiled: Compiled,
    allowance: Allowance,
    loaded: &'a mut Loaded,
}

impl<'a> Reader<'a> {
    fn try_read(&mut self) -> Result<(), Failure> {
        let outline = Outline::of(self.text)?;
        outline.check_list()?;
        for member in &outline.others {
            let value = outline::parse(self.text, &member.value)?;
            if member.key == "disable" {
                self.disable(member, to_value(&value, 0).ok());
            } else if !outline::is_known(&member.key) {
                self.unknown_key(&member.key, member.key_range.clone(), None);
            }
        }
        let entries = outline.entries.unwrap_or_default();
        self.loaded.reserve(entries.len());
        let mut nested = 0;
        let mut parts = 0;
        let mut conditions = 0;
        for (index, range) in entries.into_iter().enumerate() {
            let entry = Entry::parse(self.text, range)?;
            nested += entry.nested();
            if nested > MOST_NESTED {
                return Err((FileError::TooManyNested, entry.first()));
            }
            conditions += entry.conditions().len();
            if conditions > MOST_CONDITIONS {
                return Err((FileError::TooManyConditions, entry.first()));
            }
            parts += self.entry(index, &entry)?;
            if parts > MOST_PARTS {
                return Err((FileError::PatternsTooLarge, entry.first()));
            }
        }
        Ok(())
    }

    fn give_up(&mut self, (error, range): Failure) {
        let mut problem = self.problem(Severity::Error, &range, error.to_string());
        problem.help = self.help_for(&error, range.start);
        if let FileError::OtherKey(key) = &error {
            problem.suggestion = list_meant_by(key);
        }
        self.loaded.give_up(problem);
    }

    /// Reads `disable`. If it cannot be read, hooks stay on.
    fn disable(&mut self, member: &Member<'_>, value: Option<Value>) {
        let names = value.map(serde_json::from_value::<Vec<String>>);
        let (severity, message) = match names {
            _ if self.base_dir.is_some() => (
                Severity::Warning,
                "a project's file cannot disable hooks: only the user's file can",
            ),
            Some(Ok(names)) => return self.loaded.add_disabled(names),
            _ => (Severity::Error, "expected a list of names of hooks"),
        };
        if self.loaded.shows_more() {
            let mut problem = self.problem(severity, &member.value, message);
            problem.key = Some("disable".to_owned());
            self.loaded.report(problem);
        }
    }

    /// Reads an entry, and returns the number of parts of its pattern.
    fn entry(&mut self, index: usize, entry: &Entry<'_>) -> Result<usize, Failure> {
        let start = self.positions.position(entry.first().start);
        let mut read = entry.hook();
        if let Ok(hook) = &read {
            match self.compile_when(hook) {
                Ok(()) => {}
                Err(NotCompiled::Invalid(error)) => read = Err(entry.unusable(error)),
                Err(NotCompiled::TooLarge) => {
                    return Err((FileError::ConditionsTooLarge, entry.first()));
                }
            }
        }
        let parts = match read {
            Ok(hook) => {
                let parts = hook.pattern().parts();
                self.usable(index, start, hook, entry);
                parts
            }
            Err(unusable) => {
                self.unusable(index, start, unusable, entry);
                0
            }
        };
        for (key, range) in entry.unknown_keys() {
            self.unknown_key(key, range, Some(index));
        }
        Ok(parts)
    }

    fn compile_when(&mut self, hook: &Hook) -> Result<(), NotCompiled> {
        match self.compiled {
            Compiled::All => hook.compile_when(&mut self.allowance),
            Compiled::Enabled if hook.enabled() => hook.compile_when(&mut self.allowance),
            Compiled::Enabled | Compiled::None => Ok(()),
        }
    }

    fn usable(&mut self, index: usize, start: Position, hook: Hook, entry: &Entry<'_>) {
        let mut hook = hook.with_source(self.source(index, start));
        if let Some(base) = &self.base_dir {
            hook = hook.with_base_dir(Arc::clone(base));
        }
        if self.loaded.shows_all() {
            for finding in lint::lint(&hook, |key| entry.has(key), self.host) {
                self.finding(index, entry, finding);
            }
            if let Some(finding) = self.secret_names.lint(&hook) {
                self.finding(index, entry, finding);
            }
        }
        self.loaded.add(Item {
            hook: Arc::new(hook),
            is_placeholder: false,
            start: Some(start),
        });
    }

    fn finding(&mut self, index: usize, entry: &Entry<'_>, finding: Finding) {
        if !self.loaded.shows_more() {
            return;
        }
        let range = entry.range_of(&finding.key);
        let mut problem = self.problem(Severity::Warning, &range, finding.message);
        problem.place_in(Some(index), &finding.key);
        problem.suggestion = finding.suggestion;
        problem.help = finding.help;
        self.loaded.report(problem);
    }

    fn unusable(&mut self, index: usize, start: Position, unusable: Unusable, entry: &Entry<'_>) {
        let mut reason = None;
        for error in unusable.errors {
            if self.loaded.shows_more() {
                let problem = self.problem_of(index, error, entry).made_printable();
                reason.get_or_insert_with(|| problem.reason());
                self.loaded.report(problem);
            }
        }
        let source = self.source(index, start);
        let any = match reason {
            Some(reason) => described(&reason, source),
            None => self.loaded.placeholder_not_shown(source),
        };
        if let Some(hook) = placeholder(&unusable.value, any)
            && !self.loaded.is_covered(&hook)
        {
            self.loaded.add(Item {
                hook: Arc::new(hook),
                is_placeholder: true,
                start: Some(start),
            });
        }
    }

    fn source(&self, index: usize, start: Position) -> HookSource {
        HookSource::new(self.loaded.shared_path(), Some(index), Some(start.line))
    }

    fn unknown_key(&mut self, key: &str, range: Range<usize>, index: Option<usize>) {
        if outline::is_note(key) || !self.loaded.shows_more() {
            return;
        }
        let message = format!("unknown key `{key}`");
        let mut problem = self.problem(Severity::Warning, &range, message);
        problem.place_in(index, key);
        problem.help = index.and_then(|_| help_for_key(key)).map(str::to_owned);
        problem.suggestion = match index {
            _ if problem.help.is_some() => None,
            Some(_) => nearest_key(key).map(str::to_owned),
            None => list_meant_by(key),
        };
        self.loaded.report(problem);
    }

    fn problem_of(&self, index: usize, found: EntryError, entry: &Entry<'_>) -> Problem {
        let error = found.error;
        let mut problem = self.problem(Severity::Error, &found.range, error.message);
        problem.place_in(Some(index), &error.key);
        problem.expected = error.expected;
        problem.found = error.found;
        problem.suggestion = error.suggestion;
        if !entry.has(&error.key) {
            let mut unknown = entry.unknown_keys();
            let typo = unknown.find(|(key, _)| nearest_key(key) == Some(error.key.as_str()));
            problem.help = typo.map(|(key, _)| format!("`{key}` is probably a typo of it"));
        }
        problem
    }

    fn problem(
        &self,
        severity: Severity,
        range: &Range<usize>,
        message: impl Into<String>,
    ) -> Problem {
        let mut problem = Problem::new(severity, self.loaded.path(), message);
        problem.range = Some(self.positions.range(range));
        problem.excerpt = Some(excerpt(self.text, range));
        problem
    }

    /// Explains frequent mistakes in JSON.
    fn help_for(&self, error: &FileError, at: usize) -> Option<String> {
        let found = self.text[at..].chars().next();
        let help = match found {
            Some('{') if matches!(error, FileError::NoList) => {
                "write it as in [{\"event\": \"tool:pre_execute:bash\", \"command\": \"./guard.sh\"}]; \
                 hooks of another tool stay in its own file, such as `.claude/settings.json`"
            }
            _ if !matches!(error, FileError::NotJson(_)) => return None,
            None if self.text.trim().is_empty() => {
                "the file is empty; a file without hooks is {\"hooks\": []}"
            }
            Some('#') => "a comment begins with `//`",
            Some(found) if found == '\'' || found.is_alphabetic() => "a string needs double quotes",
            _ => return None,
        };
        Some(help.to_owned())
    }
}

/// Explains keys that entries of other tools have.
fn help_for_key(key: &str) -> Option<&'static str> {
    match key {
        "matcher" => Some("name the tool in `event`, as in `tool:pre_execute:bash`"),
        "hooks" => Some("write each hook as its own entry, with `event` and `command`"),
        "disabled" => Some("write \"enabled\": false"),
        _ => None,
    }
}

/// Returns the name of the list if this key is almost the same.
fn list_meant_by(key: &str) -> Option<String> {
    let is_near =
        key.len() <= LONGEST_NAME && strsim::jaro_winkler(&key.to_lowercase(), "hooks") > 0.8;
    is_near.then(|| "hooks".to_owned())
}

/// Returns the line in which a range begins, or a part of the line.
pub(super) fn excerpt(text: &str, range: &Range<usize>) -> Excerpt {
    let before = floor(text, range.start.saturating_sub(LONGEST_EXCERPT));
    let behind = floor(text, (range.start + LONGEST_EXCERPT).min(text.len()));
    let line_start = match text[before..range.start].rfind('\n') {
        Some(at) => Some(before + at + 1),
        None => (before == 0).then_some(0),
    };
    let line_end = match text[range.start..behind].find('\n') {
        Some(at) => Some(range.start + at),
        None => (behind == text.len()).then_some(behind),
    };
    let from = match (line_start, line_end) {
        (Some(start), Some(end)) if end - start <= LONGEST_EXCERPT => start,
        _ => {
            let near = floor(text, range.start.saturating_sub(LONGEST_EXCERPT / 4));
            near.max(line_start.unwrap_or(0))
        }
    };
    let to = floor(
        text,
        (from + LONGEST_EXCERPT).min(line_end.unwrap_or(text.len())),
    );
    let line = text[from..to].trim_end_matches('\r');
    let start = (range.start - from).min(line.len());
    Excerpt {
        text: line.to_owned(),
        start,
        end: floor(line, (range.end - from).clamp(start, line.len())),
        begins_the_line: line_start == Some(from),
    }
}

/// Returns the end of the last whole character before this index.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
