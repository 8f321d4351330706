//! The state of an agent's session, kept from one event to the next: its root, its settings, how often hooks have blocked its end,
//! and whether its turn is to end.
//!
//! Each event is a process of its own, so this is a directory for each session, in the user's home.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::agents::Agent;
use crate::command::is_shell;
use crate::files::{self, NewFile, PathRule, append};
use crate::json;
use crate::named::of_text;
use crate::process::{Lived, lineage, name_of};

/// The directory of what this program keeps, below the user's home.
const STATE: &str = ".local/state/forge-hooks";

const SETTINGS: &str = "settings";

/// The file with the root of a session, and its hooks files.
const BEGINNING: &str = "root";

/// Stands before the root of a session that began in no project.
const NO_PROJECT: &str = "no project: ";

/// The directory of how sessions began, by the processes that began them.
const BY_PROCESS: &str = "processes";

/// The beginning of the names of files with a count, whose length it is.
const STOPS: &str = "stops-";

/// The most times that hooks may block the end of a session's turn without the call of a tool in between.
const MOST_STOPS: u64 = 8;

/// The time for which the state of a session is kept after it began, or after its end was last blocked.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The most sessions whose age is checked when a session begins.
const MOST_OLD: usize = 1_000;

/// Returns the directory of what this program keeps.
pub(super) fn state(home: &Path) -> PathBuf {
    home.join(STATE)
}

/// Notes that an agent has started a session in which it runs this program.
pub(super) fn note_start(home: &Path, agent: &Agent) {
    let directory = state(home);
    if files::create_private(&directory).is_ok() {
        let _ = files::replace(&started_by(home, agent), "", NewFile::Private);
    }
}

/// Returns whether an agent has started such a session since this file was written.
pub(crate) fn has_started(home: &Path, agent: &Agent, since: &Path) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
    modified(&started_by(home, agent))
        .zip(modified(since))
        .is_some_and(|(started, registered)| started >= registered)
}

fn started_by(home: &Path, agent: &Agent) -> PathBuf {
    state(home).join(format!("started-{agent}"))
}

fn turn_of(agent: &str) -> String {
    format!("turn-{}", of_text(agent))
}

/// The directory in which a session has begun, or the root of its project.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Root {
    pub(super) directory: PathBuf,
    pub(super) is_project: bool,
}

/// How a session began.
#[derive(Debug, PartialEq)]
pub(super) struct Beginning {
    pub(super) root: Root,
    /// The files that had hooks.
    pub(super) files: Vec<String>,
}

impl Beginning {
    /// Reads the root from the first line, and the files from the others.
    fn read(text: &str) -> Self {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let directory = first.strip_prefix(NO_PROJECT);
        Self {
            root: Root {
                directory: directory.unwrap_or(first).into(),
                is_project: directory.is_none(),
            },
            files: lines.map(str::to_owned).collect(),
        }
    }

    fn text(&self) -> Result<String, String> {
        let root = &self.root.directory;
        let directory = root.to_str().filter(|text| !text.contains('\n'));
        let directory = directory
            .ok_or_else(|| format!("the root {root:?} is not UTF-8, or has a line break"))?;
        let mark = if self.root.is_project { "" } else { NO_PROJECT };
        let lines = self.files.iter().filter(|file| !file.contains('\n'));
        let lines = lines.map(|file| format!("\n{file}"));
        Ok(format!("{mark}{directory}{}", lines.collect::<String>()))
    }
}

/// # Errors
/// If something is there that cannot be read.
fn read(path: &Path) -> Result<Option<Beginning>, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(Beginning::read(&text))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(not_kept(path, &error)),
    }
}

/// Returns the processes above this one, the nearest first. None where the system does not tell.
fn above() -> impl Iterator<Item = Lived> {
    lineage().unwrap_or_default().into_iter().skip(1)
}

/// Returns the name of the file of how the session began that a process has begun.
fn file_of(Lived { id, start }: Lived) -> String {
    format!("{id}-{start}")
}

/// Returns the process of the agent: the nearest one above this one that is no shell.
fn agent_above() -> Option<Lived> {
    above().find(|process| !name_of(*process).is_some_and(|name| is_shell(&name)))
}

fn not_kept(path: &Path, error: &io::Error) -> String {
    format!(
        "cannot keep how the session began in `{}`: {error}",
        path.display()
    )
}

/// The files of one session.
pub(super) struct Session {
    directory: PathBuf,
}

impl Session {
    /// Returns where all sessions are.
    pub(super) fn all(home: &Path) -> PathBuf {
        state(home).join("sessions")
    }

    pub(super) fn new(home: &Path, agent: &Agent, id: &str) -> Self {
        Self {
            directory: Self::all(home).join(of_text(format!("{agent} {id}"))),
        }
    }

