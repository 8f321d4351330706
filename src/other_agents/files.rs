//! Finds the files of other agents that may have hooks.
//!
//! Knows places. `reader` knows the content of the files.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::agents::{AGENTS, Agent, BRIDGED, CLAUDE};
use crate::compat::{AgentProtocol, Origin, OtherAgents};
use crate::config::{Content, Form, HookConfig, Owner, Source, SourceFile, reading};
use crate::files;
use crate::json::{Node, parse_object, readable};
use crate::printable::shortened;
use crate::protocol::Protocol;

/// The most files that a manifest may name.
const MOST_NAMED_FILES: usize = 100;

impl HookConfig {
    /// Also loads hooks of other agents, after those of hooks.json. Default: none.
    pub(crate) fn with_other_agents(self, tools: OtherAgents) -> Self {
        self.with_source(tools)
    }

    /// The hooks of other agents that are loaded.
    pub(crate) fn other_agents(&self) -> OtherAgents {
        self.source().cloned().unwrap_or_default()
    }
}

impl Source for OtherAgents {
    fn files(&self, root: Option<&Path>, with_user: bool) -> Vec<SourceFile> {
        let mut search = Search {
            tools: self,
            root,
            files: Vec::new(),
        };
        if let Some(home) = self.home().filter(|_| with_user) {
            search.directory(&home, None);
        }
        if let Some(root) = root {
            search.directory(root, Some(root));
        }
        search.plugins();
        search.named();
        search.files
    }

    fn form_of(&self, path: &Path, text: &str) -> Option<Arc<dyn Form>> {
        let place = std::path::absolute(path).ok()?;
        let directory = place.parent()?;
        let above = directory.parent();
        let is_of = |agent: &&Agent| directory.ends_with(directory_of(agent));
        let of_project = AGENTS.into_iter().find(is_of);
        let mut others = BRIDGED.into_iter().filter(|agent| !AGENTS.contains(agent));
        if of_project.is_none()
            && let Some(agent) = others.find(|agent| has_files_in(agent, directory))
        {
            return Some(self.origin(agent, None, None));
        }
        let root =
            above.filter(|root| of_project.is_some() && self.home().as_deref() != Some(root));
        let plugin = above.filter(|_| directory.ends_with("hooks"));
        let plugin = plugin.and_then(|plugin| Some((plugin, agent_of_plugin(plugin)?)));
        let of_plugin = plugin.map(|(_, agent)| agent);
        let agent = of_project
            .or(of_plugin)
            .or_else(|| agent_of_text(text, &self.agents))?;
        Some(self.origin(agent, root, plugin.map(|(directory, _)| directory)))
    }

    fn reads(&self, protocol: &str) -> bool {
        let is_named = self.agents.iter().any(|agent| agent.name() == protocol);
        let is_known = AGENTS.into_iter().any(|agent| agent.name() == protocol);
        // A plugin may be one of any agent.
        is_named || is_known && !self.plugins.is_empty()
    }

    fn lost(&self, protocol: &str, definition: &Value) -> Option<Arc<dyn Protocol>> {
        let mut agents = self.agents.iter().copied().chain(AGENTS);
        let agent = agents.find(|agent| agent.name() == protocol)?;
        let lost = AgentProtocol::lost(&self.origin(agent, None, None), definition)?;
        Some(Arc::new(lost))
    }
}

impl OtherAgents {
    fn home(&self) -> Option<PathBuf> {
        self.home.clone().or_else(home::home_dir)
    }

    /// Returns the files of all agents that decide which hooks run, and the directories in which every file does, in the
    /// user's home and in the project: also those of agents whose hooks are not loaded. With `all`, those of which only some files decide,
    /// too.
    pub(crate) fn deciding_places(
        &self,
        root: Option<&Path>,
        all: bool,
    ) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let home = self.home();
        let agents = || BRIDGED.iter().chain(&self.agents).copied();
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        for base in home.as_deref().into_iter().chain(root) {
            files.extend(
                agents()
                    .flat_map(|agent| agent.files)
                    .map(|name| base.join(name)),
            );
            let some = agents().flat_map(|agent| agent.may_decide).filter(|_| all);
            let names = agents().flat_map(|agent| agent.also_decides);
            let names = names.chain(some);
            directories.extend(names.map(|name| base.join(name)));
        }
        // A plugin may be the project itself, or a directory above it: then only its files with hooks count.
        let is_above = |directory: &PathBuf| root.is_some_and(|root| is_within(root, directory));
        let plugins = self.plugins.iter().map(|path| absolute(path));
        directories.extend(plugins.filter(|directory| !is_above(directory)));
        (files, directories)
    }

    fn origin(
        &self,
        agent: &'static Agent,
        root: Option<&Path>,
        plugin: Option<&Path>,
    ) -> Arc<Origin> {
        Arc::new(Origin {
            agent,
            base_dir: root.map(Arc::from),
            plugin: plugin.map(Path::to_owned),
            mapped: Arc::clone(&self.mapped),
            is_strict: self.is_strict,
        })
    }
}

