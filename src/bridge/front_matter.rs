//! The front matter of a Markdown file with a skill, a command or a subagent: whether it may register hooks, permissions or servers.
//!
//! Reads the form in which people write it, one `key: value` a line. Whatever else it is, it may register something.

use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};

use crate::files;

/// The keys with which an agent registers something.
const KEYS: [&str; 7] = [
    "approvalmode",
    "executor",
    "hooks",
    "mcpservers",
    "permission",
    "permissionmode",
    "policy",
];

/// Characters at which some readers of YAML begin a new line.
const OTHER_BREAKS: [char; 6] = ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// The arguments of tools that write or edit a whole file. With others, the text that will be there is not known.
const OF_WRITE: [&str; 2] = ["path", "content"];
const OF_EDIT: [&str; 7] = [
    "path",
    "old_string",
    "new_string",
    "replace_all",
    "expected_replacements",
    "allow_multiple",
    "instruction",
];

/// The most bytes of a file that is read.
const LARGEST: u64 = 1024 * 1024;

/// Returns whether a call with these arguments writes a text that may register something. True if the text is not known.
pub(super) fn is_written(path: &Path, arguments: &Map<String, Value>) -> bool {
    let texts = texts_after(path, arguments);
    texts.is_none_or(|texts| texts.iter().any(|text| registers(text)))
}

/// Returns the texts that a file may have after a call, since some tools replace a text once, and others each time; none if they are not
/// known.
fn texts_after(path: &Path, arguments: &Map<String, Value>) -> Option<Vec<String>> {
    let text = |key: &str| arguments.get(key)?.as_str();
    let has_only = |known: &[&str]| arguments.keys().all(|key| known.contains(&&**key));
    if has_only(&OF_WRITE) {
        return Some(vec![text("content")?.to_owned()]);
    }
    let (old, new) = (text("old_string")?, text("new_string")?);
    if !has_only(&OF_EDIT) {
        return None;
    }
    if old.is_empty() {
        // An insertion into a file may stand anywhere.
        return (!files::is_there(path)).then(|| vec![new.to_owned()]);
    }
    let mut before = String::new();
    let file = files::open(path).ok()?;
    file.take(LARGEST + 1).read_to_string(&mut before).ok()?;
    let is_whole = before.len() as u64 <= LARGEST && before.contains(old);
    is_whole.then(|| vec![before.replacen(old, new, 1), before.replace(old, new)])
}

fn registers(text: &str) -> bool {
    let text = text.trim_start_matches(['\u{feff}', '\n', '\r', ' ', '\t']);
    if !text.starts_with("---") {
        return false;
    }
    let mut lines = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line));
    let is_begin = lines.next().is_some_and(|first| first.trim_end() == "---");
    let mut has_key = false;
    for line in lines {
        if line.trim_end() == "---" {
            // To some readers, a line with blanks at its end is no end.
            return !is_begin || line != "---";
        }
        // An indented line belongs to a key above it.
        let is_below = line.starts_with([' ', '\t', '-']);
        if line.contains(OTHER_BREAKS) || is_below && !has_key || !is_plain(line) {
            return true;
        }
        has_key |= line.contains(':') && !line.starts_with('#');
    }
    // It has no end.
    true
}

/// Returns whether a line has a key that registers nothing, or belongs to the line before.
fn is_plain(line: &str) -> bool {
    if line.trim().is_empty() || line.starts_with([' ', '\t', '#']) || line.starts_with("- ") {
        return true;
    }
    let Some((key, _)) = line.split_once(':') else {
        return false;
    };
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let plain = key.replace(['-', '_'], "").to_ascii_lowercase();
    key.chars().all(is_of_key) && !KEYS.contains(&&*plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_register_something_is_seen() {
        for (text, expected) in [
            ("# A skill", false),
            (
                "---\nname: a\ndescription: >\n  hooks: no key\ntools: [Read]\n---\nhooks: text",
                false,
            ),
            (
                "---\nname: a\nallowed-tools:\n- Read\n# hooks\n\n---\n",
                false,
            ),
            ("---\nname: a\nhooks:\n  Stop: []\n---", true),
            ("\u{feff}\n---\nPermission-Mode: x\n---", true),
            ("---\nmcpServers: {}\n---", true),
            ("---\nname: x\napprovalMode: yolo\n---", true),
            ("---\nname: x\n--- \nhooks: {}\n---\n", true),
            ("---\n\"hooks\": {}\n---", true),
            ("---\n\"hoo\\x6bs\": {}\n---", true),
            ("---\n{hooks: {}}\n---", true),
            ("---\n? hooks\n: {}\n---", true),
            ("---\n name: a\n hooks: {}\n---", true),
            ("---\n# c\n {hooks: {}}\n---", true),
            ("---\nname: a\rhooks: {}\n---", true),
            ("---\nname: a\u{2028}hooks: {}\n---", true),
            ("--- {hooks: {}}\n---\n", true),
            ("---\r\nname: a\r\n---\r\n", false),
            ("---\nname: a", true),
            ("---\nhoo", true),
        ] {
            assert_eq!(registers(text), expected, "{text:?}");
        }
    }

    #[test]
    fn an_edit_is_read_with_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.md");
        std::fs::write(&path, "---\nname: a\n---\ntext").unwrap();
        let edit = |old: &str, new: &str| {
            let arguments = serde_json::json!({"old_string": old, "new_string": new});
            is_written(&path, arguments.as_object().unwrap())
        };
        assert!(!edit("text", "hooks: other text"));
        assert!(edit("name: a", "hooks: a"));
        assert!(edit("nothing like this", "x"));
        assert!(edit("", "hooks: {}"), "an insertion");
        assert!(is_written(&path, &Map::new()));
        let more = serde_json::json!({"path": "a.md", "content": "", "edits": []});
        assert!(is_written(&path, more.as_object().unwrap()));
    }
}
