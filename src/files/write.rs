//! Opens the files that are written in place: the one check of where a path may lead. (`atomic` replaces files, and
//! `lock` creates those that show that a file is in use.)
//!
//! A program may be started in the clone of a repository, whose author chooses which links it contains.

#[cfg(feature = "cli")]
use std::fs;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io;
use std::path::Path;
#[cfg(feature = "cli")]
use std::time::{Duration, SystemTime};

/// The files that may be at the end of a path. Links above it are always followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathRule {
    /// A link is followed.
    FollowLinks,
    /// A link is an error.
    RefuseLinks,
    /// The content is private: a link is an error, and so is a file that is not the user's own, or that another user can read.
    Private,
}

impl PathRule {
    /// Returns the rule for a path that is the value of an environment variable.
    ///
    /// # Errors
    /// If the path is relative: its target depends on the directory in which the program was started.
    pub(crate) fn of_variable(path: &Path) -> io::Result<Self> {
        if !path.is_absolute() {
            let absolute = std::path::absolute(path).unwrap_or_default();
            return Err(io::Error::other(format!(
                "it is a relative path, expected an absolute one, as in `{}`",
                absolute.display()
            )));
        }
        // `/dev/stderr` is a link. Only the administrator can create links here; any user can in `/dev/shm`.
        let devices = ["/dev", "/dev/fd"];
        let is_device = devices
            .iter()
            .any(|directory| path.parent() == Some(Path::new(directory)));
        Ok(if is_device && cfg!(unix) {
            Self::FollowLinks
        } else {
            Self::RefuseLinks
        })
    }
}

/// Opens a file for reading, and for writing at its end. Creates it, readable and writable by its owner only, if it does
/// not exist. Never blocks, as opening a pipe would, and never acquires a controlling terminal.
///
/// # Errors
/// If the path is anything but a file or a device such as `/dev/null`, or is a link that is not followed.
pub(crate) fn append(path: &Path, rule: PathRule) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    open(path, rule, options)
}

/// Removes the content of a file that exists. The errors are those of [`append`].
pub(crate) fn empty(path: &Path, rule: PathRule) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).truncate(true);
    open(path, rule, options).map(drop)
}

/// Creates a file. Never follows a link: anything that exists is an error.
#[cfg(feature = "cli")]
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    File::create_new(path)
}

/// Removes an empty directory.
#[cfg(feature = "cli")]
pub(crate) fn remove_directory(path: &Path) -> io::Result<()> {
    fs::remove_dir(path)
}

/// Removes a directory with all that is in it. Of a link, only the link itself.
#[cfg(feature = "cli")]
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    fs::remove_dir_all(path)
}

/// Removes a file.
#[cfg(feature = "cli")]
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

/// Creates a directory and those above it, readable and writable by the user only.
#[cfg(feature = "cli")]
pub(crate) fn create_private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Removes the directories in `directory` that have not changed for longer than `age`. Looks at `most` entries at the most.
#[cfg(feature = "cli")]
pub(crate) fn remove_old(directory: &Path, age: Duration, most: usize) -> io::Result<()> {
    let now = SystemTime::now();
    for entry in fs::read_dir(directory)?.flatten().take(most) {
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        let unchanged = changed
            .ok()
            .and_then(|changed| now.duration_since(changed).ok());
        if unchanged.is_some_and(|unchanged| unchanged > age) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Copies a file to one that does not exist. The copy has the same mode from the beginning, since the file may contain secrets.
pub(crate) fn copy_to_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = super::open(from)?;
    let permissions = source.metadata()?.permissions();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        options.mode(permissions.mode() & 0o777);
    }
    let mut copy = options.open(to)?;
    io::copy(&mut source, &mut copy)?;
    // The umask may have removed some permissions.
    copy.set_permissions(permissions)?;
    // Some file systems do not support this.
    let _ = copy.sync_all();
    Ok(())
}

fn open(path: &Path, rule: PathRule, mut options: OpenOptions) -> io::Result<File> {
    // The type is checked before the path is opened, because opening some types fails with another error.
    let metadata = match rule {
        PathRule::FollowLinks => path.metadata(),
        PathRule::RefuseLinks | PathRule::Private => path.symlink_metadata(),
    };
    if let Some(other) = metadata.ok().and_then(|there| special(there.file_type())) {
        return Err(io::Error::other(other));
    }
    add_flags(&mut options, rule);
    let file = options.open(path)?;
    // A link, which Windows opens, may have replaced the file meanwhile.
    let metadata = file.metadata()?;
    if metadata.is_symlink() {
        return Err(io::Error::other(LINK));
    }
    if rule == PathRule::Private {
        check_private(&metadata).map_err(io::Error::other)?;
    }
    Ok(file)
}

/// Checks that an open file is private.
///
/// # Errors
/// If the file is not a regular file, is not the user's own, has another name, or can be read by other users.
fn check_private(metadata: &Metadata) -> Result<(), String> {
    if !metadata.is_file() {
        return Err("it is a device, expected a file".to_owned());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let mode = metadata.mode() & 0o777;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(format!(
                "it belongs to user {}, expected a file of yours",
                metadata.uid()
            ));
        }
        if metadata.nlink() > 1 {
            return Err("it has another name, a hard link; name a new file".to_owned());
        }
        if mode & 0o077 != 0 {
            return Err(format!(
                "its mode is {mode:04o}, expected 0600, since it will contain what you do; run `chmod 600` on it, or name a new file"
            ));
        }
    }
    Ok(())
}

const LINK: &str = "it is a link, expected a file; name the file itself";

#[cfg(unix)]
fn add_flags(options: &mut OpenOptions, rule: PathRule) {
    use std::os::unix::fs::OpenOptionsExt;
    let flags_of_links = match rule {
        PathRule::FollowLinks => 0,
        PathRule::RefuseLinks | PathRule::Private => libc::O_NOFOLLOW,
    };
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | flags_of_links);
}

#[cfg(windows)]
fn add_flags(options: &mut OpenOptions, rule: PathRule) {
    use std::os::windows::fs::OpenOptionsExt;
    use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_OPEN_REPARSE_POINT;
    if rule != PathRule::FollowLinks {
        options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    }
}

/// Returns the reason why a file of this type is not written; none if it is.
fn special(kind: FileType) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return Some("it is a pipe, expected a file");
        }
        if kind.is_socket() {
            return Some("it is a socket, expected a file");
        }
        if kind.is_block_device() {
            return Some("it is a disk, expected a file");
        }
    }
    match (kind.is_dir(), kind.is_symlink()) {
        (true, _) => Some("it is a directory, expected a file"),
        (_, true) => Some(LINK),
        _ => None,
    }
}
