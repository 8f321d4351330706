//! Converts a settings file of another tool to hooks, handler by handler, so that an invalid handler
//! does not affect the others. Each problem has its position.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::handler::{Group, Handler};
use super::lint;
use super::matcher::SharedAllowance;
use super::protocol::{ToolAliases, ToolProtocol};
use super::tool::{Event, Tool, has};
use crate::config::reading::{
    Failure, FileError, FileReader, Loaded, MOST_ENTRIES, Member, Node, Problem, parse_object,
};
use crate::config::{Form, Severity, Switches};
use crate::events::meant_by;
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
            groups: 0,
            handlers: 0,
            blocked: Vec::new(),
            switches: Switches {
                protocol: self.tool.name,
                ..Switches::default()
            },
        };
        if let Err(failure) = reader.try_read() {
            reader.give_up(failure);
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
    /// The numbers so far.
    groups: usize,
    handlers: usize,
    /// The events that a placeholder blocks as a whole; `*` is each event.
    blocked: Vec<&'static str>,
}

/// A position in `hooks`.
struct Place<'p> {
    event: &'p str,
    group: usize,
    handler: Option<usize>,
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
}

impl Reader<'_> {
    fn give_up(&mut self, failure: Failure) {
        let has_no_object = matches!(failure.0, FileError::NoObject);
        let mut problem = self.file.failure(failure);
        if has_no_object {
            problem.message = "expected an object with an object `hooks`".to_owned();
            problem.help = None;
        }
        match self.origin.is_strict {
            true => self.file.loaded.give_up(problem),
            false => self.file.loaded.ignore(problem),
        }
    }

    fn try_read(&mut self) -> Result<(), Failure> {
        let tree = parse_object(self.file.text)?;
        let file = Node::new(&tree);
        for member in file.members().filter(|member| member.key != "hooks") {
            self.setting(&member);
            if let Some(problem) = like_hooks(&member) {
                let start = problem.start();
                let reason = self.file.report(None, problem);
                self.placeholder_for_all(&reason, start);
            }
            if let Some(event) = self.origin.tool.event_named(member.key) {
                self.event_outside(event, &member);
            }
        }
        let mut lists = file.members().filter(|it| it.key == "hooks");
        let Some(first) = lists.next() else {
            return Ok(());
        };
        let mut hooks = first.value;
        if let Some(last) = lists.last() {
            let problem = Problem::error("hooks", TWICE).at(last.key_range.clone());
            let reason = self.file.report(None, problem);
            self.placeholder_for_all(&reason, last.key_range.start);
            hooks = last.value;
        }
        if !hooks.is_object() {
            let problem = hooks.error("expected an object of events, each with a list");
            let problem = match hooks.items() {
                Some(_) => problem.with_help(LIKE_OURS),
                None => problem,
            };
            let reason = self.file.report(None, problem.at(hooks.range()));
            self.placeholder_for_all(&reason, hooks.range().start);
        }
        if let Some(mut problem) = key_twice(hooks) {
            problem.key = problem.key.map(|key| format!("hooks.{key}"));
            problem.message = "the key occurs twice: here both lists count".to_owned();
            problem.severity = Severity::Warning;
            self.file.report(None, problem);
        }
        for event in hooks.members() {
            self.event(&event)?;
        }
        Ok(())
    }

    /// Reports an event next to `hooks`: its tool ignores the hooks.
    fn event_outside(&mut self, event: &'static Event, member: &Member<'_, '_>) {
        if !self.file.loaded.shows_more() {
            return;
        }
        let words = "an event outside of `hooks`: its hooks do not run";
        let problem = Problem::error(event.name, words)
            .at(member.key_range.clone())
            .with_help("write {\"hooks\": { ... }} around it");
        let reason = self.file.report(None, problem);
        self.event_placeholder(event, &reason, member.key_range.start);
    }

    /// Reads the keys that switch hooks off.
    fn setting(&mut self, member: &Member<'_, '_>) {
        let keys = self.origin.tool.files;
        let value = member.value;
        if keys.all_off == member.key {
            self.switches.all_off = value.switch() == Some(true);
        }
        if keys.settings != member.key {
            return;
        }
        let enabled = value.get("enabled");
        self.switches.all_off = enabled.is_some_and(|it| it.switch() == Some(false));
        let disabled = value.get("disabled");
        for name in disabled.iter().flat_map(Node::items).flatten() {
            self.switches
                .disabled
                .extend(name.text().map(str::to_owned));
        }
    }

    fn event(&mut self, member: &Member<'_, '_>) -> Result<(), Failure> {
        let Some((event, pattern)) = self.known_event(member) else {
            return Ok(());
        };
        if event.is_of_host && self.file.loaded.shows_more() {
            let words = format!("its hooks run only where the host fires `{pattern}`");
            let key = format!("hooks.{}", event.name);
            let problem = Problem::warning(key, words).at(member.key_range.clone());
            self.file.report(None, problem);
        }
        let Some(groups) = member.value.items() else {
            let key = format!("hooks.{}", event.name);
            let words = "expected a list of groups, each with a list `hooks`";
            let problem = Problem::error(key, words).at(member.key_range.clone());
            let reason = self.file.report(None, problem);
            self.event_placeholder(event, &reason, member.key_range.start);
            return Ok(());
        };
        for (index, group) in groups.enumerate() {
            self.groups += 1;
            if self.groups > MOST_ENTRIES {
                return Err((FileError::TooManyEntries, member.key_range.clone()));
            }
            let place = Place {
                event: event.name,
                group: index,
                handler: None,
            };
            self.group(group, place, event, pattern)?;
        }
        Ok(())
    }

    /// Returns the event of a key, if hosts fire it.
    fn known_event(&mut self, member: &Member<'_, '_>) -> Option<(&'static Event, &'static str)> {
        let tool = self.origin.tool;
        let name = member.key;
        if has(tool.files.not_events, name) {
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
        let shown = shortened(name);
        let meant = lint::nearest_event(tool, name).filter(|_| known.is_none());
        let is_of_others = name.contains(':') || meant_by(name).is_some();
        let (severity, words) = match (known, meant) {
            (Some(_), _) => (
                Severity::Warning,
                format!("hosts do not fire `{shown}`: its hooks do not run"),
            ),
            (None, meant) if meant.is_some() || is_of_others => (
                Severity::Error,
                format!("`{shown}` is not an event of {}", tool.title),
            ),
            (None, _) => (
                Severity::Warning,
                format!(
                    "`{shown}` is not an event of {} that is known here: its hooks do not run",
                    tool.title
                ),
            ),
        };
        let problem = Problem::new(severity, format!("hooks.{name}"), words)
            .at(member.key_range.clone())
            .with_suggestion_of(meant);
        let reason = self.file.report(None, problem);
        if let Some(event) = meant.and_then(|name| tool.event_named(name)) {
            self.event_placeholder(event, &reason, member.key_range.start);
        }
        None
    }

    fn event_placeholder(&mut self, event: &'static Event, reason: &str, at: usize) {
        if let Some(pattern) = event.ours
            && self.is_first_of(event.name)
        {
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
        node: Node<'_, '_>,
        place: Place<'_>,
        event: &'static Event,
        pattern: &'static str,
    ) -> Result<(), Failure> {
        let mut group = Group {
            event,
            pattern,
            protocol: self.protocol(event, ""),
        };
        if let Some(problem) = key_twice(node) {
            self.unusable(&place, &group, problem);
        }
        let mut found = Vec::new();
        let (handlers, matcher) = match group_of(node, event, self.origin, &mut found) {
            Ok(read) => read,
            Err(problem) => {
                self.unusable(&place, &group, problem);
                return Ok(());
            }
        };
        self.reports(&place, found);
        if let Some(matcher) = matcher {
            group.protocol = self.protocol(event, matcher.text().unwrap_or_default());
            if let Some(words) = self.fault(&group.protocol) {
                self.unusable(&place, &group, matcher.error(words));
                return Ok(());
            }
        }
        for (index, handler) in handlers.items().into_iter().flatten().enumerate() {
            self.handlers += 1;
            if self.handlers > MOST_ENTRIES {
                return Err((FileError::TooManyEntries, handler.place()));
            }
            let place = Place {
                handler: Some(index),
                ..place
            };
            self.handler(handler.without_key(), &place, &group);
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

    fn handler(&mut self, node: Node<'_, '_>, place: &Place<'_>, group: &Group) {
        if let Some(problem) = key_twice(node) {
            self.unusable(place, group, problem);
        }
        let start = node.range().start;
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
        self.reports(place, found);
        if let Ok((_, protocol)) = &read
            && let Some(words) = self.fault(protocol)
        {
            read = Err(node.error(words));
        }
        match read {
            Ok((hook, protocol)) => {
                let hook = hook.with_protocol(Arc::new(protocol));
                self.file.add(hook, false, start);
            }
            Err(problem) => self.unusable(place, group, problem),
        }
    }

    fn reports(&mut self, place: &Place<'_>, found: Vec<Problem>) {
        for problem in found {
            self.report(place, problem);
        }
    }

    /// Reports a problem, and returns its message.
    fn report(&mut self, place: &Place<'_>, mut problem: Problem) -> String {
        let key = place.key(problem.key.as_deref().unwrap_or_default());
        problem.key = Some(key);
        self.file.report(None, problem)
    }

    /// Handles an unusable handler. The tool ignores it, and so does this crate unless the host is
    /// strict.
    fn unusable(&mut self, place: &Place<'_>, group: &Group, problem: Problem) {
        let at = problem.start();
        let reason = self.report(place, problem);
        self.placeholder(group, &reason, at);
    }

    /// Records that a placeholder blocks an event; false if one does already, as with a key that occurs very often.
    fn is_first_of(&mut self, event: &'static str) -> bool {
        let is_first = !self.blocked.contains(&event);
        if is_first {
            self.blocked.push(event);
        }
        is_first
    }

    /// Blocks every event, since it is unknown what the hooks are for.
    fn placeholder_for_all(&mut self, reason: &str, at: usize) {
        if self.origin.is_strict && self.is_first_of("*") {
            let source = self.file.source(None, at);
            let hook = Hook::placeholder(reason).with_source(source);
            self.file.add(hook, true, at);
        }
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

const LIKE_OURS: &str = "a list is the form of hooks.json, which is a file of its own";

const TWICE: &str = "the key occurs twice: the last one counts";

/// Returns the problem of a key that occurs twice.
fn key_twice(node: Node<'_, '_>) -> Option<Problem> {
    let mut seen = HashSet::new();
    let member = node.members().find(|member| !seen.insert(member.key))?;
    Some(Problem::error(member.key, TWICE).at(member.key_range))
}

/// Returns the problem of a key that was meant to be `hooks`.
fn like_hooks(member: &Member<'_, '_>) -> Option<Problem> {
    let lower = member.key.to_ascii_lowercase();
    if member.key == "hooks" || !matches!(&*lower, "hook" | "hooks") {
        return None;
    }
    let words = format!("unknown key `{}`", shortened(member.key));
    let problem = Problem::error(member.key, words).at(member.key_range.clone());
    Some(problem.with_suggestion_of(Some("hooks")))
}

/// Returns the list of a group's handlers, and its matcher.
fn group_of<'t, 'a>(
    node: Node<'t, 'a>,
    event: &Event,
    origin: &Origin,
    found: &mut Vec<Problem>,
) -> Result<(Node<'t, 'a>, Option<Node<'t, 'a>>), Problem> {
    let node = node.without_key();
    if !node.is_object() {
        return Err(node.error(node.unexpected("an object with a list `hooks`")));
    }
    if let Some(problem) = node.members().find_map(|member| like_hooks(&member)) {
        return Err(problem);
    }
    let Some(hooks) = node.get("hooks") else {
        if node.get("command").is_none() {
            return Err(node.error("`hooks` is missing"));
        }
        let words = format!(
            "found a handler where {} expects a group",
            origin.tool.title
        );
        return Err(node
            .error(words)
            .with_help("put it into {\"hooks\": [ ... ]}"));
    };
    if hooks.items().is_none() {
        return Err(hooks.error(hooks.unexpected("a list of handlers")));
    }
    lint::not_applied(&node, origin.tool, found);
    let matcher = node.get("matcher");
    if let Some(matcher) = &matcher {
        if matcher.text().is_none() {
            return Err(matcher.error(matcher.unexpected("a string")));
        }
        lint::matcher(matcher, event, origin.tool, found);
    }
    Ok((hooks, matcher))
}
