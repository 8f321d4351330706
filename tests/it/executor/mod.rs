//! The executor: which hooks run when, how they are waited for, and what ends them.

mod awaiting;
mod background;
mod blocking;
mod cancel;
mod circular;
pub(crate) mod endurance;
mod observations;
mod order;
mod schedules;
mod shutdown;
mod submit;
