//! The last good content of each file, which a watcher keeps while the file is broken.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::content::Loaded;
use crate::logging::warn;
use crate::printable::printable;

/// The last good content of the files of the last load, as it is before approvals are checked: they may be lost
/// while a file is broken.
#[derive(Default)]
pub(super) struct LastGood(HashMap<Arc<Path>, Loaded>);

impl LastGood {
    /// Replaces the content of each broken file by its last good content, if it has any. Forgets files that are gone.
    pub(super) fn apply(&mut self, files: &mut [Loaded]) {
        let before = std::mem::take(&mut self.0);
        for file in files.iter_mut().filter(|file| !file.is_left_out) {
            let is_broken = file.unreadable || file.items.iter().any(|item| item.is_placeholder);
            if !is_broken {
                self.0.insert(Arc::clone(&file.path), file.clone());
            } else if let Some(good) = before.get(&file.path) {
                let path = file.path.to_string_lossy();
                warn!(
                    "`{}` cannot be used: its last good hooks stay",
                    printable(&path)
                );
                self.0.insert(Arc::clone(&file.path), good.clone());
                file.usable_as_read = Some(file.hooks().count());
                // The problems stay.
                let good = good.clone();
                file.items = good.items;
                file.disable = good.disable;
                file.switches = good.switches;
            }
        }
    }
}
