//! Which files an approval covers: the scripts that an entry names, those in the hooks directory, and the
//! entry's `inputs`. Covering too much is harmless.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use glob::{MatchOptions, Pattern};

use super::stamp::{self, Seen};
use super::within::{End, Found, Tree, name_of};
use crate::files;
use crate::hook::{Candidates, Hook, RunKind, RunWord, builds_names, expanded, runs};

/// The most files and bytes of the scripts of one directory. They are looked at before each run; more are no
/// directory of hooks, but for example a `node_modules`.
const MOST_FILES: usize = 1000;
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// The most bytes of all files of an entry: reading them takes about a second.
const MOST_IN_ALL: u64 = 256 * 1024 * 1024;
pub(super) const TOO_MUCH: &str = "the files of this entry have more than 256 MiB";
/// The most `inputs`, each of which can be such a directory.
const MOST_INPUTS: usize = 100;
/// The most directories in which the words of a command are looked up.
const MOST_DIRECTORIES: usize = 8;

/// The extensions of files that are scripts whatever their content.
const ENDINGS: &[&str] = &[
    "awk", "bash", "bat", "bats", "cjs", "clj", "cmd", "coffee", "com", "csh", "cts", "dart",
    "dash", "dll", "dylib", "egg", "el", "exe", "exs", "fish", "gawk", "go", "groovy", "hs", "jar",
    "java", "jl", "jq", "js", "jsx", "ksh", "kts", "lua", "mjs", "mk", "mts", "nu", "php", "phtml",
    "pl", "plx", "pm", "ps1", "psm1", "py", "pyc", "pyo", "pyw", "pyz", "r", "rake", "raku", "rb",
    "rkt", "scm", "sed", "sh", "so", "swift", "tcl", "tcsh", "ts", "tsx", "vbs", "wasm", "whl",
    "zip", "zsh",
];

/// A project, and what is known of its files.
#[derive(Debug)]
pub(super) struct Project {
    /// Without links in its path.
    pub(super) root: PathBuf,
    /// The digests of files that were read, if it is looked at once: no content is read twice then.
    read: Option<Mutex<HashMap<PathBuf, Arc<str>>>>,
}

impl Project {
    pub(super) fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            read: None,
        }
    }

    /// A project that is looked at once, although for many hooks.
    pub(super) fn once(root: &Path) -> Self {
        Self {
            read: Some(Mutex::default()),
            ..Self::at(root)
        }
    }

    fn digest(&self, path: &Path, metadata: &Metadata) -> io::Result<Arc<str>> {
        let Some(read) = &self.read else {
            return stamp::digest(path, metadata);
        };
        let read = || read.lock().unwrap_or_else(PoisonError::into_inner);
        let known = read().get(path).cloned();
        if let Some(digest) = known {
            return Ok(digest);
        }
        let digest = stamp::digest(path, metadata)?;
        read().insert(path.to_owned(), Arc::clone(&digest));
        Ok(digest)
    }
}

/// Covered files, by their names below the root: the digest of a file's content, or of a link's text; or why it is not
/// covered. The name of a directory that is not covered ends with `/`.
pub(super) type Files = BTreeMap<String, Result<Arc<str>, String>>;

/// The files that an approval covers.
#[derive(Default)]
pub(super) struct Covered {
    pub(super) files: Files,
    /// What else a person should know.
    pub(super) notes: Vec<String>,
    /// If none of it has changed, neither have `files`. None if that cannot be told.
    pub(super) seen: Option<Seen>,
    /// How often a file or a directory was looked at.
    pub(super) looks: usize,
}

/// Returns the files that an approval of the hook covers now. Directories for which `is_skipped` is true are not
/// looked at.
pub(super) fn covered(
    project: &Project,
    hook: &Hook,
    is_skipped: &dyn Fn(&str) -> bool,
) -> Covered {
    let begun = SystemTime::now();
    let mut look = Look {
        project,
        tree: Tree::at(&project.root),
        is_skipped,
        excluded: Vec::new(),
        data: Vec::new(),
        names_something: false,
        left: MOST_IN_ALL,
        covered: Covered::default(),
    };
    let inputs = hook.inputs();
    if inputs.len() > MOST_INPUTS {
        look.note("only the first 100 `inputs` are covered");
    }
    let inputs = &inputs[..inputs.len().min(MOST_INPUTS)];
    for excluded in inputs.iter().filter_map(|it| it.strip_prefix('!')) {
        look.exclude(excluded);
    }
    look.named(hook);
    for directory in hooks_directories(hook, &project.root) {
        let found = look.tree.find(Path::new(""), &directory);
        let way = Way::new(name_of(&directory) + "/", Wanted::Scripts);
        look.directory(&found, &way);
    }
    for input in inputs.iter().filter(|it| !it.starts_with('!')) {
        look.input(input);
    }
    for name in std::mem::take(&mut look.data) {
        if !look.covered.files.contains_key(&name) {
            look.note(format!("`{name}` is data: it may change"));
        }
    }
    if look.names_something && look.covered.files.is_empty() {
        look.note("the entry names a place in the project, and nothing of it is covered");
    }
    if look.tree.is_exhausted() {
        look.note("the entry names too much: only the first 100,000 files are looked at");
    }
    let mut covered = look.covered;
    covered.looks = look.tree.looks();
    covered.seen = look.tree.into_seen(begun);
    covered
}

