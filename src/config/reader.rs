//! Reads the hooks of a file, entry by entry, so that a bad entry does not affect the others. Each problem
//! has its place.
//!
//! `tree` parses the text, and `Hook` reads the value of an entry. Does not know which hooks may run.

use std::path::Path;
use std::sync::Arc;

use super::content::{Item, Loaded, MOST_PROBLEMS, Switches, described, placeholder};
use super::sources::Form;
use crate::events::{Vocabulary, meant_by, nearest};
use crate::hook::{
    CASES, Cause, Fault, Hook, HookSource, KeyError, LIKE_A_KEY, Unusable, is_key, keys,
    nearest_key, place_of,
};
use crate::json::{Member, Node, Positions, Readable, parse_object, readable};
use crate::lint::{self, Host};
use crate::printable::{grouped, shortened};
use crate::problem::{Problem, Severity};
use crate::protocol::is_typo;

/// The most entries of a file.
pub(crate) const MOST_ENTRIES: usize = 1000;

/// hooks.json: the form of this crate's own files.
#[derive(Default)]
pub(super) struct HooksJson {
    /// The root of the project whose file it is: relative paths in it are resolved against it.
    pub(super) base_dir: Option<Arc<Path>>,
    pub(super) host: Arc<Host>,
}

impl Form for HooksJson {
    fn title(&self) -> &'static str {
        "hooks.json"
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn read(
        &self,
        text: &str,
        _vocabulary: &Vocabulary,
        is_compiled: bool,
        loaded: &mut Loaded,
    ) -> Switches {
        let text = readable(text);
        let mut reader = Reader {
            file: FileReader::new(&text, loaded),
            form: self,
            is_compiled,
        };
        if let Err(problem) = reader.try_read() {
            let problem = reader.file.placed(problem.in_entry(None));
            reader.file.loaded.refuse(problem, true);
        }
        Switches::default()
    }
}

const LIKE_OTHER_AGENTS: &str = "write it as in [{\"event\": \"tool:pre_execute:bash\", \"command\": \"./guard.sh\"}]; \
    hooks of another agent stay in its own file, such as `.claude/settings.json`";

/// Converts the parts of a text, of any tool, to hooks and problems with places.
pub(crate) struct FileReader<'a> {
    pub(crate) text: &'a str,
    positions: Positions<'a>,
    pub(crate) loaded: &'a mut Loaded,
}

impl<'a> FileReader<'a> {
    pub(crate) fn new(text: &'a Readable<'_>, loaded: &'a mut Loaded) -> Self {
        Self {
            text,
            positions: Positions::new(text, text.skipped),
            loaded,
        }
    }

    pub(crate) fn source(&self, index: Option<usize>, at: usize) -> HookSource {
        let line = self.positions.position(at).line;
        HookSource::new(Arc::clone(&self.loaded.path), index, Some(line))
    }

    pub(crate) fn add(&mut self, hook: impl Into<Arc<Hook>>, is_placeholder: bool, at: usize) {
        self.loaded.items.push(Item {
            hook: hook.into(),
            is_placeholder,
            is_approved: true,
            start: Some(self.positions.range(&(at..at + 1))),
        });
    }

    /// Reports a problem of a key, and returns it as the reason of a placeholder hook.
    pub(crate) fn report(&mut self, index: Option<usize>, problem: Problem) -> String {
        self.note(index, problem).reason()
    }

    fn note(&mut self, index: Option<usize>, problem: Problem) -> Problem {
        let problem = self.placed(problem.in_entry(index)).made_printable();
        self.loaded.report(problem.clone());
        problem
    }

    /// Adds the file, with lines and columns.
    pub(crate) fn placed(&self, mut problem: Problem) -> Problem {
        problem.path = self.loaded.path.to_path_buf();
        problem.range = Some(self.positions.range(&problem.bytes));
        problem
    }
}

/// Reads a hooks.json.
struct Reader<'a> {
    file: FileReader<'a>,
    form: &'a HooksJson,
    is_compiled: bool,
}

