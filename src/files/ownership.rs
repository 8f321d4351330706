//! Who could have written a file: what is in it runs with the user's rights.
//!
//! Unix alone. On Windows a file belongs to whom the folder belongs, and there are no bits to ask.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const ANYBODY_WRITES: u32 = 0o002;
const GROUP_WRITES: u32 = 0o020;
/// In such a folder, everybody removes and renames their own files alone.
const STICKY: u32 = 0o1000;

/// What is to be said of a file that may be used.
pub(crate) type Warning = Option<String>;

/// That nobody but the user and root could have written the file, or put another in its place; an
/// error says how that is mended. That a group could have is a warning: an umask of 002 is common.
pub(crate) fn check(path: &Path, metadata: &Metadata) -> Result<Warning, String> {
    let me = rustix::process::geteuid().as_raw();
    let owner = metadata.uid();
    if owner != me && owner != 0 {
        return Err(format!(
            "belongs to user {owner}, who could write into it what runs as you; `{}` if it is yours",
            command("chown", &me.to_string(), path)
        ));
    }
    if metadata.mode() & ANYBODY_WRITES != 0 {
        let mend = command("chmod", "o-w", path);
        return Err(format!("may be written by anybody; `{mend}`"));
    }
    // A link may be turned to somewhere else, and what it leads to be replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let link = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for folder in [link.parent(), target.parent()].into_iter().flatten() {
        check_folder(folder)?;
    }
    let warns = metadata.mode() & GROUP_WRITES != 0;
    Ok(warns.then(|| {
        let mend = command("chmod", "g-w", path);
        format!("may be written by its group; `{mend}` if that is not meant")
    }))
}

fn check_folder(folder: &Path) -> Result<(), String> {
    // One that cannot be looked at is not one that anybody writes to.
    let mode = folder.metadata().map_or(0, |metadata| metadata.mode());
    if mode & ANYBODY_WRITES != 0 && mode & STICKY == 0 {
        let mend = command("chmod", "o-w", folder);
        return Err(format!(
            "lies in a folder to which anybody may write; `{mend}`"
        ));
    }
    Ok(())
}

/// For a person to copy: the path as one word, whatever is in it.
fn command(program: &str, argument: &str, path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if path.chars().all(is_plain) {
        format!("{program} {argument} {path}")
    } else {
        format!("{program} {argument} '{}'", path.replace('\'', r"'\''"))
    }
}
