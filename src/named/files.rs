//! The files that a hook's command names: the scripts among its words, and the files that its interpreters may run.
//!
//! Finding too many files is harmless. Does not know the purpose of the lookup.

use std::path::{Component, Path, PathBuf};

use super::look::{Look, Lookup, Named, Wanted};
use super::tree::{End, Resolved, name_of};
use crate::hook::{Hook, Run, is_glob};
use crate::paths::without_parents;

/// The most files of a command whose changes are noticed without an approval.
const MOST_FILES: usize = 8;
/// The most directories in which the words of a command are looked up.
const MOST_DIRECTORIES: usize = 8;

impl Lookup<'_> {
    /// Returns the files that a hook names now.
    pub(crate) fn files_of(self, hook: &Hook) -> Named {
        let mut command = Command {
            look: Look::of(&self, hook.inputs()),
            starts: Vec::new(),
            data: Vec::new(),
            names_something: false,
            files: Vec::new(),
            links: Vec::new(),
        };
        command.find(&self);
        command.finish()
    }
}

/// A command whose words are looked up.
struct Command<'a> {
    look: Look<'a>,
    /// The directories in which words are looked up, below the root or outside of it.
    starts: Vec<PathBuf>,
    /// The files that the command names and that are not scripts.
    data: Vec<String>,
    /// True if the command names something below the root.
    names_something: bool,
    /// The first files that the command names and that count.
    files: Vec<String>,
    /// The links that lead to these files, by their paths below the root.
    links: Vec<PathBuf>,
}

