//! What a hook receives: its command line, environment, working directory and input. Hooks of this crate's
//! own protocol and hooks of other tools are handled separately.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;

use tempfile::NamedTempFile;

use super::command::{command_line, foreign_command_line};
use super::direct::direct_words;
use super::ending::Unable;
use super::firing::Firing;
use crate::hook::{Dialect, Foreign, Hook, Stdin};
use crate::outcome::{EnvFile, FailureKind};
use crate::process::{Args, Environment};
use crate::protocol::{
    LONGEST_EVENT, Naming, VariablesError, event_line, foreign_variables, new_id, payload,
    session_dir,
};

/// The most bytes that are read from the file of a session's variables.
const LARGEST_ENV_FILE: usize = 1024 * 1024;

pub(super) struct Prepared<'a> {
    pub(super) program: OsString,
    pub(super) args: Args,
    pub(super) direct: Vec<&'a str>,
    pub(super) environment: Environment<'a>,
    pub(super) working_dir: PathBuf,
    pub(super) stdin: Option<Cow<'a, [u8]>>,
    /// The id of the event, for a resident hook.
    pub(super) id: Option<String>,
    /// The file for the session's variables.
    pub(super) env_file: Option<NamedTempFile>,
}

/// Prepares a hook of this crate's own protocol.
pub(super) fn prepare<'a>(
    firing: &'a Firing<'_>,
    hook: &'a Hook,
    working_dir: PathBuf,
    naming: &'a Naming,
) -> Result<Prepared<'a>, Unable> {
    let directory = working_dir.to_string_lossy();
    let environment = firing
        .variables
        .for_hook(hook, firing.can_block, &directory, naming)
        .map_err(|error| (kind_of(&error), error.to_string()))?;
    let (program, args) =
        command_line(hook, naming).map_err(|error| (FailureKind::NotStarted, error))?;
    let id = hook.resident().then(new_id);
    let stdin = stdin(firing, hook, id.as_deref())?;
    Ok(Prepared {
        program,
        args,
        direct: direct_words(hook.command(), &working_dir, environment.sets("PWD")),
        environment,
        working_dir,
        stdin,
        id,
        env_file: None,
    })
}

/// Prepares a hook of another tool by that tool's protocol.
pub(super) fn prepare_foreign<'a>(
    foreign: &'a Foreign,
    firing: &'a Firing<'_>,
    hook: &'a Hook,
    project: PathBuf,
    naming: &'a Naming,
) -> Result<Prepared<'a>, Unable> {
    let event = &firing.event;
    let (program, args) = foreign_command_line(foreign, hook, naming, &project)
        .map_err(|error| (FailureKind::NotStarted, error))?;
    let working_dir = match session_dir(event) {
        // A project's hook was approved for the files of the project's root.
        Some(directory) if hook.gate().is_none() && directory.is_dir() => directory.to_owned(),
        _ => project.clone(),
    };
    let mut variables = foreign_variables(foreign, event, &project, &working_dir);
    let env_file = env_file(foreign)?;
    if let Some(file) = &env_file {
        let path = file.path().to_string_lossy().into_owned();
        variables.push(("CLAUDE_ENV_FILE", path));
    }
    let environment = firing
        .variables
        .for_foreign(hook, variables, naming)
        .map_err(|error| (kind_of(&error), error.to_string()))?;
    // A login shell may change what a command means.
    let direct = match foreign.dialect() {
        Dialect::Codex => Vec::new(),
        _ => direct_words(hook.command(), &working_dir, environment.sets("PWD")),
    };
    Ok(Prepared {
        program,
        args,
        direct,
        environment,
        stdin: Some(Cow::Owned(payload(foreign, event, &working_dir))),
        working_dir,
        id: None,
        env_file,
    })
}

fn env_file(foreign: &Foreign) -> Result<Option<NamedTempFile>, Unable> {
    let has_one = foreign.dialect() == Dialect::Claude && foreign.event().name == "SessionStart";
    if !has_one {
        return Ok(None);
    }
    let named = tempfile::Builder::new()
        .prefix("forge-hooks-env-")
        .tempfile();
    named.map(Some).map_err(|error| {
        let words = format!("cannot create the file for `CLAUDE_ENV_FILE`: {error}");
        (FailureKind::NotStarted, words)
    })
}

/// Returns what the hook has written to its file. A file that it has put in its place is ignored: opening
/// it could block forever.
pub(super) fn read_env_file(file: NamedTempFile) -> Option<EnvFile> {
    let mut bytes = Vec::new();
    let mut limited = file.as_file().take(LARGEST_ENV_FILE as u64 + 1);
    limited.read_to_end(&mut bytes).ok()?;
    if bytes.len() > LARGEST_ENV_FILE {
        // Half a line would set a variable to half of its value.
        let last = bytes[..LARGEST_ENV_FILE]
            .iter()
            .rposition(|byte| *byte == b'\n');
        bytes.truncate(last.map_or(0, |at| at + 1));
    }
    (!bytes.is_empty()).then(|| EnvFile::new(file.into_temp_path(), bytes))
}

/// Returns the hook's standard input. With an id it is a single line.
fn stdin<'a>(
    firing: &'a Firing<'_>,
    hook: &Hook,
    id: Option<&str>,
) -> Result<Option<Cow<'a, [u8]>>, Unable> {
    let Some(id) = id else {
        let reads = hook.stdin() == Stdin::Json;
        return Ok(reads.then(|| Cow::Borrowed(firing.json())));
    };
    let line = event_line(firing.json(), id);
    if line.len() > LONGEST_EVENT {
        let error = format!(
            "the event is too large for a resident hook: {} bytes, and at most {LONGEST_EVENT} are allowed",
            line.len()
        );
        return Err((FailureKind::EventTooLarge, error));
    }
    Ok(Some(Cow::Owned(line)))
}

fn kind_of(error: &VariablesError) -> FailureKind {
    match error {
        VariablesError::TooLarge { .. } | VariablesError::TooDeep { .. } => {
            FailureKind::EventTooLarge
        }
        VariablesError::NoSpill { .. } | VariablesError::BadName { .. } => FailureKind::NotStarted,
    }
}
