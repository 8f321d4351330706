//! Converts a settings file of another tool to hooks, group by group, so that what is invalid does not affect the rest.
//! Each problem has its position.
//!
//! `handler` reads one handler.

use std::collections::HashSet;
use std::sync::Arc;

use super::lint;
use super::matcher::SharedAllowance;
use super::members::without_halves;
use super::protocol::{Origin, ToolProtocol};
use super::tool::{Event, Tool, has};
use crate::config::reading::{
    FileReader, Loaded, MOST_ENTRIES, Member, NO_OBJECT, Node, Problem, TOO_MANY_ENTRIES,
    parse_object,
};
use crate::config::{Form, Severity, Switches};
use crate::events::meant_by;
use crate::hook::{FailurePolicy, Hook};
use crate::pattern::EventPattern;
use crate::printable::shortened;

impl Form for Origin {
    fn title(&self) -> &'static str {
        self.tool.title
    }

    fn is_strict(&self) -> bool {
        self.is_strict
    }

    fn read(&self, text: &str, is_compiled: bool, loaded: &mut Loaded) -> Switches {
        let text = without_halves(text);
        let mut reader = Reader {
            file: FileReader::new(&text, loaded),
            origin: Arc::new(self.clone()),
            is_compiled,
            allowance: SharedAllowance::default(),
            path: String::new(),
            blocked: HashSet::new(),
        };
        reader.try_read().unwrap_or_else(|problem| {
            reader.give_up(problem);
            Switches::default()
        })
    }
}

pub(super) struct Reader<'a> {
    pub(super) file: FileReader<'a>,
    pub(super) origin: Arc<Origin>,
    /// Whether expressions are compiled now.
    is_compiled: bool,
    allowance: SharedAllowance,
    /// The keys of the group or the handler that is read; empty outside of these.
    path: String,
    /// The events, each with a matcher, that a placeholder blocks; none is each event.
    blocked: HashSet<Option<(&'static str, Option<String>)>>,
}

