//! Checks a file or a text without registering its hooks, in the form that its path and text suggest.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::content::{Loaded, Owner};
use super::places::absolute;
use super::reader::HooksJson;
use super::report::LoadReport;
use super::sources::{self, Form};
use super::{HookConfig, beside, file};
use crate::problem::{Problem, Severity};
use crate::trust::Approved;

impl HookConfig {
    /// Checks a file without registering anything. Reports the same problems as
    /// [`load_into`](HookConfig::load_into), for a program that shows them, and as errors the cases of entries that do not
    /// hold. Scripts with a relative path are only
    /// checked for a project's own file, since the directory is unknown for others. With `with_other_agents`, a hooks file
    /// of another agent, recognized by its directory or by its object `hooks`, is read as that agent reads it, unless this
    /// profile has its own file there.
    pub fn check(&self, path: impl AsRef<Path>) -> LoadReport {
        self.checked(path.as_ref(), true)
    }

    /// Checks a file as `check` does. Compiles expressions only if `is_compiled`, since that takes time.
    pub(crate) fn checked(&self, path: &Path, is_compiled: bool) -> LoadReport {
        let mut report = LoadReport::default();
        let text = file::read(path).ok().flatten();
        let form = self.form_of(path, text.as_ref().map(|file| &*file.text), &mut report);
        let mut loaded = self.checks(true).nothing(path, Owner::User);
        loaded.tests_cases = is_compiled;
        match sources::read(loaded, &*form, &self.vocabulary, is_compiled) {
            Some(loaded) => loaded.add_to(&mut report),
            None => {
                let missing = Problem::in_file(Severity::Error, path, "the file does not exist");
                report.problems.push(missing);
            }
        }
        report
    }

    /// Checks a text as [`check`](HookConfig::check) checks a file; the problems have this name as their
    /// path.
    ///
    /// ```
    /// use forge_hooks::HookConfig;
    ///
    /// let text = r#"{"hooks": [{"event": "tool:*", "comand": "true"}]}"#;
    /// let report = HookConfig::default().check_text("an editor's buffer", text);
    /// assert!(!report.is_ok());
    /// ```
    pub fn check_text(&self, name: impl AsRef<Path>, text: &str) -> LoadReport {
        let name = name.as_ref();
        let mut report = LoadReport::default();
        let form = self.form_of(name, Some(text), &mut report);
        let mut loaded = Loaded::nothing(name, Owner::User);
        (loaded.checks_scripts, loaded.tests_cases) = (true, true);
        form.read(text, &self.vocabulary, true, &mut loaded);
        loaded.add_to(&mut report);
        report
    }

    /// Returns the form of a file that is checked, and reports it if it is another agent's.
    fn form_of(&self, path: &Path, text: Option<&str>, report: &mut LoadReport) -> Arc<dyn Form> {
        let mut others = self.sources.iter().filter(|_| !self.is_own_place(path));
        let other = text.and_then(|text| others.find_map(|source| source.form_of(path, text)));
        if let Some(form) = other {
            report.read_as.push((path.to_owned(), form.title()));
            return form;
        }
        let root = self.root_of(path);
        Arc::new(HooksJson {
            // The user may not have written another file.
            host: Arc::new(self.host(root.is_some())),
            base_dir: root.map(Arc::from),
        })
    }

    /// Returns whether this configuration loads hooks such as this one, which was approved: those of other agents only if
    /// it loads that tool's.
    #[must_use]
    pub(crate) fn reads(&self, approved: &Approved) -> bool {
        let protocol = &approved.definition["protocol"];
        protocol.is_null() || sources::source_of(&self.sources, protocol).is_some()
    }

    /// Returns whether a host with this profile reads the path as a hooks file of its own.
    fn is_own_place(&self, path: &Path) -> bool {
        let path = absolute(path);
        let mut files = self.profile.global_files().iter();
        files.any(|file| beside::levels_below_root(&path, file).is_some())
            || self.root_of(&path).is_some()
    }

    /// Returns the root of the project whose hooks file this is.
    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        let path = absolute(path);
        let mut files = self.profile.project_files().iter();
        let levels = files.find_map(|file| beside::levels_below_root(&path, file))?;
        path.ancestors().nth(levels).map(Path::to_owned)
    }
}
