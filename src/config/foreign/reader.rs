//! Converts a settings file of another tool to hooks, handler by handler, so that an invalid handler
//! does not affect the others. Each problem has its position.

use std::ops::Range;

use jsonc_parser::ast;
use serde_json::Value;

use super::handler::{Group, Handler};
use super::lint;
use super::node::Node;
use super::origin::Origin;
use super::outline::{Groups, Outline};
use crate::config::content::Loaded;
use crate::config::entry::to_value;
use crate::config::file::FileError;
use crate::config::lint::Finding;
use crate::config::outline::{Failure, Member, parse};
use crate::config::reader::FileReader;
use crate::config::report::Severity;
use crate::hook::dialects::{self, ForeignEvent};
use crate::hook::{Dialect, Foreign, Hook, HookError, NotCompiled};
use crate::pattern::EventPattern;
use crate::printable::shortened;

/// The hooks that a file switches off.
#[derive(Default)]
pub(super) struct Switches {
    pub(super) all_off: bool,
    /// The names or commands of hooks.
    pub(super) disabled: Vec<String>,
}

/// Reads a text into `loaded`; returns the hooks that it switches off.
pub(super) fn read(text: &str, origin: &Origin, loaded: &mut Loaded) -> Switches {
    let mut reader = Reader {
        file: FileReader::new(text, loaded),
        origin,
        switches: Switches::default(),
    };
    if let Err((error, range)) = reader.try_read() {
        let words = match error {
            FileError::NoObject => "expected an object with an object `hooks`".to_owned(),
            other => other.to_string(),
        };
        let problem = reader.file.problem(Severity::Error, &range, words);
        origin.give_up(problem, reader.file.loaded);
    }
    reader.switches
}

struct Reader<'a> {
    file: FileReader<'a>,
    origin: &'a Origin,
    switches: Switches,
}

/// A position in `hooks`.
struct Place<'p> {
    event: &'p str,
    group: usize,
    handler: Option<usize>,
    /// The offset of the group's text.
    base: usize,
}

impl Place<'_> {
    fn key(&self, key: &str) -> String {
        let mut path = format!("hooks.{}[{}]", self.event, self.group);
        if let Some(handler) = self.handler {
            path += &format!(".hooks[{handler}]");
        }
        if !key.is_empty() {
            path += &format!(".{key}");
        }
        path
    }

    fn range(&self, range: &Range<usize>) -> Range<usize> {
        self.base + range.start..self.base + range.end
    }
}

