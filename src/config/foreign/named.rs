//! Files and plugins of other tools that the user has named: they need no approval, wherever they are.

use std::path::Path;

use super::super::places::absolute;
use super::super::reader::Compiled;
use super::tools::tool;
use super::{LoadedFiles, OtherTools, load, missing};
use crate::hook::Dialect;

impl OtherTools {
    /// Reads the files and plugins that the user has named, except files that were read before.
    pub(super) fn find_named(&self, found: &mut LoadedFiles) {
        for (dialect, path) in &self.named {
            let path = absolute(path);
            let Some(tool) = tool(*dialect) else {
                continue;
            };
            if path.is_dir() {
                self.plugin(&path, tool, None, Compiled::Enabled, &mut found.plugins);
                continue;
            }
            let mut read = found.user.iter().chain(&found.project);
            if read.any(|file| is_same_file(&file.path, &path)) {
                continue;
            }
            let origin = self.origin(tool, None, None, Compiled::Enabled);
            match load(&path, &origin) {
                Some((loaded, switches)) => {
                    found.plugins.push(loaded);
                    found.off.push((*dialect, switches));
                }
                None => found
                    .plugins
                    .push(missing(&path, "the file does not exist")),
            }
        }
    }

    /// Whether the user has named this file of a project.
    pub(super) fn is_named(&self, dialect: Dialect, path: &Path) -> bool {
        let mut named = self.named.iter();
        named.any(|(tool, named)| *tool == dialect && is_same_file(named, path))
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
