//! Adds handlers to the text of an agent's settings, and removes them again. All other values stay, and so do comments.
//!
//! An added handler is the last one of its event, in a group of its own: Codex identifies handlers by their place, so those of the
//! user must keep theirs. A list or an object that would be empty without our handlers goes with them.

use jsonc_parser::cst::{CstContainerNode, CstNode, CstObject, CstRootNode};
use serde_json::{Value, json};

use super::is_as_written;
use crate::agents::{Agent, OwnCommand};
use crate::config::json_input;
use crate::json::{self, JsonTree, NOT_AN_OBJECT, Node, Position, Positions, parse_options};

/// The reason why a text cannot be edited safely.
#[derive(Debug)]
pub(crate) struct Mistake {
    /// The byte at which the mistake begins.
    pub(crate) place: usize,
    pub(crate) message: String,
}

impl Mistake {
    /// Returns its position in the text that was read.
    pub(crate) fn position(&self, text: &str) -> Position {
        let body = json::readable(text);
        Positions::new(&body, body.skipped).position(self.place)
    }
}

/// Returns the text with these handlers of the agent's events, in place of others of this program.
///
/// # Errors
/// If the text cannot be edited safely.
pub(crate) fn install(
    agent: &Agent,
    text: &str,
    handlers: &[(&'static str, Value)],
) -> Result<String, Mistake> {
    edited(agent, text, |root, mut own| {
        for (event, handler) in handlers {
            let of_event = own.extract_if(.., |(own, _)| own.event == *event);
            let of_event = of_event.collect::<Vec<_>>();
            let kept = of_event.iter().position(|(own, _)| own.value == *handler);
            let kept = kept.unwrap_or_default();
            match of_event.get(kept) {
                Some((own, node)) if own.value != *handler => replace(node, handler),
                Some(_) => {}
                None => {
                    let groups = root.object_value_or_set("hooks").array_value_or_set(event);
                    groups.append(json_input(&json!({"hooks": [handler]})));
                }
            }
            for (at, (_, node)) in of_event.into_iter().enumerate() {
                if at != kept {
                    remove(node);
                }
            }
        }
    })
}

/// Returns the text without handlers of this program, but for those to which a person has added something.
///
/// # Errors
/// If the text cannot be edited safely.
pub(crate) fn uninstall(agent: &Agent, text: &str) -> Result<String, Mistake> {
    edited(agent, text, |_, own| {
        for (own, node) in own {
            if own.is_as_written {
                remove(node);
            }
        }
    })
}

/// Returns the events with handlers that start this program, but are not as `install` writes them.
///
/// # Errors
/// If the text cannot be read.
pub(crate) fn changed_by_hand(agent: &Agent, text: &str) -> Result<Vec<String>, Mistake> {
    let body = json::readable(text);
    let mut events = Settings::read(agent, Node::new(&parsed(&body)?))?.changed;
    events.dedup();
    Ok(events)
}

/// Returns the handlers of this program: each event with its value.
///
/// # Errors
/// If the text cannot be read.
pub(crate) fn registered(agent: &Agent, text: &str) -> Result<Vec<(String, Value)>, Mistake> {
    let body = json::readable(text);
    let own = Settings::read(agent, Node::new(&parsed(&body)?))?.own;
    let own = own.into_iter();
    Ok(own.map(|own| (own.event, own.value)).collect())
}

/// Checks that the agent reads a text, and runs the handlers of this program for each call.
///
/// # Errors
/// If the agent does not.
pub(crate) fn usable(agent: &Agent, text: &str) -> Result<(), Mistake> {
    if agent.reads_plain_json
        && let Err(error) = json::parse::<Value>(text)
    {
        let before = text.split_inclusive('\n').take(error.line() - 1);
        let message = format!(
            "{} reads JSON without comments, and none of the file otherwise: {error}",
            agent.title()
        );
        return Err(Mistake {
            place: before.map(str::len).sum(),
            message,
        });
    }
    let body = json::readable(text);
    let tree = parsed(&body)?;
    let root = Node::new(&tree);
    let version = agent.version.zip(root.member("version"));
    if let Some((known, version)) = version
        && version.value().ok() != Some(known.into())
    {
        return Err(Mistake {
            place: version.place().start,
            message: format!(
                "`version` is not {known}, and {} reads none of the file then",
                agent.title()
            ),
        });
    }
    let settings = Settings::read(agent, root)?;
    match settings.own.into_iter().find_map(|own| own.narrowed) {
        Some(mistake) => Err(mistake),
        None => Ok(()),
    }
}

fn parsed(body: &str) -> Result<JsonTree<'_>, Mistake> {
    json::parse_object(body).map_err(|fault| Mistake {
        place: fault.place.start,
        message: match &*fault.message {
            NOT_AN_OBJECT => "expected an object".to_owned(),
            other => other.to_owned(),
        },
    })
}

/// Changes the tree of a text, given the handlers of this program in it.
fn edited(
    agent: &Agent,
    text: &str,
    change: impl FnOnce(&CstObject, Vec<(Own, CstNode)>),
) -> Result<String, Mistake> {
    let body = json::readable(text);
    let own = Settings::read(agent, Node::new(&parsed(&body)?))?.own;
    // The same text was read above, so both trees have the same values.
    let tree = CstRootNode::parse(&body, &parse_options()).ok();
    let root = tree.as_ref().and_then(CstRootNode::object_value);
    let (Some(tree), Some(root)) = (tree, root) else {
        return Err(Mistake {
            place: 0,
            message: "expected an object".to_owned(),
        });
    };
    let own = own.into_iter().filter_map(|own| {
        let node = own.node(&root)?;
        Some((own, node))
    });
    change(&root, own.collect());
    Ok(text[..body.skipped].to_owned() + &tree.to_string())
}

/// Sets the members of a handler where it stands. Others, and comments, stay.
fn replace(handler: &CstNode, new: &Value) {
    let Some(object) = handler.as_object() else {
        return;
    };
    for (key, value) in new.as_object().into_iter().flatten() {
        match object.get(key) {
            Some(member) => member.set_value(json_input(value)),
            None => drop(object.append(key, json_input(value))),
        }
    }
}

/// Removes a handler, with its group, its event and the object of all events if they would be empty.
fn remove(handler: CstNode) {
    let mut removed = handler;
    while let Some(above) = removed.parent().filter(would_be_empty) {
        removed = above.into();
    }
    removed.remove();
}

/// Returns whether a list or an object has nothing but one item that is removed. A group does nothing without its handlers.
fn would_be_empty(above: &CstContainerNode) -> bool {
    let has_comment = above.children().iter().any(CstNode::is_comment);
    match above {
        CstContainerNode::Array(list) => list.elements().len() == 1 && !has_comment,
        CstContainerNode::Object(object) => match object.parent() {
            Some(CstContainerNode::Array(_)) => !has_comment && is_bare(object),
            Some(CstContainerNode::ObjectProp(_)) => object.properties().len() == 1 && !has_comment,
            _ => false,
        },
        CstContainerNode::ObjectProp(_) => true,
        CstContainerNode::Root(_) => false,
    }
}

/// Returns whether a group has nothing of a person besides its handlers.
fn is_bare(group: &CstObject) -> bool {
    let names = group.properties().into_iter();
    let mut names = names.map(|member| member.decoded_name().unwrap_or_default());
    names.all(|name| matches!(&*name, "hooks" | "matcher"))
}

struct Settings {
    own: Vec<Own>,
    /// The events of the handlers that start this program, but not as `install` writes it.
    changed: Vec<String>,
}

/// A handler of this program.
struct Own {
    event: String,
    /// The places of its group within the event, and of the handler within the group.
    group: usize,
    handler: usize,
    value: Value,
    /// False if a person has added something to the script.
    is_as_written: bool,
    /// The mistake, if a matcher excludes some calls.
    narrowed: Option<Mistake>,
}

impl Own {
    /// Returns the handler in another tree of the same text.
    fn node(&self, root: &CstObject) -> Option<CstNode> {
        let groups = root.object_value("hooks")?.array_value(&self.event)?;
        let group = groups.elements().get(self.group)?.as_object()?;
        let handlers = group.array_value("hooks")?.elements();
        handlers.into_iter().nth(self.handler)
    }
}

impl Settings {
    fn read(agent: &Agent, root: Node<'_, '_>) -> Result<Self, Mistake> {
        let (mut own, mut changed) = (Vec::new(), Vec::new());
        once_each(root)?;
        let Some(hooks) = root.member("hooks") else {
            return Ok(Self { own, changed });
        };
        expect(hooks, "an object", hooks.is_object())?;
        all_once(hooks)?;
        for event in hooks.members() {
            let (event, groups) = (event.key, event.value);
            if agent.event_named(event).is_none() {
                continue;
            }
            expect(groups, "a list", groups.items().is_some())?;
            for (group, handler, (node, value)) in handlers(groups) {
                let command = value.member("command").and_then(|command| command.text());
                let command = command.unwrap_or_default();
                let read = OwnCommand::read(agent, command);
                let is_as_written = read.as_ref().is_some_and(|own| is_as_written(agent, own));
                if !is_as_written && OwnCommand::is_within(agent, command) {
                    changed.push(event.to_owned());
                }
                if read.is_some() {
                    own.push(Own {
                        event: event.to_owned(),
                        group,
                        handler,
                        value: value.value().unwrap_or_default(),
                        is_as_written,
                        narrowed: narrowed(node),
                    });
                }
            }
        }
        Ok(Self { own, changed })
    }
}

/// Returns each handler of the groups of an event, with its group and the places of both.
fn handlers<'t, 'a>(
    groups: Node<'t, 'a>,
) -> impl Iterator<Item = (usize, usize, (Node<'t, 'a>, Node<'t, 'a>))> {
    let groups = groups.items().into_iter().flatten().enumerate();
    groups.flat_map(|(at, group)| {
        let handlers = group.member("hooks").and_then(|handlers| handlers.items());
        let handlers = handlers.into_iter().flatten().enumerate();
        handlers.map(move |(place, handler)| (at, place, (group, handler)))
    })
}

/// Refuses a matcher that does not match everything.
fn narrowed(group: Node<'_, '_>) -> Option<Mistake> {
    let matcher = group.member("matcher")?;
    if matcher
        .text()
        .is_some_and(|text| matches!(text, "" | "*" | ".*"))
    {
        return None;
    }
    Some(Mistake {
        place: matcher.place().start,
        message: "a matcher keeps this program from some calls, which pass: expected none, or `*`"
            .to_owned(),
    })
}

fn expect(value: Node<'_, '_>, what: &str, is_so: bool) -> Result<(), Mistake> {
    let mistake = || Mistake {
        place: value.place().start,
        message: format!("`{}` is {}, expected {what}", value.key, value.kind()),
    };
    is_so.then_some(()).ok_or_else(mistake)
}

/// Refuses a key that occurs twice: readers differ in which one counts.
fn once_each(object: Node<'_, '_>) -> Result<(), Mistake> {
    let mut keys = std::collections::HashSet::new();
    match object.members().find(|member| !keys.insert(member.key)) {
        None => Ok(()),
        Some(member) => Err(Mistake {
            place: member.key_range.start,
            message: format!("the key `{}` occurs twice", member.key),
        }),
    }
}

/// Refuses repeated keys in all objects within a value.
fn all_once(value: Node<'_, '_>) -> Result<(), Mistake> {
    once_each(value)?;
    value
        .members()
        .try_for_each(|member| all_once(member.value))?;
    value.items().into_iter().flatten().try_for_each(all_once)
}
