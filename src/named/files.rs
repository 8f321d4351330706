//! The files that the pieces of a hook's command name.
//!
//! Each piece is looked up in the first directory, in the working directory, and in each directory that a piece names. Finding too
//! many files is harmless. Does not know the purpose of the lookup.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use glob::Pattern;

use super::look::{Look, Lookup, Named, Wanted, has_ending};
use super::tree::{End, Resolved};
use crate::hook::{Hook, directory_of_hooks, is_glob};
use crate::paths::without_parents;

/// The most directories in which the pieces of a command are looked up.
const MOST_DIRECTORIES: usize = 64;
/// The most names of a directory that are compared with a piece.
const MOST_NAMES: usize = 10_000;
/// The most names of directories that are compared with pieces, which takes some milliseconds.
const MOST_COMPARISONS: usize = 1_000_000;
const TOO_MUCH_NAMED: &str =
    "the entry names too much: only its first names are compared with the files in its directories";
/// The most paths that a pattern stands for.
const MOST_MATCHES: usize = 1000;
/// The files that programs run in a directory that they are given, without their endings.
const OF_DIRECTORIES: [&str; 4] = ["__init__", "__main__", "index", "package"];
/// The directory in which Python keeps what it has compiled.
const COMPILED: &str = "__pycache__";

impl Lookup<'_> {
    /// Returns the files that a hook names now.
    pub(crate) fn files_of(self, hook: &Hook) -> Named {
        let mut command = Command {
            look: Look::of(&self, hook.inputs()),
            notices_new: self.notices_new,
            starts: Vec::new(),
            listed: HashMap::new(),
            compared_left: MOST_COMPARISONS,
        };
        command.find(&self);
        command.look.directories_and_inputs();
        command.look.finish()
    }
}

/// Returns the directories of the hook's project, or its plugin, that hold hooks. All their files count. They need not
/// exist.
pub(crate) fn hooks_directories(hook: &Hook, root: &Path) -> Vec<PathBuf> {
    let base = hook.base_dir().unwrap_or(root);
    let file = hook
        .source()
        .and_then(|source| source.path.strip_prefix(base).ok());
    let beside = file
        .and_then(directory_of_hooks)
        .map(|directory| directory.join("hooks"));
    // The path of the project may have links, but its root has none.
    let below = |path: PathBuf| path.strip_prefix(base).map(Path::to_owned).unwrap_or(path);
    let named = hook
        .directories(root)
        .into_iter()
        .map(|(_, path)| below(path));
    let of_plugin = named.filter(|path| path != root && !path.as_os_str().is_empty());
    beside.into_iter().chain(of_plugin).collect()
}

/// A command whose pieces are looked up.
struct Command<'a> {
    look: Look<'a>,
    notices_new: bool,
    /// The directories in which pieces are looked up, below the root or outside of it.
    starts: Vec<PathBuf>,
    /// The names in directories.
    listed: HashMap<PathBuf, Rc<[OsString]>>,
    /// How many names may still be compared with pieces.
    compared_left: usize,
}

