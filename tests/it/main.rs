//! The scenario tests: real processes, real files, one binary.

#[cfg(all(feature = "cli", unix))]
mod agents;
mod answering;
mod answers;
mod api;
mod awaiting;
mod blocking;
mod cancel;
mod circular;
mod config;
mod deciding;
mod deep_data;
mod default_places;
mod diagnostics;
mod direct_exec;
mod disabling;
mod editing;
mod endurance;
mod enforce;
mod environment;
mod events;
mod examples;
mod execution;
mod git;
#[cfg(all(feature = "cli", unix))]
mod golden;
mod growth;
mod guards_gone;
mod hook_commit;
mod hook_guard;
mod hook_scripts;
mod hooks;
mod hooks_d;
mod hooks_file;
#[cfg(unix)]
mod host_path;
mod hosts;
#[cfg(unix)]
mod inherit;
mod json_texts;
mod lifecycle;
mod limits;
#[cfg(unix)]
mod links_to_nothing;
mod load_into;
mod logging;
#[cfg(all(feature = "cli", unix))]
mod mistakes;
mod model_text;
mod observers;
mod order;
#[cfg(unix)]
mod other_agents;
#[cfg(unix)]
mod other_agents_guards;
#[cfg(unix)]
mod other_agents_run;
mod page_embedding;
mod page_examples;
mod page_hosts;
mod page_resident;
mod pages;
mod parallel;
mod patterns;
#[cfg(unix)]
mod printed;
mod processes;
#[cfg(target_os = "linux")]
mod processes_outside;
#[cfg(all(feature = "cli", unix))]
mod program;
mod protocol_page;
mod recording;
#[cfg(unix)]
mod redaction;
mod registry;
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
mod saving;
mod saving_at_once;
mod schedules;
mod schema;
#[cfg(unix)]
mod script_changes;
mod shutdown;
mod submit;
mod support;
mod system_file;
mod templates;
mod tidy;
mod tidy_cycles;
mod tidy_pages;
#[cfg(unix)]
mod tool_output;
mod trace_file;
mod tracing;
mod trust;
mod trust_cases;
mod trust_changes;
mod trust_contents;
mod trust_corpora;
mod trust_coverage;
mod trust_limits;
mod trust_pages;
#[cfg(unix)]
mod unapproved;
mod watching;
mod when;
mod windows;
mod without_a_yes;
#[cfg(unix)]
mod written_files;
