//! The values of one event, as the conditions of its hooks compare them: what each text has of their expressions, and the names
//! of each path, found once for all hooks.
//!
//! Asks the system for the targets of paths, but only for a value that a glob is compared with. Knows no conditions.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::expressions::{Budget, Expression, Expressions, Matches, NOT_COMPILED};
use super::meeting::meets;
use crate::command::Commands;
use crate::events::HookEvent;
use crate::paths::{Base, Lookups, Names, System, Unknown};

/// The most values of one event that are looked up as paths: some 10 ms.
pub(super) const MOST_PATHS: usize = 1000;

/// The steps that comparisons of globs with globs may take for an event, one for each pair of characters: some 10 ms.
const MOST_STEPS: usize = 16 * 1024 * 1024;

const MANY_GLOBS: Unknown = Cow::Borrowed(
    "the globs of its hooks and the paths of the event are too many or too long to be compared",
);
pub(super) const MANY_PATHS: Unknown =
    Cow::Borrowed("the event has more than 1,000 paths: name fewer at once");

/// The values of one event while its hooks are selected.
#[derive(Debug)]
pub(crate) struct Compared<'e> {
    pub(super) event: &'e HookEvent,
    /// The directory of hooks that have no project.
    working_dir: Option<&'e Path>,
    /// False if no file is looked up.
    looks: bool,
    /// None if no hook has a condition.
    expressions: Option<Arc<Expressions>>,
    /// The matches of each text, by its address, which lives as long as the event or the paths, and by letter case.
    matches: RefCell<HashMap<(usize, usize, bool), Rc<Matches>>>,
    budget: Budget,
    /// The commands of each text, by its address.
    commands: RefCell<HashMap<(usize, usize), Rc<Commands>>>,
    /// The steps that comparisons of globs with globs may still take.
    steps: Cell<usize>,
    roots: RefCell<Vec<Rc<Root>>>,
}

/// The root of a hook's project, and the paths of the event as it sees them.
#[derive(Debug)]
pub(super) struct Root {
    root: PathBuf,
    looks: bool,
    base: OnceCell<Result<Base, Unknown>>,
    lookups: Lookups,
    paths: RefCell<HashMap<String, Result<Rc<Names>, Unknown>>>,
    /// The names of files relative to the projects in which they lie, by their absolute names.
    in_projects: RefCell<HashMap<String, Rc<[String]>>>,
    /// The place of a glob's fixed beginning without links, if that is another one.
    real: RefCell<HashMap<String, Option<String>>>,
}

impl<'e> Compared<'e> {
    /// Creates the values for hooks with these expressions. `working_dir` is the executor's. Default: the host's.
    pub(super) fn with_expressions(
        event: &'e HookEvent,
        working_dir: Option<&'e Path>,
        expressions: Option<Arc<Expressions>>,
    ) -> Self {
        Self {
            event,
            working_dir,
            looks: true,
            expressions,
            matches: RefCell::default(),
            budget: Budget::default(),
            commands: RefCell::default(),
            steps: Cell::new(MOST_STEPS),
            roots: RefCell::default(),
        }
    }

    /// Makes each path have only the names that it is written by, as in an empty directory.
    pub(super) fn without_files(self) -> Self {
        Self {
            looks: false,
            ..self
        }
    }

    /// Returns whether a text has an expression. The text lives as long as the event or a path of it.
    pub(super) fn has(
        &self,
        expression: &Expression,
        text: &str,
        ignores_case: bool,
    ) -> Result<bool, Unknown> {
        let key = (text.as_ptr().addr(), text.len(), ignores_case);
        let cached = self.matches.borrow().get(&key).cloned();
        let matches = cached.unwrap_or_else(|| {
            let matches = Rc::new(self.find(text, ignores_case));
            self.matches.borrow_mut().insert(key, Rc::clone(&matches));
            matches
        });
        self.is_in(&matches, expression, (text, ignores_case))
    }

    /// Returns whether a text that is not kept has an expression.
    pub(super) fn has_once(
        &self,
        expression: &Expression,
        text: &str,
        ignores_case: bool,
    ) -> Result<bool, Unknown> {
        let matches = self.find(text, ignores_case);
        self.is_in(&matches, expression, (text, ignores_case))
    }

    /// Returns whether a text that no other hook asks for has an expression.
    pub(super) fn has_alone(&self, expression: &Expression, text: &str) -> Result<bool, Unknown> {
        let expressions = self.expressions.as_ref().ok_or(NOT_COMPILED)?;
        match expressions.has_alone(expression, text, &self.budget) {
            Some(has) => has,
            None => self.has_once(expression, text, false),
        }
    }

    fn find(&self, text: &str, ignores_case: bool) -> Matches {
        let expressions = self.expressions.as_ref();
        let find = |all: &Arc<Expressions>| all.find(text, ignores_case);
        expressions.map_or(Matches::Unknown(NOT_COMPILED), find)
    }

