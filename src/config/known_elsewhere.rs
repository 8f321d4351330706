//! Keys that people know from other programs, and the keys of an entry that they mean by them.
//!
//! Only for suggestions; does not know those programs.

/// Each with the key that is meant, and what to write.
const KEYS: [(&str, &str, &str); 15] = [
    (
        "matcher",
        "event",
        "name the tool in `event`, as in `tool:pre_execute:bash`",
    ),
    (
        "tool",
        "event",
        "name the tool in `event`, as in `tool:pre_execute:bash`",
    ),
    (
        "tools",
        "event",
        "name the tools in `event`, as in `tool:pre_execute:bash|write`",
    ),
    (
        "hooks",
        "",
        "write each hook as its own entry, with `event` and `command`",
    ),
    ("disabled", "enabled", "write \"enabled\": false"),
    ("type", "", "remove it: every hook has a command"),
    ("async", "background", "write \"background\": true"),
    (
        "if",
        "when",
        "write `when`, as in {\"/tool_args/command\": \"git *\"}",
    ),
    ("cwd", "working_dir", "write `working_dir`"),
    ("cmd", "command", "write `command`"),
    ("run", "command", "write `command`"),
    ("script", "command", "write `command`"),
    ("id", "name", "write `name`"),
    ("timeout_ms", "timeout", "write `timeout`, in seconds"),
    ("timeoutMs", "timeout", "write `timeout`, in seconds"),
];

/// Returns the key that is meant by one of another program, and what to write.
pub(super) fn meant_key(key: &str) -> Option<(&'static str, &'static str)> {
    let mut known = KEYS.iter();
    let (_, meant, help) = known.find(|(theirs, _, _)| *theirs == key)?;
    Some((meant, help))
}
