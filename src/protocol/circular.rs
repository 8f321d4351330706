//! Prevents hooks that would run themselves endlessly: a variable lists the hooks that have started
//! a program.
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

/// Error running a hook that would run endlessly.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Circular {
    #[error(
        "circular: the command of this hook has started the program that would run the hook again"
    )]
    Again,
    #[error(
        "circular: nesting limit ({NESTING_LIMIT}) reached: look for the hook that starts this program again"
    )]
    TooDeep,
}

impl HookChain {
    /// Reads the chain from this program's own environment.
    pub(crate) fn inherited() -> Self {
        let value = std::env::var_os(HOOK_CHAIN).unwrap_or_default();
        Self {
            above: Self::parse(&value.to_string_lossy()),
        }
    }

    fn parse(text: &str) -> Vec<String> {
        let above = text.split(SEPARATOR).filter(|part| !part.is_empty());
        // A manipulated chain may be long, and the part beyond the limit makes no difference.
        above.take(NESTING_LIMIT).map(str::to_owned).collect()
    }

    /// Refuses a hook that is already running above, and any hook beyond the nesting limit.
    pub(crate) fn check(&self, fingerprint: u64) -> Result<(), Circular> {
        if !self.above.is_empty() && self.above.contains(&as_text(fingerprint)) {
            return Err(Circular::Again);
        }
        if self.above.len() >= NESTING_LIMIT {
            return Err(Circular::TooDeep);
        }
        Ok(())
    }

    /// Sets the variable for the programs that this hook starts.
    pub(super) fn extend(&self, fingerprint: u64, environment: &mut Environment<'_>) {
        let mut chain = String::with_capacity(FINGERPRINT * (self.above.len() + 1));
        for above in &self.above {
            chain.push_str(above);
            chain.push_str(SEPARATOR);
        }
        push_fingerprint(&mut chain, fingerprint);
        environment.set(HOOK_CHAIN, chain);
    }
}

/// The length of a fingerprint and a separator.
const FINGERPRINT: usize = 17;

fn as_text(fingerprint: u64) -> String {
    let mut text = String::new();
    push_fingerprint(&mut text, fingerprint);
    text
}

/// Formats the fingerprint for the variable. It is called for each hook: `format!` would take several times as long.
fn push_fingerprint(text: &mut String, fingerprint: u64) {
    let digits = (0..16).rev().map(|index| fingerprint >> (index * 4) & 0xF);
    text.extend(digits.map(|digit| char::from(b"0123456789abcdef"[digit as usize])));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(text: &str) -> HookChain {
        HookChain {
            above: HookChain::parse(text),
        }
    }

    #[test]
    fn circles_and_the_ninth_level_are_refused() {
        let (mine, other) = (1, 2);
        let above = chain(&format!("{}:x", as_text(mine)));
        assert_eq!(above.check(mine), Err(Circular::Again));
        assert_eq!(above.check(other), Ok(()));
        assert_eq!(chain(&"x:".repeat(NESTING_LIMIT - 1)).check(other), Ok(()));
        let long = "x:".repeat(1_000_000);
        let above = chain(&long);
        assert_eq!(above.above.len(), NESTING_LIMIT);
        assert_eq!(above.check(other), Err(Circular::TooDeep));
        assert_eq!(chain("").check(mine), Ok(()));
    }
}
