//! The files of other tools: which of them may have hooks.
//!
//! Knows places, not what is in a file: `reader` does.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::handler::Origin;
use super::members::without_halves;
use super::protocol::ToolProtocol;
use super::settings::OtherTools;
use super::tool::Tool;
use super::tools::{CLAUDE, TOOLS};
use crate::config::reading::Node;
use crate::config::{Content, Form, HookConfig, Owner, Source, SourceFile, reading};
use crate::hook::Protocol;
use crate::printable::shortened;

/// The most directories of extensions that are read.
const MOST_EXTENSIONS: usize = 1000;

/// The most files that a manifest may name.
const MOST_NAMED_FILES: usize = 100;

impl HookConfig {
    /// Also loads hooks of other tools, after those of hooks.json. Default: none.
    #[must_use]
    pub fn with_other_tools(self, tools: impl Into<OtherTools>) -> Self {
        self.with_source(tools.into())
    }

    /// Which hooks of other tools are loaded.
    pub fn other_tools(&self) -> OtherTools {
        self.source().cloned().unwrap_or_default()
    }
}

impl Source for OtherTools {
    fn files(&self, root: Option<&Path>, with_user: bool) -> Vec<SourceFile> {
        let home = self.home.clone().or_else(home::home_dir);
        let mut search = Search {
            tools: self,
            root,
            is_home: home.is_some() && home.as_deref() == root,
            found: Vec::new(),
        };
        if let Some(home) = home.filter(|_| with_user) {
            search.user(&home);
        }
        if let Some(root) = root {
            search.project(root);
        }
        search.plugins();
        search.named();
        search.found
    }

    fn form_of(&self, path: &Path, text: &str) -> Option<Arc<dyn Form>> {
        let place = std::path::absolute(path).ok()?;
        let directory = place.parent()?;
        let above = directory.parent();
        let mut tools = TOOLS.into_iter();
        let of_project = tools.find(|tool| directory.ends_with(tool.files.directory));
        let has_manifest =
            |tool: &&Tool| above.is_some_and(|it| it.join(tool.files.manifest).exists());
        let mut of_plugin = None;
        if directory.ends_with("hooks") {
            of_plugin = TOOLS.into_iter().find(has_manifest);
        }
        let is_settings =
            |tool: &&Tool| tool.files.project.split(' ').any(|it| place.ends_with(it));
        let is_settings = of_project.as_ref().is_some_and(is_settings);
        let is_read = is_settings || of_plugin.is_some();
        let tool = tool_of_text(text, of_project.or(of_plugin), is_read)?;
        let home = self.home.clone().or_else(home::home_dir);
        let root = above.filter(|it| of_project.is_some() && home.as_deref() != Some(it));
        let plugin = above.filter(|_| of_plugin.is_some());
        Some(self.origin(tool, root, plugin))
    }

    fn reads(&self, protocol: &str) -> bool {
        let is_named = self.tools.iter().any(|tool| tool.name() == protocol);
        let is_known = TOOLS.into_iter().any(|tool| tool.name() == protocol);
        // A plugin may be one of any tool.
        is_named || is_known && !self.plugins.is_empty()
    }

    fn lost(&self, protocol: &str, definition: &Value) -> Option<Arc<dyn Protocol>> {
        let mut tools = self.tools.iter().copied().chain(TOOLS);
        let tool = tools.find(|tool| tool.name() == protocol)?;
        let mut lost = ToolProtocol::lost(tool, definition)?;
        lost.aliases = Arc::clone(&self.aliases);
        Some(Arc::new(lost))
    }
}

impl OtherTools {
    fn origin(
        &self,
        tool: &'static Tool,
        root: Option<&Path>,
        plugin: Option<&Path>,
    ) -> Arc<Origin> {
        Arc::new(Origin {
            tool,
            base_dir: root.map(Arc::from),
            plugin: plugin.map(Path::to_owned),
            aliases: Arc::clone(&self.aliases),
            large_context: Arc::default(),
            is_strict: self.is_strict,
        })
    }
}

/// One search for files.
struct Search<'a> {
    tools: &'a OtherTools,
    root: Option<&'a Path>,
    /// The user's home is the project.
    is_home: bool,
    found: Vec<SourceFile>,
}

