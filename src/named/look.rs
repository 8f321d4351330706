//! The files that count, and their content: those that are found, those in given directories, those of `inputs`.
//!
//! Knows no commands, and does not know the purpose of the lookup.

use std::collections::{BTreeMap, HashSet};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glob::Pattern;

use super::content::{MOST_COMPARED, has_mark, of_text};
use super::stamp::Stamps;
use super::tree::{End, PathTree, Resolved, name_of};
use crate::files;
use crate::globs::{PathGlob, with_slashes};
use crate::hook::Pieces;

/// The most files, and the most bytes, of the scripts of one directory. They are looked at before each run. A directory with
/// more files is not one of hooks, but for example a `node_modules`.
const MOST_FILES: usize = 1000;
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// The most bytes of all files of an entry: reading them takes about a second.
const MOST_IN_ALL: u64 = 256 * 1024 * 1024;
pub(crate) const TOO_MUCH: &str = "the files of this entry have more than 256 MiB";
/// The most `inputs`, each of which can be such a directory.
const MOST_INPUTS: usize = 100;

/// The extensions of files that are scripts regardless of their content.
const ENDINGS: &[&str] = &[
    "awk", "bash", "bat", "bats", "cjs", "clj", "cmd", "coffee", "com", "csh", "cts", "dart",
    "dash", "dll", "dylib", "egg", "el", "exe", "exs", "fish", "gawk", "go", "groovy", "hs", "jar",
    "java", "jl", "jq", "js", "jsx", "ksh", "kts", "lua", "mjs", "mk", "mts", "node", "nu", "php",
    "phtml", "pl", "plx", "pm", "pmc", "ps1", "psm1", "py", "pyc", "pyo", "pyw", "pyz", "r",
    "rake", "raku", "rb", "rkt", "scm", "sed", "sh", "so", "swift", "tcl", "tcsh", "ts", "tsx",
    "vbs", "wasm", "whl", "zip", "zsh",
];

/// Files by their names below the root: the digest of a file's content, or of a link's text; or the reason why there is no
/// digest. The name of a directory whose files are not known ends with `/`.
pub(crate) type Files = BTreeMap<String, Result<Arc<str>, String>>;

/// The files that a hook names. Default: none.
#[derive(Default)]
pub(crate) struct Named {
    pub(crate) files: Files,
    /// The sizes of those files that have a digest, in bytes, with their paths below the root.
    pub(super) sizes: Vec<(u64, PathBuf)>,
    /// Other notes for a person.
    pub(crate) notes: Vec<String>,
    /// A path to what only the process itself has: `/proc/self/cwd`.
    pub(crate) unknown: Option<String>,
    /// The stamps of the files and directories that were looked at: if none has changed, neither have `files`.
    pub(crate) seen: Stamps,
    /// The number of looks at a file or a directory.
    pub(crate) looks: usize,
}

impl Named {
    /// Returns the files below a root whose content is compared before each run, with their digests: the smallest ones, of 1 MiB
    /// together. The others are compared by their stamps.
    pub(crate) fn compared(&self, root: &Path) -> Vec<(PathBuf, Arc<str>)> {
        let with_digest = |(_, path): &(u64, PathBuf)| {
            let digest = self.files.get(&name_of(path))?.as_ref().ok()?;
            Some((root.join(path), Arc::clone(digest)))
        };
        let small = self.sizes[..self.fitting()].iter();
        small.filter_map(with_digest).collect()
    }

    /// Returns the names of the files that are compared by their stamps alone.
    pub(crate) fn large(&self) -> impl Iterator<Item = String> {
        let large = self.sizes[self.fitting()..].iter();
        large.map(|(_, path)| name_of(path))
    }

