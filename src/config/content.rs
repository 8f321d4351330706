//! A hooks file taken apart, entry by entry, so that a bad one does not cost the others, and what is
//! wrong with each is told with its place.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::file::{self, FileError};
use super::lint::{self, Finding};
use super::place::{Lines, Located, Member};
use super::report::{Excerpt, Problem, Severity};
use crate::hook::{Hook, HookError, HookSource, nearest_key};
use crate::pattern::EventPattern;
use crate::profile::AppProfile;

/// So many problems of a file are told; somebody who sees them has enough to do.
const MOST_PROBLEMS: usize = 1000;

/// So much of a line is shown around a problem, in bytes: a whole file may be one line.
const LONGEST_EXCERPT: usize = 160;

/// A file that exists, as far as it can be used.
pub(super) struct Loaded {
    path: Arc<Path>,
    entries: Vec<Entry>,
    problems: Vec<Problem>,
    untold: usize,
    unreadable: bool,
    /// The names of hooks, of any file, that are not to run: the user's to say.
    disable: Vec<String>,
}

enum Entry {
    Usable(Arc<Hook>),
    StandIn(Arc<Hook>),
}

/// Loads a file; None where there is none. Relative paths in it count from `base_dir`.
pub(super) fn load(path: &Path, base_dir: Option<&Path>, profile: &AppProfile) -> Option<Loaded> {
    let mut loaded = Loaded::nothing(path);
    match file::read(path) {
        Ok(None) => return None,
        Ok(Some(file::Text { text, warning })) => {
            if let Some(words) = warning {
                loaded.tell(Problem::new(Severity::Warning, path, words));
            }
            loaded.read(&text, base_dir, profile);
        }
        Err(error) => {
            let mut problem = Problem::new(Severity::Error, path, error.to_string());
            if let FileError::NotUtf8 { place, .. } = error {
                (problem.line, problem.column) = (Some(place.line), Some(place.column));
            }
            loaded.give_up(problem);
        }
    }
    loaded.tell_how_many_more();
    Some(loaded)
}

/// Loads a text that goes by this name.
pub(super) fn load_text(path: &Path, text: &str, profile: &AppProfile) -> Loaded {
    let mut loaded = Loaded::nothing(path);
    loaded.read(text, None, profile);
    loaded.tell_how_many_more();
    loaded
}

impl Loaded {
    fn nothing(path: &Path) -> Self {
        Self {
            path: path.into(),
            entries: Vec::new(),
            problems: Vec::new(),
            untold: 0,
            unreadable: false,
            disable: Vec::new(),
        }
    }

    fn read(&mut self, text: &str, base_dir: Option<&Path>, profile: &AppProfile) {
        let reader = Reader {
            lines: OnceCell::new(),
            text,
            base_dir,
            profile,
            loaded: self,
        };
        reader.read();
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter()
    }

    pub(super) fn disable(&self) -> &[String] {
        &self.disable
    }

    /// Of an entry, by its place in the list and its line; of the file as a whole without.
    fn source(&self, entry: Option<(usize, usize)>) -> HookSource {
        let (index, line) = entry.unzip();
        HookSource::new(Arc::clone(&self.path), index, line)
    }

