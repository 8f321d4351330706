//! The content of an approval, and its text for a person.

use std::borrow::Borrow;
use std::fmt;
use std::io;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::covered::{Project, RULES, covered, refused_part};
use super::error::TrustError;
use super::unchanged::Unchanged;
use crate::error::SetupError;
use crate::hook::{Hook, canonical};
use crate::json;
use crate::named::{Named, of_text};
use crate::printable::printable;

/// The content of an approval of a project's hooks: each entry, the files that it names, the project's hooks
/// directory, and its `inputs`.
///
/// A host shows it to a person (`Display` has all of it), and then passes it to
/// [`TrustStore::approve`](crate::trust::TrustStore::approve).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "nothing is approved until it is passed to `TrustStore::approve`"]
pub struct Approval {
    /// The project's root, with all symbolic links resolved.
    pub root: PathBuf,
    /// The project's hooks, in their order.
    pub hooks: Vec<Approved>,
    /// The changes since the last approval, one line each. Empty if nothing has changed, and for an approval that was not
    /// compared: [`Hooks::approve_with`](crate::Hooks::approve_with) does that.
    pub changes: Vec<String>,
}

/// One hook of an [`Approval`]. `Display` shows the whole entry and the covered files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Approved {
    /// The hook as an entry of hooks.json, without values that are defaults.
    pub definition: Value,
    /// The SHA-256 of that entry without its `cases`, which identifies the hook.
    /// The order of keys and the form of numbers make no difference.
    pub digest: String,
    /// The hook's [label](Hook::label).
    pub label: String,
    /// The hook's file, relative to the project's root. Empty for a hook without a file.
    pub source: String,
    /// The covered files and links below the root, each with the SHA-256 of its content or of the link's text. None for a
    /// path that is not covered, for example a directory that is too large; `notes` has the reasons.
    pub files: Vec<(String, Option<String>)>,
    /// The version of the rules by which these files were found.
    #[serde(default)]
    pub(super) rules: u32,
    /// The hook as its file in another program's format defines it, as JSON on one line. Not saved in the store.
    #[serde(skip)]
    pub written: Option<String>,
    /// Other notes for a person, one line each. Not saved in the store.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// The most files that the entries of a project cover together, and the most looks at files for that, which take about a
/// second.
const MOST_FILES: usize = 20_000;
const MOST_LOOKS: usize = 1_000_000;

/// Returns the SHA-256 of an entry's normal form.
pub(super) fn digest_of(definition: &Value) -> String {
    of_text(canonical(definition))
}

/// Returns the hook's file, relative to its project.
pub(super) fn source_of(hook: &Hook) -> String {
    let file = hook.source().map(|source| &*source.path);
    let below = file.map(|file| file.strip_prefix(hook.base_dir()?).ok());
    let path = below.flatten().or(file).unwrap_or(Path::new(""));
    // The separator is the same on every system.
    path.to_string_lossy().replace(MAIN_SEPARATOR, "/")
}

impl Approval {
    /// The limits of every approval, as a sentence to show beside each approval.
    pub const NEVER_COVERED: &str = "Not covered: other data files, and everything else that these scripts and programs \
        read or run, in the project too (imports, Makefile, package.json).";

    /// Looks at the hooks of a project and at the files that an approval covers. Approves nothing yet.
    ///
    /// # Errors
    /// If the project cannot be found, its hooks cover too much, or one may run files that no approval covers.
    pub fn of<I>(root: impl AsRef<Path>, hooks: I) -> Result<Self, SetupError>
    where
        I: IntoIterator<Item: Borrow<Hook>>,
    {
        let project = Project::once(&canonical_root(root.as_ref())?);
        Ok(Self::look(&project, hooks)?)
    }

