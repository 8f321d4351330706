//! Converts a settings file of another agent to hooks, handler by handler, so that an invalid one does not affect the
//! others. Each problem has its position.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::agents::{AGENTS, Agent, BRIDGED, Event, Fires, OwnCommand};
use crate::compat::{AgentProtocol, Origin, Rule};
use crate::config::reading::{FileReader, Loaded, MOST_ENTRIES, not_run_here, too_many_entries};
use crate::config::{Form, Switches, config_home};
use crate::entry::{FailurePolicy, Shell};
use crate::events::{Vocabulary, meant_by};
use crate::hook::Hook;
use crate::json::{Member, NOT_AN_OBJECT, Node, parse_object, readable};
use crate::lint::of_agent as lint;
use crate::pattern::EventPattern;
use crate::printable::shortened;
use crate::problem::{Problem, Severity};
use crate::profile::AppProfile;

impl Form for Origin {
    fn title(&self) -> &'static str {
        self.agent.title
    }

    fn is_strict(&self) -> bool {
        self.is_strict
    }

    fn read(
        &self,
        text: &str,
        vocabulary: &Vocabulary,
        is_compiled: bool,
        loaded: &mut Loaded,
    ) -> Switches {
        let text = readable(text);
        let mut reader = Reader {
            file: FileReader::new(&text, loaded),
            origin: Arc::new(self.clone()),
            vocabulary,
            is_compiled,
            path: String::new(),
            blocked: HashSet::new(),
        };
        reader.try_read().unwrap_or_else(|problem| {
            reader.give_up(problem);
            Switches::default()
        })
    }
}

struct Reader<'a> {
    file: FileReader<'a>,
    origin: Arc<Origin>,
    /// The host's events and tools.
    vocabulary: &'a Vocabulary,
    /// True if expressions are compiled now.
    is_compiled: bool,
    /// The keys of the group or the handler that is read; empty outside of these.
    path: String,
    /// The events, each with a matcher, that a placeholder blocks; none is each event.
    blocked: HashSet<Option<(&'static str, Option<String>)>>,
}

