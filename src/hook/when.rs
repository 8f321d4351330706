//! The conditions of a hook on an event's data, tested before a process is started.
//!
//! Does not know when conditions are compiled, or which hooks may run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::{Map, Value, json};

use super::answers::Answers;
use super::command_test::{CommandTest, of_answer};
use super::compared::{Compared, MANY_PATHS, MOST_PATHS, Root};
use super::condition::{Condition, Lazy, Test};
use super::error::{Cause, Fault, HookError};
use super::expressions::{Expression, Expressions};
use super::path_test::{PathValue, Paths};
use super::search::{PathArgument, Search, may_be_directory};
use crate::command;
use crate::events::HookEvent;
use crate::json::{Member, Node, kind};
use crate::paths::Unknown;
use crate::printable::shortened;
use crate::redact::Redactor;

/// The most bytes of a pointer.
pub(crate) const LONGEST_POINTER: usize = 1000;

/// The conditions by pointer.
#[derive(Debug, Clone, Default)]
pub(super) struct When {
    tests: BTreeMap<String, Lazy>,
    /// The expressions of these conditions alone, for a hook that is tested by itself.
    alone: OnceLock<Arc<Expressions>>,
}

impl PartialEq for When {
    fn eq(&self, other: &Self) -> bool {
        self.tests == other.tests
    }
}

fn key_of(pointer: &str) -> String {
    format!("when.{pointer}")
}

fn check_pointer(pointer: &str) -> Result<(), HookError> {
    if pointer.len() > LONGEST_POINTER {
        let expected = format!("JSON Pointers of at most {LONGEST_POINTER} bytes");
        let length = pointer.len().to_string();
        return Err(HookError::unexpected("when", &expected, &length));
    }
    // `~` occurs only in `~0` and `~1`.
    let mut escapes = pointer.split('~').skip(1);
    let is_escaped = escapes.all(|rest| rest.starts_with(['0', '1']));
    if is_escaped && (pointer.is_empty() || pointer.starts_with('/')) {
        return Ok(());
    }
    let expected = "a JSON Pointer into the event's data, as in `/tool_args/command`";
    let mut error = HookError::unexpected(key_of(pointer), expected, &format!("`{pointer}`"));
    if let HookError(Cause::Key(error)) = &mut error
        && !pointer.contains('~')
    {
        error.suggestion = Some(shortened(&pointer_for(pointer)).into_owned());
    }
    Err(error)
}

/// Returns the pointer that an author probably intended by a path with dots, or by the name of a tool's argument.
fn pointer_for(path: &str) -> String {
    let path = path.trim_start_matches("$.").trim_start_matches("data.");
    let path = path.replace("tool_input", "tool_args").replace('.', "/");
    if path.contains('/') || ["tool_args", "prompt"].contains(&&*path) {
        format!("/{path}")
    } else {
        format!("/tool_args/{path}")
    }
}

/// The most items of a list that a step `*` means.
const MOST_ITEMS: usize = 1000;

const MANY_ITEMS: Unknown = Cow::Borrowed("the event has more than 1,000 such values");

/// The only value that `runs_only` reads: what it says of a part of a call must not be taken for the whole.
const COMMAND: &str = "/tool_args/command";

const ELSEWHERE: &str =
    "`runs_only` is read at `/tool_args/command` alone, the command of a shell tool";

/// Places to which a command writes that are no files.
const NO_FILES: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// The arguments beside a command that do not change what it does.
const HARMLESS: [&str; 3] = ["command", "description", "timeout"];

/// The tools whose texts `runs_only` reads. None on Windows: there a tool of this name may start another shell.
const POSIX_SHELLS: [&str; 6] = ["bash", "sh", "dash", "ash", "ksh", "zsh"];

/// The most lists of conditions whose expressions are kept: one for each list of hooks that matches a kind of events.
const MOST_CACHED: usize = 32;

/// A list of conditions and its expressions.
type Cached = (Vec<Arc<When>>, Arc<Expressions>);