/// One search for files.
struct Search<'a> {
    tools: &'a OtherAgents,
    root: Option<&'a Path>,
    files: Vec<SourceFile>,
}

impl Search<'_> {
    fn add(&mut self, path: PathBuf, owner: Owner, content: Content) {
        self.files.push(SourceFile {
            path,
            owner,
            content,
        });
    }

    fn report(&mut self, path: PathBuf, owner: Owner, message: impl Into<String>) {
        self.add(path, owner, Content::Problem(message.into()));
    }

    /// Adds the files of the user's home, or of the project's root.
    fn directory(&mut self, directory: &Path, root: Option<&Path>) {
        let owner = root.map_or(Owner::User, |_| Owner::Project);
        // The files of the user's home are the user's, also where it is the project.
        let is_home = root.is_some() && self.tools.home().as_deref() == root;
        for agent in &self.tools.agents {
            for (index, file) in agent.files.iter().enumerate() {
                let path: PathBuf = directory.join(file).components().collect();
                let is_wanted = match root {
                    Some(_) => index > 0 || !is_home,
                    None => index == 0,
                };
                let owner = if root.is_some_and(|root| self.is_named(agent, &path, root)) {
                    Owner::NamedInProject
                } else {
                    owner
                };
                if is_wanted {
                    let origin = self.tools.origin(agent, root, None);
                    self.add(path, owner, Content::Settings(origin));
                }
            }
        }
    }

    /// Adds the plugins that the host names.
    fn plugins(&mut self) {
        for directory in &self.tools.plugins {
            let directory = absolute(directory);
            if let Some(link) = files::dangling_directory(&directory) {
                let origin = self.tools.origin(CLAUDE, None, None);
                let left_out = Content::LeftOut(files::to_nothing(link), origin);
                self.add(directory, Owner::Named, left_out);
                continue;
            }
            // The default is Claude Code, since the other agents read its plugins.
            let agent = agent_of_plugin(&directory).unwrap_or(CLAUDE);
            match self.root.filter(|root| is_within(&directory, root)) {
                Some(root) => self.plugin(&directory, agent, Some(root), Owner::Project),
                None => self.plugin(&directory, agent, None, Owner::Named),
            }
            if !directory.is_dir() {
                let message = "the path is not a directory, expected the directory of a plugin";
                self.report(directory, Owner::Named, message);
            }
        }
    }

    /// Adds the files and plugins that the user names, except files that were found before. One of a project replaces none:
    /// it may be a link that the user has not chosen. Those that are a project's stay the project's.
    fn named(&mut self) {
        let before = self.files.len();
        for (agent, path) in &self.tools.named {
            let path = absolute(path);
            let root = self.root.filter(|root| self.is_of_project(&path, root));
            let owner = root.map_or(Owner::User, |_| Owner::NamedInProject);
            if path.is_dir() {
                self.plugin(&path, agent, root, owner);
                continue;
            }
            let known = self.files[..before].iter();
            let mut known = known.filter(|file| file.owner != Owner::Project);
            if known.any(|file| is_same_file(&file.path, &path)) {
                continue;
            }
            if files::is_there(&path) {
                let origin = self.tools.origin(agent, root, None);
                self.add(path, owner, Content::Settings(origin));
            } else {
                self.report(path, owner, "the file does not exist");
            }
        }
    }

    /// Returns whether an agent loads this file by itself from the project: then it stays the project's, also if the host
    /// names it. So does a link in the project: the repository, or a hook that may write there, has chosen its target.
    fn is_of_project(&self, path: &Path, root: &Path) -> bool {
        // A link in the last place is not followed here, so that its own place counts too.
        let is_inside = path.parent().is_some_and(|parent| is_below(parent, root));
        if !is_inside && !is_within(path, root) {
            return false;
        }
        let is_home = self.tools.home().as_deref() == Some(root);
        AGENTS.into_iter().any(|agent| {
            let files = agent.files.iter().skip(usize::from(is_home));
            let mut files = files.map(|file| root.join(file));
            files.any(|file| file == path || is_same_file(&file, path))
        })
    }

    /// Returns whether the user has named this file of a project. A link out of the project may lead to a file that the user
    /// has named there: the project's settings and sandbox must not apply to that file.
    fn is_named(&self, agent: &Agent, path: &Path, root: &Path) -> bool {
        let mut named = self.tools.named.iter();
        named.any(|(of, named)| *of == agent && is_same_file(named, path)) && is_below(path, root)
    }

    /// Adds the files of a directory with the layout of a plugin: `hooks/hooks.json`, and those that the manifest names, or
    /// the manifest itself.
    fn plugin(
        &mut self,
        directory: &Path,
        agent: &'static Agent,
        root: Option<&Path>,
        owner: Owner,
    ) {
        let origin = self.tools.origin(agent, root, Some(directory));
        let manifest = directory.join(agent.emulated.manifest).join("plugin.json");
        let mut paths = vec![directory.join("hooks").join("hooks.json")];
        match named_files(&manifest) {
            None => paths.insert(0, manifest),
            Some(names) => {
                self.add(manifest.clone(), owner, Content::Nothing);
                for name in names.iter().take(MOST_NAMED_FILES) {
                    let path: PathBuf = directory.join(name).components().collect();
                    if paths.contains(&path) {
                        continue;
                    }
                    // The reader refuses a file that cannot be read.
                    if stays_inside(name) && !path.is_dir() && files::is_there(&path) {
                        paths.push(path);
                        continue;
                    }
                    let name = shortened(name);
                    let message =
                        format!("the manifest names `{name}`, which is not a file of the plugin");
                    self.report(manifest.clone(), owner, message);
                }
                if names.len() > MOST_NAMED_FILES {
                    let message = "the manifest names more than 100 files; the others are left out";
                    let left_out = Content::LeftOut(message.to_owned(), origin.clone());
                    self.add(manifest, owner, left_out);
                }
            }
        }
        for path in paths {
            self.add(path, owner, Content::Plugin(origin.clone()));
        }
    }
}