impl Reader<'_> {
    fn give_up(&mut self, problem: Problem) {
        let mut problem = self.file.placed(problem.in_entry(None));
        if problem.message == NOT_AN_OBJECT {
            problem.message = "expected an object with an object `hooks`".to_owned();
            problem.help = None;
        }
        self.file.loaded.refuse(problem, self.origin.is_strict);
    }

    fn try_read(&mut self) -> Result<Switches, Problem> {
        let tree = parse_object(self.file.text)?;
        let file = Node::new(&tree);
        if BRIDGED.contains(&self.origin.agent) && !AGENTS.contains(&self.origin.agent) {
            let hooks = file.get("hooks");
            let problem = hooks.map(|hooks| not_run_here(self.origin.agent.title, hooks));
            return problem.map_or(Ok(Switches::default()), Err);
        }
        for member in file.members() {
            self.other_key(&member);
        }
        let lists = file.members().filter(|member| member.key == "hooks");
        let lists: Vec<_> = lists.collect();
        if let [_, .., last] = &lists[..] {
            let problem = Problem::error("hooks", TWICE).at(last.key_range.clone());
            self.refuse(problem, None);
        }
        if let Some(hooks) = lists.last().map(|last| last.value) {
            if let Some(entry) = one_too_many(hooks) {
                return Err(too_many_entries().at(entry.place()));
            }
            let read = self.hooks(hooks);
            self.path.clear();
            self.checked(read, None);
        }
        Ok(switches(self.origin.agent, file))
    }

    /// Reports a key that was probably intended to be `hooks`, or to be in it.
    fn other_key(&mut self, member: &Member<'_, '_>) {
        self.checked(like_hooks(member), None);
        let event = self.origin.agent.event_named(member.key);
        if let Some(event) = event.filter(|event| event.fired_by_hosts().is_some()) {
            if !self.file.loaded.shows_all() {
                return self.refuse_unreported(member);
            }
            let message = "an event outside of `hooks`: its hooks do not run";
            let problem = Problem::error(event.name, message).at(member.key_range.clone());
            let problem = problem.with_help("write {\"hooks\": { ... }} around it");
            self.refuse(problem, Some(&self.protocol(event)));
        }
        let is_environment = self.origin.agent.environment == Some(member.key);
        if is_environment && member.value.members().next().is_some() {
            let title = self.origin.agent.title;
            let message =
                format!("{title} sets these variables for its hooks, hosts of this crate do not");
            let problem = Problem::warning(member.key, message).at(member.key_range.clone());
            self.report(
                problem.with_help("set them in the command, as in `NAME=value ./guard.sh`"),
            );
        }
    }

    fn hooks(&mut self, hooks: Node<'_, '_>) -> Result<(), Problem> {
        object(hooks, "an object of events, each with a list").map_err(|problem| {
            match hooks.items() {
                Some(_) => problem.with_help(LIKE_OURS),
                None => problem,
            }
        })?;
        self.path = "hooks".to_owned();
        if let Err(mut problem) = key_twice(hooks) {
            problem.message = "the key occurs twice: here both lists count".to_owned();
            problem.severity = Severity::Warning;
            self.report(problem);
        }
        for member in hooks.members() {
            let event = self.origin.agent.event_named(member.key);
            match event.filter(|event| event.fired_by_hosts().is_some()) {
                Some(event) => self.event(event, &member),
                None => self.unknown_event(&member),
            }
            self.path = "hooks".to_owned();
        }
        Ok(())
    }

    fn event(&mut self, event: &'static Event, member: &Member<'_, '_>) {
        let pattern = event.ours().unwrap_or_default();
        let is_fired = event.fires == Fires::Known || self.vocabulary.event(pattern).is_some();
        if !is_fired && self.file.loaded.shows_all() {
            let message = format!("its hooks run only where the host fires `{pattern}`");
            let problem = Problem::warning(event.name, message).at(member.key_range.clone());
            self.report(problem);
        }
        let any = self.protocol(event);
        let groups = match list(member.value, "a list of groups, each with a list `hooks`") {
            Ok(groups) => groups,
            Err(problem) => return self.refuse(problem, Some(&any)),
        };
        for (index, group) in groups.enumerate() {
            self.path = format!("hooks.{}[{index}]", any.event.name);
            let read = self.group(group.without_key(), &any);
            self.checked(read, Some(&any));
        }
    }

    /// Lets a strict file block each event that an unknown one may stand for, if the file has too many problems to look for the
    /// intended event.
    fn refuse_unreported(&mut self, member: &Member<'_, '_>) {
        if self.origin.is_strict && !self.blocked.contains(&None) {
            let message = "an event that hosts do not fire, in a file with too many problems";
            let problem = Problem::error(member.key, message).at(member.key_range.clone());
            self.refuse(problem, None);
        }
    }

    /// Reports a key that is not an event which hosts fire.
    fn unknown_event(&mut self, member: &Member<'_, '_>) {
        let agent = self.origin.agent;
        let name = member.key;
        if !self.file.loaded.shows_all() {
            return self.refuse_unreported(member);
        }
        let (display, title) = (shortened(name), agent.title);
        let is_known = agent.event_named(name).is_some();
        let suggestion = lint::nearest_event(agent, name).filter(|_| !is_known);
        let is_of_others = name.contains(':') || !is_known && meant_by(name).is_some();
        let (severity, message) = if suggestion.is_some() || is_of_others {
            (
                Severity::Error,
                format!("`{display}` is not an event of {title}"),
            )
        } else {
            (
                Severity::Warning,
                format!("hosts do not fire `{display}`: its hooks do not run"),
            )
        };
        let problem = Problem::new(severity, name, message).at(member.key_range.clone());
        let problem = problem.with_suggestion_of(suggestion);
        let event = suggestion.and_then(|name| agent.event_named(name));
        match event.filter(|event| event.fired_by_hosts().is_some()) {
            Some(event) => self.refuse(problem, Some(&self.protocol(event))),
            None => drop(self.report(problem)),
        }
    }

    /// Reads a group. `any` is for each hook of its event.
    fn group(&mut self, node: Node<'_, '_>, any: &AgentProtocol) -> Result<(), Problem> {
        object(node, "an object with a list `hooks`")?;
        let Some(hooks) = node.get("hooks") else {
            node.members().try_for_each(|member| like_hooks(&member))?;
            return Err(no_group(node, self.origin.agent));
        };
        // The agent ignores a second key of a similar name.
        for member in node.members() {
            if let Err(problem) = like_hooks(&member) {
                self.report(problem);
            }
        }
        let handlers = list(hooks, "a list of handlers")?;
        let protocol = match node.get("matcher") {
            Some(matcher) => self.matched(matcher, any)?,
            None => any.clone(),
        };
        self.keys(node, &["matcher", "hooks"], any);
        let others = node.members().filter(|member| member.key != "hooks");
        let begin: Arc<str> = others
            .map(|member| member.json() + ", ")
            .collect::<String>()
            .into();
        let group = std::mem::take(&mut self.path);
        for (index, handler) in handlers.enumerate() {
            self.path = format!("{group}.hooks[{index}]");
            let handler = handler.without_key();
            if self.runs_the_same_hooks(handler) {
                continue;
            }
            let known = [&["type", "command"], self.origin.agent.emulated.keys].concat();
            self.keys(handler, &known, &protocol);
            let read = self.handler(handler, &protocol, &begin);
            self.checked(read, Some(&protocol));
        }
        Ok(())
    }

    /// Reports keys of a group or a handler, which has these, that occur twice, are not applied, or are unknown.
    fn keys(&mut self, node: Node<'_, '_>, known: &[&'static str], protocol: &AgentProtocol) {
        self.checked(key_twice(node), Some(protocol));
        let agent = self.origin.agent;
        for key in agent.emulated.keys_not_applied {
            if let Some(value) = node.get(key).filter(|value| value.switch() != Some(false)) {
                let title = agent.title;
                let message = format!("{title} applies this key, hosts of this crate do not");
                self.report(Problem::warning_at(&value, message));
            }
        }
        // A handler of another type has other keys.
        let kind = node.get("type").and_then(|value| value.text());
        if self.file.loaded.shows_all() && kind.is_none_or(|kind| kind == "command") {
            let mut seen = HashSet::new();
            let members = node.members().take(MOST_KEYS);
            let members = members.filter(|member| seen.insert(member.key));
            let problems = members.filter_map(|member| lint::key(&member, known, agent));
            for problem in problems.collect::<Vec<_>>() {
                self.report(problem);
            }
        }
    }

    /// Returns the protocol of a group with this matcher.
    fn matched(
        &mut self,
        matcher: Node<'_, '_>,
        any: &AgentProtocol,
    ) -> Result<AgentProtocol, Problem> {
        let text = text(matcher)?;
        let protocol = AgentProtocol::new(&self.origin, any.event, text);
        let mut untested = None;
        if self.is_compiled {
            if let Some(why) = protocol.matcher.fault() {
                return Err(Problem::error_at(&matcher, why));
            }
            let why = protocol.matcher.untested();
            let message = why.map(|why| format!("{why}; so the hook always runs"));
            untested = message.map(|message| Problem::warning_at(&matcher, message));
        }
        let agent = self.origin.agent;
        // The first of the reasons is the cause of the others.
        let problem = lint::matcher(&matcher, any.event, agent)
            .or(untested)
            .or_else(|| {
                // The names that a matcher may have are known if tools are declared.
                if self.vocabulary.tools().is_empty() {
                    lint::tool(&matcher, &protocol)
                } else {
                    lint::unknown_tool(&matcher, &protocol, self.vocabulary)
                }
            });
        if let Some(problem) = problem {
            self.report(problem);
        }
        Ok(protocol)
    }

    /// Returns the protocol of a handler for each event of this name.
    fn protocol(&self, event: &'static Event) -> AgentProtocol {
        AgentProtocol::new(&self.origin, event, "")
    }

    /// Reports a problem, and returns its message.
    fn report(&mut self, mut problem: Problem) -> String {
        let key = problem.key.take().unwrap_or_default();
        let parts = [self.path.as_str(), key.as_str()];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        problem.key = Some(parts.join("."));
        self.file.report(None, problem)
    }

    fn checked(&mut self, read: Result<(), Problem>, protocol: Option<&AgentProtocol>) {
        if let Err(problem) = read {
            self.refuse(problem, protocol);
        }
    }

    /// Reports a part that cannot be used, of hooks with this protocol or of any. The agent ignores it, and so does this crate
    /// unless the host is strict, or each failure blocks the event: then a placeholder hook blocks the events of that part.
    fn refuse(&mut self, problem: Problem, protocol: Option<&AgentProtocol>) {
        let at = problem.start();
        let reason = self.report(problem);
        let is_closed = protocol.is_some_and(|protocol| protocol.event.is_closed);
        let matcher = |protocol: &AgentProtocol| protocol.matcher.text().map(str::to_owned);
        let blocked = protocol.map(|protocol| (protocol.event.name, matcher(protocol)));
        // A key may occur very often.
        if !self.origin.is_strict && !is_closed || !self.blocked.insert(blocked) {
            return;
        }
        let mut hook = Hook::placeholder(&reason).with_source(self.file.source(None, at));
        if let Some(protocol) = protocol {
            let pattern = EventPattern::new(protocol.event.ours().unwrap_or_default());
            hook = hook
                .with_pattern(pattern.unwrap_or_else(|_| EventPattern::any()))
                .with_protocol(Arc::new(protocol.clone()))
                .with_on_failure(FailurePolicy::Block);
        }
        self.file.add(hook, true, at);
    }
}

