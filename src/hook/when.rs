//! The conditions of a hook on an event's data, tested before a process is started.
//!
//! Does not know when conditions are compiled, or which hooks may run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::compared::{AsPath, Budget, Compared};
use super::condition::{Allowance, Condition, Lazy, is_too_long};
use super::error::{Fault, HookError};
use super::forms::Forms;
use crate::events::HookEvent;
use crate::json::{Member, Node, kind};
use crate::pattern::{Mismatch, PatternPart};
use crate::printable::shortened;
use crate::redact::Redactor;

/// The most bytes of a pointer.
pub(crate) const LONGEST_POINTER: usize = 1000;

/// The conditions by pointer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct When(BTreeMap<String, Lazy>);

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
    if let HookError::Key(error) = &mut error
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

impl When {
    /// Reads the value of the key `when`, which is an object.
    pub(super) fn read(conditions: Node<'_, '_>) -> Result<Self, Fault> {
        let mut when = Self::default();
        for Member { key, value, .. } in conditions.members() {
            check_pointer(key).map_err(|error| error.at(value))?;
            let condition = Condition::read(&key_of(key), value)?;
            let added = when.add(key.to_owned(), condition);
            added.map_err(|error| error.at(value))?;
        }
        Ok(when)
    }

    /// Adds a condition that is not checked.
    fn add(&mut self, pointer: String, condition: Condition) -> Result<(), HookError> {
        check_pointer(&pointer)?;
        self.0.insert(pointer, Lazy::new(condition));
        Ok(())
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
        condition: Condition,
    ) -> Result<(), HookError> {
        self.add(pointer, condition)?;
        self.check(&Allowance::default())
    }

    pub(super) fn conditions(&self) -> impl Iterator<Item = (&str, &Condition)> {
        let tests = self.0.iter();
        tests.map(|(pointer, test)| (pointer.as_str(), &test.condition))
    }

    /// Checks that the conditions can be used.
    pub(super) fn check(&self, allowance: &Allowance) -> Result<(), HookError> {
        for (pointer, test) in &self.0 {
            if let Some(message) = test.check(allowance) {
                return Err(HookError::key(key_of(pointer), message));
            }
        }
        Ok(())
    }

    /// Returns whether all conditions match.
    pub(super) fn is_met(&self, at: &Compared<'_>, root: Option<&Path>, guards: bool) -> bool {
        let mut tests = self.0.iter();
        tests.all(|(pointer, test)| result(pointer, test, at, root).is_met(guards))
    }

    /// Returns each condition that does not match. `secrets` are masked in the values.
    pub(super) fn mismatches<'s>(
        &self,
        at: &Compared<'_>,
        root: Option<&Path>,
        guards: bool,
        secrets: impl Iterator<Item = &'s str> + Clone,
    ) -> Vec<Mismatch> {
        let tests = self.0.iter();
        let differing =
            tests.filter(|(pointer, test)| !result(pointer, test, at, root).is_met(guards));
        let mismatches = differing.map(|(pointer, test)| Mismatch {
            alternative: pointer.clone(),
            part: PatternPart::Condition,
            expected: test.condition.to_string(),
            found: display_of(pointer, at.event, secrets.clone()),
        });
        mismatches.collect()
    }

    /// Returns the pointers of conditions whose values cannot be tested.
    pub(super) fn untested(&self, at: &Compared<'_>, root: Option<&Path>) -> Vec<&str> {
        let tests = self.0.iter();
        let untested = tests
            .filter(|(pointer, test)| !matches!(result(pointer, test, at, root), Tested::Is(_)));
        untested.map(|(pointer, _)| pointer.as_str()).collect()
    }

    /// Returns the pointer of a condition whose value the event does not have.
    #[cfg(feature = "cli")]
    pub(super) fn absent(&self, event: &HookEvent) -> Option<&str> {
        let mut pointers = self.0.keys().map(String::as_str);
        pointers.find(|pointer| find(pointer, &event.data).is_none_or(Value::is_null))
    }

    /// Returns the pointer of a condition that the event does not surely meet.
    pub(super) fn doubt(&self, at: &Compared<'_>, root: Option<&Path>) -> Option<&str> {
        let mut tests = self.0.iter();
        let doubt = tests
            .find(|(pointer, test)| !matches!(surely(pointer, test, at, root), Tested::Is(true)));
        doubt.map(|(pointer, _)| pointer.as_str())
    }

    /// Returns the reason why a condition cannot be used, if compiling one has failed.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.0.values().find_map(Lazy::refusal)
    }

    /// Compiles the conditions that are not compiled yet.
    pub(super) fn compile(&self) {
        let allowance = Allowance::default();
        let mut tests = self.0.values();
        // One condition that cannot be used is enough.
        let _ = tests.find(|test| test.fault(&allowance).is_some());
    }
}

/// The result of testing a condition.
enum Tested {
    Is(bool),
    /// The value is missing or not a string, or the file that it names is not known.
    Unclear,
    /// The value is too long, or too much was tested for this event.
    TooMuch,
}

impl Tested {
    /// Returns whether the condition counts as met. A condition that cannot be tested must not skip a hook that guards.
    fn is_met(&self, guards: bool) -> bool {
        match self {
            Self::Is(met) => *met,
            Self::Unclear => guards,
            Self::TooMuch => true,
        }
    }
}

fn surely_of(forms: &Forms) -> Vec<&str> {
    forms.list[forms.spellings..]
        .iter()
        .map(String::as_str)
        .collect()
}

