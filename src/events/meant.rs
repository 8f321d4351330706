//! Names that people know from other programs, and the intended events.
//!
//! Serves only suggestions. Does not know those programs.

use super::table::KNOWN;

/// Returns the event that another program calls by this name, in any case.
pub(crate) fn named_elsewhere(name: &str) -> Option<&'static str> {
    let is_name = |theirs: &&str| theirs.eq_ignore_ascii_case(name);
    let mut known = KNOWN.iter();
    Some(
        known
            .find(|event| event.elsewhere.iter().any(is_name))?
            .name,
    )
}

/// Returns the pattern that a person means by another program's name of an event, in any case and with any separators
/// (`pre_tool_use`), optionally followed by a tool.
pub(crate) fn meant_by(name: &str) -> Option<String> {
    if name.len() > LONGEST {
        return None;
    }
    let (name, tool) = match name.split_once(':') {
        Some((name, tool)) => (name, Some(tool)),
        None => (name, None),
    };
    let name = name.replace(['_', '-', ' '], "");
    let ours = named_elsewhere(&name)?;
    Some(match tool {
        Some(tool) => format!("{ours}:{}", tool.to_lowercase()),
        None => ours.to_owned(),
    })
}

/// The longest text, in bytes, that is compared.
const LONGEST: usize = 200;