    /// Returns the number of the first files that have 1 MiB together.
    fn fitting(&self) -> usize {
        let mut left = MOST_COMPARED;
        let fits = |(size, _): &&(u64, PathBuf)| {
            let rest = left.checked_sub(*size);
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        self.sizes.iter().take_while(fits).count()
    }
}

/// A function that returns the digest of a file with this metadata.
pub(crate) type Digest<'a> = dyn Fn(&Path, &Metadata) -> io::Result<Arc<str>> + 'a;

/// The rules by which the names of a hook are looked up.
pub(crate) struct Lookup<'a> {
    /// The root, without links. No file outside of it is opened.
    pub(crate) root: &'a Path,
    /// The directory at which relative names begin, below the root.
    pub(crate) base: &'a Path,
    pub(crate) working_dir: &'a Path,
    /// The pieces of the hook's command.
    pub(crate) pieces: &'a Pieces,
    /// The paths that are looked at, independent of the hook's names.
    pub(crate) places: Vec<PathBuf>,
    /// The directories whose scripts count, independent of the hook's names.
    pub(crate) directories: Vec<PathBuf>,
    /// True if a new file may count: a directory that was searched then counts as changed if any name in it has changed.
    pub(crate) notices_new: bool,
    /// True if a directory with this name is not looked at.
    pub(crate) is_skipped: &'a dyn Fn(&str) -> bool,
    /// The function for the digest of a file. None: nothing is read, and there is no limit of bytes.
    pub(crate) digest: Option<&'a Digest<'a>>,
}

/// The files of a directory that count.
pub(super) enum Wanted {
    All,
    /// The files whose names below the root match.
    Like(PathGlob),
}

/// One way to look at a directory.
struct Way {
    /// The name that a message shows if the directory is too large. Ends with `/`.
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

/// The files that were found, and the places that were looked at for them.
pub(super) struct Look<'a> {
    pub(super) tree: PathTree<'a>,
    lookup: &'a Lookup<'a>,
    inputs: &'a [String],
    excluded: Vec<PathGlob>,
    /// The number of bytes that may still be read.
    left: u64,
    pub(super) files: Files,
    sizes: Vec<(u64, PathBuf)>,
    notes: Vec<String>,
    unknown: Option<String>,
}

impl<'a> Look<'a> {
    pub(super) fn of(lookup: &'a Lookup<'a>, inputs: &'a [String]) -> Self {
        let mut look = Self {
            tree: PathTree::at(lookup.root),
            lookup,
            inputs: &inputs[..inputs.len().min(MOST_INPUTS)],
            excluded: Vec::new(),
            left: MOST_IN_ALL,
            files: Files::new(),
            sizes: Vec::new(),
            notes: Vec::new(),
            unknown: None,
        };
        if inputs.len() > MOST_INPUTS {
            look.note("only the first 100 `inputs` are covered");
        }
        for excluded in look
            .inputs
            .iter()
            .filter_map(|input| input.strip_prefix('!'))
        {
            look.exclude(excluded);
        }
        for place in &lookup.places {
            look.tree.find(Path::new(""), place);
        }
        look
    }

    pub(super) fn note(&mut self, message: impl Into<String>) {
        let message = message.into();
        if !self.notes.contains(&message) {
            self.notes.push(message);
        }
    }

    /// Adds the files of the directories that count independent of the hook's names, and of its `inputs`.
    pub(super) fn directories_and_inputs(&mut self) {
        for directory in &self.lookup.directories {
            let resolved = self.tree.find(Path::new(""), directory);
            let way = Way::new(name_of(directory) + "/", Wanted::All);
            self.directory(&resolved, &way);
        }
        for input in self.inputs.iter().filter(|input| !input.starts_with('!')) {
            self.input(input);
        }
    }

    pub(super) fn finish(mut self) -> Named {
        if self.tree.is_exhausted() {
            self.note("the entry names too much: only the first 100,000 files are looked at");
        }
        self.sizes.sort_unstable();
        Named {
            files: self.files,
            sizes: self.sizes,
            notes: self.notes,
            unknown: self.unknown,
            looks: self.tree.looks(),
            seen: self.tree.into_stamps(),
        }
    }

    fn exclude(&mut self, input: &str) {
        let name = plain(&with_slashes(input));
        match self.tree.find(self.lookup.base, Path::new(&name)).end {
            End::Missing if !name.contains(['*', '?', '[']) => self.note(format!(
                "`!{name}` of `inputs` matches nothing now: its path begins at the project's root"
            )),
            _ => self.note(format!("`{name}` is excluded by `inputs`")),
        }
        let below = |name: &str| pattern_below(self.lookup.base, name);
        let pattern = below(&name).or_else(|| below(&Pattern::escape(&name)));
        self.excluded.extend(pattern);
    }

