//! Threads that run jobs: a bounded queue in which guards come first and jobs with one ordering key stay in
//! order, and the threads that take jobs from it.
//!
//! Knows nothing of hooks and events.

mod queue;
mod threads;

pub(crate) use queue::{Priority, Ticket};
pub(crate) use threads::{Job, Pool, Refusal, on_pool_thread};
