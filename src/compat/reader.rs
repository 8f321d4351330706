//! Converts a settings file of another tool to hooks, handler by handler, so that an invalid handler
//! does not affect the others. Each problem has its position.

use std::collections::HashSet;
use std::sync::Arc;

use super::handler::{Handler, Origin};
use super::lint;
use super::matcher::SharedAllowance;
use super::members::without_halves;
use super::protocol::ToolProtocol;
use super::tool::{Event, Tool, has};
use crate::config::reading::{
    FileReader, Loaded, MOST_ENTRIES, Member, NO_OBJECT, Node, Problem, TOO_MANY_ENTRIES,
    parse_object,
};
use crate::config::{Form, Severity, Switches};
use crate::events::meant_by;
use crate::hook::{FailurePolicy, Hook, Protocol};
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
            origin: self,
            is_compiled,
            allowance: SharedAllowance::default(),
            path: String::new(),
            groups: 0,
            handlers: 0,
            blocked: Vec::new(),
        };
        match reader.try_read() {
            Ok(switches) => switches,
            Err(failure) => {
                reader.give_up(failure);
                Switches::default()
            }
        }
    }
}

struct Reader<'a> {
    file: FileReader<'a>,
    origin: &'a Origin,
    /// Whether expressions are compiled now.
    is_compiled: bool,
    allowance: SharedAllowance,
    /// The keys of the group or the handler that is read; empty outside of these.
    path: String,
    /// The numbers so far.
    groups: usize,
    handlers: usize,
    /// The events that a placeholder blocks as a whole; `*` is each event.
    blocked: Vec<&'static str>,
}

