//! Converts a settings file of another tool to hooks, handler by handler, so that an invalid handler
//! does not affect the others. Each problem has its position.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jsonc_parser::ast;
use serde_json::Value;

use super::handler::{Group, Handler};
use super::lint;
use super::matcher::SharedAllowance;
use super::node::Node;
use super::outline::{Groups, Outline};
use super::protocol::{ToolAliases, ToolProtocol};
use super::tool::{Event, Tool};
use crate::config::reading::{
    Failure, FileError, FileReader, Finding, Loaded, MOST_ENTRIES, Member, parse, to_value,
};
use crate::config::{Form, Severity, Switches};
use crate::hook::{FailurePolicy, Hook, Protocol};
use crate::pattern::EventPattern;
use crate::printable::shortened;

/// The origin of a file's hooks, and its effect on each hook.
pub(super) struct Origin {
    pub(super) tool: &'static Tool,
    /// The project's root; none for the user's files.
    pub(super) base_dir: Option<Arc<Path>>,
    pub(super) plugin: Option<PathBuf>,
    pub(super) aliases: Arc<ToolAliases>,
    /// Whether failures and unreadable files block.
    pub(super) is_strict: bool,
}

impl Form for Origin {
    fn title(&self) -> &'static str {
        self.tool.title
    }

    fn is_strict(&self) -> bool {
        self.is_strict
    }

    fn read(&self, text: &str, is_compiled: bool, loaded: &mut Loaded) -> Switches {
        let mut reader = Reader {
            file: FileReader::new(text, loaded),
            origin: self,
            is_compiled,
            allowance: SharedAllowance::default(),
            hooks: 0,
            switches: Switches {
                protocol: self.tool.name,
                ..Switches::default()
            },
        };
        if let Err((error, range)) = reader.try_read() {
            reader.give_up(&error, &range);
        }
        reader.switches
    }
}