/// Returns the forms that an excluding glob is compared with: also absolute paths, which an author may have written.
fn surely_not_of(forms: &Forms) -> Vec<&str> {
    let mut all = surely_of(forms);
    all.extend(forms.absolute.iter().map(String::as_str));
    all
}

fn names_of(forms: &Forms) -> Vec<&str> {
    forms.list.iter().map(String::as_str).collect()
}

fn all_of(forms: &Forms) -> Vec<&str> {
    let all = forms.list.iter().chain(&forms.absolute);
    all.map(String::as_str).collect()
}

/// Tests whether a hook runs.
fn result(pointer: &str, test: &Lazy, at: &Compared<'_>, root: Option<&Path>) -> Tested {
    // An excluding condition must match the name of the path itself, and no other way to write it.
    let counted = match test.condition {
        Condition::Not(_) => names_of,
        _ => all_of,
    };
    tested(pointer, test, at, root, counted, Lazy::test)
}

/// Tests whether a hook may do more than stop something. The spelling of a path makes no difference in this case.
fn surely(pointer: &str, test: &Lazy, at: &Compared<'_>, root: Option<&Path>) -> Tested {
    let counted = match test.condition {
        Condition::Not(_) => surely_not_of,
        _ => surely_of,
    };
    tested(pointer, test, at, root, counted, Lazy::test_surely)
}

fn tested(
    pointer: &str,
    lazy: &Lazy,
    at: &Compared<'_>,
    root: Option<&Path>,
    counted: fn(&Forms) -> Vec<&str>,
    test: impl Fn(&Lazy, &[&str], &Budget) -> Option<bool>,
) -> Tested {
    let value = find(pointer, &at.event.data).and_then(Value::as_str);
    let Some(text) = value else {
        return Tested::Unclear;
    };
    let met = if !lazy.condition.is_of_paths() || is_too_long(text) {
        test(lazy, &[text], &at.budget)
    } else {
        match at.as_path(text, root) {
            AsPath::Unclear => return Tested::Unclear,
            AsPath::TooMany => None,
            AsPath::Forms(forms) => test(lazy, &counted(&forms), &at.budget),
        }
    };
    met.map_or(Tested::TooMuch, Tested::Is)
}

/// Returns the value at a pointer, by RFC 6901. None for the empty pointer: the whole data is not a string. This does not
/// use `Value::pointer`, which allocates twice for each part: most events are tested and not matched.
fn find<'a>(pointer: &str, data: &'a Map<String, Value>) -> Option<&'a Value> {
    let mut parts = pointer.strip_prefix('/')?.split('/').map(unescaped);
    let first = data.get(&*parts.next()?)?;
    parts.try_fold(first, |value, part| match value {
        Value::Object(members) => members.get(&*part),
        Value::Array(items) => items.get(index(&part)?),
        _ => None,
    })
}

fn unescaped(part: &str) -> Cow<'_, str> {
    if part.contains('~') {
        part.replace("~1", "/").replace("~0", "~").into()
    } else {
        part.into()
    }
}

/// Returns the index in a list. It has no sign and no leading zero.
fn index(part: &str) -> Option<usize> {
    let is_plain = part == "0" || !part.starts_with(['0', '+']);
    part.parse().ok().filter(|_| is_plain)
}

/// Returns the value, if the event has it, for people: shortened, with secrets masked. A key above the value may show that
/// it is a secret.
fn display_of<'s>(
    pointer: &str,
    event: &HookEvent,
    secrets: impl Iterator<Item = &'s str>,
) -> Option<String> {
    let value = find(pointer, &event.data)?;
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
            let value = find(pointer, &document);
            assert_eq!(value, Some(&expected), "{pointer}");
        }
        for pointer in [
            "", "/foo/2", "/foo/-", "/foo/00", "/foo/+0", "/foo/0/0", "/m~01n", "/x",
        ] {
            assert_eq!(find(pointer, &document), None, "{pointer}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn an_absolute_glob_sees_a_relative_path() {
        let event = HookEvent::tool_pre_execute("write", json!({"path": "a/b"}));
        let at = Compared::new(&event, Some(Path::new("/x/y")));
        let is_met = |condition: Condition| {
            let mut when = When::default();
            when.insert("/tool_args/path".to_owned(), condition)
                .unwrap();
            when.is_met(&at, None, true)
        };
        let not = |glob: &str| Condition::Not(Box::new(glob.into()));
        assert!(is_met("/x/y/a/*".into()));
        assert!(!is_met("/x/a/*".into()));
        // An excluding condition must match the name itself.
        assert!(!is_met(not("a/*")));
        assert!(is_met(not("/x/y/a/*")));
    }

    /// Only a glob has its value looked up, and once for all hooks.
    #[test]
    fn paths_are_looked_up_for_globs_alone() {
        let event = HookEvent::tool_pre_execute("write", json!({"path": "a/b", "command": "ls"}));
        let when = |condition: Condition| {
            let mut when = When::default();
            when.insert("/tool_args/path".to_owned(), condition)
                .unwrap();
            when
        };
        let at = Compared::new(&event, None);
        let regex = || Condition::Regex("^a/b$".to_owned());
        assert!(when(regex()).is_met(&at, None, true));
        assert!(!when(Condition::Not(Box::new(regex()))).is_met(&at, None, true));
        assert_eq!(at.looked_up(), 0);
        for glob in ["a/*", "b", "c"] {
            let _ = when(glob.into()).is_met(&at, None, true);
        }
        assert_eq!(at.looked_up(), 1);
        let _ = when("a".into()).is_met(&at, Some(Path::new("/other")), true);
        assert_eq!(at.looked_up(), 2);
    }
}
