//! Converts one handler of another tool to a hook, by that tool's rules.
//!
//! Knows the keys of handlers, not the rest of the file.

use std::sync::Arc;
use std::time::Duration;

use super::lint;
use super::node::Node;
use super::origin::Origin;
use crate::config::lint::Finding;
use crate::hook::dialects::{ForeignEvent, Subject};
use crate::hook::{Dialect, FailurePolicy, Foreign, Hook, HookError, HookSource, Shell};

/// The settings of a handler's group.
pub(super) struct Group {
    pub(super) event: &'static ForeignEvent,
    /// The event of this crate.
    pub(super) pattern: &'static str,
    /// The dialect's settings, with the matcher.
    pub(super) foreign: Foreign,
}

/// Returns the hook of a handler, or the problem that makes the handler unusable.
pub(super) fn handler(
    node: &Node<'_, '_>,
    group: &Group,
    origin: &Origin,
    source: HookSource,
    found: &mut Vec<Finding>,
) -> Result<Hook, Finding> {
    check_type(node, origin)?;
    let hook = command(node, group, origin, found)?;
    let foreign = foreign(node, group, origin, found)?;
    let mut hook = hook
        .with_source(source)
        .with_foreign(Arc::new(foreign))
        .with_on_failure(policy(node, origin, found))
        .with_timeout(timeout(node, group, origin, found));
    if let Some(base) = &origin.base_dir {
        hook = hook.with_base_dir(Arc::clone(base));
    }
    let reads = |key: &str| origin.tool.keys.contains(&key);
    if reads("async") && runs_in_background(node, origin, found)? {
        hook = hook.with_background();
    }
    if reads("name")
        && let Some(name) = node.text_of("name", found)
    {
        hook = hook.with_name(name);
    }
    if reads("description")
        && let Some(description) = node.text_of("description", found)
    {
        hook = hook.with_description(description);
    }
    if reads("env") {
        hook = environment(node, hook, found);
    }
    lint::lint(node, &hook, origin, found);
    Ok(hook)
}

fn check_type(node: &Node<'_, '_>, origin: &Origin) -> Result<(), Finding> {
    let name = origin.tool.name;
    if !node.is_object() {
        let words = node.unexpected("an object with `type` and `command`");
        return Err(Finding::error(node, words));
    }
    let Some(given) = node.get("type") else {
        let finding = Finding::error(node, format!("has no `type`, so {name} ignores it"));
        return Err(finding.with_help("add \"type\": \"command\""));
    };
    match given.text() {
        Some("command") => Ok(()),
        Some(other) if origin.tool.other_types.contains(&other) => {
            let words =
                format!("handlers of type `{other}` do not run: only type `command` is supported");
            Err(Finding::warning(&given, words))
        }
        Some(other) => {
            let words = format!("expected `command`, found `{other}`");
            Err(Finding::error(&given, words).with_suggestion("command"))
        }
        None => Err(Finding::error(&given, given.unexpected("`command`"))),
    }
}

fn command(
    node: &Node<'_, '_>,
    group: &Group,
    origin: &Origin,
    found: &mut Vec<Finding>,
) -> Result<Hook, Finding> {
    let Some(given) = node.get("command") else {
        return Err(Finding::error(node, "`command` is missing"));
    };
    let Some(text) = given.text() else {
        return Err(Finding::error(&given, given.unexpected("a string")));
    };
    if text.contains('\0') {
        let words = "expected a string without the character NUL";
        return Err(Finding::error(&given, words));
    }
    let refused = |error: HookError| Finding::error(&given, error.to_string());
    let reads = |key: &str| origin.tool.keys.contains(&key);
    if reads("args")
        && let Some(args) = node.get("args")
    {
        let mut words = vec![text.to_owned()];
        words.extend(strings(&args)?);
        return Hook::program(group.pattern, words).map_err(refused);
    }
    let hook = Hook::new(group.pattern, text).map_err(refused)?;
    if !reads("shell") {
        return Ok(hook);
    }
    match node.text_of("shell", found) {
        Some("powershell") => Ok(hook.with_shell(Shell::Pwsh)),
        // The default: `runner` chooses the shell.
        Some("bash") | None => Ok(hook),
        Some(other) => {
            if let Some(shell) = node.get("shell") {
                let words = format!("expected `bash` or `powershell`, found `{other}`");
                found.push(Finding::warning(&shell, words));
            }
            Ok(hook)
        }
    }
}

