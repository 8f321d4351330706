//! Hooks files of other tools: finds them, and loads them as hooks with a dialect.
//!
//! Does not decide which of them may run: `admission` does.

mod handler;
mod lint;
mod named;
mod node;
mod origin;
mod outline;
mod reader;
mod tools;

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::content::Loaded;
use super::entry::to_value;
use super::file::{self, LARGEST_FILE};
use super::outline::parse;
use super::places::{absolute, below};
use super::reader::{Compiled, open};
use super::report::{Problem, Severity, TrustPolicy};
use crate::hook::dialects;
use crate::hook::{Dialect, Hook, HookCommand, ToolAliases};
use crate::printable::shortened;

use origin::Origin;
use reader::Switches;
use tools::{TOOLS, Tool, tool};

/// The most directories of extensions that are read.
const MOST_EXTENSIONS: usize = 1000;

/// The files that a manifest may name.
const MOST_NAMED_FILES: usize = 100;

/// Which files of other tools are loaded, and how.
#[derive(Debug, Clone, Default)]
pub(super) struct OtherTools {
    pub(super) dialects: Vec<Dialect>,
    pub(super) plugins: Vec<PathBuf>,
    /// Files and plugins that the user has named.
    pub(super) named: Vec<(Dialect, PathBuf)>,
    pub(super) home: Option<PathBuf>,
    pub(super) is_strict: bool,
    pub(super) aliases: Arc<ToolAliases>,
}

/// The files that were found.
#[derive(Default)]
pub(super) struct LoadedFiles {
    pub(super) user: Vec<Loaded>,
    /// The files of the project and of plugins within it, which need the user's approval.
    pub(super) project: Vec<Loaded>,
    pub(super) plugins: Vec<Loaded>,
    /// The hooks that the user's files switch off.
    off: Vec<(Dialect, Switches)>,
}

impl LoadedFiles {
    /// Returns all files in order, without the hooks that the user's files switch off. Called after
    /// admission.
    pub(super) fn into_files(self) -> Vec<Loaded> {
        let mut files = self.user;
        files.extend(self.project);
        files.extend(self.plugins);
        for file in &mut files {
            for (dialect, switches) in &self.off {
                switch_off(file, *dialect, switches);
            }
        }
        files
    }
}

fn switch_off(loaded: &mut Loaded, dialect: Dialect, switches: &Switches) {
    if !switches.all_off && switches.disabled.is_empty() {
        return;
    }
    loaded.change_hooks(|hook| {
        let is_named = |name: &String| hook.name() == Some(name) || *name == command(&hook);
        let is_off = switches.all_off || switches.disabled.iter().any(is_named);
        let enabled = hook.enabled() && !(is_off && hook.dialect() == dialect);
        (hook.with_enabled(enabled), None)
    });
}

fn command(hook: &Hook) -> &str {
    match hook.command() {
        HookCommand::Shell { text, .. } => text,
        HookCommand::Program(args) => args.first().map_or("", String::as_str),
    }
}

impl OtherTools {
    /// The tools whose hooks are loaded.
    pub(super) fn loaded(&self) -> Vec<Dialect> {
        if self.plugins.is_empty() {
            self.dialects.clone()
        } else {
            Dialect::ALL.to_vec()
        }
    }

    /// Reads all files, in the order of the tools. Without a root, reads no project's files. Without
    /// `with_user`, reads the user's files only if they were named.
    pub(super) fn find(
        &self,
        root: Option<&Path>,
        policy: Option<&TrustPolicy>,
        with_user: bool,
    ) -> LoadedFiles {
        let compiled = match policy {
            Some(TrustPolicy::Everything) => Compiled::Enabled,
            _ => Compiled::None,
        };
        let root = root.map(absolute);
        let mut found = LoadedFiles::default();
        if with_user {
            self.find_user(&mut found);
        }
        if let Some(root) = &root {
            self.find_project(root, compiled, &mut found);
        }
        self.find_plugins(root.as_deref(), compiled, &mut found);
        self.find_named(&mut found);
        found
    }

