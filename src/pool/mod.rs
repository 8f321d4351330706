//! Threads that run jobs: a bounded queue in which guards come first and jobs with one ordering key stay in
//! order, and the threads that take jobs from it.
//!
//! Knows nothing of hooks and events.

mod queue;
mod threads;

pub(crate) use queue::{Place, Ticket};
pub(crate) use threads::{Job, Limits, Pool, Refusal, Stop, on_pool_thread};
