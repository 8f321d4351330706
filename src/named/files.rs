//! Which files a hook names: the scripts among its words, what its interpreters run, the scripts in given directories,
//! and its `inputs`. Finding too much is harmless. Does not know why it is asked.

use std::collections::{BTreeMap, HashSet};
use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use glob::{MatchOptions, Pattern, PatternError};

use super::content::{has_mark, of_text};
use super::stamp::Stamps;
use super::tree::{End, Found, PathTree, name_of};
use crate::files;
use crate::globs::with_slashes;
use crate::hook::{Candidates, Hook, RunKind, RunWord, runs};

/// The most files and bytes of the scripts of one directory. They are looked at before each run; more are no
/// directory of hooks, but for example a `node_modules`.
const MOST_FILES: usize = 1000;
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// The most bytes of all files of an entry: reading them takes about a second.
const MOST_IN_ALL: u64 = 256 * 1024 * 1024;
pub(crate) const TOO_MUCH: &str = "the files of this entry have more than 256 MiB";
/// The most `inputs`, each of which can be such a directory.
const MOST_INPUTS: usize = 100;
/// The most directories in which the words of a command are looked up.
const MOST_DIRECTORIES: usize = 8;

/// The extensions of files that are scripts whatever their content.
const ENDINGS: &[&str] = &[
    "awk", "bash", "bat", "bats", "cjs", "clj", "cmd", "coffee", "com", "csh", "cts", "dart",
    "dash", "dll", "dylib", "egg", "el", "exe", "exs", "fish", "gawk", "go", "groovy", "hs", "jar",
    "java", "jl", "jq", "js", "jsx", "ksh", "kts", "lua", "mjs", "mk", "mts", "node", "nu", "php",
    "phtml", "pl", "plx", "pm", "pmc", "ps1", "psm1", "py", "pyc", "pyo", "pyw", "pyz", "r",
    "rake", "raku", "rb", "rkt", "scm", "sed", "sh", "so", "swift", "tcl", "tcsh", "ts", "tsx",
    "vbs", "wasm", "whl", "zip", "zsh",
];

/// Files by their names below the root: the digest of a file's content, or of a link's text; or why there is none. The
/// name of a directory whose files are not known ends with `/`.
pub(crate) type Files = BTreeMap<String, Result<Arc<str>, String>>;

/// The files that a hook names. Default: none.
#[derive(Default)]
pub(crate) struct Named {
    pub(crate) files: Files,
    /// What else a person should know.
    pub(crate) notes: Vec<String>,
    /// If none of it has changed, neither have `files`.
    pub(crate) seen: Stamps,
    /// How often a file or a directory was looked at.
    pub(crate) looks: usize,
}

/// Returns the digest of a file with this metadata.
pub(crate) type Digest<'a> = dyn Fn(&Path, &Metadata) -> io::Result<Arc<str>> + 'a;

/// How the names of a hook are looked up.
pub(crate) struct Lookup<'a> {
    /// Nothing outside of it is opened. Without links.
    pub(crate) root: &'a Path,
    /// Where relative names begin, below the root.
    pub(crate) base: &'a Path,
    pub(crate) working_dir: &'a Path,
    /// Puts the values of variables into a word.
    pub(crate) expand: &'a dyn Fn(&str) -> String,
    /// What is looked at, whatever the hook names.
    pub(crate) places: Vec<PathBuf>,
    /// The directories whose scripts count, whatever the hook names.
    pub(crate) directories: Vec<PathBuf>,
    /// Whether a directory, by its name, is not looked at.
    pub(crate) is_skipped: &'a dyn Fn(&str) -> bool,
    /// The digest of a file. None: nothing is read, and there is no limit of bytes.
    pub(crate) digest: Option<&'a Digest<'a>>,
}