impl Command<'_> {
    fn find(&mut self, lookup: &Lookup<'_>) {
        self.first_starts(lookup);
        let mut next = 0;
        while let Some(start) = self.starts.get(next).cloned() {
            for name in &lookup.pieces.names {
                let is_of_program = lookup.pieces.of_programs.contains(name);
                for path in places(name, lookup.root) {
                    self.look_up(&start, &path, is_of_program);
                }
                if is_glob(name) {
                    let within = within(lookup.root, &start, name);
                    let (start, name) = match &within {
                        Some(rest) => (Path::new(""), &**rest),
                        None => (&*start, &**name),
                    };
                    if !name.starts_with('/') {
                        self.look.matching(start, name);
                    }
                    for path in self.expand(start, name) {
                        self.look_up(start, &path, is_of_program);
                    }
                }
            }
            next += 1;
        }
    }

    /// Finds the directories in which pieces are looked up first: the base, and the working directory, which may be outside
    /// of the project.
    fn first_starts(&mut self, lookup: &Lookup<'_>) {
        self.starts.push(lookup.base.to_owned());
        let start = self.look.tree.find(Path::new(""), lookup.working_dir);
        self.look.add(&start, "", &Wanted::All);
        if let End::At(real, _) | End::Outside(real) = start.end
            && !self.starts.contains(&real)
        {
            self.starts.push(real);
        }
    }

    /// Looks up one piece in a directory. A shell's `cd a/..` does not follow links; programs do.
    fn look_up(&mut self, start: &Path, path: &Path, is_of_program: bool) {
        let mut ways = vec![path.to_owned()];
        if path.components().any(|part| part == Component::ParentDir) {
            ways.push(without_parents(&self.look.tree.root.join(start).join(path)));
        }
        for path in ways {
            let resolved = self.look.tree.find(start, &path);
            self.add_start(&resolved);
            if resolved.is_linked_directory()
                && let Some(parent) = path.parent()
            {
                // A shell goes to this parent, as in `cd link && cd ..`.
                let parent = self.look.tree.find(start, parent);
                self.add_start(&parent);
            }
            self.look.add(&resolved, "", &Wanted::All);
            if is_of_program {
                self.run_directory(&resolved.end);
            }
            self.complete(start, &path);
            self.look_up_module(start, &path, is_of_program);
        }
    }

    /// Returns the paths that a pattern matches in a directory. Where shells differ in a pattern, these are rather too many.
    fn expand(&mut self, start: &Path, pattern: &str) -> Vec<PathBuf> {
        let first = if pattern.starts_with('/') { "/" } else { "" };
        let mut paths = vec![PathBuf::from(first)];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            let Some(pattern) = simple(part) else {
                paths.iter_mut().for_each(|path| path.push(part));
                continue;
            };
            let mut within = Vec::new();
            for path in paths {
                let End::At(directory, _) = self.look.tree.find(start, &path).end else {
                    continue;
                };
                let names = self.names_in(&directory);
                let is_like = |name: &OsString| {
                    let is_hidden = |name: &str| name.starts_with('.') && !part.starts_with('.');
                    // How a shell compares a name that is no UTF-8 depends on the shell.
                    name.to_str()
                        .is_none_or(|name| pattern.matches(name) && !is_hidden(name))
                };
                within.extend(
                    names
                        .iter()
                        .filter(|name| is_like(name))
                        .map(|name| path.join(name)),
                );
            }
            within.truncate(MOST_MATCHES);
            paths = within;
        }
        paths
    }

    /// Adds the files that a program may find for a name without their ending: `./x` for `x.js`.
    fn complete(&mut self, start: &Path, path: &Path) {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return;
        };
        let Some(name) = name.to_str() else {
            return;
        };
        let end = self.look.tree.find(start, parent).end;
        self.add_like(&end, |other| {
            stem(other) == name || before_ending(other) == name
        });
    }

    /// Adds the scripts of a directory, and of Python's directory in it, whose names a test accepts.
    fn add_like(&mut self, directory: &End, is_like: impl Fn(&str) -> bool) {
        let End::At(directory, metadata) = directory else {
            return;
        };
        if !metadata.is_dir() {
            return;
        }
        for name in self.names_in(directory).iter() {
            let path = Path::new(name);
            let is_wanted = name.to_str().is_some_and(&is_like);
            if is_wanted && (has_ending(path) || name == "package.json") {
                let resolved = self.look.tree.find(directory, path);
                self.look.add(&resolved, "", &Wanted::All);
            } else if name == COMPILED {
                let compiled = self.look.tree.find(directory, path).end;
                if !directory.ends_with(COMPILED) {
                    self.add_like(&compiled, &is_like as &dyn Fn(&str) -> bool);
                }
            }
        }
    }

    /// Returns the names in a directory; none if too many have been compared.
    fn names_in(&mut self, directory: &Path) -> Rc<[OsString]> {
        let known = self.listed.get(directory).cloned();
        let names = known.unwrap_or_else(|| {
            let tree = &self.look.tree;
            let names = if self.notices_new {
                tree.names_in(directory, MOST_NAMES)
            } else {
                tree.names_now(directory, MOST_NAMES)
            };
            let names: Rc<[OsString]> = names.unwrap_or_default().into();
            self.listed.insert(directory.to_owned(), Rc::clone(&names));
            names
        });
        match self.compared_left.checked_sub(names.len()) {
            Some(left) => {
                self.compared_left = left;
                names
            }
            None => {
                self.look.note(TOO_MUCH_NAMED);
                Rc::default()
            }
        }
    }

    /// Adds the files of a module's name: `a/b.py` for `a.b`.
    fn look_up_module(&mut self, start: &Path, path: &Path, is_of_program: bool) {
        let Some(module) = path.to_str().filter(|text| is_module(text)) else {
            return;
        };
        let path = PathBuf::from(module.replace('.', "/"));
        self.complete(start, &path);
        // `from a.b import c`
        let resolved = self.look.tree.find(start, &path);
        self.add_start(&resolved);
        if is_of_program {
            // `a.py` or `a/__init__.py` runs before `a/b.py`.
            for path in path.ancestors().filter(|path| !path.as_os_str().is_empty()) {
                self.complete(start, path);
                let end = self.look.tree.find(start, path).end;
                self.run_directory(&end);
            }
        }
    }

    /// Adds the files that a program runs in a directory that it is given.
    fn run_directory(&mut self, directory: &End) {
        self.add_like(directory, |name| OF_DIRECTORIES.contains(&stem(name)));
    }

    /// Adds a directory in which pieces are looked up.
    fn add_start(&mut self, resolved: &Resolved) {
        let real = match &resolved.end {
            End::At(real, metadata) if metadata.is_dir() => real,
            // `cd ..` leads to this directory.
            End::Outside(real) if self.look.tree.root.starts_with(real) => real,
            _ => return,
        };
        if self.starts.contains(real) {
            return;
        }
        if self.starts.len() < MOST_DIRECTORIES {
            self.starts.push(real.clone());
        } else {
            self.look
                .note("names are looked up in the first directories of the command alone");
        }
    }
}

