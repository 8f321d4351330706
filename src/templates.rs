//! Ready-made hooks that hosts can register or copy into hooks.json.
//!
//! On Unix and on Windows, each hook has the effect that its description states. Three start no process. The commands of the
//! others are for `sh` and, on Windows, for `cmd` and PowerShell.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use crate::entry::{Decision, FailurePolicy, HookOutput, Reads, Sandbox, Shell, Stdin};
use crate::hook::{Condition, Hook};
use crate::profile::AppProfile;

/// The templates for the default profile, by name.
///
/// These are `log_all`, `notify_session_start`, `git_auto_commit`, `block_sudo` and, on Linux in a
/// [sandbox](crate::Sandbox), `block_private_keys`; and, without a process, `block_env_files`, `ask_before_push` and
/// `tell_the_model`.
///
/// ```
/// use forge_hooks::{HOOK_TEMPLATES, HookRegistry};
///
/// let registry = HookRegistry::new();
/// registry.register(HOOK_TEMPLATES["block_sudo"].clone());
/// assert_eq!(registry.hooks()[0].event_pattern(), "tool:pre_execute:bash");
/// ```
pub static HOOK_TEMPLATES: LazyLock<BTreeMap<&'static str, Hook>> =
    LazyLock::new(|| for_profile(&AppProfile::default()));

/// Returns the same templates for another profile: they write to its directory.
#[must_use]
pub fn for_profile(profile: &AppProfile) -> BTreeMap<&'static str, Hook> {
    let directory = profile
        .project_files()
        .first()
        .and_then(|file| file.parent());
    let directory = directory.unwrap_or(Path::new(".hooks")).to_string_lossy();
    let templates = [
        (
            "log_all",
            "*",
            log_all(&directory),
            "Log all events to a file",
        ),
        (
            "notify_session_start",
            "session:start",
            notify(profile.name()),
            "Desktop notification on session start",
        ),
        (
            "git_auto_commit",
            "tool:post_execute:write",
            git_auto_commit(),
            "Auto-commit on file writes",
        ),
        (
            "block_sudo",
            "tool:pre_execute:bash",
            block_sudo(),
            "Block sudo commands in bash",
        ),
        (
            "block_private_keys",
            "tool:pre_execute:write",
            block_private_keys(),
            "Block writing private keys to files",
        ),
    ];
    // The patterns, commands and conditions are well-formed, as a test shows.
    let of_commands = templates
        .into_iter()
        .filter_map(|(name, event, command, description)| {
            let hook = Hook::new(event, command).ok()?;
            let hook = hook.with_description(description);
            Some((name, with_manners(name, hook)))
        });
    let named = |(name, hook): (&'static str, Hook)| (name, hook.with_name(name));
    of_commands.chain(answering()).map(named).collect()
}

/// Returns the templates that start no process.
fn answering() -> impl Iterator<Item = (&'static str, Hook)> {
    let no_secrets = HookOutput {
        decision: Some(Decision::Block),
        reason: Some("Blocked: the file may have secrets".to_owned()),
        ..HookOutput::default()
    };
    let question = HookOutput {
        decision: Some(Decision::Ask),
        reason: Some("the commits become public".to_owned()),
        ..HookOutput::default()
    };
    let context = HookOutput {
        additional_context: Some(
            "(write here what the model should know of this project)".to_owned(),
        ),
        ..HookOutput::default()
    };
    let env_files = Condition::OneOf(
        [".env", ".env.*", "**/.env", "**/.env.*"]
            .map(Into::into)
            .into(),
    );
    let push = Condition::Regex(r"\bgit\b.*\bpush\b".to_owned());
    let hooks = [
        (
            "block_env_files",
            "Block writing .env files",
            Hook::answering("tool:pre_execute:write|edit", no_secrets)
                .and_then(|hook| hook.with_when("/tool_args/path", env_files)),
        ),
        (
            "ask_before_push",
            "Ask before git push",
            Hook::answering("tool:pre_execute:bash", question)
                .and_then(|hook| hook.with_when("/tool_args/command", push)),
        ),
        (
            "tell_the_model",
            "Tell the model something on session start",
            Hook::answering("session:start", context),
        ),
    ];
    hooks
        .into_iter()
        .filter_map(|(name, about, hook)| Some((name, hook.ok()?.with_description(about))))
}

