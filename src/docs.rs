//! The pages of the directory `docs/`, so that they can be read beside the API.
//!
//! There is nothing in these modules but text.

#[doc = include_str!("../docs/protocol.md")]
pub mod protocol {}

#[doc = include_str!("../docs/program.md")]
pub mod program {}

#[doc = include_str!("../docs/session.md")]
pub mod session {}

#[doc = include_str!("../docs/trace.md")]
pub mod trace {}

#[doc = include_str!("../docs/redaction.md")]
pub mod redaction {}

#[doc = include_str!("../docs/performance.md")]
pub mod performance {}

#[doc = include_str!("../docs/gotchas.md")]
pub mod gotchas {}

#[doc = include_str!("../docs/other-tools.md")]
pub mod other_tools {}