impl Lookup<'_> {
    /// Returns the files that a hook names now.
    pub(crate) fn files_of(self, hook: &Hook) -> Named {
        let inputs = hook.inputs();
        let mut look = Look {
            tree: PathTree::at(self.root),
            lookup: &self,
            excluded: Vec::new(),
            data: Vec::new(),
            names_something: false,
            left: MOST_IN_ALL,
            files: Files::new(),
            notes: Vec::new(),
        };
        if inputs.len() > MOST_INPUTS {
            look.note("only the first 100 `inputs` are covered");
        }
        let inputs = &inputs[..inputs.len().min(MOST_INPUTS)];
        for excluded in inputs.iter().filter_map(|it| it.strip_prefix('!')) {
            look.exclude(excluded);
        }
        for place in &self.places {
            look.tree.find(Path::new(""), place);
        }
        look.named(hook);
        for directory in &self.directories {
            let found = look.tree.find(Path::new(""), directory);
            let way = Way::new(name_of(directory) + "/", Wanted::Scripts);
            look.directory(&found, &way);
        }
        for input in inputs.iter().filter(|it| !it.starts_with('!')) {
            look.input(input);
        }
        look.finish()
    }
}

/// Which files of a directory count.
enum Wanted {
    Scripts,
    All,
    /// Those whose names below the root match.
    Like(Pattern),
}

/// One way to look at a directory.
struct Way {
    /// Ends with `/`: the name under which it is said that the directory is too large.
    name: String,
    wanted: Wanted,
    /// The directory's name below the root, with the links that were followed.
    reached: String,
    levels: usize,
}

impl Way {
    fn new(name: String, wanted: Wanted) -> Self {
        Self {
            name,
            wanted,
            reached: String::new(),
            levels: usize::MAX,
        }
    }
}

struct Look<'a> {
    tree: PathTree<'a>,
    lookup: &'a Lookup<'a>,
    excluded: Vec<Pattern>,
    /// The files that the entry names and that are no scripts.
    data: Vec<String>,
    /// Whether the entry names something below the root.
    names_something: bool,
    /// How many more bytes may be read.
    left: u64,
    files: Files,
    notes: Vec<String>,
}

