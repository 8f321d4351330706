//! Prevents endless recursion, of hooks that start the host that runs them: a variable lists the hooks that have started a
//! program.
//!
//! Under an agent, a model may have written the variable. There an entry counts only if it names a living process above this one:
//! otherwise eight made-up entries would silence every hook.
//!
//! Knows the names and the format of the variable. Does not know how a process is started.

#[cfg(feature = "cli")]
use crate::process::lineage;
use crate::process::{Environment, Lived};
use crate::profile::HOOK_CHAIN;

/// The most nested hooks, each started by the command of the one above it.
const NESTING_LIMIT: usize = 8;

/// The separator of two fingerprints.
const SEPARATOR: &str = ":";

/// The separator of a fingerprint from the id and the start time of the process that has run the hook.
const WITHIN: char = '-';

/// The hooks that are running above this program, outermost first, each by its fingerprint.
#[derive(Debug)]
pub(crate) struct HookChain {
    above: Vec<String>,
    /// This process, if entries are to be checked by it.
    own: Option<Lived>,
    /// True if it is not known whose entries these are: only their number counts.
    is_doubtful: bool,
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
        Self {
            above,
            own: None,
            is_doubtful: false,
        }
    }

    /// Reads the chain from an environment that a model may have written.
    #[cfg(feature = "cli")]
    pub(crate) fn of_ancestors() -> Self {
        let value = std::env::var_os(HOOK_CHAIN).unwrap_or_default();
        Self::checked(&value.to_string_lossy(), lineage())
    }

    /// Keeps the entries of living processes above this one, the first of `lineage`. Each counts once.
    #[cfg(any(test, feature = "cli"))]
    fn checked(text: &str, lineage: Option<Vec<Lived>>) -> Self {
        let Some(mut lineage) = lineage.filter(|lineage| !lineage.is_empty()) else {
            return Self {
                is_doubtful: true,
                ..Self::new(text)
            };
        };
        let own = lineage.remove(0);
        let mut is_above = |entry: &&str| {
            let process = lineage
                .iter()
                .position(|process| of_process(entry) == Some(*process));
            process.map(|place| lineage.remove(place)).is_some()
        };
        let above = text.split(SEPARATOR).filter(|entry| is_above(entry));
        let above: Vec<_> = above.take(NESTING_LIMIT).collect();
        Self {
            own: Some(own),
            ..Self::new(&above.join(SEPARATOR))
        }
    }

    /// Reads the chain that the process which checked it has passed on. That process may have ended.
    #[cfg(feature = "cli")]
    pub(crate) fn passed_on() -> Self {
        let lineage = lineage();
        Self {
            is_doubtful: lineage.is_none(),
            own: lineage.and_then(|lineage| lineage.first().copied()),
            ..Self::inherited()
        }
    }

    /// Returns the variable with its value, for a process that takes the place of this one.
    #[cfg(feature = "cli")]
    pub(crate) fn variable(&self) -> (&'static str, String) {
        (HOOK_CHAIN, self.above.join(SEPARATOR))
    }

    /// Refuses a hook that is already running above, and any hook beyond the nesting limit.
    pub(crate) fn check(&self, fingerprint: u64) -> Result<(), String> {
        let hook = as_text(fingerprint);
        let mut above = self.above.iter();
        let is_above = above.any(|entry| fingerprint_of(entry) == hook);
        if is_above && !self.is_doubtful {
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
        let mut entry = as_text(fingerprint);
        if let Some(Lived { id, start }) = self.own {
            entry = format!("{entry}{WITHIN}{id}{WITHIN}{start}");
        }
        chain.push(entry);
        environment.set(HOOK_CHAIN, chain.join(SEPARATOR));
    }
}

fn as_text(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

fn fingerprint_of(entry: &str) -> &str {
    entry.split(WITHIN).next().unwrap_or_default()
}

/// Returns the process that has run the hook of an entry.
#[cfg(any(test, feature = "cli"))]
fn of_process(entry: &str) -> Option<Lived> {
    let mut parts = entry.split(WITHIN).skip(1);
    let id = parts.next()?.parse().ok()?;
    let start = parts.next()?.parse().ok()?;
    parts.next().is_none().then_some(Lived { id, start })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_an_agent_only_living_ancestors_count() {
        let lived = |id, start| Lived { id, start };
        let lineage = || Some(vec![lived(9, 90), lived(7, 70), lived(5, 50)]);
        for (text, expected) in [
            ("1:2:3:4:5:6:7:8", &[][..]),
            ("a-7-70:b-5-50", &["a-7-70", "b-5-50"]),
            // One entry for each process.
            ("a-7-70:b-7-70:c-7-70", &["a-7-70"]),
            // Another process had the id, and this process is not above itself.
            ("a-7-71:b-9-90:c-1-0:d-5-50-1:e-5:-5-", &[]),
            ("1:2:3:4:5:6:7:8:9:a-5-50", &["a-5-50"]),
        ] {
            let chain = HookChain::checked(text, lineage());
            assert_eq!(chain.above, expected, "{text}");
        }
        let one = format!("{}-7-70", as_text(1));
        assert!(HookChain::checked(&one, lineage()).check(1).is_err());
        assert!(HookChain::checked(&one, lineage()).check(2).is_ok());
        // Where the system does not tell, only the number counts.
        assert!(HookChain::checked(&one, None).check(1).is_ok());
        assert!(HookChain::checked(&"x:".repeat(8), None).check(1).is_err());
    }

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