/// Returns the expressions of these conditions: those of an earlier event, if it had the same conditions. None without
/// conditions.
pub(super) fn expressions_of(list: Vec<Arc<When>>) -> Option<Arc<Expressions>> {
    static CACHE: Mutex<Vec<Cached>> = Mutex::new(Vec::new());
    match &list[..] {
        [] => return None,
        [when] => {
            return Some(Arc::clone(
                when.alone
                    .get_or_init(|| Arc::new(Expressions::new(when.expressions()))),
            ));
        }
        _ => {}
    }
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |(other, _): &&Cached| {
        let mut pairs = other.iter().zip(&list);
        other.len() == list.len() && pairs.all(|(one, other)| Arc::ptr_eq(one, other))
    };
    if let Some(at) = cache.iter().position(|entry| is_same(&entry)) {
        cache[..=at].rotate_right(1);
        return Some(Arc::clone(&cache[0].1));
    }
    let all = list.iter().flat_map(|when| when.expressions());
    let expressions = Arc::new(Expressions::new(all));
    cache.truncate(MOST_CACHED - 1);
    cache.insert(0, (list, Arc::clone(&expressions)));
    Some(expressions)
}

impl When {
    /// Reads the value of the key `when`, which is an object.
    pub(super) fn read(conditions: Node<'_, '_>) -> Result<Self, Fault> {
        let mut when = Self::default();
        for Member { key, value, .. } in conditions.members() {
            check_pointer(key).map_err(|error| error.at(value))?;
            let condition = Condition::read(&key_of(key), value)?;
            when.tests.insert(key.to_owned(), Lazy::new(condition));
        }
        Ok(when)
    }

    pub(super) fn to_json(&self) -> Value {
        let members = self.conditions();
        let members = members.map(|(pointer, condition)| (pointer.to_owned(), condition.to_json()));
        members.collect()
    }

    /// Adds a condition. Replaces one with the same pointer.
    pub(super) fn insert(
        &mut self,
        pointer: String,
        condition: Node<'_, '_>,
    ) -> Result<(), HookError> {
        check_pointer(&pointer)?;
        let condition = Condition::read(&key_of(&pointer), condition);
        let condition = condition.map_err(|fault| fault.error)?;
        self.tests.insert(pointer, Lazy::new(condition));
        self.alone = OnceLock::new();
        self.check()
    }

    pub(super) fn conditions(&self) -> impl Iterator<Item = (&str, &Condition)> {
        let tests = self.tests.iter();
        tests.map(|(pointer, test)| (pointer.as_str(), &test.condition))
    }

