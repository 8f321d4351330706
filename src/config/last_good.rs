//! The last good content of each file, which a watcher keeps while the file is broken.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::content::{Item, Loaded, Switches};
use crate::logging::warn;
use crate::printable::printable;

/// The last good content of the files of the last load, as it is before approvals are checked: they may be lost
/// while a file is broken.
#[derive(Default)]
pub(super) struct LastGood(HashMap<Arc<Path>, Good>);

#[derive(Clone)]
struct Good {
    items: Vec<Item>,
    disable: Vec<String>,
    switches: Switches,
}

impl LastGood {
    /// Replaces the content of each broken file by its last good content, if it has any. Forgets files that are gone.
    pub(super) fn apply(&mut self, files: &mut [Loaded]) {
        let before = std::mem::take(&mut self.0);
        for file in files.iter_mut().filter(|file| !file.is_left_out) {
            if !file.is_broken() {
                self.0.insert(Arc::clone(&file.path), Good::of(file));
            } else if let Some(good) = before.get(&file.path) {
                let path = file.path.to_string_lossy();
                warn!(
                    "`{}` cannot be used: its last good hooks stay",
                    printable(&path)
                );
                self.0.insert(Arc::clone(&file.path), good.clone());
                good.clone().replace(file);
            }
        }
    }
}

impl Good {
    fn of(file: &Loaded) -> Self {
        Self {
            items: file.items.clone(),
            disable: file.disable.clone(),
            switches: file.switches.clone(),
        }
    }

    /// Replaces the content of a file. Its problems stay.
    fn replace(self, file: &mut Loaded) {
        file.usable_as_read = Some(file.usable().count());
        file.items = self.items;
        file.disable = self.disable;
        file.switches = self.switches;
    }
}
