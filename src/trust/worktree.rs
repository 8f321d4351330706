//! The identity of a git worktree, which is that of the main worktree: agents that work in several worktrees of a
//! repository do not ask again for the same entries and contents.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::files;

/// The most bytes of a file of git's that are read. Each file has one path.
const LONGEST: u64 = 8 * 1024;

/// Returns the main worktree of this worktree, if the two name each other; else the root itself. The `.git` file
/// of a directory alone could claim to belong to any project.
pub(super) fn identity(root: &Path) -> PathBuf {
    // A path that is not Unicode cannot be written into the store.
    let main = main_worktree(root).filter(|main| main.to_str().is_some());
    main.unwrap_or_else(|| root.to_owned())
}

/// Returns the main worktree. See gitrepository-layout(5): `.git` names `MAIN/.git/worktrees/ID`, whose `gitdir` names this
/// `.git`.
fn main_worktree(root: &Path) -> Option<PathBuf> {
    let link = root.join(".git");
    if !link.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let text = line_of(&link)?;
    let entry = root
        .join(text.strip_prefix("gitdir: ")?)
        .canonicalize()
        .ok()?;
    let back = entry
        .join(line_of(&entry.join("gitdir"))?)
        .canonicalize()
        .ok()?;
    let worktrees = entry.parent()?;
    let git = worktrees.parent()?;
    let is_usual = worktrees.ends_with("worktrees") && git.ends_with(".git");
    (is_usual && back == link).then(|| git.parent().map(Path::to_owned))?
}

fn line_of(path: &Path) -> Option<String> {
    let mut text = String::new();
    files::open(path)
        .ok()?
        .take(LONGEST)
        .read_to_string(&mut text)
        .ok()?;
    Some(text.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_a_link_back_makes_a_worktree() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        let write = |name: &str, text: String| {
            let path = base.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let display = |path: &str| base.join(path).display().to_string();
        write("main/.git/worktrees/w/gitdir", display("w/.git\n"));
        write(
            "w/.git",
            format!("gitdir: {}\n", display("main/.git/worktrees/w")),
        );
        assert_eq!(identity(&base.join("w")), base.join("main"));
        assert_eq!(identity(&base.join("main")), base.join("main"));
        // Another directory claims the same entry.
        write(
            "forged/.git",
            format!("gitdir: {}\n", display("main/.git/worktrees/w")),
        );
        // The two files agree, but within a repository of its own.
        write("own/.git", "gitdir: fake/worktrees/w".to_owned());
        write("own/fake/worktrees/w/gitdir", display("own/.git"));
        write("none/.git", "gitdir: ../nowhere".to_owned());
        for name in ["forged", "own", "none"] {
            assert_eq!(identity(&base.join(name)), base.join(name), "{name}");
        }
    }
}