    /// Returns the expressions of all conditions that can be used.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let tests = self.tests.values().filter_map(Lazy::test);
        tests.flat_map(Test::expressions)
    }

    /// Checks that the conditions can be used.
    pub(super) fn check(&self) -> Result<(), HookError> {
        self.checked(Lazy::check)
    }

    /// Checks the form of the conditions, without compiling them.
    pub(super) fn check_form(&self) -> Result<(), HookError> {
        self.checked(Lazy::check_form)
    }

    fn checked(&self, check: fn(&Lazy) -> Option<&str>) -> Result<(), HookError> {
        let mut tests = self.tests.iter();
        let fault = tests.find_map(|(pointer, test)| {
            let is_elsewhere = test.condition.is_runs_only() && pointer != COMMAND;
            Some((
                pointer,
                if is_elsewhere {
                    ELSEWHERE
                } else {
                    check(test)?
                },
            ))
        });
        fault.map_or(Ok(()), |(pointer, message)| {
            Err(HookError::key(key_of(pointer), message))
        })
    }

    /// Returns whether all conditions match.
    pub(super) fn is_met(&self, at: &Compared<'_>, root: Option<&Path>, guards: bool) -> bool {
        let mut each = self.answers(at, root);
        each.all(|(_, answers)| answers.is_met(guards))
    }

    /// Returns the answers of each condition, with its pointer.
    pub(super) fn answers<'w>(
        &'w self,
        at: &Compared<'_>,
        root: Option<&Path>,
    ) -> impl Iterator<Item = (&'w str, Answers)> {
        let tests = self.tests.iter();
        tests.map(move |(pointer, test)| (pointer.as_str(), answers(pointer, test, at, root)))
    }

    /// Returns the first condition that does not match, in a sentence. `secrets` are masked in the value.
    pub(super) fn mismatch<'s>(
        &self,
        at: &Compared<'_>,
        root: Option<&Path>,
        guards: bool,
        secrets: impl Iterator<Item = &'s str>,
    ) -> Option<String> {
        let mut tests = self.tests.iter();
        let (pointer, test) =
            tests.find(|(pointer, test)| !answers(pointer, test, at, root).is_met(guards))?;
        let found = display_of(pointer, at.event, secrets);
        Some(differs(
            pointer,
            &test.condition.to_string(),
            found.as_deref(),
        ))
    }

    /// Returns the pointer of a condition that only a guard may have: what it does not see would be granted.
    pub(super) fn only_for_guards(&self) -> Option<&str> {
        let mut conditions = self.conditions();
        conditions
            .find_map(|(pointer, condition)| condition.is_only_for_guards().then_some(pointer))
    }

    /// Returns the pointer of a condition whose value the event does not have.
    pub(super) fn absent(&self, event: &HookEvent) -> Option<&str> {
        let mut pointers = self.tests.keys().map(String::as_str);
        let is_absent = |value: &Option<&Value>| value.is_none_or(Value::is_null);
        pointers.find(|pointer| all_at(pointer, &event.data).iter().any(is_absent))
    }

    /// Returns the reason why a condition cannot be used, if that is known already.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.tests.values().find_map(Lazy::refusal)
    }
}

/// Tests one condition: each item of a list, and each name of a path, has its answer.
fn answers(pointer: &str, test: &Lazy, at: &Compared<'_>, root: Option<&Path>) -> Answers {
    let Some(compiled) = test.test() else {
        return Answers::unusable();
    };
    let mut answers = Answers::default();
    let values = all_at(pointer, &at.event.data);
    if values.len() > MOST_ITEMS {
        return Answers::unknown(MANY_ITEMS);
    }
    for value in values {
        answers = answers.joined(match compiled {
            Test::Text {
                expression,
                perhaps,
            } => match value.map(Value::as_str) {
                Some(Some(text)) => text_answers(expression, perhaps.as_ref(), text, at),
                _ => Answers::unknown(missing(value)),
            },
            Test::Paths(paths) => {
                path_answers(pointer, value, at, root, |path| paths.answers(path))
            }
            Test::Command(test) => match value.map(Value::as_str) {
                Some(Some(text)) => command_answers(test, text, at, root),
                _ => Answers::unknown(missing(value)),
            },
        });
    }
    let mut expressions = compiled.expressions().into_iter();
    if let Some(why) = expressions.find_map(|expression| at.fault(expression)) {
        test.refuse(why);
        return Answers::unusable();
    }
    match test.condition {
        Condition::Not(_) => answers.inverted(),
        _ => answers,
    }
}

fn missing(value: Option<&Value>) -> Unknown {
    match value {
        None | Some(Value::Null) => "the event has no such value".into(),
        Some(_) => "its value is not a text".into(),
    }
}

fn text_answers(
    expression: &Expression,
    perhaps: Option<&Expression>,
    text: &str,
    at: &Compared<'_>,
) -> Answers {
    let has = |expression| at.has(expression, text, false);
    let answers = match (has(expression), perhaps.map(has)) {
        (Err(why), _) | (Ok(false), Some(Err(why))) => Err(why),
        // An expression that matches a part of the value leaves both answers open.
        (Ok(false), Some(Ok(true))) => Ok(Answers {
            yes: true,
            ..Answers::is(false)
        }),
        (Ok(yes), _) => Ok(Answers::is(yes)),
    };
    answers.unwrap_or_else(Answers::unknown)
}

