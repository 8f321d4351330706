//! The names of one path, and the directories that they are relative to.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::links::{self, Kind, Lookups, Unknown, Walk};
use super::rules::{System, begins_at_root, behind, composed, joined, plain, resolved};
use super::{LONGEST_PATH, is_too_long, without_parents};

const NUL: Unknown = Cow::Borrowed("it has the character NUL");
const DEVICE: Unknown = Cow::Borrowed("it is a device, or begins in a directory of the process");
const REMOTE: Unknown = Cow::Borrowed("it is on another computer");
const LONG: Unknown = Cow::Borrowed("a path has more than 4,096 bytes");
const NO_DIRECTORY: Unknown = Cow::Borrowed("its directory is not known");

/// The directories in which paths begin, and to which they are relative.
#[derive(Debug)]
pub(crate) struct Base {
    system: System,
    /// False if each path has only the names that it is written by.
    looks: bool,
    /// The root: as it was given, then without links.
    roots: Vec<String>,
    /// The directory of relative paths, as it was given: as text, and as a path, which need not be UTF-8.
    text: String,
    path: PathBuf,
    /// The directory without links.
    real: PathBuf,
    home: Option<String>,
}

/// A name of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) absolute: String,
    /// The name relative to the root, if it lies below it. The root itself is `.`.
    pub(crate) relative: Option<String>,
}

/// The names of a file: as the path is written, with and without its `..`, at each of its links, and without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) list: Vec<Name>,
    /// Whether letter case makes no difference where the file lies. Two answers if a file only looks as if it made none, as
    /// any program can make such a file.
    pub(crate) cases: Cases,
    /// The kind of the file, or whether there is none.
    pub(crate) kind: Kind,
}

type Cases = &'static [bool];

/// Returns the answers for a file. `tested` is the result of `links::ignores_case`.
fn cases(system: System, tested: Option<bool>) -> Cases {
    match (system.ignores_case(), tested) {
        (true, Some(false)) | (false, None | Some(false)) => &[false],
        (true, _) => &[true],
        (false, Some(true)) => &[true, false],
    }
}

impl Base {
    /// Creates the base. `directory` may be relative to the root.
    ///
    /// # Errors
    /// If the directories are not absolute, or it is not known where they lie.
    pub(crate) fn new(
        root: &Path,
        directory: Option<&Path>,
        system: System,
        lookups: &Lookups,
    ) -> Result<Self, Unknown> {
        let path = directory.map_or_else(|| root.to_owned(), |directory| root.join(directory));
        let mut base = Self::as_written(root, path, system)?;
        let real = |path: &Path| -> Result<PathBuf, Unknown> {
            let path = links::without_parents(path, lookups)?;
            let mut walk = links::followed(Path::new(""), &path, lookups)?;
            Ok(walk.paths.pop().unwrap_or(path))
        };
        if system.is_here() {
            base.looks = true;
            base.roots.push(absolute(&real(root)?, system)?);
            base.roots.dedup();
            base.real = real(&base.path)?;
        }
        Ok(base)
    }

    /// Creates the base for paths that have no other names than those that they are written by: no file is looked up.
    ///
    /// # Errors
    /// If the directories are not absolute.
    pub(crate) fn as_written(root: &Path, path: PathBuf, system: System) -> Result<Self, Unknown> {
        if is_too_long(&path) || is_too_long(root) {
            return Err(LONG);
        }
        let home = home::home_dir().and_then(|home| absolute(&home, system).ok());
        Ok(Self {
            system,
            looks: false,
            roots: vec![absolute(root, system)?],
            text: absolute(&path, system)?,
            real: path.clone(),
            path,
            home,
        })
    }

    /// Returns the names of the file that a text may mean: `\` may be a separator, and a program may replace `~` by the
    /// user's home.
    ///
    /// # Errors
    /// If it is not known which file that is.
    pub(crate) fn names_of(&self, text: &str, lookups: &Lookups) -> Result<Names, Unknown> {
        // Some programs read a path up to the NUL.
        if text.contains('\0') {
            return Err(NUL);
        }
        let mut names = Names {
            list: Vec::new(),
            cases: &[],
            kind: Kind::File,
        };
        let mut readings = vec![Cow::Borrowed(text)];
        if self.system != System::Windows && text.contains('\\') {
            readings.push(text.replace('\\', "/").into());
        }
        for index in 0..readings.len() {
            readings.extend(self.at_home(&readings[index]).map(Cow::Owned));
        }
        for reading in readings {
            self.add(&reading, lookups, &mut names)?;
        }
        Ok(names)
    }