/// Returns the pattern of a part of a path; none if the part is no pattern. One pair of brackets is one character. More of them, and
/// `?`, stand for any text, since a shell may take each for a byte of a letter.
fn simple(part: &str) -> Option<Pattern> {
    let mut pattern = part.replace('?', "*");
    if let (Some(start), Some(end)) = (part.find('['), part.rfind(']'))
        && start < end
    {
        let is_one = part.matches(['[', '?']).count() == 1;
        pattern.replace_range(start..=end, if is_one { "?" } else { "*" });
    }
    while pattern.contains("**") {
        pattern = pattern.replace("**", "*");
    }
    pattern
        .contains(['*', '?'])
        .then(|| Pattern::new(&pattern).ok())?
}

/// Returns the rest of a pattern below the root, if the pattern leads there from outside: `../../*/project/x.sh`.
fn within(root: &Path, start: &Path, pattern: &str) -> Option<String> {
    let whole = without_parents(&root.join(start).join(pattern));
    let mut parts = whole.components();
    let mut has_pattern = false;
    for name in root.components() {
        let part = parts.next()?;
        let is_one = part == name || {
            let pattern = simple(part.as_os_str().to_str()?)?;
            has_pattern = true;
            pattern.matches(name.as_os_str().to_str()?)
        };
        if !is_one {
            return None;
        }
    }
    let rest = parts.as_path().to_str()?.to_owned();
    (has_pattern && !rest.is_empty()).then_some(rest)
}

fn stem(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn before_ending(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(before, _)| before)
}

/// Returns whether a piece may be the name of a module in a package.
fn is_module(piece: &str) -> bool {
    let is_part = |part: &str| {
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
        !part.is_empty() && part.chars().all(is_of_name)
    };
    piece.contains('.') && piece.split('.').all(is_part)
}

/// Returns the paths to look up for a piece. A piece that begins with `/` may be the rest of a name: `("sh " d "/guard")`.
fn places(piece: &str, root: &Path) -> Vec<PathBuf> {
    let path = Path::new(piece);
    let mut places = vec![path.to_owned()];
    if path.has_root() && !path.starts_with(root) {
        places.push(PathBuf::from(piece.trim_start_matches('/')));
    }
    places
}
