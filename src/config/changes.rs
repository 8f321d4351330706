//! Tells whether hooks files have changed since a host last asked, and which of them have vanished.
//!
//! It reads the files: a few small texts cost less than a notification of the system, which needs a directory that exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::content::Owner;
use super::places::absolute;
use super::reader::HooksJson;
use super::report::TrustPolicy;
use super::sources::{Content, SourceFile};
use super::{HookConfig, file};

/// A file and its text, with its warning; none if it does not exist. A file that cannot be used has the reason and the
/// time of its last change.
pub(super) type Look = (PathBuf, Result<Option<(String, Option<String>)>, String>);

/// The reason why a file that has vanished blocks.
const VANISHED: &str =
    "the file has vanished since its hooks were loaded: put it back, or start the program again";

impl HookConfig {
    /// Reads the files that decide which hooks there are and may run.
    pub(crate) fn look(&self, root: Option<&Path>, policy: Option<&TrustPolicy>) -> Vec<Look> {
        let files = self.files(root.map(absolute).as_deref()).into_iter();
        let mut paths: Vec<_> = files.map(|file| file.path).collect();
        if let Some(TrustPolicy::Approved(store)) = policy {
            paths.push(store.path().to_owned());
        }
        paths.into_iter().map(look_at).collect()
    }
}

fn look_at(path: PathBuf) -> Look {
    let text = file::read(&path).map_err(|error| {
        let changed = path
            .metadata()
            .and_then(|metadata| metadata.modified())
            .ok();
        format!("{error} {changed:?}")
    });
    let text = text.map(|text| text.map(|file| (file.text, file.warning)));
    (path, text)
}

/// Leaves out the files that have vanished, so that they block.
pub(super) fn leave_out(
    files: &mut Vec<SourceFile>,
    vanished: &BTreeSet<PathBuf>,
    root: Option<&Path>,
) {
    let mut left: BTreeSet<&PathBuf> = vanished.iter().collect();
    for file in files.iter_mut().filter(|file| left.remove(&file.path)) {
        file.content = match std::mem::replace(&mut file.content, Content::Nothing) {
            Content::Settings(form) | Content::Plugin(form) => {
                Content::LeftOut(VANISHED.to_owned(), form)
            }
            other => other,
        };
    }
    // Files of a directory such as `hooks.d` are listed only while they exist.
    files.extend(left.into_iter().map(|path| SourceFile {
        path: path.clone(),
        owner: if root.is_some_and(|root| path.starts_with(root)) {
            Owner::Project
        } else {
            Owner::User
        },
        content: Content::LeftOut(VANISHED.to_owned(), Arc::new(HooksJson::default())),
    }));
}