/// What cannot be read was for.
enum Scope<'s> {
    /// Any event.
    All,
    /// Any hook of an event.
    Event(&'static Event),
    /// A group, or a handler of it.
    Hooks(&'s ToolProtocol),
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
        let tool = self.origin.tool;
        let tree = parse_object(self.file.text)?;
        let file = Node::new(&tree);
        for member in file.members() {
            if let Some(problem) = like_hooks(&member) {
                self.refuse(problem, Scope::All);
            }
            if let Some(event) = tool.event_named(member.key)
                && self.file.loaded.shows_all()
            {
                let words = "an event outside of `hooks`: its hooks do not run";
                let problem = Problem::error(event.name, words)
                    .at(member.key_range.clone())
                    .with_help("write {\"hooks\": { ... }} around it");
                self.refuse(problem, Scope::Event(event));
            }
        }
        let mut lists = file.members().filter(|it| it.key == "hooks");
        if let Some(first) = lists.next() {
            let last = lists.last();
            if let Some(last) = &last {
                let problem = Problem::error("hooks", TWICE).at(last.key_range.clone());
                self.refuse(problem, Scope::All);
            }
            self.hooks(last.map_or(first.value, |last| last.value))?;
        }
        Ok(switches(tool, file))
    }

    fn hooks(&mut self, hooks: Node<'_, '_>) -> Result<(), Problem> {
        if !hooks.is_object() {
            let words = "expected an object of events, each with a list";
            let mut problem = hooks.error(words).at(hooks.range());
            if hooks.items().is_some() {
                problem = problem.with_help(LIKE_OURS);
            }
            self.refuse(problem, Scope::All);
        }
        if let Some(mut problem) = key_twice(hooks) {
            problem.key = problem.key.map(|key| format!("hooks.{key}"));
            problem.message = "the key occurs twice: here both lists count".to_owned();
            problem.severity = Severity::Warning;
            self.file.report(None, problem);
        }
        for member in hooks.members() {
            if let Some(event) = self.known_event(&member) {
                self.event(event, &member)?;
            }
            self.path.clear();
        }
        Ok(())
    }

    fn event(&mut self, event: &'static Event, member: &Member<'_, '_>) -> Result<(), Problem> {
        let key = format!("hooks.{}", event.name);
        let pattern = event.ours.unwrap_or_default();
        if event.is_of_host && self.file.loaded.shows_all() {
            let words = format!("its hooks run only where the host fires `{pattern}`");
            let problem = Problem::warning(key.as_str(), words).at(member.key_range.clone());
            self.file.report(None, problem);
        }
        let Some(groups) = member.value.items() else {
            let words = "expected a list of groups, each with a list `hooks`";
            let problem = Problem::error(key, words).at(member.key_range.clone());
            self.refuse(problem, Scope::Event(event));
            return Ok(());
        };
        for (index, group) in groups.enumerate() {
            self.groups += 1;
            if self.groups > MOST_ENTRIES {
                return Err(Problem::limit(TOO_MANY_ENTRIES).at(member.key_range.clone()));
            }
            self.path = format!("{key}[{index}]");
            self.group(group.without_key(), event)?;
        }
        Ok(())
    }

    /// Returns the event of a key, if hosts fire it.
    fn known_event(&mut self, member: &Member<'_, '_>) -> Option<&'static Event> {
        let tool = self.origin.tool;
        let name = member.key;
        if has(tool.files.not_events, name) {
            return None;
        }
        let known = tool.event_named(name);
        if known.is_some_and(|event| event.ours.is_some()) {
            return known;
        }
        if !self.file.loaded.shows_all() {
            return None;
        }
        let (shown, title) = (shortened(name), tool.title);
        let meant = lint::nearest_event(tool, name).filter(|_| known.is_none());
        let is_of_others = name.contains(':') || meant_by(name).is_some();
        let (severity, words) = if known.is_some() {
            let words = format!("hosts do not fire `{shown}`: its hooks do not run");
            (Severity::Warning, words)
        } else if meant.is_some() || is_of_others {
            let words = format!("`{shown}` is not an event of {title}");
            (Severity::Error, words)
        } else {
            let words = format!(
                "`{shown}` is not an event of {title} that is known here: its hooks do not run"
            );
            (Severity::Warning, words)
        };
        let problem = Problem::new(severity, format!("hooks.{name}"), words)
            .at(member.key_range.clone())
            .with_suggestion_of(meant);
        match meant.and_then(|name| tool.event_named(name)) {
            Some(event) => self.refuse(problem, Scope::Event(event)),
            None => drop(self.file.report(None, problem)),
        }
        None
    }

    fn group(&mut self, node: Node<'_, '_>, event: &'static Event) -> Result<(), Problem> {
        let mut protocol = self.protocol(event, "");
        if let Some(problem) = key_twice(node) {
            self.refuse(problem, Scope::Hooks(&protocol));
        }
        let mut found = Vec::new();
        let (handlers, matcher) = match group_of(node, &protocol, &mut found) {
            Ok(read) => read,
            Err(problem) => {
                self.refuse(problem, Scope::Hooks(&protocol));
                return Ok(());
            }
        };
        self.reports(found);
        if let Some(matcher) = matcher {
            protocol = self.protocol(event, matcher.text().unwrap_or_default());
            if let Some(words) = self.fault(&protocol) {
                self.refuse(matcher.error(words), Scope::Hooks(&protocol));
                return Ok(());
            }
            let [untested, _] = self.untested(&protocol);
            self.always_runs(&matcher, untested);
        }
        let group = std::mem::take(&mut self.path);
        for (index, handler) in handlers.items().into_iter().flatten().enumerate() {
            self.handlers += 1;
            if self.handlers > MOST_ENTRIES {
                return Err(Problem::limit(TOO_MANY_ENTRIES).at(handler.place()));
            }
            self.path = format!("{group}.hooks[{index}]");
            self.handler(handler.without_key(), &protocol);
        }
        Ok(())
    }

    fn protocol(&self, event: &'static Event, matcher: &str) -> ToolProtocol {
        ToolProtocol {
            plugin: self.origin.plugin.clone(),
            aliases: Arc::clone(&self.origin.aliases),
            large_context: Arc::clone(&self.origin.large_context),
            ..ToolProtocol::new(self.origin.tool, event, matcher, &self.allowance)
        }
    }

    /// Returns why the expressions cannot be used, if they are compiled now.
    fn fault(&self, protocol: &ToolProtocol) -> Option<String> {
        // The fault is known only once the expressions are compiled.
        let fault = self.is_compiled.then(|| protocol.fault())?;
        fault.map(str::to_owned)
    }

    /// Returns why the matcher and the rule cannot be tested, if the expressions are compiled now.
    fn untested(&self, protocol: &ToolProtocol) -> [Option<String>; 2] {
        match self.is_compiled {
            true => protocol.untested().map(|why| why.map(str::to_owned)),
            false => [None, None],
        }
    }

    fn always_runs(&mut self, node: &Node<'_, '_>, untested: Option<String>) {
        if let Some(why) = untested {
            self.report(node.warning(format!("{why}; so the hook always runs")));
        }
    }

    fn handler(&mut self, node: Node<'_, '_>, group: &ToolProtocol) {
        if let Some(problem) = key_twice(node) {
            self.refuse(problem, Scope::Hooks(group));
        }
        let start = node.range().start;
        let source = self.file.source(None, start);
        let mut found = Vec::new();
        let handler = Handler {
            node,
            protocol: group.clone(),
            origin: self.origin,
            allowance: &self.allowance,
            found: &mut found,
        };
        let read = handler.hook(source);
        self.reports(found);
        let read = read.and_then(|(hook, protocol)| match self.fault(&protocol) {
            Some(words) => Err(node.error(words)),
            None => Ok((hook, protocol)),
        });
        match read {
            Ok((hook, protocol)) => {
                let [_, untested] = self.untested(&protocol);
                self.always_runs(&node.get("if").unwrap_or(node), untested);
                let hook = hook.with_protocol(Arc::new(protocol));
                self.file.add(hook, false, start);
            }
            Err(problem) => self.refuse(problem, Scope::Hooks(group)),
        }
    }

    fn reports(&mut self, found: Vec<Problem>) {
        for problem in found {
            self.report(problem);
        }
    }

    /// Reports a problem, and returns its message.
    fn report(&mut self, mut problem: Problem) -> String {
        if !self.path.is_empty() {
            let key = problem.key.filter(|key| !key.is_empty());
            let key = key.map(|key| format!("{}.{key}", self.path));
            problem.key = Some(key.unwrap_or_else(|| self.path.clone()));
        }
        self.file.report(None, problem)
    }

    /// Reports what cannot be used. The tool ignores it, and so does this crate unless the host is strict, or each failure
    /// blocks the event: then a placeholder blocks what it could have blocked, once for each event as a whole.
    fn refuse(&mut self, problem: Problem, scope: Scope<'_>) {
        let at = problem.start();
        let reason = self.report(problem);
        let is_closed = match scope {
            Scope::All => false,
            Scope::Event(event) => event.is_closed,
            Scope::Hooks(protocol) => protocol.event.is_closed,
        };
        if !self.origin.is_strict && !is_closed {
            return;
        }
        let whole = match scope {
            Scope::All => Some("*"),
            Scope::Event(event) => Some(event.name),
            Scope::Hooks(_) => None,
        };
        // A key may occur very often.
        if whole.is_some_and(|name| self.blocked.contains(&name)) {
            return;
        }
        self.blocked.extend(whole);
        let mut hook = Hook::placeholder(&reason).with_source(self.file.source(None, at));
        let protocol = match scope {
            Scope::All => None,
            Scope::Event(event) => Some(self.protocol(event, "")),
            Scope::Hooks(protocol) => Some(protocol.clone()),
        };
        if let Some(protocol) = protocol {
            if let Ok(pattern) = EventPattern::new(protocol.event.ours.unwrap_or_default()) {
                hook = hook.with_pattern(pattern);
            }
            hook = hook
                .with_protocol(Arc::new(protocol))
                .with_on_failure(FailurePolicy::Block);
        }
        self.file.add(hook, true, at);
    }
}

