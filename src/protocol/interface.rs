//! What every protocol can do: say what to start for a hook, and read how it has ended.
//!
//! Knows no format. `native` is the protocol of hooks.json; those of other agents are in `compat`.

use std::fmt;
use std::panic::RefUnwindSafe;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::call::Call;
use super::exchange::{Exit, Grouping, Launch, ProtocolMismatch};
use crate::entry::{Failure, FailureKind, FailurePolicy, Reading};
use crate::events::HookEvent;

/// How a hook is addressed and how its end is read. A hook without one of its own has the protocol of hooks.json
/// (docs/protocol.md). A hook with its own is never [resident](crate::Hook::with_resident), and cannot be read from hooks.json.
pub(crate) trait Protocol: fmt::Debug + RefUnwindSafe + Send + Sync {
    /// The name, which [`Hook::to_json`](crate::Hook::to_json) has too, such as `claude`. Hooks that run [at once](Grouping::in_parallel) are
    /// grouped by it.
    fn name(&self) -> &str;

    /// All that decides what the protocol does. It is part of a hook's equality, digest, fingerprint and JSON.
    fn definition(&self) -> Value;

    /// The label that people see, for a hook without a name and a description. Default: none, which is the command.
    fn label(&self) -> Option<&str> {
        None
    }

    /// Returns the hook as it stands in a file of its own format, as JSON on one line: a person who approves it sees this,
    /// and how its [`definition`](Protocol::definition) and its entry differ from it. Default: none; the person sees the entry.
    fn written(&self) -> Option<String> {
        None
    }

    /// Returns why the hook cannot be used on any event, such as a matcher that is no valid expression. The hook then
    /// fails with this message. Called when a hook that may run is loaded, and before each run; the first call may take
    /// milliseconds. Default: none.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// Returns the variables in the hook's command that name directories, with the directories, for a project with this
    /// root: an approval of the hook covers the scripts that its command names in them. Default: none.
    fn directories(&self, project: &Path) -> Vec<(String, PathBuf)> {
        let _ = project;
        Vec::new()
    }

    /// Returns why the hook is not for this event, beyond its pattern and its conditions; None if it is, or if that
    /// cannot be told. Called for each event that the pattern matches, on the thread that fires it: it should not
    /// allocate. [`fault`](Protocol::fault) was called before, except for a hook that never runs. Default: None.
    fn mismatch<'a>(&'a self, event: &'a HookEvent) -> Option<ProtocolMismatch<'a>> {
        let _ = event;
        None
    }

    /// Returns what to start.
    ///
    /// # Errors
    /// If the hook cannot be started for this event. The hook then fails with this kind and message.
    fn prepare<'a>(&'a self, call: &Call<'a>) -> Result<Launch<'a>, Failure>;

    /// Returns what the end of the hook means. It is called if the hook's process has ended by itself.
    fn read(&self, call: &Call<'_>, exit: &Exit<'_>) -> Reading;

    /// Returns whether the operation may continue in spite of a failure, under this policy of the hook. Default: the table of
    /// what blocks in docs/protocol.md decides.
    fn forgives(&self, failure: FailureKind, policy: FailurePolicy) -> bool {
        failure.continues_under(policy)
    }

    /// Returns how hooks of this protocol run together. Default: one after the other.
    fn grouping(&self) -> Grouping {
        Grouping::default()
    }
}