    /// Reads the user's files, and the files and plugins that the user has named.
    pub(super) fn user(&self, with_user: bool) -> Vec<Loaded> {
        let mut found = LoadedFiles::default();
        if with_user {
            self.find_user(&mut found);
        }
        self.find_named(&mut found);
        found.into_files()
    }

    /// Returns the paths that are read, whether the files exist or not.
    #[cfg(feature = "watch")]
    pub(super) fn paths(&self, root: Option<&Path>) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        let home = self.home();
        for tool in self.tools() {
            if let Some(home) = &home {
                paths.extend(below(home, tool.user));
            }
            if let Some(root) = root {
                paths.extend(below(root, tool.project));
            }
        }
        for (directory, tool) in self.plugin_directories(root) {
            let origin = self.origin(tool, None, Some(&directory), Compiled::None);
            paths.extend(files_of_plugin(&directory, &origin, &mut Vec::new()));
            paths.push(directory.join(tool.manifest).join("plugin.json"));
        }
        let files = self.named.iter().filter(|(_, path)| !path.is_dir());
        paths.extend(files.map(|(_, path)| path.clone()));
        paths
    }

    /// Returns the directories with the layout of a plugin.
    #[cfg(feature = "watch")]
    fn plugin_directories(&self, root: Option<&Path>) -> Vec<(PathBuf, &'static Tool)> {
        let mut found = Vec::new();
        for directory in &self.plugins {
            found.push((absolute(directory), tool_of_plugin(directory)));
        }
        for (dialect, directory) in &self.named {
            if let (true, Some(tool)) = (directory.is_dir(), tool(*dialect)) {
                found.push((directory.clone(), tool));
            }
        }
        for place in [self.home().as_deref(), root].into_iter().flatten() {
            for tool in self.tools() {
                for directory in extensions(place, tool) {
                    found.push((directory, tool));
                }
            }
        }
        found
    }

    fn tools(&self) -> impl Iterator<Item = &'static Tool> {
        self.dialects.iter().filter_map(|dialect| tool(*dialect))
    }

    fn home(&self) -> Option<PathBuf> {
        self.home.clone().or_else(home::home_dir)
    }

    fn find_user(&self, found: &mut LoadedFiles) {
        let Some(home) = self.home() else {
            return;
        };
        for tool in self.tools() {
            let origin = self.origin(tool, None, None, Compiled::Enabled);
            for path in below(&home, tool.user) {
                if let Some((loaded, switches)) = load(&path, &origin) {
                    found.user.push(loaded);
                    found.off.push((tool.dialect, switches));
                }
            }
            for directory in extensions(&home, tool) {
                self.plugin(&directory, tool, None, Compiled::Enabled, &mut found.user);
            }
        }
    }

    fn find_project(&self, root: &Path, compiled: Compiled, found: &mut LoadedFiles) {
        let is_home = self.home().as_deref() == Some(root);
        for tool in self.tools() {
            let origin = self.origin(tool, Some(root), None, compiled);
            let first = found.project.len();
            for path in below(root, tool.project) {
                // The user's home may be the project.
                let is_read = is_home && below(root, tool.user).contains(&path);
                if !is_read {
                    self.project_file(&path, &origin, first, found);
                }
            }
            if !is_home {
                for directory in extensions(root, tool) {
                    self.plugin(&directory, tool, Some(root), compiled, &mut found.project);
                }
            }
        }
    }

    /// Reads a file of the project. Its switches apply to the project's hooks only, also to those of the files
    /// before it. A file that the user has named stays among the project's: what was approved of it is not gone.
    fn project_file(&self, path: &Path, origin: &Origin, first: usize, found: &mut LoadedFiles) {
        let Some((mut loaded, switches)) = load(path, origin) else {
            return;
        };
        let dialect = origin.tool.dialect;
        if self.is_named(dialect, path) {
            loaded.is_named = true;
            found.project.push(loaded);
            found.off.push((dialect, switches));
            return;
        }
        found.project.push(loaded);
        for file in &mut found.project[first..] {
            if !file.is_named {
                switch_off(file, dialect, &switches);
            }
        }
    }

    fn find_plugins(&self, root: Option<&Path>, compiled: Compiled, found: &mut LoadedFiles) {
        for directory in &self.plugins {
            let directory = absolute(directory);
            let tool = tool_of_plugin(&directory);
            let root = root.filter(|root| is_within(&directory, root));
            let (compiled, files) = match root {
                Some(_) => (compiled, &mut found.project),
                None => (Compiled::Enabled, &mut found.plugins),
            };
            self.plugin(&directory, tool, root, compiled, files);
            if !directory.is_dir() {
                let words = "the path is not a directory, expected the directory of a plugin";
                found.plugins.push(missing(&directory, words));
            }
        }
    }

    /// Reads the hooks of a directory with the layout of a plugin.
    fn plugin(
        &self,
        directory: &Path,
        tool: &'static Tool,
        root: Option<&Path>,
        compiled: Compiled,
        found: &mut Vec<Loaded>,
    ) {
        let origin = self.origin(tool, root, Some(directory), compiled);
        let is_of_project = root.is_some();
        for path in files_of_plugin(directory, &origin, found) {
            let read: usize = found.iter().map(|file| file.size).sum();
            if is_of_project && read as u64 > LARGEST_FILE && path.exists() {
                let words = "the file is left out: the project has more than 16 MiB of such files";
                left_out(&path, words, &origin, found);
            } else if let Some((loaded, _)) = load(&path, &origin) {
                found.push(loaded);
            }
        }
    }

    fn origin(
        &self,
        tool: &'static Tool,
        root: Option<&Path>,
        plugin_root: Option<&Path>,
        compiled: Compiled,
    ) -> Origin {
        Origin {
            tool,
            base_dir: root.map(Arc::from),
            plugin_root: plugin_root.map(Path::to_owned),
            aliases: Arc::clone(&self.aliases),
            is_strict: self.is_strict,
            is_compiled: compiled != Compiled::None,
        }
    }

    /// Reads a file for checking. None if it cannot be read, or is a hooks.json of this crate.
    pub(super) fn check_file(&self, path: &Path) -> Option<Loaded> {
        let file::Text { text, .. } = file::read(path).ok()??;
        self.check(path, &text)
    }

    /// Reads the text of a file with this path for checking. None if it is a hooks.json of this
    /// crate.
    pub(super) fn check(&self, path: &Path, text: &str) -> Option<Loaded> {
        let place = absolute(path);
        let directory = place.parent()?;
        let above = directory.parent();
        let home = self.home();
        let of_project = TOOLS
            .iter()
            .find(|tool| directory.ends_with(tool.directory));
        let has_manifest = |tool: &&Tool| above.is_some_and(|it| it.join(tool.manifest).exists());
        let mut of_plugin = None;
        if directory.ends_with("hooks") {
            of_plugin = TOOLS.iter().find(has_manifest);
        }
        let tool = tool_of_text(text, of_project.or(of_plugin))?;
        let root = above.filter(|it| of_project.is_some() && home.as_deref() != Some(it));
        let plugin_root = above.filter(|_| of_plugin.is_some());
        let origin = self.origin(tool, root, plugin_root, Compiled::All);
        let mut loaded = Loaded::nothing(path);
        loaded.tool = Some(tool.name);
        reader::read(text, &origin, &mut loaded);
        Some(loaded)
    }
}

