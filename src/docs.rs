//! The pages of the directory `docs/`, so that they can be read beside the API.
//!
//! These modules contain only text. For users of agents: [`agents`], [`guards`]. For authors of hooks: [`guards`], [`troubleshooting`],
//! and [`protocol`] as the reference. For authors of hosts: [`embedding`], [`serve`], [`other_agents`]. For all: [`program`],
//! [`approval`], [`sandbox`]. For maintainers: [`gotchas`], [`performance`].

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
[gotchas.md#a-path-that-leads-into-the-project]: crate::docs::gotchas#a-path-that-leads-into-the-project
[gotchas.md#a-shell-that-only-starts-one-program]: crate::docs::gotchas#a-shell-that-only-starts-one-program
[gotchas.md#quoting]: crate::docs::gotchas#quoting
[gotchas.md#the-process-tree-survives]: crate::docs::gotchas#the-process-tree-survives
[guards.md]: crate::docs::guards
[guards.md#packs]: crate::docs::guards#packs
[guards.md#redact-what-a-tool-has-returned]: crate::docs::guards#redact-what-a-tool-has-returned
[guards.md#resident-hooks-keep-the-process]: crate::docs::guards#resident-hooks-keep-the-process
[guards.md#your-own-guard]: crate::docs::guards#your-own-guard
[other-agents.md]: crate::docs::other_agents
[other-agents.md#a-script-of-claude-code-in-hooksjson]: crate::docs::other_agents#a-script-of-claude-code-in-hooksjson
[other-agents.md#tools]: crate::docs::other_agents#tools
[other-agents.md#what-runs]: crate::docs::other_agents#what-runs
[program.md]: crate::docs::program
[program.md#for-programs]: crate::docs::program#for-programs
[program.md#record]: crate::docs::program#record
[program.md#redaction]: crate::docs::program#redaction
[program.md#replay]: crate::docs::program#replay
[program.md#the-trace-file]: crate::docs::program#the-trace-file
[program.md#what-a-host-forgot]: crate::docs::program#what-a-host-forgot
[protocol.md#an-answer-without-a-process]: crate::docs::protocol#an-answer-without-a-process
[protocol.md#answer-log-or-invalid]: crate::docs::protocol#answer-log-or-invalid
[protocol.md#cases]: crate::docs::protocol#cases
[protocol.md#conditions]: crate::docs::protocol#conditions
[protocol.md#conditions-on-commands]: crate::docs::protocol#conditions-on-commands
[protocol.md#conditions-on-paths]: crate::docs::protocol#conditions-on-paths
[protocol.md#json]: crate::docs::protocol#json
[protocol.md#resident-hooks]: crate::docs::protocol#resident-hooks
[protocol.md#several-hooks]: crate::docs::protocol#several-hooks
[protocol.md#standard-input]: crate::docs::protocol#standard-input
[protocol.md#the-environment]: crate::docs::protocol#the-environment
[protocol.md#the-events]: crate::docs::protocol#the-events
[protocol.md#what-an-answer-may-do]: crate::docs::protocol#what-an-answer-may-do
[protocol.md#what-blocks]: crate::docs::protocol#what-blocks
[protocol.md#where-hooksjson-is]: crate::docs::protocol#where-hooksjson-is
[sandbox.md]: crate::docs::sandbox
[serve.md]: crate::docs::serve
[serve.md#fire]: crate::docs::serve#fire
[troubleshooting.md]: crate::docs::troubleshooting
[troubleshooting.md#a-file-that-cannot-be-used]: crate::docs::troubleshooting#a-file-that-cannot-be-used
"
    };
}

#[doc = links!()]
#[doc = include_str!("../docs/protocol.md")]
pub mod protocol {}

#[doc = links!()]
#[doc = include_str!("../docs/approval.md")]
pub mod approval {}

#[doc = links!()]
#[doc = include_str!("../docs/sandbox.md")]
pub mod sandbox {}

#[doc = links!()]
#[doc = include_str!("../docs/troubleshooting.md")]
pub mod troubleshooting {}

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
