//! The executor: which hooks run when, how they are waited for, and what ends them.

mod awaiting;
mod background;
mod blocking;
mod cancel;
mod circular;
pub(crate) mod endurance;
mod observers;
mod order;
mod schedules;
mod shutdown;
mod submit;