impl Command<'_> {
    fn find(&mut self, lookup: &Lookup<'_>) {
        let words = lookup.words;
        if words.is_cut {
            self.look
                .note("the entry is too long: only its first words are looked up");
        }
        self.first_starts(lookup);
        let own = lookup
            .root
            .join(self.starts.last().map_or(Path::new(""), |start| start));
        let named = words.names.iter().chain(&words.written);
        let paths: Vec<PathBuf> = named.flat_map(|name| places(name, lookup.root)).collect();
        let mut next = 0;
        while let Some(start) = self.starts.get(next).cloned() {
            // The command may have changed to this directory.
            self.look.tree.set_working_dir(lookup.root.join(&start));
            if next > 0 {
                // `python3 DIRECTORY` runs this file.
                self.look_up(&start, Path::new("__main__.py"));
            }
            for path in &paths {
                self.look_up(&start, path);
            }
            next += 1;
        }
        let mut may_be_any = false;
        for run in &words.runs {
            may_be_any |= self.add_run(run);
        }
        if may_be_any {
            self.add_any(&words.names);
        }
        self.look.tree.set_working_dir(own);
    }

    /// Finds the directories in which words are looked up first: the base, and the working directory, which may be outside
    /// of the project.
    fn first_starts(&mut self, lookup: &Lookup<'_>) {
        self.starts.push(lookup.base.to_owned());
        let start = self.look.tree.find(Path::new(""), lookup.working_dir);
        self.add(&start, &Wanted::Scripts);
        if let End::At(real, _) | End::Outside(real) = start.end
            && !self.starts.contains(&real)
        {
            self.starts.push(real);
        }
    }

    /// Adds the files that an interpreter may run, script or data: the words after it, up to the first file that is neither
    /// in an option nor after one. Returns whether the interpreter may run any file that the command names.
    fn add_run(&mut self, run: &Run) -> bool {
        let (mut has_file, mut may_be_any) = (false, false);
        for word in &run.words {
            let (is_file, is_within) = self.add_any(&word.names);
            has_file |= is_within || is_file && !word.is_of_option;
            may_be_any |= word.may_be_any;
            if is_file && !word.is_of_option || word.may_be_text && !is_file {
                return may_be_any;
            }
        }
        may_be_any || run.may_read_program && !has_file
    }

    /// Adds the files of these names, scripts or data. Returns whether there may be one, and whether one is in the project.
    fn add_any(&mut self, names: &[String]) -> (bool, bool) {
        let (mut is_outside, mut is_within) = (false, false);
        for (at, name) in names.iter().enumerate() {
            if self.look.tree.is_exhausted() {
                break;
            }
            for path in places(name, self.look.tree.root) {
                for start in self.starts.clone() {
                    self.look
                        .tree
                        .set_working_dir(self.look.tree.root.join(&start));
                    let resolved = self.look.tree.find(&start, &path);
                    match &resolved.end {
                        End::At(_, metadata) => is_within |= metadata.is_file(),
                        // `/opt/guard.py` is the file that runs, also without an extension. A path in `/proc` may lead to
                        // any file.
                        End::Outside(real) => {
                            let is_plain = at == 0 && path.has_root();
                            is_outside |= is_plain && !real.starts_with("/proc");
                        }
                        End::Missing => {}
                    }
                    self.add(&resolved, &Wanted::All);
                }
            }
            let root = self.look.tree.root.to_str().unwrap_or("/");
            let below = name
                .strip_prefix(root)
                .map(|below| below.trim_start_matches('/'));
            let name = below.unwrap_or(name);
            if is_glob(name) {
                for start in self.starts.clone() {
                    is_within |= self.look.matching(&start, name);
                }
            }
        }
        (is_outside || is_within, is_within)
    }

    /// Looks up one word in a directory. A shell's `cd a/..` does not follow links; programs do.
    fn look_up(&mut self, start: &Path, path: &Path) {
        let mut ways = vec![path.to_owned()];
        if path.components().any(|part| part == Component::ParentDir) {
            ways.push(without_parents(&self.look.tree.root.join(start).join(path)));
        }
        for path in ways {
            let resolved = self.look.tree.find(start, &path);
            let is_below = |path: &PathBuf| !path.as_os_str().is_empty();
            // Data files have a note of their own.
            self.names_something |= matches!(&resolved.end, End::At(real, metadata) if is_below(real) && !metadata.is_file());
            self.add_start(&resolved);
            if resolved.is_linked_directory()
                && let Some(parent) = path.parent()
            {
                // A shell goes to this parent, as in `cd link && cd ..`.
                let parent = self.look.tree.find(start, parent);
                self.add_start(&parent);
            }
            if let End::At(real, metadata) = &resolved.end
                && metadata.is_file()
                && !self.look.is_script(&resolved, real, metadata)
            {
                self.data.push(name_of(real));
            }
            self.add(&resolved, &Wanted::Scripts);
        }
    }

    /// Adds a directory in which words are looked up.
    fn add_start(&mut self, resolved: &Resolved) {
        let real = match &resolved.end {
            End::At(real, metadata) if metadata.is_dir() => real,
            End::Outside(real) if real == Path::new("/proc") => {
                return self.look.note("places below `/proc` are not looked at");
            }
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

    fn add(&mut self, resolved: &Resolved, wanted: &Wanted) {
        if self.look.add(resolved, "", wanted)
            && let End::At(real, metadata) = &resolved.end
            && metadata.is_file()
        {
            let name = name_of(real);
            if self.files.len() < MOST_FILES && !self.files.contains(&name) {
                self.files.push(name);
                let links = resolved.links.iter().map(|(link, _)| link.clone());
                self.links.extend(links);
            }
        }
    }

    /// Adds the files that are covered besides the command's words, and other notes for a person.
    fn finish(mut self) -> Named {
        self.look.directories_and_inputs();
        for name in self.data {
            if !self.look.files.contains_key(&name) {
                self.look.note(format!(
                    "`{name}` is data: it may change, unless `inputs` lists it"
                ));
            }
        }
        if self.names_something && self.look.files.is_empty() {
            self.look
                .note("the entry names a directory of the project, and nothing in it is covered: list files in `inputs`");
        }
        Named {
            of_command: self.files,
            links_of_command: self.links,
            ..self.look.finish()
        }
    }
}

/// Returns the paths to look up for a word. A word that begins with `/` may be the rest of a name: `("sh " d "/guard")`.
fn places(word: &str, root: &Path) -> Vec<PathBuf> {
    let path = Path::new(word);
    let mut places = vec![path.to_owned()];
    if cfg!(windows) {
        // The system runs `x.bat` for `x`.
        let endings = [".com", ".exe", ".bat", ".cmd"].iter();
        places.extend(endings.map(|ending| PathBuf::from(format!("{word}{ending}"))));
    }
    if path.has_root() && !path.starts_with(root) {
        places.push(PathBuf::from(word.trim_start_matches('/')));
    }
    places
}
