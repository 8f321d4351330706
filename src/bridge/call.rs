//! The call that an agent is about to make, or has made, as hooks of hooks.json see it.
//!
//! A call is one event under our names. A call that does several things (a patch, several edits) is also one event for each.
//! So is a call of a tool that no row names: its arguments tell what it does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::arguments;
use super::guarded::Protects;
use super::operation::{self, EDIT};
use super::patch::{self, Embedded, MOST_CHANGES};
use super::paths::Places;
use super::text_output;
use crate::agents::{APPLY_PATCH, Agent, Tool};
use crate::events::{
    AGENT, AGENT_ID, AGENT_TYPE, EventType, HookEvent, HostContext, Vocabulary, known_data_keys,
};

pub(super) type Arguments = Map<String, Value>;

/// The tool whose arguments have a list of edits.
const MULTI_EDIT: &str = "MultiEdit";

const MAIN: &str = "main";

/// The type of an agent that has an identifier, but does not say of which type it is.
const SUBAGENT: &str = "subagent";
const SUBAGENT_START: &str = "agent:subagent_start";
const ARGUMENTS: &str = "tool_args";
const RESULT: &str = "tool_result";
const CONTENT: &str = "content";
const SHELL: &str = "bash";
/// The argument of `bash` with the directory of the command.
const DIRECTORY: &str = "directory";
const WEB_FETCH: &str = "web_fetch";
const URL: &str = "url";
/// The argument of `edit` with the new text.
const WRITTEN: &str = "new_string";

/// The most files that a call of an unknown tool names.
const MOST_PATHS: usize = 100;

/// The most directories in which its commands may run.
const MOST_DIRECTORIES: usize = 10;

/// The most commands that such a call has.
const MOST_COMMANDS: usize = 100;

/// The most names of a tool that an agent has joined with its server's.
const MOST_NAMES: usize = 20;

/// An event of an agent, under the names that hooks.json has.
pub(super) struct Call<'a> {
    agent: &'static Agent,
    places: Places<'a>,
    /// The event without a tool's arguments.
    event: HookEvent,
    /// The row of its tool; none if it has none, or no row names it.
    tool: Option<&'static Tool>,
    /// The agent's name of the tool, with the arguments as the agent has them.
    called: Option<(String, Arguments)>,
    /// Further names that the tool may have.
    also_named: Vec<String>,
    /// The name that stands beside the arguments, if these are an argument themselves, as in Grok Build.
    wrapped_as: Option<Value>,
}

impl<'a> Call<'a> {
    /// Converts an event that [`Agent::event`] has read.
    pub(super) fn new(agent: &'static Agent, event: HookEvent, places: Places<'a>) -> Self {
        let mut event = with_places_of_data(agent, event);
        let theirs = event.tool_name.clone().unwrap_or_default();
        let mut names = agent.joined_names(&theirs);
        event.tool_name = names.next().or(event.tool_name);
        let also_named = names.collect();
        let tool = event.tool_name.as_deref().and_then(|name| agent.tool(name));
        let is_joined = event.tool_name.as_deref() != Some(&*theirs);
        let mut wrapped_as = None;
        let mut called = None;
        if let Some(theirs) = event.tool_name.clone()
            && let Some(Value::Object(arguments)) = event.data.get(ARGUMENTS)
        {
            let within = arguments.get("tool_input").and_then(Value::as_object);
            let arguments = match (within, arguments.get("tool_name")) {
                (Some(within), Some(name)) if is_joined && arguments.len() == 2 => {
                    wrapped_as = Some(name.clone());
                    within
                }
                _ => arguments,
            };
            called = Some((theirs, arguments.clone()));
            event.data.remove(ARGUMENTS);
        }
        Self {
            agent,
            places,
            event,
            tool,
            called,
            also_named,
            wrapped_as,
        }
    }

    pub(super) fn event_type(&self) -> &EventType {
        &self.event.event_type
    }

    /// Returns the event as a whole.
    ///
    /// # Errors
    /// If the effect of the call is unclear.
    pub(super) fn whole(&self) -> Result<HookEvent, String> {
        let Some((theirs, arguments)) = &self.called else {
            return Ok(self.event.clone());
        };
        let arguments = match self.tool {
            Some(tool) => self.to_ours(tool, arguments)?,
            None => arguments.clone(),
        };
        Ok(self.with(self.name(theirs), arguments))
    }