    fn is_in(
        &self,
        matches: &Matches,
        expression: &Expression,
        text: (&str, bool),
    ) -> Result<bool, Unknown> {
        let expressions = self.expressions.as_ref().ok_or(NOT_COMPILED)?;
        expressions.has(expression, matches, text, &self.budget)
    }

    /// Returns what a text of the event runs as a shell command.
    pub(super) fn commands(&self, text: &str) -> Rc<Commands> {
        let key = (text.as_ptr().addr(), text.len());
        let mut all = self.commands.borrow_mut();
        Rc::clone(
            all.entry(key)
                .or_insert_with(|| Rc::new(Commands::read(text))),
        )
    }

    /// Returns whether there may be a path that both globs match.
    pub(super) fn meets(&self, one: &str, other: &str) -> Result<bool, Unknown> {
        meets(one, other, &self.steps).ok_or(MANY_GLOBS)
    }

    /// Returns the reason why an expression cannot be used, if a search has shown it.
    pub(super) fn fault(&self, expression: &Expression) -> Option<&str> {
        self.expressions.as_ref()?.fault(expression)
    }

    /// Returns the root of a hook's project; of a hook without one, the executor's directory.
    pub(super) fn root(&self, root: Option<&Path>) -> Rc<Root> {
        let root = root.map(Cow::Borrowed).or_else(|| self.default_root());
        let root = root.unwrap_or_default();
        let mut roots = self.roots.borrow_mut();
        if let Some(cached) = roots.iter().find(|cached| cached.root == root) {
            return Rc::clone(cached);
        }
        let new = Rc::new(Root {
            root: root.into_owned(),
            looks: self.looks,
            base: OnceCell::new(),
            lookups: Lookups::default(),
            paths: RefCell::default(),
            in_projects: RefCell::default(),
            real: RefCell::default(),
        });
        roots.push(Rc::clone(&new));
        new
    }

    fn default_root(&self) -> Option<Cow<'_, Path>> {
        match self.working_dir {
            Some(path) if path.is_absolute() => Some(Cow::Borrowed(path)),
            Some(path) => std::path::absolute(path).ok().map(Cow::Owned),
            None => std::env::current_dir().ok().map(Cow::Owned),
        }
    }

    #[cfg(test)]
    pub(super) fn looked_up(&self) -> usize {
        let roots = self.roots.borrow();
        roots.iter().map(|root| root.paths.borrow().len()).sum()
    }
}

impl Root {
    /// Returns the directories in which the paths of the event begin.
    pub(super) fn base(&self, event: &HookEvent) -> Result<&Base, Unknown> {
        let new = || {
            if !self.looks {
                return Base::as_written(&self.root, self.root.clone(), System::NATIVE);
            }
            let context = event.context();
            let session = context.and_then(|context| context.field("cwd")?.as_str());
            let session = session.map(Path::new);
            Base::new(&self.root, session, System::NATIVE, &self.lookups)
        };
        self.base.get_or_init(new).as_ref().map_err(Clone::clone)
    }

    /// Returns the names of the file that a value names.
    pub(super) fn names_of(&self, value: &str, event: &HookEvent) -> Result<Rc<Names>, Unknown> {
        let base = self.base(event)?;
        let mut paths = self.paths.borrow_mut();
        if let Some(cached) = paths.get(value) {
            return cached.clone();
        }
        if paths.len() >= MOST_PATHS {
            return Err(MANY_PATHS);
        }
        let names = base.names_of(value, &self.lookups).map(Rc::new);
        paths.insert(value.to_owned(), names.clone());
        names
    }

    /// Returns a file's name relative to each project in which it lies, but that of the root.
    pub(super) fn in_projects(&self, absolute: &str, base: &Base) -> Result<Rc<[String]>, Unknown> {
        if let Some(cached) = self.in_projects.borrow().get(absolute) {
            return Ok(Rc::clone(cached));
        }
        let relative: Rc<[String]> = base.in_projects(absolute, &self.lookups)?.into();
        let mut all = self.in_projects.borrow_mut();
        all.insert(absolute.to_owned(), Rc::clone(&relative));
        Ok(relative)
    }

    /// Returns the place of a path below the root without links, if the path goes through one. The path is an author's, so what
    /// this costs does not depend on the event.
    pub(super) fn real(&self, path: &str, base: &Base) -> Option<String> {
        if path.is_empty() || !self.looks {
            return None;
        }
        if let Some(cached) = self.real.borrow().get(path) {
            return cached.clone();
        }
        let names = Names::of_file(&self.root.join(path)).ok();
        let real = names.and_then(|mut names| {
            let real = names.list.pop()?.absolute;
            let is_known =
                names.list.is_empty() || base.below_roots(path).any(|place| place == real);
            (!is_known).then_some(real)
        });
        self.real.borrow_mut().insert(path.to_owned(), real.clone());
        real
    }
}
