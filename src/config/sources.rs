//! The files that have hooks, hooks.json and others: finds their owners, and loads them.
//!
//! A `Source` knows which files of another kind there are, a `Form` how one is read. Does not decide which of their hooks
//! may run.

use std::any::Any;
use std::fmt;
use std::panic::RefUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::content::{Loaded, Owner, Switches};
use super::file;
use crate::events::Vocabulary;
use crate::files;
use crate::hook::Hook;
use crate::problem::{Problem, Severity};
use crate::protocol::Protocol;

/// The most bytes of a project's files with hooks.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Files that have hooks in another form than hooks.json.
pub(crate) trait Source: Any + fmt::Debug + RefUnwindSafe + Send + Sync {
    /// Returns the files in the order of their hooks, whether they exist or not. Without a root, returns no project's;
    /// without `with_user`, the user's only if the user has named them.
    fn files(&self, root: Option<&Path>, with_user: bool) -> Vec<SourceFile>;

    /// Returns the form of a file with this path and text; None if it is not one of this source.
    fn form_of(&self, path: &Path, text: &str) -> Option<Arc<dyn Form>>;

    /// Returns whether hooks with a protocol of this name are loaded.
    fn reads(&self, protocol: &str) -> bool;

    /// Returns the protocol of a hook that was approved and is gone from its file, from the protocol's name and
    /// definition; None if it cannot be read.
    fn lost(&self, protocol: &str, definition: &Value) -> Option<Arc<dyn Protocol>>;
}

/// Reads the files of one kind.
pub(crate) trait Form: Send + Sync {
    /// The program whose form it is, for messages.
    fn title(&self) -> &'static str;

    /// Returns whether a file that cannot be read blocks.
    fn is_strict(&self) -> bool;

    /// Adds the hooks and problems of a text, and warnings about patterns that match no event or tool of the host. Returns the
    /// hooks that the file switches off. Compiles the expressions of hooks only if `is_compiled`.
    fn read(
        &self,
        text: &str,
        vocabulary: &Vocabulary,
        is_compiled: bool,
        loaded: &mut Loaded,
    ) -> Switches;
}

/// A file that may have hooks.
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) owner: Owner,
    pub(crate) content: Content,
}

pub(crate) enum Content {
    /// Settings, which may switch hooks off.
    Settings(Arc<dyn Form>),
    /// Hooks of a plugin. A project's are read up to a limit, and switch nothing off.
    Plugin(Arc<dyn Form>),
    /// The file has decided which other files there are, and has no hooks.
    Nothing,
    /// The problem with the place of the file.
    Problem(String),
    /// The problem with files that are left out: a strict form blocks.
    LeftOut(String, Arc<dyn Form>),
}

/// The values that entries are checked against.
pub(super) struct Checks<'a> {
    /// The host's events and tools.
    pub(super) vocabulary: &'a Vocabulary,
    /// True if scripts and `PATH` are checked.
    pub(super) scripts: bool,
    /// True if the cases of entries are tested.
    pub(super) cases: bool,
    /// True if conditions of hooks that may never run are checked, and probable mistakes are reported.
    pub(super) checks_all: bool,
    /// The user's files of hooks that the host reads.
    pub(super) users_files: Arc<[PathBuf]>,
}

impl Checks<'_> {
    /// Returns a file of which nothing is read yet.
    pub(super) fn nothing(&self, path: &Path, owner: Owner) -> Loaded {
        Loaded {
            checks_scripts: self.scripts,
            tests_cases: self.cases,
            checks_all: self.checks_all,
            users_files: Arc::clone(&self.users_files),
            ..Loaded::nothing(path, owner)
        }
    }
}

/// Loads the files that exist. Conditions of a project's hooks are compiled if `compiles`: that takes time, and they may
/// never run. Those that may are compiled when they are first tested.
pub(super) fn load(files: Vec<SourceFile>, checks: &Checks<'_>, compiles: bool) -> Vec<Loaded> {
    let mut bytes = 0;
    let mut loaded = Vec::new();
    for file in files {
        let is_counted = file.owner == Owner::Project;
        let is_full = is_counted && bytes > MOST_BYTES;
        if let Some(file) = load_file(file, checks, compiles, is_full) {
            bytes += if is_counted { file.bytes } else { 0 };
            loaded.push(file);
        }
    }
    loaded
}

