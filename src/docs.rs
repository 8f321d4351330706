//! The pages of the directory `docs/`, so that they can be read beside the API.
//!
//! These modules contain only text. For authors of hooks: [`first_hook`], [`examples`], [`resident`],
//! [`troubleshooting`], [`porting`], and [`protocol`] as the reference. For authors of hosts: [`embedding`],
//! [`serve`], [`other_agents`], [`trace`], [`redaction`], [`performance`]. For both: [`approval`], [`sandbox`], [`program`],
//! [`replay`], [`session`], [`gotchas`]. For users of agents: [`agents`],
//! [`guards`].

/// The links between the pages. In the repository, a page's own definitions at its end lead to files; here these stand
/// before them, and the first definition of a label counts.
macro_rules! links {
    () => {
        "\
[agents.md]: crate::docs::agents
[agents.md#a-guard-in-five-minutes]: crate::docs::agents#a-guard-in-five-minutes
[agents.md#tools]: crate::docs::agents#tools
[agents.md#when-a-hook-does-not-run]: crate::docs::agents#when-a-hook-does-not-run
[approval.md]: crate::docs::approval
[embedding.md#features-and-size]: crate::docs::embedding#features-and-size
[embedding.md#show-a-hooks-output]: crate::docs::embedding#show-a-hooks-output
[examples.md]: crate::docs::examples
[examples.md#conditions-on-paths]: crate::docs::examples#conditions-on-paths
[examples.md#redact-what-a-tool-has-returned]: crate::docs::examples#redact-what-a-tool-has-returned
[first-hook.md]: crate::docs::first_hook
[first-hook.md#a-guard]: crate::docs::first_hook#a-guard
[gotchas.md#a-path-that-leads-into-the-project]: crate::docs::gotchas#a-path-that-leads-into-the-project
[gotchas.md#a-shell-that-only-starts-one-program]: crate::docs::gotchas#a-shell-that-only-starts-one-program
[gotchas.md#quoting]: crate::docs::gotchas#quoting
[gotchas.md#the-process-tree-survives]: crate::docs::gotchas#the-process-tree-survives
[guards.md]: crate::docs::guards
[other-agents.md]: crate::docs::other_agents
[other-agents.md#tools]: crate::docs::other_agents#tools
[other-agents.md#what-runs]: crate::docs::other_agents#what-runs
[porting.md]: crate::docs::porting
[program.md]: crate::docs::program
[program.md#for-programs]: crate::docs::program#for-programs
[program.md#hooks-of-other-agents]: crate::docs::program#hooks-of-other-agents
[protocol.md]: crate::docs::protocol
[protocol.md#an-answer-without-a-process]: crate::docs::protocol#an-answer-without-a-process
[protocol.md#answer-log-or-invalid]: crate::docs::protocol#answer-log-or-invalid
[protocol.md#approval]: crate::docs::protocol#approval
[protocol.md#cases]: crate::docs::protocol#cases
[protocol.md#conditions]: crate::docs::protocol#conditions
[protocol.md#json]: crate::docs::protocol#json
[protocol.md#large-values]: crate::docs::protocol#large-values
[protocol.md#standard-input]: crate::docs::protocol#standard-input
[protocol.md#the-end-of-a-hook]: crate::docs::protocol#the-end-of-a-hook
[protocol.md#the-environment]: crate::docs::protocol#the-environment
[protocol.md#the-events]: crate::docs::protocol#the-events
[protocol.md#what-an-answer-may-do]: crate::docs::protocol#what-an-answer-may-do
[protocol.md#what-blocks]: crate::docs::protocol#what-blocks
[protocol.md#where-hooksjson-is]: crate::docs::protocol#where-hooksjson-is
[redaction.md]: crate::docs::redaction
[replay.md]: crate::docs::replay
[replay.md#what-a-host-forgot]: crate::docs::replay#what-a-host-forgot
[resident.md]: crate::docs::resident
[resident.md#a-resident-guard]: crate::docs::resident#a-resident-guard
[sandbox.md]: crate::docs::sandbox
[serve.md]: crate::docs::serve
[session.md]: crate::docs::session
[trace.md]: crate::docs::trace
[troubleshooting.md]: crate::docs::troubleshooting
[troubleshooting.md#a-file-that-cannot-be-used]: crate::docs::troubleshooting#a-file-that-cannot-be-used
"
    };
}

#[doc = links!()]
#[doc = include_str!("../docs/first-hook.md")]
pub mod first_hook {}

#[doc = links!()]
#[doc = include_str!("../docs/examples.md")]
pub mod examples {}

#[doc = links!()]
#[doc = include_str!("../docs/protocol.md")]
pub mod protocol {}

#[doc = links!()]
#[doc = include_str!("../docs/approval.md")]
pub mod approval {}

#[doc = links!()]
#[doc = include_str!("../docs/resident.md")]
pub mod resident {}

#[doc = links!()]
#[doc = include_str!("../docs/sandbox.md")]
pub mod sandbox {}

#[doc = links!()]
#[doc = include_str!("../docs/troubleshooting.md")]
pub mod troubleshooting {}

#[doc = links!()]
#[doc = include_str!("../docs/porting.md")]
pub mod porting {}

#[doc = links!()]
#[doc = include_str!("../docs/embedding.md")]
pub mod embedding {}

#[doc = links!()]
#[doc = include_str!("../docs/serve.md")]
pub mod serve {}

#[doc = links!()]
#[doc = include_str!("../docs/program.md")]
pub mod program {}

#[doc = links!()]
#[doc = include_str!("../docs/session.md")]
pub mod session {}

#[doc = links!()]
#[doc = include_str!("../docs/trace.md")]
pub mod trace {}

#[doc = links!()]
#[doc = include_str!("../docs/replay.md")]
pub mod replay {}

#[doc = links!()]
#[doc = include_str!("../docs/redaction.md")]
pub mod redaction {}

#[doc = links!()]
#[doc = include_str!("../docs/performance.md")]
pub mod performance {}

#[doc = links!()]
#[doc = include_str!("../docs/gotchas.md")]
pub mod gotchas {}

#[doc = links!()]
#[doc = include_str!("../docs/guards.md")]
pub mod guards {}

#[doc = links!()]
#[doc = include_str!("../docs/agents.md")]
pub mod agents {}

#[doc = links!()]
#[doc = include_str!("../docs/other-agents.md")]
pub mod other_agents {}