    /// Returns the event with its path as it came, for an event that cannot be blocked, if [`whole`](Self::whole) fails.
    pub(super) fn as_it_came(&self) -> HookEvent {
        let Some((theirs, arguments)) = &self.called else {
            return self.event.clone();
        };
        let renamed = self.tool.map(|tool| renamed(tool, arguments));
        let arguments = match renamed {
            Some(Ok(arguments)) => arguments,
            _ => arguments.clone(),
        };
        self.with(self.name(theirs), arguments)
    }

    /// Returns our name of the tool. A tool with parts keeps its own name: a hook for `edit` gets the parts.
    fn name<'n>(&self, theirs: &'n str) -> &'n str {
        match self.tool {
            Some(tool) if !has_parts(tool) && self.listed_paths().is_none() => tool.ours[0],
            _ => theirs,
        }
    }

    /// Returns an event for each thing that the call does, besides the whole.
    ///
    /// # Errors
    /// If the effect of the call is unclear, or the call has too many parts.
    pub(super) fn parts(&self) -> Result<Vec<HookEvent>, String> {
        let Some((_, arguments)) = &self.called else {
            return Ok(Vec::new());
        };
        let parts = match (self.tool, self.listed_paths()) {
            (Some(tool), Some(listed)) => self.listed(tool, arguments, listed)?,
            (Some(tool), _) if is_list_of_edits(tool, arguments) => self.edits(tool, arguments)?,
            (Some(tool), _) if tool.ours[0] == WEB_FETCH => self.other_fetches(tool, arguments)?,
            (Some(tool), None) => self.patched(tool, arguments)?,
            (None, _) => self.told_by_arguments(arguments)?,
        };
        check_count("servers", self.also_named.len(), MOST_NAMES)?;
        let named = self.also_named.iter();
        let named = named.map(|name| self.with(name, arguments.clone()));
        let parts = parts.into_iter();
        let parts = parts.map(|part| {
            let mut event = self.with(part.tool, part.arguments);
            if let Some(directory) = part.directory {
                event = event.with_context(in_directory(&directory));
            }
            event.may_be_directory = self.tool.is_none() && part.tool == EDIT;
            event
        });
        Ok(named.chain(parts).collect())
    }

    /// Returns what of the call's paths is protected, as far as the names of its tool and its arguments tell.
    pub(super) fn protection(&self) -> Protection {
        let called = self.called.as_ref().filter(|_| self.tool.is_none());
        let Some((theirs, arguments)) = called else {
            return Protection::Same(Protects::All);
        };
        let arguments = &arguments::decoded(arguments);
        // The same tools have no event of `edit`.
        let is_read = operation::of_paths(theirs, arguments) != EDIT;
        if is_read || operation::is_read_by_git(theirs, arguments) {
            return Protection::Same(Protects::Nothing);
        }
        let moves = operation::moves(theirs, arguments);
        let count = arguments::paths(arguments).len();
        if !moves && (operation::is_of_git(theirs) || count == 1) {
            return Protection::Same(Protects::NotAbove);
        }
        let mut others = arguments.clone();
        others.retain(|name, _| !operation::is_place(name));
        let others = arguments::paths(&others);
        let others = others.iter().filter_map(|path| self.places.ours(path).ok());
        Protection::Beside(others.collect())
    }

    /// Returns the arguments of the changed call under the agent's names. An argument that no hook has changed stays as it came.
    ///
    /// # Errors
    /// If two arguments have one name, or the agent does not accept changed arguments.
    pub(super) fn changed(&self, event: &HookEvent) -> Result<Arguments, String> {
        if self.agent.bare_patches && self.tool.is_some_and(|tool| tool.theirs == APPLY_PATCH) {
            return Err("a hook changes a patch, which is not possible here".to_owned());
        }
        let none = Map::new();
        let before = self.called.as_ref().map_or(&none, |(_, before)| before);
        let after = event.data.get(ARGUMENTS).and_then(Value::as_object);
        let whole = self.whole()?;
        let mut arguments = Map::new();
        for (ours, value) in after.into_iter().flatten() {
            let theirs = self.theirs(ours);
            let is_same = whole
                .data
                .get(ARGUMENTS)
                .and_then(|arguments| arguments.get(ours))
                == Some(value);
            if is_same && !before.contains_key(theirs) {
                // An address that stands in another argument.
                continue;
            }
            let value = match (before.get(theirs), value.as_str()) {
                (Some(old), _) if is_same => old.clone(),
                (_, Some(path)) if ours == "path" && self.tool.is_some() => {
                    self.places.theirs(path).into()
                }
                _ => value.clone(),
            };
            if arguments.insert(theirs.to_owned(), value).is_some() {
                return Err(format!("two arguments have the name `{theirs}`"));
            }
        }
        Ok(match &self.wrapped_as {
            Some(name) => Map::from_iter([
                ("tool_name".to_owned(), name.clone()),
                ("tool_input".to_owned(), arguments.into()),
            ]),
            None => arguments,
        })
    }

    /// Returns the call with other arguments, under the agent's names.
    pub(super) fn with_arguments(mut self, arguments: Arguments) -> Self {
        if let Some((_, before)) = &mut self.called {
            *before = arguments;
        }
        self
    }

    fn with(&self, name: &str, arguments: Arguments) -> HookEvent {
        let mut event = self.event.clone().with_tool_name(name);
        if name == SHELL {
            event = event.with_context(in_directory(&self.directory(&arguments)));
        }
        event.with_data(ARGUMENTS, arguments)
    }

    /// Returns the directory in which the command of these arguments runs: that of the agent, unless the row of its tool names another.
    fn directory(&self, arguments: &Arguments) -> PathBuf {
        let has_one = |tool: &Tool| tool.arguments.iter().any(|(_, ours)| *ours == DIRECTORY);
        let named = self.tool.filter(|tool| has_one(tool));
        let named = named.and_then(|_| arguments.get(DIRECTORY)?.as_str());
        self.places.cwd.join(named.unwrap_or_default())
    }

    /// Returns the directories in which a command of an unknown tool may run.
    ///
    /// # Errors
    /// If it is not known which directory a text names.
    fn directories(&self, arguments: &Arguments) -> Result<Vec<PathBuf>, String> {
        // A server may have begun where the session did, or know where the agent went, and may not read what it is given.
        let mut all = vec![self.places.cwd.to_owned(), self.places.root.to_owned()];
        for named in arguments::directories(arguments) {
            if named.contains('$') {
                return Err(format!(
                    "{named:?} has a variable: write the path of the directory"
                ));
            }
            self.places.ours(named)?;
            all.extend([self.places.cwd.join(named), self.places.root.join(named)]);
        }
        all.sort_unstable();
        all.dedup();
        check_count("directories", all.len(), MOST_DIRECTORIES)?;
        Ok(all)
    }

    /// Returns the agent's name of an argument.
    fn theirs<'k>(&self, ours: &'k str) -> &'k str {
        let rows = self.tool.map_or(&[][..], |tool| tool.arguments);
        let row = rows.iter().find(|(_, name)| *name == ours);
        row.map_or(ours, |(theirs, _)| theirs)
    }

    /// Returns arguments under our names, with the path as hooks see it.
    fn to_ours(&self, tool: &Tool, arguments: &Arguments) -> Result<Arguments, String> {
        let mut renamed = renamed(tool, arguments)?;
        if let Some(address) = self.addresses().next() {
            renamed.insert(URL.to_owned(), address.into());
        }
        let is_search = matches!(tool.ours[0], "glob" | "grep" | "ls");
        let is_elsewhere = self.places.ours(".").is_ok_and(|place| place != ".");
        let has_no_path =
            |path: Option<&Value>| path.is_none_or(|path| path == "" || path.is_null());
        if is_search && is_elsewhere && has_no_path(renamed.get("path")) {
            // It is a search where the agent is.
            renamed.insert("path".to_owned(), ".".into());
        }
        let creates = renamed.get("old_string").is_some_and(|old| old == "");
        if let Some(Value::String(path)) = renamed.get_mut("path") {
            if arguments.contains_key("paths") && path.contains(char::is_whitespace) {
                return Err(format!(
                    "{path:?} has a blank, at which {} may split it: write each path as an item of a list",
                    self.agent.title()
                ));
            }
            if self.agent.corrects_paths && self.event.event_type == EventType::ToolPreExecute {
                self.check_uncorrected(tool, path, creates)?;
            }
            *path = self.places.ours(path)?;
        }
        Ok(renamed)
    }

    /// Returns the agent's name of the path, and the paths, of a call that has a list of them.
    fn listed_paths(&self) -> Option<(&'static str, &[Value])> {
        let (_, arguments) = self.called.as_ref()?;
        let mut rows = self.tool?.arguments.iter();
        let (theirs, _) = rows.find(|(_, ours)| *ours == "path")?;
        let paths = arguments.get(*theirs)?.as_array()?;
        // An empty list would give no part, and so no guard would run.
        (!paths.is_empty()).then_some((*theirs, &paths[..]))
    }

    /// Returns a part for each path in a list of paths.
    fn listed(
        &self,
        tool: &Tool,
        arguments: &Arguments,
        (theirs, paths): (&str, &[Value]),
    ) -> Result<Vec<Part>, String> {
        check_count("files", paths.len(), MOST_PATHS)?;
        let mut parts = Vec::new();
        for path in paths {
            let mut own = arguments.clone();
            own.insert(theirs.to_owned(), path.clone());
            parts.push(Part::new(tool.ours[0], self.to_ours(tool, &own)?));
        }
        Ok(parts)
    }

    /// Returns the edits in a list of edits.
    fn edits(&self, tool: &Tool, arguments: &Arguments) -> Result<Vec<Part>, String> {
        let mut shared = self.to_ours(tool, arguments)?;
        let Some(Value::Array(edits)) = shared.remove("edits") else {
            return Ok(vec![Part::new("edit", shared)]);
        };
        let edit = |edit: Value| match edit {
            Value::Object(own) => {
                let mut arguments = renamed(tool, &own)?;
                arguments.extend(shared.clone());
                Ok(Part::new("edit", arguments))
            }
            _ => Err(format!("an edit of `{}` is not an object", tool.theirs)),
        };
        check_count("edits", edits.len(), MOST_CHANGES)?;
        edits.into_iter().map(edit).collect()
    }

    /// Returns the addresses of a call whose tool fetches those in a text. The whole has the first one.
    fn addresses(&self) -> impl Iterator<Item = &str> {
        let text = self.tool.and_then(|tool| tool.fetches_from);
        let called = text.zip(self.called.as_ref());
        called.into_iter().flat_map(|(text, (_, arguments))| {
            let of = |name: &str| arguments.get(name).and_then(Value::as_str);
            let listed = arguments::addresses(of(text).unwrap_or_default());
            of(URL).into_iter().chain(listed)
        })
    }

    /// Returns the fetches of the other addresses.
    fn other_fetches(&self, tool: &Tool, arguments: &Arguments) -> Result<Vec<Part>, String> {
        let addresses: Vec<_> = self.addresses().skip(1).take(MOST_PATHS + 1).collect();
        check_count("addresses", addresses.len(), MOST_PATHS)?;
        let whole = self.to_ours(tool, arguments)?;
        let with = |address: &str| {
            let mut own = whole.clone();
            own.insert(URL.to_owned(), address.into());
            Part::new(WEB_FETCH, own)
        };
        Ok(addresses.into_iter().map(with).collect())
    }

    /// Returns the files of a patch, if the call has one.
    fn patched(&self, tool: &Tool, arguments: &Arguments) -> Result<Vec<Part>, String> {
        let named = self.theirs("command");
        let command = arguments.get(named);
        let text = || {
            let text = command.and_then(Value::as_str);
            text.ok_or_else(|| format!("the call of `{}` has no text `{named}`", tool.theirs))
        };
        let embedded = match tool.ours[0] {
            _ if self.agent.tool(APPLY_PATCH).is_none() => None,
            _ if tool.theirs == APPLY_PATCH => Some(Embedded {
                directory: None,
                patch: text()?,
            }),
            "bash" => patch::in_command(text()?)?,
            _ => None,
        };
        let Some(Embedded { directory, patch }) = embedded else {
            return Ok(Vec::new());
        };
        let cwd = self.places.cwd.join(directory.unwrap_or_default());
        let places = Places {
            cwd: &cwd,
            ..self.places
        };
        let mut parts = Vec::new();
        for file in patch::files(patch)? {
            let mut arguments = Map::new();
            arguments.insert("path".to_owned(), places.ours(file.path)?.into());
            let (old, new) = match file.tool {
                // The target of a move has more than the text of its hunks.
                "write" if file.old.is_empty() => (None, "content"),
                "write" => (Some(("old_string", file.old)), "content"),
                _ => (Some(("old_string", file.old)), "new_string"),
            };
            arguments.extend(old.map(|(name, old)| (name.to_owned(), old.into())));
            arguments.insert(new.to_owned(), file.new.into());
            parts.push(Part::new(file.tool, arguments));
        }
        Ok(parts)
    }

    /// Returns the parts of a call whose tool no row names, by its arguments.
    fn told_by_arguments(&self, arguments: &Arguments) -> Result<Vec<Part>, String> {
        let with = |name: &str, value: Value| {
            let mut changed = arguments.clone();
            changed.insert(name.to_owned(), value);
            changed
        };
        let mut parts = Vec::new();
        let tool = self.called.as_ref().map_or("", |(theirs, _)| theirs);
        let decoded = arguments::decoded(arguments);
        let commands = arguments::commands(tool, &decoded, MOST_COMMANDS);
        if commands.len() > MOST_COMMANDS {
            return Err(format!(
                "the call has more than {MOST_COMMANDS} commands: make several calls"
            ));
        }
        let directories = self.directories(&decoded)?;
        for command in commands {
            let text = command.text();
            if text.is_empty() {
                continue;
            }
            parts.extend(directories.iter().map(|directory| Part {
                directory: Some(directory.clone()),
                ..Part::new(SHELL, with("command", text.clone().into()))
            }));
        }
        let paths = arguments::paths(&decoded);
        // Each part has all arguments.
        check_count("files", paths.len(), MOST_PATHS)?;
        let places = [
            self.places,
            Places {
                cwd: self.places.root,
                ..self.places
            },
        ];
        let mut named: Vec<String> = Vec::new();
        for path in &paths {
            for places in places {
                let path = places.ours(path)?;
                if !named.contains(&path) {
                    named.push(path);
                }
            }
        }
        let name = operation::of_paths(tool, &decoded);
        let written = Value::from(arguments::other_texts(arguments));
        for path in named {
            let mut part = with("path", path.into());
            if name == EDIT {
                part.insert(WRITTEN.to_owned(), written.clone());
            }
            parts.push(Part::new(name, part));
        }
        Ok(parts)
    }

    /// Checks that the agent opens the path of a file or a directory as it is written.
    fn check_uncorrected(&self, tool: &Tool, path: &str, creates: bool) -> Result<(), String> {
        let agent = self.agent.title();
        let is_there = self.places.cwd.join(path).exists();
        let has_escape = path.split('%').skip(1).any(is_escape);
        if has_escape || path.starts_with('@') && !is_there {
            return Err(format!(
                "{path:?} begins with `@` or has an escape such as `%2F`, for which {agent} takes another path: write it as `./{path}` or without escapes"
            ));
        }
        let may_be_searched = tool.ours[0] == "edit" && Path::new(path).is_relative();
        if may_be_searched && !is_there && !creates {
            return Err(format!(
                "there is no file {path:?}, and {agent} looks for another one with this name: write its absolute path"
            ));
        }
        Ok(())
    }
}

