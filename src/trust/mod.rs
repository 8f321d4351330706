//! Approvals: the hooks of a project that a person has approved, each with the files that it names.
//!
//! Protects against the content of a repository: none of its hooks runs before a person has approved it, and none runs in a
//! changed form. Does not protect against a program that already runs as the user, or against other files that a covered
//! script reads or runs.

mod admit;
mod approval;
mod covered;
mod error;
mod store;
mod unchanged;
mod worktree;

pub(crate) use admit::ApprovalStatus;
pub(crate) use admit::ProjectApprovals;
pub use approval::{Approval, Approved};
pub(crate) use error::TrustError;
pub use store::TrustStore;
