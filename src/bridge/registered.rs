//! What stands in the command that is registered in an agent's settings, and the hooks that follow from it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::firing::Deadline;
use super::session::Session;
use crate::compat::{Agent, Event};
use crate::events::EventType;
use crate::executor::HookExecutor;
use crate::hooks::Hooks;
use crate::profile::AppProfile;

/// What stands in the command that is registered in an agent's settings.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) agent: &'static Agent,
    pub(crate) event: &'static Event,
    pub(crate) profile: AppProfile,
    /// The user's home directory.
    pub(crate) home: PathBuf,
    /// The directory of the user's configuration.
    pub(crate) config_home: PathBuf,
    /// In which hooks find programs.
    pub(crate) path: OsString,
    /// The variables that hooks get besides the usual ones.
    pub(crate) inherited: Vec<String>,
    /// The timeout of the agent.
    pub(crate) timeout: Option<Duration>,
}

/// The variables of the agent that hooks get: they say who and where the user is, and name no code.
const USUAL: [&str; 25] = [
    "ComSpec",
    "DBUS_SESSION_BUS_ADDRESS",
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
    "XAUTHORITY",
    "windir",
];

impl Registered {
    pub(super) fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(self.agent.timeout(self.event))
    }

    /// Returns the variables that hooks inherit.
    fn variables(&self) -> Vec<(OsString, OsString)> {
        let is_passed = |name: &str| {
            let mut names = self.inherited.iter().map(String::as_str).chain(USUAL);
            names.any(|known| known.eq_ignore_ascii_case(name))
        };
        let own = std::env::vars_os().filter(|(name, _)| is_passed(&name.to_string_lossy()));
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let given = [(home, self.home.as_os_str()), ("PATH", &self.path)];
        let given = given.map(|(name, value)| (name.into(), value.to_owned()));
        own.chain(given).collect()
    }

    /// # Errors
    /// If the environment has another home directory than the registered command: the model may have written it.
    pub(super) fn check_home(&self) -> Result<(), String> {
        let home = home::home_dir().unwrap_or_default();
        if home == self.home {
            return Ok(());
        }
        Err(format!(
            "the home directory is `{}`, expected `{}`, as the command is registered",
            home.display(),
            self.home.display()
        ))
    }

    /// Returns the hooks of the session's project, and those of the project in which it now is, if that is another one.
    pub(super) fn projects(
        &self,
        cwd: &Path,
        session: Option<&Session>,
        deadline: Deadline,
    ) -> Result<Vec<Hooks>, String> {
        let variable = self.agent.project_variable().and_then(std::env::var_os);
        let variable = variable.map(PathBuf::from);
        let start = match (variable.filter(|start| start.is_absolute()), session) {
            (Some(start), _) => start,
            (None, Some(session)) => session.start(cwd)?,
            (None, None) => cwd.to_owned(),
        };
        let first = self.load(&start, deadline.grace);
        if first.config().discover_project(cwd).as_deref() == first.project() {
            return Ok(vec![first]);
        }
        let other = self.load(cwd, deadline.grace);
        let mut own = other.registry().hooks();
        own.retain(|hook| hook.base_dir().is_some());
        other.registry().clear();
        other.registry().load_hooks(own);
        Ok(vec![first, other])
    }

    /// Loads the hooks of the project that contains this directory.
    fn load(&self, start: &Path, grace: Duration) -> Hooks {
        let executor = HookExecutor::builder()
            .allow_disable(false)
            .kill_grace(grace)
            .variables(self.variables());
        let builder = Hooks::builder(self.profile.clone())
            .config_home(&self.config_home)
            .without_trace()
            .discover_project(start)
            .approve_command("forge-hooks trust")
            .executor(executor);
        // Then the user is told what is wrong.
        let is_start = self.event.ours() == Some(EventType::SessionStart.as_str());
        let builder = if is_start {
            builder
        } else {
            builder.for_one_event()
        };
        builder.load()
    }
}