/// Returns whether a text begins with two hexadecimal digits.
fn is_escape(rest: &str) -> bool {
    rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2
}

/// Returns arguments under our names.
fn renamed(tool: &Tool, arguments: &Arguments) -> Result<Arguments, String> {
    let mut renamed = Map::new();
    for (theirs, value) in arguments {
        let row = tool.arguments.iter().find(|(name, _)| name == theirs);
        let ours = row.map_or(theirs.as_str(), |(_, ours)| ours);
        if renamed.insert(ours.to_owned(), value.clone()).is_some() {
            return Err(format!(
                "the call of `{}` has two arguments that mean `{ours}`",
                tool.theirs
            ));
        }
    }
    Ok(renamed)
}

/// Fails if a call has too many parts: hooks run for each.
fn check_count(what: &str, count: usize, most: usize) -> Result<(), String> {
    if count > most {
        return Err(format!(
            "the call is about {count} {what}, expected at most {most}: make several calls"
        ));
    }
    Ok(())
}

/// The protection of the paths of one call.
pub(super) enum Protection {
    Same(Protects),
    /// These paths; beside them, the place of the work only says where they are.
    Beside(Vec<String>),
}

impl Protection {
    pub(super) fn of(&self, path: Option<&str>) -> Protects {
        match self {
            Self::Same(protects) => *protects,
            Self::Beside(others) if others.is_empty() => Protects::All,
            Self::Beside(others) => match path {
                Some(path) if !others.iter().any(|other| other == path) => Protects::NotAbove,
                _ => Protects::All,
            },
        }
    }
}