impl Reader<'_> {
    fn try_read(&mut self) -> Result<(), Problem> {
        let tree = parse_object(self.file.text)?;
        let file = Node::new(&tree);
        let hooks = list_of_hooks(file)?;
        let entries = || hooks.and_then(|list| list.items()).into_iter().flatten();
        if let Some(entry) = entries().nth(MOST_ENTRIES) {
            return Err(too_many_entries().at(entry.range()));
        }
        for member in file.members().filter(|member| member.key != "hooks") {
            self.other_key(&member);
        }
        for (index, entry) in entries().enumerate() {
            self.entry(index, entry.without_key())?;
        }
        Ok(())
    }

    /// Reads a key next to `hooks`. If `disable` cannot be read, hooks stay on.
    fn other_key(&mut self, member: &Member<'_, '_>) {
        let (key, value) = (member.key, member.value);
        let problem = if key != "disable" {
            if is_known(key) || !self.file.loaded.shows_all() {
                return;
            }
            unknown_key(member).with_suggestion_of(nearest_key_of_file(key))
        } else if self.form.base_dir.is_some() {
            let message = "a project's file cannot disable hooks: only the user's file can";
            Problem::warning_at(&value, message).at(value.range())
        } else {
            let names = value.items().map(|items| items.map(|item| item.text()));
            if let Some(names) = names.and_then(Iterator::collect::<Option<Vec<_>>>) {
                let names = names.into_iter().map(str::to_owned);
                return self.file.loaded.disable.extend(names);
            }
            let message = "expected a list of names of hooks";
            Problem::error_at(&value, message).at(value.range())
        };
        self.file.report(None, problem);
    }

    fn entry(&mut self, index: usize, entry: Node<'_, '_>) -> Result<(), Problem> {
        let read = Hook::read(entry).and_then(|hook| self.compiled(hook, entry));
        let mut unknown = Vec::new();
        if self.file.loaded.shows_all() {
            let keys = unknown_keys(entry)
                .filter(|member| !may_be_ours(member.key))
                .take(MOST_PROBLEMS + 1);
            unknown.extend(keys.map(|member| unknown_key_of_entry(&member)));
        }
        let mut typos = typos_in(entry);
        let hook = match read {
            Ok(hook) if typos.is_empty() => Some(self.usable(index, hook, entry)),
            read => {
                let unusable =
                    read.map_or_else(|unusable| *unusable, |hook| Unusable::of(&hook, Vec::new()));
                let faults = unusable.faults.iter();
                let mut problems: Vec<_> = faults.map(|fault| problem_of(entry, fault)).collect();
                name_typos(entry, &mut problems, &mut typos);
                problems.extend(typos);
                self.unusable(index, entry, problems, &unusable);
                None
            }
        };
        self.file.loaded.entries.push(hook);
        for problem in unknown {
            self.file.report(Some(index), problem);
        }
        Ok(())
    }

    fn compiled(&mut self, hook: Hook, entry: Node<'_, '_>) -> Result<Hook, Box<Unusable>> {
        if !self.is_compiled {
            return Ok(hook);
        }
        let checked = if self.file.loaded.looks_for_mistakes() {
            hook.check_when()
        } else {
            hook.check_form_of_when()
        };
        match checked {
            Ok(()) => Ok(hook),
            Err(error) => {
                let place = place_of(entry, error.key_path());
                let faults = vec![error.in_place(place)];
                Err(Box::new(Unusable::of(&hook, faults)))
            }
        }
    }

    fn usable(&mut self, index: usize, hook: Hook, entry: Node<'_, '_>) -> Arc<Hook> {
        let start = entry.range().start;
        let mut hook = hook.with_source(self.file.source(Some(index), start));
        if let Some(base) = &self.form.base_dir {
            hook = hook.with_base_dir(Arc::clone(base));
        }
        if self.file.loaded.looks_for_mistakes() {
            let checks_scripts = self.file.loaded.checks_scripts;
            for problem in lint::entry(&hook, &self.form.host, checks_scripts) {
                let place = place_of(entry, problem.key.as_deref().unwrap_or_default());
                self.file.report(Some(index), problem.at(place));
            }
            self.check_cases(index, &hook, entry);
        }
        let hook = Arc::new(hook);
        self.file.add(Arc::clone(&hook), false, start);
        hook
    }

    /// Reports mistakes in the cases of an entry, which leave the entry usable. A check also tests them.
    fn check_cases(&mut self, index: usize, hook: &Hook, entry: Node<'_, '_>) {
        let tests = self.file.loaded.tests_cases;
        for fault in hook.faults_of_cases(entry, tests) {
            let mut problem = problem_of(entry, &fault);
            if !tests {
                problem.severity = Severity::Warning;
            }
            self.file.report(Some(index), problem);
        }
    }

    /// Reports the reasons why an entry cannot be used, and returns the first problem.
    fn unusable(
        &mut self,
        index: usize,
        entry: Node<'_, '_>,
        mut problems: Vec<Problem>,
        unusable: &Unusable,
    ) {
        problems.sort_by_key(Problem::start);
        let problems = problems.into_iter();
        let noted: Vec<_> = problems
            .map(|problem| self.file.note(Some(index), problem))
            .collect();
        let first = noted.into_iter().next();
        // An entry without a problem could be used, so there is one.
        let first = first.unwrap_or_else(|| Problem::error("", "this entry cannot be used"));
        let start = entry.range().start;
        let source = self.file.source(Some(index), start);
        if let Some(hook) = placeholder(unusable, described(&first.reason(), source)) {
            self.file.add(hook, true, start);
        }
    }
}