impl Reader<'_> {
    fn give_up(&mut self, problem: Problem) {
        let mut problem = self.file.placed(problem.in_entry(None));
        if problem.message == NO_OBJECT {
            problem.message = "expected an object with an object `hooks`".to_owned();
            problem.help = None;
        }
        self.file.loaded.refuse(problem, self.origin.is_strict);
    }

    fn try_read(&mut self) -> Result<Switches, Problem> {
        let tree = parse_object(self.file.text)?;
        let file = Node::new(&tree);
        for member in file.members() {
            self.other_key(&member);
        }
        let mut lists = file.members().filter(|it| it.key == "hooks");
        if let Some(first) = lists.next() {
            let last = lists.last();
            if let Some(last) = &last {
                let problem = Problem::error("hooks", TWICE).at(last.key_range.clone());
                self.refuse(problem, None);
            }
            let hooks = last.map_or(first.value, |last| last.value);
            if let Some(entry) = one_too_many(hooks) {
                return Err(Problem::limit(TOO_MANY_ENTRIES).at(entry.place()));
            }
            self.hooks(hooks);
        }
        Ok(switches(self.origin.tool, file))
    }

    /// Reports a key that may have been meant to be `hooks`, or to be in it.
    fn other_key(&mut self, member: &Member<'_, '_>) {
        if let Some(problem) = like_hooks(member) {
            self.refuse(problem, None);
        }
        if !self.file.loaded.shows_all() {
            return;
        }
        if let Some(event) = self.origin.tool.event_named(member.key) {
            let words = "an event outside of `hooks`: its hooks do not run";
            let problem = Problem::error(event.name, words)
                .at(member.key_range.clone())
                .with_help("write {\"hooks\": { ... }} around it");
            let protocol = self.protocol(event);
            self.refuse(problem, Some(&protocol));
        }
    }

    fn hooks(&mut self, hooks: Node<'_, '_>) {
        if !hooks.is_object() {
            let words = "expected an object of events, each with a list";
            let mut problem = hooks.error(words).at(hooks.range());
            if hooks.items().is_some() {
                problem = problem.with_help(LIKE_OURS);
            }
            self.refuse(problem, None);
        }
        if let Some(mut problem) = key_twice(hooks) {
            problem.key = problem.key.map(|key| format!("hooks.{key}"));
            problem.message = "the key occurs twice: here both lists count".to_owned();
            problem.severity = Severity::Warning;
            self.report(problem);
        }
        for member in hooks.members() {
            if let Some(event) = self.known_event(&member) {
                self.event(event, &member);
            }
            self.path.clear();
        }
    }

    fn event(&mut self, event: Event, member: &Member<'_, '_>) {
        let key = format!("hooks.{}", event.name);
        let pattern = event.ours.unwrap_or_default();
        if event.is_of_host && self.file.loaded.shows_all() {
            let words = format!("its hooks run only where the host fires `{pattern}`");
            let problem = Problem::warning(key.as_str(), words).at(member.key_range.clone());
            self.report(problem);
        }
        let any = self.protocol(event);
        let Some(groups) = member.value.items() else {
            let words = "expected a list of groups, each with a list `hooks`";
            let problem = Problem::error(key, words).at(member.key_range.clone());
            return self.refuse(problem, Some(&any));
        };
        for (index, group) in groups.enumerate() {
            self.path = format!("{key}[{index}]");
            if let Err(problem) = self.group(group.without_key(), &any) {
                self.refuse(problem, Some(&any));
            }
        }
    }

    /// Returns the event of a key, if hosts fire it.
    fn known_event(&mut self, member: &Member<'_, '_>) -> Option<Event> {
        let tool = self.origin.tool;
        let name = member.key;
        if has(tool.not_events, name) {
            return None;
        }
        let known = tool.event_named(name);
        let is_known = known.is_some();
        if let Some(event) = known.filter(|event| event.ours.is_some()) {
            return Some(event);
        }
        if !self.file.loaded.shows_all() {
            return None;
        }
        let (shown, title) = (shortened(name), tool.title);
        let meant = lint::nearest_event(tool, name).filter(|_| !is_known);
        let is_of_others = name.contains(':') || meant_by(name).is_some();
        let mut severity = Severity::Warning;
        let words = if is_known {
            format!("hosts do not fire `{shown}`: its hooks do not run")
        } else if meant.is_some() || is_of_others {
            severity = Severity::Error;
            format!("`{shown}` is not an event of {title}")
        } else {
            format!("`{shown}` is not an event of {title} that is known here: its hooks do not run")
        };
        let problem = Problem::new(severity, format!("hooks.{name}"), words)
            .at(member.key_range.clone())
            .with_suggestion_of(meant);
        match meant.and_then(|name| tool.event_named(name)) {
            Some(event) => {
                let protocol = self.protocol(event);
                self.refuse(problem, Some(&protocol));
            }
            None => drop(self.report(problem)),
        }
        None
    }

    /// Reads a group. `any` is for each hook of its event.
    fn group(&mut self, node: Node<'_, '_>, any: &ToolProtocol) -> Result<(), Problem> {
        if !node.is_object() {
            return Err(node.error(node.unexpected("an object with a list `hooks`")));
        }
        if let Some(problem) = node.members().find_map(|member| like_hooks(&member)) {
            return Err(problem);
        }
        let Some(hooks) = node.get("hooks") else {
            return Err(no_group(node, self.origin.tool));
        };
        let Some(handlers) = hooks.items() else {
            return Err(hooks.error(hooks.unexpected("a list of handlers")));
        };
        let protocol = match node.get("matcher") {
            Some(matcher) => self.matched(matcher, any)?,
            None => any.clone(),
        };
        self.keys(node, any);
        let group = std::mem::take(&mut self.path);
        for (index, handler) in handlers.enumerate() {
            self.path = format!("{group}.hooks[{index}]");
            let handler = handler.without_key();
            self.keys(handler, &protocol);
            if let Err(problem) = self.handler(handler, &protocol) {
                self.refuse(problem, Some(&protocol));
            }
        }
        Ok(())
    }

    /// Reports keys of a group or a handler that occur twice, or that are not applied.
    fn keys(&mut self, node: Node<'_, '_>, protocol: &ToolProtocol) {
        if let Some(problem) = key_twice(node) {
            self.refuse(problem, Some(protocol));
        }
        let tool = self.origin.tool;
        for key in tool.keys_not_applied.split(' ') {
            if let Some(value) = node.get(key).filter(|it| it.switch() != Some(false)) {
                let title = tool.title;
                let words = format!("{title} applies this key, hosts of this crate do not");
                self.report(value.warning(words));
            }
        }
    }

    /// Returns the protocol of a group with this matcher.
    fn matched(
        &mut self,
        matcher: Node<'_, '_>,
        any: &ToolProtocol,
    ) -> Result<ToolProtocol, Problem> {
        let Some(text) = matcher.text() else {
            return Err(matcher.error(matcher.unexpected("a string")));
        };
        if let Some(problem) = lint::matcher(&matcher, &any.event, self.origin.tool) {
            self.report(problem);
        }
        let protocol = ToolProtocol::new(&self.origin, &any.event, text, &self.allowance);
        let found = &protocol.matcher;
        // Why an expression cannot be used is known only once it is compiled.
        if let Some(why) = found.fault().filter(|_| self.is_compiled) {
            return Err(matcher.error(why));
        }
        if let Some(why) = found.untested().filter(|_| self.is_compiled) {
            self.report(matcher.warning(format!("{why}; so the hook always runs")));
        }
        Ok(protocol)
    }

    /// Returns the protocol of a handler for each event of this name.
    fn protocol(&self, event: Event) -> ToolProtocol {
        ToolProtocol::new(&self.origin, &Arc::new(event), "", &self.allowance)
    }

    /// Reports a problem, and returns its message.
    pub(super) fn report(&mut self, mut problem: Problem) -> String {
        if !self.path.is_empty() {
            let key = problem.key.filter(|key| !key.is_empty());
            let key = key.map(|key| format!("{}.{key}", self.path));
            problem.key = Some(key.unwrap_or_else(|| self.path.clone()));
        }
        self.file.report(None, problem)
    }

    /// Reports what cannot be used, of hooks with this protocol or of any. The tool ignores it, and so does this crate
    /// unless the host is strict, or each failure blocks the event: then a placeholder blocks what it could have blocked.
    fn refuse(&mut self, problem: Problem, protocol: Option<&ToolProtocol>) {
        let at = problem.start();
        let reason = self.report(problem);
        let is_closed = protocol.is_some_and(|it| it.event.is_closed);
        let matcher = |it: &ToolProtocol| it.matcher.text().map(str::to_owned);
        let blocked = protocol.map(|it| (it.event.name, matcher(it)));
        // A key may occur very often.
        if !self.origin.is_strict && !is_closed || !self.blocked.insert(blocked) {
            return;
        }
        let mut hook = Hook::placeholder(&reason).with_source(self.file.source(None, at));
        if let Some(protocol) = protocol {
            if let Ok(pattern) = EventPattern::new(protocol.event.ours.unwrap_or_default()) {
                hook = hook.with_pattern(pattern);
            }
            hook = hook
                .with_protocol(Arc::new(protocol.clone()))
                .with_on_failure(FailurePolicy::Block);
        }
        self.file.add(hook, true, at);
    }
}

