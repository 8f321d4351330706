//! Ready-made hooks that hosts can register: the entries of `templates.json`, by their names.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::hook::Hook;
use crate::json;
use crate::profile::AppProfile;

/// The templates for the default profile, by name.
///
/// - `log_all` writes a line for each event into `events.log`, in the profile's directory in the user's home
/// - `notify_session_start` shows a notification
/// - `git_auto_commit` commits what a tool has written
/// - `block_sudo` blocks commands that run sudo, doas or sudoedit
/// - `block_private_keys` blocks the writing of private keys (PEM)
/// - `block_env_files` blocks the writing of `.env` and its kin, but not of `.env.example`
/// - `ask_before_push` asks before `git push`
/// - `tell_the_model` adds a text of yours to the model's context
///
/// The last three start no process. The commands of the others are for `sh` and, on Windows, for `cmd` and PowerShell.
///
/// ```
/// use forge_hooks::{HOOK_TEMPLATES, HookRegistry};
///
/// let registry = HookRegistry::new();
/// registry.register(HOOK_TEMPLATES["block_sudo"].clone());
/// assert_eq!(registry.hooks()[0].event_pattern(), "tool:pre_execute:bash");
/// ```
pub static HOOK_TEMPLATES: LazyLock<BTreeMap<&'static str, Hook>> =
    LazyLock::new(|| for_profile(&AppProfile::default()));

/// A list of entries. The key `_windows` of an entry has the keys that differ on Windows.
const ENTRIES: &str = include_str!("templates.json");

/// Returns the same templates for another profile: they write to its directory.
#[must_use]
pub fn for_profile(profile: &AppProfile) -> BTreeMap<&'static str, Hook> {
    // The entries are well-formed, as a test shows.
    let entries: Vec<Map<String, Value>> = json::read(ENTRIES).unwrap_or_default();
    let templates = entries.into_iter().filter_map(|entry| {
        let hook = Hook::from_json(&Value::Object(adapted(entry, profile))).ok()?;
        let name = NAMES.into_iter().find(|name| hook.name() == Some(name))?;
        Some((name, hook))
    });
    templates.collect()
}

/// The names, which live as long as the program.
const NAMES: [&str; 8] = [
    "log_all",
    "notify_session_start",
    "git_auto_commit",
    "block_sudo",
    "block_private_keys",
    "block_env_files",
    "ask_before_push",
    "tell_the_model",
];

/// Adapts an entry to this system, and its command to the profile.
fn adapted(mut entry: Map<String, Value>, profile: &AppProfile) -> Map<String, Value> {
    let of_windows = entry.remove("_windows");
    if let (true, Some(Value::Object(keys))) = (cfg!(windows), of_windows) {
        entry.extend(keys);
    }
    if let Some(Value::String(command)) = entry.get_mut("command") {
        let file = profile.project_files().first();
        let directory = file
            .and_then(|file| file.parent())
            .unwrap_or(Path::new(".hooks"));
        let directory = directory.to_string_lossy();
        *command = command
            .replace("{directory}", &word(&directory))
            .replace("{program}", &word(profile.name()));
    }
    entry
}

/// Returns a text as a word of a command: in single quotes of `sh`, or with the separators of Windows.
fn word(text: &str) -> String {
    match cfg!(windows) {
        true => text.replace('/', "\\"),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