/// Returns the problem of the first entry that exceeds the limit.
pub(crate) fn too_many_entries() -> Problem {
    let most = grouped(MOST_ENTRIES);
    Problem::limit(format!("the file has more than {most} hooks"))
}

/// Returns the problem of a file with the hooks of another program, which hosts do not run.
pub(crate) fn not_run_here(title: &str, hooks: Node<'_, '_>) -> Problem {
    let message = format!("this is a hooks file of {title}, whose hooks are not run here");
    let problem = Problem::error("", message).at(hooks.range());
    problem.with_help(LIKE_OTHER_AGENTS)
}

/// Returns the list of hooks; none if the file has no such key.
fn list_of_hooks<'t, 'a>(file: Node<'t, 'a>) -> Result<Option<Node<'t, 'a>>, Problem> {
    let mut lists = file.members().filter(|member| member.key == "hooks");
    Err(match (lists.next(), lists.next()) {
        (_, Some(second)) => Problem::error("", "`hooks` occurs twice").at(second.key_range),
        (Some(list), None) if list.value.items().is_some() => return Ok(Some(list.value)),
        (Some(list), None) => {
            let problem = Problem::error("", "`hooks`: expected a list").at(list.value.range());
            if list.value.is_object() {
                problem.with_help(LIKE_OTHER_AGENTS)
            } else {
                problem
            }
        }
        (None, None) => {
            // The key may be `hooks` with a typo, and then the list must not count as missing.
            let Some(other) = file.members().find(|member| !is_known(member.key)) else {
                return Ok(None);
            };
            let key = other.key;
            let message = format!("the file has no list `hooks`, and an unknown key `{key}`");
            let problem = Problem::error("", message).at(other.key_range);
            let problem = problem.with_suggestion_of(nearest_key_of_file(key));
            if is_key(key) {
                problem.with_help(r#"write {"hooks": [ ... ]} around the entry"#)
            } else {
                problem
            }
        }
    })
}

/// Returns whether a file may have this key besides `hooks`.
fn is_known(key: &str) -> bool {
    matches!(key, "disable" | "$schema" | "pack") || is_note(key)
}

/// Returns whether the key is a note for people.
fn is_note(key: &str) -> bool {
    key == "comment" || key.starts_with('_') || key.starts_with("//")
}

/// Returns the key of a file that this one is almost the same as.
fn nearest_key_of_file(key: &str) -> Option<&'static str> {
    nearest(key, ["hooks"].into_iter(), LIKE_A_KEY)
}

