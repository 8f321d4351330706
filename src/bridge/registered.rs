//! The content of the command that is registered in an agent's settings, and the hooks that follow from it.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::session::{Beginning, Root};
use super::vanished;
use crate::agents::{Agent, CLAUDE, Event, GROK};
use crate::config::{HookConfig, TrustPolicy};
use crate::error::SetupError;
use crate::events::EventType;
use crate::executor::{Above, HookExecutor};
use crate::files;
use crate::hooks::Hooks;
use crate::json;
use crate::profile::AppProfile;
use crate::trace::Trace;

/// The content of the command that is registered in an agent's settings.
#[derive(Debug, Clone)]
pub(crate) struct Registered {
    pub(crate) agent: &'static Agent,
    pub(crate) event: &'static Event,
    pub(crate) profile: AppProfile,
    /// The user's home directory.
    pub(crate) home: PathBuf,
    /// The directory of the user's configuration; none if it is the usual one in the home directory.
    pub(crate) config_home: Option<PathBuf>,
    /// The `PATH` of hooks.
    pub(crate) path: OsString,
    /// The variables that hooks get besides the usual ones.
    pub(crate) inherited: Vec<String>,
    /// The time after which the agent lets everything pass.
    pub(crate) timeout: Duration,
    /// The file in which events are recorded.
    pub(crate) trace_events: Option<PathBuf>,
    /// True in the process that runs hooks in the background, for another one.
    pub(crate) is_background: bool,
}

/// The variable with the address of the user's message bus. Some addresses name a program that is started.
const BUS: &str = "DBUS_SESSION_BUS_ADDRESS";

/// The variables of the agent that hooks inherit: they identify the user and the place, and name no code.
const USUAL: [&str; 26] = [
    "ComSpec",
    BUS,
    "DISPLAY",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SSH_AUTH_SOCK",
    "SystemDrive",
    "SystemRoot",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "XAUTHORITY",
    "windir",
];

impl Registered {
    /// Returns this for the agent that has written the event. Grok Build reads the settings of Claude Code too, and its events have
    /// these members. A block of its row blocks under both, and so does a question.
    pub(super) fn for_writer(&self, input: &str) -> Self {
        let event: Map<String, Value> = json::read(input).unwrap_or_default();
        let is_grok = self.agent == CLAUDE && event.contains_key("hookEventName");
        let mut registered = self.clone();
        if let Some(event) = GROK.event_named(self.event.name).filter(|_| is_grok) {
            registered.agent = GROK;
            registered.event = event;
        }
        registered
    }

    /// Returns the variables that hooks inherit.
    fn variables(&self) -> Vec<(OsString, OsString)> {
        let is_passed = |name: &str| {
            let mut names = self.inherited.iter().map(String::as_str).chain(USUAL);
            names.any(|other| other.eq_ignore_ascii_case(name))
        };
        let is_asked_for = |name: &str| self.inherited.iter().any(|other| other == name);
        let own = std::env::vars_os().filter(|(name, value)| {
            let name = name.to_string_lossy();
            let is_safe = name != BUS || is_asked_for(BUS) || is_usual_bus(value);
            is_passed(&name) && is_safe
        });
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let registered = [(home, self.home.as_os_str()), ("PATH", &self.path)]
            .map(|(name, value)| (name.into(), value.to_owned()));
        own.chain(registered).collect()
    }

    /// # Errors
    /// If the environment has another home directory than the registered command: the model may have written it.
    pub(super) fn check_home(&self) -> Result<(), String> {
        let home = home::home_dir().unwrap_or_default();
        if home == self.home {
            return self.check_config_home();
        }
        Err(format!(
            "the home directory is `{}`, expected `{}`, as the command is registered",
            home.display(),
            self.home.display()
        ))
    }

    /// Checks that the directory exists: otherwise no guard would be found, and nothing would be blocked.
    fn check_config_home(&self) -> Result<(), String> {
        match &self.config_home {
            Some(directory) if !directory.is_absolute() || !directory.is_dir() => Err(format!(
                "the configuration of the registered command, `{}`, is not the absolute path of a directory",
                directory.display()
            )),
            _ => self.check_directories(),
        }
    }

    /// Checks the directories of the user's hooks files: a file below something that is no directory counts as missing, and
    /// without hooks nothing would be blocked.
    fn check_directories(&self) -> Result<(), String> {
        let home = self.configuration();
        let files = self.profile.global_files().iter();
        let directories = files.filter_map(|file| Some(home.join(file).parent()?.to_owned()));
        let mut directories = directories;
        directories.try_for_each(|directory| missing_or_directory(&directory))
    }

    fn configuration(&self) -> PathBuf {
        let home = self.config_home.clone();
        home.unwrap_or_else(|| self.home.join(".config"))
    }

    /// Returns where the files of the user and the project are.
    fn config(&self) -> HookConfig {
        HookConfig::new(self.profile.clone()).with_config_home(self.configuration())
    }

    /// Returns the message for the user if the user's hooks are gone.
    pub(super) fn vanished(&self) -> Option<String> {
        vanished::message(self.agent, &self.home, &self.config())
    }