    fn is_excluded(&self, path: &Path) -> bool {
        let is_one = |name: &str| self.excluded.iter().any(|glob| glob.matches(name));
        !self.excluded.is_empty() && path.ancestors().any(|path| is_one(&name_of(path)))
    }

    /// Adds the files that `inputs` names: a file or a directory; else, if nothing has this name, the files that match it.
    fn input(&mut self, input: &str) {
        let name = plain(input);
        let label = format!("inputs: {name}/");
        let base = self.lookup.base;
        let mut resolved = self.tree.find(base, Path::new(&name));
        let mut way = Way::new(label.clone(), Wanted::All);
        if matches!(resolved.end, End::Missing)
            && let Some(like) = self.like(base, &with_slashes(input), label)
        {
            (resolved, way) = like;
        }
        if let End::Outside(_) = resolved.end {
            self.note(format!("`{name}` of `inputs` is not within the project"));
        }
        if !self.directory(&resolved, &way) {
            self.note(format!("`{name}` of `inputs` matches nothing now"));
        }
    }

    /// Adds the files that a pattern of a command matches. Returns whether there are any.
    pub(super) fn matching(&mut self, base: &Path, pattern: &str) -> bool {
        match self.like(base, pattern, plain(pattern) + "/") {
            Some((resolved, way)) => self.directory(&resolved, &way),
            None => false,
        }
    }

    /// Returns the directory of the files that match a pattern, and the way to look at it. None if the name is not a
    /// pattern.
    fn like(&self, base: &Path, pattern: &str, name: String) -> Option<(Resolved, Way)> {
        let like = plain(pattern);
        let is_fixed = |part: &&str| !part.contains(['*', '?', '[']);
        let fixed: Vec<&str> = like.split('/').take_while(is_fixed).collect();
        let levels = like.split('/').count() - fixed.len();
        if levels == 0 {
            return None;
        }
        let fixed = fixed.join("/");
        let way = Way {
            reached: name_of(&base.join(&fixed)),
            levels: if like.contains("**") {
                usize::MAX
            } else {
                levels
            },
            ..Way::new(name, Wanted::Like(pattern_below(base, &like)?))
        };
        Some((self.tree.find(base, Path::new(&fixed)), way))
    }

    /// Adds a file, and the links that lead to it. Returns whether it counts.
    pub(super) fn add(&mut self, resolved: &Resolved, reached: &str, wanted: &Wanted) -> bool {
        let takes = self.takes(resolved, reached, wanted);
        if takes {
            self.insert(resolved);
        }
        takes
    }