    pub(super) fn hooks(&self) -> impl Iterator<Item = &Hook> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Usable(hook) => Some(&**hook),
            Entry::StandIn(_) => None,
        })
    }

    /// Has each hook that can be used go through this.
    pub(super) fn change_hooks(&mut self, mut change: impl FnMut(Hook) -> Hook) {
        for entry in &mut self.entries {
            if let Entry::Usable(hook) = entry {
                *hook = Arc::new(change(Hook::clone(hook)));
            }
        }
    }

    /// What cannot be used stands for nothing.
    pub(super) fn drop_stand_ins(&mut self) {
        self.unreadable = false;
        self.entries
            .retain(|entry| matches!(entry, Entry::Usable(_)));
    }

    /// Of the hook that has this source.
    pub(super) fn tell_of(&mut self, severity: Severity, hook: &Hook, words: &str) {
        let source = hook.source();
        let index = source.and_then(|source| source.index);
        let mut problem = Problem::new(severity, &self.path, words);
        problem.line = source.and_then(|source| source.line);
        problem.index = index;
        problem.key = index.map(|index| format!("hooks[{index}]"));
        self.tell(problem);
    }

    /// How many of its hooks can be used.
    pub(super) fn usable(&self) -> usize {
        let usable = |entry: &&Entry| matches!(entry, Entry::Usable(_));
        self.entries.iter().filter(usable).count()
    }

    /// Whether something in it cannot be used as it is written.
    pub(super) fn is_broken(&self) -> bool {
        let is_stand_in = |entry: &Entry| matches!(entry, Entry::StandIn(_));
        self.unreadable || self.entries.iter().any(is_stand_in)
    }

    /// Whether nothing of it can be used.
    pub(super) fn is_unreadable(&self) -> bool {
        self.unreadable
    }

    pub(super) fn into_hooks(self, stand_ins: bool) -> impl Iterator<Item = Arc<Hook>> {
        self.entries
            .into_iter()
            .filter_map(move |entry| match entry {
                Entry::Usable(hook) => Some(hook),
                Entry::StandIn(hook) => stand_ins.then_some(hook),
            })
    }

    /// Nothing of the file can be used.
    fn give_up(&mut self, problem: Problem) {
        self.unreadable = true;
        self.entries.clear();
        let problem = problem.made_printable();
        self.stand_in(&Value::Null, &problem, self.source(None));
        self.tell(problem);
    }

    pub(super) fn tell(&mut self, problem: Problem) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem.made_printable());
        } else {
            self.untold += 1;
        }
    }

    fn tell_how_many_more(&mut self) {
        if self.untold > 0 {
            let words = format!("{} more problems, not shown", self.untold);
            // What is not shown may be errors.
            self.problems
                .push(Problem::new(Severity::Error, &self.path, words));
        }
    }

    /// A hook that always fails, in the place of an entry that cannot be used; for what it says
    /// legibly, it is taken at its word. None for an entry that is switched off.
    fn stand_in(&mut self, entry: &Value, problem: &Problem, source: HookSource) {
        if entry.get("enabled") == Some(&Value::Bool(false)) {
            return;
        }
        let given = entry.get("event").and_then(Value::as_str);
        let pattern = given.and_then(|text| EventPattern::new(text).ok());
        let Some(pattern) = pattern.or_else(|| EventPattern::new("*").ok()) else {
            return;
        };
        let policy = crate::hook::failure_policy_of(entry);
        let hook = Hook::stand_in(pattern, &problem.reason(), source).with_on_failure(policy);
        let name = entry.get("name").and_then(Value::as_str);
        let hook = name.into_iter().fold(hook, Hook::with_name);
        self.entries.push(Entry::StandIn(Arc::new(hook)));
    }
}

/// A text on its way to be hooks.
struct Reader<'a> {
    text: &'a str,
    lines: OnceCell<Lines<'a>>,
    base_dir: Option<&'a Path>,
    profile: &'a AppProfile,
    loaded: &'a mut Loaded,
}

impl<'a> Reader<'a> {
    fn read(mut self) {
        if let Err((error, span)) = self.try_read() {
            let mut problem = self.problem_at(Severity::Error, span, error.to_string());
            problem.help = self.help_for(&error);
            problem.suggestion = match &error {
                FileError::OtherKey(key) => list_meant_by(key),
                _ => None,
            };
            self.loaded.give_up(problem);
        }
    }

