//! Names that people write for an event or a tool, and the ones that they mean.
//!
//! Only for suggestions; knows no other program but for its names of events.

use super::table::KNOWN;

/// The longest name, in bytes, that is compared with others to find a typo.
const LONGEST_NAME: usize = 64;

/// How similar a name of an event or a tool must be to another one to count as a typo of it.
pub(crate) const LIKE_AN_EVENT: f64 = 0.85;

/// Returns the name that is most similar to `text`, if its similarity is above `least`; 1 is equality. Capitals
/// make no difference.
pub(crate) fn nearest<'a>(
    text: &str,
    names: impl Iterator<Item = &'a str>,
    least: f64,
) -> Option<&'a str> {
    // The time of the search grows faster than the length of the name.
    if text.len() > LONGEST_NAME {
        return None;
    }
    // Otherwise `Bash` would be nearer to `dash` than to `bash`.
    let text = text.to_lowercase();
    names
        .map(|name| (strsim::jaro_winkler(&name.to_lowercase(), &text), name))
        .filter(|(likeness, _)| *likeness > least)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

/// The longest text, in bytes, in which another program's name is looked for.
const LONGEST_PATTERN: usize = 200;

/// Returns the pattern that is meant by another program's name of an event, in any case and with any separators
/// (`pre_tool_use`), perhaps with a tool behind it.
pub(crate) fn meant_by(name: &str) -> Option<String> {
    if name.len() > LONGEST_PATTERN {
        return None;
    }
    let (name, tool) = match name.split_once(':') {
        Some((name, tool)) => (name, format!(":{}", tool.to_lowercase())),
        None => (name, String::new()),
    };
    let name = name.replace(['_', '-', ' '], "");
    let is_meant = |theirs: &&str| theirs.eq_ignore_ascii_case(&name);
    let mut known = KNOWN.iter();
    let meant = known.find(|known| known.elsewhere.iter().any(is_meant))?;
    Some(meant.name.to_owned() + &tool)
}
