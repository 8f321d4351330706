//! Converts one handler of another tool to a hook, by that tool's rules.
//!
//! Knows the keys of handlers, not the rest of the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::large_context::LargeContext;
use super::lint;
use super::matcher::SharedAllowance;
use super::protocol::{ToolAliases, ToolProtocol};
use super::rule::Rule;
use super::tool::{Handlers, Tool, has};
use crate::config::reading::{Node, Problem};
use crate::hook::{FailurePolicy, Hook, HookError, HookSource, Shell};
use crate::printable::shortened;

/// The origin of a file's hooks, and its effect on each hook.
pub(super) struct Origin {
    pub(super) tool: &'static Tool,
    /// The project's root; none for the user's files.
    pub(super) base_dir: Option<Arc<Path>>,
    pub(super) plugin: Option<PathBuf>,
    pub(super) aliases: Arc<ToolAliases>,
    pub(super) large_context: Arc<LargeContext>,
    /// Whether failures and unreadable files block.
    pub(super) is_strict: bool,
}

/// A handler, and the problems found so far.
pub(super) struct Handler<'h, 't, 'a> {
    pub(super) node: Node<'t, 'a>,
    /// That of its group, with the matcher.
    pub(super) protocol: ToolProtocol,
    pub(super) origin: &'h Origin,
    pub(super) allowance: &'h SharedAllowance,
    pub(super) found: &'h mut Vec<Problem>,
}