    fn try_read(&mut self) -> Result<(), (FileError, Range<usize>)> {
        let whole = Located::whole(self.text).map_err(|error| self.not_json(error))?;
        let beginning = first_of(whole);
        let members = whole
            .members()
            .ok_or((FileError::NoObject, beginning.clone()))?;
        let (hooks, others): (Vec<_>, Vec<_>) =
            members.iter().partition(|member| member.key == "hooks");
        let (disable, others): (Vec<_>, Vec<_>) = others
            .into_iter()
            .partition(|member| member.key == "disable");
        let unknown: Vec<_> = others
            .into_iter()
            .filter(|member| member.key != "$schema" && !is_note(&member.key))
            .collect();
        disable.into_iter().for_each(|member| self.disable(member));
        match (&hooks[..], &unknown[..]) {
            // A file without `hooks` and with another key is one whose `hooks` was mistyped, as
            // far as anybody can tell: it must not pass for one that has none.
            ([], [first, ..]) => {
                let key = first.key.to_string();
                return Err((FileError::OtherKey(key), first.key_span.clone()));
            }
            ([_, second, ..], _) => return Err((FileError::TwoLists, second.key_span.clone())),
            _ => {}
        }
        for member in unknown {
            let meant = list_meant_by(&member.key);
            self.unknown_key(member, None, meant.as_deref());
        }
        for member in hooks {
            let not_a_list = || (FileError::NoList, member.value.span());
            let entries = member.value.items().ok_or_else(not_a_list)?;
            self.loaded.entries.reserve(entries.len());
            for (index, entry) in entries.enumerate() {
                self.entry(index, entry);
            }
        }
        Ok(())
    }

    /// What cannot be read here leaves hooks on.
    fn disable(&mut self, member: &Member<'a>) {
        let names = serde_json::from_str::<Vec<String>>(member.value.text());
        let (severity, message) = match names {
            _ if self.base_dir.is_some() => (
                Severity::Warning,
                "a project's file cannot disable hooks, the user's can",
            ),
            Err(_) => (Severity::Error, "expected a list of names of hooks"),
            Ok(names) => return self.loaded.disable.extend(names),
        };
        let span = member.value.span();
        let problem = self.problem_in(severity, span, None, "disable", message.to_owned());
        self.loaded.tell(problem);
    }

    fn entry(&mut self, index: usize, entry: Located<'a>) {
        let value: Value = match serde_json::from_str(entry.text()) {
            Ok(value) => value,
            Err(error) => {
                let (error, span) = self.not_json_in(error, entry);
                let problem =
                    self.problem_in(Severity::Error, span, Some(index), "", error.to_string());
                return self.unusable(vec![problem], index, entry, &Value::Null);
            }
        };
        let members = entry.members().unwrap_or_default();
        let mut errors = self.keys_that_come_twice(index, &members, "");
        if let Some(env) = members.iter().find(|member| member.key == "env") {
            let variables = env.value.members().unwrap_or_default();
            errors.extend(self.keys_that_come_twice(index, &variables, "env."));
        }
        match Hook::read(&value) {
            Ok(hook) if errors.is_empty() => self.usable(index, hook, entry, &members),
            Ok(_) => self.unusable(errors, index, entry, &said_once(value, &members)),
            Err(found) => {
                let value = said_once(value, &members);
                errors.extend(
                    found
                        .iter()
                        .map(|error| self.hook_error(index, entry, error)),
                );
                self.unusable(errors, index, entry, &value);
            }
        }
    }