/// Reads the keys that switch hooks off.
fn switches(tool: &Tool, file: Node<'_, '_>) -> Switches {
    let value = |path: &str| path.split('.').try_fold(file, |node, key| node.get(key));
    let all_off = tool.all_off.map(|(path, off)| (value(path), off));
    let disabled = tool.disabled.and_then(value);
    let names = disabled.and_then(|it| it.items()).into_iter().flatten();
    Switches {
        protocol: tool.name,
        all_off: all_off.is_some_and(|(found, off)| found.and_then(|it| it.switch()) == Some(off)),
        disabled: names.filter_map(|it| Some(it.text()?.to_owned())).collect(),
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

/// Returns the first group or handler that is beyond the most of a file.
fn one_too_many<'t, 'a>(hooks: Node<'t, 'a>) -> Option<Node<'t, 'a>> {
    let items = |list: Option<Node<'t, 'a>>| list.and_then(|it| it.items()).into_iter().flatten();
    let groups = || hooks.members().flat_map(|event| items(Some(event.value)));
    let mut handlers = groups().flat_map(|group| items(group.get("hooks")));
    let group = groups().nth(MOST_ENTRIES);
    group.or_else(|| handlers.nth(MOST_ENTRIES))
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

/// Returns the problem of a group without `hooks`.
fn no_group(node: Node<'_, '_>, tool: &Tool) -> Problem {
    if node.get("command").is_none() {
        return node.error("`hooks` is missing");
    }
    let words = format!("found a handler where {} expects a group", tool.title);
    node.error(words)
        .with_help("put it into {\"hooks\": [ ... ]}")
}