/// Returns whether a path stays in the directory in which it begins.
fn stays_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Returns whether files with hooks of an agent are in this directory.
fn has_files_in(agent: &Agent, directory: &Path) -> bool {
    let files = agent.settings_files().iter();
    let parents = files.filter_map(|file| Path::new(file).parent());
    let directories = agent.also_decides.iter().map(Path::new);
    // Some agents read a file of the project's root.
    let mut known = parents
        .chain(directories)
        .filter(|known| *known != Path::new(""));
    known.any(|known| directory.ends_with(known))
}

/// Returns the directory of an agent's files in a project.
fn directory_of(agent: &Agent) -> &'static str {
    let first = agent.files.first().and_then(|file| file.split('/').next());
    first.unwrap_or_default()
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let one = one.canonicalize();
    one.is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Returns whether a directory is within the project, by its path or its canonical path: everything in a clone needs
/// approval.
fn is_within(directory: &Path, root: &Path) -> bool {
    directory.starts_with(root) || is_below(directory, root)
}

/// Returns whether a directory is within the project, by its canonical path alone.
fn is_below(path: &Path, root: &Path) -> bool {
    let path = path.canonicalize();
    path.is_ok_and(|path| root.canonicalize().is_ok_and(|root| path.starts_with(root)))
}

/// Returns the file names in `hooks` of a manifest, one or a list of them. None if the value is an object of events, as in
/// a settings file.
fn named_files(manifest: &Path) -> Option<Vec<String>> {
    let text = reading::text_of(manifest)?;
    let tree = parse_object(&text).ok()?;
    let hooks = Node::new(&tree).member("hooks")?;
    let text = |name: Node<'_, '_>| name.text().map(str::to_owned);
    text(hooks).map_or_else(
        || hooks.items()?.map(text).collect(),
        |name| Some(vec![name]),
    )
}

/// Returns the agent whose manifest a directory has.
fn agent_of_plugin(directory: &Path) -> Option<&'static Agent> {
    let mut agents = AGENTS.into_iter();
    agents.find(|agent| files::is_there(&directory.join(agent.emulated.manifest)))
}

/// Returns the agent that has most of the events of a text: one of these, if one of them has any.
fn agent_of_text(text: &str, named: &[&'static Agent]) -> Option<&'static Agent> {
    let text = readable(text);
    let tree = parse_object(&text).ok()?;
    let hooks = Node::new(&tree).member("hooks")?;
    let known = |agent: &Agent| {
        let events = hooks.members();
        events
            .filter(|event| agent.event_named(event.key).is_some())
            .count()
    };
    let best = |agents: &[&'static Agent]| {
        let agents = agents.iter().copied().filter(|agent| known(agent) > 0);
        // The first agent counts if two agents know the same number.
        agents.rev().max_by_key(|agent| known(agent))
    };
    best(named).or_else(|| best(&AGENTS))
}

#[cfg(test)]
mod tests {
    use super::stays_inside;

    #[test]
    fn a_path_of_a_plugin_stays_in_it() {
        for (path, stays) in [
            ("x.json", true),
            ("./hooks/x.json", true),
            ("/x.json", false),
            ("../x.json", false),
            ("hooks/../../x.json", false),
            // This is a file in the current directory of a drive on Windows.
            ("C:x.json", !cfg!(windows)),
            (r"C:\x.json", !cfg!(windows)),
            (r"..\x.json", !cfg!(windows)),
            (r"\\server\x.json", !cfg!(windows)),
        ] {
            assert_eq!(stays_inside(path), stays, "{path}");
        }
    }
}