impl Search<'_> {
    fn add(&mut self, path: PathBuf, owner: Owner, content: Content) {
        self.found.push(SourceFile {
            path,
            owner,
            content,
        });
    }

    fn user(&mut self, home: &Path) {
        for tool in &self.tools.tools {
            for path in below(home, tool.files.user) {
                let origin = self.tools.origin(tool, None, None);
                self.add(path, Owner::User, Content::Settings(origin));
            }
            self.toml(home, tool, Owner::User);
            for directory in extensions(home, tool) {
                self.plugin(&directory, tool, None, Owner::User);
            }
        }
    }

    fn project(&mut self, root: &Path) {
        for tool in &self.tools.tools {
            for path in below(root, tool.files.project) {
                if self.is_home && below(root, tool.files.user).contains(&path) {
                    continue;
                }
                let owner = match self.is_named(tool, &path) {
                    true => Owner::NamedInProject,
                    false => Owner::Project,
                };
                let origin = self.tools.origin(tool, Some(root), None);
                self.add(path, owner, Content::Settings(origin));
            }
            if !self.is_home {
                self.toml(root, tool, Owner::Project);
                for directory in extensions(root, tool) {
                    self.plugin(&directory, tool, Some(root), Owner::Project);
                }
            }
        }
    }

    /// Reports hooks in TOML, which are not read.
    fn toml(&mut self, directory: &Path, tool: &Tool, owner: Owner) {
        let Some(path) = tool.files.toml.map(|file| directory.join(file)) else {
            return;
        };
        let text = reading::text_of(&path).unwrap_or_default();
        let is_hooks = |line: &str| {
            let name = line.trim_start().trim_start_matches('[').trim_start();
            let rest = name.strip_prefix("hooks");
            rest.is_some_and(|it| it.trim_start().starts_with([']', '.', '=']))
        };
        if text.lines().any(is_hooks) {
            let words = "the table `hooks` is not read here, so its hooks do not run: write them into `hooks.json` beside it";
            self.add(path, owner, Content::Problem(words.to_owned()));
        }
    }

    /// Adds the plugins that the host names.
    fn plugins(&mut self) {
        for directory in &self.tools.plugins {
            let directory = absolute(directory);
            let tool = tool_of_plugin(&directory);
            match self.root.filter(|root| is_within(&directory, root)) {
                Some(root) => self.plugin(&directory, tool, Some(root), Owner::Project),
                None => self.plugin(&directory, tool, None, Owner::Named),
            }
            if !directory.is_dir() {
                let words = "the path is not a directory, expected the directory of a plugin";
                self.add(directory, Owner::Named, Content::Problem(words.to_owned()));
            }
        }
    }

    /// Adds the files and plugins that the user names, except files that were found before.
    fn named(&mut self) {
        let before = self.found.len();
        for (tool, path) in &self.tools.named {
            let path = absolute(path);
            if path.is_dir() {
                self.plugin(&path, tool, None, Owner::User);
                continue;
            }
            let has_hooks = |it: &&SourceFile| {
                let is_read = matches!(it.content, Content::Settings(_) | Content::Plugin(_));
                is_read && it.owner != Owner::Named
            };
            let mut found = self.found[..before].iter().filter(has_hooks);
            if found.any(|file| is_same_file(&file.path, &path)) {
                continue;
            }
            let is_missing = matches!(path.try_exists(), Ok(false)) && !path.is_symlink();
            let content = match is_missing {
                true => Content::Problem("the file does not exist".to_owned()),
                false => Content::Settings(self.tools.origin(tool, None, None)),
            };
            self.add(path, Owner::User, content);
        }
    }

    /// Whether the user has named this file of a project.
    fn is_named(&self, tool: &Tool, path: &Path) -> bool {
        let mut named = self.tools.named.iter();
        named.any(|(of, named)| *of == tool && is_same_file(named, path))
    }

    /// Adds the files of a directory with the layout of a plugin: `hooks/hooks.json`, and those that the manifest names, or
    /// the manifest itself. The manifest of an extension names none.
    fn plugin(&mut self, directory: &Path, tool: &'static Tool, root: Option<&Path>, owner: Owner) {
        let origin = self.tools.origin(tool, root, Some(directory));
        let hooks = |origin: &Arc<Origin>| Content::Plugin(Arc::clone(origin) as Arc<dyn Form>);
        let usual: PathBuf = directory.join("hooks").join("hooks.json");
        if tool.files.extensions.is_some() {
            return self.add(usual, owner, hooks(&origin));
        }
        let manifest = directory.join(tool.files.manifest).join("plugin.json");
        let Some(names) = named_files(&manifest) else {
            self.add(manifest, owner, hooks(&origin));
            return self.add(usual, owner, hooks(&origin));
        };
        self.add(manifest.clone(), owner, Content::Nothing);
        let mut paths = vec![usual];
        for name in names.iter().take(MOST_NAMED_FILES) {
            let path: PathBuf = directory.join(name).components().collect();
            let goes_out = |part| matches!(part, Component::ParentDir | Component::RootDir);
            if paths.contains(&path) {
                continue;
            }
            if path.is_file() && !Path::new(name).components().any(goes_out) {
                paths.push(path);
            } else {
                let name = shortened(name);
                let words =
                    format!("the manifest names `{name}`, which is not a file of the plugin");
                self.add(manifest.clone(), owner, Content::Problem(words));
            }
        }
        if names.len() > MOST_NAMED_FILES {
            let words =
                "the manifest names more than 100 files; the others are left out".to_owned();
            let form: Arc<dyn Form> = Arc::clone(&origin) as _;
            self.add(manifest, owner, Content::LeftOut(words, form));
        }
        for path in paths {
            self.add(path, owner, hooks(&origin));
        }
    }
}

