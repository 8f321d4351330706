//! The cases of an entry: events that its conditions must match, and events that they must let pass.
//!
//! They test the tool and the conditions alone, as in an empty directory: no process is started, and no file is looked at. They
//! change no run of the hook.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::answers::Answers;
use super::condition::Condition;
use super::definition::Hook;
use super::error::{Fault, HookError};
use super::keys::{CASES, TWICE};
use super::search::Search;
use crate::entry::{Decision, HookCommand};
use crate::events::{EventType, HookEvent};
use crate::json::{Member, Node};
use crate::pattern::Alternative;
use crate::printable::{grouped, shortened};

const MATCHES: &str = "matches";
const PASSES: &str = "passes";

/// The most cases of an entry that are tested.
const MOST_CASES: usize = 1000;

const NO_CONDITION: &str = "the entry has no condition, and cases test only conditions: what its command decides is tested by \
     `forge-hooks test` with a table";
const SEVERAL_CONDITIONS: &str = "the entry has more than one condition, and a string is the value that its one condition \
     tests: write an object with the event's data, as in {\"tool_args\": {\"command\": \"ls\"}}";

/// The root of the project in which cases are tested. It is empty.
const ROOT: &str = if cfg!(windows) {
    "C:/project"
} else {
    "/project"
};

struct Case<'t, 'a> {
    /// Its path in the entry, such as `cases.matches[0]`.
    key: String,
    list: &'static str,
    value: Node<'t, 'a>,
}

/// The answer of the conditions to a case.
struct Tested {
    is_match: bool,
    why: String,
}

impl Case<'_, '_> {
    fn holds(&self, tested: &Tested) -> bool {
        tested.is_match == (self.list == MATCHES)
    }

    /// Returns the error of a case that does not hold.
    fn failed(&self, hook: &Hook, tested: &Tested) -> Fault {
        let case = match self.value.text() {
            Some(text) => shortened(text).into_owned(),
            None => shortened(&self.value.json()).into_owned(),
        };
        let what = if tested.is_match {
            "matches, and must let pass"
        } else {
            "lets pass, and must match"
        };
        let message = format!("`{}` {what} `{case}`: {}", hook.label(), tested.why);
        HookError::key(&*self.key, message).at(self.value)
    }
}

impl Hook {
    /// Returns the number of cases that match, and of those that pass; none without cases.
    #[cfg(feature = "cli")]
    pub(crate) fn count_of_cases(&self) -> Option<[usize; 2]> {
        let cases = self.settings.options.cases.as_ref()?;
        Some([MATCHES, PASSES].map(|list| cases[list].as_array().map_or(0, Vec::len)))
    }

    /// Returns the mistakes in the cases of this hook's entry, and, if `tests`, the cases that do not hold.
    pub(crate) fn faults_of_cases(&self, entry: Node<'_, '_>, tests: bool) -> Vec<Fault> {
        let mut members = entry.members().filter(|member| member.key == CASES);
        let mut faults = Vec::new();
        let first = members.next();
        faults.extend(members.map(|again| twice(CASES, &again)));
        let cases = first.filter(|member| !member.value.is_null());
        let cases = cases.map(|member| cases_in(member.value, &mut faults));
        for case in cases.into_iter().flatten() {
            let fault = if !tests {
                self.event_of(case.value, &case.key).err()
            } else {
                match self.test(case.value, &case.key) {
                    Ok(tested) if case.holds(&tested) => None,
                    Ok(tested) => Some(case.failed(self, &tested)),
                    Err(fault) => Some(fault),
                }
            };
            faults.extend(fault);
        }
        faults
    }