/// Returns the directories of the hook's project, or its plugin, that hold hooks. They need not exist.
fn hooks_directories(hook: &Hook, root: &Path) -> Vec<PathBuf> {
    let base = hook.base_dir().unwrap_or(root);
    let file = hook.source().and_then(|it| it.path.strip_prefix(base).ok());
    let beside = file.and_then(Path::parent).map(|it| it.join("hooks"));
    // The path of the project may have links, which its root has not.
    let below = |path: PathBuf| path.strip_prefix(base).map(Path::to_owned).unwrap_or(path);
    let named = hook
        .directories(root)
        .into_iter()
        .map(|(_, path)| below(path));
    let of_plugin = named.filter(|path| path != root && !path.as_os_str().is_empty());
    beside.into_iter().chain(of_plugin).collect()
}

/// Returns the directory in a variable that the hook's protocol sets.
fn directory_in(name: &str, hook: &Hook, root: &Path, working_dir: &Path) -> Option<String> {
    if name == "PWD" {
        // Each directory in which the word is looked up.
        return Some(".".to_owned());
    }
    if name.ends_with("_WORKING_DIR") && hook.protocol().is_none() {
        return working_dir.to_str().map(str::to_owned);
    }
    let mut named = hook.directories(root).into_iter();
    let (_, path) = named.find(|(known, _)| known == name)?;
    path.into_os_string().into_string().ok()
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
    project: &'a Project,
    tree: Tree<'a>,
    is_skipped: &'a dyn Fn(&str) -> bool,
    excluded: Vec<Pattern>,
    /// The files that the entry names and that are no scripts.
    data: Vec<String>,
    /// Whether the entry names something below the root.
    names_something: bool,
    /// How many more bytes may be read.
    left: u64,
    covered: Covered,
}

