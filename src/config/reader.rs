//! Reads the hooks of a file, entry by entry, so that a bad entry does not affect the others. Each problem
//! has its place.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::content::{Item, Loaded, described, placeholder};
use super::entry::{Entry, EntryError, Unusable, to_value};
use super::file::{self, FileError};
use super::lint::{self, Finding, Host};
use super::outline::{self, Failure, Member, Outline};
use super::position::{Positions, TextRange};
use super::report::{Excerpt, Problem, Severity};
use super::secrets::SecretNames;
use crate::events::nearest;
use crate::hook::{Allowance, Hook, HookSource, LIKE_A_KEY, NotCompiled, nearest_key};
use crate::printable::shortened;

/// The most bytes of a line that are shown around a problem: a whole file may be one line.
const LONGEST_EXCERPT: usize = 160;

/// The most values in all entries. A value takes a hundred times the memory of its text.
const MOST_VALUES: usize = 50_000;

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
    let (mut loaded, text) = open(path)?;
    match text {
        Ok(text) => read(&text, base_dir, host, compiled, &mut loaded),
        Err(problem) => loaded.give_up(problem),
    }
    Some(loaded)
}

/// Opens a file of any tool. Returns its text, or why it cannot be read; none if it does not exist.
pub(super) fn open(path: &Path) -> Option<(Loaded, Result<String, Problem>)> {
    let mut loaded = Loaded::nothing(path);
    let error = match file::read(path) {
        Ok(None) => return None,
        Ok(Some(file::Text { text, warning })) => {
            if let Some(words) = warning {
                let words = format!("the file {words}");
                loaded.report(Problem::new(Severity::Warning, path, words));
            }
            return Some((loaded, Ok(text)));
        }
        Err(error) => error,
    };
    let mut problem = Problem::new(Severity::Error, path, error.to_string());
    if let FileError::NotUtf8 { position, .. } = error {
        problem.range = Some(TextRange {
            start: position,
            end: position,
        });
    }
    Some((loaded, Err(problem)))
}

/// Loads a text with this name.
pub(super) fn load_text(path: &Path, text: &str, host: Host<'_>) -> Loaded {
    let mut loaded = Loaded::nothing(path);
    read(text, None, host, Compiled::All, &mut loaded);
    loaded
}

/// Reads a text into a loaded file.
fn read(
    text: &str,
    base_dir: Option<&Path>,
    host: Host<'_>,
    compiled: Compiled,
    loaded: &mut Loaded,
) {
    let mut reader = Reader {
        file: FileReader::new(text, loaded),
        base_dir: base_dir.map(Arc::from),
        host,
        secret_names: SecretNames::new(),
        compiled,
    };
    if let Err(failure) = reader.try_read() {
        reader.give_up(failure);
    }
}

/// Converts the parts of a text, of any tool, to hooks and problems with places.
pub(crate) struct FileReader<'a> {
    pub(crate) text: &'a str,
    positions: Positions<'a>,
    pub(crate) allowance: Allowance,
    pub(crate) loaded: &'a mut Loaded,
}

impl<'a> FileReader<'a> {
    /// Begins behind the text's byte order mark if it has one.
    pub(crate) fn new(text: &'a str, loaded: &'a mut Loaded) -> Self {
        let (text, mark) = file::without_mark(text);
        Self {
            text,
            positions: Positions::new(text, mark),
            allowance: Allowance::default(),
            loaded,
        }
    }

    pub(crate) fn source(&self, index: Option<usize>, at: usize) -> HookSource {
        let line = self.positions.position(at).line;
        HookSource::new(Arc::clone(&self.loaded.path), index, Some(line))
    }

    pub(crate) fn add(&mut self, hook: Hook, is_placeholder: bool, at: usize) {
        self.loaded.items.push(Item {
            hook: Arc::new(hook),
            is_placeholder,
            start: Some(self.positions.position(at)),
        });
    }

    /// Reports a problem, and returns it as the reason of a placeholder hook.
    pub(crate) fn report(&mut self, index: Option<usize>, finding: Finding) -> String {
        let mut problem = self.problem(finding.severity, &finding.range, finding.message);
        problem.place_in(index, &finding.key);
        problem.suggestion = finding.suggestion;
        problem.help = finding.help;
        let problem = problem.made_printable();
        let reason = problem.reason();
        self.loaded.report(problem);
        reason
    }

    pub(crate) fn problem(
        &self,
        severity: Severity,
        range: &Range<usize>,
        message: impl Into<String>,
    ) -> Problem {
        let mut problem = Problem::new(severity, &self.loaded.path, message);
        problem.range = Some(self.positions.range(range));
        problem.excerpt = Some(excerpt(self.text, range));
        problem
    }
}

/// Reads a hooks.json.
struct Reader<'a> {
    file: FileReader<'a>,
    base_dir: Option<Arc<Path>>,
    host: Host<'a>,
    secret_names: SecretNames,
    compiled: Compiled,
}