    /// Leaves out the cases that do not hold, which would mislead a reader, and returns their number with that of the mistakes.
    pub(crate) fn with_true_cases(self) -> (Self, usize) {
        let Some(value) = self.settings.options.cases.clone() else {
            return (self, 0);
        };
        let mut faults = Vec::new();
        let (mut kept, mut left_out) = (Map::new(), 0);
        for case in cases_in(Node::from(&*value), &mut faults) {
            let tested = self.test(case.value, &case.key);
            match case.value.value() {
                Ok(value) if tested.is_ok_and(|tested| case.holds(&tested)) => {
                    let list = kept.entry(case.list).or_insert_with(|| json!([]));
                    list.as_array_mut()
                        .into_iter()
                        .for_each(|list| list.push(value.clone()));
                }
                _ => left_out += 1,
            }
        }
        let cases = (!kept.is_empty()).then(|| Arc::new(Value::Object(kept)));
        let hook = self.set(|settings| settings.options.cases = cases);
        (hook, left_out + faults.len())
    }

    /// Tests one case.
    ///
    /// # Errors
    /// If the case has no valid form.
    fn test(&self, case: Node<'_, '_>, key: &str) -> Result<Tested, Fault> {
        let event = self.event_of(case, key)?;
        if !self.is_for_tool(event.tool_name.as_deref()) {
            let pattern = shortened(self.event_pattern());
            let why = format!("`{pattern}` names another tool");
            return Ok(Tested {
                is_match: false,
                why,
            });
        }
        if let Some(pointer) = self.missing_in_case(&event) {
            let message = format!(
                "the case has no value at `{pointer}`, which the condition tests: it would match whatever it is"
            );
            return Err(HookError::key(key, message).at(case));
        }
        let at = self.compared(&event, None).without_files();
        let guards = self.guards(event.event_type.can_block());
        let answers = self.settings.when.iter();
        let answers = answers.flat_map(|when| when.answers(&at, Some(Path::new(ROOT))));
        let mut matching = None;
        for ((pointer, condition), (_, answers)) in self.when().zip(answers) {
            let is_met = if self.allows() {
                answers.is_certain()
            } else {
                answers.is_met(guards)
            };
            let why = described(pointer, condition, &answers, is_met);
            if !is_met {
                return Ok(Tested {
                    is_match: false,
                    why,
                });
            }
            matching = matching.or(Some(why));
        }
        Ok(Tested {
            is_match: true,
            why: matching.unwrap_or_else(|| "the entry has no condition".to_owned()),
        })
    }

    /// Returns the pointer of a condition on a value that the event of a case does not have. A search without a path is one in the
    /// working directory.
    fn missing_in_case(&self, event: &HookEvent) -> Option<&str> {
        let pointer = self.settings.when.as_ref()?.absent(event)?;
        let is_search = pointer == Search::PATH && Search::of(event).is_some();
        (!is_search).then_some(pointer)
    }

    /// Returns whether the answer in the entry lets something pass, so that its conditions must be certain.
    fn allows(&self) -> bool {
        match self.action() {
            HookCommand::Answer(answer) => answer.decision == Some(Decision::Allow),
            _ => false,
        }
    }

    fn is_for_tool(&self, tool: Option<&str>) -> bool {
        let is_for = |alternative: &Alternative| {
            let part = alternative.tool();
            part.is_none_or(|part| tool.is_none_or(|tool| part.matches(tool)))
        };
        self.pattern().alternatives().iter().any(is_for)
    }

    /// Returns the event of a case.
    fn event_of(&self, case: Node<'_, '_>, key: &str) -> Result<HookEvent, Fault> {
        let mut event = self.implied();
        if let Some(text) = case.text() {
            let mut pointers = self.when().map(|(pointer, _)| pointer);
            event.data = match (pointers.next(), pointers.next()) {
                (Some(pointer), None) => data_with(pointer, text),
                (first, _) => {
                    let message = match first {
                        None => NO_CONDITION,
                        Some(_) => SEVERAL_CONDITIONS,
                    };
                    return Err(HookError::key(key, message).at(case));
                }
            };
            return Ok(event);
        }
        let value = case.value();
        let value = value.map_err(|fault| HookError::key(key, fault.message).in_place(fault.place));
        let Value::Object(mut data) = value? else {
            let expected = "a string, or an object with the event's data";
            return Err(HookError::unexpected(key, expected, case.kind()).at(case));
        };
        match data.remove("tool_name") {
            None | Some(Value::Null) => {}
            Some(Value::String(tool)) => event.tool_name = Some(tool),
            Some(other) => {
                let (key, found) = (format!("{key}.tool_name"), crate::json::kind(&other));
                return Err(HookError::unexpected(key, "a string", found).at(case));
            }
        }
        event.data = data;
        Ok(event)
    }

