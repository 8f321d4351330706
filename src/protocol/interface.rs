//! The interface of every protocol: it selects the program to start for a hook, and reads the end of the hook.
//!
//! Knows no format. `native` is the protocol of hooks.json; those of other agents are in `compat`.

use std::fmt;
use std::panic::RefUnwindSafe;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::call::Call;
use super::exchange::{Exit, Launch, ProtocolMismatch};
use crate::entry::{Failure, FailureKind, FailurePolicy, Reading};
use crate::events::HookEvent;

/// The format of a hook's input, and the rules by which its end is read. A hook without a protocol of its own has the one of
/// hooks.json (docs/protocol.md). A hook with its own is never [resident](crate::Hook::with_resident), and cannot be read
/// from hooks.json.
pub(crate) trait Protocol: fmt::Debug + RefUnwindSafe + Send + Sync {
    /// Returns the name, which is also in [`Hook::to_json`](crate::Hook::to_json), such as `claude`.
    fn name(&self) -> &str;

    /// Returns all settings that determine the protocol's behavior. The value is part of a hook's equality, digest,
    /// fingerprint and JSON.
    fn definition(&self) -> Value;

    /// Returns the label that people see, for a hook without a name and a description. Default: none; the label is then the
    /// command.
    fn label(&self) -> Option<&str> {
        None
    }

    /// Returns the hook as a file of its own format defines it, as JSON on one line. A person who approves it sees this, and
    /// the differences to its [`definition`](Protocol::definition) and its entry. Default: none; the person sees the entry.
    fn written(&self) -> Option<String> {
        None
    }

    /// Returns the reason why the hook cannot be used on any event, such as a matcher that is not a valid expression. The
    /// hook then fails with this message. Called when a hook that may run is loaded, and before each run; the first call may
    /// take milliseconds. Default: none.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// Returns the variables in the hook's command that name directories, with the directories, for a project with this
    /// root: an approval of the hook covers the scripts that its command names in them. Default: none.
    fn directories(&self, project: &Path) -> Vec<(String, PathBuf)> {
        let _ = project;
        Vec::new()
    }

    /// Returns the reason why the hook does not match this event, beyond its pattern and its conditions. None if it matches,
    /// or if that is unknown. Called for each event that the pattern matches, on the thread that fires it: it should not
    /// allocate. [`fault`](Protocol::fault) was called before, except for a hook that never runs. Default: None.
    fn mismatch<'a>(&'a self, event: &'a HookEvent) -> Option<ProtocolMismatch<'a>> {
        let _ = event;
        None
    }

    /// Returns the program to start.
    ///
    /// # Errors
    /// If the hook cannot be started for this event. The hook then fails with this kind and message.
    fn prepare<'a>(&'a self, call: &Call<'a>) -> Result<Launch<'a>, Failure>;

    /// Returns the meaning of the hook's end. Called if the hook's process has ended by itself.
    fn read(&self, call: &Call<'_>, exit: &Exit<'_>) -> Reading;

    /// Returns whether the operation may continue despite a failure, under this policy of the hook. Default: the table of
    /// results that block in docs/protocol.md decides.
    fn forgives(&self, failure: FailureKind, policy: FailurePolicy) -> bool {
        failure.continues_under(policy)
    }

    /// Returns the deduplication key: of the hooks of this protocol that share it and differ in their events alone, only the first
    /// runs. Default: each hook runs.
    fn once_for(&self) -> Option<String> {
        None
    }
}