struct Reader<'a> {
    file: FileReader<'a>,
    origin: &'a Origin,
    /// Whether expressions are compiled now.
    is_compiled: bool,
    allowance: SharedAllowance,
    switches: Switches,
    /// The number of handlers so far.
    hooks: usize,
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
    fn give_up(&mut self, error: &FileError, range: &Range<usize>) {
        let words = match error {
            FileError::NoObject => "expected an object with an object `hooks`".to_owned(),
            other => other.to_string(),
        };
        let problem = self.file.problem(Severity::Error, range, words);
        match self.origin.is_strict {
            true => self.file.loaded.give_up(problem),
            false => self.file.loaded.ignore(problem),
        }
    }

    fn try_read(&mut self) -> Result<(), Failure> {
        let outline = Outline::of(self.file.text)?;
        for member in &outline.others {
            self.setting(member)?;
            if let Some(event) = self.origin.tool.event_named(&member.key) {
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
    fn event_outside(&mut self, event: &'static Event, member: &Member<'_>) {
        let words = "an event outside of `hooks`: its hooks do not run";
        let finding = Finding::new(event.name, words)
            .at(Severity::Error, &member.key_range)
            .with_help("write {\"hooks\": { ... }} around it");
        let reason = self.file.report(None, finding);
        self.event_placeholder(event, &reason, member.key_range.start);
    }

    /// Reads the keys that switch hooks off.
    fn setting(&mut self, member: &Member<'_>) -> Result<(), Failure> {
        let keys = self.origin.tool.files.switches;
        let is_all_off = keys.all_off == Some(&*member.key);
        let is_settings = keys.settings == Some(&*member.key);
        if !is_all_off && !is_settings {
            return Ok(());
        }
        let tree = parse(self.file.text, &member.value)?;
        let value = to_value(&tree, 0).unwrap_or_default();
        if is_all_off {
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
    fn event(&mut self, groups: &Groups<'_>) -> Option<(&'static Event, &'static str)> {
        let tool = self.origin.tool;
        let name = &*groups.event;
        if tool.files.switches.not_events.contains(&name) {
            return None;
        }
        let known = tool.event_named(name);
        if let Some(event) = known
            && let Some(pattern) = event.ours
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
            finding.message = format!("`{}` is not an event of {}", shortened(name), tool.title);
            finding.suggestion = lint::nearest_event(tool, name).map(str::to_owned);
        }
        let meant = finding.suggestion.clone();
        let reason = self.file.report(None, finding);
        let meant = meant.and_then(|name| tool.event_named(&name));
        if let Some(event) = meant {
            self.event_placeholder(event, &reason, groups.key_range.start);
        }
        None
    }

    fn event_placeholder(&mut self, event: &'static Event, reason: &str, at: usize) {
        if let Some(pattern) = event.ours {
            let protocol = self.protocol(event, "");
            let group = Group {
                event,
                pattern,
                protocol,
            };
            self.placeholder(&group, reason, at);
        }
    }

    fn group(
        &mut self,
        tree: &ast::Value<'_>,
        place: Place<'_>,
        event: &'static Event,
        pattern: &'static str,
    ) -> Result<(), Failure> {
        let mut group = Group {
            event,
            pattern,
            protocol: self.protocol(event, ""),
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
            group.protocol = self.protocol(event, matcher.text().unwrap_or_default());
            if let Some(words) = self.fault(&group.protocol) {
                let finding = Finding::error(&matcher, words);
                self.unusable(&place, &group, finding);
                return Ok(());
            }
        }
        for (index, handler) in handlers.iter().enumerate() {
            self.hooks += 1;
            if self.hooks > MOST_ENTRIES {
                let range = place.range(&Node::new(handler).range());
                return Err((FileError::TooManyEntries, range));
            }
            let place = Place {
                handler: Some(index),
                ..place
            };
            self.handler(&Node::new(handler), &place, &group);
        }
        Ok(())
    }

    fn protocol(&self, event: &'static Event, matcher: &str) -> ToolProtocol {
        ToolProtocol {
            plugin: self.origin.plugin.clone(),
            aliases: Arc::clone(&self.origin.aliases),
            ..ToolProtocol::new(self.origin.tool, event, matcher, &self.allowance)
        }
    }

    /// Returns why the expressions cannot be used, if they are compiled now.
    fn fault(&self, protocol: &ToolProtocol) -> Option<String> {
        if !self.is_compiled {
            return None;
        }
        protocol.fault().map(str::to_owned)
    }

    fn handler(&mut self, node: &Node<'_, '_>, place: &Place<'_>, group: &Group) {
        let start = place.range(&node.range()).start;
        let source = self.file.source(None, start);
        let mut found = Vec::new();
        let handler = Handler {
            node,
            group,
            tool: self.origin.tool,
            base_dir: self.origin.base_dir.as_ref(),
            is_strict: self.origin.is_strict,
            allowance: &self.allowance,
            found: &mut found,
        };
        let mut read = handler.hook(source);
        self.findings(place, found);
        if let Ok((_, protocol)) = &read
            && let Some(words) = self.fault(protocol)
        {
            read = Err(Finding::error(node, words));
        }
        match read {
            Ok((hook, protocol)) => {
                let hook = hook.with_protocol(Arc::new(protocol));
                self.file.add(hook, false, start);
            }
            Err(finding) => self.unusable(place, group, finding),
        }
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
            .with_protocol(Arc::new(group.protocol.clone()))
            .with_on_failure(FailurePolicy::Block);
        if let Ok(pattern) = EventPattern::new(group.pattern) {
            hook = hook.with_pattern(pattern);
        }
        self.file.add(hook, true, at);
    }
}

/// Returns the handlers of a group, and its matcher.
fn group_of<'t, 'a>(
    node: &Node<'t, 'a>,
    event: &Event,
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
        let words = format!(
            "found a handler where {} expects a group",
            origin.tool.title
        );
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
