//! Real inputs that agents wrote to their hooks: hooks of hooks.json get each value, once.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::call::Call;
use super::paths::Places;
use super::turn::with_named_patch;
use crate::agents::{Agent, BRIDGED, COPILOT, Tool};
use crate::compat::INPUTS;

const REAL: &str = include_str!("../../tests/it/agents/real_events.txt");
const ANSWERED: &str = include_str!("../../tests/it/golden/agents_inputs.txt");
const ROOT: &str = "/work/project";

/// Values that are no objects and no lists, or empty ones, by their JSON pointers.
type Leaves = BTreeMap<String, Value>;

fn leaves(value: &Value) -> Leaves {
    fn add(value: &Value, path: &str, leaves: &mut Leaves) {
        let members: Vec<_> = match value {
            Value::Object(members) => members
                .iter()
                .map(|(key, member)| (key.replace('~', "~0").replace('/', "~1"), member))
                .collect(),
            Value::Array(members) => members
                .iter()
                .enumerate()
                .map(|(index, member)| (index.to_string(), member))
                .collect(),
            _ => Vec::new(),
        };
        if members.is_empty() {
            leaves.insert(path.to_owned(), value.clone());
        }
        for (key, member) in members {
            add(member, &format!("{path}/{key}"), leaves);
        }
    }
    let mut all = Leaves::new();
    add(value, "", &mut all);
    all
}

/// An input of an agent's hook.
struct Input {
    agent: &'static Agent,
    tool: Option<&'static Tool>,
    fields: Map<String, Value>,
}

impl Input {
    /// Reads a row `AGENT EVENT FIELDS`. Fields that every input has can be missing.
    fn new(agent: &str, event: &str, fields: &str) -> Self {
        let mut agents = BRIDGED.into_iter();
        let agent = agents.find(|other| other.name() == agent).unwrap();
        let common = json!({"session_id": "s1", "cwd": ROOT, "hook_event_name": event});
        let mut all = common.as_object().unwrap().clone();
        all.extend(serde_json::from_str::<Map<_, _>>(fields).unwrap());
        let all = with_named_patch(agent, all);
        Self {
            agent,
            tool: all
                .get("tool_name")
                .and_then(|name| agent.tool(name.as_str().unwrap())),
            fields: all,
        }
    }

    /// Returns the events that hooks get: the whole, and its parts. None if no event of ours corresponds to the input.
    fn fired(&self) -> Option<(Value, Vec<Value>)> {
        let event = self.agent.event(self.fields.clone().into()).ok()?;
        let places = Places {
            cwd: Path::new(self.fields["cwd"].as_str().unwrap()),
            root: Path::new(ROOT),
        };
        let call = Call::new(self.agent, event, places);
        let parsed = |text: String| serde_json::from_str::<Value>(&text).unwrap();
        // A call without its arguments has none.
        let parts = call.parts().unwrap_or_default().into_iter();
        let whole = match call.whole() {
            // The files of the recorded events are not here.
            Err(why) if why.starts_with("there is no file") => return None,
            whole => whole.unwrap(),
        };
        Some((
            parsed(whole.to_json()),
            parts.map(|part| parsed(part.to_json())).collect(),
        ))
    }

    /// Returns the places where hooks may find a value, and its value there.
    fn expected(&self, pointer: &str, value: &Value) -> (Vec<String>, Value) {
        let (key, rest) = match pointer[1..].split_once('/') {
            Some((key, rest)) => (key, format!("/{rest}")),
            None => (&pointer[1..], String::new()),
        };
        let key = match key {
            "session_id" => return (vec!["/session_id".to_owned()], value.clone()),
            "tool_name" => return (vec!["/tool_name".to_owned()], self.tool_name(value)),
            // The value is also in the data itself.
            "agent_type" | "agent_id" => {
                return (vec![format!("/data/agent/{key}")], value.clone());
            }
            "tool_input" => return self.argument(rest.trim_start_matches("/tool_input"), value),
            // These are the parts of an output other than its text.
            "tool_result" if self.agent == COPILOT => {
                return (
                    vec![format!("/data/agent/tool_response{rest}")],
                    value.clone(),
                );
            }
            "tool_response" | "tool_output" => "tool_result",
            "prompt" => "content",
            "prompt_response" => "last_assistant_message",
            other => other,
        };
        let own = &pointer[1..];
        let places = [
            format!("/data/agent/{own}"),
            format!("/data/{key}{rest}"),
            format!("/data/{own}"),
        ];
        (places.into(), value.clone())
    }