/// Returns `hooks/hooks.json` and the files that the manifest names. The manifest of an extension names none.
fn files_of_plugin(directory: &Path, origin: &Origin, found: &mut Vec<Loaded>) -> Vec<PathBuf> {
    let mut paths = vec![directory.join("hooks").join("hooks.json")];
    if origin.tool.extensions.is_some() {
        return paths;
    }
    let manifest = directory.join(origin.tool.manifest).join("plugin.json");
    let Some(names) = named_files(&manifest) else {
        paths.insert(0, manifest);
        return paths;
    };
    for name in names.iter().take(MOST_NAMED_FILES) {
        let path: PathBuf = directory.join(name).components().collect();
        if paths.contains(&path) {
            continue;
        }
        let goes_out = |part| matches!(part, Component::ParentDir | Component::RootDir);
        if path.is_file() && !Path::new(name).components().any(goes_out) {
            paths.push(path);
        } else {
            let words = format!(
                "the manifest names `{}`, which is not a file of the plugin",
                shortened(name)
            );
            found.push(missing(&manifest, words));
        }
    }
    if names.len() > MOST_NAMED_FILES {
        let words = "the manifest names more than 100 files; the others are left out";
        left_out(&manifest, words, origin, found);
    }
    paths
}

fn left_out(path: &Path, words: &str, origin: &Origin, found: &mut Vec<Loaded>) {
    let mut loaded = Loaded::nothing(path);
    origin.give_up(Problem::new(Severity::Error, path, words), &mut loaded);
    found.push(loaded);
}