/// One handler.
impl Reader<'_> {
    /// Returns whether `install` has registered a handler, and the host reads the same hooks itself: they would run twice.
    fn runs_the_same_hooks(&self, handler: Node<'_, '_>) -> bool {
        let command = handler.get("command").and_then(|command| command.text());
        let Some(own) = command.and_then(|command| OwnCommand::read(self.origin.agent, command))
        else {
            return false;
        };
        let path = |name| own.option(name).map(PathBuf::from);
        let of_home = || Some(path("--home")?.join(".config"));
        let profile = own.option("--profile");
        let profile = profile.map_or_else(AppProfile::default, AppProfile::new);
        path("--config-home")
            .or_else(of_home)
            .or_else(config_home)
            .is_some_and(|home| self.file.loaded.has_users_hooks_of(&profile, &home))
    }

    /// Adds the hook of a handler, or returns the problem that makes the handler unusable. `group` has the matcher, `begin`
    /// the text of the group before its handlers.
    fn handler(
        &mut self,
        node: Node<'_, '_>,
        group: &AgentProtocol,
        begin: &Arc<str>,
    ) -> Result<(), Problem> {
        check_type(node, self.origin.agent)?;
        let event = &group.event;
        let start = node.range().start;
        let hook = self.command(node, event)?;
        let mut hook = hook
            .with_source(self.file.source(None, start))
            .with_on_failure(self.policy(node, event))
            .with_timeout(self.timeout(node, event));
        if let Some(base) = &self.origin.base_dir {
            hook = hook.with_base_dir(Arc::clone(base));
        }
        if self.runs_in_background(node, event) {
            hook = hook.with_background();
        }
        let protocol = AgentProtocol {
            rule: self.rule(node, event)?,
            status_message: self.text(node, "statusMessage").map(str::to_owned),
            context_limit: self.context_limit(node),
            label: group.label_at(&self.file.source(None, start)),
            written: Some((Arc::clone(begin), node.json())),
            ..group.clone()
        };
        let checks_scripts = self.file.loaded.checks_scripts;
        for problem in lint::command(self.command_node(node)?, &hook, &protocol, checks_scripts) {
            self.report(problem);
        }
        let hook = hook.with_protocol(Arc::new(protocol));
        self.file.add(hook, false, start);
        Ok(())
    }

    /// Returns the value of a key that the agent reads.
    fn get<'t, 'a>(&self, node: Node<'t, 'a>, key: &str) -> Option<Node<'t, 'a>> {
        node.get(key)
            .filter(|_| self.origin.agent.emulated.keys.contains(&key))
    }

    /// Returns the value of a key as `read` has it; another value is reported and ignored.
    fn value<'t, 'a, T>(
        &mut self,
        node: Node<'t, 'a>,
        key: &str,
        expected: &str,
        read: impl Fn(Node<'t, 'a>) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(node, key)?;
        let legible = read(value);
        if legible.is_none() {
            let display = match (value.text(), value.number()) {
                (Some(text), _) => format!("the string `{}`", shortened(text)),
                (_, Some(number)) => number.to_string(),
                _ => value.kind().to_owned(),
            };
            let message = format!("expected {expected}, found {display}; the key is ignored");
            self.report(Problem::warning_at(&value, message));
        }
        legible
    }

    fn text<'t>(&mut self, node: Node<'t, '_>, key: &str) -> Option<&'t str> {
        self.value(node, key, "a string", |value| value.text())
    }

    /// Returns the value of a key if it is one of two strings.
    fn choice<'t>(
        &mut self,
        node: Node<'t, '_>,
        key: &str,
        [first, second]: [&str; 2],
    ) -> Option<&'t str> {
        let expected = format!("`{first}` or `{second}`");
        let is_one = |text: &&str| *text == first || *text == second;
        self.value(node, key, &expected, |value| value.text().filter(is_one))
    }

    /// Returns the command that runs on this system.
    fn command_node<'t, 'a>(&self, node: Node<'t, 'a>) -> Result<Node<'t, 'a>, Problem> {
        let mut of_windows = ["commandWindows", "command_windows"].into_iter();
        let of_windows = of_windows
            .find_map(|key| self.get(node, key))
            .filter(|_| cfg!(windows));
        let command = of_windows.or_else(|| node.get("command"));
        command.ok_or_else(|| Problem::error_at(&node, "`command` is missing"))
    }

    fn command(&mut self, node: Node<'_, '_>, event: &Event) -> Result<Hook, Problem> {
        let command = self.command_node(node)?;
        let text = string(command)?;
        let pattern = event.ours().unwrap_or_default();
        let hook = match self.get(node, "args") {
            Some(args) => {
                let args = list(args, "a list of strings")?.map(string);
                let args: Vec<_> = args.collect::<Result<_, _>>()?;
                Hook::program(pattern, [text].into_iter().chain(args))
            }
            None => Hook::new(pattern, text),
        };
        let hook = hook.map_err(|error| Problem::error_at(&command, error.to_string()))?;
        // `protocol` chooses the shell for `bash`, the default.
        Ok(match self.choice(node, "shell", ["bash", "powershell"]) {
            Some("powershell") => hook.with_shell(Shell::Pwsh),
            _ => hook,
        })
    }

    fn rule(&mut self, node: Node<'_, '_>, event: &Event) -> Result<Option<Rule>, Problem> {
        let rule = self.value(node, "if", "a string", |value| {
            Some((value, Rule::new(value.text()?)))
        });
        let Some((value, rule)) = rule else {
            return Ok(None);
        };
        if !event.is_of_tool() {
            let name = event.name;
            let message =
                format!("the hook never runs: `{name}` has no tool that a rule could match");
            return Err(Problem::warning_at(&value, message).with_help("remove `if`"));
        }
        if let Some(message) = rule.misunderstood() {
            self.report(Problem::warning_at(&value, message));
        }
        Ok(Some(rule))
    }

    /// Returns a key that is part of an approval, as Codex reads it, but has no effect.
    fn context_limit(&self, node: Node<'_, '_>) -> Option<usize> {
        let tokens = self.get(node, "additionalContextLimit")?.number()?;
        // A larger number means no limit.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        (tokens >= 0.0 && tokens.fract() == 0.0).then_some(tokens as usize)
    }

    /// Returns the failure policy. Default: failures are ignored, as the agents do, unless the handler
    /// or the host sets another policy.
    fn policy(&mut self, node: Node<'_, '_>, event: &Event) -> FailurePolicy {
        match self.choice(node, "onFailure", ["continue", "block"]) {
            Some("block") => FailurePolicy::Block,
            _ if self.origin.is_strict => FailurePolicy::Block,
            None if event.is_closed => FailurePolicy::Block,
            _ => FailurePolicy::Continue,
        }
    }

    fn timeout(&mut self, node: Node<'_, '_>, event: &Event) -> Duration {
        let agent = self.origin.agent;
        let mut read = |key| {
            self.value(node, key, "seconds above 0", |value| {
                value.number().filter(|number| *number > 0.0)
            })
        };
        let Some(number) = read("timeout").or_else(|| read("timeoutSec")) else {
            return agent.timeout(event);
        };
        let own = Duration::try_from_secs_f64(number).unwrap_or(Duration::MAX);
        own.min(event.longest.unwrap_or(Duration::MAX))
    }

    fn runs_in_background(&mut self, node: Node<'_, '_>, event: &Event) -> bool {
        let mut is_on = |key| self.value(node, key, "true or false", |value| value.switch());
        let is_async = [is_on("async"), is_on("asyncRewake")].contains(&Some(true));
        is_async && event.longest.is_none() && !event.is_closed
    }
}