    fn tool_name(&self, theirs: &Value) -> Value {
        let server = self.fields.get("mcp_context");
        match (self.tool, server) {
            // Hooks get the files of a patch, and each edit, under our names.
            (Some(tool), _) if !matches!(tool.theirs, "apply_patch" | "MultiEdit") => {
                tool.ours[0].into()
            }
            (_, Some(server)) => {
                let text = |key: &str| server[key].as_str().unwrap();
                format!("mcp__{}__{}", text("server_name"), text("tool_name")).into()
            }
            _ => {
                let mut joined = self.agent.joined_names(theirs.as_str().unwrap());
                joined.next().map_or(theirs.clone(), Value::from)
            }
        }
    }

    /// Returns the place of an argument. `rest` begins with its name.
    fn argument(&self, rest: &str, value: &Value) -> (Vec<String>, Value) {
        let mut rows = self.tool.iter().flat_map(|tool| tool.arguments);
        let row = rows.find(|(theirs, _)| rest == format!("/{theirs}"));
        let ours = row.map_or(rest.to_owned(), |(_, ours)| format!("/{ours}"));
        let value = match value.as_str() {
            Some(path) if ours == "/path" && self.tool.is_some() => relative(path).into(),
            _ => value.clone(),
        };
        (vec![format!("/data/tool_args{ours}")], value)
    }
}

/// The path of a file of these events as hooks see it.
fn relative(path: &str) -> &str {
    match path.strip_prefix(ROOT) {
        Some("" | "/") => ".",
        Some(rest) => rest.trim_start_matches('/'),
        None => path.trim_start_matches("./"),
    }
}

/// The numbers of values that kept their names, were renamed, and were normalised.
type Counts = [usize; 3];

/// Finds each value of the input in the events that hooks get. Checks that these have no other values but those that the page lists.
#[track_caller]
fn check(input: &Input, whole: &Value, counts: &mut Counts) {
    let mut got = leaves(whole);
    for (pointer, value) in leaves(&input.fields.clone().into()) {
        // Grok Build repeats the name of a server's tool beside its arguments.
        if pointer == "/tool_input/tool_name" && input.agent.name() == "grok" {
            counts[1] += 1;
            continue;
        }
        let (places, expected) = input.expected(&pointer, &value);
        let place = places
            .iter()
            .find(|place| got.get(*place) == Some(&expected));
        let text = value.as_str().unwrap_or_default();
        let output = whole["data"]["tool_result"].as_str().unwrap_or_default();
        if place.is_none() && pointer.starts_with("/tool_res") && output.contains(text) {
            // Each text of an output is present once: where hooks may change it.
            counts[1] += 1;
            continue;
        }
        let Some(place) = place else {
            panic!("lost {pointer}: {value}\nof {:?}\nin {whole}", input.fields)
        };
        got.remove(place);
        let name = |pointer: &str| pointer.rsplit('/').next().unwrap().to_owned();
        let kind = if expected == value {
            usize::from(name(place) != name(&pointer))
        } else if pointer == "/tool_name" {
            1
        } else {
            2
        };
        counts[kind] += 1;
    }
    for (pointer, value) in got {
        let is_documented = match &*pointer {
            "/type" => {
                let name = input.fields["hook_event_name"].as_str().unwrap();
                let ours = input.agent.event_named(name).unwrap().ours();
                value.as_str() == ours
            }
            "/timestamp" => value.is_number(),
            "/data/agent/name" => value == input.agent.name(),
            "/data/agent_type" => {
                let kind = input.fields.get("agent_type");
                value == *kind.unwrap_or(&"main".into())
            }
            "/data/agent_id" => input.fields.get("agent_id") == Some(&value),
            // The prompt is a list.
            "/data/content" => input.fields["prompt"].is_array(),
            "/data/tool_args/url" => {
                let text = whole["data"]["tool_args"]["prompt"].as_str().unwrap();
                text.contains(value.as_str().unwrap())
            }
            "/data/tool_result" => {
                is_text_of(&value, &input.fields[input.agent.key("tool_result")])
            }
            _ if pointer.starts_with("/data/agent/tool_response/") => {
                value == "" || value == "text"
            }
            _ => false,
        };
        assert!(
            is_documented,
            "not of the input: {pointer}: {value}\n{whole}"
        );
    }
}

/// Returns whether a text consists of texts of the tool's output.
fn is_text_of(text: &Value, output: &Value) -> bool {
    let mut text = text.as_str().unwrap().to_owned();
    let leaves = leaves(output);
    let mut parts: Vec<_> = leaves.values().filter_map(Value::as_str).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    for part in parts {
        text = text.replacen(part, "", 1);
    }
    !output.is_string() && text.trim().is_empty()
}

