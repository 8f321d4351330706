//! Says at the start of a session that the user's hooks are gone: a record in the user's home says that there were some.
//!
//! `install` writes the record, and each start that finds hooks. Hooks of a project are not meant: their approval blocks if they
//! are gone.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::session;
use crate::agents::Agent;
use crate::config::HookConfig;
use crate::files::{self, NewFile};
use crate::named::of_text as digest_of;
use crate::printable::printable;

/// Records whether the user has hooks.
///
/// # Errors
/// If the record cannot be written or removed.
pub(crate) fn record_hooks(home: &Path, config: &HookConfig) -> io::Result<()> {
    let record = record_of(home, config);
    if config.has_hooks_of_user() {
        return write(&record, config);
    }
    match files::remove(&record) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the message for the user if there were hooks before, and there are none now.
pub(super) fn message(agent: &Agent, home: &Path, config: &HookConfig) -> Option<String> {
    let record = record_of(home, config);
    if config.has_hooks_of_user() {
        // Without the record, a later start says nothing.
        let _ = write(&record, config);
        return None;
    }
    let file = printable(&text_of(&record)?);
    Some(format!(
        "none of your hooks runs: `{file}` had some before, and is gone, empty or switched off now. Until you restore \
        it, nothing is guarded. To have no hooks, and no more such messages, run `forge-hooks install {agent}`"
    ))
}

/// Returns the record for the hooks that have their approvals in one place. Its text is the path of the hooks file.
fn record_of(home: &Path, config: &HookConfig) -> PathBuf {
    let approvals = config.trust_store();
    let approvals = approvals
        .as_ref()
        .map(|store| store.path().to_string_lossy());
    let name = format!("hooks-{}", digest_of(&*approvals.unwrap_or_default()));
    session::state(home).join(name)
}

/// Returns the text of a record. Only a file is one: what else has its name is never opened.
fn text_of(record: &Path) -> Option<String> {
    const LONGEST: u64 = 4096;
    if !record.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let file = File::open(record).ok()?;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

fn write(record: &Path, config: &HookConfig) -> io::Result<()> {
    let file = config.global_path().unwrap_or_default();
    let file = file.to_string_lossy();
    if text_of(record).is_some_and(|known| known == file) {
        return Ok(());
    }
    if let Some(directory) = record.parent() {
        files::create_private(directory)?;
    }
    match files::remove(record) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => files::replace(record, &file, NewFile::Private),
    }
}
