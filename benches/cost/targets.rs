//! The targets of all figures; there are no others.
//!
//! A figure misses its bound when it is more than [`TOLERANCE`] beyond it.

#[derive(Clone, Copy)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}
use Bound::{AtLeast, AtMost};

pub(crate) const TOLERANCE: f64 = 0.05;

// Ratios of medians.
pub(crate) const OVERHEAD: Bound = AtMost(1.03);
pub(crate) const LARGE_HOST: Bound = AtMost(1.04);
pub(crate) const DIRECT_EXEC: Bound = AtMost(0.60);
pub(crate) const APPROVED: Bound = AtMost(1.03);
pub(crate) const APPROVED_1000: Bound = AtMost(2.0);
pub(crate) const LOOKUPS: Bound = AtMost(3.0);
pub(crate) const THROUGHPUT: Bound = AtLeast(0.97);

pub(crate) const RESIDENT: Bound = AtMost(0.01);
pub(crate) const RESIDENT_P99: Bound = AtMost(0.05);
pub(crate) const RESIDENT_IDLE: Bound = AtMost(0.02);
pub(crate) const RESIDENT_IDLE_P99: Bound = AtMost(0.1);

// Nanoseconds.
pub(crate) const EXCLUDED: Bound = AtMost(1_000.0);
pub(crate) const UNMATCHED: Bound = AtMost(60.0);
pub(crate) const SUBMIT_P50: Bound = AtMost(1_000.0);
pub(crate) const SUBMIT_P99: Bound = AtMost(10_000.0);
pub(crate) const LOOK: Bound = AtMost(100.0);
pub(crate) const CANCEL_P99: Bound = AtMost(50e6);

pub(crate) const OWN_INSTRUCTIONS: Bound = AtMost(35_000.0);
pub(crate) const NO_ALLOCATION: Bound = AtMost(0.0);
pub(crate) const MEBIBYTES_OF_1000_EVENTS: Bound = AtMost(16.0);

/// The counts at the last change of this file. `--count` fails if a count has grown by more than the
/// tolerance. Lower a number when `--count` says so.
pub(crate) mod counted {
    pub(crate) const OWN_INSTRUCTIONS: f64 = 9_400.0;
    pub(crate) const SYSTEM_CALLS: f64 = 28.3;
    pub(crate) const SYSTEM_CALLS_APPROVED: f64 = 84.5;
    pub(crate) const ALLOCATIONS_UNMATCHED: f64 = 0.0;
    pub(crate) const ALLOCATIONS_SUBMIT: f64 = 7.2;
    pub(crate) const MEBIBYTES_OF_1000_EVENTS: f64 = 12.5;
}
