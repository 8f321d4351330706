//! The rules by which hosts run the hooks in an agent's own files.

use super::names::{Pairs, Words};

/// The rules by which a host runs the hooks in an agent's own files.
pub(crate) struct Emulated {
    /// The file that identifies a plugin of this agent.
    pub(crate) manifest: &'static str,
    /// The keys of a handler that the agent reads, in addition to `type` and `command`.
    pub(crate) keys: Words,
    /// The keys of a handler or a group that the agent applies, but this crate does not.
    pub(crate) keys_not_applied: Words,
    /// The characters of a matcher, besides letters and digits, that make it a list of exact names and not a regular
    /// expression.
    pub(crate) list_of_names: &'static str,
    /// True if hooks expect the text that a shell has returned as an object with `stdout`.
    pub(crate) wraps_output: bool,
    /// Names of tools, each with another name that a matcher may use for it.
    pub(crate) also_called: Pairs,
    /// True if an explicit yes counts before a tool, and with an exit code other than 0.
    pub(crate) takes_yes: bool,
    /// True if the name of another event makes an answer invalid.
    pub(crate) checks_event_name: bool,
    /// True if the reason of a hook that blocks after a tool replaces the tool's output.
    pub(crate) block_replaces_output: bool,
    /// The shell of a command whose handler names none.
    pub(crate) shell: UsualShell,
}

/// The rules of an agent whose hooks hosts do not run: nothing reads them.
pub(crate) const NOT_EMULATED: &Emulated = &Emulated {
    manifest: "",
    keys: &[],
    keys_not_applied: &[],
    list_of_names: "",
    wraps_output: false,
    also_called: &[],
    takes_yes: false,
    checks_event_name: true,
    block_replaces_output: true,
    shell: UsualShell::Bash,
};

/// The shell in which an agent runs a command whose handler names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsualShell {
    Bash,
    /// The user's own shell, as a login shell. On Windows, the system's own shell.
    Login,
}