/// Checks that a part is the whole with another tool and other arguments.
#[track_caller]
fn check_part(input: &Input, whole: &Value, part: &Value) {
    let common = |event: &Value| {
        let mut event = event.clone();
        event["timestamp"].take();
        event["tool_name"].take();
        event["data"]["tool_args"].take();
        event
    };
    assert_eq!(common(part), common(whole));
    if input.tool.is_some() {
        return;
    }
    let all = leaves(&whole["data"]["tool_args"]);
    let mut own = leaves(&part["data"]["tool_args"]);
    let is_edit = part["tool_name"] == "edit";
    let is_of_path = is_edit
        || ["grep", "ls", "read"]
            .iter()
            .any(|tool| part["tool_name"] == *tool);
    if is_of_path {
        let path = own.remove("/path").unwrap();
        let mut texts = all.values().filter_map(Value::as_str);
        assert!(texts.any(|text| relative(text) == path), "{part}");
    }
    if is_edit {
        // It has the other texts.
        own.remove("/new_string").unwrap();
    }
    for (pointer, value) in all {
        let is_own = is_of_path && pointer == "/path" || is_edit && pointer == "/new_string";
        assert!(
            is_own || own.remove(&pointer) == Some(value),
            "{pointer} in {part}"
        );
    }
    assert!(own.is_empty(), "{own:?} in {part}");
}

/// Checks the inputs. Returns how many fired an event, and the counts of their values.
#[track_caller]
fn check_all(inputs: &[Input]) -> (usize, Counts) {
    let (mut fired, mut counts) = (0, Counts::default());
    for input in inputs {
        let Some((whole, parts)) = input.fired() else {
            let event = input.fields["hook_event_name"].as_str().unwrap();
            assert!(
                matches!(event, "BeforeToolSelection" | "BeforeTool"),
                "{event}"
            );
            continue;
        };
        fired += 1;
        check(input, &whole, &mut counts);
        for part in &parts {
            check_part(input, &whole, part);
        }
    }
    (fired, counts)
}

/// The rows of a text, as cells.
fn rows<'t>(text: &'t str, between: &'t str) -> impl Iterator<Item = [&'t str; 3]> {
    let rows = text.trim().lines().filter(|row| !row.starts_with('#'));
    rows.filter_map(move |row| {
        let cells: Vec<_> = row.splitn(3, between).collect();
        cells.try_into().ok()
    })
}

#[test]
fn hooks_get_every_value_of_real_events() {
    let inputs: Vec<_> = rows(REAL, " | ")
        .map(|[agent, event, fields]| Input::new(agent, event, fields))
        .collect();
    for agent in BRIDGED {
        let is_there = inputs.iter().any(|input| input.agent == agent);
        assert!(is_there, "real_events.txt has no event of {agent}");
    }
    assert_eq!(check_all(&inputs), (212, [2278, 196, 35]));
}

#[test]
fn hooks_get_every_value_of_events_in_other_tests() {
    let inputs = rows(INPUTS, " ");
    let mut inputs: Vec<_> = inputs
        .map(|[agent, event, fields]| Input::new(agent, event, fields))
        .collect();
    for row in ANSWERED.lines().filter_map(|row| row.strip_prefix("@ ")) {
        let (event, fields) = row.split_once(" | ").unwrap();
        let (agent, event) = event.split_once(' ').unwrap();
        let event = event.split(',').next().unwrap();
        inputs.push(Input::new(agent, event, fields));
    }
    check_all(&inputs);
}

/// Fields that no row has, under names that mean something here.
#[test]
fn fields_that_no_row_has_are_kept() {
    let names = [
        "agent",
        "args",
        "content",
        "data",
        "error",
        "event",
        "last_assistant_message",
        "message",
        "name",
        "perm_level",
        "timestamp",
        "tool_args",
        "tool_result",
        "type",
    ];
    let mut inputs = Vec::new();
    for [agent, event, fields] in rows(INPUTS, " ") {
        let mut all: Map<String, Value> = serde_json::from_str(fields).unwrap();
        for name in names {
            all.entry(name)
                .or_insert(format!("{name} of {agent}").into());
        }
        inputs.push(Input::new(agent, event, &Value::from(all).to_string()));
    }
    check_all(&inputs);
}

#[test]
fn parts_of_an_unknown_tool_have_each_argument() {
    let arguments = json!({"command": "ls", "target_file": "/work/project/a", "old_path": "./b", "depth": [1, {"x": null}]});
    let fields = json!({"tool_name": "mcp__s__t", "tool_input": arguments});
    let input = Input::new("claude", "PreToolUse", &fields.to_string());
    let (_, parts) = input.fired().unwrap();
    let tools: Vec<_> = parts.iter().map(|part| &part["tool_name"]).collect();
    assert_eq!(tools, ["bash", "edit", "edit"]);
    check_all(&[input]);
}
