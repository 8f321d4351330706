//! Who is asked before a hook runs.
//!
//! Knows nothing of why somebody would refuse.

use std::fmt;
use std::sync::Arc;

use super::Hook;

/// Says, right before each run, whether a hook may run. A hook carries its gate, so that no host
/// forgets to ask.
pub trait Gate: Send + Sync + fmt::Debug {
    /// Whether this hook may run now. Called on the thread that would run it.
    fn check(&self, hook: &Hook) -> GateVerdict;
}

/// What a [`Gate`] says of a hook; the words are for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GateVerdict {
    /// It may.
    Run,
    /// Nobody has ever approved it: it is skipped, and the host goes on.
    NotApproved(String),
    /// It was approved, and is not any more what was approved: it fails, and blocks where the event
    /// can be blocked.
    ApprovalLost(String),
}

/// Two hooks with the same gate are alike; two gates are not compared.
#[derive(Clone)]
pub(super) struct GateRef(pub(super) Arc<dyn Gate>);

impl PartialEq for GateRef {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