    fn insert(&mut self, resolved: &Resolved) {
        for (link, text) in &resolved.links {
            // No content of a file has a digest of this form.
            let digest = format!("link:{}", of_text(text.as_os_str().as_encoded_bytes()));
            self.files.insert(name_of(link), Ok(digest.into()));
        }
        match (&resolved.end, resolved.links.last()) {
            (End::At(real, metadata), _) if metadata.is_file() => {
                let name = name_of(real);
                if self.files.contains_key(&name) {
                    return;
                }
                let digest = self.digest(real, metadata);
                if digest.is_ok() {
                    self.sizes.push((metadata.len(), real.clone()));
                }
                self.files.insert(name, digest);
            }
            (End::Outside(real), Some((link, text))) if real.starts_with("/proc") => {
                let text = text.to_string_lossy();
                let path = format!("{} -> {text}", name_of(link));
                self.unknown.get_or_insert(path);
            }
            (End::Outside(_), Some((link, _))) => {
                self.note(format!(
                    "the link `{}` leads out of the project, to what is not covered",
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

    /// Returns whether this counts: a regular file of the wanted kind, or a link. A link to a script that is missing counts
    /// when the script appears. `reached` is its name below the root, with the links that were followed.
    fn takes(&self, resolved: &Resolved, reached: &str, wanted: &Wanted) -> bool {
        let mut links = resolved.links.iter().map(|(link, _)| link);
        if links.any(|link| self.is_excluded(link)) {
            return false;
        }
        match &resolved.end {
            End::Missing => matches!(wanted, Wanted::All),
            End::Outside(_) => true,
            End::At(real, _) if self.is_excluded(real) => false,
            End::At(real, metadata) if metadata.is_file() => match wanted {
                Wanted::All => true,
                Wanted::Like(pattern) => pattern.matches(reached),
            },
            // Files of other kinds are not opened.
            End::At(_, metadata) => metadata.is_dir() && !resolved.links.is_empty(),
        }
    }

    /// Adds the files below a directory, or a note on why it is not covered. If the path is not a directory, adds the file.
    /// Returns whether there is anything.
    fn directory(&mut self, resolved: &Resolved, way: &Way) -> bool {
        let real = match &resolved.end {
            End::At(real, metadata) if metadata.is_dir() => real,
            end => {
                self.add(resolved, &way.reached, &way.wanted);
                return !matches!(end, End::Missing);
            }
        };
        if self.is_excluded(real) || (self.lookup.is_skipped)(&way.name) {
            return true;
        }
        match self.below(resolved, way) {
            Ok(all) => {
                all.iter().for_each(|resolved| self.insert(resolved));
                !all.is_empty()
            }
            Err(why) => {
                self.files.insert(way.name.clone(), Err(why));
                true
            }
        }
    }

    /// Returns the files below a directory, looking at each directory once.
    fn below(&self, start: &Resolved, way: &Way) -> Result<Vec<Resolved>, String> {
        let too_large = || {
            "it has more than 1,000 files or 16 MiB: list smaller directories, or patterns"
                .to_owned()
        };
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
                let mut resolved = self.tree.find(&directory, Path::new(name));
                resolved.links.splice(0..0, start.links.iter().cloned());
                let reached = name_of(&Path::new(&reached).join(name));
                let takes = self.takes(&resolved, &reached, &way.wanted);
                if let End::At(_, metadata) = &resolved.end {
                    if metadata.is_dir() {
                        waiting.push((resolved.end.clone(), reached, within.clone()));
                    } else if takes && metadata.is_file() && self.lookup.digest.is_some() {
                        bytes = bytes.checked_sub(metadata.len()).ok_or_else(too_large)?;
                    }
                }
                if takes {
                    all.push(resolved);
                }
            }
        }
        Ok(all)
    }
}

/// The directories that were looked at, each once.
struct Visits {
    /// True if a directory is looked at under each of its names. Where names must match, a link may give it another one.
    by_name: bool,
    seen: HashSet<PathBuf>,
}

impl Visits {
    /// Returns the directories above those in this one; None if the directory was looked at before.
    fn enter(&mut self, directory: &Path, mut above: Vec<PathBuf>) -> Option<Vec<PathBuf>> {
        if !self.by_name {
            return self.seen.insert(directory.to_owned()).then_some(above);
        }
        if above.iter().any(|known| known == directory) {
            return None;
        }
        above.push(directory.to_owned());
        Some(above)
    }
}

/// Returns the pattern of names below a directory.
fn pattern_below(base: &Path, name: &str) -> Option<PathGlob> {
    if base.as_os_str().is_empty() || name.starts_with('/') {
        return PathGlob::new(name);
    }
    PathGlob::new(&format!("{}/{name}", Pattern::escape(&name_of(base))))
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

/// Returns whether the path is a file that is not a script, by its permissions and content, and whose name has an extension
/// of other files.
pub(crate) fn is_data(path: &Path) -> bool {
    path.extension().is_some() && is_file(path) && !is_script(path)
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|metadata| metadata.is_file())
}

/// Returns whether a file is a script by its name, its permissions or its content.
fn is_script(path: &Path) -> bool {
    has_ending(path)
        || path
            .metadata()
            .is_ok_and(|metadata| files::is_executable(&metadata))
        // A file that cannot be read may be a script.
        || is_file(path) && has_mark(path).unwrap_or(true)
}

pub(super) fn has_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|extension| extension.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&&*ending.to_ascii_lowercase()))
}
