//! The command of an entry, and its settings that are a choice between values, each with its name in hooks.json.
//!
//! Knows neither hooks nor the way in which a choice is carried out.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use super::named::named;
use super::output::HookOutput;

/// The time limit of a hook if neither it nor the executor has one.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
pub(crate) const SHORTEST_TIMEOUT: Duration = Duration::from_millis(1);
pub(crate) const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

named! {
    /// The effect of a hook's failure on the operation that it guards (`on_failure`).
    #[derive(Default)]
    #[non_exhaustive]
    pub enum FailurePolicy {
        /// The failure blocks: a guard that cannot run must not let everything through. The default.
        #[default]
        Block = "block",
        /// The failure is reported, and the hooks after it run.
        Continue = "continue",
        /// For hooks that redact the output of a tool (`tool:post_execute`). They run before the others. If one
        /// fails or does not run, the model receives a note instead of the output; see
        /// [`Outcome::updated_output`](crate::Outcome::updated_output). On any other event, the failure blocks.
        Withhold = "withhold",
    }
}

named! {
    /// The standard input of a hook (`stdin`).
    #[derive(Default)]
    pub(crate) enum Stdin {
        /// The event as one line of JSON. The default.
        #[default]
        Json = "json",
        /// Nothing: the input is empty.
        None = "none",
    }
}

named! {
    /// The place in which a hook looks for the event's values (`reads`). It matters for values that are too large for an
    /// environment variable.
    #[derive(Default)]
    pub(crate) enum Reads {
        /// In the environment: the hook fails without running if a value does not fit there. The default.
        #[default]
        Environment = "environment",
        /// On standard input, where every value fits.
        Stdin = "stdin",
    }
}

named! {
    /// The shell that runs a hook's command (`shell`). Default: `/bin/sh` on Unix, `cmd` on Windows.
    #[non_exhaustive]
    pub enum Shell {
        /// `sh -c`
        Sh = "sh",
        /// `bash -c`
        Bash = "bash",
        /// `dash -c`
        Dash = "dash",
        /// `zsh -c`
        Zsh = "zsh",
        /// `ksh -c`
        Ksh = "ksh",
        /// `fish -c`
        Fish = "fish",
        /// PowerShell 7: `pwsh -NoProfile -NonInteractive -Command`
        Pwsh = "pwsh",
        /// Windows PowerShell, with the options of `pwsh`
        PowerShell = "powershell",
        /// `cmd /D /S /C`, only on Windows
        Cmd = "cmd",
    }
}

/// The command of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum HookCommand {
    /// A text that a shell runs.
    Shell {
        /// The text.
        text: String,
        /// The shell; none for the system's shell.
        shell: Option<Shell>,
    },
    /// A program and its arguments, run without a shell. Never empty.
    Program(Vec<String>),
    /// No process: the hook gives this answer on each event that it matches.
    Answer(Box<HookOutput>),
}

impl HookCommand {
    /// Returns the text for the shell, or the program and its arguments; none for an answer.
    pub(crate) fn texts(&self) -> &[String] {
        match self {
            Self::Shell { text, .. } => std::slice::from_ref(text),
            Self::Program(args) => args,
            Self::Answer(_) => &[],
        }
    }

    /// Returns whether there is nothing to run.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Shell { text, .. } => text.trim().is_empty(),
            Self::Program(args) => args.first().is_none_or(String::is_empty),
            Self::Answer(output) => output.says_nothing(),
        }
    }
}

impl fmt::Display for HookCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell { text, .. } => f.write_str(text),
            Self::Program(args) => {
                let args: Vec<_> = args.iter().map(|arg| quoted(arg)).collect();
                f.write_str(&args.join(" "))
            }
            Self::Answer(output) => {
                let text = serde_json::to_string(output).map_err(|_| fmt::Error)?;
                f.write_str(&text)
            }
        }
    }
}

/// Quotes an argument. Without quotes, only the first word of a secret that contains a space would be masked.
fn quoted(arg: &str) -> Cow<'_, str> {
    if arg.is_empty() || arg.contains(char::is_whitespace) {
        Cow::Owned(format!("{arg:?}"))
    } else {
        Cow::Borrowed(arg)
    }
}
