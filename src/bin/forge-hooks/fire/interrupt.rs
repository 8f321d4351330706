//! Ctrl-C: the first ends the hooks in order, the second the program at once.
//!
//! Costs no thread: a handler sets a flag, and somebody looks at it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::Failure;

/// The signals that end the program, each with its flag and its exit status.
pub(super) struct Interrupts(Vec<(Arc<AtomicBool>, u8)>);

impl Interrupts {
    /// From now on signals are heard.
    pub(super) fn heard() -> Result<Self, Failure> {
        let mut heard = Vec::new();
        for (signal, status) in [(SIGINT, 130), (SIGTERM, 143)] {
            let is_raised = Arc::new(AtomicBool::new(false));
            // In this order: the first looks at what the second has set the time before.
            flag::register_conditional_shutdown(signal, status, Arc::clone(&is_raised))
                .and_then(|_| flag::register(signal, Arc::clone(&is_raised)))
                .map_err(|error| Failure::new(format!("could not listen for Ctrl-C: {error}")))?;
            heard.push((is_raised, u8::try_from(status).unwrap_or(u8::MAX)));
        }
        Ok(Self(heard))
    }

    /// The exit status of the signal that has come, if one has.
    pub(super) fn status(&self) -> Option<u8> {
        let mut raised = self.0.iter();
        let found = raised.find(|(is_raised, _)| is_raised.load(Ordering::SeqCst));
        found.map(|(_, status)| *status)
    }
}
