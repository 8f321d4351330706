//! The way in which a resident hook received an event.

use crate::entry::named;

named! {
    /// The way in which a [resident](crate::Hook::with_resident) hook received an event.
    pub(crate) enum Residency {
        /// The hook's process was already running.
        Kept = "kept",
        /// The hook's process was started for this event.
        Started = "started",
        /// The hook's process was started for this event, to replace one that had failed, was old, or was started from other
        /// files.
        Replaced = "replaced",
        /// The hook's process ran for this event only: the kept one has another event, there are 16 of other hooks, its files cannot be
        /// known, or the platform does not support kept processes.
        OneShot = "one_shot",
    }
}