/// Reads the keys that switch hooks off.
fn switches(tool: &Tool, file: Node<'_, '_>) -> Switches {
    let is = |node: Option<Node<'_, '_>>, value| node.is_some_and(|it| it.switch() == Some(value));
    // A table has an empty key for one that its tool does not have.
    let member = |key: &str| file.member(key).filter(|_| !key.is_empty());
    let settings = member(tool.files.settings);
    let within = |key| settings.as_ref()?.get(key);
    let disabled = within("disabled");
    let names = disabled.iter().flat_map(Node::items).flatten();
    Switches {
        protocol: tool.name,
        all_off: is(member(tool.files.all_off), true) || is(within("enabled"), false),
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
    protocol: &ToolProtocol,
    found: &mut Vec<Problem>,
) -> Result<(Node<'t, 'a>, Option<Node<'t, 'a>>), Problem> {
    let tool = protocol.tool;
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
        let words = format!("found a handler where {} expects a group", tool.title);
        return Err(node
            .error(words)
            .with_help("put it into {\"hooks\": [ ... ]}"));
    };
    if hooks.items().is_none() {
        return Err(hooks.error(hooks.unexpected("a list of handlers")));
    }
    lint::not_applied(&node, tool, found);
    let matcher = node.get("matcher");
    if let Some(matcher) = &matcher {
        if matcher.text().is_none() {
            return Err(matcher.error(matcher.unexpected("a string")));
        }
        lint::matcher(matcher, protocol.event, tool, found);
    }
    Ok((hooks, matcher))
}