impl Reader<'_> {
    fn try_read(&mut self) -> Result<(), Failure> {
        let outline = Outline::of(self.file.text)?;
        for member in &outline.others {
            self.setting(member)?;
            if let Some(event) = dialects::event(self.origin.tool.dialect, &member.key) {
                self.event_outside(event, member);
            }
        }
        if let Some(range) = outline.no_object {
            let words = "expected an object of events, each with a list";
            let finding = Finding::new("hooks", words).at(Severity::Error, &range);
            self.file.report(None, finding);
        }
        for groups in &outline.events {
            self.groups(groups)?;
        }
        Ok(())
    }

    /// Reports an event next to `hooks`: its tool ignores the hooks.
    fn event_outside(&mut self, event: &'static ForeignEvent, member: &Member<'_>) {
        let words = "an event outside of `hooks`: its hooks do not run";
        let finding = Finding::new(event.name, words)
            .at(Severity::Error, &member.key_range)
            .with_help("write {\"hooks\": { ... }} around it");
        let reason = self.file.report(None, finding);
        self.event_placeholder(event, &reason, member.key_range.start);
    }

    /// Reads the keys that switch hooks off.
    fn setting(&mut self, member: &Member<'_>) -> Result<(), Failure> {
        let dialect = self.origin.tool.dialect;
        let is_switch = match dialect {
            Dialect::Claude => member.key == "disableAllHooks",
            Dialect::Gemini => member.key == "hooksConfig",
            _ => false,
        };
        if !is_switch {
            return Ok(());
        }
        let tree = parse(self.file.text, &member.value)?;
        let value = to_value(&tree, 0).unwrap_or_default();
        if dialect == Dialect::Claude {
            self.switches.all_off = value == Value::Bool(true);
            return Ok(());
        }
        self.switches.all_off = value.get("enabled") == Some(&Value::Bool(false));
        let disabled = value.get("disabled").and_then(Value::as_array);
        for name in disabled.into_iter().flatten().filter_map(Value::as_str) {
            self.switches.disabled.push(name.to_owned());
        }
        Ok(())
    }

    fn groups(&mut self, groups: &Groups<'_>) -> Result<(), Failure> {
        let Some((event, pattern)) = self.event(groups) else {
            return Ok(());
        };
        let Some(ranges) = &groups.groups else {
            let key = format!("hooks.{}", event.name);
            let words = "expected a list of groups, each with a list `hooks`";
            let finding = Finding::new(key, words).at(Severity::Error, &groups.key_range);
            self.file.report(None, finding);
            return Ok(());
        };
        for (index, range) in ranges.iter().enumerate() {
            let tree = parse(self.file.text, range)?;
            let place = Place {
                event: event.name,
                group: index,
                handler: None,
                base: range.start,
            };
            self.group(&tree, place, event, pattern)?;
        }
        Ok(())
    }

    /// Returns the event of a key, if hosts fire it.
    fn event(&mut self, groups: &Groups<'_>) -> Option<(&'static ForeignEvent, &'static str)> {
        let tool = self.origin.tool;
        let name = &*groups.event;
        if tool.settings_in_hooks.contains(&name) {
            return None;
        }
        let known = dialects::event(tool.dialect, name);
        if let Some(event) = known
            && let Some(pattern) = event.event
        {
            return Some((event, pattern));
        }
        if !self.file.loaded.shows_more() {
            return None;
        }
        let mut finding = Finding::new(
            format!("hooks.{name}"),
            format!(
                "hosts do not fire `{}`: its hooks do not run",
                shortened(name)
            ),
        );
        finding.range = groups.key_range.clone();
        if known.is_none() {
            finding.severity = Severity::Error;
            finding.message = format!("`{}` is not an event of {}", shortened(name), tool.name);
            finding.suggestion = lint::nearest_event(tool.dialect, name).map(str::to_owned);
        }
        let meant = finding.suggestion.clone();
        let reason = self.file.report(None, finding);
        let meant = meant.and_then(|name| dialects::event(tool.dialect, &name));
        if let Some(event) = meant {
            self.event_placeholder(event, &reason, groups.key_range.start);
        }
        None
    }

    fn event_placeholder(&mut self, event: &'static ForeignEvent, reason: &str, at: usize) {
        if let Some(pattern) = event.event {
            let foreign = self.origin.foreign(event, "");
            let group = Group {
                event,
                pattern,
                foreign,
            };
            self.placeholder(&group, reason, at);
        }
    }

    fn group(
        &mut self,
        tree: &ast::Value<'_>,
        place: Place<'_>,
        event: &'static ForeignEvent,
        pattern: &'static str,
    ) -> Result<(), Failure> {
        let mut group = Group {
            event,
            pattern,
            foreign: self.origin.foreign(event, ""),
        };
        let mut found = Vec::new();
        let (handlers, matcher) = match group_of(&Node::new(tree), event, self.origin, &mut found) {
            Ok(read) => read,
            Err(finding) => {
                self.unusable(&place, &group, finding);
                return Ok(());
            }
        };
        self.findings(&place, found);
        if let Some(matcher) = matcher {
            group.foreign = self
                .origin
                .foreign(event, matcher.text().unwrap_or_default());
            if let Some(finding) = self.compile(&group.foreign, &matcher, &place)? {
                self.unusable(&place, &group, finding);
                return Ok(());
            }
        }
        for (index, handler) in handlers.iter().enumerate() {
            let place = Place {
                handler: Some(index),
                ..place
            };
            self.handler(&Node::new(handler), &place, &group)?;
        }
        Ok(())
    }

    /// Returns the problem with an expression at this position, if expressions are compiled now.
    fn compile(
        &mut self,
        foreign: &Foreign,
        at: &Node<'_, '_>,
        place: &Place<'_>,
    ) -> Result<Option<Finding>, Failure> {
        if !self.origin.is_compiled {
            return Ok(None);
        }
        match foreign.compile(&mut self.file.allowance) {
            Ok(()) => Ok(None),
            Err(NotCompiled::Invalid(HookError::Key(error))) => {
                Ok(Some(Finding::error(at, error.message)))
            }
            Err(NotCompiled::Invalid(error)) => Ok(Some(Finding::error(at, error.to_string()))),
            Err(NotCompiled::TooLarge) => {
                Err((FileError::ConditionsTooLarge, place.range(&at.range())))
            }
        }
    }

    fn handler(
        &mut self,
        node: &Node<'_, '_>,
        place: &Place<'_>,
        group: &Group,
    ) -> Result<(), Failure> {
        let start = place.range(&node.range()).start;
        let source = self.file.source(None, start);
        let mut found = Vec::new();
        let handler = Handler {
            node,
            group,
            origin: self.origin,
            found: &mut found,
        };
        let mut read = handler.hook(source);
        self.findings(place, found);
        if let Ok(hook) = &read
            && let Some(foreign) = hook.foreign()
            && let Some(finding) = self.compile(foreign, node, place)?
        {
            read = Err(finding);
        }
        match read {
            Ok(hook) => self.file.add(hook, false, start),
            Err(finding) => self.unusable(place, group, finding),
        }
        Ok(())
    }

    fn findings(&mut self, place: &Place<'_>, found: Vec<Finding>) {
        for finding in found {
            self.finding(place, finding);
        }
    }

    /// Reports a problem, and returns its message.
    fn finding(&mut self, place: &Place<'_>, mut finding: Finding) -> String {
        finding.range = place.range(&finding.range);
        finding.key = place.key(&finding.key);
        self.file.report(None, finding)
    }

    /// Handles an unusable handler. The tool ignores it, and so does this crate unless the host is
    /// strict.
    fn unusable(&mut self, place: &Place<'_>, group: &Group, finding: Finding) {
        let at = place.range(&finding.range).start;
        let reason = self.finding(place, finding);
        self.placeholder(group, &reason, at);
    }

    fn placeholder(&mut self, group: &Group, reason: &str, at: usize) {
        if !self.origin.is_strict {
            return;
        }
        let mut hook = Hook::placeholder(reason)
            .with_source(self.file.source(None, at))
            .with_foreign(group.foreign.clone())
            .with_on_failure(self.origin.policy());
        if let Ok(pattern) = EventPattern::new(group.pattern) {
            hook = hook.with_pattern(pattern);
        }
        self.file.add(hook, true, at);
    }
}

/// Returns the handlers of a group, and its matcher.
fn group_of<'t, 'a>(
    node: &Node<'t, 'a>,
    event: &ForeignEvent,
    origin: &Origin,
    found: &mut Vec<Finding>,
) -> Result<(&'t [ast::Value<'a>], Option<Node<'t, 'a>>), Finding> {
    if !node.is_object() {
        let words = node.unexpected("an object with a list `hooks`");
        return Err(Finding::error(node, words));
    }
    let Some(hooks) = node.get("hooks") else {
        if node.get("command").is_none() {
            return Err(Finding::error(node, "`hooks` is missing"));
        }
        let words = format!("found a handler where {} expects a group", origin.tool.name);
        let help = "put it into {\"hooks\": [ ... ]}";
        return Err(Finding::error(node, words).with_help(help));
    };
    let Some(handlers) = hooks.items() else {
        let words = hooks.unexpected("a list of handlers");
        return Err(Finding::error(&hooks, words));
    };
    let matcher = node.get("matcher");
    if let Some(matcher) = &matcher {
        if matcher.text().is_none() {
            return Err(Finding::error(matcher, matcher.unexpected("a string")));
        }
        lint::matcher(matcher, event.subject, origin.tool, found);
    }
    Ok((handlers, matcher))
}