/// Reads the key that switches all hooks off.
fn switches(agent: &Agent, file: Node<'_, '_>) -> Switches {
    let is_off = |(key, off): (&str, bool)| {
        let value = file.get(key).and_then(|value| value.switch());
        value == Some(off)
    };
    Switches {
        protocol: agent.name,
        all_off: agent.all_off.is_some_and(is_off),
    }
}

/// The most keys of a group or a handler that are checked.
const MOST_KEYS: usize = 100;

const LIKE_OURS: &str = "a list is the form of hooks.json, which is a file of its own";

const TWICE: &str = "the key occurs twice: the last one counts";

/// Refuses a key that occurs twice.
fn key_twice(node: Node<'_, '_>) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    let twice = node.members().find(|member| !seen.insert(member.key));
    twice.map_or(Ok(()), |member| {
        Err(Problem::error(member.key, TWICE).at(member.key_range))
    })
}

/// Returns the first group or handler that exceeds the limit of a file.
fn one_too_many<'t, 'a>(hooks: Node<'t, 'a>) -> Option<Node<'t, 'a>> {
    let items =
        |list: Option<Node<'t, 'a>>| list.and_then(|list| list.items()).into_iter().flatten();
    let groups = || {
        let events = hooks.members();
        events.flat_map(|event| items(Some(event.value)))
    };
    let mut handlers = groups().flat_map(|group| items(group.get("hooks")));
    let group = groups().nth(MOST_ENTRIES);
    group.or_else(|| handlers.nth(MOST_ENTRIES))
}

