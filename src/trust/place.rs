//! The place of a project: names of files below its root, and programs that belong to the system.
//!
//! Looks at files; knows nothing of commands.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::programs::is_script_ending;
use crate::files;

/// A project, and the directories of the host's PATH that are within it.
#[derive(Debug)]
pub(super) struct Project {
    /// The root directory, without links in its path.
    pub(super) root: PathBuf,
    /// The directories of the host's PATH that are relative or lie within the project.
    pub(super) programs_within: Vec<PathBuf>,
    programs_outside: Vec<PathBuf>,
}

impl Project {
    /// Returns the project at this root. The root must not contain links.
    pub(super) fn at(root: &Path) -> Self {
        let mut project = Self {
            root: root.to_owned(),
            programs_within: Vec::new(),
            programs_outside: Vec::new(),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        for directory in std::env::split_paths(&path) {
            let real = directory.canonicalize();
            let real = real.as_ref().unwrap_or(&directory);
            if directory.is_absolute() && !real.starts_with(root) && !directory.starts_with(root) {
                project.programs_outside.push(directory);
            } else {
                project.programs_within.push(directory);
            }
        }
        project
    }

    /// Whether this is the path of a program on the host's PATH, or in a usual directory of the system.
    pub(super) fn is_of_the_system(&self, program: &Path) -> bool {
        const USUAL: [&str; 6] = [
            "/bin",
            "/sbin",
            "/usr/bin",
            "/usr/sbin",
            "/usr/local/bin",
            "/opt/homebrew/bin",
        ];
        let directory = program.parent().unwrap_or(Path::new(""));
        let is_plain = program
            .components()
            .all(|part| part != Component::ParentDir);
        let mut usual = USUAL.iter().map(Path::new);
        let is_usual = usual.any(|it| it == directory)
            || self.programs_outside.iter().any(|it| it == directory);
        is_plain && program.is_absolute() && is_usual
    }

    pub(super) fn path(&self, working_dir: &Path, name: &str) -> PathBuf {
        self.root.join(working_dir).join(name)
    }

    /// Returns the name of a path below the root, if it is within the project. A path is compared as it is written;
    /// if a link leads out of the project or into it, also by its real path. `..` stays in the name: the
    /// parent of a link's target is not the parent of the link. None for the root itself.
    pub(super) fn below(&self, working_dir: &Path, name: &str) -> Option<String> {
        let path = self.path(working_dir, name);
        let mut plain = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => drop(plain.pop()),
                Component::CurDir => {}
                part => plain.push(part),
            }
        }
        let inside = |path: &Path| path.strip_prefix(&self.root).ok().map(Path::to_owned);
        let as_written = || inside(&path).filter(|_| plain != path);
        let found = inside(&plain).map(|plain| as_written().unwrap_or(plain));
        let found = found.or_else(|| inside(&path.canonicalize().ok()?))?;
        let parts = found.components().map(|part| part.as_os_str().to_str());
        let name = parts.collect::<Option<Vec<_>>>()?.join("/");
        (!name.is_empty()).then_some(name)
    }
}

/// Whether this file could be run as a program: a regular file with an execute bit, a `#!` line, or a file
/// name extension of scripts.
pub(super) fn is_script(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else {
        return false;
    };
    if !metadata.is_file() {
        return false;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if metadata.permissions().mode() & 0o111 != 0 {
            return true;
        }
    }
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(is_script_ending) || first_line(path).is_some_and(|it| it.starts_with(b"#!"))
}

/// Returns the interpreter that a script names in its first line, and its argument (execve(2): the text after
/// the interpreter is one argument). Empty if the line cannot be read.
pub(super) fn shebang(path: &Path) -> Option<Vec<String>> {
    let line = first_line(path)?;
    let line = line.strip_prefix(b"#!")?;
    let Ok(line) = str::from_utf8(line) else {
        return Some(Vec::new());
    };
    let line = line.trim_matches([' ', '\t']);
    let words = match line.split_once([' ', '\t']) {
        Some((interpreter, argument)) => {
            vec![interpreter, argument.trim_start_matches([' ', '\t'])]
        }
        None => vec![line],
    };
    Some(words.into_iter().map(str::to_owned).collect())
}

fn first_line(path: &Path) -> Option<Vec<u8>> {
    // Linux reads no more than this (BINPRM_BUF_SIZE).
    const LONGEST: u64 = 256;
    let mut bytes = Vec::new();
    let file = files::open(path).ok()?;
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    let end = bytes.iter().position(|byte| *byte == b'\n');
    bytes.truncate(end.unwrap_or(bytes.len()));
    Some(bytes)
}