/// Loads a file; none if it does not exist. If the project `is_full`, it is left out.
fn load_file(
    file: SourceFile,
    checks: &Checks<'_>,
    compiles: bool,
    is_full: bool,
) -> Option<Loaded> {
    let (path, owner) = (file.path, file.owner);
    let is_compiled = checks.checks_all && (owner != Owner::Project || compiles);
    let (message, form) = match file.content {
        Content::Nothing => return None,
        Content::Settings(form) | Content::Plugin(form) if is_full && files::is_there(&path) => {
            let most = MOST_BYTES >> 20;
            let message = format!(
                "the file is left out: the project has more than {most} MiB of files with hooks"
            );
            (message, Some(form))
        }
        Content::Settings(form) => {
            let loaded = checks.nothing(&path, owner);
            return read(loaded, &*form, checks.vocabulary, is_compiled);
        }
        Content::Plugin(form) => {
            let loaded = checks.nothing(&path, owner);
            let loaded = read(loaded, &*form, checks.vocabulary, is_compiled)?;
            let switches = Switches::default();
            return Some(Loaded { switches, ..loaded });
        }
        Content::Problem(message) => (message, None),
        Content::LeftOut(message, form) => (message, Some(form)),
    };
    let mut loaded = Loaded::nothing(&path, owner);
    loaded.is_left_out = true;
    let problem = Problem::in_file(Severity::Error, &path, message);
    match form {
        Some(form) => loaded.refuse(problem, form.is_strict()),
        None => loaded.report(problem),
    }
    Some(loaded)
}

/// Reads a file into its `Loaded`; none if the file does not exist.
pub(super) fn read(
    mut loaded: Loaded,
    form: &dyn Form,
    vocabulary: &Vocabulary,
    is_compiled: bool,
) -> Option<Loaded> {
    let path = Arc::clone(&loaded.path);
    match file::read(&path) {
        Ok(None) => return None,
        Ok(Some(file)) => {
            if let Some(message) = file.warning {
                let message = format!("the file {message}");
                loaded.report(Problem::in_file(Severity::Warning, &path, message));
            }
            loaded.bytes = file.text.len();
            loaded.switches = form.read(&file.text, vocabulary, is_compiled, &mut loaded);
        }
        Err(error) => loaded.refuse(error.problem(&path), form.is_strict()),
    }
    Some(loaded)
}

/// Applies the switches of a project's files, each to it and the project's files before it; or those of the other files,
/// to all.
pub(super) fn switch_off(files: &mut [Loaded], of_project: bool) {
    for index in 0..files.len() {
        if files[index].is_in_project() != of_project {
            continue;
        }
        let switches = files[index].switches.clone();
        let end = if of_project { index + 1 } else { files.len() };
        let concerned = files[..end].iter_mut();
        let concerned = concerned.filter(|file| !of_project || file.is_in_project());
        concerned.for_each(|file| file.switch_off(&switches));
    }
}

/// Returns the source that has hooks with this value of their key `protocol`.
pub(super) fn source_of<'a>(
    sources: &'a [Arc<dyn Source>],
    protocol: &Value,
) -> Option<&'a Arc<dyn Source>> {
    let name = protocol["name"].as_str()?;
    sources.iter().find(|source| source.reads(name))
}

/// Returns a hook that was approved and is gone, with the protocol of its definition: `hook` has the other settings. None if
/// such hooks are not loaded, so that none is missed. A hook whose protocol cannot be read blocks each event that its
/// pattern matches.
pub(super) fn with_lost_protocol(
    sources: &[Arc<dyn Source>],
    hook: Hook,
    protocol: Option<&Value>,
) -> Option<Hook> {
    let Some(own) = protocol else {
        return Some(hook);
    };
    let source = source_of(sources, own)?;
    let name = own["name"].as_str().unwrap_or_default();
    Some(match source.lost(name, &own["definition"]) {
        Some(protocol) => hook.with_protocol(protocol),
        None => hook,
    })
}