/// Refuses a key that was intended to be `hooks`.
fn like_hooks(member: &Member<'_, '_>) -> Result<(), Problem> {
    let lower = member.key.to_ascii_lowercase();
    if member.key == "hooks" || !matches!(&*lower, "hook" | "hooks") {
        return Ok(());
    }
    let message = format!("unknown key `{}`", shortened(member.key));
    let problem = Problem::error(member.key, message).at(member.key_range.clone());
    Err(problem.with_suggestion_of(Some("hooks")))
}

/// Returns the problem of a group without `hooks`.
fn no_group(node: Node<'_, '_>, agent: &Agent) -> Problem {
    if node.get("command").is_none() {
        return Problem::error_at(&node, "`hooks` is missing");
    }
    let message = format!("found a handler where {} expects a group", agent.title);
    Problem::error_at(&node, message).with_help("put it into {\"hooks\": [ ... ]}")
}

fn object(node: Node<'_, '_>, expected: &str) -> Result<(), Problem> {
    let problem = || Problem::error_at(&node, node.unexpected(expected));
    node.is_object().then_some(()).ok_or_else(problem)
}

fn list<'t, 'a>(
    node: Node<'t, 'a>,
    expected: &str,
) -> Result<impl Iterator<Item = Node<'t, 'a>> + use<'t, 'a>, Problem> {
    let problem = || Problem::error_at(&node, node.unexpected(expected));
    node.items().ok_or_else(problem)
}