/// One thing that a call does.
struct Part {
    /// Our name of the tool.
    tool: &'static str,
    arguments: Arguments,
    /// The directory of a command, if it is not that of the call.
    directory: Option<PathBuf>,
}

impl Part {
    fn new(tool: &'static str, arguments: Arguments) -> Self {
        Self {
            tool,
            arguments,
            directory: None,
        }
    }
}

/// Returns the context of a command that runs in a directory: its conditions resolve relative paths there.
fn in_directory(directory: &Path) -> Arc<HostContext> {
    Arc::new(HostContext::new().with_cwd(directory))
}

fn has_parts(tool: &Tool) -> bool {
    matches!(tool.theirs, APPLY_PATCH | MULTI_EDIT)
}

fn is_list_of_edits(tool: &Tool, arguments: &Arguments) -> bool {
    let has_list = || arguments.get("edits").is_some_and(Value::is_array);
    tool.theirs == MULTI_EDIT || tool.ours.contains(&"multi_edit") && has_list()
}

/// Moves values that have no key in our events to [`AGENT`], and gives tools of MCP servers and results of tools one form.
fn with_places_of_data(agent: &Agent, mut event: HookEvent) -> HookEvent {
    let is_known = Vocabulary::known()
        .event(event.event_type.as_str())
        .is_some();
    let mut about = event
        .context()
        .map(|context| context.fields().clone())
        .unwrap_or_default();
    for (key, value) in std::mem::take(&mut event.data) {
        if !is_known || known_data_keys().any(|name| name == key) {
            event.data.insert(key, value);
        } else {
            about.insert(key, value);
        }
    }
    // An agent may have a field of this name too.
    if let Some(name) = about.insert("name".to_owned(), agent.name().into()) {
        event.data.insert("name".to_owned(), name);
    }
    if let Some(name) = mcp_name(&about) {
        event.tool_name = Some(name);
    }
    // A prompt may be a list of texts and images.
    if let Some(parts) = event.data.get(CONTENT).and_then(Value::as_array) {
        let texts = parts.iter().filter_map(|part| part["text"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n").into();
        let parts = event.data.insert(CONTENT.to_owned(), text);
        about.extend(parts.map(|parts| (agent.key(CONTENT).to_owned(), parts)));
    }
    if let Some(result) = event.data.get_mut(RESULT)
        && !result.is_string()
        && let Some(text) = text_output::text(result)
    {
        // Each text is kept once, since hooks may change it for the hooks after them.
        let rest = text_output::with_text(result, "").unwrap_or_default();
        about.insert("tool_response".to_owned(), rest);
        *result = text.into();
    }
    name_agent(agent, &mut event, &mut about);
    event.data.insert(AGENT.to_owned(), about.into());
    event.with_context(Arc::new(HostContext::new()))
}

/// Names the agent of the turn in the keys of our events and in the agent's own.
fn name_agent(agent: &Agent, event: &mut HookEvent, about: &mut Map<String, Value>) {
    // An agent that does not tell subagents apart does not say whose event it is.
    let tells = agent
        .events()
        .iter()
        .any(|event| event.ours() == Some(SUBAGENT_START));
    for key in [AGENT_TYPE, AGENT_ID] {
        if let Some(value) = event.data.get(key) {
            about.insert(key.to_owned(), value.clone());
        } else if let Some(value) = about.get(key) {
            event.data.insert(key.to_owned(), value.clone());
        }
    }
    let mut kind = event.data.get(AGENT_TYPE).cloned();
    let is_subagent = event.data.contains_key(AGENT_ID);
    if is_subagent && kind == Some(MAIN.into()) {
        // A subagent may have this name.
        kind = Some(format!("{MAIN} (subagent)").into());
        event.data.remove(AGENT_TYPE);
    }
    let usual = if is_subagent { SUBAGENT } else { MAIN };
    if let Some(kind) = kind.or_else(|| tells.then(|| usual.into())) {
        event.data.entry(AGENT_TYPE).or_insert(kind);
    }
}

/// Returns the name of a tool of an MCP server, where the agent has another form of it.
fn mcp_name(about: &Map<String, Value>) -> Option<String> {
    let context = about.get("mcp_context")?;
    let text = |key: &str| context.get(key)?.as_str();
    Some(format!(
        "mcp__{}__{}",
        text("server_name")?,
        text("tool_name")?
    ))
}
