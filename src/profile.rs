//! The names of a host: the prefixes of its variables and the paths of its files.
//!
//! Knows names only. Reads no files.

use std::path::{Path, PathBuf};

/// The prefix of the variables that hooks receive in every host.
pub(crate) const COMMON_PREFIX: &str = "FORGE";

/// The variable with the hooks that are running. It has one name in all hosts, so that a circle through several hosts is
/// found, and no hook can approve.
pub(crate) const HOOK_CHAIN: &str = "FORGE_HOOK_CHAIN";

/// The files that agents and hosts with the default names share. A program that writes a new hooks file for these names writes
/// it there.
const SHARED_GLOBAL: &str = "forge-hooks/hooks.json";
const SHARED_IN_PROJECT: &str = ".forge-hooks/hooks.json";

/// The names of a host: the prefixes of its variables, and the paths of its hooks files.
///
/// The default profile has two names, `forge` and `opencode`: variables begin with `FORGE_` and `OPENCODE_`,
/// and the files are `src/forge/hooks.json`, `src/opencode/hooks.json` and `forge-hooks/hooks.json` in the user's
/// configuration directory, and `.src/forge/hooks.json`, `.src/opencode/hooks.json` and `.forge-hooks/hooks.json`
/// in a project.
///
/// ```
/// use forge_hooks::AppProfile;
///
/// // Variables begin with `MYGAME_`; the files are `mygame/hooks.json` and, in a project, `.mygame/hooks.json`.
/// let profile = AppProfile::new("mygame");
/// assert_eq!(profile.name(), "mygame");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppProfile {
    name: String,
    env_prefixes: Vec<String>,
    global_files: Vec<PathBuf>,
    project_files: Vec<PathBuf>,
    short_names: bool,
}

impl Default for AppProfile {
    fn default() -> Self {
        Self {
            name: "forge".into(),
            env_prefixes: vec!["FORGE".into(), "OPENCODE".into()],
            global_files: vec![
                "src/forge/hooks.json".into(),
                "src/opencode/hooks.json".into(),
                SHARED_GLOBAL.into(),
            ],
            project_files: vec![
                ".src/forge/hooks.json".into(),
                ".src/opencode/hooks.json".into(),
                SHARED_IN_PROJECT.into(),
            ],
            short_names: true,
        }
    }
}

impl AppProfile {
    /// Creates the profile of the program `name`. The prefix is the name in capitals; the files are
    /// `name/hooks.json` in the user's configuration directory and `.name/hooks.json` in a project.
    /// Characters that a variable's name cannot contain become `_`, those that a directory's name cannot
    /// contain become `-`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let directory = directory_name(&name);
        Self {
            env_prefixes: vec![variable_name(&name)],
            global_files: vec![Path::new(&directory).join("hooks.json")],
            project_files: vec![Path::new(&format!(".{directory}")).join("hooks.json")],
            short_names: false,
            name,
        }
    }

    /// Sets the prefixes of the variables, without the `_` after them. Hooks always receive the variables with `FORGE_`
    /// too, so that the same hook works in every host.
    #[must_use]
    pub fn with_env_prefixes<I: IntoIterator<Item: AsRef<str>>>(mut self, prefixes: I) -> Self {
        self.env_prefixes = prefixes
            .into_iter()
            .map(|prefix| variable_name(prefix.as_ref()))
            .collect();
        self
    }

    /// Sets the paths of the user's hooks files, below `$XDG_CONFIG_HOME` or `~/.config`. All files that
    /// exist are read, in this order.
    #[must_use]
    pub fn with_global_files<I: IntoIterator<Item: Into<PathBuf>>>(mut self, files: I) -> Self {
        self.global_files = files.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the paths of a project's hooks files, below its root. All files that exist are read, in this
    /// order.
    #[must_use]
    pub fn with_project_files<I: IntoIterator<Item: Into<PathBuf>>>(mut self, files: I) -> Self {
        self.project_files = files.into_iter().map(Into::into).collect();
        self
    }

    /// Sets whether hooks also receive the variables without a prefix: `EVENT_TYPE`, `TOOL_NAME`, `TOOL_ARGS`,
    /// `TOOL_RESULT`. Default: true for the default profile, false for all others.
    #[must_use]
    pub fn with_short_names(mut self, short_names: bool) -> Self {
        self.short_names = short_names;
        self
    }

    /// Returns the program's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the program's own prefixes of the variables, without the `_` after them.
    #[must_use]
    pub(crate) fn env_prefixes(&self) -> &[String] {
        &self.env_prefixes
    }

    /// Returns the paths of the user's hooks files, below the configuration directory.
    #[must_use]
    pub(crate) fn global_files(&self) -> &[PathBuf] {
        &self.global_files
    }

    /// Returns the paths of a project's hooks files, below its root.
    #[must_use]
    pub(crate) fn project_files(&self) -> &[PathBuf] {
        &self.project_files
    }

    /// Returns the path of the administrator's file: `/etc/NAME/hooks.json`, with the characters of [`new`](Self::new). None
    /// on Windows, where any user can create directories in `%ProgramData%`, and for an empty name.
    pub(crate) fn system_file(&self) -> Option<PathBuf> {
        let has_place = cfg!(unix) && !self.name.is_empty();
        has_place.then(|| {
            Path::new("/etc")
                .join(directory_name(&self.name))
                .join("hooks.json")
        })
    }

    /// Returns whether hooks also receive the variables without a prefix.
    #[must_use]
    pub(crate) fn short_names(&self) -> bool {
        self.short_names
    }
}

/// Returns the index, in a profile's list of files, of the path for a new hooks file: the shared one, else the first.
#[cfg(feature = "cli")]
pub(crate) fn index_of_new(files: &[PathBuf]) -> usize {
    let shared = [SHARED_GLOBAL, SHARED_IN_PROJECT].map(Path::new);
    let mut files = files.iter();
    files
        .position(|file| shared.contains(&&**file))
        .unwrap_or(0)
}

/// Returns the text with `-` for characters that a directory's name cannot contain.
fn directory_name(text: &str) -> String {
    let is_kept = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let chars = text.chars();
    chars.map(|c| if is_kept(c) { c } else { '-' }).collect()
}

/// Returns the text in capitals, with `_` for characters that a variable's name cannot contain.
fn variable_name(text: &str) -> String {
    let capital = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = text.chars().map(capital).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_directory() {
        let profile = AppProfile::new("../my game/2");
        assert_eq!(profile.env_prefixes(), ["___MY_GAME_2"]);
        assert_eq!(
            profile.global_files(),
            [Path::new("---my-game-2/hooks.json")]
        );
        let system = cfg!(unix).then(|| "/etc/---my-game-2/hooks.json".into());
        assert_eq!(profile.system_file(), system);
        assert_eq!(AppProfile::new("").system_file(), None);
        assert_eq!(AppProfile::new("2048").env_prefixes(), ["_2048"]);
    }
}
