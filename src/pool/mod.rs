//! Threads that run jobs: a bounded queue in which guards come first and jobs with one key are in order,
//! and the threads that take from it.
//!
//! Knows jobs, not what they do: no hook and no event.

mod queue;
mod threads;

pub(crate) use queue::{Place, Ticket};
pub(crate) use threads::{Job, Limits, Pool, Refusal, Stop, on_pool_thread};