/// Returns the patterns that stand for all that `find` finds by a name with a star (`find src -name '*.py'`), in its directory and
/// below it: what it finds among others, only because that may be there, is no file that the command names.
fn among_others(pattern: &str) -> Option<[String; 2]> {
    // No file of a project has this character in its name.
    let any = "\u{2}";
    let name = pattern.strip_prefix("**/")?;
    let name = match name.find('*')? {
        0 => name.replace(['*', '?'], any),
        _ => name.to_owned(),
    };
    let below = format!("{any}/{name}");
    Some([name, below])
}

/// Tests what a shell command does.
fn command_answers(
    test: &CommandTest,
    text: &str,
    at: &Compared<'_>,
    root: Option<&Path>,
) -> Answers {
    let root = at.root(root);
    let answers_at = |path: &command::Path, test: &dyn Fn(&PathValue<'_>) -> Answers| {
        let asked = match path {
            command::Path::Known(path) => Ok(PathArgument::file(path, true)),
            command::Path::Below { directory, pattern } => {
                PathArgument::of_shell(&**directory, pattern)
            }
            command::Path::Unknown { written, .. } => {
                Err(format!("a path is not known: {written}").into())
            }
        };
        asked.map_or_else(Answers::unknown, |asked| at_path(&asked, at, &root, test))
    };
    let names = |paths: &Paths, path: &command::Path| match (paths, path) {
        // A file lies where its directory does: `/tmp/*` lies in a temporary one.
        (Paths::Outside, command::Path::Below { directory, pattern }) => {
            let path = command::Path::Known(format!("{directory}{pattern}"));
            answers_at(&path, &|value| paths.answers(value))
        }
        _ => answers_at(path, &|value| paths.answers(value)),
    };
    match test {
        CommandTest::Runs(runs) => {
            let has = |expression: &Expression, text: &str| at.has_alone(expression, text);
            runs.answers(&at.commands(text), has, names)
        }
        CommandTest::RunsOnly(only) => match at.event.tool_name.as_deref() {
            Some(tool) if POSIX_SHELLS.contains(&tool) && !cfg!(windows) => {
                match other_argument(at.event) {
                    Some(name) => Answers::unknown(format!(
                        "the call has the argument `{}`, which may change what the command does",
                        shortened(name)
                    )),
                    None => of_answer(only.covers(text)),
                }
            }
            Some(tool) => Answers::unknown(format!(
                "the shell of the tool `{}` may read it in another way",
                shortened(tool)
            )),
            None => Answers::unknown("the event has no tool, whose shell would read it"),
        },
        CommandTest::Writes(paths) => {
            let commands = at.commands(text);
            let targets: Vec<_> = commands.written().take(MOST_PATHS + 1).collect();
            if targets.len() > MOST_PATHS {
                return Answers::unknown(MANY_PATHS);
            }
            let is_directory = |value: &PathValue<'_>| Answers::is(value.is_directory());
            let each = targets.iter().map(|target| {
                let answers = match &target.path {
                    // Output that is thrown away or shown is in no file.
                    command::Path::Known(path) if NO_FILES.contains(&path.as_str()) => {
                        return Answers::is(false);
                    }
                    // Of ordinary commands, more than one in a hundred writes to a file in a variable.
                    command::Path::Unknown { ending, .. } if ending.is_empty() => {
                        return Answers::is(false);
                    }
                    command::Path::Unknown { ending, .. } => {
                        names(paths, &command::Path::Known(ending.clone()))
                    }
                    command::Path::Below { directory, pattern } => match among_others(pattern) {
                        Some(patterns) => Answers::any(patterns.map(|pattern| {
                            let directory = directory.clone();
                            names(paths, &command::Path::Below { directory, pattern })
                        })),
                        None => names(paths, &target.path),
                    },
                    path => names(paths, path),
                };
                let is_file = |path: &command::Path| !answers_at(path, &is_directory).is_met(true);
                if answers.is_met(true) && target.directory.as_ref().is_some_and(is_file) {
                    return Answers::is(false);
                }
                let part = || format!("`{}`, which `{}` writes", target.path, target.command());
                Answers {
                    met: answers.yes.then(part),
                    ..answers
                }
            });
            Answers::any(each.chain([of_answer(commands.unread())]))
        }
    }
}