    fn look<I>(project: &Project, hooks: I) -> Result<Self, TrustError>
    where
        I: IntoIterator<Item: Borrow<Hook>>,
    {
        let (mut files, mut looks) = (0, 0);
        let mut all = Vec::new();
        for hook in hooks {
            let hook = hook.borrow();
            let covered = covered(project, hook, &|_| false);
            if let Some(part) = refused_part(hook, &covered) {
                let (hook, part) = (hook.label().to_owned(), part.to_owned());
                return Err(TrustError::NotCovered { hook, part });
            }
            looks += covered.looks;
            let approved = Approved::of(hook, covered);
            files += approved.files.len();
            if files > MOST_FILES || looks > MOST_LOOKS {
                return Err(TrustError::TooLarge);
            }
            all.push(approved);
        }
        Ok(Self {
            hooks: all,
            root: project.root.clone(),
            changes: Vec::new(),
        })
    }

    /// Creates the approval, compared with an earlier one: `changes` has the new, changed and removed parts.
    ///
    /// # Errors
    /// The errors of [`of`](Approval::of).
    pub(crate) fn since(
        before: &[Approved],
        root: &Path,
        hooks: &[Hook],
    ) -> Result<Self, TrustError> {
        let project = Arc::new(Project::once(&canonical_root(root)?));
        let mut approval = Self::look(&project, hooks)?;
        let is_now = |old: &Approved| approval.hooks.iter().any(|now| now.digest == old.digest);
        let mut gone: Vec<&Approved> = before.iter().filter(|old| !is_now(old)).collect();
        let mut changes = Vec::new();
        for (now, hook) in approval.hooks.iter().zip(hooks) {
            let label = &now.label;
            let same = || before.iter().filter(|old| old.digest == now.digest);
            let of_file = same().find(|old| old.source == now.source);
            match of_file.or_else(|| same().next()) {
                Some(old) => {
                    let files = Unchanged::new(&project, &old.files, old.rules).differences(hook);
                    changes.extend(files.iter().map(|(file, what)| format!("`{file}` {what}")));
                }
                None => match gone.iter().position(|old| old.label == *label) {
                    Some(at) => {
                        gone.remove(at);
                        changes.push(format!("the entry of `{label}` has changed"));
                    }
                    None => changes.push(format!("`{label}` is new")),
                },
            }
        }
        changes.extend(gone.iter().map(|old| format!("`{}` is gone", old.label)));
        for line in changes {
            if !approval.changes.contains(&line) {
                approval.changes.push(line);
            }
        }
        Ok(approval)
    }

    /// Returns the SHA-256 of all approved content: the entries, and the contents of the covered files.
    #[must_use]
    pub fn digest(&self) -> String {
        let of_hook =
            |approved: &Approved| json!([approved.digest, approved.source, approved.files]);
        let hooks: Vec<Value> = self.hooks.iter().map(of_hook).collect();
        digest_of(&Value::Array(hooks))
    }
}

impl fmt::Display for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", printable(&self.root.to_string_lossy()))?;
        for change in &self.changes {
            writeln!(f, "  {}", printable(change))?;
        }
        for hook in &self.hooks {
            write!(f, "\n{hook}")?;
        }
        writeln!(f, "\n{}\nDigest: {}", Self::NEVER_COVERED, self.digest())
    }
}

impl Approved {
    /// Returns the hook's part of the approval.
    fn of(hook: &Hook, mut covered: Named) -> Self {
        let mut notes = std::mem::take(&mut covered.notes);
        let large = covered.large().map(|name| {
            format!("`{name}` is compared by its size and times, not by its content: the files have more than 1 MiB")
        });
        notes.extend(large);
        let mut files = Vec::new();
        for (name, state) in covered.files {
            if let Err(why) = &state {
                notes.push(format!("`{name}` is not covered: {why}"));
            }
            files.push((name, state.ok().map(|digest| digest.to_string())));
        }
        let definition = hook.to_json();
        Self {
            digest: digest_of(&hook.behavior()),
            definition,
            label: hook.label().to_owned(),
            source: source_of(hook),
            written: hook.written(),
            files,
            rules: RULES,
            notes,
        }
    }