/// Whether a directory is within the project, by its path or its canonical path: everything in a
/// clone needs approval.
fn is_within(directory: &Path, root: &Path) -> bool {
    match (directory.canonicalize(), root.canonicalize()) {
        _ if directory.starts_with(root) => true,
        (Ok(directory), Ok(root)) => directory.starts_with(root),
        _ => false,
    }
}

/// Returns a file without hooks, with this error.
fn missing(path: &Path, words: impl Into<String>) -> Loaded {
    let mut missing = Loaded::nothing(path);
    missing.report(Problem::new(Severity::Error, path, words));
    missing
}

/// Loads a file. Returns None if it does not exist.
fn load(path: &Path, origin: &Origin) -> Option<(Loaded, Switches)> {
    let (mut loaded, text) = open(path)?;
    let mut switches = Switches::default();
    match text {
        Ok(text) => {
            loaded.size = text.len();
            switches = reader::read(&text, origin, &mut loaded);
        }
        Err(problem) => origin.give_up(problem, &mut loaded),
    }
    Some((loaded, switches))
}

/// Returns the file names in `hooks` of a manifest, one or a list of them. None if the value is an object of
/// events, as in a settings file.
fn named_files(manifest: &Path) -> Option<Vec<String>> {
    let file::Text { text, .. } = file::read(manifest).ok()??;
    let (text, _) = file::without_mark(&text);
    let range = outline::Outline::of(text).ok()?.no_object?;
    let tree = parse(text, &range).ok()?;
    match to_value(&tree, 0).ok()? {
        Value::String(name) => Some(vec![name]),
        names => serde_json::from_value(names).ok(),
    }
}

fn extensions(directory: &Path, tool: &Tool) -> Vec<PathBuf> {
    let Some(within) = tool.extensions else {
        return Vec::new();
    };
    let Ok(entries) = directory.join(within).read_dir() else {
        return Vec::new();
    };
    let entries = entries.take(MOST_EXTENSIONS).flatten();
    let mut directories: Vec<_> = entries.map(|entry| entry.path()).collect();
    directories.retain(|path| path.is_dir());
    directories.sort();
    directories
}

/// Returns the tool of a plugin. Default: Claude Code, since the others read its plugins.
fn tool_of_plugin(directory: &Path) -> &'static Tool {
    let mut tools = TOOLS.iter();
    let named = tools.find(|tool| directory.join(tool.manifest).exists());
    named.unwrap_or(&TOOLS[0])
}

/// Returns the tool of a text: the one of its path, else the one that has its events.
fn tool_of_text(text: &str, by_place: Option<&'static Tool>) -> Option<&'static Tool> {
    let (text, _) = file::without_mark(text);
    match outline::has_events(text) {
        Some(false) => return None,
        Some(true) if by_place.is_none() => {}
        _ => return by_place,
    }
    let outline = outline::Outline::of(text).ok()?;
    let knows = |tool: &&Tool| {
        let mut events = outline.events.iter();
        events.any(|groups| dialects::event(tool.dialect, &groups.event).is_some())
    };
    TOOLS.iter().find(knows)
}