impl Look<'_> {
    fn note(&mut self, words: impl Into<String>) {
        let words = words.into();
        if !self.notes.contains(&words) {
            self.notes.push(words);
        }
    }

    fn exclude(&mut self, input: &str) {
        let name = plain(&with_slashes(input));
        self.note(format!("`{name}` is excluded by `inputs`"));
        let below = |name: &str| pattern_below(self.lookup.base, name);
        let pattern = below(&name).or_else(|_| below(&Pattern::escape(&name)));
        self.excluded.extend(pattern);
    }

    fn is_excluded(&self, path: &Path) -> bool {
        let is_one = |name: &str| self.excluded.iter().any(|it| it.matches_with(name, STRICT));
        !self.excluded.is_empty() && path.ancestors().any(|path| is_one(&name_of(path)))
    }

    /// Says what else a person should know.
    fn finish(mut self) -> Named {
        for name in std::mem::take(&mut self.data) {
            if !self.files.contains_key(&name) {
                self.note(format!("`{name}` is data: it may change"));
            }
        }
        if self.names_something && self.files.is_empty() {
            self.note("the entry names a place in the project, and nothing of it is covered");
        }
        if self.tree.is_exhausted() {
            self.note("the entry names too much: only the first 100,000 files are looked at");
        }
        Named {
            files: self.files,
            notes: self.notes,
            looks: self.tree.looks(),
            seen: self.tree.into_stamps(),
        }
    }

    /// Adds the scripts that the entry names.
    fn named(&mut self, hook: &Hook) {
        let root = self.lookup.root;
        let expanded = self.lookup.expand;
        let words = Candidates::of(hook);
        let runs = runs(hook);
        if words.is_cut || runs.is_cut {
            self.note("the entry is too long: only its first words are looked up");
        }
        let words = words.list.iter().map(|word| expanded(word));
        let paths: Vec<PathBuf> = words.flat_map(|word| places(&word, root)).collect();
        let mut starts = self.first_starts();
        let own = root.join(starts.last().map_or(Path::new(""), |it| it));
        let mut next = 0;
        while let Some(start) = starts.get(next).cloned() {
            // The command may have gone there.
            self.tree.set_working_dir(root.join(&start));
            if next > 0 {
                // As in `python3 DIRECTORY`.
                self.look_up(&start, Path::new("__main__.py"), &mut starts);
            }
            for path in &paths {
                self.look_up(&start, path, &mut starts);
            }
            next += 1;
        }
        for run in &runs.list {
            self.add_run(run, &starts);
        }
        self.tree.set_working_dir(own);
    }

    /// The directories in which words are looked up first: the root, and the working directory, which may be outside.
    fn first_starts(&mut self) -> Vec<PathBuf> {
        let mut starts = vec![self.lookup.base.to_owned()];
        let start = self.tree.find(Path::new(""), self.lookup.working_dir);
        self.add(&start, "", &Wanted::Scripts);
        if let End::At(real, _) | End::Outside(real) = start.end
            && !starts.contains(&real)
        {
            starts.push(real);
        }
        starts
    }

    /// Adds what an interpreter runs, script or data: the words behind it up to the last file that may be it.
    fn add_run(&mut self, run: &[RunWord], starts: &[PathBuf]) {
        let mut left = 1;
        let mut is_unsure = false;
        for word in run {
            if left == 0 {
                break;
            }
            if word.kind == RunKind::Unknown && !is_unsure {
                is_unsure = true;
                left += 1;
            }
            let names = word.names(&(self.lookup.expand)(&word.text));
            let paths: Vec<_> = names
                .iter()
                .flat_map(|name| places(name, self.tree.root))
                .collect();
            let mut is_file = false;
            for (start, path) in starts
                .iter()
                .flat_map(|start| paths.iter().map(move |it| (start, it)))
            {
                self.tree.set_working_dir(self.tree.root.join(start));
                let found = self.tree.find(start, path);
                is_file |= matches!(&found.end, End::At(_, metadata) if metadata.is_file());
                self.add(&found, "", &Wanted::All);
            }
            let ends = matches!(word.kind, RunKind::File | RunKind::Module);
            left -= usize::from(is_file && ends);
        }
    }

    /// Looks up one word in a directory. A shell's `cd a/..` does not follow links, programs do.
    fn look_up(&mut self, start: &Path, path: &Path, starts: &mut Vec<PathBuf>) {
        let mut ways = vec![path.to_owned()];
        if path.components().any(|part| part == Component::ParentDir) {
            ways.push(without_parents(&self.tree.root.join(start).join(path)));
        }
        for path in ways {
            let found = self.tree.find(start, &path);
            let is_below = |path: &PathBuf| !path.as_os_str().is_empty();
            // Of a file that is data, another note says so.
            self.names_something |=
                matches!(&found.end, End::At(real, it) if is_below(real) && !it.is_file());
            self.add_start(&found, starts);
            if found.is_linked_directory()
                && let Some(parent) = path.parent()
            {
                // For a shell this is its parent, as after `cd link && cd ..`.
                let parent = self.tree.find(start, parent);
                self.add_start(&parent, starts);
            }
            self.add_data(&found);
            self.add(&found, "", &Wanted::Scripts);
        }
    }

    fn add_data(&mut self, found: &Found) {
        if let End::At(real, metadata) = &found.end
            && metadata.is_file()
            && !self.is_script(found, real, metadata)
        {
            self.data.push(name_of(real));
        }
    }

    /// Adds a directory in which words are looked up.
    fn add_start(&mut self, found: &Found, starts: &mut Vec<PathBuf>) {
        let real = match &found.end {
            End::At(real, metadata) if metadata.is_dir() => real,
            End::Outside(real) if real == Path::new("/proc") => {
                return self.note("places below `/proc` are not looked at");
            }
            // As after `cd ..`.
            End::Outside(real) if self.tree.root.starts_with(real) => real,
            _ => return,
        };
        if !starts.contains(real) {
            if starts.len() < MOST_DIRECTORIES {
                starts.push(real.clone());
            } else {
                self.note("names are looked up in the first directories of the command alone");
            }
        }
    }

    /// Adds what `inputs` names: a file or a directory; else, where nothing has this name, the files that match it.
    fn input(&mut self, input: &str) {
        let name = plain(input);
        let like = plain(&with_slashes(input));
        let is_fixed = |part: &&str| !part.contains(['*', '?', '[']);
        let fixed: Vec<&str> = like.split('/').take_while(is_fixed).collect();
        let levels = like.split('/').count() - fixed.len();
        let base = self.lookup.base;
        let mut found = self.tree.find(base, Path::new(&name));
        let mut way = Way::new(format!("inputs: {name}/"), Wanted::All);
        if levels > 0
            && matches!(found.end, End::Missing)
            && let Ok(pattern) = pattern_below(base, &like)
        {
            way.reached = name_of(&base.join(fixed.join("/")));
            way.wanted = Wanted::Like(pattern);
            if !like.contains("**") {
                way.levels = levels;
            }
            found = self.tree.find(base, Path::new(&fixed.join("/")));
        }
        if let End::Outside(_) = found.end {
            self.note(format!("`{name}` of `inputs` is not within the project"));
        }
        if !self.directory(&found, &way) {
            self.note(format!("`{name}` of `inputs` matches nothing now"));
        }
    }

    /// Adds a file, and the links that lead to it.
    fn add(&mut self, found: &Found, reached: &str, wanted: &Wanted) {
        if self.takes(found, reached, wanted) {
            self.insert(found);
        }
    }

    fn insert(&mut self, found: &Found) {
        for (link, text) in &found.links {
            // No content of a file has such a digest.
            let digest = format!("link:{}", of_text(text.as_os_str().as_encoded_bytes()));
            self.files.insert(name_of(link), Ok(digest.into()));
        }
        match (&found.end, found.links.last()) {
            (End::At(real, metadata), _) if metadata.is_file() => {
                let name = name_of(real);
                if self.files.contains_key(&name) {
                    return;
                }
                let digest = self.digest(real, metadata);
                self.files.insert(name, digest);
            }
            (End::Outside(_), Some((link, _))) => {
                self.note(format!(
                    "the link `{}` leads out of the project",
                    name_of(link)
                ));
            }
            _ => {}
        }
    }

    fn digest(&mut self, real: &Path, metadata: &Metadata) -> Result<Arc<str>, String> {
        let Some(digest) = self.lookup.digest else {
            return Ok("".into());
        };
        let left = self.left.checked_sub(metadata.len());
        self.left = left.ok_or(TOO_MUCH)?;
        let digest = digest(&self.lookup.root.join(real), metadata);
        digest.map_err(|error| format!("cannot be read: {error}"))
    }

    /// Whether this counts: a regular file of the wanted kind, or a link. A link to a script that is missing
    /// counts when the script appears.
    /// `reached` is its name below the root, with the links that were followed.
    fn takes(&self, found: &Found, reached: &str, wanted: &Wanted) -> bool {
        let mut links = found.links.iter().map(|(link, _)| link);
        if links.any(|link| self.is_excluded(link)) {
            return false;
        }
        match &found.end {
            End::Missing => matches!(wanted, Wanted::All) || is_named_as_script(found),
            End::Outside(_) => true,
            End::At(real, _) if self.is_excluded(real) => false,
            End::At(real, metadata) if metadata.is_file() => match wanted {
                Wanted::All => true,
                Wanted::Like(pattern) => pattern.matches_with(reached, STRICT),
                Wanted::Scripts => self.is_script(found, real, metadata),
            },
            // No other kind of file is opened.
            End::At(_, metadata) => metadata.is_dir() && !found.links.is_empty(),
        }
    }

    fn is_script(&self, found: &Found, real: &Path, metadata: &Metadata) -> bool {
        is_named_as_script(found)
            || files::is_executable(metadata)
            || has_ending(real)
            // A file that cannot be read may be a script.
            || has_mark(&self.lookup.root.join(real)).unwrap_or(true)
    }

    /// Adds the files below a directory, or says why it is not covered. Of what is no directory, adds the file. Returns
    /// whether there is anything.
    fn directory(&mut self, found: &Found, way: &Way) -> bool {
        let real = match &found.end {
            End::At(real, metadata) if metadata.is_dir() => real,
            end => {
                self.add(found, &way.reached, &way.wanted);
                return !matches!(end, End::Missing);
            }
        };
        if self.is_excluded(real) || (self.lookup.is_skipped)(&way.name) {
            return true;
        }
        match self.below(found, way) {
            Ok(all) => {
                all.iter().for_each(|found| self.insert(found));
                !all.is_empty()
            }
            Err(why) => {
                self.files.insert(way.name.clone(), Err(why));
                true
            }
        }
    }

    /// Returns the files below a directory, each directory once.
    fn below(&self, start: &Found, way: &Way) -> Result<Vec<Found>, String> {
        let too_large = || "holds more than 1,000 files or 16 MiB of them count".to_owned();
        let mut left = MOST_FILES;
        let mut bytes = MOST_BYTES;
        let mut all = Vec::new();
        let mut visits = Visits {
            by_name: matches!(way.wanted, Wanted::Like(_)),
            seen: HashSet::new(),
        };
        let first = (start.end.clone(), way.reached.clone(), Vec::new());
        let mut waiting = vec![first];
        while let Some((end, reached, above)) = waiting.pop() {
            let End::At(directory, _) = end else {
                continue;
            };
            if above.len() == way.levels || self.is_excluded(&directory) {
                continue;
            }
            let Some(within) = visits.enter(&directory, above) else {
                continue;
            };
            let names = self.tree.names_in(&directory, MOST_FILES + 1);
            let names = names.map_err(|error| format!("cannot be read: {error}"))?;
            left = left.checked_sub(names.len()).ok_or_else(too_large)?;
            let is_root = directory.as_os_str().is_empty();
            for name in names.iter().filter(|name| !is_root || *name != ".git") {
                let mut found = self.tree.find(&directory, Path::new(name));
                found.links.splice(0..0, start.links.iter().cloned());
                let reached = name_of(&Path::new(&reached).join(name));
                let takes = self.takes(&found, &reached, &way.wanted);
                if let End::At(_, metadata) = &found.end {
                    if metadata.is_dir() {
                        waiting.push((found.end.clone(), reached, within.clone()));
                    } else if takes && metadata.is_file() && self.lookup.digest.is_some() {
                        bytes = bytes.checked_sub(metadata.len()).ok_or_else(too_large)?;
                    }
                }
                if takes {
                    all.push(found);
                }
            }
        }
        Ok(all)
    }
}