    fn usable(&mut self, index: usize, hook: Hook, entry: Located<'a>, members: &[Member<'a>]) {
        for key in hook.unknown_keys() {
            if let Some(member) = members.iter().find(|member| member.key == key) {
                self.unknown_key(member, Some(index), nearest_key(key));
            }
        }
        let hook = hook.with_source(self.source(index, entry));
        let hook = self.base_dir.into_iter().fold(hook, Hook::with_base_dir);
        for finding in lint::lint(&hook, self.profile) {
            let Finding {
                key,
                message,
                suggestion,
                help,
            } = finding;
            let span = span_of(entry, key);
            let mut problem = self.problem_in(Severity::Warning, span, Some(index), key, message);
            (problem.suggestion, problem.help) = (suggestion, help);
            self.loaded.tell(problem);
        }
        self.loaded.entries.push(Entry::Usable(Arc::new(hook)));
    }

    fn source(&self, index: usize, entry: Located<'_>) -> HookSource {
        let line = self.lines().number(entry.span().start);
        self.loaded.source(Some((index, line)))
    }

    fn unusable(
        &mut self,
        problems: Vec<Problem>,
        index: usize,
        entry: Located<'a>,
        value: &Value,
    ) {
        let problems: Vec<_> = problems.into_iter().map(Problem::made_printable).collect();
        if let Some(first) = problems.first() {
            let source = self.source(index, entry);
            self.loaded.stand_in(value, first, source);
        }
        problems
            .into_iter()
            .for_each(|problem| self.loaded.tell(problem));
        // What is missing is often there, by another name.
        let members = entry.members().unwrap_or_default();
        let others = members.iter().filter(|it| !crate::hook::is_key(&it.key));
        for member in others {
            self.unknown_key(member, Some(index), nearest_key(&member.key));
        }
    }

    /// Of two values, who reads the file may mean the one and this program take the other. Notes
    /// that are no keys of ours may come as often as they like.
    fn keys_that_come_twice(
        &self,
        index: usize,
        members: &[Member<'a>],
        prefix: &str,
    ) -> Vec<Problem> {
        let mut seen = HashSet::new();
        let twice = members.iter().filter(|member| !seen.insert(&*member.key));
        let ours = twice.filter(|member| !prefix.is_empty() || crate::hook::is_key(&member.key));
        ours.map(|member| {
            let key = format!("{prefix}{}", member.key);
            let (span, words) = (member.key_span.clone(), "the key comes twice");
            self.problem_in(Severity::Error, span, Some(index), &key, words.to_owned())
        })
        .collect()
    }

    fn unknown_key(&mut self, member: &Member<'a>, index: Option<usize>, nearest: Option<&str>) {
        if is_note(&member.key) {
            return;
        }
        let message = format!("unknown key `{}`", member.key);
        let span = member.key_span.clone();
        let mut problem = self.problem_in(Severity::Warning, span, index, &member.key, message);
        problem.suggestion = nearest.map(str::to_owned);
        self.loaded.tell(problem);
    }

    fn hook_error(&self, index: usize, entry: Located<'a>, error: &HookError) -> Problem {
        let is_program = entry
            .members()
            .is_some_and(|all| all.iter().any(|it| it.key == "args"));
        let (key, message) = match error {
            HookError::Key(error) => (&*error.key, error.message.clone()),
            HookError::Pattern(_) => ("event", error.to_string()),
            HookError::EmptyCommand if is_program => ("args", error.to_string()),
            HookError::EmptyCommand => ("command", error.to_string()),
            HookError::NotAnObject { .. } => ("", error.to_string()),
        };
        let span = span_of(entry, key);
        let mut problem = self.problem_in(Severity::Error, span, Some(index), key, message);
        if let HookError::Key(error) = error {
            problem.expected.clone_from(&error.expected);
            problem.found.clone_from(&error.found);
            problem.suggestion.clone_from(&error.suggestion);
        }
        problem
    }

    /// A problem of an entry, or of a key in it.
    fn problem_in(
        &self,
        severity: Severity,
        span: Range<usize>,
        index: Option<usize>,
        key: &str,
        message: String,
    ) -> Problem {
        let mut problem = self.problem_at(severity, span, message);
        problem.index = index;
        let separator = if key.is_empty() { "" } else { "." };
        problem.key = Some(match index {
            Some(index) => format!("hooks[{index}]{separator}{key}"),
            None => key.to_owned(),
        });
        problem
    }

    fn problem_at(&self, severity: Severity, span: Range<usize>, message: String) -> Problem {
        let place = self.lines().place(span.start);
        let mut problem = Problem::new(severity, &self.loaded.path, message);
        (problem.line, problem.column) = (Some(place.line), Some(place.column));
        problem.excerpt = Some(self.excerpt(span));
        problem
    }

    fn lines(&self) -> &Lines<'a> {
        self.lines.get_or_init(|| Lines::of(self.text))
    }

    fn excerpt(&self, span: Range<usize>) -> Excerpt {
        let (line, start) = self.lines().line(span.start);
        let at = (span.start - start).min(line.len());
        let end = (span.end - start).clamp(at, line.len());
        let from = match line.len() {
            0..=LONGEST_EXCERPT => 0,
            _ => floor(line, at.saturating_sub(LONGEST_EXCERPT / 4)),
        };
        let to = floor(line, (from + LONGEST_EXCERPT).min(line.len()));
        Excerpt {
            text: line[from..to].to_owned(),
            start: at - from,
            end: floor(line, end.min(to)) - from,
            begins_the_line: from == 0,
        }
    }

    fn not_json(&self, error: serde_json::Error) -> (FileError, Range<usize>) {
        let offset = self.lines().offset(error.line(), error.column());
        (FileError::NotJson(error), offset..offset)
    }

    /// An entry whose text is JSON only at first sight: half of a surrogate pair, say.
    fn not_json_in(
        &self,
        error: serde_json::Error,
        entry: Located<'a>,
    ) -> (FileError, Range<usize>) {
        let lines = Lines::of(entry.text());
        let offset = entry.span().start + lines.offset(error.line(), error.column());
        (FileError::NotJson(error), offset..offset)
    }

    /// What people often do that is not JSON.
    fn help_for(&self, error: &FileError) -> Option<String> {
        let FileError::NotJson(error) = error else {
            return None;
        };
        let offset = self.lines().offset(error.line(), error.column());
        let help = match self.text[offset..].chars().next() {
            None if self.text.trim().is_empty() => {
                "it is empty; a file without hooks is {\"hooks\": []}"
            }
            Some('/' | '#') => {
                "JSON has no comments; write \"comment\": \"...\", or a key that begins with `_`"
            }
            Some('\'') => "JSON has its strings in double quotes",
            Some('}' | ']') if self.text[..offset].trim_end().ends_with(',') => {
                "there is no comma behind the last of a list"
            }
            _ => return None,
        };
        Some(help.to_owned())
    }
}

