//! Says at the start of a session that the user's hooks are gone: a record in the user's home says that there were some.
//!
//! `install` writes the record, and each start that finds hooks. Hooks of a project are not meant: their approval blocks if they
//! are gone.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::session;
use crate::compat::Agent;
use crate::config::HookConfig;
use crate::files::{self, NewFile};
use crate::named::of_text;

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
    let file = fs::read_to_string(record).ok()?;
    Some(format!(
        "none of your hooks runs: `{file}` had some before, and is gone, empty or switched off now. \
        Restore it; if you want none, run `forge-hooks install {agent}`"
    ))
}

/// Returns the record for the hooks that have their approvals in one place. Its text is the path of the hooks file.
fn record_of(home: &Path, config: &HookConfig) -> PathBuf {
    let approvals = config.trust_store();
    let approvals = approvals
        .as_ref()
        .map(|store| store.path().to_string_lossy());
    let name = format!("hooks-{}", of_text(&*approvals.unwrap_or_default()));
    session::state(home).join(name)
}

fn write(record: &Path, config: &HookConfig) -> io::Result<()> {
    let file = config.global_path().unwrap_or_default();
    let file = file.to_string_lossy();
    if fs::read_to_string(record).is_ok_and(|known| known == file) {
        return Ok(());
    }
    if let Some(directory) = record.parent() {
        files::create_private(directory)?;
    }
    files::replace(record, &file, NewFile::Private)
}
