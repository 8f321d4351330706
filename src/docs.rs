//! The pages of the directory `docs/`, so that they can be read beside the API.
//!
//! These modules contain only text. For authors of hooks: [`first_hook`], [`examples`], [`resident`],
//! [`troubleshooting`], [`porting`], and [`protocol`] as the reference. For authors of hosts: [`embedding`],
//! [`serve`], [`other_agents`], [`trace`], [`redaction`], [`performance`]. For both: [`approval`], [`sandbox`], [`program`],
//! [`replay`], [`session`], [`gotchas`]. For users of agents: [`agents`],
//! [`guards`].

#[doc = include_str!("../docs/first-hook.md")]
pub mod first_hook {}

#[doc = include_str!("../docs/examples.md")]
pub mod examples {}

#[doc = include_str!("../docs/protocol.md")]
pub mod protocol {}

#[doc = include_str!("../docs/approval.md")]
pub mod approval {}

#[doc = include_str!("../docs/resident.md")]
pub mod resident {}

#[doc = include_str!("../docs/sandbox.md")]
pub mod sandbox {}

#[doc = include_str!("../docs/troubleshooting.md")]
pub mod troubleshooting {}

#[doc = include_str!("../docs/porting.md")]
pub mod porting {}

#[doc = include_str!("../docs/embedding.md")]
pub mod embedding {}

#[doc = include_str!("../docs/serve.md")]
pub mod serve {}

#[doc = include_str!("../docs/program.md")]
pub mod program {}

#[doc = include_str!("../docs/session.md")]
pub mod session {}

#[doc = include_str!("../docs/trace.md")]
pub mod trace {}

#[doc = include_str!("../docs/replay.md")]
pub mod replay {}

#[doc = include_str!("../docs/redaction.md")]
pub mod redaction {}

#[doc = include_str!("../docs/performance.md")]
pub mod performance {}

#[doc = include_str!("../docs/gotchas.md")]
pub mod gotchas {}

#[doc = include_str!("../docs/guards.md")]
pub mod guards {}

#[doc = include_str!("../docs/agents.md")]
pub mod agents {}

#[doc = include_str!("../docs/other-agents.md")]
pub mod other_agents {}
