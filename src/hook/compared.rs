//! The values of one event, as the conditions of its hooks compare them: the remaining cost of their tests, and the forms of
//! paths, made once for all hooks.
//!
//! Asks the system for the targets of paths, but only for a value that a glob is compared with. Knows no conditions.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::forms::{Forms, Places, System, forms};
use super::links::Steps;
use crate::events::HookEvent;

/// The bytes of values, times those of the compiled expressions that search them, that the conditions of all hooks of one
/// event may have: the host waits meanwhile. The worst expressions visit all their states at each byte: then this takes
/// 11 ms here (`a(?:[ab]|\b|\B){25}c`).
const MOST_FOR_AN_EVENT: usize = 128 * 1024 * 1024;

/// The most values of one event that are looked up as paths.
const MOST_PATHS: usize = 100;

/// The remaining cost that the conditions of all hooks may have for one event.
#[derive(Debug)]
pub(crate) struct Budget(Cell<usize>);

impl Default for Budget {
    fn default() -> Self {
        Self(Cell::new(MOST_FOR_AN_EVENT))
    }
}

impl Budget {
    /// Returns whether this text may be searched by an expression of this size. Once a search has exceeded the budget,
    /// nothing is left.
    pub(super) fn takes(&self, text: &str, size: usize) -> bool {
        let left = self.0.get().checked_sub(text.len() * size);
        self.0.set(left.unwrap_or_default());
        left.is_some()
    }
}

/// A value as a path.
#[derive(Debug, Clone)]
pub(super) enum AsPath {
    /// Each form of the path.
    Forms(Rc<Forms>),
    /// The file that the value names is not known.
    Unclear,
    /// Too many other values were looked up for the event.
    TooMany,
}

/// The values of one event while its hooks are selected.
#[derive(Debug)]
pub(crate) struct Compared<'e> {
    pub(super) event: &'e HookEvent,
    pub(super) budget: Budget,
    /// The directory of hooks that have no project.
    working_dir: Option<&'e Path>,
    steps: Steps,
    /// The places of each root.
    places: RefCell<Vec<(PathBuf, Option<Rc<Places>>)>>,
    /// The paths by the address of a value, which lives as long as the event, and the root.
    paths: RefCell<Vec<(usize, PathBuf, AsPath)>>,
}

impl<'e> Compared<'e> {
    /// Creates the values. `working_dir` is the executor's. Default: the host's.
    pub(crate) fn new(event: &'e HookEvent, working_dir: Option<&'e Path>) -> Self {
        Self {
            event,
            budget: Budget::default(),
            working_dir,
            steps: Steps::default(),
            places: RefCell::default(),
            paths: RefCell::default(),
        }
    }

    /// Returns a value of the event as a path, for a hook of a project with this root.
    pub(super) fn as_path(&self, value: &'e str, root: Option<&Path>) -> AsPath {
        let own = root.map(Cow::Borrowed).or_else(|| self.own_root());
        let root = own.as_deref();
        let key = (value.as_ptr().addr(), root.unwrap_or(Path::new("")));
        let mut paths = self.paths.borrow_mut();
        let mut known = paths.iter();
        if let Some((.., path)) = known.find(|(value, root, _)| (*value, &**root) == key) {
            return path.clone();
        }
        if paths.len() >= MOST_PATHS {
            return AsPath::TooMany;
        }
        let places = self.places(root);
        let forms = places.and_then(|places| forms(value, &places, System::NATIVE, &self.steps));
        let as_path = match forms {
            Some(forms) => AsPath::Forms(forms.into()),
            None if self.steps.are_spent() => AsPath::TooMany,
            None => AsPath::Unclear,
        };
        paths.push((key.0, key.1.to_owned(), as_path.clone()));
        as_path
    }

    /// Returns the directories at which the paths of the event begin, with this root.
    fn places(&self, root: Option<&Path>) -> Option<Rc<Places>> {
        let key = root.unwrap_or(Path::new(""));
        let mut all = self.places.borrow_mut();
        if let Some((_, places)) = all.iter().find(|(root, _)| root == key) {
            return places.clone();
        }
        let context = self.event.context();
        let session = context.and_then(|context| context.field("cwd")?.as_str());
        let places = Places::new(root, session.map(Path::new), System::NATIVE, &self.steps);
        let places = places.map(Rc::new);
        all.push((key.to_owned(), places.clone()));
        places
    }

    #[cfg(test)]
    pub(super) fn looked_up(&self) -> usize {
        self.paths.borrow().len()
    }

    fn own_root(&self) -> Option<Cow<'_, Path>> {
        match self.working_dir {
            Some(path) if path.is_absolute() => Some(Cow::Borrowed(path)),
            Some(path) => std::path::absolute(path).ok().map(Cow::Owned),
            None => std::env::current_dir().ok().map(Cow::Owned),
        }
    }
}
