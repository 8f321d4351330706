//! The scenario tests: real processes, real files, one binary.

#[cfg(all(feature = "cli", unix))]
mod agents;
mod answering;
mod answers;
mod api;
#[cfg(unix)]
mod cases;
mod config;
mod deciding;
mod deep_data;
mod diagnostics;
mod enforce;
mod environment;
mod events;
mod examples;
mod executor;
mod git;
#[cfg(all(feature = "cli", unix))]
mod golden;
mod growth;
mod hook_scripts;
mod hooks;
mod hosts;
mod json_texts;
mod lifecycle;
mod limits;
mod logging;
mod model_text;
#[cfg(unix)]
mod other_agents;
mod packs;
mod page_embedding;
mod page_examples;
mod page_hosts;
mod page_resident;
mod pages;
mod patterns;
#[cfg(unix)]
mod printed;
mod processes;
#[cfg(all(feature = "cli", unix))]
mod program;
mod protocol_page;
mod recording;
#[cfg(unix)]
mod redaction;
mod registry;
mod reloading;
#[cfg(unix)]
mod resident;
#[cfg(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    ),
    target_pointer_width = "64",
    target_endian = "little"
))]
mod sandbox;
mod schema;
#[cfg(unix)]
mod script_changes;
mod support;
mod templates;
mod thorough;
mod tidy;
mod tidy_cycles;
mod tidy_pages;
#[cfg(unix)]
mod tool_output;
mod trace_file;
mod tracing;
mod trust;
mod when;
mod windows;
mod without_a_yes;
#[cfg(unix)]
mod written_files;