impl Reader<'_> {
    fn try_read(&mut self) -> Result<(), Failure> {
        let outline = Outline::of(self.file.text)?;
        outline.check_list()?;
        for member in &outline.others {
            let value = outline::parse(self.file.text, &member.value)?;
            if member.key == "disable" {
                self.disable(member, to_value(&value, 0).ok());
            } else if !outline::is_known(&member.key) {
                self.unknown_key(&member.key, member.key_range.clone(), None);
            }
        }
        let entries = outline.entries.unwrap_or_default();
        self.file.loaded.items.reserve_exact(entries.len());
        let mut values = 0;
        for (index, range) in entries.into_iter().enumerate() {
            let entry = Entry::parse(self.file.text, range)?;
            values += entry.values();
            if values > MOST_VALUES {
                return Err((FileError::TooManyValues, entry.first()));
            }
            self.entry(index, &entry)?;
        }
        Ok(())
    }

    fn give_up(&mut self, (error, range): Failure) {
        let mut problem = self
            .file
            .problem(Severity::Error, &range, error.to_string());
        problem.help = self.help_for(&error, range.start);
        if let FileError::OtherKey(key) = &error {
            problem.suggestion = list_meant_by(key);
        }
        self.file.loaded.give_up(problem);
    }

    /// Reads `disable`. If it cannot be read, hooks stay on.
    fn disable(&mut self, member: &Member<'_>, value: Option<Value>) {
        let names = value.map(serde_json::from_value::<Vec<String>>);
        let (severity, message) = match names {
            _ if self.base_dir.is_some() => (
                Severity::Warning,
                "a project's file cannot disable hooks: only the user's file can",
            ),
            Some(Ok(names)) => return self.file.loaded.disable.extend(names),
            _ => (Severity::Error, "expected a list of names of hooks"),
        };
        let finding = Finding::new("disable", message).at(severity, &member.value);
        self.file.report(None, finding);
    }

    fn entry(&mut self, index: usize, entry: &Entry<'_>) -> Result<(), Failure> {
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
        match read {
            Ok(hook) => self.usable(index, hook, entry),
            Err(unusable) => self.unusable(index, unusable, entry),
        }
        for (key, range) in entry.unknown_keys() {
            self.unknown_key(key, range, Some(index));
        }
        Ok(())
    }

    fn compile_when(&mut self, hook: &Hook) -> Result<(), NotCompiled> {
        match self.compiled {
            Compiled::All => hook.compile_when(&mut self.file.allowance),
            Compiled::Enabled if hook.enabled() => hook.compile_when(&mut self.file.allowance),
            Compiled::Enabled | Compiled::None => Ok(()),
        }
    }

    fn usable(&mut self, index: usize, hook: Hook, entry: &Entry<'_>) {
        let start = entry.first().start;
        let mut hook = hook.with_source(self.file.source(Some(index), start));
        if let Some(base) = &self.base_dir {
            hook = hook.with_base_dir(Arc::clone(base));
        }
        if self.file.loaded.shows_all() {
            for finding in lint::lint(&hook, self.host) {
                self.finding(index, entry, finding);
            }
            if let Some(finding) = self.secret_names.lint(&hook) {
                self.finding(index, entry, finding);
            }
        }
        self.file.add(hook, false, start);
    }

    fn finding(&mut self, index: usize, entry: &Entry<'_>, mut finding: Finding) {
        finding.range = entry.range_of(&finding.key);
        self.file.report(Some(index), finding);
    }

    fn unusable(&mut self, index: usize, unusable: Unusable, entry: &Entry<'_>) {
        let mut reason = None;
        for error in unusable.errors {
            let problem = self.problem_of(index, error, entry).made_printable();
            reason.get_or_insert_with(|| problem.reason());
            self.file.loaded.report(problem);
        }
        let start = entry.first().start;
        let source = self.file.source(Some(index), start);
        let any = described(&reason.unwrap_or_default(), source);
        if let Some(hook) = placeholder(&unusable.value, any) {
            self.file.add(hook, true, start);
        }
    }

    fn unknown_key(&mut self, key: &str, range: Range<usize>, index: Option<usize>) {
        if outline::is_note(key) || !self.file.loaded.shows_more() {
            return;
        }
        let mut finding = Finding::new(key, format!("unknown key `{}`", shortened(key)));
        finding.range = range;
        finding.help = index.and_then(|_| help_for_key(key)).map(str::to_owned);
        finding.suggestion = match index {
            _ if finding.help.is_some() => None,
            Some(_) => nearest_key(key).map(str::to_owned),
            None => list_meant_by(key),
        };
        self.file.report(index, finding);
    }

    fn problem_of(&self, index: usize, found: EntryError, entry: &Entry<'_>) -> Problem {
        let error = found.error;
        let mut problem = self
            .file
            .problem(Severity::Error, &found.range, error.message);
        problem.place_in(Some(index), &error.key);
        problem.expected = error.expected;
        problem.found = error.found;
        problem.suggestion = error.suggestion;
        if !entry.has(&error.key) {
            let mut unknown = entry.unknown_keys();
            let typo = unknown.find(|(key, _)| nearest_key(key) == Some(error.key.as_str()));
            problem.help =
                typo.map(|(key, _)| format!("`{}` is probably a typo of it", shortened(key)));
        }
        problem
    }

    /// Explains frequent mistakes in JSON.
    fn help_for(&self, error: &FileError, at: usize) -> Option<String> {
        let found = self.file.text[at..].chars().next();
        let help = match found {
            Some('{') if matches!(error, FileError::NoList) => {
                "write it as in [{\"event\": \"tool:pre_execute:bash\", \"command\": \"./guard.sh\"}]; \
                 hooks of another tool stay in its own file, such as `.claude/settings.json`"
            }
            _ if !matches!(error, FileError::NotJson(_)) => return None,
            None if self.file.text.trim().is_empty() => {
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
    nearest(key, ["hooks"].into_iter(), LIKE_A_KEY).map(str::to_owned)
}

/// Returns the line in which a range begins, or a part of the line.
fn excerpt(text: &str, range: &Range<usize>) -> Excerpt {
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
