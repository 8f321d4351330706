//! Threads that run jobs: a bounded queue in which guards come first and jobs with one ordering key stay in
//! order, and the threads that take jobs from it.
//!
//! A channel could not give guards priority, keep a worker for them, keep the events of a session in order, or remove
//! cancelled jobs. Knows nothing of hooks and events.

mod queue;
mod threads;

pub(crate) use queue::Priority;
pub(crate) use threads::{Pool, Refusal, Runnable, Waiting};
