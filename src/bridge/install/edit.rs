//! Adds handlers to the text of an agent's settings, and removes them again: every other byte stays.
//!
//! An added handler is the last item of its list or object, with the white space of the item that was last: Codex identifies
//! handlers by their place, so those of the user must keep theirs. A removal finds where the addition began and ended. An item
//! directly after a bracket was added to an empty list or object of the user, which stays.

use std::ops::Range;

use serde_json::Value;

use super::is_as_written;
use crate::compat::{Agent, OwnCommand};
use crate::json::{self, JsonTree, NOT_AN_OBJECT, Node};

/// The reason why a text cannot be edited safely.
#[derive(Debug)]
pub(crate) struct Mistake {
    /// The byte at which the mistake begins.
    pub(crate) place: usize,
    pub(crate) message: String,
}

/// White space between values.
const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];

/// A change of a text: these bytes become this text.
type Splice = (Range<usize>, String);

/// Returns the text with these handlers of the agent's events, in place of others of this program.
///
/// # Errors
/// If the text cannot be edited safely.
pub(crate) fn install(
    agent: &Agent,
    text: &str,
    handlers: &[(&'static str, String)],
) -> Result<String, Mistake> {
    handlers
        .iter()
        .try_fold(text.to_owned(), |text, (event, handler)| {
            edited(agent, text, |settings| settings.towards(event, handler))
        })
}

/// Returns the text without handlers of this program, but for those to which a person has added something.
///
/// # Errors
/// If the text cannot be edited safely.
pub(crate) fn uninstall(agent: &Agent, text: &str) -> Result<String, Mistake> {
    edited(agent, text.to_owned(), |settings| {
        let own = settings.own.iter().find(|own| own.is_as_written)?;
        Some(settings.without(own))
    })
}

/// Returns the events with handlers that start this program, but are not as `install` writes them.
///
/// # Errors
/// If the text cannot be read.
pub(crate) fn changed_by_hand(agent: &Agent, text: &str) -> Result<Vec<String>, Mistake> {
    let body = json::readable(text);
    let tree = parsed(&body)?;
    let mut events = Settings::read(agent, &body, Node::new(&tree))?.changed;
    events.dedup();
    Ok(events)
}

/// Returns the handlers of this program: each event with its value.
///
/// # Errors
/// If the text cannot be read.
pub(crate) fn registered(agent: &Agent, text: &str) -> Result<Vec<(String, Value)>, Mistake> {
    let body = json::readable(text);
    let tree = parsed(&body)?;
    let settings = Settings::read(agent, &body, Node::new(&tree))?;
    let own = settings.own.into_iter();
    let own = own.map(|own| (own.event, own.value.unwrap_or_default()));
    Ok(own.collect())
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
    let settings = Settings::read(agent, &body, root)?;
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

/// Repeats a change until there is none.
fn edited(
    agent: &Agent,
    mut text: String,
    change: impl Fn(&Settings<'_>) -> Option<Vec<Splice>>,
) -> Result<String, Mistake> {
    loop {
        let body = json::readable(&text);
        let tree = parsed(&body)?;
        let settings = Settings::read(agent, &body, Node::new(&tree))?;
        let Some(mut splices) = change(&settings) else {
            return Ok(text);
        };
        let skipped = body.skipped;
        // The splices are applied from the end, so that the places of the others stay valid.
        splices.sort_by_key(|(range, _)| range.start);
        for (Range { start, end }, new) in splices.into_iter().rev() {
            text.replace_range(skipped + start..skipped + end, &new);
        }
    }
}

struct Settings<'t> {
    text: &'t str,
    root: Node<'t, 't>,
    own: Vec<Own>,
    /// The events of the handlers that start this program, but not as `install` writes it.
    changed: Vec<String>,
}

/// A handler of this program.
struct Own {
    event: String,
    value: Option<Value>,
    /// False if a person has added something to the script.
    is_as_written: bool,
    /// The mistake, if a matcher excludes some calls.
    narrowed: Option<Mistake>,
    /// The places of the handler: in the list of a group, in that of an event, in the object of events, in the whole.
    levels: [Level; 4],
}

/// An item of a list or an object.
struct Level {
    container: Range<usize>,
    items: Vec<Range<usize>>,
    index: usize,
}

impl<'t> Settings<'t> {
    fn read(agent: &Agent, text: &'t str, root: Node<'t, 't>) -> Result<Self, Mistake> {
        let (mut own, mut changed) = (Vec::new(), Vec::new());
        once_each(root)?;
        for (at_root, (_, hooks)) in members(root).filter(|(_, (key, _))| *key == "hooks") {
            expect(hooks, "an object", hooks.is_object())?;
            all_once(hooks)?;
            for (in_hooks, (event, groups)) in members(hooks) {
                if agent.event_named(event).is_none() {
                    continue;
                }
                expect(groups, "a list", groups.items().is_some())?;
                for (in_event, group) in items(groups, Some) {
                    let Some(handlers) = group.member("hooks") else {
                        continue;
                    };
                    for (in_group, handler) in items(handlers, Some) {
                        let command = handler.member("command").and_then(|command| command.text());
                        let command = command.unwrap_or_default();
                        let read = OwnCommand::read(agent, command);
                        let is_as_written =
                            read.as_ref().is_some_and(|own| is_as_written(agent, own));
                        if !is_as_written && OwnCommand::is_within(agent, command) {
                            changed.push(event.to_owned());
                        }
                        if read.is_some() {
                            own.push(Own {
                                event: event.to_owned(),
                                value: handler.value().ok(),
                                is_as_written,
                                narrowed: narrowed(group),
                                levels: [
                                    Level::new(handlers, in_group),
                                    Level::new(groups, in_event),
                                    Level::new(hooks, in_hooks),
                                    Level::new(root, at_root),
                                ],
                            });
                        }
                    }
                }
            }
        }
        Ok(Self {
            text,
            root,
            own,
            changed,
        })
    }

    /// Returns the next change until this handler is the only one of its event; none if it is.
    fn towards(&self, event: &str, handler: &str) -> Option<Vec<Splice>> {
        let value: Option<Value> = json::read(handler).ok();
        let own: Vec<_> = self.own.iter().filter(|own| own.event == event).collect();
        let is_wanted = |own: &&&Own| own.value == value;
        let kept = own.iter().find(is_wanted).or(own.first());
        let Some(kept) = kept else {
            return Some(vec![self.with(event, handler)]);
        };
        let mut others = own.iter().filter(|own| !std::ptr::eq(**own, *kept));
        if let Some(other) = others.next() {
            return Some(self.without(other));
        }
        let range = kept.levels[0].range();
        (kept.value != value).then(|| vec![(range, handler.to_owned())])
    }

    /// Adds a handler in a group of its own.
    fn with(&self, event: &str, handler: &str) -> Splice {
        let group = format!(r#"{{"hooks": [{handler}]}}"#);
        let new_event = format!("{}: [ {group} ]", Value::from(event));
        let hooks = self.root.member("hooks");
        let groups = hooks.and_then(|hooks| hooks.member(event));
        match (hooks, groups) {
            (_, Some(groups)) => self.last_of(groups, &group),
            (Some(hooks), None) => self.last_of(hooks, &new_event),
            (None, None) => self.all_events(&new_event),
        }
    }

    /// Adds the object of all events, with one line for each if the text has several lines.
    fn all_events(&self, event: &str) -> Splice {
        let Range { start, end } = self.root.range();
        let is_crlf = self.text.contains("\r\n");
        let newline = if is_crlf { "\r\n" } else { "\n" };
        let is_empty = self.root.members().next().is_none();
        let (newline, unit) = match blank(&self.text[start + 1..]).rsplit_once('\n') {
            Some((_, unit)) if !is_empty => (newline, unit),
            None if !is_empty => (" ", ""),
            _ => (newline, "  "),
        };
        let all = format!(r#""hooks": {{{newline}{unit}{unit}{event}{newline}{unit}}}"#);
        if start + 2 == end {
            return (
                start + 1..start + 1,
                format!("{newline}{unit}{all}{newline}"),
            );
        }
        self.last_of(self.root, &all)
    }

    /// Adds the last item of a list or an object.
    fn last_of(&self, container: Node<'_, '_>, item: &str) -> Splice {
        let Level {
            container, items, ..
        } = Level::new(container, 0);
        let Some(last) = items.last() else {
            let at = container.start + 1;
            return (at..at, item.to_owned());
        };
        let before = &self.text[..last.start];
        let space = &before[before.trim_end_matches(BLANK).len()..];
        let space = if space.is_empty() { " " } else { space };
        (last.end..last.end, format!(",{space}{item}"))
    }

    /// Removes a handler, with the group, the event and the object of all events that become empty, if they were added with it.
    fn without(&self, own: &Own) -> Vec<Splice> {
        let is_last = |level: &&Level| level.items.len() > 1 || !self.was_added(level);
        let [in_group, in_event, in_hooks, at_root] = &own.levels;
        if in_group.items.len() > 1 {
            return self.cut(in_group);
        }
        let mut levels = [in_event, in_hooks].into_iter();
        self.cut(levels.find(is_last).unwrap_or(at_root))
    }

    /// Returns whether a list or an object with one item was added with the item.
    fn was_added(&self, level: &Level) -> bool {
        let Range { start, end } = level.range();
        let before = &self.text[level.container.start + 1..start];
        let behind = &self.text[end..level.container.end - 1];
        !before.is_empty() && is_blank(before) && is_blank(behind.trim_start_matches(','))
    }

    /// Removes an item with its comma.
    fn cut(&self, level: &Level) -> Vec<Splice> {
        let Range { start, end } = level.range();
        let close = level.container.end - 1;
        let previous = level
            .index
            .checked_sub(1)
            .map(|index| level.items[index].end);
        if let Some(previous) = previous
            && self.text[previous..start]
                .strip_prefix(',')
                .is_some_and(is_blank)
        {
            return vec![(previous..end, String::new())];
        }
        let comma_before = previous.and_then(|end| self.comma(end));
        let from = comma_before.map_or(level.container.start + 1, |comma| comma + 1);
        // A comment may end with its line.
        let is_free = is_blank(&self.text[from..start]);
        let from = if is_free { from } else { start };
        let removed = |range| (range, String::new());
        if let Some(comma) = self.comma(end) {
            let has_space = from == start && self.text[comma + 1..].starts_with(' ');
            let last = comma + 1 + usize::from(has_space);
            return vec![removed(from..end), removed(comma..last)];
        }
        let is_only = previous.is_none() && from < start;
        let is_last = is_only && is_blank(&self.text[end..close]);
        let end = if is_last { close } else { end };
        let comma = comma_before.map(|comma| removed(comma..comma + 1));
        comma.into_iter().chain([removed(from..end)]).collect()
    }

    /// Returns the place of the comma after an item.
    fn comma(&self, mut at: usize) -> Option<usize> {
        loop {
            let rest = &self.text[at..];
            let length = match rest.as_bytes() {
                [b',', ..] => return Some(at),
                [b'/', b'/', ..] => rest.find('\n')?,
                [b'/', b'*', ..] => rest.find("*/")? + 2,
                _ => blank(rest).len(),
            };
            if length == 0 {
                return None;
            }
            at += length;
        }
    }
}

impl Level {
    fn new(container: Node<'_, '_>, index: usize) -> Self {
        let of_list = container.items().into_iter().flatten();
        let of_object = container.members();
        let of_object = of_object.map(|member| member.key_range.start..member.value.range().end);
        Self {
            container: container.range(),
            items: of_list.map(|item| item.range()).chain(of_object).collect(),
            index,
        }
    }

    fn range(&self) -> Range<usize> {
        self.items[self.index].clone()
    }
}

/// Refuses a matcher that does not match everything.
fn narrowed(group: Node<'_, '_>) -> Option<Mistake> {
    let matcher = group.member("matcher")?;
    if matcher
        .text()
        .is_some_and(|text| matches!(text, "*" | ".*"))
    {
        return None;
    }
    Some(Mistake {
        place: matcher.place().start,
        message: "a matcher keeps this program from some calls, which pass: expected none, or `*`"
            .to_owned(),
    })
}

fn is_blank(text: &str) -> bool {
    text.len() == blank(text).len()
}

/// Returns the white space at the beginning.
fn blank(text: &str) -> &str {
    let rest = text.trim_start_matches(BLANK);
    &text[..text.len() - rest.len()]
}

fn members<'t>(object: Node<'t, 't>) -> impl Iterator<Item = (usize, (&'t str, Node<'t, 't>))> {
    let members = object.members().map(|member| (member.key, member.value));
    members.enumerate()
}

/// Returns the parts of a list's items, each with the item's place.
fn items<'t>(
    list: Node<'t, 't>,
    part: impl Fn(Node<'t, 't>) -> Option<Node<'t, 't>>,
) -> impl Iterator<Item = (usize, Node<'t, 't>)> {
    let items = list.items().into_iter().flatten().enumerate();
    items.filter_map(move |(index, item)| Some((index, part(item)?)))
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
