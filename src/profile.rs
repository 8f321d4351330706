//! The names a host goes by: the prefixes of its variables and the places of its files.
//!
//! Knows names, reads nothing.

use std::path::{Path, PathBuf};

/// The names that a host's hooks and files go by.
///
/// The default profile honours both names of the specification: variables begin with `FORGE_` and
/// `OPENCODE_`, and the files are `src/forge/hooks.json` and `src/opencode/hooks.json` in the
/// user's configuration folder, and the same below `.src` in a project.
///
/// ```
/// use std::path::Path;
/// use forge_hooks::AppProfile;
///
/// let profile = AppProfile::new("mygame");
/// assert_eq!(profile.env_prefixes(), ["MYGAME"]);
/// assert_eq!(profile.global_files(), [Path::new("mygame/hooks.json")]);
/// assert_eq!(profile.project_files(), [Path::new(".mygame/hooks.json")]);
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
            ],
            project_files: vec![
                ".src/forge/hooks.json".into(),
                ".src/opencode/hooks.json".into(),
            ],
            short_names: true,
        }
    }
}

impl AppProfile {
    /// The profile of the program `name`: the prefix is the name in capitals, the files are
    /// `name/hooks.json` in the user's configuration folder and `.name/hooks.json` in a project.
    /// What cannot stand in the name of a variable becomes `_`, and in that of a folder `-`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let folder: String = name
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || matches!(c, '_' | '-') {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        Self {
            env_prefixes: vec![variable_name(&name)],
            global_files: vec![Path::new(&folder).join("hooks.json")],
            project_files: vec![Path::new(&format!(".{folder}")).join("hooks.json")],
            short_names: false,
            name,
        }
    }

    /// Sets the prefixes of the variables, without the `_` behind them. The first is the one that
    /// documentation and templates use.
    #[must_use]
    pub fn with_env_prefixes<I: IntoIterator<Item: AsRef<str>>>(mut self, prefixes: I) -> Self {
        self.env_prefixes = prefixes
            .into_iter()
            .map(|prefix| variable_name(prefix.as_ref()))
            .collect();
        self
    }

    /// Sets the places of the user's hooks, below `$XDG_CONFIG_HOME` or `~/.config`; all that
    /// exist are read, in this order.
    #[must_use]
    pub fn with_global_files<I: IntoIterator<Item: Into<PathBuf>>>(mut self, files: I) -> Self {
        self.global_files = files.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the places of a project's hooks, below its root; all that exist are read, in this
    /// order.
    #[must_use]
    pub fn with_project_files<I: IntoIterator<Item: Into<PathBuf>>>(mut self, files: I) -> Self {
        self.project_files = files.into_iter().map(Into::into).collect();
        self
    }

    /// Says whether hooks get the variables without prefix of the specification's FR-2.3 too:
    /// `EVENT_TYPE`, `TOOL_NAME`, `TOOL_ARGS`, `TOOL_RESULT`. Only the default profile does.
    #[must_use]
    pub fn with_short_names(mut self, short_names: bool) -> Self {
        self.short_names = short_names;
        self
    }

    /// The program's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The prefixes of the variables, without the `_` behind them.
    #[must_use]
    pub fn env_prefixes(&self) -> &[String] {
        &self.env_prefixes
    }

    /// The prefix that documentation and templates use; empty for a profile without prefixes.
    pub(crate) fn first_prefix(&self) -> &str {
        self.env_prefixes.first().map_or("", String::as_str)
    }

    /// The places of the user's hooks, below the configuration folder.
    #[must_use]
    pub fn global_files(&self) -> &[PathBuf] {
        &self.global_files
    }

    /// The places of a project's hooks, below its root.
    #[must_use]
    pub fn project_files(&self) -> &[PathBuf] {
        &self.project_files
    }

    /// Whether hooks get the variables without prefix too.
    #[must_use]
    pub fn short_names(&self) -> bool {
        self.short_names
    }
}

/// In capitals, with `_` for what cannot stand in the name of a variable.
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
    fn a_name_cannot_lead_out_of_its_folder() {
        let profile = AppProfile::new("../my game/2");
        assert_eq!(profile.env_prefixes(), ["___MY_GAME_2"]);
        assert_eq!(
            profile.global_files(),
            [Path::new("---my-game-2/hooks.json")]
        );
        assert_eq!(AppProfile::new("2048").env_prefixes(), ["_2048"]);
    }
}