impl<'t, 'a> Handler<'_, 't, 'a> {
    /// Returns the hook and its protocol, or the problem that makes the handler unusable.
    pub(super) fn hook(mut self, source: HookSource) -> Result<(Hook, ToolProtocol), Problem> {
        self.check_type()?;
        let hook = self.command()?;
        self.read_protocol()?;
        let mut hook = hook
            .with_source(source)
            .with_on_failure(self.policy())
            .with_timeout(self.timeout());
        if let Some(base) = &self.origin.base_dir {
            hook = hook.with_base_dir(Arc::clone(base));
        }
        if self.runs_in_background() {
            hook = hook.with_background();
        }
        if let Some((_, name)) = self.text("name") {
            hook = hook.with_name(name);
        }
        if let Some((_, description)) = self.text("description") {
            hook = hook.with_description(description);
        }
        let hook = self.with_environment(hook);
        lint::not_applied(&self.node, self.origin.tool, self.found);
        lint::lint(&self.node, &hook, &self.protocol, self.found);
        Ok((hook, self.protocol))
    }

    /// Returns the value of a key, if the tool reads this key.
    fn get(&self, key: &'static str) -> Option<Node<'t, 'a>> {
        if has(self.origin.tool.handlers.keys, key) {
            self.node.get(key)
        } else {
            None
        }
    }

    /// Returns the value of a key if it is a string; another value is reported and ignored.
    fn text(&mut self, key: &'static str) -> Option<(Node<'t, 'a>, &'t str)> {
        let node = self.get(key)?;
        let text = node.text();
        if text.is_none() {
            self.warn(&node, node.unexpected("a string"));
        }
        Some((node, text?))
    }

    /// Returns the value of a key if it is one of two strings; another value is reported and ignored.
    fn choice(&mut self, key: &'static str, choices: [&str; 2]) -> Option<&'t str> {
        let (node, text) = self.text(key)?;
        if choices.contains(&text) {
            return Some(text);
        }
        let [first, second] = choices;
        self.warn(
            &node,
            format!(
                "expected `{first}` or `{second}`, found `{}`",
                shortened(text)
            ),
        );
        None
    }

    /// Returns the value of a key if it is true; a value of another type is reported and ignored.
    fn switch(&mut self, key: &'static str) -> Option<Node<'t, 'a>> {
        let node = self.get(key)?;
        if node.switch().is_none() {
            self.warn(&node, node.unexpected("true or false"));
        }
        (node.switch() == Some(true)).then_some(node)
    }

    fn warn(&mut self, at: &Node<'_, '_>, message: impl Into<String>) {
        self.found.push(at.warning(message));
    }

    fn check_type(&self) -> Result<(), Problem> {
        let tool = self.origin.tool;
        if !self.node.is_object() {
            let words = self.node.unexpected("an object with `type` and `command`");
            return Err(self.node.error(words));
        }
        let Some(given) = self.node.get("type") else {
            let words = format!("has no `type`, so {} ignores it", tool.title);
            let problem = self.node.error(words);
            return Err(problem.with_help("add \"type\": \"command\""));
        };
        match given.text() {
            Some("command") => Ok(()),
            Some(other) if has(tool.handlers.other_types, other) => {
                let words = format!(
                    "handlers of type `{other}` do not run: only type `command` is supported"
                );
                Err(given.warning(words))
            }
            Some(other) => {
                let words = format!("expected `command`, found `{}`", shortened(other));
                Err(given.error(words).with_suggestion_of(Some("command")))
            }
            None => Err(given.error(given.unexpected("`command`"))),
        }
    }

    fn command(&mut self) -> Result<Hook, Problem> {
        let windows = self
            .origin
            .tool
            .handlers
            .windows_key
            .filter(|_| cfg!(windows));
        let of_windows = windows.and_then(|key| self.node.get(key));
        let Some(given) = of_windows.or_else(|| self.node.get("command")) else {
            return Err(self.node.error("`command` is missing"));
        };
        let Some(text) = given.text() else {
            return Err(given.error(given.unexpected("a string")));
        };
        if text.contains('\0') {
            let words = "expected a string without the character NUL";
            return Err(given.error(words));
        }
        let pattern = self.protocol.event.ours.unwrap_or_default();
        let refused = |error: HookError| given.error(error.to_string());
        if let Some(args) = self.get("args") {
            let mut words = vec![text.to_owned()];
            words.extend(strings(&args)?);
            return Hook::program(pattern, words).map_err(refused);
        }
        let hook = Hook::new(pattern, text).map_err(refused)?;
        // For `bash`, the default, `runner` chooses the shell.
        match self.choice("shell", ["bash", "powershell"]) {
            Some("powershell") => Ok(hook.with_shell(Shell::Pwsh)),
            _ => Ok(hook),
        }
    }

    fn read_protocol(&mut self) -> Result<(), Problem> {
        let message = self.text("statusMessage");
        self.protocol.status_message = message.map(|(_, text)| text.to_owned());
        self.protocol.context_limit = self.context_limit();
        let Some((given, rule)) = self.text("if") else {
            return Ok(());
        };
        let event = self.protocol.event;
        if !event.is_of_tool() {
            let words = format!(
                "the hook never runs: `{}` has no tool that a rule could match",
                event.name
            );
            return Err(given.warning(words).with_help("remove `if`"));
        }
        let rule = Rule::new(rule, self.allowance);
        if let Some(words) = rule.misunderstood() {
            self.warn(&given, words);
        }
        self.protocol.rule = Some(rule);
        Ok(())
    }

    fn context_limit(&mut self) -> Option<usize> {
        let given = self.get("additionalContextLimit")?;
        let tokens = given.number().filter(|it| *it >= 0.0 && it.fract() == 0.0);
        if tokens.is_none() {
            self.warn(&given, "expected a number of tokens; the default is used");
        }
        // Any larger number is no limit.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        tokens.map(|tokens| tokens as usize)
    }

    /// Returns the failure policy. Default: failures are ignored, as the tools do, unless the handler
    /// or the host sets another policy.
    fn policy(&mut self) -> FailurePolicy {
        match self.choice("onFailure", ["continue", "block"]) {
            Some("block") => FailurePolicy::Block,
            _ if self.origin.is_strict => FailurePolicy::Block,
            None if self.protocol.event.is_closed => FailurePolicy::Block,
            _ => FailurePolicy::Continue,
        }
    }

    fn timeout(&mut self) -> Duration {
        let Handlers {
            timeout_keys,
            milliseconds,
            ..
        } = self.origin.tool.handlers;
        let default = self.protocol.event.timeout;
        let mut keys = timeout_keys.split(' ');
        let Some(given) = keys.find_map(|key| self.node.get(key)) else {
            return default;
        };
        let (unit, seconds) = match milliseconds {
            true => ("milliseconds", 0.001),
            false => ("seconds", 1.0),
        };
        let Some(number) = given.number().filter(|number| *number > 0.0) else {
            let words = format!("expected {unit} above 0; the default of {default:?} is used");
            self.warn(&given, words);
            return default;
        };
        lint::timeout(&given, number, self.origin.tool, self.found);
        let own = Duration::try_from_secs_f64(number * seconds).unwrap_or(Duration::MAX);
        own.min(self.protocol.event.longest.unwrap_or(Duration::MAX))
    }

    fn runs_in_background(&mut self) -> bool {
        let is_async = self.switch("async");
        let rewakes = self.switch("asyncRewake");
        if let Some(given) = &rewakes {
            let words = "runs in the background, but its end does not wake the model";
            self.warn(given, words);
        }
        let event = self.protocol.event;
        let waits = event.longest.is_some() || event.is_closed;
        !waits && (is_async.is_some() || rewakes.is_some())
    }

    fn with_environment(&mut self, mut hook: Hook) -> Hook {
        let Some(given) = self.get("env") else {
            return hook;
        };
        if !given.is_object() {
            self.warn(&given, given.unexpected("an object of strings"));
        }
        for member in given.members() {
            let name = member.key;
            let is_name = !name.is_empty() && !name.contains(['=', '\0']);
            match member.value.text() {
                Some(value) if is_name && !value.contains('\0') => {
                    hook = hook.with_env(name, value);
                }
                _ => self.warn(&given, format!("`{}` cannot be set", shortened(name))),
            }
        }
        hook
    }
}

fn strings(node: &Node<'_, '_>) -> Result<Vec<String>, Problem> {
    let words = "a list of strings";
    let Some(items) = node.items() else {
        return Err(node.error(node.unexpected(words)));
    };
    let mut strings = Vec::with_capacity(items.len());
    for item in items {
        match item.text().filter(|text| !text.contains('\0')) {
            Some(text) => strings.push(text.to_owned()),
            None => return Err(node.error(format!("expected {words}"))),
        }
    }
    Ok(strings)
}