    /// Returns a path or a glob below `~` with the user's home in its place.
    pub(crate) fn at_home(&self, text: &str) -> Option<String> {
        let rest = text.strip_prefix('~')?;
        let is_home = rest.is_empty() || rest.starts_with('/');
        let home = self.home.as_deref().filter(|_| is_home)?;
        Some(format!("{home}{rest}"))
    }

    fn add(&self, text: &str, lookups: &Lookups, names: &mut Names) -> Result<(), Unknown> {
        let plain = plain(text, self.system).ok_or(DEVICE)?;
        let unresolved = joined(&self.text, &plain, self.system);
        let unresolved = composed(&unresolved, self.system).into_owned();
        let resolved = resolved(&unresolved, self.system);
        if resolved.starts_with("//") && self.relative(&resolved, true).is_none() {
            // That computer may take long to answer, and learns the identity of the caller.
            return Err(REMOTE);
        }
        let mut tested = None;
        // No file is opened by a longer path, but a program may resolve `..` before it opens one.
        let is_short = plain.len().min(resolved.len()) <= LONGEST_PATH;
        let mut kind = Kind::Nothing;
        // The text may be no path, where `..` would hide a part of it.
        let mut paths = vec![unresolved, resolved];
        if is_short && self.looks {
            let walk = self.followed(&plain, lookups)?;
            tested = links::ignores_case(&walk.existing);
            kind = walk.kind();
            for path in walk.paths {
                paths.push(absolute(&path, self.system)?);
            }
        }
        names.kind = names.kind.max(kind);
        let cases = cases(self.system, tested);
        names.cases = names.cases.max(cases);
        for absolute in paths {
            for ignores_case in cases {
                names.push(Name {
                    relative: self.relative(&absolute, *ignores_case).map(str::to_owned),
                    absolute: absolute.clone(),
                });
            }
        }
        Ok(())
    }

    /// Follows a plain path that begins here.
    fn followed(&self, plain: &str, lookups: &Lookups) -> Result<Walk, Unknown> {
        let mut path = self.path.join(plain);
        if plain.split('/').any(|name| name == "..") {
            path = links::without_parents(&path, lookups)?;
        }
        match path.strip_prefix(&self.path) {
            Ok(rest) => links::followed(&self.real, rest, lookups),
            Err(_) => links::followed(Path::new(""), &path, lookups),
        }
    }

    fn relative<'p>(&self, path: &'p str, ignores_case: bool) -> Option<&'p str> {
        let mut roots = self.roots.iter();
        let rest = roots.find_map(|root| behind(path, root, ignores_case))?;
        Some(if rest.is_empty() { "." } else { rest })
    }

    /// Returns a path relative to each directory above it, but the root, in which a project begins: a worktree, a submodule, or the
    /// project beside this one. The home directory begins none.
    ///
    /// # Errors
    /// If too much was looked up for the event.
    pub(crate) fn in_projects(
        &self,
        absolute: &str,
        lookups: &Lookups,
    ) -> Result<Vec<String>, Unknown> {
        let mut relative = Vec::new();
        if !self.looks {
            return Ok(relative);
        }
        for (slash, _) in absolute.match_indices('/').rev() {
            let directory = &absolute[..slash];
            if directory.is_empty() || self.home.as_deref() == Some(directory) {
                break;
            }
            if self.roots.iter().any(|root| root == directory) {
                continue;
            }
            if lookups.is_there(&Path::new(directory).join(".git"))? {
                relative.push(absolute[slash + 1..].to_owned());
            }
        }
        Ok(relative)
    }

    pub(crate) fn system(&self) -> System {
        self.system
    }

    /// Returns the root: as it was given, and without links.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(String::as_str)
    }

    /// Returns a path below each name of the root.
    pub(crate) fn below_roots(&self, path: &str) -> impl Iterator<Item = String> {
        let roots = self.roots.iter();
        roots.map(move |root| joined(root, path, self.system))
    }

    /// Returns whether a file lies in one of the system's directories for temporary files, and not in a home that lies there
    /// too. `TMPDIR` does not count: it may name any directory.
    pub(crate) fn is_temporary(&self, name: &Name) -> bool {
        let is_within = |path: &str, directory: &str| {
            let ignores_case = self.system.ignores_case();
            behind(path, directory, ignores_case).is_some_and(|rest| !rest.is_empty())
        };
        let home = self.home.as_deref();
        let is_in = |directory: &str| {
            let home = home.filter(|home| is_within(home, directory));
            let is_of_home =
                home.is_some_and(|home| name.absolute == home || is_within(&name.absolute, home));
            is_within(&name.absolute, directory) && !is_of_home
        };
        let of_user = home.filter(|_| self.system == System::Windows);
        let of_user = of_user.map(|home| format!("{home}/AppData/Local/Temp"));
        let directories = temporary(self.system);
        directories.iter().any(|directory| is_in(directory))
            || of_user.is_some_and(|directory| is_in(&directory))
    }
}

