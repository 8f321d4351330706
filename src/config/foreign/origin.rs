//! The origin of a file's hooks, and its effect on each hook.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::tools::Tool;
use crate::config::content::Loaded;
use crate::config::report::Problem;
use crate::hook::dialects::ForeignEvent;
use crate::hook::{FailurePolicy, Foreign, ToolAliases};

pub(super) struct Origin {
    pub(super) tool: &'static Tool,
    /// The project's root; none for the user's files.
    pub(super) base_dir: Option<Arc<Path>>,
    pub(super) plugin_root: Option<PathBuf>,
    pub(super) aliases: Arc<ToolAliases>,
    /// Whether failures and unreadable files block.
    pub(super) is_strict: bool,
    /// Whether matchers are compiled when the file is read.
    pub(super) is_compiled: bool,
}

impl Origin {
    pub(super) fn policy(&self) -> FailurePolicy {
        if self.is_strict {
            FailurePolicy::Block
        } else {
            FailurePolicy::Continue
        }
    }

    pub(super) fn foreign(&self, event: &'static ForeignEvent, matcher: &str) -> Foreign {
        let mut foreign = Foreign::new(self.tool.dialect, event, matcher);
        foreign.plugin_root = self.plugin_root.clone();
        foreign.aliases = Arc::clone(&self.aliases);
        foreign
    }

    /// Handles a file that cannot be read. The tools continue without it.
    pub(super) fn give_up(&self, problem: Problem, loaded: &mut Loaded) {
        if self.is_strict {
            loaded.give_up(problem);
        } else {
            loaded.ignore(problem);
        }
    }
}