/// The entry without the keys that come twice: which of the values is meant, nobody can tell, and a
/// stand-in is not to go by the wrong one.
fn said_once(mut entry: Value, members: &[Member<'_>]) -> Value {
    let mut seen = HashSet::new();
    let twice = members.iter().filter(|member| !seen.insert(&*member.key));
    if let Value::Object(entry) = &mut entry {
        twice.for_each(|member| drop(entry.remove(&*member.key)));
    }
    entry
}

/// The key of the list, where this one is nearly that.
fn list_meant_by(key: &str) -> Option<String> {
    let is_near = strsim::jaro_winkler(&key.to_lowercase(), "hooks") > 0.8;
    is_near.then(|| "hooks".to_owned())
}

/// A key for people: JSON has no comments.
fn is_note(key: &str) -> bool {
    key == "comment" || key.starts_with('_') || key.starts_with("//")
}

/// Where an object or a list begins, for what is missing in it.
fn first_of(value: Located<'_>) -> Range<usize> {
    let start = value.span().start;
    start..start + value.text().chars().next().map_or(0, char::len_utf8)
}

/// The value of a key of an entry, as in `timeout`, `env.PATH`, `args[1]`; the beginning of the
/// entry where there is none.
fn span_of(entry: Located<'_>, key: &str) -> Range<usize> {
    find(entry, key).unwrap_or_else(|| first_of(entry))
}

fn find(entry: Located<'_>, key: &str) -> Option<Range<usize>> {
    if let Some(name) = key.strip_prefix("env.") {
        return Some(value_of(value_of(entry, "env")?, name)?.span());
    }
    if let Some((list, index)) = key.split_once('[') {
        let index = index.trim_end_matches(']').parse().ok()?;
        return Some(value_of(entry, list)?.items()?.nth(index)?.span());
    }
    Some(value_of(entry, key)?.span())
}

fn value_of<'a>(object: Located<'a>, key: &str) -> Option<Located<'a>> {
    let members = object.members()?.into_iter();
    let mut with_key = members.filter(|member| member.key == key);
    with_key.next_back().map(|member| member.value)
}

/// The end of the last whole character up to here.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
