//! Git in the directory of a test, without the settings of the machine.
#![cfg(unix)]

use std::process::Command;

use forge_hooks::Hook;

use crate::support::World;

/// The variables that git sets for its hooks. A hook may have started these tests.
pub(crate) const OUTER: [&str; 3] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"];

impl World {
    fn git_settings(&self) -> [(&'static str, String); 6] {
        let above = self.directory().parent().unwrap().to_str().unwrap();
        let home = self.path(".no home").to_str().unwrap().to_owned();
        [
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("GIT_CONFIG_SYSTEM", "/dev/null".to_owned()),
            ("GIT_CEILING_DIRECTORIES", above.to_owned()),
            ("XDG_CONFIG_HOME", home.clone()),
            ("HOME", home),
            ("LC_ALL", "C".to_owned()),
        ]
    }

    /// The hook, with the settings that `git` has here.
    pub(crate) fn with_git(&self, mut hook: Hook) -> Hook {
        for (name, value) in self.git_settings() {
            hook = hook.with_env(name, value);
        }
        hook
    }

    /// Prints what git prints, unless it fails.
    pub(crate) fn try_git(&self, args: &[&str]) -> Option<String> {
        let mut command = Command::new("git");
        for name in OUTER {
            command.env_remove(name);
        }
        let command = command.current_dir(self.directory()).args(args);
        let output = command.envs(self.git_settings()).output().unwrap();
        let succeeded = output.status.success();
        succeeded.then(|| String::from_utf8(output.stdout).unwrap())
    }

    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.try_git(args).unwrap_or_else(|| panic!("git {args:?}"))
    }

    pub(crate) fn commits(&self) -> usize {
        self.git(&["rev-list", "--all"]).lines().count()
    }
}
