//! Hooks that, by what they run, would run again and again: the variable that tells a program which
//! hooks it was started by.
//!
//! Knows the names of the variable and how it is written; not how a process is started.

use crate::hook::{Hook, canonical};
use crate::profile::AppProfile;

/// How many hooks may run, each started by what the one above it runs.
pub(crate) const NESTING_LIMIT: usize = 8;

/// Between two fingerprints.
const SEPARATOR: &str = ":";

/// The hooks that are running above this program, outermost first, each by its fingerprint.
#[derive(Debug, Default)]
pub(crate) struct HookChain {
    above: Vec<String>,
}

/// Why a hook is not run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Circular {
    #[error(
        "circular: this hook has started, by what it runs, the program that would run it again"
    )]
    Again,
    #[error(
        "circular: nesting limit ({NESTING_LIMIT}) reached: look for the hook that starts this program again, or the observer that fires an event for each hook"
    )]
    TooDeep,
}

impl HookChain {
    /// From this program's own environment. Where several names have a chain, the longest counts:
    /// the others have been handed on by a program that goes by one of them alone.
    pub(crate) fn inherited(profile: &AppProfile) -> Self {
        let chain = names(profile)
            .filter_map(std::env::var_os)
            .map(|value| Self::parse(&value.to_string_lossy()))
            .max_by_key(|chain| chain.above.len());
        chain.unwrap_or_default()
    }

    fn parse(text: &str) -> Self {
        let above = text.split(SEPARATOR).filter(|part| !part.is_empty());
        // What has been tampered with may be long, and a longer one says nothing more.
        let above = above.take(NESTING_LIMIT).map(str::to_owned).collect();
        Self { above }
    }

    /// Refuses a hook that is running above, and any hook too far below the first. `nested` are
    /// those that are running above within this program.
    pub(crate) fn check(&self, hook: &Hook, nested: usize) -> Result<(), Circular> {
        // Mostly there are none, and a fingerprint costs more than all the rest here.
        if !self.above.is_empty() && self.above.contains(&fingerprint(hook)) {
            return Err(Circular::Again);
        }
        if self.above.len() + nested >= NESTING_LIMIT {
            return Err(Circular::TooDeep);
        }
        Ok(())
    }

    /// The variables for what this hook starts.
    pub(super) fn variables<'a>(
        &self,
        hook: &Hook,
        profile: &'a AppProfile,
    ) -> impl Iterator<Item = (String, String)> + 'a {
        let mut chain = self.above.clone();
        chain.push(fingerprint(hook));
        let chain = chain.join(SEPARATOR);
        names(profile).map(move |name| (name, chain.clone()))
    }
}

fn names(profile: &AppProfile) -> impl Iterator<Item = String> + '_ {
    let prefixes = profile.env_prefixes().iter();
    prefixes.map(|prefix| format!("{prefix}_HOOK_CHAIN"))
}

/// The same for the same hook in every program and every build, so of its definition and its base
/// alone: FNV-1a, for the standard library's hashes promise no such thing. Whoever makes two hooks
/// collide has made one that does not run.
fn fingerprint(hook: &Hook) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let definition = canonical(&hook.to_json());
    let base = hook.base_dir().map(|path| path.to_string_lossy());
    let bytes = definition
        .bytes()
        .chain([0])
        .chain(base.iter().flat_map(|base| base.bytes()));
    let hash = bytes.fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(command: &str) -> Hook {
        Hook::new("*", command).unwrap()
    }

    #[test]
    fn a_hook_is_known_by_what_it_is() {
        assert_eq!(fingerprint(&hook("a")), fingerprint(&hook("a")));
        let others = [
            hook("b"),
            hook("a").with_env("A", "1"),
            hook("a").with_base_dir(std::path::Path::new("/project")),
        ];
        for other in others {
            assert_ne!(fingerprint(&hook("a")), fingerprint(&other), "{other:?}");
        }
        // The same in every build: a program may be started by another one.
        assert_eq!(fingerprint(&hook("a")), "491e6606656da08f");
    }

    #[test]
    fn a_hook_that_is_running_above_is_refused_and_so_is_the_ninth() {
        let (mine, other) = (hook("a"), hook("b"));
        let chain = HookChain::parse(&format!("{}:x", fingerprint(&mine)));
        assert_eq!(chain.check(&mine, 0), Err(Circular::Again));
        assert_eq!(chain.check(&other, 0), Ok(()));
        assert_eq!(chain.check(&other, NESTING_LIMIT - 3), Ok(()));
        assert_eq!(
            chain.check(&other, NESTING_LIMIT - 2),
            Err(Circular::TooDeep)
        );
        let long = "x:".repeat(1_000_000);
        let chain = HookChain::parse(&long);
        assert_eq!(chain.above.len(), NESTING_LIMIT);
        assert_eq!(chain.check(&other, 0), Err(Circular::TooDeep));
        assert_eq!(HookChain::parse("").check(&mine, 0), Ok(()));
    }
}