fn strings(node: &Node<'_, '_>) -> Result<Vec<String>, Finding> {
    let words = "a list of strings";
    let Some(items) = node.items() else {
        return Err(Finding::error(node, node.unexpected(words)));
    };
    let mut strings = Vec::with_capacity(items.len());
    for item in items {
        match Node::new(item).text().filter(|text| !text.contains('\0')) {
            Some(text) => strings.push(text.to_owned()),
            None => return Err(Finding::error(node, format!("expected {words}"))),
        }
    }
    Ok(strings)
}

fn foreign(
    node: &Node<'_, '_>,
    group: &Group,
    origin: &Origin,
    found: &mut Vec<Finding>,
) -> Result<Foreign, Finding> {
    let mut foreign = group.foreign.clone();
    foreign.status_message = node.text_of("statusMessage", found).map(str::to_owned);
    if !origin.tool.keys.contains(&"if") {
        return Ok(foreign);
    }
    if let Some(rule) = node.text_of("if", found)
        && let Some(given) = node.get("if")
    {
        if group.event.subject != Subject::Tool {
            let event = group.event.name;
            let words =
                format!("the hook never runs: `{event}` has no tool that a rule could match");
            return Err(Finding::warning(&given, words).with_help("remove `if`"));
        }
        foreign = foreign.with_condition(rule);
        if foreign.condition().is_some_and(|rule| !rule.is_rule()) {
            let words = "not a rule such as `Bash(git *)`: it is ignored, and the hook always runs";
            found.push(Finding::warning(&given, words));
        }
    }
    Ok(foreign)
}

/// Returns the failure policy. Default: failures are ignored, as the tools do, unless the handler
/// or the host sets another policy.
fn policy(node: &Node<'_, '_>, origin: &Origin, found: &mut Vec<Finding>) -> FailurePolicy {
    let mut policy = origin.policy();
    if !origin.tool.keys.contains(&"onFailure") {
        return policy;
    }
    match node.text_of("onFailure", found) {
        Some("block") => policy = FailurePolicy::Block,
        Some("continue") | None => {}
        Some(other) => {
            if let Some(given) = node.get("onFailure") {
                let words = format!("expected `continue` or `block`, found `{other}`");
                found.push(Finding::warning(&given, words));
            }
        }
    }
    policy
}

fn timeout(
    node: &Node<'_, '_>,
    group: &Group,
    origin: &Origin,
    found: &mut Vec<Finding>,
) -> Duration {
    let default = group.event.timeout;
    let mut keys = origin.tool.timeout_keys.iter();
    let Some(given) = keys.find_map(|key| node.get(key)) else {
        return default;
    };
    let unit = if origin.tool.milliseconds { 0.001 } else { 1.0 };
    let number = given.number().filter(|number| *number > 0.0);
    let Some(number) = number else {
        let unit = if origin.tool.milliseconds {
            "milliseconds"
        } else {
            "seconds"
        };
        let words = format!("expected {unit} above 0; the default of {default:?} is used");
        found.push(Finding::warning(&given, words));
        return default;
    };
    lint::timeout(&given, number, origin, found);
    Duration::try_from_secs_f64(number * unit).unwrap_or(Duration::MAX)
}

fn runs_in_background(
    node: &Node<'_, '_>,
    origin: &Origin,
    found: &mut Vec<Finding>,
) -> Result<bool, Finding> {
    let is_async = node.switch("async", found);
    if origin.tool.skips_async
        && is_async
        && let Some(given) = node.get("async")
    {
        let words = format!("{} does not run handlers with `async`", origin.tool.name);
        return Err(Finding::warning(&given, words));
    }
    let rewakes = origin.tool.dialect == Dialect::Claude && node.switch("asyncRewake", found);
    if rewakes && let Some(given) = node.get("asyncRewake") {
        let words = "runs in the background, but its end does not wake the model";
        found.push(Finding::warning(&given, words));
    }
    Ok(is_async || rewakes)
}

fn environment(node: &Node<'_, '_>, mut hook: Hook, found: &mut Vec<Finding>) -> Hook {
    let Some(given) = node.get("env") else {
        return hook;
    };
    let Some(object) = given.value.as_object() else {
        found.push(Finding::warning(
            &given,
            given.unexpected("an object of strings"),
        ));
        return hook;
    };
    for property in &object.properties {
        let name = property.name.as_str();
        let is_name = !name.is_empty() && !name.contains(['=', '\0']);
        match Node::new(&property.value).text() {
            Some(value) if is_name && !value.contains('\0') => hook = hook.with_env(name, value),
            _ => found.push(Finding::warning(&given, format!("`{name}` cannot be set"))),
        }
    }
    hook
}