fn text<'t>(node: Node<'t, '_>) -> Result<&'t str, Problem> {
    let problem = || Problem::error_at(&node, node.unexpected("a string"));
    node.text().ok_or_else(problem)
}

/// The types of handlers that agents run, but this crate does not.
const OTHER_TYPES: [&str; 4] = ["prompt", "agent", "http", "mcp_tool"];

fn check_type(node: Node<'_, '_>, agent: &Agent) -> Result<(), Problem> {
    object(node, "an object with `type` and `command`")?;
    let Some(kind) = node.get("type") else {
        let problem = Problem::error_at(
            &node,
            format!("has no `type`, so {} ignores it", agent.title),
        );
        return Err(problem.with_help("add \"type\": \"command\""));
    };
    match text(kind)? {
        "command" => Ok(()),
        other if OTHER_TYPES.contains(&other) => Err(Problem::warning_at(
            &kind,
            format!("handlers of type `{other}` do not run: only type `command` is supported"),
        )),
        other => {
            let message = format!("expected `command`, found `{}`", shortened(other));
            Err(Problem::error_at(&kind, message).with_suggestion_of(Some("command")))
        }
    }
}

/// Returns a string that a process can receive.
fn string(node: Node<'_, '_>) -> Result<String, Problem> {
    let nul = || Problem::error_at(&node, "expected a string without the character NUL");
    let text = Some(text(node)?).filter(|text| !text.contains('\0'));
    text.map(str::to_owned).ok_or_else(nul)
}