/// Returns an argument of a shell tool that may change what its command does.
fn other_argument(event: &HookEvent) -> Option<&str> {
    let Some(Value::Object(arguments)) = event.data.get("tool_args") else {
        return None;
    };
    let mut set = arguments.iter().filter(|(_, value)| !value.is_null());
    let other = set.find(|(name, _)| !HARMLESS.contains(&name.as_str()));
    other.map(|(name, _)| name.as_str())
}

fn path_answers(
    pointer: &str,
    value: Option<&Value>,
    at: &Compared<'_>,
    root: Option<&Path>,
    test: impl Fn(&PathValue<'_>) -> Answers,
) -> Answers {
    let root = at.root(root);
    let text = value.and_then(Value::as_str);
    let argument = match Search::of(at.event).filter(|_| pointer == Search::PATH) {
        Some(search) if text.is_some() || value.is_none_or(Value::is_null) => search.argument(text),
        _ => match text {
            Some(text) => Ok(PathArgument::file(text, may_be_directory(at.event))),
            None => Err(missing(value)),
        },
    };
    match argument {
        Ok(argument) => at_path(&argument, at, &root, test),
        Err(why) => Answers::unknown(why),
    }
}

/// Tests the names of a path.
fn at_path(
    argument: &PathArgument<'_>,
    at: &Compared<'_>,
    root: &Root,
    test: impl Fn(&PathValue<'_>) -> Answers,
) -> Answers {
    let answers = root.base(at.event).and_then(|base| {
        let names = root.names_of(&argument.path, at.event)?;
        let searches = argument.searches.iter().map(|glob| Some(&**glob));
        let all = argument.searches.is_empty().then_some(None);
        let searches: Vec<_> = searches.chain(all).collect();
        let pairs = names.cases.iter().flat_map(|ignores_case| {
            let searches = searches.iter();
            searches.map(move |search| (*ignores_case, *search))
        });
        let each = pairs.map(|(ignores_case, search)| {
            test(&PathValue {
                at,
                root,
                base,
                names: &names,
                ignores_case,
                stands_for_more: argument.stands_for_more,
                search,
            })
        });
        Ok(each.fold(Answers::default(), Answers::joined))
    });
    answers.unwrap_or_else(Answers::unknown)
}

/// Returns the values at a pointer, by RFC 6901; for a step `*`, those of all items of a list. None for each that is not there,
/// and for the empty pointer: the whole data is not a text.
fn all_at<'a>(pointer: &str, data: &'a Map<String, Value>) -> Vec<Option<&'a Value>> {
    let Some(steps) = pointer.strip_prefix('/') else {
        return vec![None];
    };
    let mut steps = steps.split('/').map(unescaped);
    let first = steps.next().unwrap_or_default();
    let mut values = vec![data.get(&*first)];
    for step in steps {
        let step = &*step;
        values = values
            .into_iter()
            .flat_map(|value| match value {
                Some(Value::Array(items)) if step == "*" => items.iter().map(Some).collect(),
                value => vec![value.and_then(|value| at_step(value, step))],
            })
            .collect();
    }
    values
}

fn at_step<'a>(value: &'a Value, step: &str) -> Option<&'a Value> {
    match value {
        Value::Object(members) => members.get(step),
        Value::Array(items) => items.get(index(step)?),
        _ => None,
    }
}

fn unescaped(step: &str) -> Cow<'_, str> {
    if step.contains('~') {
        step.replace("~1", "/").replace("~0", "~").into()
    } else {
        step.into()
    }
}

/// Returns the index in a list. It has no sign and no leading zero.
fn index(step: &str) -> Option<usize> {
    let is_plain = step == "0" || !step.starts_with(['0', '+']);
    step.parse().ok().filter(|_| is_plain)
}