    /// Returns how the session began; none if this event is its first.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn beginning(&self) -> Result<Option<Beginning>, String> {
        read(&self.directory.join(BEGINNING))
    }

    /// Keeps how the session began. Later changes of the directories above the root do not change it.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub(super) fn begin(&self, beginning: &Beginning) -> Result<(), String> {
        let text = beginning.text()?;
        let kept = self.keep(BEGINNING, &text);
        kept.map_err(|error| not_kept(&self.directory.join(BEGINNING), &error))
    }

    /// Notes that the agent's process has begun the session: a subagent may have a session of its own. What is above the agent,
    /// such as the user's shell, starts other sessions.
    pub(super) fn note_process(home: &Path, beginning: &Beginning) {
        let directory = state(home).join(BY_PROCESS);
        let Ok(text) = beginning.text() else { return };
        if files::create_private(&directory).is_err() {
            return;
        }
        let _ = files::remove_old(&directory, LONGEST, MOST_OLD);
        if let Some(process) = agent_above() {
            let _ = files::replace(&directory.join(file_of(process)), &text, NewFile::Private);
        }
    }

    /// Returns how the session began that the nearest process above this one has begun; none if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn beginning_above(home: &Path) -> Result<Option<Beginning>, String> {
        let directory = state(home).join(BY_PROCESS);
        if !directory.is_dir() {
            return Ok(None);
        }
        for process in above() {
            if let Some(beginning) = read(&directory.join(file_of(process)))? {
                return Ok(Some(beginning));
            }
        }
        Ok(None)
    }

    /// Keeps the settings as they are when the session begins, with this event or with an earlier one.
    pub(super) fn keep_settings(&self, begins: bool, now: impl FnOnce() -> Value) {
        if begins || !self.directory.join(SETTINGS).exists() {
            let _ = self.keep(SETTINGS, &now().to_string());
        }
    }

    /// Returns the settings as they were when the session began; null if that is not known.
    pub(super) fn settings(&self) -> Value {
        let kept = fs::read_to_string(self.directory.join(SETTINGS)).ok();
        kept.and_then(|text| json::read(&text).ok())
            .unwrap_or_default()
    }

    /// Notes the call of a tool: the agent continues to work, so all counts are reset.
    pub(super) fn note_tool(&self) {
        let files = fs::read_dir(&self.directory)
            .into_iter()
            .flatten()
            .flatten();
        for file in files {
            if file.file_name().to_string_lossy().starts_with(STOPS) {
                let _ = files::remove(&file.path());
            }
        }
    }

    /// Counts an end of the turn of an agent at an event. Returns whether the end may be blocked. After too many blocked ends, the
    /// count is reset. An end that cannot be counted may not be blocked, since it could be blocked for ever.
    pub(super) fn may_block_stop(&self, event: &str, agent: &str, is_blocked: bool) -> bool {
        let path = self
            .directory
            .join(format!("{STOPS}{}", of_text(format!("{event} {agent}"))));
        let count = || -> io::Result<u64> {
            self.create()?;
            let mut file = append(&path, PathRule::RefuseLinks)?;
            file.write_all(b".")?;
            Ok(file.metadata()?.len())
        };
        let may_block = is_blocked && count().is_ok_and(|count| count <= MOST_STOPS);
        if !may_block {
            let _ = files::remove(&path);
        }
        may_block
    }

    /// Ends the turn of an agent, or of a subagent, at the next event at which the agent lets it end.
    pub(super) fn end_turn(&self, agent: &str, reason: &str) {
        let _ = self.keep(&turn_of(agent), reason);
    }

    /// Returns why the turn of an agent is to end, once.
    pub(super) fn ended_turn(&self, agent: &str) -> Option<String> {
        let path = self.directory.join(turn_of(agent));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::CLAUDE;

    /// An agent may start another one.
    #[test]
    fn the_nearest_agent_above_decides_the_root() {
        let home = tempfile::tempdir().unwrap();
        let began_in = |directory: &str| Beginning {
            root: Root {
                directory: directory.into(),
                is_project: true,
            },
            files: Vec::new(),
        };
        Session::note_process(home.path(), &began_in("/far"));
        if let Some(nearest) = above().next() {
            let file = state(home.path()).join(BY_PROCESS).join(file_of(nearest));
            fs::write(file, "/near").unwrap();
            let nearest = Session::beginning_above(home.path()).unwrap();
            assert_eq!(nearest, Some(began_in("/near")));
        }
    }

    #[test]
    fn the_page_says_how_often_an_end_is_blocked() {
        let page = include_str!("../../docs/agents.md");
        assert!(page.contains(
            "After eight blocked ends of a turn without a tool in between, the ninth ends it"
        ));
        let home = tempfile::tempdir().unwrap();
        let session = Session::new(home.path(), CLAUDE, "s1");
        for _ in 0..2 {
            let blocked = (0..9)
                .filter(|_| session.may_block_stop("Stop", "", true))
                .count();
            assert_eq!(blocked, 8, "and the count begins anew");
        }
    }
}
