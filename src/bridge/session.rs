//! What is kept of an agent's session from one event to the next: its root, how often hooks have blocked its end, and whether its
//! turn is to end.
//!
//! Each event is a process of its own, so this is a directory for each session, in the user's home.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::compat::Agent;
use crate::files::{self, Links, NewFile, append};
use crate::json;
use crate::named::of_text;

/// Below the user's home.
const SESSIONS: &str = ".local/state/forge-hooks/sessions";

/// How often hooks may block the end of a session's turn without the call of a tool in between.
const MOST_STOPS: u64 = 8;

/// After this time without an event, nothing is kept of a session.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The most sessions of which the age is looked at when one begins.
const MOST_OLD: usize = 1_000;

/// The files of one session.
pub(super) struct Session {
    directory: PathBuf,
}

impl Session {
    /// Returns where all sessions are.
    pub(super) fn all(home: &Path) -> PathBuf {
        home.join(SESSIONS)
    }

    pub(super) fn new(home: &Path, agent: &Agent, id: &str) -> Self {
        Self {
            directory: Self::all(home).join(of_text(format!("{agent} {id}"))),
        }
    }

    /// Returns the directory in which the session began: this one, if it begins now.
    ///
    /// # Errors
    /// If it can be neither read nor kept.
    pub(super) fn start(&self, now: &Path) -> Result<PathBuf, String> {
        let path = self.directory.join("start");
        let failed = |error: io::Error| {
            format!(
                "cannot keep where the session began in `{}`: {error}",
                path.display()
            )
        };
        match fs::read_to_string(&path).map(PathBuf::from) {
            Ok(start) if start.is_absolute() => return Ok(start),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let text = now.to_str();
        let text = text.ok_or_else(|| format!("the directory {now:?} is not UTF-8"))?;
        self.keep("start", text).map_err(failed)?;
        Ok(now.to_owned())
    }

    /// Returns the settings as they were at the beginning of the session: these, if it begins now.
    pub(super) fn settings(&self, now: &Value) -> Value {
        let path = self.directory.join("settings");
        let kept = fs::read_to_string(&path).ok();
        let kept = kept.and_then(|text| json::read(&text).ok());
        kept.unwrap_or_else(|| {
            let _ = self.keep("settings", &now.to_string());
            now.clone()
        })
    }

    /// A tool is called: the agent works on.
    pub(super) fn note_tool(&self) {
        let _ = files::remove(&self.directory.join("stops"));
    }

    /// Counts a blocked end of the turn. Returns whether it may be blocked; after too many, the count begins anew. What cannot
    /// be counted may not be blocked, since it could be blocked for ever.
    pub(super) fn may_block_stop(&self) -> bool {
        let path = self.directory.join("stops");
        let count = || -> io::Result<u64> {
            self.create()?;
            let mut file = append(&path, Links::Refused)?;
            file.write_all(b".")?;
            Ok(file.metadata()?.len())
        };
        match count() {
            Ok(count) if count <= MOST_STOPS => true,
            _ => {
                self.note_tool();
                false
            }
        }
    }

    /// Ends the turn at the next event at which the agent lets it end.
    pub(super) fn end_turn(&self, reason: &str) {
        let _ = self.keep("turn", reason);
    }

    /// Returns why the turn is to end, once.
    pub(super) fn ended_turn(&self) -> Option<String> {
        let path = self.directory.join("turn");
        let reason = fs::read_to_string(&path).ok()?;
        let _ = files::remove(&path);
        Some(reason)
    }

    fn keep(&self, name: &str, text: &str) -> io::Result<()> {
        self.create()?;
        files::replace(&self.directory.join(name), text, NewFile::Private)
    }

    /// Creates the directory, and removes those of sessions that are long over.
    fn create(&self) -> io::Result<()> {
        if self.directory.is_dir() {
            return Ok(());
        }
        files::create_private(&self.directory)?;
        if let Some(all) = self.directory.parent() {
            let _ = files::remove_old(all, LONGEST, MOST_OLD);
        }
        Ok(())
    }
}