    /// Returns the effective settings that the hook's own file does not contain in the same form, such as defaults.
    fn differs_from(&self, written: &str) -> Map<String, Value> {
        let written = json::read(written).unwrap_or(Value::Null);
        let own = self.definition["protocol"]["definition"].as_object();
        let mut settings = own.cloned().unwrap_or_default();
        settings.extend(self.definition.as_object().cloned().unwrap_or_default());
        settings.remove("protocol");
        settings.retain(|key, value| !has_member(&written, key, value));
        settings
    }

    /// Returns a description of the files that are covered besides the entry, in lines, safe to show.
    #[must_use]
    pub(crate) fn covers(&self) -> Vec<String> {
        let covered = self.files.iter().filter(|(_, digest)| digest.is_some());
        let quoted = |name: &str| format!("`{}`", printable(name));
        let names: Vec<String> = covered.map(|(name, _)| quoted(name)).collect();
        let mut lines = vec![match &names[..] {
            [] => "Files covered: none".to_owned(),
            names => format!("Files covered: {}", names.join(", ")),
        }];
        lines.extend(
            self.notes
                .iter()
                .map(|note| printable(&format!("Note: {note}"))),
        );
        lines
    }
}

impl fmt::Display for Approved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", printable(&self.label))?;
        match &*self.source {
            source if self.label.contains(source) => writeln!(f, ":")?,
            source => writeln!(f, " ({}):", printable(source))?,
        }
        // The keys of a hook that can be read are in their usual order.
        let entry = Hook::from_json(&self.definition).map(Hook::with_true_cases);
        let text = match (
            &self.written,
            entry
                .as_ref()
                .map(|(hook, _)| serde_json::to_string_pretty(hook)),
        ) {
            (Some(written), _) => {
                let differs = Value::Object(self.differs_from(written));
                format!("{written}\nWhen it runs: {differs}")
            }
            (None, Ok(Ok(text))) => text,
            _ => format!("{:#}", self.definition),
        };
        for line in text.lines() {
            writeln!(f, "  {}", printable(line))?;
        }
        if let Ok((hook, false_cases)) = &entry {
            if *false_cases > 0 {
                writeln!(
                    f,
                    "  Note: cases that do not hold are left out: {false_cases}"
                )?;
            }
            if let Some(may) = hook.may_in_words() {
                writeln!(f, "  May: {may}")?;
            }
            if let Some(sandbox) = hook.sandbox() {
                writeln!(f, "  Sandbox: {}", printable(&sandbox.to_string()))?;
            }
        }
        for line in self.covers() {
            writeln!(f, "  {line}")?;
        }
        Ok(())
    }
}

/// Returns whether some object in a value has this member. Keys are compared without capitals and underscores.
fn has_member(within: &Value, key: &str, value: &Value) -> bool {
    let plain = |key: &str| key.replace('_', "").to_lowercase();
    let is_same = |own: &Value| match (own.as_f64(), value.as_f64()) {
        (Some(own), Some(number)) => own.to_bits() == number.to_bits(),
        _ => own == value,
    };
    match within {
        Value::Object(members) => members.iter().any(|(name, own)| {
            plain(name) == plain(key) && is_same(own) || has_member(own, key, value)
        }),
        Value::Array(items) => items.iter().any(|item| has_member(item, key, value)),
        _ => false,
    }
}

/// Resolves all links of the root. An approval is bound to the real place of the project.
pub(super) fn canonical_root(root: &Path) -> Result<PathBuf, TrustError> {
    let error = |source| TrustError::Root {
        root: root.to_owned(),
        source,
    };
    let real = root.canonicalize().map_err(error)?;
    match real.to_str() {
        Some(_) => Ok(real),
        None => Err(error(io::Error::other(
            "its path is not Unicode, which approvals need: rename it",
        ))),
    }
}
