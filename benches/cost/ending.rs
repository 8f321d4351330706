//! The exit code of a bench: it depends on counts, and on limits far above any time that a working machine takes.
//!
//! Times and ratios depend on the machine and its load, so one that misses its target is only marked.

use std::process::ExitCode;

#[derive(Default)]
pub(crate) struct Ending {
    exceeded: Vec<String>,
    missed: usize,
}

impl Ending {
    /// Returns the word for a time or a ratio beside its target.
    pub(crate) fn target(&mut self, is_met: bool) -> &'static str {
        if is_met {
            return "met";
        }
        self.missed += 1;
        "missed"
    }

    /// Returns the word for a count or a size that must not exceed its limit.
    pub(crate) fn limit(&mut self, what: &str, is_kept: bool) -> &'static str {
        if is_kept {
            return "kept";
        }
        self.exceeded.push(what.to_owned());
        "EXCEEDED"
    }

    /// Prints which limits are exceeded, and returns the exit code.
    pub(crate) fn exit_code(self) -> ExitCode {
        let page = "docs/performance.md explains the rows";
        if self.exceeded.is_empty() {
            let missed = self.missed;
            println!(
                "exit code 0: no limit is exceeded ({missed} times or ratios missed their targets, which never fails); {page}"
            );
            return ExitCode::SUCCESS;
        }
        let exceeded = self.exceeded.join("; ");
        println!("exit code 1: these limits are exceeded: {exceeded}; {page}");
        ExitCode::FAILURE
    }
}