/// Configures everything but the command: only the guards can stop anything.
fn with_manners(name: &str, hook: Hook) -> Hook {
    if name == "block_private_keys" {
        let hook = hook.with_reads(Reads::Stdin);
        return if cfg!(windows) {
            hook.with_shell(Shell::PowerShell)
        } else if cfg!(target_os = "linux") {
            hook.with_sandbox(Sandbox::new())
        } else {
            hook
        };
    }
    let hook = hook.with_stdin(Stdin::None);
    match name {
        // `findstr` skips long lines, and `cmd` does not expand our variables before a pipe.
        "block_sudo" if cfg!(windows) => hook.with_shell(Shell::PowerShell),
        "block_sudo" => hook,
        "git_auto_commit" => hook
            .with_on_failure(FailurePolicy::Continue)
            .with_timeout(Duration::from_secs(30)),
        _ => hook.with_on_failure(FailurePolicy::Continue),
    }
}

/// Quotes a text with the single quotes of `sh`.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Writes one line for each event. A tool's name with a line break must not forge another line.
fn log_all(directory: &str) -> String {
    if cfg!(windows) {
        return format!(
            "(if not exist \"!USERPROFILE!\\{directory}\\\" mkdir \"!USERPROFILE!\\{directory}\") & \
             echo [!DATE! !TIME!] !FORGE_EVENT! tool=!FORGE_TOOL_NAME!>> \
             \"!USERPROFILE!\\{directory}\\events.log\"",
            directory = directory.replace('/', "\\"),
        );
    }
    let directory = quoted(directory);
    format!(
        r#"dir="$HOME"/{directory}
tool=${{FORGE_TOOL_NAME:--}}
case $tool in *[[:cntrl:]]*) tool='?' ;; esac
mkdir -p "$dir" &&
printf '[%s] %s tool=%s\n' "$(date +%Y-%m-%dT%H:%M:%S%z)" "$FORGE_EVENT" "$tool" >> "$dir/events.log""#
    )
}

fn notify(program: &str) -> String {
    if cfg!(windows) {
        return "msg * /TIME:5 Session started".to_owned();
    }
    let program = quoted(program);
    format!(
        r#"if command -v notify-send >/dev/null; then
    notify-send {program} 'Session started'
else
    osascript -e 'on run argv' -e 'display notification "Session started" with title item 1 of argv' -e 'end run' {program}
fi"#
    )
}

/// Commits only if everything could be added and something has changed. Outside of a repository, the hook does nothing.
fn git_auto_commit() -> String {
    if cfg!(windows) {
        return "git rev-parse --is-inside-work-tree >NUL 2>&1 || exit 0 & git add -A || exit 1 & \
             git diff --cached --quiet && exit 0 & \
             git commit --quiet -m \"Auto-save: !FORGE_TOOL_NAME!\""
            .to_owned();
    }
    r#"git rev-parse --is-inside-work-tree >/dev/null 2>&1 || exit 0
git add -A || exit
git diff --cached --quiet
case $? in
    0) ;;
    1) git commit --quiet -m "Auto-save: $FORGE_TOOL_NAME" ;;
    *) exit 1 ;;
esac"#
        .to_owned()
}

/// Looks for `sudo` or `sudoedit` as a word of the JSON. In JSON, the character before the word can be the second half of an
/// escape, as in `
/// sudo`. The hook is not a sandbox: a command can be disguised.
fn block_sudo() -> String {
    if cfg!(windows) {
        return r"if ($env:FORGE_TOOL_ARGS -match '(^|[^\w.-]|\\[bfnrt]|\\u[0-9a-f]{4})sudo(edit)?([^\w.-]|$)') { 'Blocked: sudo is not allowed'; exit 1 }"
            .to_owned();
    }
    r#"printf '%s\n' "$FORGE_TOOL_ARGS" |
    grep -Eq '(^|[^[:alnum:]_.-]|\\[bfnrt]|\\u[0-9a-f]{4})sudo(edit)?([^[:alnum:]_.-]|$)'
case $? in
    0) echo 'Blocked: sudo is not allowed'; exit 1 ;;
    1) exit 0 ;;
    *) echo 'Blocked: the command could not be searched for sudo'; exit 1 ;;
esac"#
        .to_owned()
}

/// Looks for the first line of a private key (PEM) in the event's JSON.
fn block_private_keys() -> String {
    if cfg!(windows) {
        return "if ([Console]::In.ReadToEnd() -match '-----BEGIN [A-Z0-9 ]*PRIVATE KEY') { 'Blocked: the text has a private key'; exit 1 }"
            .to_owned();
    }
    r#"grep -q -e '-----BEGIN [A-Z0-9 ]*PRIVATE KEY'
case $? in
    0) echo 'Blocked: the text has a private key'; exit 1 ;;
    1) exit 0 ;;
    *) echo 'Blocked: the text could not be searched for private keys'; exit 1 ;;
esac"#
        .to_owned()
}
