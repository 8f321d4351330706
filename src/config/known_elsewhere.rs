//! Keys that people know from other programs, and the keys of an entry that they mean by them.
//!
//! Only for suggestions; does not know those programs.

/// Returns the key that is meant by one of another program, and what to write.
pub(super) fn meant_key(key: &str) -> Option<(&'static str, &'static str)> {
    let tool = "name the tool in `event`, as in `tool:pre_execute:bash`";
    let tools = "name the tools in `event`, as in `tool:pre_execute:bash|write`";
    let entry = "write each hook as its own entry, with `event` and `command`";
    let when = "write `when`, as in {\"/tool_args/command\": \"git *\"}";
    Some(match key {
        "matcher" | "tool" => ("event", tool),
        "tools" => ("event", tools),
        "hooks" => ("", entry),
        "disabled" => ("enabled", "write \"enabled\": false"),
        "type" => ("", "remove it: every hook has a command"),
        "async" => ("background", "write \"background\": true"),
        "if" => ("when", when),
        "cwd" => ("working_dir", "write `working_dir`"),
        "cmd" | "run" | "script" => ("command", "write `command`"),
        "id" => ("name", "write `name`"),
        "timeout_ms" | "timeoutMs" => ("timeout", "write `timeout`, in seconds"),
        _ => return None,
    })
}