/// The directories for temporary files of each system. macOS has links to the real ones.
fn temporary(system: System) -> &'static [&'static str] {
    match system {
        System::Unix => &["/tmp", "/var/tmp"],
        System::Mac => &[
            "/tmp",
            "/var/tmp",
            "/var/folders",
            "/private/tmp",
            "/private/var/tmp",
            "/private/var/folders",
        ],
        System::Windows => &["C:/Windows/Temp"],
    }
}

impl Names {
    fn push(&mut self, name: Name) {
        if !self.list.contains(&name) {
            self.list.push(name);
        }
    }

    /// Returns the names of a file by its absolute path alone, without a root; if it has `..` behind a link, those of both
    /// files that programs may mean.
    ///
    /// # Errors
    /// If it is not known which file that is.
    pub(crate) fn of_file(path: &Path) -> Result<Self, Unknown> {
        if is_too_long(path) {
            return Err(LONG);
        }
        let mut names = Self::as_written(path)?;
        let system = System::NATIVE;
        let nothing = Path::new("");
        let without_parents = without_parents(path);
        let other = (without_parents != path).then_some(&*without_parents);
        for path in [path].into_iter().chain(other) {
            let walk = links::followed(nothing, path, &Lookups::default())?;
            let tested = links::ignores_case(&walk.existing);
            names.cases = names.cases.max(cases(system, tested));
            for path in walk.paths {
                names.push(Name {
                    absolute: absolute(&path, system)?,
                    relative: None,
                });
            }
        }
        Ok(names)
    }

    /// Returns the one name that an absolute path is written by, without looking at files.
    ///
    /// # Errors
    /// If it is a device.
    pub(crate) fn as_written(path: &Path) -> Result<Self, Unknown> {
        let name = Name {
            absolute: absolute(path, System::NATIVE)?,
            relative: None,
        };
        Ok(Self {
            list: vec![name],
            cases: cases(System::NATIVE, None),
            kind: Kind::Nothing,
        })
    }

    /// Returns whether the two paths lead to the same file, or this one to a directory that contains the other file.
    pub(crate) fn leads_to(&self, other: &Self) -> bool {
        let ignores_case = self.cases.contains(&true) || other.cases.contains(&true);
        self.list.iter().any(|directory| {
            let mut paths = other.list.iter();
            paths.any(|path| behind(&path.absolute, &directory.absolute, ignores_case).is_some())
        })
    }

    /// Returns whether the path has these parts one after the other, in any case, in one of its names.
    #[cfg(feature = "cli")]
    pub(crate) fn has_parts(&self, parts: &Path) -> bool {
        self.windows_of(parts, |mut windows, is_one| windows.any(is_one))
    }

    /// Returns whether a name ends with these parts, in any case of letters.
    #[cfg(feature = "cli")]
    pub(crate) fn ends_with_parts(&self, parts: &Path) -> bool {
        self.windows_of(parts, |windows, is_one| windows.last().is_some_and(is_one))
    }

    /// Tests the parts of a name that are as many as these, one after the other.
    #[cfg(feature = "cli")]
    fn windows_of(
        &self,
        parts: &Path,
        test: impl Fn(std::slice::Windows<'_, &str>, &dyn Fn(&[&str]) -> bool) -> bool,
    ) -> bool {
        let parts: Vec<_> = parts
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect();
        let is_one = |window: &[&str]| {
            let mut pairs = window.iter().zip(&parts);
            pairs.all(|(name, part)| super::rules::is_same(name, part, true))
        };
        self.list.iter().any(|name| {
            let all: Vec<_> = name.absolute.split('/').collect();
            test(all.windows(parts.len().max(1)), &is_one)
        })
    }
}

/// Returns the plain text of an absolute path.
fn absolute(path: &Path, system: System) -> Result<String, Unknown> {
    let plain = plain(&path.to_string_lossy(), system).ok_or(DEVICE)?;
    if begins_at_root(&plain, system) {
        Ok(composed(&resolved(&plain, system), system).into_owned())
    } else {
        Err(NO_DIRECTORY)
    }
}