/// The directories that were looked at, each once.
struct Visits {
    /// Where names must match, each is looked at by each of its names: a link may give it another one.
    by_name: bool,
    seen: HashSet<PathBuf>,
}

impl Visits {
    /// Returns the directories above those in this one; None if it was looked at before.
    fn enter(&mut self, directory: &Path, mut above: Vec<PathBuf>) -> Option<Vec<PathBuf>> {
        if !self.by_name {
            return self.seen.insert(directory.to_owned()).then_some(above);
        }
        if above.iter().any(|it| it == directory) {
            return None;
        }
        above.push(directory.to_owned());
        Some(above)
    }
}

/// Returns a path with each `..` resolved by its text.
fn without_parents(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// `*` does not match `/`.
const STRICT: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// Returns the pattern of names below a directory.
fn pattern_below(base: &Path, name: &str) -> Result<Pattern, PatternError> {
    if base.as_os_str().is_empty() || name.starts_with('/') {
        return Pattern::new(name);
    }
    Pattern::new(&format!("{}/{name}", Pattern::escape(&name_of(base))))
}

/// Returns a path of `inputs` in its plain form.
fn plain(input: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in input.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    match parts.join("/") {
        name if name.is_empty() => ".".to_owned(),
        name if input.starts_with('/') => format!("/{name}"),
        name => name,
    }
}

/// Returns the paths to look up for a word. What begins with `/` is also within the project, so that
/// `"$CLAUDE_PROJECT_DIR"/x` is found.
fn places(word: &str, root: &Path) -> Vec<PathBuf> {
    let path = Path::new(word);
    let mut places = vec![path.to_owned()];
    if cfg!(windows) {
        // The system runs `x.bat` for `x`.
        let endings = [".com", ".exe", ".bat", ".cmd"].iter();
        places.extend(endings.map(|ending| PathBuf::from(format!("{word}{ending}"))));
    }
    if path.has_root() && !path.starts_with(root) {
        places.push(root.join(word.trim_start_matches('/')));
    }
    places
}

/// Whether a link on the way has the name of a script: who runs it does not see what it leads to.
fn is_named_as_script(found: &Found) -> bool {
    found.links.iter().any(|(link, _)| has_ending(link))
}

fn has_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|it| it.to_str());
    ending.is_some_and(|it| ENDINGS.contains(&&*it.to_ascii_lowercase()))
}
