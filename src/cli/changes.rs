//! Compares a project's hooks with their approval.
//!
//! Prints nothing. Does not know how files are compared.

use std::collections::BTreeSet;

use crate::{Approval, Approved, Hook, TrustError};
use serde_json::{Map, Value, json};

/// A hook as it is now, compared with its approval.
pub(crate) struct Compared<'a> {
    pub(crate) now: &'a Approved,
    pub(crate) change: Change<'a>,
}

pub(crate) enum Change<'a> {
    None,
    New,
    /// Approved by an earlier version of this crate; such an approval is no longer valid.
    Outdated,
    /// Probably the same hook with another definition.
    Redefined(&'a Approved),
    /// The same definition, but these files have changed, each with its change.
    Files(Vec<(String, &'static str)>),
}

/// The changes of a project.
pub(crate) struct Changes<'a> {
    pub(crate) hooks: Vec<Compared<'a>>,
    /// Approved hooks that no longer exist.
    pub(crate) gone: Vec<&'a Approved>,
}

impl<'a> Changes<'a> {
    /// Compares the approval with the current hooks, which are those of `now`.
    pub(crate) fn between(
        before: &'a [Approved],
        now: &'a Approval,
        hooks: &[Hook],
    ) -> Result<Self, TrustError> {
        let mut left: Vec<&Approved> = before.iter().collect();
        let mut same = |hook: &Approved| take(&mut left, |old| old.digest == hook.digest);
        let found: Vec<_> = now.hooks.iter().map(|hook| (hook, same(hook))).collect();
        let mut compared = Vec::new();
        for ((hook, same), loaded) in found.into_iter().zip(hooks) {
            let change = match same {
                Some(old) if old.outdated => Change::Outdated,
                Some(old) => match old.changed_files(&now.root, loaded)? {
                    files if files.is_empty() => Change::None,
                    files => Change::Files(files),
                },
                None => match take(&mut left, |old| seems_the_same(old, hook)) {
                    Some(old) => Change::Redefined(old),
                    None => Change::New,
                },
            };
            compared.push(Compared { now: hook, change });
        }
        Ok(Self {
            hooks: compared,
            gone: left,
        })
    }

    /// Whether all hooks are as approved.
    pub(crate) fn is_none(&self) -> bool {
        let unchanged = |hook: &Compared<'_>| matches!(hook.change, Change::None);
        self.gone.is_empty() && self.hooks.iter().all(unchanged)
    }
}

fn take<'a>(
    left: &mut Vec<&'a Approved>,
    is_it: impl Fn(&Approved) -> bool,
) -> Option<&'a Approved> {
    let at = left.iter().position(|old| is_it(old))?;
    Some(left.remove(at))
}

/// Whether two definitions are probably the same hook: the name is the same, or the event and
/// either the description or the command.
fn seems_the_same(old: &Approved, now: &Approved) -> bool {
    let same = |key: &str| {
        let (old, now) = (old.definition.get(key), now.definition.get(key));
        old.is_some() && old == now
    };
    same("name") || (same("event") && (same("description") || same("command") || same("args")))
}

/// Returns the keys that differ between two definitions, each with its old and new value.
pub(crate) fn keys_that_differ<'a>(
    was: &'a Value,
    is: &'a Value,
) -> Vec<(&'a str, Option<&'a Value>, Option<&'a Value>)> {
    let members = |value: &'a Value| value.as_object().into_iter().flat_map(Map::keys);
    let keys: BTreeSet<&str> = members(was)
        .chain(members(is))
        .map(String::as_str)
        .collect();
    let all = keys.into_iter().map(|key| (key, was.get(key), is.get(key)));
    all.filter(|(_, was, is)| was != is).collect()
}

impl Change<'_> {
    /// Returns its name for programs.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::New => "new",
            Self::Outdated => "outdated",
            Self::Redefined(_) => "redefined",
            Self::Files(_) => "files",
        }
    }
}

impl Compared<'_> {
    pub(crate) fn to_json(&self) -> Value {
        let was = match self.change {
            Change::Redefined(old) => Some(&old.definition),
            _ => None,
        };
        let changed = match &self.change {
            Change::Files(files) => files.as_slice(),
            _ => &[],
        };
        let files = self.now.files.iter().map(|(file, digest)| {
            let how = changed.iter().find(|(name, _)| name == file);
            json!({"path": file, "sha256": digest, "change": how.map(|(_, how)| how)})
        });
        json!({
            "hook": self.now.definition,
            "digest": self.now.digest,
            "change": self.change.name(),
            "was": was,
            "files": files.collect::<Vec<_>>(),
            "notes": self.now.notes,
        })
    }
}
