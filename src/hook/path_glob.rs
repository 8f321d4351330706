//! One glob of a condition: its text in the form of a path, and the mistakes that it must not have.
//!
//! Knows no paths of events.

use crate::globs::{translated, with_slashes};
use crate::paths::{System, begins_at_root, composed};
use crate::printable::shortened;

const MARKS: [char; 3] = ['*', '?', '['];

#[derive(Debug, Clone)]
pub(super) struct Glob {
    pub(super) text: String,
    /// The parts before the first mark, without a `/` at the end.
    pub(super) fixed: String,
    pub(super) is_absolute: bool,
}

impl Glob {
    /// Reads a glob. `home` replaces `~`.
    ///
    /// # Errors
    /// A fragment that names the glob, the reason, and the right form.
    pub(super) fn new(glob: &str, home: Option<&str>) -> Result<Self, String> {
        let text = composed(&with_slashes(glob), System::NATIVE).into_owned();
        check_variable(glob, &text)?;
        let text = match (text.strip_prefix('~'), home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                format!("{}{rest}", escaped(home.trim_end_matches('/')))
            }
            _ => text,
        };
        check_parts(glob, &text)?;
        let text = match without_empty_parts(&text) {
            // An empty path is that of the root.
            text if text.is_empty() => ".".to_owned(),
            text => text,
        };
        let first = text.find(MARKS).unwrap_or(text.len());
        let end = if first == text.len() {
            first
        } else {
            text[..first].rfind('/').unwrap_or_default()
        };
        let is_absolute = begins_at_root(&text, System::NATIVE);
        let fixed = if end == 0 && is_absolute && first > 0 {
            "/"
        } else {
            &text[..end]
        };
        let glob = Self {
            fixed: fixed.to_owned(),
            is_absolute,
            text,
        };
        glob.expression()?;
        Ok(glob)
    }

    /// Returns whether the glob begins with a name, and not with a mark.
    pub(super) fn is_anchored(&self) -> bool {
        !self.text.starts_with(MARKS)
    }

    /// Returns the glob as a regular expression.
    pub(super) fn expression(&self) -> Result<String, String> {
        let invalid = |why| format!("invalid glob `{}`: {why}", shortened(&self.text));
        translated(&self.text).map_err(invalid)
    }

    /// Returns the glob for absolute names. `directory` is the place of its fixed beginning, if that is another one.
    pub(super) fn below(&self, directory: &str) -> String {
        let rest = self.text[self.fixed.len()..].trim_start_matches('/');
        format!("{}/{rest}", escaped(directory.trim_end_matches('/')))
    }
}

/// Returns a glob without the empty parts of `//`, which paths are compared without.
fn without_empty_parts(glob: &str) -> String {
    let first = match System::NATIVE {
        // A share of another computer begins with `//`.
        System::Windows => glob.get(..1).unwrap_or_default(),
        _ => "",
    };
    let mut plain = glob[first.len()..].to_owned();
    while plain.contains("//") {
        plain = plain.replace("//", "/");
    }
    first.to_owned() + &plain
}

/// Checks the parts of a glob.
///
/// # Errors
/// If a part has no meaning, so that it is not clear which paths are meant.
fn check_parts(glob: &str, text: &str) -> Result<(), String> {
    let mut parts = text.split('/');
    let help = if parts.any(|part| part == "..") {
        "paths are compared without `..`: write the path from the project's root, or the whole path"
    } else if text != "." && text.split('/').any(|part| part == ".") {
        "paths are compared without `.`: remove it"
    } else if text.len() > 1 && text.ends_with('/') {
        "paths are compared without a `/` at the end: for a directory remove it, for what is below add `**`"
    } else if text.contains("//") && text.contains('[') {
        "paths are compared without `//`: write one `/`"
    } else if has_choice(text) {
        "a glob has no braces: write a list of globs"
    } else {
        return Ok(());
    };
    Err(format!("invalid glob `{}`: {help}", shortened(glob)))
}

/// Returns whether a glob has braces around a choice, as in `{a,b}`.
fn has_choice(glob: &str) -> bool {
    let mut groups = glob.split('{').skip(1);
    groups.any(|group| {
        group
            .split_once('}')
            .is_some_and(|(choice, _)| choice.contains(','))
    })
}

/// Returns a path as a glob that matches it alone.
pub(super) fn escaped(path: &str) -> String {
    path.replace('[', "[[]")
        .replace('*', "[*]")
        .replace('?', "[?]")
}

/// Checks that a glob has no variables.
///
/// # Errors
/// If the first part is a variable.
fn check_variable(glob: &str, text: &str) -> Result<(), String> {
    let Some((first, rest)) = text.split_once('/') else {
        return Ok(());
    };
    let is_variable = first.starts_with('$') && first.len() > 1
        || first.len() > 2 && first.starts_with('%') && first.ends_with('%');
    if !is_variable {
        return Ok(());
    }
    let help = match first.trim_matches(['$', '{', '}', '%']) {
        "HOME" | "USERPROFILE" => format!("write `~/{}`", shortened(rest)),
        _ => "write the whole path".to_owned(),
    };
    let glob = shortened(glob);
    Err(format!(
        "invalid glob `{glob}`: a glob has no variables: {help}"
    ))
}