/// Says that a value of an event is not the expected one.
pub(super) fn differs(key: &str, expected: &str, found: Option<&str>) -> String {
    match found {
        Some(found) => format!(
            "`{key}` does not match: its value is `{found}`, and the condition `{expected}`"
        ),
        None => format!("`{key}` does not match: it has no value"),
    }
}

/// Returns the value, if the event has it, for people: shortened, with secrets masked. A key above the value may show that
/// it is a secret.
fn display_of<'s>(
    pointer: &str,
    event: &HookEvent,
    secrets: impl Iterator<Item = &'s str>,
) -> Option<String> {
    let values = all_at(pointer, &event.data);
    let [Some(value)] = values[..] else {
        return (values.len() > 1).then(|| format!("a list of {} values", values.len()));
    };
    if matches!(value, Value::Array(_) | Value::Object(_)) {
        return Some(kind(value).to_owned());
    }
    let keys = || pointer.split('/').skip(1).map(unescaped);
    let nested = Vec::from_iter(keys()).into_iter().rev();
    let nested = nested.fold(value.clone(), |value, key| json!({ key: value }));
    let masked = Redactor::default().value(&nested);
    let masked = keys().fold(&masked, |value, key| value.get(&*key).unwrap_or(value));
    let text = match masked {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let masked = Redactor::default().text_with(&text, secrets);
    Some(shortened(&masked).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn data(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(members) => members,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn pointers_lead_where_the_rfc_says() {
        // The examples of RFC 6901, section 5, except the two whose result is the document.
        let document = data(
            json!({"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3,
            "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}),
        );
        for (pointer, expected) in [
            ("/foo", json!(["bar", "baz"])),
            ("/foo/0", json!("bar")),
            ("/", json!(0)),
            ("/a~1b", json!(1)),
            ("/c%d", json!(2)),
            ("/ ", json!(7)),
            ("/m~0n", json!(8)),
        ] {
            let value = all_at(pointer, &document);
            assert_eq!(value, [Some(&expected)], "{pointer}");
        }
        for pointer in [
            "", "/foo/2", "/foo/-", "/foo/00", "/foo/+0", "/foo/0/0", "/m~01n", "/x", "/foo/0/*",
            "/x/*",
        ] {
            assert_eq!(all_at(pointer, &document), [None], "{pointer}");
        }
    }

    #[test]
    fn a_star_means_each_item() {
        let document = data(json!({"l": [{"a": 1}, {"a": [2, 3]}, {}], "e": [], "o": {"*": 4}}));
        for (pointer, expected) in [
            ("/l/*/a", vec![Some(json!(1)), Some(json!([2, 3])), None]),
            ("/l/*/a/*", vec![None, Some(json!(2)), Some(json!(3)), None]),
            ("/e/*", vec![]),
            ("/o/*", vec![Some(json!(4))]),
        ] {
            let values = all_at(pointer, &document);
            let values: Vec<_> = values.into_iter().map(Option::<&Value>::cloned).collect();
            assert_eq!(values, expected, "{pointer}");
        }
    }

    fn when(condition: Condition) -> Arc<When> {
        let mut when = When::default();
        let condition = condition.to_json();
        when.insert("/tool_args/path".to_owned(), Node::from(&condition))
            .unwrap();
        Arc::new(when)
    }

    fn compared<'e>(
        event: &'e HookEvent,
        root: Option<&'e Path>,
        list: &[Arc<When>],
    ) -> Compared<'e> {
        Compared::with_expressions(event, root, expressions_of(list.to_vec()))
    }

    #[test]
    #[cfg(unix)]
    fn an_absolute_glob_sees_a_relative_path() {
        let event = HookEvent::tool_pre_execute("write", json!({"path": "a/b"}));
        let is_met = |condition: Condition| {
            let when = when(condition);
            let at = compared(&event, Some(Path::new("/x/y")), &[Arc::clone(&when)]);
            when.is_met(&at, None, true)
        };
        let glob = |glob: &str| Condition::Glob(glob.to_owned());
        let not = |text: &str| Condition::Not(Box::new(glob(text)));
        assert!(is_met(glob("/x/y/a/*")));
        assert!(!is_met(glob("/x/a/*")));
        assert!(!is_met(not("a/*")) && !is_met(not("/x/y/a/*")));
        assert!(is_met(not("/x/a/*")));
    }

    #[test]
    fn each_run_is_read_in_linear_time() {
        let regex = Condition::Regex(r"\bsudo\b|(?i)drop\s+table.*x".to_owned());
        let not = Condition::Not(Box::new(Condition::OneOf(vec![
            "src/**".to_owned(),
            "*.rs".to_owned(),
        ])));
        let list = [
            when(regex),
            when(Condition::Glob("*sudo*".to_owned())),
            when(not),
            when(Condition::Outside),
        ];
        crate::growth::assert_reads_in_linear_time("a value of a condition", |bytes| {
            let text = String::from_utf8_lossy(bytes);
            for (tool, argument) in [("glob", "path"), ("glob", "pattern")] {
                let event = HookEvent::tool_pre_execute(tool, json!({argument: text}));
                let at = compared(&event, None, &list);
                for when in &list {
                    let _ = when.is_met(&at, None, true);
                }
            }
        });
    }

    /// Very many paths of a command are not looked up at all.
    #[test]
    fn the_paths_of_a_command_have_a_limit() {
        let runs = |paths| Condition::Runs {
            patterns: vec!["rm".to_owned()],
            with: None,
            paths: Some(Box::new(paths)),
        };
        let conditions = [
            Condition::Writes(vec!["x/**".to_owned()]),
            runs(Condition::OneOf(vec!["x/**".to_owned()])),
            runs(Condition::Outside),
        ];
        let command = |count: usize| {
            let names = (0..count).map(|number| format!(" f{number}"));
            format!("rm{}", names.collect::<String>())
        };
        let several = "rm a b c\n".repeat(400);
        for condition in conditions {
            let mut when = When::default();
            let condition = condition.to_json();
            when.insert("/tool_args/command".to_owned(), Node::from(&condition))
                .unwrap();
            let when = Arc::new(when);
            for (command, looked_up) in [
                (command(1000), 1000),
                (command(1001), 0),
                (several.clone(), 0),
            ] {
                let event = HookEvent::tool_pre_execute("bash", json!({"command": command}));
                let at = compared(&event, None, &[Arc::clone(&when)]);
                let unknown = when
                    .answers(&at, None)
                    .find_map(|(_, answers)| answers.unknown);
                assert_eq!(at.looked_up(), looked_up, "{unknown:?}");
                let reason = unknown.as_deref();
                let limit = "the event has more than 1,000 paths: name fewer at once";
                assert_eq!(reason, (looked_up == 0).then_some(limit));
            }
        }
    }

    /// Only a glob has its value looked up, and once for all hooks.
    #[test]
    fn paths_are_looked_up_for_globs_alone() {
        let event = HookEvent::tool_pre_execute("write", json!({"path": "a/b", "command": "ls"}));
        let regex = || Condition::Regex("^a/b$".to_owned());
        let texts = [when(regex()), when(Condition::Not(Box::new(regex())))];
        let globs = ["a/*", "b", "c", "a"].map(|glob| when(Condition::Glob(glob.to_owned())));
        let at = compared(&event, None, &[&texts[..], &globs].concat());
        assert!(texts[0].is_met(&at, None, true) && !texts[1].is_met(&at, None, true));
        assert_eq!(at.looked_up(), 0);
        for when in &globs {
            let _ = when.is_met(&at, None, true);
        }
        assert_eq!(at.looked_up(), 1);
        let other = Path::new(if cfg!(windows) { "C:/other" } else { "/other" });
        let _ = globs[3].is_met(&at, Some(other), true);
        assert_eq!(at.looked_up(), 2);
    }
}
