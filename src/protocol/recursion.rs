//! Prevents endless recursion, of hooks that start the host that runs them: a variable lists the hooks that have started a
//! program.
//!
//! Knows the names and the format of the variable. Does not know how a process is started.

use crate::process::Environment;
use crate::profile::HOOK_CHAIN;

/// The most nested hooks, each started by the command of the one above it.
const NESTING_LIMIT: usize = 8;

/// The separator of two fingerprints.
const SEPARATOR: &str = ":";

/// The hooks that are running above this program, outermost first, each by its fingerprint.
#[derive(Debug)]
pub(crate) struct HookChain {
    above: Vec<String>,
}

impl HookChain {
    /// Reads the chain from this program's own environment.
    pub(crate) fn inherited() -> Self {
        let value = std::env::var_os(HOOK_CHAIN).unwrap_or_default();
        Self::new(&value.to_string_lossy())
    }

    fn new(text: &str) -> Self {
        let above = text.split(SEPARATOR).filter(|part| !part.is_empty());
        // A manipulated chain may be long, and the part beyond the limit makes no difference.
        let above = above.take(NESTING_LIMIT).map(str::to_owned).collect();
        Self { above }
    }

    /// Refuses a hook that is already running above, and any hook beyond the nesting limit.
    pub(crate) fn check(&self, fingerprint: u64) -> Result<(), String> {
        if self
            .above
            .iter()
            .any(|above| *above == as_text(fingerprint))
        {
            return Err(
                "circular: the command of this hook has started the program that would run the hook again"
                    .to_owned(),
            );
        }
        if self.above.len() >= NESTING_LIMIT {
            return Err(format!(
                "circular: nesting limit ({NESTING_LIMIT}) reached: look for the hook that starts this program again"
            ));
        }
        Ok(())
    }

    /// Sets the variable for the programs that this hook starts.
    pub(super) fn extend(&self, fingerprint: u64, environment: &mut Environment<'_>) {
        let mut chain = self.above.clone();
        chain.push(as_text(fingerprint));
        environment.set(HOOK_CHAIN, chain.join(SEPARATOR));
    }
}

fn as_text(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_and_the_ninth_level_are_refused() {
        let (mine, other) = (1, 2);
        let refusal = |chain: &str, hook| {
            let checked = HookChain::new(chain).check(hook);
            checked
                .err()
                .map(|why| why.split_once(": ").unwrap().1.to_owned())
        };
        let above = format!("{}:x", as_text(mine));
        assert!(refusal(&above, mine).unwrap().starts_with("the command"));
        assert_eq!(refusal(&above, other), None);
        assert_eq!(refusal(&"x:".repeat(NESTING_LIMIT - 1), other), None);
        let long = "x:".repeat(1_000_000);
        assert_eq!(HookChain::new(&long).above.len(), NESTING_LIMIT);
        assert!(refusal(&long, other).unwrap().starts_with("nesting limit"));
        assert_eq!(refusal("", mine), None);
    }
}