fn below(directory: &Path, files: &str) -> Vec<PathBuf> {
    let paths = files.split(' ').map(|file| directory.join(file));
    paths.map(|path| path.components().collect()).collect()
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Whether a directory is within the project, by its path or its canonical path: everything in a clone needs approval.
fn is_within(directory: &Path, root: &Path) -> bool {
    match (directory.canonicalize(), root.canonicalize()) {
        _ if directory.starts_with(root) => true,
        (Ok(directory), Ok(root)) => directory.starts_with(root),
        _ => false,
    }
}

fn extensions(directory: &Path, tool: &Tool) -> Vec<PathBuf> {
    let Some(within) = tool.files.extensions else {
        return Vec::new();
    };
    let Ok(entries) = directory.join(within).read_dir() else {
        return Vec::new();
    };
    let entries = entries.take(MOST_EXTENSIONS).flatten();
    let mut directories: Vec<_> = entries.map(|entry| entry.path()).collect();
    directories.retain(|path| path.is_dir());
    directories.sort_unstable();
    directories
}

/// Returns the file names in `hooks` of a manifest, one or a list of them. None if the value is an object of events, as in
/// a settings file.
fn named_files(manifest: &Path) -> Option<Vec<String>> {
    let text = without_halves(&reading::text_of(manifest)?);
    let tree = reading::parse_object(&text).ok()?;
    let hooks = Node::new(&tree).member("hooks")?;
    match hooks.text() {
        Some(name) => Some(vec![name.to_owned()]),
        None => {
            let names = hooks.items()?;
            names.map(|name| name.text().map(str::to_owned)).collect()
        }
    }
}

/// Returns the tool of a plugin. Default: Claude Code, since the others read its plugins.
fn tool_of_plugin(directory: &Path) -> &'static Tool {
    let mut tools = TOOLS.into_iter();
    let named = tools.find(|tool| directory.join(tool.files.manifest).exists());
    named.unwrap_or(CLAUDE)
}

/// Returns the tool of a text: the one of its path, else the one that has its events. None if `hooks` is no object of
/// events, unless the tool reads this very file.
fn tool_of_text(
    text: &str,
    by_place: Option<&'static Tool>,
    is_read: bool,
) -> Option<&'static Tool> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let text = without_halves(text);
    let Ok(tree) = reading::parse_object(&text) else {
        return by_place.filter(|_| is_read);
    };
    let Some(hooks) = Node::new(&tree).member("hooks") else {
        return by_place;
    };
    if by_place.is_some() {
        return by_place.filter(|_| is_read || hooks.is_object());
    }
    let knows = |tool: &&Tool| {
        let mut events = hooks.members();
        events.any(|event| tool.event_named(event.key).is_some())
    };
    TOOLS.into_iter().find(knows)
}