    /// Returns the root of the session: the one with which it began, or the one that is found now.
    ///
    /// # Errors
    /// If it is not known where the session began, or the root is not there any more.
    pub(super) fn root(&self, begun: Option<&Beginning>) -> Result<Root, String> {
        let root = match begun {
            Some(begun) => begun.root.clone(),
            None => self.found_root()?,
        };
        if is_in_place(&root.directory) {
            return Ok(root);
        }
        Err(format!(
            "the root of the session, `{}`, was moved or is a link now: start the agent again in it",
            root.directory.display()
        ))
    }

    fn found_root(&self) -> Result<Root, String> {
        let start = self.start()?;
        let project = self.config().discover_project(&start);
        let is_project = project.is_some();
        let directory = project.or_else(|| start.canonicalize().ok());
        Ok(Root {
            directory: directory.unwrap_or(start),
            is_project,
        })
    }

    /// Builds the trace of events, if the command names a file for it. The error if it cannot be built.
    pub(super) fn trace(&self, root: &Root) -> Option<Result<Trace, SetupError>> {
        let builder = Trace::recording(self.trace_events.as_ref()?);
        Some(builder.outside_of(&root.directory).build())
    }

    /// Returns the directory in which the session has begun: the agent starts each hook there, or names it. The model may have chosen
    /// the directory that an event names.
    pub(super) fn start(&self) -> Result<PathBuf, String> {
        let variable = self.agent.project_variable().and_then(std::env::var_os);
        let named = variable
            .map(PathBuf::from)
            .filter(|start| start.is_absolute());
        match named {
            Some(start) => Ok(start),
            None => std::env::current_dir()
                .map_err(|error| format!("cannot find the directory of the session: {error}")),
        }
    }

    /// Loads the hooks of the user, and of the session's project.
    pub(super) fn hooks(&self, root: &Root, trace: Option<&Trace>, grace: Duration) -> Hooks {
        let mut executor = HookExecutor::builder()
            .allow_disable(false)
            .kill_grace(grace)
            .working_dir(&root.directory)
            .above(if self.is_background {
                Above::PassedOn
            } else {
                Above::Ancestors
            })
            .variables(self.variables());
        if let Some(trace) = trace {
            executor = executor.trace(trace);
        }
        let config = self.config();
        let home = config.config_home().unwrap_or(&self.home);
        let mut builder = Hooks::builder(self.profile.clone())
            .config_home(home)
            .without_trace()
            .executor(executor);
        if let Some(store) = config.trust_store() {
            builder = builder.trust(TrustPolicy::Approved(store));
        }
        if root.is_project {
            builder = builder.project(&root.directory);
        }
        // The answer at the start of a session lists the hooks files that have mistakes.
        let is_start = self.event.ours() == Some(EventType::SessionStart.as_str());
        builder = if is_start {
            builder.configured(HookConfig::of_agents)
        } else {
            builder.configured(HookConfig::for_one_event)
        };
        builder.load()
    }
}

/// Returns whether an address of a message bus is that of the user's own directory, and nothing else.
#[cfg(unix)]
fn is_usual_bus(address: &OsStr) -> bool {
    let user = rustix::process::getuid().as_raw();
    let path = address
        .to_str()
        .and_then(|text| text.strip_prefix("unix:path="));
    let name = path.and_then(|path| path.strip_prefix(&format!("/run/user/{user}/")));
    // `;` begins another address, `,` another key, and `%` an escape.
    name.is_some_and(|name| {
        !name.contains([';', ',', '%'])
            && !name.split('/').any(|part| matches!(part, "" | "." | ".."))
    })
}

#[cfg(not(unix))]
fn is_usual_bus(_address: &OsStr) -> bool {
    false
}

/// # Errors
/// If something else than a directory is there, or may be.
fn missing_or_directory(directory: &Path) -> Result<(), String> {
    let display = directory.display();
    match directory.metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(format!(
            "`{display}` is not a directory, expected one with your hooks files: move what is there away"
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            match files::dangling_directory(directory) {
                Some(link) => Err(files::to_nothing(link)),
                None => Ok(()),
            }
        }
        Err(error) => Err(format!(
            "`{display}` cannot be read as the directory of your hooks files: {error}; correct it"
        )),
    }
}

/// Returns whether a root is still a path without links. On Windows, links stay in a root.
fn is_in_place(root: &Path) -> bool {
    cfg!(windows) || root.canonicalize().is_ok_and(|real| real == root)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_the_users_own_bus_is_passed() {
        let user = rustix::process::getuid().as_raw();
        for (address, is_passed) in [
            ("unix:path=@/bus", true),
            ("unix:path=@/dbus/socket", true),
            ("unix:path=@/bus;unixexec:path=/tmp/x", false),
            ("unix:path=@/bus,guid=1", false),
            ("unix:path=@/../0/bus", false),
            ("unix:path=@/%2e%2e/0/bus", false),
            ("unix:path=@/", false),
            ("unix:path=@0/bus", false),
            ("unix:path=/tmp/bus", false),
            ("unixexec:path=/tmp/x", false),
            ("unix:abstract=@/bus", false),
            ("", false),
        ] {
            let address = address.replace('@', &format!("/run/user/{user}"));
            assert_eq!(is_usual_bus(address.as_ref()), is_passed, "{address}");
        }
    }
}
