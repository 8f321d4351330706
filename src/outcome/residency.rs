//! How a resident hook got an event.

use crate::entry::named;

named! {
    /// How a [resident](crate::Hook::with_resident) hook got an event.
    #[non_exhaustive]
    pub enum Residency {
        /// Its process was already running.
        Kept = "kept",
        /// Its process was started for this event.
        Started = "started",
        /// Its process was started for this event, to replace one that had failed, was old, or was
        /// started from other files.
        Replaced = "replaced",
        /// Its process ran for this event only: it has failed repeatedly, there are too many kept
        /// processes, or the platform does not support them.
        OneShot = "one_shot",
    }
}
