//! The choices a hook can make, each with its name in hooks.json.
//!
//! Knows neither hooks nor how a choice is carried out.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::named::named;

/// The time a hook may take where neither it nor the executor says anything: 10 seconds.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
pub(crate) const SHORTEST_TIMEOUT: Duration = Duration::from_millis(1);
pub(crate) const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// What the failure of a hook means for the operation that it guards (`on_failure`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum FailurePolicy {
    /// It blocks: a guard that cannot run must not let everything through. The default.
    #[default]
    Block,
    /// It is reported, and the chain goes on.
    Continue,
    /// For hooks that redact what a tool has returned (`tool:post_execute`): they run before the others,
    /// and where one does not run, or fails, the model gets a note in the place of the output; see
    /// [`Outcome::updated_output`](crate::Outcome::updated_output). On any other event it blocks.
    Withhold,
}

named!(FailurePolicy { Block = "block", Continue = "continue", Withhold = "withhold" });

/// What a hook finds on its standard input (`stdin`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Stdin {
    /// The event as one line of JSON. The default.
    #[default]
    Json,
    /// Nothing: the input has ended from the start.
    None,
}

named!(Stdin { Json = "json", None = "none" });

/// Where a hook looks for the event's values (`reads`). It matters for values that are too large
/// for an environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Reads {
    /// In the environment: a guard does not run when a value does not fit there. The default.
    #[default]
    Environment,
    /// On standard input, where every value fits.
    Stdin,
}

named!(Reads { Environment = "environment", Stdin = "stdin" });

/// The shell that runs a hook's command (`shell`); without one, `/bin/sh` on Unix and `cmd` on
/// Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shell {
    /// `sh -c`
    Sh,
    /// `bash -c`
    Bash,
    /// `dash -c`
    Dash,
    /// `zsh -c`
    Zsh,
    /// `ksh -c`
    Ksh,
    /// `fish -c`
    Fish,
    /// PowerShell 7: `pwsh -NoProfile -NonInteractive -Command`
    Pwsh,
    /// Windows PowerShell, with the options of `pwsh`
    PowerShell,
    /// `cmd /D /S /C`, on Windows alone
    Cmd,
}

named!(Shell {
    Sh = "sh",
    Bash = "bash",
    Dash = "dash",
    Zsh = "zsh",
    Ksh = "ksh",
    Fish = "fish",
    Pwsh = "pwsh",
    PowerShell = "powershell",
    Cmd = "cmd",
});

/// What a hook runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HookCommand {
    /// A text for a shell; without one, for the system's.
    Shell {
        /// The text.
        text: String,
        /// The shell.
        shell: Option<Shell>,
    },
    /// A program and its arguments, run without a shell. Never empty.
    Program(Vec<String>),
}

impl fmt::Display for HookCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell { text, .. } => f.write_str(text),
            Self::Program(args) => {
                let shown: Vec<_> = args.iter().map(|arg| quoted(arg)).collect();
                f.write_str(&shown.join(" "))
            }
        }
    }
}

/// An argument as one: else of a secret with a space in it only the first word would be masked.
fn quoted(arg: &str) -> Cow<'_, str> {
    if arg.is_empty() || arg.contains(char::is_whitespace) {
        Cow::Owned(format!("{arg:?}"))
    } else {
        Cow::Borrowed(arg)
    }
}

/// Where a hook was written down. `Display` is as compilers show places: `/path/hooks.json:12`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookSource {
    /// The file. Its hooks share it.
    pub path: Arc<Path>,
    /// The place in its list `hooks`, counted from 0; none where it stands for the whole file.
    pub index: Option<usize>,
    /// The line in which it begins there, counted from 1; none where it stands for the whole file.
    pub line: Option<usize>,
}

impl HookSource {
    pub(crate) fn new(path: Arc<Path>, index: Option<usize>, line: Option<usize>) -> Self {
        Self { path, index, line }
    }
}

impl fmt::Display for HookSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}
