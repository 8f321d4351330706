//! The files from which a process was started, with their state at that time. If one has changed, a new process is needed,
//! so that no hook continues in an old form.
//!
//! Compares sizes and times, not content: content is checked by the approval.

use std::path::Path;

use crate::hook::{Hook, Pieces};
use crate::named::{Lookup, Stamps, hooks_directories};
use crate::process::{Spec, program_of};

/// The most files from which a process is kept: all of them are checked before each event.
const MOST: usize = 1000;

/// Returns the stamps of the program, of each word of the command that could be a file, of the files that its interpreters
/// run, of the hooks directory of the hook's project, and of the hook's `inputs`. None if the files cannot be determined, or if there are too many.
pub(super) fn stamps_of(hook: &Hook, spec: &Spec<'_>) -> Option<Stamps> {
    let inherited = |name: &str| spec.environment.inherited(name)?.into_string().ok();
    let pieces = Pieces::of(hook, &inherited);
    if pieces.unknown.is_some() && hook.inputs().is_empty() {
        return None;
    }
    let is_program = |word: &&String| !word.contains(['/', ' ']) && !word.starts_with('-');
    let named = pieces.names.iter().filter(is_program);
    let programs = named.filter_map(|word| program_of(word.as_ref(), spec));
    let named_base = hook.base_dir().unwrap_or(spec.working_dir);
    let base = named_base.canonicalize().ok()?;
    let mut places = vec![named_base.to_owned()];
    places.extend(program_of(&spec.program, spec));
    places.extend(programs);
    let project = hook.base_dir().into_iter();
    let of_project = project.flat_map(|project| hooks_directories(hook, project));
    let lookup = Lookup {
        root: Path::new("/"),
        base: base.strip_prefix("/").ok()?,
        working_dir: spec.working_dir,
        pieces: &pieces,
        places,
        directories: of_project.map(|path| base.join(path)).collect(),
        notices_new: false,
        is_skipped: &|_| false,
        digest: None,
    };
    let named = lookup.files_of(hook);
    let is_known = named.files.values().all(Result::is_ok) && named.seen.len() <= MOST;
    is_known.then_some(named.seen)
}