    /// Returns the first event that the pattern names, one that hooks can block before others, with the first tool that the
    /// pattern names.
    fn implied(&self) -> HookEvent {
        let pattern = self.pattern();
        let known = || {
            let builtin = EventType::BUILTIN.into_iter();
            builtin.filter(|event_type| pattern.matches_type(event_type))
        };
        let own = || {
            let mut alternatives = pattern.alternatives().iter();
            alternatives.find_map(|alternative| EventType::custom(alternative.event_text()).ok())
        };
        let blockable = known().find(EventType::can_block);
        let event_type = blockable.or_else(own).or_else(|| known().next());
        let event_type = event_type.unwrap_or(EventType::ToolPreExecute);
        let mut tools = pattern.alternatives().iter().filter_map(|alternative| {
            let part = alternative.tool()?;
            part.names.iter().find(|name| name.is_literal())
        });
        let tool = tools.next().map(|name| name.text.to_string());
        let mut event = HookEvent::new(event_type);
        event.tool_name = tool;
        event
    }
}

/// Returns the cases, and adds the mistakes in the form of their lists.
fn cases_in<'t, 'a>(cases: Node<'t, 'a>, faults: &mut Vec<Fault>) -> Vec<Case<'t, 'a>> {
    let mut all = Vec::new();
    if !cases.is_object() {
        let expected = "an object with the lists `matches` and `passes`";
        faults.push(HookError::unexpected(CASES, expected, cases.kind()).at(cases));
    }
    let mut seen = Vec::new();
    for member in cases.members() {
        let key = format!("{CASES}.{}", member.key);
        let Some(list) = [MATCHES, PASSES]
            .into_iter()
            .find(|list| *list == member.key)
        else {
            let found = format!("`{}`", shortened(member.key));
            let error = HookError::unexpected(key, "one of `matches`, `passes`", &found);
            faults.push(error.in_place(member.key_range));
            continue;
        };
        if seen.contains(&list) {
            faults.push(twice(&key, &member));
        }
        seen.push(list);
        let Some(items) = member.value.items() else {
            let found = member.value.kind();
            let expected = "a list of cases";
            faults.push(HookError::unexpected(key, expected, found).at(member.value));
            continue;
        };
        all.extend(items.enumerate().map(|(index, value)| Case {
            key: format!("{key}[{index}]"),
            list,
            value,
        }));
    }
    if let Some(first) = all.get(MOST_CASES) {
        let most = grouped(MOST_CASES);
        let message = format!("an entry has at most {most} cases: write another entry");
        faults.push(HookError::key(&*first.key, message).at(first.value));
        all.truncate(MOST_CASES);
    }
    all
}

fn twice(key: &str, member: &Member<'_, '_>) -> Fault {
    HookError::key(key, TWICE).in_place(member.key_range.clone())
}

/// Returns data with this text at a pointer.
fn data_with(pointer: &str, text: &str) -> Map<String, Value> {
    let steps: Vec<_> = pointer.split('/').skip(1).collect();
    let value = steps
        .iter()
        .rev()
        .fold(json!(text), |value, step| match *step {
            "*" => json!([value]),
            step => json!({ step.replace("~1", "/").replace("~0", "~"): value }),
        });
    match value {
        Value::Object(data) => data,
        _ => Map::new(),
    }
}

/// Describes the answer of a condition.
fn described(pointer: &str, condition: &Condition, answers: &Answers, is_met: bool) -> String {
    let text = condition.to_string();
    let condition = format!("the condition on `{pointer}`, `{}`,", shortened(&text));
    match (answers.untested(), &answers.met) {
        (Some(why), _) => format!("{condition} could not be tested: {why}"),
        (None, Some(part)) => format!("{condition} matches: {part}"),
        (None, None) if is_met => format!("{condition} matches"),
        (None, None) if answers.yes => format!("{condition} is not certain"),
        (None, None) => format!("{condition} does not match"),
    }
}