fn problem_of(entry: Node<'_, '_>, fault: &Fault) -> Problem {
    let message = fault.error.to_string();
    let error = match &fault.error.0 {
        Cause::Key(error) => (**error).clone(),
        Cause::Pattern(error) => KeyError {
            suggestion: meant_by(error.pattern()),
            ..KeyError::new("event", message)
        },
        Cause::EmptyCommand if entry.get("command").is_some() => KeyError::new("command", message),
        Cause::EmptyCommand => KeyError::new("args", message),
        Cause::NotAnObject { .. } => KeyError::new("", message),
    };
    // The search for a key visits all keys of the entry.
    let timeout = (error.key == "timeout").then(|| entry.get("timeout"));
    let text = timeout.flatten().and_then(|value| value.text());
    let seconds = text.and_then(seconds_in);
    Problem {
        expected: error.expected,
        found: error.found,
        suggestion: error.suggestion,
        help: seconds
            .map(|seconds| format!("write {seconds}, without quotes: the unit is seconds")),
        ..Problem::error(error.key, error.message).at(fault.place.clone())
    }
}

/// Returns the number of seconds in a text such as `5s`.
fn seconds_in(text: &str) -> Option<f64> {
    let seconds = text.trim_end_matches('s').trim().parse::<f64>().ok();
    seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0)
}

/// Returns the keys that this version does not know, in order.
fn unknown_keys<'t, 'a>(entry: Node<'t, 'a>) -> impl Iterator<Item = Member<'t, 'a>> {
    let is_unknown = |member: &Member<'_, '_>| !is_key(member.key) && !is_note(member.key);
    entry.members().filter(is_unknown)
}

/// Returns whether a key is probably one of ours with a typo, or has the meaning of one.
fn may_be_ours(key: &str) -> bool {
    keys().any(|known| known != CASES && is_typo(key, known))
        || nearest_key(key) == Some("sandbox")
        || matches!(key, "matcher" | "tool" | "tools" | "if")
}

/// An entry must not run without the effect of such a key: a condition, a deadline, a sandbox.
fn typos_in(entry: Node<'_, '_>) -> Vec<Problem> {
    let typos = unknown_keys(entry).filter(|member| may_be_ours(member.key));
    let problems = typos.take(MOST_PROBLEMS + 1).map(|typo| Problem {
        severity: Severity::Error,
        ..unknown_key_of_entry(&typo)
    });
    problems.collect()
}

/// A missing key is one problem together with its typo, at the typo.
fn name_typos(entry: Node<'_, '_>, problems: &mut [Problem], typos: &mut Vec<Problem>) {
    for problem in problems {
        let key = problem.key.as_deref().unwrap_or_default();
        let is_typo_of_key = |other: &Problem| other.suggestion.as_deref() == Some(key);
        if entry.get(key).is_none()
            && let Some(typo) = typos.iter().position(is_typo_of_key)
        {
            *problem = typos.remove(typo);
        }
    }
}

fn unknown_key(member: &Member<'_, '_>) -> Problem {
    let message = format!("unknown key `{}`", shortened(member.key));
    Problem::warning(member.key, message).at(member.key_range.clone())
}

/// Returns the replacement for a key with which another program says when or how a hook runs.
fn help_for_key(key: &str) -> Option<&'static str> {
    Some(match key {
        "matcher" | "tool" | "tools" => "name the tool in `event`, as in `tool:pre_execute:bash`",
        "if" => "write `when`, as in {\"/tool_args/command\": {\"runs\": \"git push\"}}",
        "cmd" | "run" | "script" => "write `command`",
        "disabled" => "write \"enabled\": false",
        "async" => "write \"background\": true",
        "timeout_ms" | "timeoutMs" => "write `timeout`, in seconds",
        _ => return None,
    })
}

fn unknown_key_of_entry(member: &Member<'_, '_>) -> Problem {
    let problem = unknown_key(member);
    match help_for_key(member.key) {
        Some(help) => problem.with_help(help),
        None => problem.with_suggestion_of(nearest_key(member.key)),
    }
}