impl Look<'_> {
    fn note(&mut self, words: impl Into<String>) {
        let words = words.into();
        if !self.covered.notes.contains(&words) {
            self.covered.notes.push(words);
        }
    }

    fn exclude(&mut self, input: &str) {
        let name = plain(input);
        self.note(format!("`{name}` is excluded by `inputs`"));
        let pattern = Pattern::new(&name).or_else(|_| Pattern::new(&Pattern::escape(&name)));
        self.excluded.extend(pattern);
    }

    fn is_excluded(&self, path: &Path) -> bool {
        let is_one = |name: &str| self.excluded.iter().any(|it| it.matches_with(name, STRICT));
        !self.excluded.is_empty() && path.ancestors().any(|path| is_one(&name_of(path)))
    }

    /// Adds the scripts that the entry names.
    fn named(&mut self, hook: &Hook) {
        let root = &self.project.root;
        let working_dir = root.join(hook.working_dir().unwrap_or(Path::new("")));
        let directory = |name: &str| directory_in(name, hook, root, &working_dir);
        let words = Candidates::of(hook);
        let runs = runs(hook.command());
        if words.is_cut || runs.is_cut {
            self.note("the entry is too long: only its first words are looked up");
        }
        let texts = hook.command().texts();
        if texts.iter().any(|text| builds_names(text, directory)) {
            self.note("this command may run files that are not listed here");
        }
        let words = words.list.iter().map(|word| expanded(word, directory));
        let paths: Vec<PathBuf> = words.flat_map(|word| places(&word, root)).collect();
        if paths.iter().any(|path| is_unknown_in_proc(path)) {
            self.note("places below `/proc` are not looked at");
        }
        let mut starts = self.first_starts(&working_dir);
        let mut next = 0;
        while let Some(start) = starts.get(next).cloned() {
            if next > 0 {
                // As in `python3 DIRECTORY`.
                self.look_up(&start, Path::new("__main__.py"), &mut starts);
            }
            for path in paths.iter().filter(|path| next == 0 || !path.has_root()) {
                self.look_up(&start, path, &mut starts);
            }
            next += 1;
        }
        for run in &runs.list {
            self.add_run(run, &starts, |word| expanded(word, directory));
        }
    }

    /// The directories in which words are looked up first: the root, and the working directory, which may be outside.
    fn first_starts(&mut self, working_dir: &Path) -> Vec<PathBuf> {
        let mut starts = vec![PathBuf::new()];
        let start = self.tree.find(Path::new(""), working_dir);
        self.add(&start, "", &Wanted::Scripts);
        if let End::At(real, _) | End::Outside(real) = start.end {
            self.tree.set_working_dir(self.project.root.join(&real));
            if !starts.contains(&real) {
                starts.push(real);
            }
        }
        starts
    }

    /// Adds what an interpreter runs, script or data: the words behind it up to the last file that may be it.
    fn add_run(&mut self, run: &[RunWord], starts: &[PathBuf], expanded: impl Fn(&str) -> String) {
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
            let names = word.names(&expanded(&word.text));
            let paths: Vec<_> = names
                .iter()
                .flat_map(|name| places(name, self.tree.root))
                .collect();
            let mut is_file = false;
            for (start, path) in starts
                .iter()
                .flat_map(|start| paths.iter().map(move |it| (start, it)))
            {
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
        // As after `cd ..`.
        let name = self.tree.root.file_name().unwrap_or_default();
        ways.extend(path.strip_prefix(name).map(Path::to_owned));
        for path in ways {
            let found = self.tree.find(start, &path);
            let is_below = |path: &PathBuf| !path.as_os_str().is_empty();
            // Of a file that is data, another note says so.
            self.names_something |=
                matches!(&found.end, End::At(real, it) if is_below(real) && !it.is_file());
            self.add_start(&found, starts);
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
        if let End::At(real, metadata) = &found.end
            && metadata.is_dir()
            && !starts.contains(real)
        {
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
        let is_fixed = |part: &&str| !part.contains(['*', '?', '[']);
        let fixed: Vec<&str> = name.split('/').take_while(is_fixed).collect();
        let levels = name.split('/').count() - fixed.len();
        let mut found = self.tree.find(Path::new(""), Path::new(&name));
        let mut way = Way::new(format!("inputs: {name}/"), Wanted::All);
        if levels > 0
            && matches!(found.end, End::Missing)
            && let Ok(pattern) = Pattern::new(&name)
        {
            way.reached = fixed.join("/");
            way.wanted = Wanted::Like(pattern);
            if !name.contains("**") {
                way.levels = levels;
            }
            found = self.tree.find(Path::new(""), Path::new(&way.reached));
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
            let digest = format!(
                "link:{}",
                stamp::of_text(text.as_os_str().as_encoded_bytes())
            );
            self.covered.files.insert(name_of(link), Ok(digest.into()));
        }
        match (&found.end, found.links.last()) {
            (End::At(real, metadata), _) if metadata.is_file() => {
                let name = name_of(real);
                if self.covered.files.contains_key(&name) {
                    return;
                }
                let digest = self.digest(real, metadata);
                self.covered.files.insert(name, digest);
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
        let left = self.left.checked_sub(metadata.len());
        self.left = left.ok_or(TOO_MUCH)?;
        let path = self.project.root.join(real);
        let digest = self.project.digest(&path, metadata);
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
            || stamp::has_mark(&self.project.root.join(real)).unwrap_or(true)
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
        if self.is_excluded(real) || (self.is_skipped)(&way.name) {
            return true;
        }
        match self.below(found, way) {
            Ok(all) => {
                all.iter().for_each(|found| self.insert(found));
                !all.is_empty()
            }
            Err(why) => {
                self.covered.files.insert(way.name.clone(), Err(why));
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
            let names = names_in(&self.tree.root.join(&directory));
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
                    } else if takes && metadata.is_file() {
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

/// Returns the names in a directory, sorted, at most one more than are covered.
fn names_in(directory: &Path) -> io::Result<Vec<OsString>> {
    let entries = directory.read_dir()?.take(MOST_FILES + 1);
    let names = entries.map(|entry| Ok(entry?.file_name()));
    let mut names: Vec<OsString> = names.collect::<io::Result<_>>()?;
    // What is beyond a limit is the same each time.
    names.sort_unstable();
    Ok(names)
}

/// `*` does not match `/`.
const STRICT: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

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

/// Where the system keeps the files of each process; a hook's own working directory is known.
const PROC: &str = "/proc";
const WORKING_DIRS: [&str; 2] = ["/proc/self/cwd", "/proc/thread-self/cwd"];

fn is_unknown_in_proc(path: &Path) -> bool {
    path.starts_with(PROC) && !WORKING_DIRS.iter().any(|own| path.starts_with(own))
}

/// Returns the paths to look up for a word. What begins with `/` is also within the project, so that
/// `"$CLAUDE_PROJECT_DIR"/x` is found, and what is below `/proc/self/cwd` within each directory of the command.
fn places(word: &str, root: &Path) -> Vec<PathBuf> {
    let path = Path::new(word);
    let mut places = vec![path.to_owned()];
    if path.has_root() && !path.starts_with(root) {
        places.push(root.join(word.trim_start_matches('/')));
    }
    let mut own = WORKING_DIRS
        .iter()
        .filter_map(|own| path.strip_prefix(own).ok());
    places.extend(own.next().map(Path::to_owned));
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
